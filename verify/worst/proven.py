"""Proofs of a claim at several sizes and numbers: whether it counts as proven, and for what."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

from bounds.language.claim import Claim
from verify.claims.needs import speaks_of_samples
from verify.worst.configurations import Template, instantiate
from verify.worst.coordinate_ascent import ERRORS, is_as_large, result_of_error
from verify.worst.stress_test import ENOUGH, suspected_failure
from verify.worst.worst_case import WorstCase, has_form, worst_case

__all__ = [
    "FEWEST", "TEMPLATES", "Proven", "merge_certificates", "most_frequent", "proven", "scope_in_words",
    "unbounded_sizes", "untested_sizes", "worst_case_at",
]

_MOST = 44  # letters
FEWEST = 8  # settings at which a claim is proven that counts as proven
_LARGE = ("clients", "rounds", "layers", "local_steps")  # sizes of which some must be larger than one at once
_SIZES = ((2, 2, 2), (2, 1, 2), (2, 2, 1), (3, 1, 1), (1, 3, 1), (1, 2, 2))
_SMALL = (2, 1, 1)
_RATIOS, _STEPS = ("1/10", "9/10", "1/100", "1/2"), ("1/2", "1", "1/10", "3/2", "1/50")
_NUMBERS, _SHARES = ("1", "1/2", "2", "1/3", "1/10", "8", "1/100"), ("1", "1", "1/2", "1/10", "1/100")
_PARTS = (Fraction(1), Fraction(1, 4), Fraction(1, 16), Fraction(1, 64))  # of numbers that hypotheses may bound
_LISTED = 4  # values in a scope


def _templates() -> Iterator[Template]:
    """Sizes in turn, each twice, and a small one; constants in turn, so that each meets each other; free numbers at
    random."""
    yield Template()
    rng = Random(0)
    for i, sizes in enumerate((*_SIZES[1:], *_SIZES, _SMALL), 1):
        L = Fraction(rng.choice(("1", "1", "2", "1/2")))
        yield Template(
            *sizes, L, L * Fraction(_RATIOS[i % len(_RATIOS)]),
            tuple(map(Fraction, rng.choices(_SHARES, k=7))), Fraction(_STEPS[i // 2 % len(_STEPS)]),
            tuple(map(Fraction, rng.choices(_NUMBERS, k=7))), (1, rng.randint(1, 4), 1), 1 if i % 3 == 2 else 2)


#: the templates at which proofs are looked for
TEMPLATES = (*_templates(),)


@dataclass(frozen=True)
class Proven:
    """The result of a search for proofs.

    Attributes:
        certificate: the proofs at all settings; None where there are not enough.
        scope: the functions, sizes and numbers for which the statement is proven, in one line.
        reason: why there is no certificate.
    """

    certificate: dict[str, Any] | None = None
    scope: str = ""
    reason: str = ""


def proven(claim: Claim) -> Proven:
    """Proves an explicit claim about runs at all ``TEMPLATES`` that are not too large and meet its hypotheses.

    A statement does not count as proven if it is false at one of them, if the stress test says that it is false elsewhere,
    or if too few sizes are larger than one at once (:func:`untested_sizes`). The scope leaves out templates at which it
    holds only up to rounding, or at which the solver has no answer.

    Raises:
        ImportError: the solver is not installed.
    """
    if claim.setting != "run" or speaks_of_samples(claim):
        return Proven(reason="it is not about runs on losses")
    if claim.statement.strict:
        return Proven(reason="a sum of squares proves no strict inequality")
    if claim.procedure is not None and claim.procedure.free_clients:
        return Proven(reason="it has free clients, and which of them match depends on their losses")
    found: list[WorstCase] = []
    reasons: list[str] = []
    for one in _everywhere(claim):
        if isinstance(one, Exception):
            reasons.append(str(one))
        elif one.certificate is None and not one.may_fail():
            reasons.append(f"no proof in rational numbers was found at {one.scope}")
        elif one.certificate is None:
            return Proven(reason=f"not proven at {one.scope}: {one.reason}")
        elif one.setting not in [other.setting for other in found]:
            found.append(one)
    if len(found) < FEWEST:
        return Proven(reason=most_frequent(reasons) or f"it has {len(found)} settings; {FEWEST} are needed")
    if small := untested_sizes(claim, [one.setting.sizes for one in found]):
        return Proven(reason=small)
    if where := suspected_failure(claim, ENOUGH, unbounded_sizes(found)):
        return Proven(reason=f"it may be false at {where}")
    return Proven(merge_certificates(found), scope_in_words(found))


def merge_certificates(found: Collection[WorstCase]) -> dict[str, Any]:
    """Merges certificates into one with all settings, each once."""
    settings: list[Any] = []
    for one in found:
        settings += [setting for setting in one.certificate["settings"] if setting not in settings]
    return {**next(iter(found)).certificate, "settings": settings}


def most_frequent(reasons: Sequence[str]) -> str:
    """The most frequent reason, of several the last one: the first template, at which free numbers are symbolic, tells
    least. Empty if there is none."""
    return max(reversed(reasons), key=reasons.count, default="")


def untested_sizes(claim: Claim, found: Collection[Mapping[str, int]], sizes: tuple[str, ...] = _LARGE) -> str:
    """Says which sizes, of one, two, or all but the local steps, are never larger than one at once in those ``found``,
    although the claim admits it; empty if there are none."""
    larger = instantiate(claim, {}, TEMPLATES[0]).sizes
    sizes = tuple(size for size in sizes if larger[size] > 1)
    outer = tuple(size for size in sizes if size != "local_steps")
    for together in (*combinations(sizes, 1), *combinations(sizes, 2), outer):
        if not any(all(one[size] > 1 for size in together) for one in found):
            return f"it is nowhere looked at with {' and '.join(together)} larger than one"
    return ""


def _everywhere(claim: Claim) -> Iterator[WorstCase | Exception]:
    """Yields the worst case at each template, or the error. Stops after the first templates, one of each size, if nothing is
    known at any of them."""
    known, unneeded, large = 0, None, dict[Template, ValueError]()
    for number, template in enumerate(TEMPLATES):
        try:
            if too_large := next((error for other, error in large.items() if is_as_large(template, other)), None):
                raise too_large
            one = worst_case_at(claim, template, unneeded)
        except ERRORS as error:
            if result_of_error(error) == ():
                large[template] = error
            yield error
            if not known and number + 1 == len(_SIZES):
                return
            continue
        known += 1
        unneeded = frozenset(one.setting.unknown) if template.numbers else unneeded
        yield one


def worst_case_at(claim: Claim, template: Template, unneeded: frozenset[str] | None = None,
                  proofs: bool = True) -> WorstCase:
    """The worst case at a template. Numbers in which the statement is linear stay symbolic; the others shrink until the
    hypotheses hold. ``unneeded``: numbers that need no value, if known. Without ``proofs``: only rough factors."""
    templates = [template._replace(numbers=())]
    if template.numbers:
        without = _unneeded_numbers(claim, template) if unneeded is None else unneeded
        smaller = [template._replace(numbers=tuple(number * part for number in template.numbers), near=tuple(
            near * (9 + part) / 10 for near in template.near)) for part in _PARTS]
        templates += [each._replace(unknown=without) for each in smaller] + smaller * bool(without)
    errors: list[Exception] = []
    for each in templates:
        try:
            return worst_case(claim, {}, each, _MOST, factors=None, proofs=proofs, onwards=proofs, rough=not proofs)
        except (ArithmeticError, TypeError, ValueError) as error:
            errors.append(error)
            if result_of_error(error) == ():  # nor is the run smaller at other numbers
                break
    raise errors[min(1, len(errors) - 1)]


def _unneeded_numbers(claim: Claim, template: Template) -> frozenset[str]:
    """The numbers without bounds that may stay symbolic together, found one after another."""
    found: frozenset[str] = frozenset()
    for name in instantiate(claim, {}, template._replace(numbers=())).unknown:
        try:
            has_form(claim, template._replace(unknown=found | {name}))
        except ERRORS:
            continue
        found |= {name}
    return found


def scope_in_words(found: list[WorstCase], rounds: str = "") -> str:
    """The functions, the sizes and the numbers of all settings, in one line; ``rounds``: the words for any number of
    these."""
    clients, said = _client_range(found), dict[str, list[str]]()
    for one in found:
        for name, value in one.numbers.items():
            if not (rounds and name == "rounds") and not (clients and name in ("clients", "participants")):
                said.setdefault(name, []).append(value)
    every = [each for each in (rounds, clients) if each]
    parts = [found[0].functions, "in every dimension", *every, f"at {len(found)} settings"]
    parts += [f"{name} = {_values_in_words([*dict.fromkeys(values)])}" for name, values in said.items()]
    if unknown := [name for name in found[0].setting.unknown if all(name in one.setting.unknown for one in found)]:
        parts.append(f"every {', '.join(unknown)}")
    return "; ".join(parts)


def unbounded_sizes(found: list[WorstCase]) -> frozenset[str]:
    """The sizes for which the proofs hold from some number on: the clients or none."""
    return frozenset({"clients"} if _client_range(found) else ())


def _client_range(found: list[WorstCase]) -> str:
    """The numbers of clients for which all settings with several clients are proven, in words; empty if they are finite."""
    several = [one for one in found if one.setting.sizes["clients"] > 1]
    if not several or not all(one.onwards for one in several):
        return ""
    least = max(one.onwards.sizes["clients"] for one in several if one.onwards)
    return "one client, and " * (len(several) < len(found)) + f"every number of clients from {least} on"


def _values_in_words(texts: list[str]) -> str:
    """Lists a few values; describes many numbers by the least and the largest."""
    if len(texts) <= _LISTED or any(" " in text for text in texts):
        return ", ".join(texts[:_LISTED]) + ", ..." * (len(texts) > _LISTED)
    numbers = sorted(texts, key=Fraction)
    return f"{len(numbers)} values from {numbers[0]} to {numbers[-1]}"
