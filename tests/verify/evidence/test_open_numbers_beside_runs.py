"""Claims that a number exists, and orders, beside runs: which value is drawn, and what it decides."""

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from fedtheory import fedavg, run
from synthetic import make_quadratic, to_numpy
from verify.evidence.beside_runs import compare
from verify.evidence.open_numbers import least_constant

FILE = """
[assumptions]
quiet = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1",
         "sigma_sq_client[k] <= 0 for k in 0..clients-1"]

[[claim]]
id = "mine/step"
assume = ["quiet"]
exists = {gamma = "(0, 2/L]"}
conditions = ["local_steps == 1", "eta_l[t] == gamma for t in 0..iterations-1"]
statement = "norm2(x_round[rounds] - x_star) <= ((L - mu)/(L + mu))**(2*rounds)*norm2(x_round[0] - x_star)"

[[claim]]
id = "mine/witness"
extends = "mine/step"
exists = {gamma = "[0, 1]"}
witness = {gamma = "1/4"}
conditions = []
statement = "norm2(x_round[rounds] - x_star) <= 1000*gamma"

[[claim]]
id = "mine/wrong-witness"
extends = "mine/witness"
witness = {gamma = "1/1000000"}

[[claim]]
id = "mine/best"
exists = {a = "[0, 1)"}
statement = "norm2(x_round[rounds] - x_star) <= 1000*a*(1 - a)"

[[claim]]
id = "mine/outside"
extends = "mine/step"
exists = {gamma = "(0, 1/(100*L)]"}

[[claim]]
id = "mine/order"
variables = {C = "hidden"}
limits = {rounds = "oo"}
statement = "norm2(x_round[rounds] - x_star) <= C/rounds"

[[claim]]
id = "mine/everywhere"
extends = "mine/order"
statement = "norm2(x_round[r] - x_star) <= norm2(x_round[0] - x_star)/10 + C/(r + 1) for r in 0..rounds"

[[claim]]
id = "mine/below"
extends = "mine/order"
statement = "norm2(x_round[r] - x_star) >= C/(r + 1)**9 for r in 0..rounds"

[[claim]]
id = "mine/vanishes"
extends = "mine/order"
statement = "norm2(x_round[r] - x_star) <= C*norm2(x_round[r] - x_round[0]) for r in 0..rounds"

[[claim]]
id = "mine/both"
extends = "mine/order"
exists = {gamma = "(0, 1/L]"}
assume = ["quiet"]
conditions = ["local_steps == 1", "eta_l[t] == gamma for t in 0..iterations-1"]
statement = "norm2(x_round[rounds] - x_star) <= C*gamma/rounds"
"""
ROUNDS, L, MU = 4, 4.0, 1.0


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "mine.toml"
    path.write_text(FILE)
    return {claim.id.removeprefix("mine/"): claim for claim in load_claims(path)}


def runs(eta=0.125, steps=1):
    return run(fedavg(eta, steps), make_quadratic(clients=1, dim=2, L=L, mu=MU, seed=2), ROUNDS, start=[3.0, 1.0])


def apart(trajectory):
    return ((to_numpy(trajectory.dataset["x"].values)[0] - to_numpy(trajectory.federation.x_star)[0]) ** 2).sum(axis=-1)


@pytest.mark.parametrize("eta, verdict", [(2 / (L + MU), "consistent"), (0.01, "undecided"), (0.75, "not applicable")])
def test_a_step_that_exists_is_that_of_the_runs(claims, eta, verdict):
    """One step 2/(L + mu) has the bound on every quadratic; a shorter one fails, which decides nothing; 3/4 is above 2/L."""
    trajectory = runs(eta)
    found = compare(claims["step"], trajectory)
    assert found.claim == "mine/step" and found.verdict == verdict
    assert found.series.left == pytest.approx(apart(trajectory)[1:])
    assert found.series.right == pytest.approx(0.36 ** np.arange(1, ROUNDS + 1) * apart(trajectory)[0])
    assert found.series.decides == (verdict == "consistent") and not found.tested


def test_a_value_that_is_given_goes_before_that_of_the_runs(claims):
    found = compare(claims["step"], runs(0.125), values={"gamma": 0.25})
    assert found.verdict == "not applicable" and "gamma" in found.reason
    with pytest.raises(ValueError, match="'delta' free; free: gamma"):
        compare(claims["step"], runs(0.125), values={"delta": 0.25})


@pytest.mark.parametrize("name, right, verdict", [
    ("witness", 250.0, "consistent"), ("wrong-witness", 1e-3, "undecided"), ("best", 250.0, "consistent")])
def test_a_number_that_the_runs_do_not_say_is_the_witness_or_the_best(claims, name, right, verdict):
    found = compare(claims[name], runs())
    assert found.series.right == pytest.approx([right] * ROUNDS) and found.verdict == verdict


def test_a_value_outside_of_its_interval_is_none(claims):
    assert compare(claims["outside"], runs()).verdict == "not applicable"


def test_an_order_is_drawn_for_the_least_constant(claims):
    trajectory = runs()
    found, distance = compare(claims["order"], trajectory), apart(trajectory)
    least = (distance[1:] * np.arange(1, ROUNDS + 1)).max()
    assert found.series.right == pytest.approx(least / np.arange(1, ROUNDS + 1)) and found.verdict == "undecided"
    assert found.ratio == pytest.approx(1) and not found.series.decides
    every = compare(claims["everywhere"], trajectory).series
    least = ((distance - distance[0] / 10) * np.arange(1, ROUNDS + 2)).max()
    assert every.right == pytest.approx(distance[0] / 10 + least / np.arange(1, ROUNDS + 2))
    given = compare(claims["order"], trajectory, values={"C": 2.0})
    assert given.series.right == pytest.approx(2 / np.arange(1, ROUNDS + 1))


def test_a_lower_bound_has_the_largest_constant(claims):
    trajectory = runs()
    numbers = np.arange(1.0, ROUNDS + 2) ** 9
    found = compare(claims["below"], trajectory)
    assert found.series.right == pytest.approx((apart(trajectory) * numbers).min() / numbers)


def test_where_no_constant_does_it_is_said(claims):
    """At the first round the right side is 0, and the left is not."""
    found = compare(claims["vanishes"], runs())
    assert found.verdict == "undecided" and "none does" in found.reason and found.series.right[0] == 0


def test_an_order_of_a_number_that_exists(claims):
    trajectory = runs()
    found, distance = compare(claims["both"], trajectory), apart(trajectory)
    least = (distance[1:] * np.arange(1, ROUNDS + 1)).max()
    assert found.series.right == pytest.approx(least / np.arange(1, ROUNDS + 1)) and found.verdict == "undecided"


@pytest.mark.parametrize("relation, left, right, expected", [
    ("<=", [1.0, 4.0], [2.0, 2.0], 2.0), ("<=", [1.0, 4.0], [2.0, 0.0], np.inf), ("<=", [-1.0, 0.0], [2.0, 0.0], 1.0),
    ("<=", [1.0, np.nan], [2.0, 1.0], 0.5), ("<=", [], [], 1.0), ("<=", [1.0], [-1.0], np.inf),
    (">=", [4.0, 6.0], [2.0, 2.0], 2.0), (">=", [0.0, 4.0], [0.0, 2.0], 2.0), (">=", [-1.0], [0.0], 0.0),
    (">=", [1.0], [0.0], 1.0),
])
def test_the_least_constant(relation, left, right, expected):
    left, right = (np.array(side)[None, None, None] for side in (left, right))
    assert least_constant(relation, [(left, right, np.ones(left.shape[3:], dtype=bool))]) == expected
