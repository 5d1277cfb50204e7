"""Proofs of a claim at several sizes and numbers: whether it counts as proven, and for what."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf
from random import Random
from typing import Any

from bounds.language.claim import Claim
from verify.worst.setting import Place, setting_of
from verify.worst.worst_case import WorstCase, worst_case
from verify.worst.worst_of_lengths import about_lengths

__all__ = ["PLACES", "Proven", "proven"]

_MOST = 32  # letters
_FEW = 16  # letters of a setting from which numbers are moved
_FEWEST = 8  # settings at which a claim is proven that counts as proven
_LARGE = ("clients", "rounds", "local_steps")  # sizes that must be larger than one at some of them
_SIZES = ((2, 2, 2), (2, 1, 2), (2, 2, 1), (3, 1, 1), (1, 3, 1))
_RATIOS, _STEPS = ("1/10", "9/10", "1/100", "1/2"), ("1/2", "1", "1/10", "3/2", "1/50")
_NUMBERS, _SHARES = ("1", "1/2", "2", "1/3", "1/10", "8", "1/100"), ("1", "1", "1/2", "1/10", "1/100")
#: letters of a setting from which numbers are moved, such settings, and trials from each; the same of proofs about lengths
_EFFORT = {False: (_FEW, 3, 60), True: (2 * _FEW, 2, 20)}
_MOVES = (Fraction(3), Fraction(1, 3))  # of a number, by a factor
_UNITS = (Fraction(1), Fraction(16), Fraction(1, 16))  # of L and mu in proofs about lengths
_OTHER_UNITS = (Fraction(1), Fraction(1), Fraction(1000), Fraction(1, 1000))  # of free numbers there
_LISTED = 4  # values in a scope
_UP = 1.001  # a factor that is this many times larger is larger
_NEAR = 1e-6  # factors that are larger than one by less are one
_ERRORS = (ArithmeticError, LookupError, TypeError, ValueError)


def _places() -> Iterator[Place]:
    """Sizes and constants in turn, so that each meets each other; free numbers at random."""
    yield Place()
    rng = Random(0)
    for i in range(1, 13):
        L = Fraction(rng.choice(("1", "1", "2", "1/2")))
        yield Place(
            *_SIZES[i % len(_SIZES)], L, L * Fraction(_RATIOS[i % len(_RATIOS)]),
            tuple(map(Fraction, rng.choices(_SHARES, k=7))), Fraction(_STEPS[i // 2 % len(_STEPS)]),
            tuple(map(Fraction, rng.choices(_NUMBERS, k=7))), (1, rng.randint(1, 4), 1))


#: the places at which proofs are looked for
PLACES = (*_places(),)


@dataclass(frozen=True)
class Proven:
    """What came of looking for proofs.

    Attributes:
        certificate: the proofs at all settings; None where there are not enough.
        scope: the functions, sizes and numbers for which the statement is proven, in one line.
        reason: why there is no certificate.
    """

    certificate: dict[str, Any] | None = None
    scope: str = ""
    reason: str = ""


def proven(claim: Claim) -> Proven:
    """Proofs of an explicit claim about runs at all ``PLACES`` that are not too large and meet its hypotheses.

    A statement does not count as proven that may be false at one of them, or that is looked at with one client, one round or
    one local step alone although it admits more. The scope leaves out places at which it holds only up to rounding.

    Raises:
        ImportError: the solver is not installed.
    """
    if claim.setting != "run" and not about_lengths(claim):
        return Proven(reason="it is not about runs on losses")
    if claim.statement.strict:
        return Proven(reason="a sum of what is known proves no strict inequality")
    if claim.procedure is not None and claim.procedure.free_clients:
        return Proven(reason="it has free clients, and which of them match depends on their losses")
    found: list[WorstCase] = []
    reason = ""
    for one in _everywhere(claim):
        if isinstance(one, Exception):
            reason = reason or str(one)
        elif one.certificate is None and all(factor is not None and factor <= 1 + _NEAR for factor in one.factors):
            reason = reason or f"no proof in rational numbers was found at {one.scope}"
        elif one.certificate is None:
            return Proven(reason=f"not proven at {one.scope}: {one.reason}")
        elif one.setting not in [other.setting for other in found]:
            found.append(one)
    if len(found) < _FEWEST:
        return Proven(reason=reason or f"it has {len(found)} settings; {_FEWEST} are needed")
    larger = setting_of(claim, {}, PLACES[0]).sizes
    if small := [size for size in _LARGE if larger[size] > 1 and all(one.setting.sizes[size] == 1 for one in found)]:
        return Proven(reason=f"it is looked at with {' = '.join(small)} = 1 alone")
    settings = [setting for one in found for setting in one.certificate["settings"]]
    return Proven(found[0].certificate | {"settings": settings}, _scope(found))


def _everywhere(claim: Claim) -> Iterator[WorstCase | Exception]:
    """What is known at each place, or why nothing is; then at the numbers to which small settings lead. A claim of which
    nothing is known at the first places, of each size one, is looked at nowhere else."""
    starts: dict[tuple[int, ...], tuple[Place, WorstCase]] = {}
    known, (few, starting, trials) = 0, _EFFORT[about_lengths(claim)]
    for number, place in enumerate(PLACES):
        if about_lengths(claim):
            place = _wide(place, number)
        try:
            one = _at(claim, place)
        except _ERRORS as error:
            yield error
            if not known and number + 1 == len(_SIZES):
                return
            continue
        known += 1
        yield one
        if one.letters <= few:
            starts.setdefault(place[:3], (place, one))
    for place, one in [*starts.values()][:starting]:
        yield _with_factors(claim, *_uphill(claim, one, place, trials))


def _wide(place: Place, number: int) -> Place:
    """The place in other units, as what is false in one of them may be true in the others."""
    of_L, of_numbers = _UNITS[number % len(_UNITS)], _OTHER_UNITS[number % len(_OTHER_UNITS)]
    return place._replace(L=place.L * of_L, mu=place.mu * of_L, numbers=tuple(n * of_numbers for n in place.numbers))


def _at(claim: Claim, place: Place) -> WorstCase:
    """At a place, with numbers that have no value where the statement is linear in them."""
    if about_lengths(claim):
        return _with_factors(claim, {}, place)
    try:
        return _with_factors(claim, {}, place._replace(numbers=()))
    except (TypeError, ValueError):
        return _with_factors(claim, {}, place)


def _with_factors(claim: Claim, given: dict[str, Fraction], place: Place) -> WorstCase:
    """A proof, or the factors where none was found."""
    found = worst_case(claim, given, place, _MOST, factors=False)
    if found.certificate is not None:
        return found
    return replace(found, factors=worst_case(claim, given, place, _MOST, proofs=False).factors)


def _uphill(claim: Claim, start: WorstCase, place: Place, left: int) -> tuple[dict[str, Fraction], Place]:
    """Sizes and numbers at which a statement is nearer to false than at a setting, by one step in one of them after another;
    and the place of all else."""
    def at(given) -> tuple[float, float, dict[str, str]]:
        """The largest factor, the mean of all, and the numbers."""
        try:
            one = worst_case(claim, given, place, _FEW, proofs=False)
        except _ERRORS:
            return -inf, -inf, {}
        factors = [-inf if factor is None else factor for factor in one.factors]
        return max(factors), sum(factors) / len(factors), one.numbers

    place = place._replace(numbers=() if start.setting.unknown else place.numbers)
    given: dict[str, Fraction] = {}  # what is not moved stays where the hypotheses and the place have it
    (best, middle, numbers), grown = at(given), True
    while grown and left > 0:
        grown = False
        for name in [name for name in numbers if name != "weights"]:
            number = Fraction(numbers[name])
            steps = (number + 1, number - 1) if name in start.setting.sizes else (number * move for move in _MOVES)
            for moved in steps:
                left -= 1
                trial = given | {name: moved}
                if left < 0:
                    break
                most, mean, found = at(trial)
                if most > best * _UP or (most >= best / _UP and mean > middle * _UP and most < inf):
                    given, best, middle, numbers, grown = trial, most, mean, found, True
                    break
    return given, place


def _scope(found: list[WorstCase]) -> str:
    """The functions, the sizes and the numbers of all settings, in one line."""
    said: dict[str, list[str]] = {}
    for one in found:
        for name, value in one.numbers.items():
            said.setdefault(name, []).append(value)
    parts = [found[0].functions, "in every dimension", f"at {len(found)} settings"]
    parts += [f"{name} = {_values([*dict.fromkeys(values)])}" for name, values in said.items()]
    if unknown := [name for name in found[0].setting.unknown if all(name in one.setting.unknown for one in found)]:
        parts.append(f"every {', '.join(unknown)}")
    return "; ".join(parts)


def _values(texts: list[str]) -> str:
    """Some values as they are, many numbers by the least and the largest."""
    if len(texts) <= _LISTED or any(" " in text for text in texts):
        return ", ".join(texts[:_LISTED]) + ", ..." * (len(texts) > _LISTED)
    numbers = sorted(texts, key=Fraction)
    return f"{len(numbers)} values from {numbers[0]} to {numbers[-1]}"
