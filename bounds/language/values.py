"""Conditions under which formulas have a value, so that a proof about formulas is more than a rewriting.

A formula has a value where the stand-alone checker computes one. No divisor is 0; a real power is one of a positive number,
or of 0 to an exponent that is not negative; a root is one of a number that is not negative; ranges go from a whole number to
a whole number, and entries exist. A sum or product has its terms within its range alone: where the range is empty it is 0 or
1, whatever the terms would be.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import sympy as sp

from bounds.language import coordinates, operators
from bounds.language.claim import Condition, Definition

__all__ = ["NEVER", "Need", "changed", "needs", "needs_of_numbers", "restrictions", "ways"]

NEVER = Condition(1, "<=", 0)  #: what stands for a condition that has no formula
_TOTAL = (sp.Add, sp.Mul, sp.exp, sp.Abs, sp.Max, sp.Min, sp.floor, sp.ceiling, operators.norm, operators.norm2,
          operators.dot,
          operators.below, operators.objective, operators.objective_grad)  # they have a value wherever their arguments do
_OVER = (coordinates.highest, coordinates.first_least)


@dataclass(frozen=True)
class Need:
    """A requirement for a formula to have a value, for all values of the indices in ``over``.

    ``kind`` says what of the ``parts``: ``whole`` (each is a whole number), ``divisor`` (it is not 0), ``logarithm`` (of a
    positive number), ``power`` (a base and an exponent), ``range`` (its ends; it is not empty), ``entry`` (an index and the
    ends of its range), or ``never``: nothing is known that would do.
    """

    kind: str
    parts: tuple = ()
    over: tuple = ()

    def __str__(self):
        """The requirement of a power, a logarithm or a divisor as a condition."""
        if self.kind == "divisor" or (self.kind == "power" and self.parts[1].is_integer):
            return f"{self.parts[0]} != 0"
        root = self.kind == "power" and self.parts[1].is_nonnegative
        return f"{self.parts[0]} {'>=' if root else '>'} 0"


def needs(e, ranges: Mapping[str, tuple] | None = None, definitions: Mapping[str, Definition] | None = None,
          over: tuple = ()) -> Iterator[Need]:
    """Everything that has to hold for a formula to have a value.

    Args:
        ranges: the first and last index along each axis of the arrays, by name; others have no entries.
        definitions: formulas that stand behind names.
        over: the ranges of indices around the formula.
    """
    e, ranges, definitions = sp.sympify(e), ranges or {}, definitions or {}

    def inside(part, more=()):
        return needs(part, ranges, definitions, (*over, *more))

    if isinstance(e, sp.Symbol):
        if e.name in definitions:
            rest = {name: rule for name, rule in definitions.items() if name != e.name}
            yield from needs(definitions[e.name].formula, ranges, rest, over)
    elif isinstance(e, sp.Indexed):
        yield from _of_entry(e, ranges, definitions, over)
    elif isinstance(e, sp.Sum | sp.Product):
        around = ()
        for index, low, high in reversed(e.limits):
            yield Need("whole", (low, high), (*over, *around))
            yield from (need for end in (low, high) for need in inside(end, around))
            around = (*around, (index, low, high))
        yield from inside(e.function, around)
    elif isinstance(e, _OVER):
        index, low, high, *bodies = e.args
        yield from (Need("whole", (low, high), over), Need("range", (low, high), over))
        yield from (need for end in (low, high) for need in inside(end))
        yield from (need for body in bodies for need in inside(body, ((index, low, high),)))
    elif isinstance(e, operators.F | operators.grad):
        yield from (Need("whole", e.args[:1], over), Need("entry", (e.args[0], sp.Integer(0), operators.clients - 1), over))
        yield from inside(e.args[1])
    elif e.args:
        if isinstance(e, sp.Pow):
            yield Need("power", e.args, over)
        elif isinstance(e, sp.log):
            yield Need("logarithm", e.args, over)
        elif isinstance(e, sp.Mod):
            yield Need("divisor", e.args[1:], over)
        elif not isinstance(e, _TOTAL):
            yield Need("never", (), over)
        yield from (need for part in e.args for need in inside(part))
    elif not (e is sp.E or (e.is_number and e.is_real)):
        yield Need("never", (), over)


def needs_of_numbers(e, definitions: Mapping[str, Definition] | None = None) -> Iterator[Need]:
    """The requirements of powers, logarithms and divisors in a formula that the signs of its symbols do not imply."""
    found = (need for need in dict.fromkeys(needs(e, definitions=definitions))
             if need.kind in ("power", "logarithm", "divisor"))
    return (need for need in found if [] not in ways(need))


def _of_entry(e, ranges, definitions, over) -> Iterator[Need]:
    name, indices = e.base.label.name, e.indices
    yield Need("whole", indices, over)
    yield from (need for index in indices for need in needs(index, ranges, definitions, over))
    if name in definitions and len(definitions[name].indices) == len(indices):
        rest = {other: rule for other, rule in definitions.items() if other != name}
        put = dict(zip(definitions[name].indices, indices, strict=True))
        yield from needs(definitions[name].formula.xreplace(put), ranges, rest, over)
    elif len(ranges.get(name, ())) == len(indices):
        yield from (Need("entry", (index, *ends), over) for index, ends in zip(indices, ranges[name], strict=True) if ends)
    else:
        yield Need("never", (), over)


def ways(need: Need) -> list[list[Condition]]:
    """Conditions of which those of one list are enough; later lists ask for less."""
    if need.kind == "whole":
        return [[] if all(part.is_integer for part in need.parts) else [NEVER]]
    if need.kind == "divisor":
        return _not_zero(need.parts[0])
    if need.kind == "logarithm":
        return [[]] if need.parts[0].is_positive else [[Condition(0, "<", need.parts[0])]]
    if need.kind == "power":
        return _of_power(*need.parts)
    if need.kind == "range":
        return [[Condition(need.parts[0], "<=", need.parts[1])]]
    if need.kind == "entry":
        index, low, high = need.parts
        return [[Condition(low, "<=", index), Condition(index, "<=", high)]]
    return [[NEVER]]


def _not_zero(e) -> list[list[Condition]]:
    return [[]] if e.is_nonzero else [[Condition(0, "<", e)], [Condition(e, "<", 0)], [Condition(0, "<", e**2)]]


def _of_power(base, exponent) -> list[list[Condition]]:
    if base.is_positive or base is sp.E:
        return [[]]
    rises = [] if exponent.is_nonnegative else [Condition(0, "<=", exponent)]
    never_below = [] if base.is_nonnegative or exponent.is_integer else [Condition(0, "<=", base)]
    other = [[*never_below, *rises]] * (not exponent.is_negative)
    return [*other, *_not_zero(base)] if exponent.is_integer else [[Condition(0, "<", base)], *other]


def changed(need: Need, change) -> Need:
    """The need with each formula as ``change`` reads it; indices stay."""
    return replace(need, parts=tuple(map(change, need.parts)),
                   over=tuple((index, change(low), change(high)) for index, low, high in need.over))


def restrictions(need: Need) -> set[tuple[str, sp.Expr]]:
    """The restrictions that a power, logarithm or divisor puts on formulas of any sign: pairs of ``!=``, ``>=`` or ``>``
    (than 0), or ``real``, and a formula."""
    if need.kind == "logarithm":
        return {(">", need.parts[0])} if not need.parts[0].is_positive else set()
    if need.kind == "divisor":
        return {("!=", e) for e in _that_may_vanish(need.parts[0])}
    if need.kind != "power" or need.parts[0].is_positive:
        return set()
    base, exponent = need.parts
    found = set() if exponent.is_nonnegative else {("!=", e) for e in _that_may_vanish(base)}
    if exponent.is_integer or base.is_nonnegative:
        return found
    rest = sp.Mul(*(e for e in sp.Mul.make_args(base) if not (e.is_nonnegative or _is_never_negative(e))))
    if rest != 1:
        found.add((">=", _primitive(rest)))
    return found if exponent.is_Rational else found | {("real", base**exponent)}


def _that_may_vanish(e) -> Iterator[sp.Expr]:
    for factor in sp.Mul.make_args(e):
        if factor.is_Pow or isinstance(factor, sp.Abs):
            yield from _that_may_vanish(factor.args[0])
        elif not factor.is_nonzero:
            yield max((_primitive(sign * factor) for sign in (1, -1)), key=sp.default_sort_key)


def _is_never_negative(e) -> bool:
    """Whether it is an even power of a real number, or any of one that is at least 0: at least 0 wherever it has a value."""
    return bool(e.is_Pow and ((e.exp.is_even and e.base.is_real) or (e.exp.is_real and e.base.is_nonnegative)))


def _primitive(e) -> sp.Expr:
    return sp.Mul(*e.as_content_primitive()[1:]) if e.is_Add else e
