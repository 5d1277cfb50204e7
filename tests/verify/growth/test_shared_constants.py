"""Orders whose constants depend on nothing: what one instance shows, and what it does not as its run has hardly begun."""

from dataclasses import replace

import pytest

from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import NUMPY
from verify.growth.beyond import exponent_beyond
from verify.growth.certificate import growth_certificate
from verify.growth.check import check, growth_ends
from verify.growth.growth import growth_of
from verify.referee.decide import Settings, decide

HEAD = """
[[claim]]
id = "own/order"
assume = ["L_client[k] <= L for each k", "mu_client[k] >= {mu} for each k", "sigma_sq_client[k] <= {noise} for each k"]
variables = {{C = "hidden", eta = "positive", mu = "positive"}}
limits = {{{limit} = "oo"}}
constants_may_use = []
conditions = ["eta_l[t] == {step} for each t", {more}]
statement = "{statement}"
"""
CONVEX = {"mu": "0", "noise": "0", "limit": "rounds", "step": "1/L", "more": '"local_steps == 1"'}
SLOWER = CONVEX | {"step": "1/(4*L)"}
NOISY = {"mu": "mu", "noise": "sigma_sq", "limit": "local_steps", "step": "eta",
         "more": '"clients == 1", "rounds == 1", "eta <= 1/L"'}
LEAST_GRADIENT = "Min(norm2(objective_grad(x_round[r])), (r, 0, rounds)) <= C*L*(objective(x_round[0]) - F_star)/rounds"
LAST_GRADIENT = "norm2(objective_grad(x_round[{n}])) <= C*L**2*norm2(x_round[0] - x_star)/{n}**2"
BY_VALUE = "norm2(objective_grad(x_round[rounds])) <= C*L*(objective(x_round[0]) - F_star)/rounds**2"
SPREAD = "E(norm2(x_round[1] - E(x_round[1]))) <= C*"
AWAY = "E(norm2(x_round[1] - x_round[0])) <= C*"

#: name -> what stands in the claim, and the verdicts that it may have
ROWS = {
    "the least gradient": (SLOWER | {"statement": LEAST_GRADIENT}, "consistent undecided"),
    "the last gradient": (CONVEX | {"statement": LAST_GRADIENT.format(n="rounds")}, "consistent undecided"),
    "with a fortieth of the step": (CONVEX | {"step": "1/(40*L)", "statement": LAST_GRADIENT.format(n="rounds")},
                                    "consistent undecided"),
    "along iterations": (CONVEX | {"limit": "iterations", "statement": LAST_GRADIENT.format(n="iterations")},
                         "consistent undecided"),
    "the last gradient by the value": (CONVEX | {"step": "1/(20*L)", "statement": BY_VALUE}, "refuted"),
    "noise that contracts": (NOISY | {"statement": SPREAD + "eta*sigma_sq/mu"}, "consistent"),
    "noise that hardly contracts": (NOISY | {"statement": SPREAD + "eta**2*sigma_sq"}, "refuted"),
    "a distance": (NOISY | {"statement": AWAY + "(eta*sigma_sq/mu + norm2(x_round[0] - x_star))"}, "consistent"),
    "a distance without room for noise": (
        NOISY | {"statement": AWAY + "(eta**2*sigma_sq + norm2(x_round[0] - x_star))"}, "refuted undecided"),
}


def claim_of(folder, row):
    file = folder / "own.toml"
    file.write_text(HEAD.format(**row))
    return load_claims(file)[0]


@pytest.mark.parametrize("name", ROWS)
def test_an_order_is_refuted_only_where_no_instance_has_its_own_time(name, tmp_path):
    row, allowed = ROWS[name]
    found = decide(claim_of(tmp_path, row), Settings(federations=False, out=tmp_path))
    assert found.verdict in allowed.split(), found.evidence


def test_one_instance_is_followed_until_its_growth_ends(tmp_path):
    """Its members are counterexamples with growing constants; each alone is accepted, together they are no growth."""
    claim = claim_of(tmp_path, ROWS["the last gradient"][0])
    asked = []
    growth = growth_of(claim, "quick", 0, NUMPY, lambda along, members: asked.append((along, members)))
    assert not growth.members and not growth.rejected and asked
    data = growth_certificate(claim, *asked[0])
    assert "the growth ends beyond the last member" in check(data, claim).reason and growth_ends(data, claim)
    exponent, far = exponent_beyond(data["members"][-1]["certificate"], claim, "rounds")
    assert exponent < -1 and far >= 512
    as_before = replace(claim, constants_may_use=None)  # the same where constants may depend on the instance
    assert not check(data | {"constants_may_use": None}, as_before).accepted
