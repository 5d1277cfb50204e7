"""What is known of letters: interpolation conditions, squares, and what is refused."""

from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verify.checker.quadratic_forms import NotQuadratic, QuadraticForm, SymbolicVector, between, pairing, semidefinite

ENTRIES = st.integers(-3, 3)


@given(st.lists(st.lists(ENTRIES, min_size=4, max_size=4), min_size=1, max_size=5))
def test_a_square_is_semidefinite_and_less_than_it_is_not(rows):
    """A^T A is; with more than its least eigenvalue taken off it is not."""
    a = np.array(rows, dtype=object)
    square = a.T @ a
    assert semidefinite([[Q(int(c)) for c in row] for row in square])
    least = float(np.linalg.eigvalsh(square.astype(float))[0])
    less = square - (Q(least).limit_denominator(1000) + Q(1, 100)) * np.eye(4, dtype=int)
    assert not semidefinite([[Q(c) for c in row] for row in less])


@given(st.floats(0, 1), st.lists(st.floats(-5, 5), min_size=2, max_size=2), st.sampled_from([Q(-1), Q(0), Q(1, 10)]))
def test_points_of_a_function_of_the_class_meet_its_conditions(share, points, m):
    """1/2 c x^2 with c between m and L; and the function that has curvature L below zero and m above it."""
    L = Q(1)
    c = m + (L - m) * Q(share).limit_denominator(50)

    def bent(x):
        return (m if x > 0 else L) * x, (m if x > 0 else L) * x * x / 2

    for function in (lambda x: (c * x, c * x * x / 2), bent):
        (x, y), at = [Q(p).limit_denominator(100) for p in points], {}
        for name, where in (("one", x), ("other", y)):
            slope, value = function(where)
            at[name] = SymbolicVector({0: where}), SymbolicVector({0: slope}), QuadraticForm({(): value})
        form = between(at["one"], at["other"], L, m)
        assert form.terms.get((0, 0), 0) + form.terms.get((), 0) >= 0


def test_a_steeper_function_breaks_a_condition():
    """x^2 has curvature 2 > L = 1."""
    at = [(SymbolicVector({0: Q(x)}), SymbolicVector({0: Q(2 * x)}), QuadraticForm({(): Q(x * x)})) for x in (0, 1)]
    form = between(at[0], at[1], Q(1), Q(0))
    assert form.terms.get((0, 0), 0) + form.terms.get((), 0) < 0


def test_forms_are_linear():
    u, v = SymbolicVector({0: Q(1), 1: Q(2)}), SymbolicVector({1: Q(3)})
    assert pairing(u + v, u + v).terms == (pairing(u, u) + pairing(u, v) * 2 + pairing(v, v)).terms
    assert (u * 2 - u - u).terms == {} and (3 * pairing(u, u) / 3).terms == pairing(u, u).terms


SQUARE = pairing(SymbolicVector({0: Q(1)}), SymbolicVector({0: Q(1)}))


@pytest.mark.parametrize("refused", [
    lambda: SQUARE * SQUARE, lambda: 1 / SQUARE, lambda: SQUARE**2, lambda: abs(SQUARE), lambda: SQUARE <= 1,
    lambda: SQUARE == SQUARE, lambda: bool(SQUARE), lambda: [*SymbolicVector({0: Q(1)})],
    lambda: SymbolicVector({0: Q(1)})[0],
    lambda: SymbolicVector({0: Q(1)}) * SymbolicVector({0: Q(1)}), lambda: max(SQUARE, 0),
])
def test_what_is_not_linear_is_refused(refused):
    with pytest.raises(NotQuadratic):
        refused()
