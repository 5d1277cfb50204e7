"""Constants that the hypotheses do not determine: drawn at random, or a multiple of the tightest admissible value."""

from fractions import Fraction

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, names_in
from synthetic.numbers.arrays import Backend, namespace
from verify.claims.hypotheses import bounds_on_numbers, defined_numbers, signs
from verify.claims.method import own_arguments
from verify.claims.sizes import once_by_claim

__all__ = ["ASSUMED", "assumed_constants", "constants_of_losses", "multiple", "possible", "shown_by_runs"]

#: before the name of such a constant: the parameter of an instance with its value
ASSUMED = "assumed:"
_CLIENT_CONSTANT = frozenset({"k", "L_client", "mu_client", "sigma_sq_client", "G_sq_client", "G_lip_client"})
_LITTLE = 1000  # one over the scale of a number that must only differ from 0


@once_by_claim
def assumed_constants(claim: Claim) -> tuple[str, ...]:
    """Names of constants that determine steps or hyper-parameters, and that hypotheses bound from below by the run itself.

    In ``eta_l <= 1/G`` with ``|g[t, k]| <= G`` neither the run nor its tightest G comes first. Every G that the run
    satisfies is admissible, so a value is drawn, and the hypothesis is checked on the run that follows.
    """
    if claim.setting != "run":
        return ()
    needed = _closure(claim, {"eta_l", *own_arguments(claim.procedure)})
    return tuple(sorted(needed & shown_by_runs(claim)))


def shown_by_runs(claim: Claim) -> set[str]:
    """Names of constants that hypotheses bound from below by quantities of runs, and that nothing else determines."""
    free = {v.name for v in claim.variables}
    found = {name for name, bounds in bounds_on_numbers(claim).items()
             if any(bound.relation == ">=" and _of_the_run(bound.other) for bound in bounds)}
    return found - free - defined_numbers(claim)


def constants_of_losses(claim: Claim) -> set[str]:
    """Names of constants that hypotheses bound by constants of clients alone, whatever the lengths of a run."""
    return {name for name, bounds in bounds_on_numbers(claim).items()
            if all(not _of_the_run(bound.other) and _CLIENT_CONSTANT.issuperset(names_in(bound.other)) for bound in bounds)
            } - defined_numbers(claim)


def _of_the_run(formula) -> bool:
    """Whether a formula mentions more than constants of clients."""
    return any(not str(entry.base.label).endswith("_client") for entry in formula.atoms(sp.Indexed))


def _closure(claim: Claim, names: set[str]) -> set[str]:
    """The names, and all names in conditions that define them or bound them from above."""
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
    """A constant's least values times factors of at least 1, arrays of one shape.

    Zero has no multiples. There the constant is the factor minus 1; if that is 0 and the claim's symbol is positive, it is
    a small number.
    """
    positive = dict(signs(claim)).get(name, False)
    one, where = 0 * factor + 1, namespace(factor).where
    beyond = where(backend.booleans(factor == 1), one * int(positive) / _LITTLE, factor - one)
    return where(backend.booleans(least == 0), beyond, least * factor)


def possible(claim: Claim, name: str, values, backend: Backend):
    """The values of a symbol, with an admissible one in place of each that its sign or an upper bound excludes.

    Methods would refuse the whole batch for one excluded value. Instances with such a value fail
    :func:`verify.evaluation.judge.in_range`.
    """
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
    """Positive numbers that conditions give as upper bounds of the name."""
    return [Fraction(str(c.right)) for c in claim.hypotheses
            if c.relation == "<=" and c.left.is_Symbol and c.left.name == name and c.right.is_Rational and c.right > 0]
