"""The numbers of every picture are those of the ordinary code, computed here in another way."""

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.stability import random_replacements
from tests import ROOT
from tests.verify.demos import miniatures
from tests.verify.demos.notebooks import NAMES, picture_of
from verify.demos.controls import every_value, start_values
from verify.demos.drawn import plain
from verify.demos.pictures import (
    absent_duals,
    adaptive_drift,
    bound_beside_run,
    client_drift,
    flat_minima,
    free_clients,
    live_counterexample,
    neighbouring_data,
    recycled_layers,
    sampling_variance,
    worst_function,
)


def at(module, **values):
    """The numbers of a picture, at its first values but for those given."""
    return module.compute(**start_values(module.CONTROLS) | values)


def fedavg_stops_where_a_long_run_ends():
    for steps, eta in ((8, 0.1), (2, 0.05), (1, 0.1)):
        found = at(client_drift, local_steps=steps, eta=eta)
        method = ft.fedavg(eta_l=eta, local_steps=steps)
        end = ft.run(method, client_drift.federation_of(1.0), 1500, start=client_drift.START).dataset.x.values[0, -1]
        assert np.allclose(found.stop, end, atol=1e-10)
        assert np.allclose(found.local[:, -1].mean(axis=0), found.stop, atol=1e-10)
        assert (found.distance < 1e-10) == (steps == 1)
    found = at(client_drift)
    assert np.linalg.norm(found.scaffold[-1] - found.federation.x_star[0].numpy()) < 1e-10
    assert at(client_drift, apart=0.0).distance < 1e-12


def second_moments_are_those_of_the_run():
    found = at(adaptive_drift)
    method = ft.local_adam(eta_l=0.04, local_steps=4, eps=0.1)
    run = ft.run(method, found.federation, adaptive_drift.ROUNDS, start=adaptive_drift.START)
    assert np.allclose(found.paths[0], run.dataset.x.values[0], atol=1e-12)
    assert np.allclose(found.roots[-1] ** 2, run.state.clients["moment2"][0].numpy(), rtol=1e-9)


def duals_are_those_of_the_run():
    federation = ft.make_quadratic(clients=10, dim=5, minimiser_spread=0.5, hessian_spread=0.5)
    found = at(absent_duals, spread=0.5)
    method = ft.afedpd(eta_l=absent_duals.ETA, local_steps=10, rho_prox=1.0, participants=2)
    run = ft.run(method, federation, absent_duals.ROUNDS, seeds=absent_duals.SEEDS)
    optimal = -federation.gradient(federation.all_clients(federation.x_star))
    apart = ((run.state.server["duals"] - optimal) ** 2).sum(-1).mean(-1).numpy()
    assert np.allclose(found.age[1][:, -1], apart, rtol=1e-9)
    assert np.allclose(found.loss[2], run.dataset.suboptimality.values)
    everyone = at(absent_duals, spread=0.5, participants=10).age
    assert np.allclose(*everyone, rtol=1e-6)


def layers_that_are_sent_add_up_to_the_floats():
    for recycled in (0, 2):
        found = at(recycled_layers, recycled=recycled)
        per_round = np.diff(found.sent[1])
        assert np.allclose(found.fresh @ recycled_layers.SIZES, per_round) and np.allclose(np.diff(found.sent[0]), 15)
        assert np.allclose(found.fresh[1:].sum(axis=1), 4 - recycled)


def one_round_scatters_as_the_formula_says():
    for replacement in sampling_variance.CONTROLS["replacement"].values:
        found = at(sampling_variance, replacement=replacement)
        federation = ft.make_quadratic(clients=12, dim=5)
        slopes = federation.gradient(federation.all_clients(federation.x_star))[0].numpy()
        assert np.isclose(found.formula[0], 0.05**2 * (slopes**2).sum(axis=1).mean())
        # means of 512 rounds have relative standard errors of 4 % or less: a false alarm has less than one in a million
        assert np.allclose(found.scatter, found.formula, rtol=0.2, atol=1e-14), replacement


def the_threshold_lets_in_whom_it_says():
    found = at(free_clients)
    nobody, everyone = at(free_clients, epsilon=0.0), at(free_clients, epsilon=1e9, far=0.5)
    assert not nobody.included.any() and np.array_equal(nobody.loss[0], nobody.loss[1])
    assert everyone.included.all() and np.array_equal(everyone.loss[1], everyone.loss[2])
    federation = free_clients.federation_of(2.0, 1.0)
    run = ft.run(ft.fedalign(eta_l=free_clients.ETA, local_steps=2, epsilon=0.8), federation, free_clients.ROUNDS,
                 seeds=free_clients.SEEDS).dataset
    assert np.allclose(found.included, run.included.values[..., 4:].mean(axis=0))


def the_landscape_is_the_objective():
    found, still = at(flat_minima), at(flat_minima, moved=0.0)
    assert np.allclose(found.clients.mean(axis=0), found.objective) and abs(found.objective.min()) < 1e-3
    assert all(np.allclose(*pair) for pair in zip(still.loss, still.new_loss, strict=True))
    assert not np.allclose(found.loss[0], found.new_loss[0]) and np.allclose(found.loss[0], still.loss[0])
    assert np.allclose(np.interp(1.0, found.places, found.objective), 0, atol=0.01)  # the sharp well is the lower one


def gaps_are_those_of_two_runs():
    found = at(neighbouring_data)
    federation = ft.make_problem("log-cosh", clients=4, samples=20, batch_size=1)
    replaced = random_replacements(federation, neighbouring_data.REPLACED)[3]
    method, seeds = ft.fedavg(eta_l=0.05, local_steps=4), neighbouring_data.SEEDS
    own, twin = (ft.run(method, each, neighbouring_data.ROUNDS, seeds=seeds).dataset.x.values
                 for each in (federation, federation.neighbours([replaced] * seeds)))
    assert np.allclose(found.course[3], np.linalg.norm(own - twin, axis=-1).mean(axis=0))
    assert np.isclose(found.by_samples[0, 2], found.course[:, -1].mean()) and not found.course[:, 0].any()


def exact_factors_are_those_of_the_course():
    from fractions import Fraction

    step = {"eta": Fraction(1, 20)}  # 0.4 of 1/(4 L K)
    for theorem, given in (("SCAFFOLD, strongly convex", step), ("gradient descent (Drori, Teboulle)", {})):
        claim, _, local_steps, known = bound_beside_run.THEOREMS[theorem]
        found = at(bound_beside_run, theorem=theorem, federation="minimisers apart")
        curve = ft.bound_over_rounds(ft.claim(claim), given | {"local_steps": Fraction(local_steps)}, rounds=known)
        assert np.allclose(found.factors[:known], curve.exact, rtol=1e-5) and np.isnan(found.factors[known:]).all()
        assert found.verdict == "consistent" and (np.array(found.series.left) <= found.series.right).all()


def the_run_on_the_worst_function_is_the_worst_case():
    for question in worst_function.QUESTIONS:
        found = at(worst_function, question=question, eta=0.7, rounds=2)
        assert np.isclose(found.run, found.ratio, rtol=1e-4) and found.ratios[worst_function.STEPS.index(0.7)] == found.ratio
    flat = at(worst_function, question="SCAFFOLD, two clients", eta=0.1, rounds=5)  # functions of which several points agree
    assert np.isclose(flat.run, flat.ratio, rtol=1e-4)
    classic = at(worst_function)
    assert np.isclose(classic.ratio, 1 / (4 * 3 + 2), rtol=1e-6)  # Drori and Teboulle: L/(4 N + 2) |x_0 - x_*|^2


def the_verdict_is_the_referee_s():
    values = start_values(live_counterexample.CONTROLS)
    found, verdict = at(live_counterexample), ft.verify(live_counterexample.typed(**values), federations=False)
    assert (found.verdict.verdict, found.verdict.evidence) == ("refuted", verdict.evidence)
    assert found.checked.startswith("accepted") and found.tried[-1] == verdict.details["instances"]["tried"]
    assert sum(map(len, found.ratios)) == verdict.details["instances"]["met"]


def test_the_search_is_seen_while_it_goes():
    seen = []
    found = at(live_counterexample, watch=seen.append)
    tried = [each.tried[-1] for each in seen]
    assert len(seen) > 1 and all(later >= 2 * earlier for earlier, later in itertools.pairwise(tried))
    for each in seen:
        count = len(each.tried)
        assert each.verdict is None and (each.stages, each.tried) == (found.stages[:count], found.tried[:count])
        assert all(map(np.array_equal, each.ratios, found.ratios))
        assert f"{each.tried[-1]} instances tried" in live_counterexample.caption(each)
    assert "under way" not in live_counterexample.caption(found)
    first, last = (live_counterexample.picture(each).axes[0].get_title(loc="left") for each in (seen[0], found))
    assert "under way" in first and "under way" not in last


CHECKS = {
    "client-drift": fedavg_stops_where_a_long_run_ends, "adaptive-drift": second_moments_are_those_of_the_run,
    "absent-duals": duals_are_those_of_the_run, "recycled-layers": layers_that_are_sent_add_up_to_the_floats,
    "sampling-variance": one_round_scatters_as_the_formula_says, "free-clients": the_threshold_lets_in_whom_it_says,
    "flat-minima": the_landscape_is_the_objective, "neighbouring-data": gaps_are_those_of_two_runs,
    "bound-beside-run": exact_factors_are_those_of_the_course,
    "worst-function": the_run_on_the_worst_function_is_the_worst_case,
    "live-counterexample": the_verdict_is_the_referee_s,
} | miniatures.CHECKS


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_are_those_of_the_ordinary_code(name):
    CHECKS[name]()


@pytest.mark.parametrize("name", NAMES)
def test_grids_are_small_enough_to_look_at(name):
    assert 1 <= len(list(every_value(picture_of(name).CONTROLS))) <= 5000


# what is typed -------------------------------------------------------------------------------------------------------------
ATTACKS = (
    "__import__('os').system('touch {marker}') <= 1",
    "exec(\"open('{marker}', 'w')\") <= 1",
    "L.__class__.__mro__[1].__subclasses__() <= 1",
    "(lambda: open('{marker}', 'w'))() <= 1",
    "[open('{marker}', 'w') for r in (1,)] <= 1",
    "f\"{{open('{marker}', 'w')}}\" <= 1",
    "norm2(x_round[0]) <= 9**9**9**9",
    "norm2(x_round[0]) <= " + "(" * 200 + "1" + ")" * 200,
    "x" * 501 + " <= 1",
    'L <= 1"\nid = "other"\nstatement = "L <= 2',
    'L <= 1"""]\n[[claim]]\nid = "other/claim"\nstatement = "L <= 2',
    "L <= 1\x00", "L <= 1\ud800", "ⅬL <= 1", "<=", "L", "L <= <= 1", "L <= y", "<img src=x onerror=alert(1)> <= 1",
)


@pytest.mark.parametrize("text", ATTACKS)
@pytest.mark.parametrize("where", ["statement", "condition", "both"])
def test_what_is_not_in_the_language_is_refused_and_does_nothing(text, where, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    typed = text.replace("{marker}", "marker")
    found = at(live_counterexample, **({"statement": typed, "condition": typed} if where == "both" else {where: typed}))
    assert found.wrong and found.verdict is None and "\n" not in found.wrong and "typed.toml" not in found.wrong
    assert list(tmp_path.iterdir()) == []
    said = live_counterexample.caption(found)
    assert "<" not in said and "`" not in said and "$" not in said
    live_counterexample.picture(found)


@pytest.mark.parametrize("field, values", [
    ("statement", {"statement": "L <= y"}), ("conditions", {"condition": "L <= 1; L <= y"}),
])
def test_what_is_wrong_names_its_field(field, values):
    assert at(live_counterexample, **values).wrong.startswith(f"{field}: ")


@pytest.mark.parametrize("method", ["feddyn", "../fedavg", "fedavg\"\nid = \"x"])
def test_another_method_than_those_offered_is_refused(method):
    assert at(live_counterexample, method=method).wrong


def test_a_plain_text_has_no_markup():
    assert plain("a <b> *c* `d` $e$ [f](g) \\ & #") .translate({ord(c): None for c in "&#;0123456789 abcdefg"}) == ""


def test_the_certificate_is_accepted_by_the_checker_alone(tmp_path):
    text = live_counterexample.certificate(at(live_counterexample))
    from verify.cli.statements import statement_text

    claim = live_counterexample.typed(**start_values(live_counterexample.CONTROLS))
    (tmp_path / "c.json").write_text(text)
    (tmp_path / "s.json").write_text(statement_text(claim))
    forged = json.loads(text)
    forged["left"], forged["right"] = forged["right"], forged["left"]
    (tmp_path / "forged.json").write_text(json.dumps(forged))
    status = [subprocess.run([sys.executable, "-I", ROOT / "verify" / "checker", tmp_path / name, tmp_path / "s.json"],
                             capture_output=True).returncode for name in ("c.json", "forged.json")]
    assert status[0] == 0 and status[1] != 0
    true = at(live_counterexample, statement="objective(x_round[0]) - F_star <= L*norm2(x_round[0] - x_star)/2")
    assert true.verdict.verdict == "consistent" and live_counterexample.certificate(true) == ""
