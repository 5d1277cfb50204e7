"""Growth that ends, far beyond the sizes of exact runs: no certificate shows it."""

import pytest

from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import NUMPY
from verify.growth.beyond import exponent_beyond, farthest_size, least_power, ratio_beyond
from verify.growth.certificate import growth_certificate
from verify.growth.check import check
from verify.growth.growth import growth_of
from verify.referee.decide import Settings, decide

#: more fields of an order as n goes to infinity, its statement, and whether it is true
ROWS = {
    "a geometric sum": ("", "Sum((999/1000)**i, (i, 0, n)) <= C", True),
    "a share": ("", "n/(n + 999) <= C", True),
    "a share of a root": ("", "sqrt(n)/(1 + sqrt(n)/1000) <= C", True),
    "a number of the instance": ('conditions = ["k >= 100"]', "Sum(exp(-i/(8*k)), (i, 0, n)) <= C", True),
    "0 at small numbers": ("", "1 <= C*Max(0, n - 40)", True),
    "0 at 1": ("constants_may_use = []", "Sum(1/i, (i, 1, n)) <= C*log(n)", True),
    "two sums": ("", "Sum(Sum(1/(i + j), (j, 1, n)), (i, 1, n)) <= C", False),
    "linear": ("", "72*n <= C*(48 + sqrt(n))", False),
    "0 from 3 on": ("", "1 <= C*Max(0, 1 - n/3)", False),
    "0 wherever b is": ("constants_may_use = []", "1 + b <= C*n*b", False),
}


def claim_of(folder, more, statement):
    k = ', k = "positive"' if "k" in more else ', b = "nonnegative"' if "b" in statement else ""
    file = folder / "own.toml"
    file.write_text(f'[[claim]]\nid = "own/order"\nsetting = "algebra"\nlimits = {{n = "oo"}}\n{more}\n'
                    f'variables = {{n = "integer", C = "hidden"{k}}}\nstatement = "{statement}"\n')
    return load_claims(file)[0]


@pytest.mark.parametrize("more, statement, true", ROWS.values(), ids=ROWS)
def test_an_order_is_refuted_where_its_growth_goes_on(more, statement, true, tmp_path):
    found = decide(claim_of(tmp_path, more, statement), Settings(federations=False, out=tmp_path))
    assert (found.verdict == "refuted") != true, found.evidence
    assert true == ("no constant is large enough" not in found.evidence)


def test_members_of_growth_that_ends_are_counterexamples_and_no_growth(tmp_path):
    """Without the sizes beyond them, they would be accepted."""
    claim = claim_of(tmp_path, *ROWS["a geometric sum"][:2])
    growth = growth_of(claim, "quick", 0, NUMPY)
    data = growth_certificate(claim, growth.limit, growth.members)
    assert "the growth ends beyond the last member: its exponent is 0.00 up to 65536" in check(data, claim).reason
    last = data["members"][-1]["certificate"]
    assert farthest_size(last, "n") == 65536 and exponent_beyond(last, claim, "n") == (pytest.approx(0, abs=1e-9), 65536)
    assert ratio_beyond(last, claim, "n", 10**4) == pytest.approx(1000 * (1 - 0.999 ** (10**4 + 1)))
    assert least_power(claim, "n") == 1 and least_power(claim_of(tmp_path, *ROWS["a share of a root"][:2]), "n") == 0.5


RUN = """
[[claim]]
id = "own/steps"
assume = ["L_client[k] <= L for each k", "mu_client[k] >= mu for each k", "sigma_sq_client[k] <= 0 for each k"]
conditions = ["local_steps == 1", "eta_l[t] == 2/(mu*(t+8*L/mu)) for each t", "{}"]
variables = {{C = "hidden"}}
limits = {{rounds = "oo"}}
statement = "Sum({}, (t, 0, iterations-1)) <= C"
"""


@pytest.mark.parametrize("condition, steps, true", [
    ("L >= 100*mu", "L**2*eta_l[t]**2", True), ("L >= 2*mu", "(4 + t)*L*eta_l[t]", False)])
def test_an_order_of_runs_is_followed_too(condition, steps, true, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(RUN.format(condition, steps))
    found = decide(load_claims(file)[0], Settings(federations=False, out=tmp_path))
    assert (found.verdict == "refuted") != true, found.evidence
