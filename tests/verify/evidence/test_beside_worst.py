"""The exact worst case beside runs: it meets a tight bound, exceeds a false one, and lies above every run."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from bounds.registry.user_claims import load_claims
from fedtheory import fedavg, run, scaffold
from synthetic import make_quadratic
from verify.evidence.beside_runs import compare

CLAIMS = """
[[claim]]
id = "true/rate"
source = "Drori, Teboulle 2014, Theorem 3.1"
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= 0 for k in 0..clients-1",
          "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
conditions = ["local_steps == 1", "eta_l[t] == 1/L for t in 0..iterations-1"]
statement = "objective(x_round[rounds]) - F_star <= L*norm2(x_round[0] - x_star)/(4*rounds + 2)"

[[claim]]
id = "false/rate"
extends = "true/rate"
statement = "objective(x_round[rounds]) - F_star <= L*norm2(x_round[0] - x_star)/(5*rounds + 2)"

[[claim]]
id = "true/every-round"
extends = "true/rate"
statement = "objective(x_round[r+1]) <= objective(x_round[r]) for r in 0..rounds-1"

[[claim]]
id = "true/any-weights"
extends = "true/rate"
equal_weights = false
conditions = ["local_steps == 1", "eta_l[t] == 1/4 for t in 0..iterations-1", "L == 4"]
"""
GIVEN = {"dim": 2, "L": 4.0, "mu": 0.5, "seed": 1}


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "rates.toml"
    path.write_text(CLAIMS)
    return {claim.id: claim for claim in load_claims(path)}


def runs(rounds=6, eta=0.25, clients=1, **more):
    return run(fedavg(eta_l=eta, local_steps=1), make_quadratic(clients=clients, **GIVEN | more), rounds)


def test_it_meets_a_tight_bound_and_exceeds_a_false_one(claims):
    tight, false = (compare(claims[f"{word}/rate"], runs(), worst=True) for word in ("true", "false"))
    assert tight.series.exact == pytest.approx(tight.series.right, rel=1e-5)
    assert false.verdict == "consistent" and false.series.exact == pytest.approx(tight.series.exact, rel=1e-5)
    assert all(np.array(false.series.exact) > false.series.right)
    assert compare(claims["true/rate"], runs()).series.exact == []


def test_it_lies_between_runs_and_the_bound_of_a_registered_claim():
    method, federation = scaffold(eta_l=0.01, local_steps=2), make_quadratic(clients=2, **GIVEN)
    series = compare("classical/scaffold-convex", run(method, federation, 3), worst=True).series
    assert all(np.array(series.left) < series.exact) and all(np.array(series.exact) < series.right)


def test_it_is_drawn_as_far_as_programs_are_small(claims):
    found = compare(claims["true/rate"], runs(rounds=60), worst=True)
    known = np.isfinite(found.series.exact)
    assert known[:10].all() and not known[-1]
    axes = Figure(layout="constrained").subplots()
    assert found.plot(ax=axes) is axes
    assert {"exact worst case", "measured", "printed bound"} <= {text.get_text() for text in axes.texts}


@pytest.mark.parametrize("name, more, words", [
    ("true/every-round", {}, "statements with <= about the end of a run"),
    ("true/any-weights", {"clients": 2, "weights": [1.0, 2.0]}, "clients of equal weight"),
])
def test_why_there_is_none(claims, name, more, words):
    found = compare(claims[name], runs(**more), worst=True)
    assert found.series.exact == [] and found.series.note == f"no exact worst case: it is drawn of {words}"


def test_runs_that_the_claim_is_not_about_have_none(claims):
    found = compare(claims["true/rate"], runs(eta=0.125), worst=True)
    assert found.verdict == "not applicable" and found.series.exact == []


def test_the_command(run, tmp_path, claims):
    path = tmp_path / "rates.toml"
    path.write_text(CLAIMS)
    given = ["--problem", "quadratic", "--rounds", "3", "--eta", "0.25", "--seeds", "1"]
    numbers = {"clients": 1, "dim": 2, "L": 4, "mu": 1}
    more = [word for name, value in numbers.items() for word in ("--set", f"{name}={value}")]
    assert run("run", "fedavg", *given, *more, "--out", str(tmp_path / "run.npz"))[0] == 0
    status, said, _ = run("compare", f"{path}:true/rate", "--run", str(tmp_path / "run.npz"), "--worst", "--json")
    series = json.loads(said)["series"]
    assert status == 0 and series["exact"] == pytest.approx(series["right"], rel=1e-5)
