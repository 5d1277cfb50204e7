"""Recursions unrolled: from a(r+1) <= rho a(r) + c for all r follows a(R) <= rho^R a(0) + c (1 + rho + ... + rho^(R-1)).

By induction on R, where rho is at least 0 and rho and c do not depend on r: a(R+1) <= rho a(R) + c <= rho (rho^R a(0) + c
(1 + ... + rho^(R-1))) + c.
"""

from collections.abc import Callable, Iterator, Sequence

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Condition
from verify.proofs.abstraction import Abstraction, at_least
from verify.prove.defined import part_without_value

__all__ = ["unrolled"]

_QUANTITIES = (operators.E, operators.norm2, operators.objective, operators.F)
_AT_START = ("x_round", "x_sampled", "x_local")  # arrays whose first entries are given, not drawn
_TERM = sp.Symbol("i", integer=True)


def unrolled(premise: Condition, numbers: Abstraction, facts: Sequence[Condition],
             holds: Callable[[Condition], bool]) -> Iterator[Condition]:
    """Yield what follows of a condition that is a recursion over all its indices, and whose range is not less than empty.

    ``holds`` proves conditions on parameters from the ``facts``.
    """
    if premise.relation != "<=" or len(premise.over) != 1:
        return
    ((index, low, high),) = premise.over
    left, right = (_with_entries(side, numbers) for side in (premise.left, premise.right))
    before = left.xreplace({}).subs(index, index - 1)
    keys = [a for a in sp.Add.make_args(sp.expand_mul(before)) if a.has(*_QUANTITIES) and a.has(index)]
    atoms = [a for key in keys for a in key.atoms(*_QUANTITIES) if not any(
        a != b and b.has(a) for b in key.atoms(*_QUANTITIES))]
    if not atoms:
        return
    key, expanded = atoms[0], sp.expand_mul(sp.expand(right, deep=False))
    ratio = _coefficient(expanded, key) / _coefficient(sp.expand_mul(before), key)
    rest = sp.expand(expanded - sp.expand_mul(ratio * before))
    rest = sp.expand(rest)
    if ratio.has(index) or rest.has(index) or rest.has(*_QUANTITIES, sp.Indexed) or ratio.has(*_QUANTITIES, sp.Indexed):
        return
    if not at_least(high + 1, low) or part_without_value((ratio, rest), facts):
        return
    if not holds(Condition(ratio, ">=", 0)):
        return
    count = sp.expand(high + 1 - low)
    power, first, last = ratio**count, _without_means_of_start(before.subs(index, low)), before.subs(index, high + 1)
    yield Condition(last, "<=", power * first + rest * sp.Sum(ratio**_TERM, (_TERM, 0, count - 1)))
    if holds(Condition(ratio, "<=", 1)):
        yield Condition(power, "<=", 1)
        yield Condition(power, ">=", 0)
        if not holds(Condition(ratio, ">=", 1)) and (1 - ratio).is_zero is not True and _less(ratio, holds):
            floor = sp.cancel(rest / (1 - ratio))
            yield Condition(last, "<=", power * first + floor * (1 - power))


def _less(ratio, holds) -> bool:
    """Whether a ratio is certainly less than one."""
    gap = sp.factor(1 - ratio)
    return bool(gap.is_positive)


def _coefficient(e, atom):
    return sp.Add(*(term / atom for term in sp.Add.make_args(e) if term.has(atom)))


def _with_entries(e, numbers: Abstraction):
    """Sequences that hypotheses define, put in."""
    return sp.sympify(e).replace(
        lambda a: isinstance(a, sp.Indexed) and str(a.base.label) in numbers.entries,
        lambda a: numbers.entries[str(a.base.label)][1].xreplace(
            dict(zip(numbers.entries[str(a.base.label)][0], a.indices, strict=True))))


def _without_means_of_start(e):
    """The start is given: it is its own mean."""
    def is_mean_of_start(a):
        entries = a.atoms(sp.Indexed)
        return isinstance(a, operators.E) and len(a.args) == 1 and bool(entries) and all(
            str(b.base.label) in _AT_START and b.indices[0] == 0 for b in entries)

    return e.replace(is_mean_of_start, lambda a: a.args[0])
