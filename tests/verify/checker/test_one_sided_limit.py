"""Numbers next to an end that is left out: what they surely are, they are at every number above the end."""

import json
import operator
import random
from fractions import Fraction as Q

import pytest

from bounds.registry.user_claims import load_claims
from verify.checker.intervals import Interval, Undecided
from verify.checker.one_sided_limit import OneSidedLimit
from verify.checker.operators import COMPARE, WORDS
from verify.exact.check import check, replay_alone
from verify.referee.decide import Settings, decide

CANNOT = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


def formula(rng, depth):
    """A random formula in x: a number, x, or an operation of two."""
    if depth == 0 or rng.random() < 0.15:
        return "x" if rng.random() < 0.5 else Q(rng.randint(-4, 4), rng.randint(1, 3))
    if rng.random() < 0.2:
        return "^", formula(rng, depth - 1), rng.randint(-3, 3)
    return rng.choice([*OPERATIONS]), formula(rng, depth - 1), formula(rng, depth - 1)


def value(node, x):
    if not isinstance(node, tuple):
        return x if node == "x" else node
    word, *args = node
    return value(args[0], x) ** args[1] if word == "^" else OPERATIONS[word](*(value(a, x) for a in args))


@pytest.mark.parametrize("seed", range(20))
def test_what_is_sure_holds_at_every_number(seed):
    """200 pairs of random formulas and a random relation, decided for about a third; each looked at in 60 places."""
    rng, decided = random.Random(seed), 0
    for _ in range(200):
        top, left, right, sign = Q(rng.randint(1, 5), rng.randint(1, 4)), formula(rng, 4), formula(rng, 3), rng.choice("<=")
        relation = {"<": rng.choice("<>"), "=": rng.choice(["<=", ">="])}[sign]
        try:
            near = OneSidedLimit(1, Q(1), top)
            answer = COMPARE[relation](value(left, near), value(right, near))
        except CANNOT:
            continue
        decided += 1
        for n in range(60):
            x = top / 2**n if n % 2 else top * Q(rng.randint(1, 10**6), 10**6)
            assert COMPARE[relation](value(left, x), value(right, x)) == answer, (left, relation, right, x)
    assert decided > 30


@pytest.mark.parametrize("known, says", [
    (lambda x: x > 0, True), (lambda x: x <= Q(1, 2), True), (lambda x: x / x - 1 < 1, True), (lambda x: 1 / x >= 2, True),
    (lambda x: x + x**2 > x, None), (lambda x: 3 * x - x**2 > 0, True), (lambda x: x * Interval(1, 2) < 0, False),
    (lambda x: Q(1, 2) < x, False), (lambda x: Q(1, 3) < x, None), (lambda x: x - x**2 > x / 2, None),
    (lambda x: x >= x**2 * 3, None), (lambda x: x * Interval(-1, 1) <= 0, None), (lambda x: x - x > 0, False),
    (lambda x: x - x >= 0, True),
])
def test_by_hand(known, says):
    """x is above 0 and at most 1/2; what holds for some of these alone is not decided."""
    near = OneSidedLimit(1, Q(1), Q(1, 2))
    if says is None:
        with pytest.raises(Undecided):
            known(near)
    else:
        assert known(near) is says


@pytest.mark.parametrize("word", sorted({*WORDS} - {"+", "*", "^", "below", "Max", "Min", "Exp1", "share", "upper"}))
def test_a_word_that_does_not_know_them_refuses_them(word):
    near = OneSidedLimit(1, Q(1), Q(1))
    for args in ((near,), (near, near), (Q(1), near), (near, Q(1), Q(1))):
        with pytest.raises(CANNOT):
            WORDS[word](*args)


@pytest.mark.parametrize("use", [
    hash, bool, abs, int, float, lambda x: x == 1, lambda x: x != 1, lambda x: x**Q(1, 2), lambda x: x + 0.5,
    lambda x: WORDS["^"](x, Q(1, 2)), lambda x: Interval(0, 1) < x])
def test_they_are_nothing_else(use):
    with pytest.raises(CANNOT):
        use(OneSidedLimit(1, Q(1), Q(1)))


FILE = """
[[claim]]
id = "mine/open"
setting = "algebra"
variables = {a = "positive"}
exists = {h = "(0, 1]"}
statement = "%s"
"""
ROWS = {
    "fails for every positive number": ("a*h + h**2 <= 0", "refuted"),
    "strict, equal at every number": ("h > h + 0*a", "refuted"),
    "fails for every positive number, by little": ("h**4 <= 0*a", "refuted"),
    "holds near the end": ("h**2 <= a*h", "consistent"),
    "holds at one number inside": ("(h - 1/3)**2 <= 0*a", "consistent"),
    "holds at the upper end": ("a*(1 - h) <= 0", "consistent"),
    "fails for every number, by a root": ("sqrt(h) <= 0*a", "undecided"),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_verdict_on(row, tmp_path):
    statement, expected = ROWS[row]
    path = tmp_path / "mine.toml"
    path.write_text(FILE % statement, encoding="utf-8")
    verdict = decide(load_claims(path)[0], Settings(budget="quick", federations=False))
    assert verdict.verdict == expected, verdict.evidence
    if expected == "refuted":
        data = verdict.details["instance"]
        assert check(data, load_claims(path)[0]).accepted and replay_alone(data).accepted
        for forged in ({"open": [False, False]}, {"open": [False, True]}, {"low": "0"}, {"low": -1}, {"low": False}):
            text = json.dumps({**data, "exists": {**data["exists"], **forged}})
            assert not check(json.loads(text), load_claims(path)[0]).accepted
            assert row.startswith("strict") or not replay_alone(json.loads(text)).accepted, forged
