"""Checks hypotheses about numbers alone in floats, before a symbolic run checks them exactly."""

from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import sympy as sp

from bounds.language.claim import Claim
from bounds.language.operators import local_steps, tau
from verify.exact.statement import statement_of
from verify.worst.configurations import FAR, Setting

__all__ = ["feasible"]

_CASES = 100  # of indices
_DEEP = 3  # definitions within each other
_ERRORS = (ArithmeticError, NameError, TypeError, ValueError)  # of formulas that floats do not decide


class _NumericCondition(NamedTuple):
    """A condition with the names of its numbers and arrays; the ends of its indices as a function of these, and its sides as
    a function of these and the indices."""

    relation: str
    names: tuple[str, ...]
    ends: Callable[..., list[float]]
    sides: Callable[..., tuple[float, float]]
    text: str


def feasible(claim: Claim, setting: Setting) -> Setting:
    """Returns the setting. Raises ValueError if it surely breaks a hypothesis about numbers alone."""
    values = {**setting.sizes, **{name: number for name, value in setting.values.items()
                                  if (number := _common_value(value)) is not None}}
    for condition in _conditions(claim):
        if values.keys() >= {*condition.names} and _breaks(condition, [values[name] for name in condition.names]):
            raise ValueError(f"a hypothesis fails at these numbers: {condition.text}")
    return setting


def _breaks(condition: _NumericCondition, numbers: list[float]) -> bool:
    try:
        ends = [*map(int, condition.ends(*numbers))]
        ranges = [range(low, min(high, low + _CASES) + 1) for low, high in zip(ends[::2], ends[1::2], strict=True)]
        for index in product(*ranges):
            left, right = condition.sides(*numbers, *index)
            over = left - right if condition.relation in ("<=", "<") else right - left
            if (abs(over) if condition.relation == "==" else over) > FAR * max(1.0, abs(left), abs(right)):
                return True
    except _ERRORS:
        return False
    return False


def _common_value(value: Any) -> float | None:
    """A number, or the common entry of an array; None if its entries differ."""
    while isinstance(value, list):
        if not value or any(entry != value[0] for entry in value):
            return None
        value = value[0]
    return float(Fraction(value)) if isinstance(value, str) else None


def _start_of_round(t):
    return t - sp.Mod(t, local_steps)


@lru_cache(64)
def _conditions(claim: Claim) -> tuple[_NumericCondition, ...]:
    defined = {name: (d.indices, d.formula) for name, d in claim.used_definitions().items()}
    defined |= {name: (c.left.indices, c.right) for name, c in claim.defining.items() if isinstance(c.left, sp.Indexed)}

    def substitute_definition(e):
        indices, formula = defined.get(e.base.label.name, (e.indices, e))
        return sp.sympify(formula).xreplace(dict(zip(indices, e.indices, strict=True)))

    found = []
    for c, said in zip(claim.hypotheses, statement_of(claim)["hypotheses"], strict=False):
        if isinstance(c.left, sp.Indexed) and defined.get(c.left.base.label.name) == (c.left.indices, c.right):
            continue
        sides = [*map(sp.sympify, (c.left, c.right))]
        for _ in range(_DEEP):
            sides = [side.replace(lambda e: isinstance(e, sp.Indexed), substitute_definition).replace(tau, _start_of_round)
                     for side in sides]
        ends = [sp.sympify(end) for _, *ends in c.over for end in ends]
        arrays = {a: sp.Dummy() for part in (*sides, *ends) for a in part.atoms(sp.Indexed)}
        sides, ends = ([part.xreplace(arrays) for part in parts] for parts in (sides, ends))
        indices = [index for index, *_ in c.over]
        symbols = set().union(*(part.free_symbols for part in (*sides, *ends))) - {*arrays.values(), *indices}
        names = {s: s.name for s in symbols} | {dummy: a.base.label.name for a, dummy in arrays.items()}
        with suppress(NotImplementedError):  # a word that has no floats, such as a product
            found.append(_NumericCondition(c.relation, (*names.values(),), sp.lambdify([*names], ends, "math"),
                                    sp.lambdify([*names, *indices], sides, "math"), said["text"]))
    return tuple(found)
