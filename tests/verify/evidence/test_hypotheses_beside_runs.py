"""Every hypothesis of a claim is checked beside runs, written or implicit, and copies of a run are one observation."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from bounds.language.claim import HOLDS, names_in
from bounds.language.names import SIZE, names_from
from bounds.registry.claims import all_claims
from bounds.registry.user_claims import load_claims
from fedtheory import fedavg, run
from synthetic import make_quadratic, to_numpy
from tests.not_empty import not_empty
from tests.verify.evidence.test_every_claim_beside_runs import CLAIMS, made
from verify.claims.implicit import all_hypotheses
from verify.evidence.beside_runs import compare

FILE = """
[[claim]]
id = "mine/numbers"
statement = "E(norm2(x_round[rounds] - x_star)) <= 1000*(n + q + a + c**2 + S[0] + w[0])"

[claim.variables]
n = "integer from 2 to 4"
q = "nonnegative below 1"
a = "positive"
c = "real"
S = "binary[clients]"
w = "simplex[clients]"


[[claim]]
id = "mine/weights"
statement = "E(norm2(x_round[rounds] - x_star)) <= 1000"

[[claim]]
id = "mine/any-weights"
extends = "mine/weights"
equal_weights = false

[[claim]]
id = "mine/false"
equal_weights = false
statement = "E(norm2(x_round[rounds] - x_star)) <= norm2(x_round[0] - x_star)/30"

[[claim]]
id = "mine/argument"
variables = {eta_g = "positive"}
statement = "E(norm2(x_round[rounds] - x_star)) <= 1000*eta_g"
"""


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "mine.toml"
    path.write_text(FILE)
    return {claim.id.removeprefix("mine/"): claim for claim in load_claims(path)}


@cache
def runs(steps=1, seeds=64, sigma=0.0, weights=None, start=None):
    noise = {"noise": "gaussian", "sigma": sigma} if sigma else {}
    federation = make_quadratic(clients=4, dim=2, L=4.0, mu=1.0, seed=1, weights=weights, **noise)
    start = None if start is None else np.array(start)
    return run(fedavg(eta_l=1 / 8, local_steps=steps), federation, 4, seeds=seeds, start=start)


# hypotheses --------------------------------------------------------------------------------------------------------------
def test_the_upper_end_of_a_whole_number_is_a_hypothesis():
    """A true theorem about one local step, beside runs with four."""
    trajectory = run(fedavg(eta_l=1 / 8, local_steps=4), make_quadratic(clients=8, dim=4, L=8, mu=1), 30, seeds=64)
    found = compare("classical/gd-convex", trajectory)
    assert found.verdict == "not applicable" and found.reason == "needs local_steps <= 1, got 4"
    assert found.e_value == 1.0 and not found.tested


@pytest.mark.parametrize(("values", "reason"), [
    ({"n": 1}, "needs n >= 2, got 1"), ({"n": 5}, "needs n <= 4, got 5"), ({"q": -0.5}, "needs q >= 0, got -0.5"),
    ({"q": 1.0}, "needs 1 - q > 0, got 0"), ({"a": 0.0}, "needs a > 0, got 0"), ({"a": -1.0}, "needs a > 0, got -1"),
])
def test_a_number_outside_its_domain_is_not_applicable(claims, values, reason):
    assert compare(claims["numbers"], runs(), values=values).reason == reason


@pytest.mark.parametrize("values", [{}, {"n": 2}, {"n": 4}, {"q": 0.0}, {"q": 0.99}, {"a": 1e-9}, {"c": -3.0}])
def test_a_number_inside_its_domain_is_applicable(claims, values):
    assert compare(claims["numbers"], runs(), values=values).verdict == "consistent"


def test_a_value_is_whole_where_the_number_is_and_that_of_the_runs_where_they_have_one(claims):
    with pytest.raises(ValueError, match=r"n is a whole number; got 2\.5"):
        compare(claims["numbers"], runs(), values={"n": 2.5})
    with pytest.raises(ValueError, match=r"the runs have eta_g = 1(\.0)?; got eta_g = 5"):
        compare(claims["argument"], runs(), values={"eta_g": 5.0})
    assert compare(claims["argument"], runs(), values={"eta_g": 1.0}).verdict == "consistent"


def test_weights_are_a_hypothesis(claims):
    unequal = runs(weights=(0.1, 0.2, 0.3, 0.4))
    found = compare(claims["weights"], unequal)
    assert found.verdict == "not applicable" and found.reason == "needs client_weight[k] == 1/clients = 0.25, got 0.1"
    assert compare(claims["any-weights"], unequal).verdict == compare(claims["weights"], runs()).verdict == "consistent"


# every registered claim --------------------------------------------------------------------------------------------------
CLIENTS, ROUNDS, STEPS = 4, 3, (1, 2, 3, 11)


def sizes_with(steps) -> dict[str, int]:
    return {"clients": CLIENTS, "local_steps": steps, "rounds": ROUNDS, "iterations": steps * ROUNDS, "dim": 4,
            "priority_clients": CLIENTS, "participants": CLIENTS}


def broken_by_sizes(claim, sizes) -> bool:
    """Whether a domain or a condition on sizes alone fails, by sympy's own arithmetic."""
    for variable in claim.variables:
        size = sizes.get(variable.name)
        if size is not None and not (variable.low <= size and (variable.high is None or size <= variable.high)):
            return True
    for condition in claim.hypotheses:
        names = names_in(condition.left) | names_in(condition.right)
        if not condition.over and names and names <= sizes.keys():
            left, right = (side.subs({s: sizes[s.name] for s in side.free_symbols}) for side in (
                condition.left, condition.right))
            if not HOLDS[condition.sign](left, right):
                return True
    return False


ON_SIZES = {name: claim for name, claim in CLAIMS.items() if not claim.procedure.free_clients and any(
    broken_by_sizes(claim, sizes_with(steps)) for steps in STEPS)}
FEW = [name if number % 12 == 0 else pytest.param(name, marks=pytest.mark.slow) for number, name in enumerate(ON_SIZES)]


@cache
def of_procedure(procedure, steps):
    federation = make_quadratic(clients=CLIENTS, dim=4, L=4.0, mu=1.0, seed=2, layers=2)
    algorithm = replace(made(procedure, federation, 0.05, federation.clients), local_steps=steps)
    return run(algorithm, federation, ROUNDS, start=np.linspace(1, 2, federation.dim), seeds=2)


@pytest.mark.parametrize("claim_id", FEW)
def test_runs_whose_sizes_a_claim_excludes_decide_nothing(claim_id):
    claim, looked_at, refused = ON_SIZES[claim_id], 0, 0
    for steps in STEPS:
        try:
            trajectory = of_procedure(claim.procedure, steps)
        except (ArithmeticError, ValueError):  # the method has no such number of local steps
            refused += 1
            continue
        if broken_by_sizes(claim, sizes_with(steps)):
            found, looked_at = compare(claim, trajectory, points=2), looked_at + 1
            assert found.verdict == "not applicable" and found.e_value == 1.0, (steps, found.reason)
    assert looked_at + refused


def test_many_registered_claims_have_a_hypothesis_on_sizes():
    assert len(ON_SIZES) > 100 and sum(v.high is not None for c in ON_SIZES.values() for v in c.variables) > 30


BAD = {"positive": (0.0, -1.0), "nonnegative": (-1.0,), "integer": (-1,)}
WITH_NUMBERS = {name: claim for name, claim in CLAIMS.items() if any(
    v.domain in BAD and not v.indices and v.name not in names_from(SIZE) for v in claim.variables)}


@pytest.mark.parametrize("claim_id", [
    name if number % 40 == 0 else pytest.param(name, marks=pytest.mark.slow) for number, name in enumerate(WITH_NUMBERS)])
def test_numbers_that_a_claim_excludes_decide_nothing(claim_id):
    claim = WITH_NUMBERS[claim_id]
    steps = 1 if dict(claim.procedure.options).get("solver") == "exact" else 2
    trajectory = of_procedure(claim.procedure, steps)
    given = [(v.name, value) for v in claim.variables if not v.indices and v.name not in names_from(SIZE)
             for value in BAD.get(v.domain, ())]
    for name, value in not_empty(given):
        try:
            found = compare(claim, trajectory, points=2, values={name: value})
        except ValueError as error:
            assert f"the runs have {name} =" in str(error)
            continue
        assert found.verdict == "not applicable" and found.e_value == 1.0, (name, value, found.reason)


def test_all_hypotheses_begin_with_the_written_ones():
    for claim in not_empty(all_claims().values()):
        assert all_hypotheses(claim)[:len(claim.hypotheses)] == claim.hypotheses


# copies ------------------------------------------------------------------------------------------------------------------
def test_runs_without_chance_are_one_observation(claims):
    """A violation by 64 equal numbers forms no e-value; what decides is said."""
    one, many = (compare(claims["false"], runs(seeds=seeds)) for seeds in (1, 64))
    assert one.verdict == many.verdict == "undecided" and one.ratio == many.ratio > 1
    assert many.e_value == 1.0 and not many.tested
    assert "runs without chance are one observation" in many.reason and "fedtheory verify mine/false decides" in many.reason


def test_copies_of_a_run_count_once(claims):
    once, often = (compare(claims["false"], runs(seeds=seeds, sigma=0.5)) for seeds in ((0, 1, 2), (0, 1, 2) * 50))
    assert once == often and once.tested and once.verdict == "undecided"
    many = compare(claims["false"], runs(seeds=tuple(range(150)), sigma=0.5))
    assert many.verdict == "refuted" and many.e_value > once.e_value


def test_runs_from_several_starts_that_share_seeds_form_no_e_value(claims):
    starts = tuple((1.0 + n, 2.0) for n in range(3))
    found = compare(claims["false"], runs(seeds=(5, 5, 5), sigma=0.5, start=starts))
    assert found.e_value == 1.0 and "runs from several starts share seeds" in found.reason


def test_a_single_run_of_a_method_that_tosses_coins_is_random(claims):
    from fedtheory import scaffnew

    federation = make_quadratic(clients=4, dim=2, L=4.0, mu=1.0, seed=1)
    claim = replace(claims["weights"], procedure=replace(claims["weights"].procedure, base="scaffnew"))
    found = compare(claim, run(scaffnew(eta_l=0.1, communication=0.5), federation, 3, seeds=1))
    assert found.verdict in ("consistent", "not applicable") and "without chance" not in found.reason


def test_the_band_of_copies_is_that_of_one():
    trajectory = runs(seeds=(3, 3, 3, 3), sigma=0.5)
    assert len(np.unique(to_numpy(trajectory.state.x), axis=0)) == 1
    series = compare("classical/gd-convex", trajectory).series
    assert series.title.endswith("1 seed")
