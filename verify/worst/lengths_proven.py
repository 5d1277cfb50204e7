"""Proofs about lengths at several sizes and numbers: whether a claim counts as proven, and for what."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from random import Random

from bounds.language.claim import Claim
from verify.checker.limits import SETTINGS
from verify.checker.quadratic_forms import NotQuadratic
from verify.exact.statement import statement_of
from verify.symbolic.length_proof import rules_of
from verify.symbolic.norm_expressions import number
from verify.worst.configurations import Template
from verify.worst.coordinate_ascent import ERRORS
from verify.worst.proven import FEWEST, TEMPLATES, Proven, most_frequent, scope_in_words, untested_sizes
from verify.worst.stress_test import STRESS_TEMPLATES, limit
from verify.worst.worst_case import WorstCase
from verify.worst.worst_of_lengths import worst_of_lengths

__all__ = ["lengths_at", "lengths_proven"]

_MOST, _SMALL = 64, 32  # letters, and those of a setting from which numbers are moved
_LARGE = ("clients", "rounds", "local_steps")  # sizes that must be larger than one at some settings
_STARTS = 2  # settings from which numbers are moved
_UNITS = (Fraction(1), Fraction(16), Fraction(1, 16))  # of L and mu
_OTHER_UNITS = (Fraction(1), Fraction(1), Fraction(1000), Fraction(1, 1000))  # of free numbers, of each its own
_FAR, _LONG = 100, Fraction(12)  # times a number; a size
_DOUBLED = tuple(map(Fraction, (2, 1)))  # sizes that are doubled twice
_UP = 1.001  # a larger factor is above one
_FIRST = 5  # templates, one of each size


def lengths_at(claim: Claim, given: Mapping[str, Fraction] | None = None, template: Template | None = None,
               most: int | None = None, factors: bool | None = True, proofs: bool | None = True) -> WorstCase:
    """Returns the worst case of a claim about lengths at the sizes and numbers ``given``, otherwise those of a ``template``;
    without ``factors`` only a proof, without ``proofs`` only the factors; for ``factors`` None these only where
    there is no proof, and no smaller ones than 1; for ``proofs`` None without looking for fractions.

    Raises:
        LookupError, ValueError: the claim has no proof of this kind, or not at these numbers, or not with at most so many
            letters.
    """
    try:
        return WorstCase(claim.id, *worst_of_lengths(claim, given or {}, template or Template(), most, factors, proofs),
                         relation=claim.statement.relation)
    except NotQuadratic as error:
        raise ValueError(f"{claim.id} has no proof about lengths: {error}") from error
    except KeyError as error:
        raise LookupError(f"{claim.id} has no proof about lengths: nothing is known of {error}") from error
    except TypeError as error:
        raise ValueError(f"{claim.id} has no proof about lengths: it does with vectors what numbers alone allow") from error
    except RecursionError as error:
        raise ValueError(f"{claim.id} has no proof about lengths: a number is defined by itself") from error


def lengths_proven(claim: Claim) -> Proven:
    """Proves a claim about lengths at all templates, in several units.

    A statement does not count as proven if its least factor is above one at one of them, at a boundary case or in the stress
    test, if it seems to exceed one as a size grows, or if too few sizes are larger than one at once
    (:func:`verify.worst.proven.untested_sizes`). The certificate and the scope have as many settings as a file may have.
    """
    if claim.statement.strict:
        return Proven(reason="a sum of lengths proves no strict inequality")
    if claim.procedure is not None and claim.procedure.free_clients:
        return Proven(reason="it has free clients, and which of them match depends on their losses")
    found: list[WorstCase] = []
    reasons: list[str] = []
    for one in _everywhere(claim, found):
        if isinstance(one, Exception):
            reasons.append(str(one))
        elif one.certificate is None and not one.may_fail():
            reasons.append(f"no proof in rational numbers was found at {one.scope}")
        elif one.certificate is None:
            return Proven(reason=f"not proven at {one.scope}: {one.reason}")
        elif not found and (longer := _failing_size(claim, one)):
            return Proven(reason=f"the least factor that is proven grows with {longer} as if it passed one")
        elif one.setting not in [other.setting for other in found]:
            found.append(one)
    if len(found) < FEWEST:
        return Proven(reason=most_frequent(reasons) or f"it has {len(found)} settings; {FEWEST} are needed")
    if small := untested_sizes(claim, [one.setting.sizes for one in found]):
        return Proven(reason=small)
    found = found[:SETTINGS]
    settings = [setting for one in found for setting in one.certificate["settings"]]
    return Proven(found[0].certificate | {"settings": settings}, scope_in_words(found))


def _everywhere(claim: Claim, found: list[WorstCase]) -> Iterator[WorstCase | Exception]:
    """Yields the worst case at each template, or the error; then at boundary cases of small settings, and at stress
    templates of few steps. Stops after the first templates if nothing is known at any of them. ``found``: proofs so far."""
    starts: dict[tuple[int, ...], tuple[Template, WorstCase]] = {}
    known = 0
    for turn, template in enumerate(TEMPLATES):
        template = _in_other_units(template, turn)
        try:
            one = lengths_at(claim, {}, template, _MOST, factors=None)
        except ERRORS as error:
            yield error
            if not known and turn + 1 == _FIRST:
                return
            continue
        known += 1
        yield one
        if one.letters <= _SMALL:
            starts.setdefault(template[:3], (template, one))
    small = [*starts.values()][:_STARTS]
    for template, one in small:
        yield from _boundary_cases(claim, one, template, found, one is small[0][1])
    for template in STRESS_TEMPLATES:
        template = template._replace(**{size: min(getattr(template, size), 2) for size in _LARGE})
        if (one := _evaluate_at(claim, {}, template, found)) is not None:
            yield one


def _evaluate_at(claim: Claim, given: Mapping[str, Fraction], template: Template,
                 found: list[WorstCase]) -> WorstCase | None:
    """The worst case at the numbers ``given``, without a proof if enough have been ``found``; None if a hypothesis does not
    admit these numbers, a divisor vanishes, or there are too many basis vectors."""
    try:
        return lengths_at(claim, given, template, _MOST, factors=None, proofs=None if len(found) >= SETTINGS else True)
    except ERRORS:
        return None


def _boundary_cases(claim: Claim, start: WorstCase, template: Template, found: list[WorstCase],
                    first: bool) -> Iterator[WorstCase]:
    """Yields the worst case where numbers are 0 (each alone, all, all but one), and where each is large; at the sizes of a
    setting, also with numbers as small as hypotheses allow, and where all sizes, or all but one, are 1.

    A statement with several constants may be true only because one of them makes up for another one, and a statement that
    forgets a bound on a step only as long as steps are small."""
    def case_at(given) -> WorstCase | None:
        return _evaluate_at(claim, given, template, found)

    positive = {rule["left"][0] if isinstance(rule["left"], list) else rule["left"]
                for rule in statement_of(claim)["hypotheses"] if rule["relation"] == ">" and rule["right"] == 0}
    numbers = {name: Fraction(number) for name, number in _free_numbers(start).items() if name not in start.setting.sizes}
    names = [name for name in numbers if name not in positive]
    least = dict.fromkeys((*_LARGE, *["samples"] * ("samples" in start.setting.sizes)), Fraction(1))
    yield from filter(None, (case_at({name: number * _FAR}) for name, number in numbers.items() if number))
    if first:
        yield from filter(None, (case_at({**least, name: _LONG}) for name in least))
    for sizes in ({}, least, *filter(None, [_least_numbers(claim, start)])):
        zeros = dict[str, Fraction]()
        for name in names:
            if (one := case_at({**sizes, name: Fraction(0)})) is not None:
                zeros[name] = Fraction(0)
                yield one
        sets = [{}, zeros, *({other: zero for other, zero in zeros.items() if other != name} for name in zeros)]
        yield from filter(None, (case_at({**sizes, **zero}) for zero in sets if len(zero) != 1))


def _least_numbers(claim: Claim, start: WorstCase) -> dict[str, Fraction]:
    """The least positive numbers that hypotheses allow at a setting, also hypotheses about what the method computes."""
    stated, ends = statement_of(claim), dict[str, list[Fraction]]()
    if start.certificate is None:
        return {}
    rules = rules_of({**stated, **start.certificate["settings"][0]})
    outcome = next(outcome for _, outcome in rules.outcomes())
    for rule in stated["hypotheses"]:
        name, other = (rule["left"], "right") if rule["relation"] == ">=" else (rule["right"], "left")
        if rule["relation"] in ("<=", ">=") and isinstance(name, str) and isinstance(start.setting.values.get(name), str):
            with suppress(*ERRORS):
                found = [number(rules.value(rule[other], index, outcome)) for index in rules.cases(rule)]
                ends[name] = ends.get(name, []) + [end for end in found if isinstance(end, Fraction) and end > 0]
    return {name: max(found) for name, found in ends.items() if found and max(found) != Fraction(start.setting.values[name])}


def _failing_size(claim: Claim, start: WorstCase) -> str | None:
    """The size with which the least factor seems to grow above one, judged by two doublings with all other sizes 1; None if
    there is none, or no such sizes can be evaluated."""
    least = dict.fromkeys((*_LARGE, *["samples"] * ("samples" in start.setting.sizes)), Fraction(1))
    for name in least:
        for size in _DOUBLED:
            try:
                found = [lengths_at(claim, {**least, name: size * times}, None, _MOST, proofs=False) for times in (1, 2, 4)]
            except ERRORS:
                continue
            if any(factor is None for one in found for factor in one.factors):
                continue
            if limit(*(max(one.factors, default=0.0) for one in found)) > _UP:
                return name
            break
    return None


def _free_numbers(one: WorstCase) -> dict[str, str]:
    """Sizes and numbers that are not defined by others; arrays of equal entries as one number."""
    arrays = {name: value[0] for name, value in one.setting.values.items()
              if isinstance(value, list) and all(entry == value[0] for entry in value)}
    return {name: number for name, number in (one.numbers | arrays).items() if name != "weights"}


def _in_other_units(template: Template, number: int) -> Template:
    """The template in other units: a statement may be false in one of them and true in others."""
    of_L, rng = _UNITS[number % len(_UNITS)], Random(number)
    return template._replace(L=template.L * of_L, mu=template.mu * of_L,
                          numbers=tuple(n * rng.choice(_OTHER_UNITS) for n in template.numbers))
