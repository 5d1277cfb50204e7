"""The stage of whole numbers: a statement about few of them is evaluated at all of a grid at once."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition
from verify.formulas.compiled import compiled
from verify.instances.draw import draw_params, draw_shape
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.search.real_numbers import written_out
from verify.search.stage import State

__all__ = ["at_whole_numbers"]

_OWN_SEED = 1729
_POINTS, _LEAST = 2**20, 8  # of a grid, and of each of its sides
_SHOWN = 4  # points that are taken to exact arithmetic
_ROUNDING = 1e-12  # relative error of a side


def at_whole_numbers(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Yields instances at the smallest numbers of a grid at which the hypotheses hold and the statement fails."""
    claim = state.claim
    names = _whole_numbers(claim)
    if not names:
        return
    rng = np.random.default_rng([*state.seeds, _OWN_SEED])
    for point in _violations(claim, names):
        shape = state.shapes(draw_shape, state.budget.most_iterations, rng=rng)
        shape = replace(shape, sizes=(*(dict(shape.sizes) | point).items(),))
        yield shape, draw_params(claim, shape, 1, rng)


def _whole_numbers(claim: Claim) -> dict[str, tuple[int, int | None]]:
    """The variables of a claim about whole numbers alone, with the least and the largest value of each; none of others."""
    named = {v.name: (v.low, v.high) for v in claim.variables if v.domain == "integer" and not v.indices}
    alone = (claim.setting == "algebra" and claim.exists is None and len(named) == len(claim.variables)
             and not any(c.over for c in (*claim.hypotheses, claim.statement))
             and not any(rule.indices for rule in claim.used_definitions().values())
             and claim.names <= {*named, *claim.used_definitions()})
    return named if alone else {}


def _violations(claim: Claim, names: dict[str, tuple[int, int | None]]) -> list[dict[str, int]]:
    """The smallest points of a grid that meet the hypotheses and break the statement; the grid is smaller where there are
    sums, whose ranges are taken for a side each."""
    formulas = [*claim.formulas, *(rule.formula for rule in claim.used_definitions().values())]
    points, axes = _POINTS, len(names) + max(map(_nested_sums, formulas))
    while (side := int(points ** (1 / axes) + 1e-9)) >= _LEAST:
        ranges = [np.arange(low, low + side if high is None else min(low + side, high + 1)) for low, high in names.values()]
        grid = np.meshgrid(*(numbers.astype(float) for numbers in ranges), indexing="ij", sparse=True)
        try:
            fails = [_fails_on(claim, condition, [*names], grid) for condition in (claim.statement, *claim.hypotheses)]
        except (MemoryError, NameError, TypeError, ValueError):
            points //= 16
            continue
        found = np.broadcast_to(fails[0][0] & fails[0][1], [*map(len, ranges)])
        for unmet, valued in fails[1:]:
            found = found & ~unmet & valued
        found = np.argwhere(found)
        order = np.argsort(found.sum(axis=1), kind="stable")[:_SHOWN]
        return [{name: int(ranges[axis][found[row, axis]]) for axis, name in enumerate(names)} for row in order]
    return []


def _nested_sums(formula: sp.Expr) -> int:
    """Counts the sums and products that stand within each other."""
    limits = len(formula.limits) if isinstance(formula, sp.Sum | sp.Product) else 0
    return limits + max(map(_nested_sums, formula.args), default=0) if isinstance(formula, sp.Expr) else 0


def _fails_on(claim: Claim, condition: Condition, names: list[str], grid: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Select the points of the grid at which a condition surely fails, and those at which both sides have a value."""
    whole = written_out(claim, condition)
    left, right = np.broadcast_arrays(*(compiled(names, sp.sympify(side))(*grid) for side in (whole.left, whole.right)))
    with np.errstate(all="ignore"):
        slack = _ROUNDING * (abs(left) + abs(right))
        fails = {"<=": left > right + slack, ">=": left < right - slack, "==": abs(left - right) > slack,
                 "<": left >= right, ">": left <= right}[condition.sign]
    return fails, np.isfinite(left) & np.isfinite(right)
