"""Numbers to which an instance gives a value within what hypotheses leave open: constants that only a run would bound,
and multiples of tightest values.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, names_in
from synthetic.numbers.arrays import Backend, namespace
from verify.claims.hypotheses import bounds_on_numbers, defined_numbers, signs
from verify.claims.method import own_arguments
from verify.claims.sizes import once_by_claim

__all__ = ["ASSUMED", "assumed_constants", "multiple", "possible", "shown_by_runs"]

#: before the name of such a constant: the leaf that says which value it is assumed to have
ASSUMED = "assumed:"
_LITTLE = 1000  # one over a number of which nothing is said but that it is not 0


@once_by_claim
def assumed_constants(claim: Claim) -> tuple[str, ...]:
    """Names of constants that steps or hyper-parameters of a claim's runs are made of, and that hypotheses bound from below
    by what happens in the runs.

    In ``eta_l <= 1/G`` with ``|g[t, k]| <= G`` neither the run nor its tightest G comes first. Every G that a run obeys
    will do, so one is assumed, and the hypothesis is about the run that follows.
    """
    if claim.setting != "run":
        return ()
    needed = _needed(claim, {"eta_l", *own_arguments(claim.procedure)})
    return tuple(sorted(needed & shown_by_runs(claim)))


def shown_by_runs(claim: Claim) -> set[str]:
    """Names of constants that hypotheses bound from below by what happens in runs, and that nothing else determines."""
    free = {v.name for v in claim.variables}
    found = {name for name, bounds in bounds_on_numbers(claim).items()
             if any(bound.relation == ">=" and _of_the_run(bound.other) for bound in bounds)}
    return found - free - defined_numbers(claim)


def _of_the_run(formula) -> bool:
    """Whether a formula speaks of more than constants of clients."""
    return any(not str(entry.base.label).endswith("_client") for entry in formula.atoms(sp.Indexed))


def _needed(claim: Claim, names: set[str]) -> set[str]:
    """The names, and all of which conditions make them or bound them from above."""
    made_of: dict[str, set[str]] = {}
    for condition in claim.hypotheses:
        left = condition.left.base.label if isinstance(condition.left, sp.Indexed) else condition.left
        if condition.relation != ">=" and left.is_Symbol:
            made_of.setdefault(left.name, set()).update(names_in(condition.right))
    for name, definition in claim.used_definitions().items():
        made_of.setdefault(name, set()).update(names_in(definition.formula))
    needed, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += made_of.get(name, ())
    return needed


def multiple(claim: Claim, name: str, least, factor, backend: Backend):
    """A constant's least values times factors of at least 1, arrays of one shape. Zero has no multiples: there it is as far
    beyond 0 as the factor is beyond 1, or a little where the claim's symbol excludes 0."""
    positive = dict(signs(claim)).get(name, False)
    one, where = 0 * factor + 1, namespace(factor).where
    beyond = where(backend.booleans(factor == 1), one * int(positive) / _LITTLE, factor - one)
    return where(backend.booleans(least == 0), beyond, least * factor)


def possible(claim: Claim, name: str, values, backend: Backend):
    """The values that a symbol of this name may have by its sign and by conditions that hold it under a number, and another
    one in place of each that it may not: instances with these meet no hypothesis (see :func:`verify.judge.in_range`), and
    methods would refuse to run on the whole batch."""
    positive = dict(signs(claim)).get(name)
    if positive is None:
        return values
    with np.errstate(invalid="ignore"):
        fits = values > 0 if positive else values >= 0
        for high in _numbers_above(claim, name):
            fits = fits & (values <= backend.array(high))
    admitted = min([1, *_numbers_above(claim, name)])
    return namespace(values).where(backend.booleans(fits), values, backend.array(admitted))


def _numbers_above(claim: Claim, name: str) -> list[Fraction]:
    """Positive numbers under which conditions hold the name."""
    return [Fraction(str(c.right)) for c in claim.hypotheses
            if c.relation == "<=" and c.left.is_Symbol and c.left.name == name and c.right.is_Rational and c.right > 0]
