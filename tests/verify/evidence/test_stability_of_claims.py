"""`fedtheory stability`, and claims about neighbouring data sets beside measured runs."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from bounds.language.claim import Condition
from bounds.registry.claims import find_claim
from fedtheory import fedavg, make_algorithm, run
from fedtheory.stability import generalisation, random_replacements, samples_of, searched_replacement, with_samples
from synthetic.registry import make_problem
from synthetic.worst_cases import linear_samples
from tests.messages import contains_in_order
from verify.cli.main import main
from verify.evidence.beside_runs import compare
from verify.evidence.stability_figure import stability_figure

DISTANCE, STEP = "classical/local-sgd-stability-distance", "classical/coupled-step-convex"
RUNS = {"eta_l": 0.1, "local_steps": 2}


def beside(claim, federation, options=RUNS, method="fedavg", rounds=5, seeds=(0,)):
    found = searched_replacement(fedavg(**RUNS), federation, rounds, tries=16)
    return compare(claim, run(make_algorithm(method, **options), federation, rounds, seeds=seeds),
                   replacements=found.replacements)


@pytest.mark.parametrize("clients, samples, steps, slope", [(1, 4, 1, 1.0), (1, 3, 3, 0.5), (3, 4, 2, 1.0), (5, 2, 4, 2.0)])
def test_the_worst_replacement_is_found_on_linear_samples(clients, samples, steps, slope):
    """Gradient descent and FedAvg on convex Lipschitz losses: 2 eta G T / (m n), to 1e-6."""
    federation, eta, rounds = linear_samples(clients, samples, slope), 0.05, 6
    found = searched_replacement(fedavg(eta_l=eta, local_steps=steps), federation, rounds, tries=24)
    bound = 2 * eta * slope * steps / (clients * samples) * np.arange(rounds + 1)
    np.testing.assert_allclose(found.parameter_gap[0], bound, rtol=1e-6)
    assert found.replacements[0][2] == pytest.approx([-slope])


def test_random_replacements_are_the_clients_own_samples_and_of_every_client():
    federation = make_problem("log-cosh", clients=4, dim=2)
    own = {(k, tuple(a), tuple(y)) for k, _, a, y in samples_of(federation)}
    found = random_replacements(federation, 9, seed=3)
    assert [k for k, *_ in found] == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    assert all((k, tuple(a), tuple(y)) in own for k, _, a, y in found)


@pytest.mark.parametrize("claim_id, x", [(DISTANCE, [1, 2, 3, 4, 5]), (STEP, [*range(5 * 2)])])
def test_bounds_are_met_with_equality_on_linear_samples(claim_id, x):
    """A final bound over rounds, a recursion over its steps."""
    found = beside(find_claim(claim_id), linear_samples())
    assert found.ratio == pytest.approx(1, abs=1e-9) and found.verdict == "consistent" and found.series.x == x


@pytest.mark.parametrize("claim_id", [DISTANCE, STEP])
def test_half_of_a_bound_is_broken(claim_id):
    claim = find_claim(claim_id)
    left, right, over = claim.statement.left, claim.statement.right, claim.statement.over
    assert beside(replace(claim, statement=Condition(left, "<=", right / 2, over)), linear_samples()).ratio >= 1.9


@pytest.mark.parametrize("claim_id, given, words", [
    (DISTANCE, {"options": {"eta_l": 3.0, "local_steps": 2}}, r"needs eta_l\[t\] <= 2/L"),
    (DISTANCE, {"method": "scaffold"}, "FedAvg; .*SCAFFOLD"),
    ("fedmoswa/theorem-e.3@stability", {"method": "fedswa", "options": RUNS | {"eta_g": 1.5}}, "eta_g = 1; .*FedSWA"),
])
def test_what_a_claim_is_not_about_is_said(claim_id, given, words):
    found = beside(find_claim(claim_id), linear_samples(), **given)
    assert found.verdict == "not applicable" and found.series is not None
    assert re.search(words, found.reason), found.reason


def test_clients_of_different_sizes_are_no_case_of_the_papers():
    federation = with_samples(linear_samples(), [(0, [1.0], [9.0]), (0, [1.0], [9.0]), (1, [1.0], [9.0])])
    found = beside(find_claim(DISTANCE), federation)
    assert found.verdict == "not applicable" and contains_in_order(found.reason, "clients … samples")


def test_many_samples_can_be_drawn_from_large_pools():
    federation = make_problem("log-cosh", clients=2, dim=2)
    pools = [[z[2:] for z in samples_of(federation) if z[0] == k] for k in range(2)]
    found = generalisation(fedavg(eta_l=0.1), lambda rows: with_samples(federation, rows), pools, 20, 3, data_sets=3)
    assert found.data_sets == 3 and abs(found.direct - found.identity) <= 8 * found.error


def test_the_command_prints_a_table_and_draws(tmp_path, capsys):
    assert main(["stability", "fedavg", "--claim", DISTANCE, "--rounds", "3", "--tries", "8", "--data-sets", "2", "--out",
                 str(tmp_path / "gap.png")]) == 0
    said = capsys.readouterr().out
    assert "features [−1]" in said and contains_in_order(said, "generalisation … 2 samples … 2 data sets")
    assert DISTANCE in said and {p.name for p in tmp_path.iterdir()} == {"gap.png"}


def test_the_command_answers_in_json(capsys):
    assert main(["stability", "fedavg", "--problem", "log-cosh", "--set", "clients=2", "--set", "dim=2", "--set",
                 "batch_size=1", "--replacement", "random", "--tries", "3", "--rounds", "4", "--data-sets", "0", "--claim",
                 STEP, "--seeds", "2", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert np.shape(said["parameter_gap"]) == np.shape(said["loss_gap"]) == (3, 5) and len(said["replacements"]) == 3
    assert said["claims"][0]["claim"] == STEP and said["claims"][0]["largest ratio left/right"] <= 1 + 1e-9


@pytest.mark.parametrize("arguments, words", [
    (["--problem", "quadratic"], "'quadratic' …samples"),
    (["--rounds", "0"], "--rounds … 1; got 0"),
    (["--claim", "magic"], "magic"),
    (["--set", "colour=1"], "unknown setting 'colour'"),
])
def test_bad_input_is_one_line(arguments, words, capsys):
    assert main(["stability", "fedavg", *arguments]) == 2
    said = capsys.readouterr().err
    assert contains_in_order(said, words) and said.count("\n") == 1


def test_of_a_recursion_every_step_is_drawn_once():
    federation = linear_samples()
    found = searched_replacement(fedavg(**RUNS), federation, 3, tries=8)
    recursion = beside(find_claim(STEP), federation, rounds=3)
    figure = stability_figure(found, [recursion], "title")
    assert [len(axes.lines[0].get_xdata()) for axes in figure.axes][-1] == 6
