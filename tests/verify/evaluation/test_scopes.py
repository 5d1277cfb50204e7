"""Arrays along indices: slices take what looking up every entry takes."""

import numpy as np
import pytest
import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.evaluate import Evaluator
from verify.evaluation.scopes import LEAD, Scope, slices
from verify.instances.draw import draw_params, draw_shape
from verify.measure.simulate import simulate


def _some_claim(left) -> Claim:
    step = Condition(operators.eta_l[operators.t], "==", sp.Rational(1, 8), ((operators.t, 0, operators.iterations - 1),))
    return Claim(id="test/some", number="", kind="lemma", setting="run", source="test",
                 statement=Condition(left, "<=", 1), conditions=(step,))


def _take_slowly(monkeypatch):
    monkeypatch.setattr("verify.evaluation.evaluate.slices", lambda *a: None)


@pytest.mark.parametrize("formula", (
    sp.Sum(operators.norm2(operators.x_local[operators.t, operators.k]), (operators.k, 0, operators.clients - 1),
           (operators.t, 0, operators.iterations)),
    sp.Sum((operators.t + 1) * operators.norm2(operators.x_local[operators.t, operators.k]),
           (operators.t, 0, operators.iterations),
           (operators.k, 0, operators.clients - 1)),
    sp.Sum(operators.norm2(operators.x_local[operators.t + 1, operators.k] - operators.x_local[operators.t, operators.k]),
           (operators.k, 0, operators.clients - 1), (operators.t, 0, operators.iterations - 1)),
    sp.Sum(operators.norm2(operators.x_local[operators.iterations - operators.t, operators.k]),
           (operators.k, 0, operators.clients - 1), (operators.t, 0, operators.iterations)),
    sp.Sum(operators.norm2(operators.x_local[operators.t, 0]), (operators.t, 1, operators.iterations)),
    sp.Sum(operators.norm2(operators.x_local[operators.t, operators.k]), (operators.t, 0, operators.k),
           (operators.k, 0, operators.clients - 1)),
), ids=str)
def test_slices_take_what_looking_up_every_entry_takes(formula, monkeypatch):
    claim, rng = _some_claim(formula), np.random.default_rng(0)
    shape = draw_shape(claim, rng, 16, 10, 1)
    while shape.iterations < shape.clients:
        shape = draw_shape(claim, rng, 16, 10, 1)
    environment = simulate(claim, shape, draw_params(claim, shape, 3, rng), NUMPY)
    fast = Evaluator(environment).value(formula, Scope({})).data
    _take_slowly(monkeypatch)
    np.testing.assert_allclose(fast, Evaluator(environment).value(formula, Scope({})).data, rtol=1e-13)


def test_slices_refuse_what_lies_outside():
    scope = Scope({}).deeper("t", np.arange(4), np.ones(4, dtype=bool))
    assert slices("x", (operators.t,), scope, (4,)) == ((*(slice(None),) * LEAD, slice(0, 4)), (4,))
    with pytest.raises(IndexError, match=r"index 0 .*x .*0\.\.3; got 1\.\.4"):
        slices("x", (operators.t + 1,), scope, (4,))
