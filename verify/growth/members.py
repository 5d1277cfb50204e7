"""Exact instances that refute a claim with an explicit constant in place of its hidden one."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10

import numpy as np
from flint import ctx

from bounds.language.claim import Claim
from synthetic.numbers.balls import Ball, Undecided
from verify.evaluation.judge import pairs
from verify.exact.balls import PRECISIONS
from verify.exact.confirm import Violation, confirm, violation_of
from verify.growth.effort import Member
from verify.growth.order import vanishing, with_constant
from verify.instances.leaves import Leaves
from verify.instances.shape import Shape

__all__ = ["ExactMember", "exact_ratio_member", "explicit_member", "vanishing_member"]

_TINY = Fraction(1, 10**30)  # a constant that nearly everything refutes


@dataclass(frozen=True)
class ExactMember:
    """An exact instance of size ``size`` on which the claim fails with ``constant`` for its hidden one (None: with any)."""

    size: float
    constant: Fraction | None
    violation: Violation


def exact_ratio_member(claim: Claim, size: float, shape: Shape, leaves: Leaves) -> ExactMember | None:
    """The exact instance with nearly the largest constant that it refutes."""
    first = violation_of(with_constant(claim, _TINY), shape, leaves)
    if not isinstance(first, Violation) or not 0 < float(first.right) < np.inf:
        return None
    try:
        ratio = float(first.left) / float(first.right) * float(_TINY) * 0.999
    except OverflowError:
        return None
    if not 0 < ratio < np.inf:
        return None
    constant = _digits_down(ratio)
    found = _broken_too(with_constant(claim, constant), first)
    return ExactMember(size, constant, found) if found else None


def _broken_too(claim: Claim, there: Violation) -> Violation | None:
    """The violation of a claim that differs in its statement alone from one that the instance surely breaks: its run, and
    that it meets the hypotheses, are known."""
    known = there.environment.also is None
    broken = _surely_broken(claim, there) if known else []
    if broken:
        left, right = max(broken, key=lambda pair: abs(float(pair[0] - pair[1])))
        return there._replace(left=left, right=right)
    if known and not isinstance(there.left, Ball):
        return None
    found = violation_of(claim, there.shape, there.leaves)
    return found if isinstance(found, Violation) else None


def _surely_broken(claim: Claim, there: Violation) -> list[tuple]:
    """The pairs of sides that break the statement for sure."""
    broken, before = [], ctx.prec
    ctx.prec = PRECISIONS[0]
    try:
        for left, right in pairs(claim.statement, there.environment):
            with suppress(Undecided):
                if not (left <= right if claim.statement.relation == "<=" else left >= right):
                    broken.append((left, right))
    finally:
        ctx.prec = before
    return broken


def vanishing_member(claim: Claim, member: Member) -> ExactMember | None:
    """The instance as an exact violation wherever the right side vanishes; None where exact arithmetic sees none."""
    found = confirm(vanishing(claim), member.shape, member.leaves)
    return ExactMember(member.size, None, found) if found else None


def explicit_member(claim: Claim, member: Member, rounded: bool) -> ExactMember | None:
    """The instance as an exact violation of the claim with a constant just below its ratio, or None; ``rounded`` where
    :func:`confirm` may round it."""
    if not member.ratio > 0:
        return None
    below = _digits_down(member.ratio * 0.999)
    found = confirm(with_constant(claim, below), member.shape, member.leaves, rounded)
    if not found or float(found.right) < 0:  # a negative scale bounds constants from above, not from below
        return None
    return ExactMember(member.size, below, found)


def _digits_down(value: float) -> Fraction:
    """The value with four digits, rounded down."""
    power = floor(log10(value)) - 3
    return Fraction(floor(value / 10.0**power)) * Fraction(10) ** power
