"""Sizes and numbers far from those at which a claim is proven, at which it may be false."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import inf, prod
from random import Random

from bounds.language.claim import Claim
from verify.worst.setting import Place
from verify.worst.worst_case import WorstCase, worst_case

__all__ = ["CHALLENGES", "challenged"]

_LETTERS, _MOST = 20, 32  # of a setting that is looked at, and of one at which a proof is looked for
_COUNT, _TRIALS = 48, 80  # settings drawn, and trials uphill from the worst of them
_STARTS = 2  # settings from which numbers are moved
_LARGE, _SMALL = (3, 4, 6, 8), (1, 1, 2)  # sizes
_RUN = 12  # clients times rounds times local steps
_NUMBERS = ("1", "1", "1/10", "1/100", "1/1000", "1/3", "3", "10", "100")
_PARTS = (Fraction(1), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**4))  # of numbers that hypotheses may bound
_RATIOS = ("1/10", "1/1000", "1/2", "99/100")
_NEAR = ("1", "1", "1/2", "1/10", "1/1000", "999/1000")
_STEPS = ("1/2", "1", "1/10", "19/10", "1/100")
_MOVES = (Fraction(3), Fraction(1, 3), Fraction(11, 10), Fraction(10, 11))  # of a number, by a factor
_UP = 1.001  # a factor that is this many times larger is larger
_FALSE = 1 + 1e-4  # a larger factor asks for a proof
_ERRORS = (ArithmeticError, LookupError, TypeError, ValueError)


def _drawn() -> list[Place]:
    """Places with one large size each, and numbers of all magnitudes."""
    rng = Random(1)

    def some(texts) -> tuple[Fraction, ...]:
        return tuple(map(Fraction, rng.choices(texts, k=7)))

    found = []
    for i in range(_COUNT):
        sizes = [rng.choice(_SMALL) for _ in range(3)]
        sizes[i % 3] = rng.choice([n for n in _LARGE if n * prod(sizes) <= _RUN * sizes[i % 3]])
        L = some(_NUMBERS)[0]
        found.append(Place(*sizes, L, L * some(_RATIOS)[0], some(_NEAR), some(_STEPS)[0], some(_NUMBERS),
                           rng.choice(((1,), (1, rng.randint(1, 9)))), rng.choice((2, 1, 3))))
    return found


#: the places at which a claim that is proven elsewhere may be false
CHALLENGES = (*_drawn(),)


def challenged(claim: Claim) -> str:
    """Where a claim may be false: the functions, sizes and numbers, in one line; empty where that is nowhere seen.

    All ``CHALLENGES`` are looked at, then what lies uphill from the worst of them. Where the solver's numbers say that the
    statement is false, a proof may say that it is true.

    Raises:
        ImportError: the solver is not installed.
    """
    known = []
    for place in CHALLENGES:
        for part in _PARTS:
            smaller = place._replace(numbers=tuple(number * part for number in place.numbers))
            one = _looked_at(claim, {}, smaller)
            if one is not None:
                if _false(claim, {}, smaller, one):
                    return one.scope
                known.append((_factor(one), one, smaller))
                break
    known = sorted((each for each in known if each[0] < inf), key=lambda each: -each[0])
    left = _TRIALS
    for best, one, place in known[:_STARTS]:
        given = _named(one)
        while left > 0:
            for trial in _moved(given, one):
                left -= 1
                reached = _looked_at(claim, trial, place) if left >= 0 else None
                if reached is not None and _factor(reached) > best * _UP:
                    if _false(claim, trial, place, reached):
                        return reached.scope
                    given, best, one = trial, _factor(reached), reached
                    break
            else:
                break
    return ""


def _looked_at(claim: Claim, given: Mapping[str, Fraction], place: Place) -> WorstCase | None:
    try:
        return worst_case(claim, given, place, _LETTERS, proofs=False)
    except _ERRORS:
        return None


def _factor(one: WorstCase) -> float:
    return max((factor for factor in one.factors if factor is not None), default=0.0)


def _false(claim: Claim, given: Mapping[str, Fraction], place: Place, one: WorstCase) -> bool:
    """Whether the solver's numbers say that a statement is false, and no proof that it is true."""
    if _factor(one) <= _FALSE:
        return False
    try:
        return worst_case(claim, given, place, _MOST, factors=False).certificate is None
    except _ERRORS:
        return True


def _named(one: WorstCase) -> dict[str, Fraction]:
    """Sizes and numbers of a setting, and those of arrays whose entries are all the same, such as step sizes. Arrays of
    zeros are left as they are."""
    found = {name: Fraction(number) for name, number in one.numbers.items() if name != "weights"}
    for name, value in one.setting.values.items():
        entries = {str(entry) for entry in value} if isinstance(value, list) else set()
        if len(entries) == 1 and not any(isinstance(entry, list) for entry in value) and entries != {"0"}:
            found[name] = Fraction(entries.pop())
    return found


def _moved(given: dict[str, Fraction], one: WorstCase) -> Iterator[dict[str, Fraction]]:
    """One size or number changed, in turn."""
    for name, number in given.items():
        steps = (number + 1, number - 1) if name in one.setting.sizes else (number * move for move in _MOVES)
        for moved in steps:
            yield given | {name: moved}
