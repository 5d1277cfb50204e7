"""Ratios at sizes far beyond those of a growth certificate, in float64: growth that ends there shows nothing."""

from collections.abc import Mapping
from math import inf, log2
from typing import Any

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, names_in
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.judge import unmet
from verify.exact.replay import CANNOT, instance_of, rerun, worst_sides
from verify.growth.order import with_constant

__all__ = ["exponent_beyond", "farthest_size", "least_power", "ratio_beyond"]

_FARTHER, _FARTHER_IN_A_RUN = 256, 16  # times the size
_LONGEST, _LONGEST_WITH_NOISE = 8192, 1024  # iterations of a run, times clients
_MOST_TERMS = 10**7  # entries of an array
_RESCALED = 4.0  # times smaller may a ratio be whose constants are derived again, as the tightest, than with those recorded
_FALLEN = 1e-10  # share of a right side that float64 still tells from nothing


def farthest_size(certificate: Mapping[str, Any], along: str) -> int | None:
    """The size up to which a member is followed along its rounds or local steps, or along a whole number of a claim about
    numbers; None for what is not followed: samples, sampled clients, and noise whose outcomes are listed."""
    sizes = certificate["sizes"]
    if certificate["setting"] == "algebra":
        return sizes[along] * _FARTHER if along in sizes else None
    instance = certificate["instance"]
    in_time = certificate["setting"] == "run" and along in ("rounds", "local_steps", "iterations")
    if not in_time or certificate["procedure"]["sampling"] != "full" or "atoms" in instance:
        return None
    noisy = any(instance.get("noise", ()))
    if noisy and not instance_of(certificate)[0].many_draws:
        return None
    longest = _LONGEST_WITH_NOISE if noisy else _LONGEST
    return min(sizes[along] * _FARTHER_IN_A_RUN, longest * sizes[along] // (sizes["iterations"] * sizes["clients"]))


def ratio_beyond(certificate: Mapping[str, Any], claim: Claim, along: str, size: int) -> float | None:
    """The largest ratio of the sides of a claim, with 1 for its constant, where a member has this size: infinite where the
    right side vanishes, None where a hypothesis fails, or float64 has no value."""
    both = _worst_sides(certificate, claim, along, size)
    return None if both is None else _ratio(*both)


def _ratio(left: float, right: float) -> float:
    return left / right if right > 0 else inf


def _worst_sides(certificate: Mapping[str, Any], claim: Claim, along: str, size: int) -> tuple[float, float] | None:
    """The sides with the largest ratio, none of them negative; None where nothing tells them."""
    stated = with_constant(claim, 1)
    try:
        with np.errstate(all="ignore"):
            if certificate["setting"] == "algebra":
                larger = {**certificate, "sizes": certificate["sizes"] | {along: size}}
                environment = rerun(larger, stated, NUMPY, most=_MOST_TERMS)
            else:
                name, size = (along, size) if along != "iterations" else (
                    "rounds", size // certificate["sizes"]["local_steps"])
                environment = rerun(certificate, stated, NUMPY, most=_MOST_TERMS, **{name: size})
            if unmet(stated.hypotheses, environment):
                return None
            left, right = worst_sides(stated, environment)
    except CANNOT:
        return None
    if stated.statement.relation == ">=":
        left, right = right, left
    both = [(max(a, 0.0), max(b, 0.0)) for a, b in zip(left.tolist(), right.tolist(), strict=True) if not a <= 0 >= b]
    return None if not both or np.isnan(both).any() else max(both, key=lambda pair: _ratio(*pair))


def exponent_beyond(certificate: Mapping[str, Any], claim: Claim, along: str) -> tuple[float, int] | None:
    """The exponent with which the ratio grows from a certificate's size to the farthest one that float64 can follow, or over
    the last octave of this where that is less, and that size; None where nothing tells it. A left side that has fallen to
    nothing beside a right side that has not is the end of growth; where both fall, float64 may have lost them."""
    size = certificate["sizes"].get(along, 1)
    here, far = _worst_sides(certificate, claim, along, size), farthest_size(certificate, along) or 0
    while here is not None and far >= 4 * size:
        both = [_worst_sides(certificate, claim, along, each) for each in (far // 2, far)]
        if None not in both:
            first, last = (_ratio(*pair) for pair in both)
            if min(first, last) <= 0 and both[-1][1] > _FALLEN * here[1]:
                return -inf, far
            three = _ratio(*here), first, last
            if min(three) > 0 and max(three) < inf:
                return min(log2(last / first), log2(_RESCALED * last / three[0]) / log2(far / size)), far
        far //= 4
    return None


def least_power(claim: Claim, name: str) -> float:
    """The least power below 1 of anything with this name in the claim's formulas; 1 if there is none."""
    powers = (node for e in claim.formulas for node in sp.sympify(e).atoms(sp.Pow) if name in names_in(node.base))
    return min((float(node.exp) for node in powers if node.exp.is_number and 0 < node.exp < 1), default=1.0)
