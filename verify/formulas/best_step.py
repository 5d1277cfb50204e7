"""The step size at which a bound is smallest within the claim's conditions."""

from dataclasses import dataclass

import numpy as np

from bounds.formulas.units import units_of
from bounds.language.names import ONE
from verify.formulas.bound import Bound, names_of

__all__ = ["BestStep", "best_step"]

_SMALLEST, _LARGEST = 1e-12, 1e6  # steps that are tried, in units of 1/L where L is given and a step has this unit


@dataclass(frozen=True)
class BestStep:
    """The step size ``value`` at which a bound is smallest within its conditions.

    ``at_border``: a condition ends there. ``towards``: "0" or "oo" if it is the smallest or largest step that was tried, so
    that the bound may fall further in that direction.
    """

    value: float
    bound: float
    at_border: bool
    towards: str = ""


def best_step(bound: Bound, step: str = "eta_l", **numbers) -> BestStep:
    """Minimise a bound over one parameter, among the values at which the claim's conditions hold.

    Conditions that do not mention ``step`` count only if all their parameters are given.

    Raises:
        ValueError: the bound does not depend on ``step``, or no value meets the conditions; as :meth:`Bound.check`.
    """
    bound.check(numbers)
    if step not in {s.name for s in bound.form.parameters}:
        raise ValueError(f"{bound.claim.id} does not depend on {step!r}; it has {', '.join(bound.parameters)}")
    numbers.pop(step, None)
    of_step = (c for c in bound.conditions if step in names_of(c))
    within = bound.with_conditions(dict.fromkeys((*of_step, *bound.checkable(numbers).conditions)))
    of_loss, of_length = units_of(bound.claim).get(step, ONE)
    unit = float(numbers.get("L", 1.0)) ** float(of_loss) if 2 * of_loss + of_length == 0 else 1.0
    grid = unit * np.geomspace(_SMALLEST, _LARGEST, 2001)
    for _ in range(8):  # each grid lies between the neighbours of the best point of the one before
        values = bound.values(**{step: grid}, **numbers)
        values = np.where(within.applies(**{step: grid}, **numbers), values, np.inf)
        best = int(np.nanargmin(values))
        if not np.isfinite(values[best]):
            raise ValueError(f"no {step} meets the conditions of {bound.claim.id}: "
                             + "; ".join(within.unmet(**{step: grid}, **numbers)))
        value, least = float(grid[best]), float(values[best])
        grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)], 401)
    beside = value * np.array([1 - 1e-6, 1 + 1e-6])
    at_border = not bool(np.all(within.applies(**{step: beside}, **numbers)))
    towards = "0" if value < 1.01 * unit * _SMALLEST else "oo" if value > 0.99 * unit * _LARGEST else ""
    return BestStep(value, least, at_border, "" if at_border else towards)
