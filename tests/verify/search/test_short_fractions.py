"""Statements about numbers that are false only where numbers are equal, exponents are whole, or equations hold."""

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from verify.instances.draw import draw_params
from verify.instances.shape import Shape
from verify.search.budget import BUDGETS
from verify.search.search import search
from verify.search.transformations.short_fractions import SHORT_FRACTIONS

#: where each fails: variables, conditions, statement
FALSE = {
    "b = -1, x = 1/2": ("b = 'real', x = 'real'", (), "0 <= b**(2*x)"),
    "b = -1, x = 1/2, c = 1": ("b = 'real', x = 'nonnegative', c = 'positive'", (), "c <= c + b**(2*x)"),
    "b = -2, x = 1/3": ("b = 'real', x = 'positive'", ("b <= -2",), "b**(3*x) >= -1"),
    "b = -1, x - y = 1": ("b = 'real', x = 'real', y = 'real'", ("b <= -1",), "b**(x - y) >= 1/2"),
    "b = 3, x = 2": ("b = 'positive', x = 'positive'", (), "(1 - b)**x <= 1"),
    "a = b": ("a = 'positive', b = 'positive'", (), "2*a*b < a**2 + b**2"),
    "a = b = c": ("a = 'positive', b = 'positive', c = 'positive'", (), "a*b + b*c + c*a < a**2 + b**2 + c**2"),
    "a = 1": ("a = 'positive'", (), "floor(a) < a"),
    "x + y + z = 1": ("x = 'nonnegative', y = 'nonnegative', z = 'nonnegative'", ("x + y + z == 1",),
                      "x*y + y*z + z*x <= 1/4"),
    "p = q = 2, a = b = 1": ("p = 'positive', q = 'positive', a = 'nonnegative', b = 'nonnegative'", ("1/p + 1/q == 1",),
                             "a*b <= a**p/p + b**q/(2*q)"),
    "x = 3/5, y = 4/5": ("x = 'real', y = 'real'", ("x**2 + y**2 == 1",), "x + y <= 1"),
}


def written(folder, variables, conditions, statement):
    path = folder / "claim.toml"
    path.write_text(f"[[claim]]\nid = 'mine/one'\nsetting = 'algebra'\nvariables = {{{variables}}}\n"
                    f"conditions = {[*conditions]}\nstatement = '''{statement}'''\n", encoding="utf-8")
    return load_claims(path)[0]


@pytest.mark.parametrize("where", FALSE)
def test_a_statement_that_is_false_at_short_fractions_is_refuted(where, tmp_path):
    claim = written(tmp_path, *FALSE[where])
    assert search(claim, BUDGETS["quick"]).violation
    assert not search(claim, BUDGETS["quick"], without=["short-fractions"]).violation


def test_numbers_keep_their_signs_and_bounds(tmp_path):
    claim = written(tmp_path, "a = 'positive below 1', b = 'real', c = 'nonnegative', d = 'positive'", ("a + d == 1",),
                    "a <= b + c")
    rng = np.random.default_rng(0)
    before = draw_params(claim, Shape(), 2000, rng)
    after = SHORT_FRACTIONS(claim, Shape(), before, rng)
    assert all((np.sign(after[name]) == np.sign(before[name])).all() for name in before)
    assert (after["a"] < 1).all()
    assert (abs(after["a"] + after["d"] - 1) < 1e-12).sum() > 50
