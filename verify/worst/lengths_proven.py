"""Proofs about lengths of a claim at several sizes and numbers: whether it counts as proven, and for what."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import sympy as sp

from bounds.language.claim import Claim
from bounds.language.words import norm
from verify.checker import length_proof as checker
from verify.checker.words import replayed
from verify.claims.needs import speaks_of_samples
from verify.exact.statement import statement_of
from verify.worst.lengths import found_proof
from verify.worst.setting import Place, setting_of

__all__ = ["AtSetting", "about_lengths", "at_setting"]

_SAMPLES = (3, 2, 5)


@dataclass(frozen=True)
class AtSetting:
    """What is known of a statement about lengths at a setting.

    Attributes:
        functions: the class of functions, in words.
        setting: what a certificate says of it, with the proofs; ``numbers``: sizes and numbers as text.
        factors: of each pair of sides the least factor of the larger side that the program proves; 1 where it is proven.
        certificate: a proof that the checker accepts; None where none was found.
        reason: why there is none.
    """

    functions: str
    setting: dict[str, Any]
    numbers: dict[str, str]
    factors: tuple[float, ...]
    certificate: dict[str, Any] | None
    reason: str = ""


def about_lengths(claim: Claim) -> bool:
    """Whether a claim speaks of lengths that are not squared, or of runs on neighbouring data sets."""
    if claim.setting not in ("run", "point") or claim.statement is None:
        return False
    if speaks_of_samples(claim):
        return True
    formulas = [claim.statement.left, claim.statement.right, *(d.formula for d in claim.used_definitions().values())]
    return any(sp.sympify(formula).has(norm) for formula in formulas)


def at_setting(claim: Claim, given: Mapping[str, Fraction], place: Place, factors: bool = True) -> AtSetting:
    """Proofs of a claim about lengths at the sizes and numbers ``given``, else those of a ``place``.

    Raises:
        LookupError, TypeError, ValueError: the claim has no proof of this kind, or not at these numbers.
    """
    stated, setting = statement_of(claim), _setting(claim, given, place)
    rules = checker.rules_of({**stated, **setting, "proofs": []})
    pairs, known, found = rules.compared(stated["statement"]), rules.known(), []
    for pair in pairs:
        one = found_proof(rules, known, *pair, factor=factors)
        found.append((one.proof, 1.0 if one.proof else inf if one.factor is None else one.factor))
    proofs, values = [proof for proof, _ in found], tuple(factor for _, factor in found)
    full = setting | {"proofs": proofs}
    about = _functions(rules), full, _numbers(setting), values
    if None in proofs:
        return AtSetting(*about, None, f"no proof was found of pair {proofs.index(None)} of {len(pairs)}")
    certificate = {"format": checker.FORMAT, **stated, "settings": [full]}
    accepted, reason, *_ = replayed(checker.check, certificate)
    return AtSetting(*about, certificate if accepted else None, "" if accepted else f"the checker: {reason}")


def _setting(claim: Claim, given: Mapping[str, Fraction], place: Place) -> dict[str, Any]:
    """Sizes, values, vectors and weights."""
    given = dict(given)
    own = {"samples": given.pop("samples", Fraction(_SAMPLES[place.clients % len(_SAMPLES)]))}
    limited = {name: getattr(place, name) for name in ("clients", "rounds", "local_steps")} | own
    for condition in claim.conditions:
        left, right = str(condition.left), sp.sympify(condition.right)
        if left in limited and right.is_Integer:
            choose = {"<": min, ">": max}.get(condition.relation[0], lambda now, bound: bound)
            limited[left] = choose(limited[left], int(right))
    place = place._replace(**{name: int(limited[name]) for name in ("clients", "rounds", "local_steps")})
    place = place._replace(numbers=place.numbers or (Fraction(1),))
    found = setting_of(claim, given, place)
    free = statement_of(claim)["free"]
    vectors = [name for name in free if free[name] == ["dim"]]
    values = {name: value for name, value in found.values.items() if name not in vectors}
    for name, value in values.items():
        if name.endswith("_sq") and isinstance(value, str) and name not in given:  # names of squares; roots stay fractions
            values[name] = str(Fraction(value) ** 2)
    sizes = dict(found.sizes) | ({"samples": int(limited["samples"])} if speaks_of_samples(claim) else {})
    return {"sizes": sizes, "values": values, "vectors": vectors, "weights": found.weights}


def _numbers(setting) -> dict[str, str]:
    said = {name: size for name, size in setting["sizes"].items() if name not in ("dim", "layers", "iterations")}
    said |= {name: value for name, value in setting["values"].items() if isinstance(value, str)}
    return {name: str(value) for name, value in said.items()}


def _functions(rules) -> str:
    """The class of functions, in words."""
    (L, *_), (m, *_) = rules.bounds["L_client"], rules.bounds["mu_client"]
    smooth = "differentiable" if L is None else "L-smooth" if rules.given.get("L") == L else f"{L}-smooth"
    convex = "" if m is None else "convex " if m == 0 else "mu-strongly convex " if m > 0 else f"{-m}-weakly convex "
    whose = "losses of samples" if rules.coupled else "F_k"
    noise = "" if rules.coupled or not rules.noises else ", unbiased gradients with noise that is added"
    return f"all {convex}{smooth} {whose}{noise}"
