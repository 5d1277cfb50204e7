"""Where a proof loses: factors by hand, what cannot be measured, the figure and the command."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from bounds.controls.fedavg import ALL_STEPS, CONTROLS, control
from bounds.language.claim import Condition
from bounds.language.operators import E, L, iterations, mu, norm2, objective, x_sampled, x_star
from bounds.registry.claims import all_claims
from tests.not_empty import not_empty
from verify.cli.main import main
from verify.instances.shape import Shape
from verify.proofs import looseness as module
from verify.proofs.looseness import Link, Waterfall, waterfall
from verify.proofs.looseness_figure import waterfall_figure
from verify.search.budget import BUDGETS, Budget

TRUE = {row.claim.id: row.claim for row in CONTROLS}
gap = E(objective(x_sampled[iterations])) - objective(x_star)
distance = E(norm2(x_sampled[iterations] - x_star))
STEPS = (
    TRUE["control/smooth-gap"],  # gap <= L/2 distance
    control("twice", "run", Condition(L / 2 * distance, "<=", L * distance)),  # loses exactly 2
    control("fails", "run", Condition(3 * distance, "<=", distance)),  # "loses" 1/3
)
THEOREM = control("all-in-all", "run", Condition(gap, "<=", L * distance))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setitem(BUDGETS, "quick", Budget(8, 64, 8))


def test_sides_that_are_small_beside_what_cancels_in_them_have_a_factor():
    """Near the optimum of a loss with a large constant: gap = L/2 d = 5e-12 there, beside terms of 1."""
    shape = Shape(1, 0, 1, 1, 1)
    params = {name: np.array(value) for name, value in {
        "curvature": [[[1.0]]], "center": [[[0.0]]], "offset": [[1.0]], "weight": [[1.0]], "step_fraction": [[0.5]],
        "step_scale": [[1.0]], "start_offset": [[2e-6 * 10**0.5]], "epsilon": [[0.0, 0.0]],
        "available": [[[1.0], [1.0]]], "slack:L": [[1.0]]}.items()}
    factor, reason = module._factor(STEPS[0], shape, params, 0)
    assert reason == "" and factor == pytest.approx(1, rel=1e-3)
    assert module._factor(STEPS[0], shape, params | {"start_offset": np.array([[1e-9]])}, 0) == (
        None, "the smaller side is 0 there")


def test_factors_multiply_up():
    """gap <= L/2 d loses f, L/2 d <= L d loses 2, and the theorem loses 2 f on the same instance."""
    found = waterfall(THEOREM, steps=STEPS)
    for kind in ("worst", "typical"):
        first, second, third = (getattr(step, kind) for step in found.steps)
        assert second == pytest.approx(2) and third == pytest.approx(1 / 3) and first >= 1 - 1e-4
        assert getattr(found.theorem, kind) == pytest.approx(first * second)
    assert found.theorem.worst == pytest.approx(2, rel=1e-3) and found.theorem.typical >= found.theorem.worst


def test_the_least_factors_over_the_class():
    """Those of every function, in every dimension: known here, and at most those of any instance."""
    pytest.importorskip("clarabel")
    found = waterfall(THEOREM, steps=STEPS)
    assert [link.least for link in (*found.steps, found.theorem)] == pytest.approx([1, 2, 1 / 3, 2], rel=1e-5)
    assert all(link.least <= min(link.worst, link.typical) * (1 + 1e-5) for link in (*found.steps, found.theorem))
    undecidable = control("roots", "run", Condition(norm2(x_sampled[0] - x_star) ** sp.Rational(1, 2), "<=", L))
    assert module._least(undecidable) is None


def test_what_cannot_be_measured_says_why():
    numbers = TRUE["control/means"]
    impossible = control("impossible", "run", Condition(distance, "<=", distance), conditions=(
        Condition(mu, ">=", 2 * L),))
    hidden = replace(STEPS[0], explicit=False)
    found = waterfall(THEOREM, steps=(numbers, TRUE["control/jensen"], impossible, hidden))
    assert [step.worst for step in found.steps] == [None] * 4
    kinds = ("numbers", "point", "hypotheses", "constants")
    assert [[kind for kind in kinds if kind in step.reason] for step in found.steps] == [[kind] for kind in kinds]


@pytest.mark.parametrize("make, message", [
    (lambda: waterfall(THEOREM), "control/all-in-all .*steps"),
    (lambda: waterfall(TRUE["control/means"], steps=STEPS), "control/means .*'algebra'"),
    (lambda: waterfall(THEOREM, "fast", steps=STEPS), "unknown budget 'fast'; allowed: quick"),
    (lambda: waterfall(replace(THEOREM, explicit=False), steps=STEPS), r"control/all-in-all .*O\(\.\)"),
    (lambda: waterfall(control("none", "run", Condition(gap, "<=", L), conditions=(
        Condition(gap, ">=", 1, (ALL_STEPS,)), Condition(gap, "<=", 0)))), "control/none .*steps"),
])
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_an_instance_that_nothing_meets():
    impossible = replace(THEOREM, conditions=(Condition(mu, ">=", 2 * L),))
    with pytest.raises(ValueError, match=r"^control/all-in-all: .*\d+ instances .*hypotheses"):
        waterfall(impossible, steps=STEPS)


FOUND = Waterfall(Link("p/theorem", "1", 8.0, 50.0), (
    Link("p/a", "2", 4.0, math.inf), Link("p/b", "3", None, None, "it is about numbers, not about a run"),
    Link("p/c", "4", 0.5, 1e15)))


def test_the_figure_marks_every_factor():
    figure = waterfall_figure(FOUND)
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    assert {"4", "∞", "0.5", "1e+15", "8", "50"} <= set(texts) and "it is about numbers, not about a run" in texts
    assert [label.get_text() for label in axes.get_yticklabels()][-1].startswith("p/theorem ")
    assert axes.get_xlim()[0] < 0.5


def test_the_command(monkeypatch, tmp_path, capsys):
    claim = replace(THEOREM, steps=tuple(step.id for step in STEPS))
    known = {c.id: c for c in (claim, *STEPS)}
    monkeypatch.setattr(module, "find_claim", known.__getitem__)
    monkeypatch.setattr("verify.cli.proofs.choose_claim", known.__getitem__)
    out = tmp_path / "falls.png"
    assert main(["looseness", claim.id, "--out", str(out)]) == 0
    assert out.stat().st_size > 5000 and "control/twice" in capsys.readouterr().out
    assert main(["looseness", claim.id, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["steps"][1]["worst"] == pytest.approx(2)
    assert main(["looseness", claim.id, "--out", "x.gif"]) == 2
    assert " .svg, .pdf, .png" in capsys.readouterr().err


def test_registered_steps_exist():
    claims = all_claims()
    assert [(c.id, step) for c in not_empty(claims.values()) for step in c.steps if step not in claims] == []


def test_sides_below_zero_have_no_factor():
    """A descent lemma with its terms moved, so that both sides are negative: -d <= -d / 2 has no factor."""
    moved = control("moved", "run", Condition(-distance, "<=", -distance / 2))
    found = waterfall(THEOREM, steps=(moved,)).steps[0]
    assert found.worst is None and found.typical is None and "negative" in found.reason
