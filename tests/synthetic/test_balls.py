"""Balls: real numbers with proven error, and methods run on them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedtheory import make_algorithm, rounds_of
from fedtheory.engine import starting_points
from synthetic import FiniteNoise, Quadratic
from synthetic.numbers.arrays import BALLS, EXACT, TORCH, add_up, first_least, maximum, to_numpy
from synthetic.numbers.balls import Ball, Undecided
from synthetic.numbers.draws import Draws
from tests.not_empty import not_empty
from tests.precision import with_enough_precision
from tests.synthetic.families import each

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
RATIONALS = st.fractions(min_value=-100, max_value=100, max_denominator=1000)


@given(RATIONALS, RATIONALS)
def test_arithmetic_contains_the_exact_result(a, b):
    p, q = Ball(a), Ball(b)
    pairs = [(p + q, a + b), (p - q, a - b), (p * q, a * b), (p * p, a * a), (p**2, a**2), (-p, -a), (abs(p), abs(a)),
             (2 - p, 2 - a), (HALF * p, HALF * a), (p.maximum(q), max(a, b))]
    pairs += [(p / q, a / b), (1 / q, 1 / b)] if b else []
    for ball, exact in pairs:
        assert ball.contains(exact) and ball.radius < 1e-10
    root = (p * p).sqrt()
    assert root.contains(abs(a))


@each("length", range(10))
def test_short_sums_have_the_bits_of_long_ones(length):
    """And are arrays of their own."""
    values = np.random.default_rng(length).normal(size=(3, 2, length))
    before, total = values.copy(), add_up(values)
    assert np.array_equal(total, values.sum(axis=-1))
    total += 1
    assert np.array_equal(values, before)
    exact = add_up(EXACT.array(values))
    assert (exact == EXACT.array(values).sum(axis=-1)).all()
    assert np.allclose(to_numpy(add_up(TORCH.array(values))), values.sum(axis=-1), rtol=1e-14, atol=1e-14)


@each("backend", [EXACT, BALLS, TORCH])
def test_the_first_of_the_least_entries(backend):
    values = np.random.default_rng(3).integers(-2, 3, size=(40, 5))
    index = first_least(backend.array(values))
    assert np.array_equal(to_numpy(index), values.argmin(axis=-1))


def test_a_least_entry_that_is_not_certain_is_undecided():
    """Where NumPy's own argmin of objects goes on comparing and fails with a SystemError."""
    third = Ball(2).sqrt() * Ball(2).sqrt() / 6
    values = np.array([[Ball(1), third + 0, third * 1, third + third - third, Ball(5)]], dtype=object)
    with pytest.raises(Undecided, match="overlap"):
        first_least(values)


@given(RATIONALS, st.sampled_from([0, 1, 2, 3, 4, 5, 8, -1, -2]), st.sampled_from([0, THIRD, Fraction(10**9)]))
def test_whole_powers_of_balls_of_any_radius(a, n, radius):
    """Also of balls around 0, whose even powers are not negative."""
    ball = Ball(a) + Ball(radius) * (Ball(1) / 3 * 3 - 1) * 10**16
    if n < 0 and (radius or a == 0):  # the reciprocal of a wide ball is wider still, or nothing
        return
    power = ball**n
    low, high = power.ends
    assert low <= a**n <= high and (n % 2 or low >= 0 or n <= 0)
    assert all(power.contains(end**n) for end in ball.ends)


def test_what_may_be_infinite_has_no_ends():
    around = Ball(1) / 3 - THIRD
    assert float(around**2) >= 0 and (around * around).ends[0] == 0 and around.contains(0)
    with pytest.raises(Undecided, match="finite"):
        (1 / around).ends  # noqa: B018


def test_centred_noise_may_be_zero_or_have_irrational_parts():
    third = np.array([[[[Ball(1) / 3 - THIRD], [THIRD - Ball(1) / 3]]]], dtype=object)
    half = np.array([Ball(HALF)] * 2, dtype=object)
    assert FiniteNoise(third, half).outcomes == 2
    with pytest.raises(ValueError, match="mean zero"):
        FiniteNoise(third + Ball(2).sqrt(), half)


@given(RATIONALS, RATIONALS)
def test_comparisons_that_are_decided_are_right(a, b):
    if a != b:
        assert (Ball(a) < Ball(b)) == (a < b) and (Ball(a) >= b) == (a >= b)


def test_overlapping_balls_refuse_to_compare():
    two = Ball(2).sqrt() ** 2
    for compare in (lambda: two < 2, lambda: two >= 2, lambda: two == 2, lambda: bool(two - 2)):
        with pytest.raises(Undecided, match="overlap"):
            compare()
    tied = two.maximum(Ball(2).sqrt() ** 2)
    assert tied.contains(2) and tied.radius < 1e-15


@given(RATIONALS, RATIONALS)
def test_fractions_stay_exact(a, b):
    """Also roots of squares; what is divided by zero is unknown, and no error."""
    p, q = Ball(a), Ball(b)
    root = ((p - q) * (p - q)).sqrt()
    assert root.exact and root == abs(a - b) and root.radius == 0 and root.ends == (abs(a - b), abs(a - b))
    assert p + q == a + b and p.maximum(q) == max(a, b) and (p * q == a * b) and (not p) == (a == 0)
    quotient = p / q
    assert quotient.exact and quotient == a / b if b else not quotient.exact and math.isnan(float(quotient))
    irrational = Ball(2).sqrt() + p
    assert not irrational.exact and irrational > p and irrational * 0 == 0


def test_long_fractions_become_balls():
    long = Ball(THIRD) ** 5000
    assert not long.exact and long.contains(THIRD**5000) and (Ball(THIRD) ** 500).exact


def test_more_precision_decides():
    near = 2 + Fraction(1, 10**30)
    with pytest.raises(ArithmeticError, match="overlap"):
        with_enough_precision(lambda: Ball(int(Ball(2).sqrt() ** 2 < near)), limit=64)
    assert float(with_enough_precision(lambda: Ball(int(Ball(2).sqrt() ** 2 < near)))) == 1
    with pytest.raises(ArithmeticError, match=r"256 bits: Ball.*overlap"):
        with_enough_precision(lambda: Ball(int(Ball(2).sqrt() ** 2 < 2)), limit=256)
    with pytest.raises(ArithmeticError, match=r"128 bits.*radius.*1e-300"):
        with_enough_precision(lambda: Ball(2).sqrt(), radius=1e-300, limit=128)


def test_what_is_no_number_is_refused():
    with pytest.raises(TypeError, match="real number; got 'a'"):
        Ball("a")


def test_maximum_on_every_backend():
    values = [1.0, -2.0, 0.5], [0.0, 3.0, 0.5]
    for backend in (TORCH, EXACT, BALLS):
        largest = maximum(*(backend.array(v) for v in values))
        assert [float(v) for v in to_numpy(largest)] == [1.0, 3.0, 0.5]


def final(backend, name, rounds, **options):
    """The model after some rounds on three clients in the plane."""
    federation = Quadratic([[[1, 2], [HALF, 3], [2, 1]]], [[[1, 0], [-1, THIRD], [0, 2]]], backend=backend)
    method = make_algorithm(name, eta_l=Fraction(1, 8), local_steps=3, **options)
    draws = Draws([0], backend)
    state = method.init(federation, starting_points(federation, None, 1), draws)
    *_, state = rounds_of(method, federation, state, draws, 0, rounds, everyone=False)
    return method.output(state)


@each(("name", "options"), [
    ("fedavg", {}), ("fedprox", {"rho_prox": HALF}), ("scaffold", {"participants": 2}), ("scaffold", {"option": "I"})])
def test_balls_contain_the_fractions(name, options):
    balls = with_enough_precision(lambda: final(BALLS, name, 6, **options))
    exact = final(EXACT, name, 6, **options)
    assert all(ball.contains(value) for ball, value in not_empty(zip(balls.ravel(), exact.ravel(), strict=True)))


@each(("name", "options"), [("fedsam", {"rho_sam": Fraction(1, 10)})])
def test_float64_agrees_with_balls_after_fifty_rounds(name, options):
    """Methods with roots: float64 to 1e-12 of numbers whose error is proven."""
    balls = with_enough_precision(lambda: final(BALLS, name, 50, **options))
    numbers = to_numpy(final(TORCH, name, 50, **options))
    np.testing.assert_allclose(numbers, balls.astype(float), rtol=0, atol=1e-12)
    assert max(ball.radius for ball in balls.ravel()) <= 1e-15


def test_a_rest_is_that_of_a_number_that_is_known():
    """A method asks whether an option is a whole number."""
    assert Ball(Fraction(7, 2)) % 1 == Fraction(1, 2) and Ball(3) % 1 == 0 and int(Ball(3)) == 3
    with pytest.raises(Undecided):
        Ball(2).sqrt() % 1
