"""The checker's intervals: they contain the number, they are narrow, and they decide only what is certain."""

import operator
from fractions import Fraction as Q

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthetic.numbers.balls import Ball
from synthetic.numbers.decimals import enclosure, rational_in, simplest_between
from tests.precision import with_enough_precision
from verify.checker.intervals import (
    Interval,
    Undecided,
    Vector,
    agrees,
    along,
    as_interval,
    dot,
    exp,
    extreme,
    log,
    number_text,
    power,
    quotient,
    root,
)
from verify.checker.operators import COMPARE, WORDS, breaks, largest_sum

RATIONALS = st.fractions(min_value=-50, max_value=50, max_denominator=1000)
POSITIVE = st.fractions(min_value=Q(1, 1000), max_value=10**6, max_denominator=1000)
NARROW = Q(1, 10**60)


def holds(number, compute):
    """Assert that ``number`` encloses what python-flint computes, and that it is narrow."""
    low, high = with_enough_precision(compute, radius=1e-40).ends
    assert as_interval(number).low <= high and low <= as_interval(number).high
    assert as_interval(number).high - as_interval(number).low <= NARROW * max(1, abs(as_interval(number).high))


@settings(max_examples=40, deadline=None)
@given(RATIONALS, POSITIVE)
def test_exp_log_and_roots(x, y):
    holds(exp(x), lambda: Ball(x).exp())
    holds(log(y), lambda: Ball(y).log())
    holds(root(y), lambda: Ball(y).sqrt())
    for degree in (2, 3, 5):
        assert as_interval(root(y, degree)).low ** degree <= y <= as_interval(root(y, degree)).high ** degree
        assert root(y**degree, degree) == y
    if abs(x) < 5:
        holds(power(y, Q(7, 11)), lambda: (Ball(y).log() * Ball(Q(7, 11))).exp())
        holds(power(y, as_interval(x)), lambda: (Ball(y).log() * Ball(x)).exp())


INTERVALS = st.tuples(RATIONALS, RATIONALS).map(lambda ends: Interval(min(ends), max(ends)))


@settings(max_examples=100, deadline=None)
@given(INTERVALS, INTERVALS, st.fractions(0, 1), st.fractions(0, 1), st.sampled_from(range(-3, 5)))
def test_arithmetic_contains_every_number(a, b, s, t, n):
    x, y = a.low + s * (a.high - a.low), b.low + t * (b.high - b.low)
    for operation in (operator.add, operator.sub, operator.mul):
        for left, right in ((a, b), (a, y), (x, b)):
            found = operation(left, right)
            assert found.low <= operation(x, y) <= found.high
    assert abs(a).low <= abs(x) <= abs(a).high and (-a).low <= -x <= (-a).high
    if b.low > 0 or b.high < 0:
        assert (a / b).low <= x / y <= (a / b).high and (1 / b).low <= 1 / y <= (1 / b).high
    if n >= 0 or a.low > 0 or a.high < 0:
        assert (a**n).low <= x**n <= (a**n).high
    for relation, compare in COMPARE.items():
        try:
            holds = compare(a, b)
        except Undecided:
            assert not breaks(relation, a, b)
        else:
            assert holds == compare(x, y) and breaks(relation, a, b) == (not holds), relation
    for largest, choose in ((True, max), (False, min)):
        found = as_interval(extreme([a, y], largest))
        assert found.low <= choose(x, y) <= found.high
    assert largest_sum([a, b, Q(0)], 2).low <= sum(sorted([x, y, Q(0)])[1:]) <= largest_sum([a, b, Q(0)], 2).high


def test_what_is_rational_stays_a_fraction():
    third, nothing = Q(1, 3), root(Q(2)) * Q(0)
    assert type(extreme([third, nothing, root(Q(1, 10))])) is type(extreme([root(Q(2)), third], largest=False)) is Q
    assert extreme([third, root(Q(1, 10)), Q(1, 4)]) == third and isinstance(extreme([third, root(Q(2))]), Interval)
    assert type(root(Q(4, 9))) is type(power(Q(8, 27), Q(-2, 3))) is type(exp(Q(0))) is type(log(Q(1))) is Q
    assert [power(Q(0), e) for e in (Q(0), Q(1, 2), Q(1, 7), as_interval(Q(1, 7)))] == [1, 0, 0, 0]
    assert (root(Q(4, 9)), power(Q(8, 27), Q(-2, 3)), quotient(Q(0), Q(0))) == (Q(2, 3), Q(9, 4), 0)
    assert along(Vector([Q(3), Q(4)]), Q(5)) == (3, 4) and along(Vector([Q(0)]), Q(1)) == (0,)
    assert dot(Vector([Q(1), root(Q(2))]), Vector([Q(1), root(Q(2))])).low < 3 + Q(1, 10**60)


def test_nothing_uncertain_decides():
    two = root(Q(2)) ** 2
    apart, same = Vector([two, Q(1)]), Vector([Q(2), Q(1)])
    for relation in ("<=", ">=", "==", ">"):
        for left, right in ((two, Q(2)), (Q(2), two)):
            with pytest.raises(Undecided):
                COMPARE[relation](left, right)
            assert not breaks(relation, left, right)
    with pytest.raises(Undecided):
        COMPARE["=="](apart, same)
    assert not breaks("==", apart, same) and breaks("==", apart, Vector([Q(2), Q(3)])) and not breaks("==", same, same)
    assert breaks("==", Vector([Q(2), Q(3)]), apart)
    for largest in (max, min):
        with pytest.raises(Undecided):
            largest(Interval(-5, 5), Q(1))
    with pytest.raises(ZeroDivisionError):
        1 / (two - 2)


@pytest.mark.parametrize("call", [lambda: root(Q(-1)), lambda: log(Q(0)), lambda: exp(Q(10**6)), lambda: Interval(1, 0),
                                  lambda: root(Interval(-2, -1)), lambda: log(Interval(-1, 1))])
def test_what_has_no_meaning_raises(call):
    with pytest.raises((ValueError, ArithmeticError)):
        call()


def test_recorded_sides():
    assert agrees(Q(1, 3), "1/3") and not agrees(Q(1, 3), "1/4") and not agrees(root(Q(2)), "1")
    for wrong in (1 / 3, None, "1/3 ", "one third", "nan", "1e9", "１", "1_0"):
        with pytest.raises((TypeError, ValueError)):
            agrees(Q(1, 3), wrong)
    assert agrees(root(Q(2)), "1.41 to 1.42") and not agrees(root(Q(2)), "1.42 to 1.43") and not agrees(root(Q(2)), "1.4142")
    assert agrees(root(Q(2)), enclosure(Ball(2).sqrt()))
    long = Q(3**10_000, 7**9_000)
    assert agrees(long, enclosure(long)) and not agrees(long, enclosure(long * Q(10**9 + 1, 10**9)))
    assert number_text(Q(1, 3)) == "1/3" and number_text("why") == "why" and number_text(long / long) == "1"
    assert [number_text(number) for number in (long + Q(3, 2), -1 / long)] == ["about 1.5", "about -1e+300"]


@settings(max_examples=60, deadline=None)
@given(st.fractions(max_denominator=10**3, min_value=-100, max_value=100))
def test_simple_fractions_are_found_in_balls(x):
    assert rational_in(Ball(x)) == x and rational_in(Ball(x) + Ball(2).sqrt()) is None
    assert simplest_between(x, x) == x and simplest_between(x, x + 2).denominator == 1
    low, high = map(Q, enclosure(Ball(x)).split(" to "))
    assert low <= x <= high and high - low < Q(1, 10**12)


def test_a_root_of_very_many_digits_is_an_interval():
    short, long = Q(3**100), Q(3**5000)
    assert root(short**2) == short and isinstance(root(short**2), Q)
    assert isinstance(root(long**2), Interval) and root(long**2).low <= long <= root(long**2).high


@settings(max_examples=60, deadline=None)
@given(INTERVALS, st.fractions(0, 1), st.integers(60, 300))
def test_a_high_power_of_an_interval_contains_that_of_every_number(a, s, n):
    x = a.low + s * (a.high - a.low)
    assert (a**n).low <= x**n <= (a**n).high
    point = as_interval(x) ** n
    assert point.low <= x**n <= point.high and point.high - point.low <= NARROW * max(1, abs(point.high))


@pytest.mark.parametrize("n", [24_468, 10**6, 10**9])
def test_a_power_of_too_many_digits_is_an_interval(n):
    """(1 + 1/n)^n rises to e, by about e/(2n)."""
    found, e = power(1 + Q(1, n), Q(n)), exp(Q(1))
    assert isinstance(found, Interval) and e * (1 - Q(1, n)) < found < e
    assert agrees_closely(found * power(1 + Q(1, n), Q(-n)), 1) and power(Q(-1, 3), Q(10**6 + 1)) <= 0
    with pytest.raises(ArithmeticError, match="at most 1000000000"):
        power(1 + Q(1, n), Q(10**9 + 1))


def agrees_closely(interval, number):
    return interval.low <= number <= interval.high and interval.high - interval.low <= NARROW


def test_a_sum_of_nothing_is_no_number_beside_vectors():
    nothing, v = Q(0), Vector([Q(3), Q(4)])
    assert WORDS["+"](nothing, v) == WORDS["+"](v, nothing) == v and WORDS["+"](nothing, nothing) == 0
    assert WORDS["norm2"](nothing) == WORDS["dot"](v, nothing) == WORDS["norm"](nothing) == 0
    with pytest.raises(TypeError):
        WORDS["+"](Q(1), v)


def test_an_interval_scales_a_vector():
    for scaled in (root(Q(2)) * Vector([Q(3), Q(0)]), Vector([Q(3), Q(0)]) * root(Q(2))):
        assert isinstance(scaled, Vector) and agrees(scaled[0] ** 2, str(Q(18)) + " to 18") and scaled[1] == 0


@pytest.mark.parametrize("word, low, high, wanted", [
    ("floor", Q(6, 5), Q(7, 5), 1), ("ceiling", Q(6, 5), Q(7, 5), 2), ("floor", -Q(1, 2), -Q(1, 4), -1),
    ("floor", Q(3), Q(3), 3),
])
def test_a_number_made_whole(word, low, high, wanted):
    assert WORDS[word](Interval(low, high)) == wanted and WORDS[word](low) == wanted
    with pytest.raises(Undecided):
        WORDS[word](Interval(low, high + 1))


def test_an_indicator_and_strict_relations_decide_only_what_is_certain():
    assert (WORDS["below"](Q(1), Q(1)), WORDS["below"](Q(2), Q(1)), WORDS["below"](Interval(Q(0), Q(1)), Q(2))) == (1, 0, 1)
    with pytest.raises(Undecided):
        WORDS["below"](Interval(Q(0), Q(2)), Q(1))
    assert breaks("<", Q(1), Q(1)) and breaks(">", Q(1), Q(1)) and not breaks("<", Q(0), Q(1))
    assert not breaks("<", Interval(Q(0), Q(2)), Q(1)) and not breaks("<=", Q(1), Q(1))


def test_a_fraction_of_many_digits_is_found_without_recursion():
    """A continued fraction of 3000 ones, the ratio of two Fibonacci numbers, ended a growth search."""
    one, other = 1, 1
    for _ in range(3000):
        one, other = one + other, one
    x = Q(one, other)
    assert simplest_between(x, x) == x and simplest_between(x, x + Q(1, other**2)).denominator <= other


@pytest.mark.parametrize("base", [1, 2, 3, True])
@pytest.mark.parametrize("exponent", [-3, -1, 0, 2])
def test_a_power_of_a_whole_number_is_a_fraction(base, exponent):
    """Python's 3**-1 is a float, which the checker could not compare."""
    assert power(base, Q(exponent)) == Q(base) ** exponent
    assert isinstance(power(base, Q(exponent)), Q)
