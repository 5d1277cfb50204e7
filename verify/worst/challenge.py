"""Sizes and numbers far from those at which a claim is proven, at which it may be false."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import product
from math import inf, prod, sqrt
from random import Random

from bounds.language.claim import Claim
from verify.worst.setting import Place, setting_of
from verify.worst.worst_case import WorstCase, worst_case

__all__ = ["CHALLENGES", "challenged", "limit"]

_LETTERS, _MOST = 20, 32  # of a setting that is looked at, and of one at which a proof is looked for
_COUNT, _TRIALS = 48, 80  # settings drawn, and trials uphill from the worst of them
_STARTS = 2  # settings from which numbers are moved
_LARGE, _SMALL = (3, 4, 6, 8), (1, 1, 2)  # sizes
_RUN = 12  # clients times rounds times local steps
_NUMBERS = ("1", "1", "1/10", "1/100", "1/1000", "1/3", "3", "10", "100")
_PARTS = (Fraction(1), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**4))  # of numbers that hypotheses may bound
_SMOOTH = ("1", "1", "1/10", "1/100", "1/1000", "3", "100")
_RATIOS = ("1/10", "1/1000", "1/2", "9/10")
_NEAR = ("1", "1", "1/2", "1/10", "1/1000", "999/1000")
_STEPS = ("1/2", "1", "1/10", "19/10", "1/100")
_MOVES = (Fraction(3), Fraction(1, 3), Fraction(11, 10), Fraction(10, 11))  # of a number, by a factor
_UP = 1.001  # a factor that is this many times larger is larger
_FALSE = 1.005  # a larger factor asks for a proof
_TIMES, _LONG = (1, 2, 4), 26  # sizes that grow, and letters of the largest
_STILL, _FASTER = 1e-3, 3.0  # what counts as no growth; how many times shorter steps of C q^n become at least
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
        L = some(_SMOOTH)[0]
        found.append(Place(*sizes, L, L * some(_RATIOS)[0], some(_NEAR), some(_STEPS)[0], some(_NUMBERS),
                           rng.choice(((1,), (1, rng.randint(1, 9)))), rng.choice((2, 1, 3))))
    return found


#: the places at which a claim that is proven elsewhere may be false
CHALLENGES = (*_drawn(),)


@cache
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
    return _growing(claim, [Place(), *(place for _, _, place in known[:_STARTS])])


def _growing(claim: Claim, places: list[Place]) -> str:
    """Where a claim seems to be false at sizes that are too large to be looked at: the factors at a size, at twice and at
    four times that, and what they tend to; empty where none tends to more than one. The numbers are those of the place, or
    as near to their bounds as there."""
    for place, size in product(places, ("rounds", "local_steps", "clients")):
        small, found = place._replace(clients=1, rounds=1, local_steps=1), []
        try:
            start = max(2, setting_of(claim, {}, small).sizes[size])
        except _ERRORS:
            continue
        for times in _TIMES:
            one = _looked_at(claim, {}, small._replace(**{size: start * times}), _LONG)
            if one is None or one.setting.sizes[size] != start * times or _factor(one) == inf:
                break
            found.append(_factor(one))
        if len(found) == len(_TIMES) and limit(*found) > 1 + _STILL:
            return f"larger {size}: the worst case is {', '.join(f'{factor:.3g}' for factor in found)} of what is allowed"
    return ""


def limit(one: float, two: float, four: float) -> float:
    """Where a growing sequence of lengths n, 2 n, 4 n goes: A - B / (n + s), or A - C q^n where its steps shrink faster than
    those of 1/n; infinity where they do not shrink as either does."""
    first, second = two - one, four - two
    if four in (inf, one) or second <= _STILL:
        return four
    if first <= 0 or second >= 2 * first:
        return inf
    ratio = first / second
    if ratio > _FASTER:
        q = (sqrt(1 + 4 / ratio) - 1) / 2  # of n
        return four + first * q**3 / (1 - q)
    s = 2 * (2 - ratio) / (2 * ratio - 1)  # in units of n
    return four + first * (1 + s) * (2 + s) / (4 + s)


def _looked_at(claim: Claim, given: Mapping[str, Fraction], place: Place, most: int = _LETTERS) -> WorstCase | None:
    try:
        return worst_case(claim, given, place, most, proofs=False)
    except _ERRORS:
        return None


def _factor(one: WorstCase) -> float:
    return max((factor for factor in one.factors if factor is not None), default=0.0)


def _false(claim: Claim, given: Mapping[str, Fraction], place: Place, one: WorstCase) -> bool:
    """Whether the solver's numbers say that a statement is false, and no proof that it is true."""
    if _factor(one) <= _FALSE or not one.sure:
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
