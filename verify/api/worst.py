"""Finds the worst case of a claim or of a method."""

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from bounds.language.claim import Claim
from fedtheory.registry import ALGORITHMS, find_algorithm
from verify.api.attained import attained
from verify.claims.named import claim as claim_of
from verify.claims.number_texts import formula_value, is_formula_of, numbers_from
from verify.results.numerals import exact_number
from verify.worst.configurations import instantiate
from verify.worst.lengths_proven import lengths_at
from verify.worst.method_worst_case import WorstOfMethod
from verify.worst.method_worst_case import worst as worst_of_method
from verify.worst.worst_case import WorstCase, worst_case
from verify.worst.worst_of_lengths import about_lengths

__all__ = ["check_about_runs", "claim_numbers", "is_method", "method_numbers", "worst"]


def worst(what, rounds: int | None = None, clients: int | None = None, **numbers) -> WorstCase | WorstOfMethod:
    """Finds the worst case of a claim or of a method over every function of a class, in every dimension.

    Args:
        what: a claim, its id or ``FILE:ID``; or a method: its name, an :class:`fedtheory.Algorithm`, or a function that
            makes one.
        rounds, clients: sizes; by default those of a small run.
        numbers: of a claim its other sizes and free numbers; of a method its arguments, and those of
            :func:`verify.worst.method_worst_case.worst`. Each is a number, a text such as ``"1/3"``, or a formula of the
            others such as ``"1/L"``.

    Returns:
        Of a claim, how large its left side is at most in units of its right side, and a proof if that is at most 1. Of a
        method, the largest measure after the last round.

    Raises:
        ImportError: the solver is not installed. LookupError: no such claim, method or number.
        TypeError, ValueError: what has no worst case of this kind, or wrong numbers.

    Example:
        >>> worst("classical/gd-convex", rounds=3)
        WorstCase(classical/gd-convex holds and is tight at clients = 2, rounds = 3, local_steps = 1, participants = 2,
        L = 1, equal weights: 1.0000 of the bound in the worst case)
        >>> round(worst("fedavg", clients=1, eta_l="1/(2*L)").ratio, 6)
        0.9025
    """
    sizes: dict[str, Any] = {name: size for name, size in (("rounds", rounds), ("clients", clients)) if size is not None}
    if not isinstance(what, Claim | str) or (isinstance(what, str) and is_method(what)):
        return worst_of_method(what, **method_numbers(sizes | numbers))
    claim = claim_of(what)
    check_about_runs(claim)
    given = claim_numbers(claim, sizes | numbers)
    if about_lengths(claim):
        return lengths_at(claim, given)
    found = worst_case(claim, given)
    return found if found.holds is not False else replace(found, function=attained(claim, given, found))


def is_method(name: str) -> bool:
    """Whether a name is that of a method rather than of a claim; raises LookupError for one that can be neither."""
    if name in ALGORITHMS or any(name in method.ids for method in ALGORITHMS.values()):
        return True
    if "/" not in name and "." not in name:
        find_algorithm(name)  # which names the nearest
    return False


def check_about_runs(claim: Claim) -> None:
    """Raises ValueError for a claim that is neither about runs nor about lengths."""
    if claim.setting != "run" and not about_lengths(claim):
        about = "numbers" if claim.setting == "algebra" else "losses at given points"
        raise ValueError(f"{claim.id} is about {about}; worst takes a claim about runs, or a method")


def claim_numbers(claim: Claim, values: dict[str, Any]) -> dict[str, Fraction]:
    """Returns sizes and numbers of a claim as fractions; formulas may use the names whose values the claim leaves alone."""
    return numbers_from(values, partial(_defaults, claim))


def _defaults(claim: Claim, given: dict[str, Fraction]) -> dict[str, Fraction]:
    """Sizes and numbers of the setting at which a claim is evaluated without more."""
    setting = instantiate(claim, given)
    plain = {name: value for name, value in setting.values.items() if isinstance(value, str)}
    return {name: exact_number(name, value) for name, value in (setting.sizes | plain).items()}


def method_numbers(values: dict[str, Any], exact: bool = False) -> dict[str, Any]:
    """Returns arguments of a method's worst case: texts that are numbers, or formulas of L, mu, zeta and sizes, as numbers.

    Whole numbers are integers; others are floats, or fractions if ``exact``. Words, such as ``solver="exact"``, stay.
    """
    plain = {name: _as_number(name, value) for name, value in values.items()}
    fractions = {name: value for name, value in plain.items() if isinstance(value, Fraction)}
    L = fractions.get("L", Fraction(1))
    known = {"L": L, "mu": L / 10, "zeta": Fraction(1), "rounds": Fraction(1), "clients": Fraction(2),
             "local_steps": Fraction(1), **fractions}
    found = {name: formula_value(name, value, known, exact) if is_formula_of(value, known) else value
             for name, value in plain.items()}
    return {name: _python_number(value, exact) if isinstance(value, Fraction) and isinstance(values[name], str) else
            values[name] if isinstance(value, Fraction) else value for name, value in found.items()}


def _as_number(name: str, value):
    if isinstance(value, bool) or value is None:
        return value
    try:
        return exact_number(name, value)
    except ValueError:
        return value  # a word, a formula, an array


def _python_number(value: Fraction, exact: bool):
    return value.numerator if value.denominator == 1 else value if exact else float(value)
