"""Arrays along indices: slices take what looking up every entry takes."""

import numpy as np
import pytest
import sympy as sp

from bounds.language import words
from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.evaluate import Evaluator
from verify.evaluation.scopes import LEAD, Scope, slices
from verify.instances.draw import draw_leaves, draw_shape
from verify.measure.realise import realise


def _some_claim(left) -> Claim:
    step = Condition(words.eta_l[words.t], "==", sp.Rational(1, 8), ((words.t, 0, words.iterations - 1),))
    return Claim(id="test/some", number="", kind="lemma", setting="run", source="test",
                 statement=Condition(left, "<=", 1), conditions=(step,))


def _take_slowly(monkeypatch):
    monkeypatch.setattr("verify.evaluation.evaluate.slices", lambda *a: None)


@pytest.mark.parametrize("formula", (
    sp.Sum(words.norm2(words.x_local[words.t, words.k]), (words.k, 0, words.clients - 1), (words.t, 0, words.iterations)),
    sp.Sum((words.t + 1) * words.norm2(words.x_local[words.t, words.k]), (words.t, 0, words.iterations),
           (words.k, 0, words.clients - 1)),
    sp.Sum(words.norm2(words.x_local[words.t + 1, words.k] - words.x_local[words.t, words.k]),
           (words.k, 0, words.clients - 1), (words.t, 0, words.iterations - 1)),
    sp.Sum(words.norm2(words.x_local[words.iterations - words.t, words.k]),
           (words.k, 0, words.clients - 1), (words.t, 0, words.iterations)),
    sp.Sum(words.norm2(words.x_local[words.t, 0]), (words.t, 1, words.iterations)),
    sp.Sum(words.norm2(words.x_local[words.t, words.k]), (words.t, 0, words.k), (words.k, 0, words.clients - 1)),
), ids=str)
def test_slices_take_what_looking_up_every_entry_takes(formula, monkeypatch):
    claim, rng = _some_claim(formula), np.random.default_rng(0)
    shape = draw_shape(claim, rng, 16, 10, 1)
    while shape.iterations < shape.clients:
        shape = draw_shape(claim, rng, 16, 10, 1)
    environment = realise(claim, shape, draw_leaves(claim, shape, 3, rng), NUMPY)
    fast = Evaluator(environment).value(formula, Scope({})).data
    _take_slowly(monkeypatch)
    np.testing.assert_allclose(fast, Evaluator(environment).value(formula, Scope({})).data, rtol=1e-13)


def test_slices_refuse_what_lies_outside():
    scope = Scope({}).deeper("t", np.arange(4), np.ones(4, dtype=bool))
    assert slices("x", (words.t,), scope, (4,)) == ((*(slice(None),) * LEAD, slice(0, 4)), (4,))
    with pytest.raises(IndexError, match=r"index 0 .*x .*0\.\.3; got 1\.\.4"):
        slices("x", (words.t + 1,), scope, (4,))
