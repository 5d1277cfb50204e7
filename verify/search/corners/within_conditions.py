"""Numbers moved until conditions hold that compare them with what a run does, which is known only after the run."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bounds.language.claim import Claim, Condition
from verify.claims.open_constants import ASSUMED, assumed_constants
from verify.claims.sizes import once_by_claim
from verify.evaluation.environment import Environment, TooManyTerms, UnboundName
from verify.evaluation.judge import flat_sides, holds
from verify.instances.leaves import Leaves
from verify.instances.shape import Shape

__all__ = ["within_conditions"]

_ENOUGH = 0.6  # share of the rows that meet all such conditions, from which on nothing is moved: runs take long
_LARGEST = 1e12  # factor by which a number moves


class Lever(NamedTuple):
    """A leaf of positive numbers, with whose power the ratio of two sides goes: of the one that is to be smaller over the
    other."""

    leaf: str
    power: float


def within_conditions(claim: Claim, shape: Shape, leaves: Leaves, rng: np.random.Generator,
                      realised: Callable[[Claim, Shape, Leaves], Environment]) -> Leaves:
    """The batch, with free numbers and assumed constants moved where a condition does not hold that has them as a factor.

    A step that may be at most 1/G, of a run whose largest gradient is G, is drawn before the run is known: here it becomes
    shorter afterwards. ``realised`` answers what a batch of floating-point numbers does.
    """
    levers = _levers(claim)
    if not levers or shape.data is not None:
        return leaves
    try:
        with np.errstate(all="ignore"):
            return _moved(levers, realised(claim, shape, leaves), leaves, rng)
    except (TooManyTerms, UnboundName):
        return leaves


def _moved(levers, environment: Environment, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    count = len(leaves["weight"])
    broken = [(condition, of, ~holds(condition, environment, count)) for condition, of in levers]
    if np.any([rows for *_, rows in broken], axis=0).mean() <= 1 - _ENOUGH:
        return leaves
    found = dict(leaves)
    for condition, of, rows in broken:
        lever = of[rng.integers(len(of))]
        excess = np.clip(_excess(condition, environment, count), 1.0, _LARGEST)
        room = np.where(rng.random(count) < 0.5, 1.001, 1 / np.maximum(rng.random(count), 0.01))
        factor = (excess * room) ** (-1 / lever.power)
        array = found[lever.leaf]
        found[lever.leaf] = np.where(rows & np.isfinite(factor), factor, 1.0).reshape(-1, *(1,) * (array.ndim - 1)) * array
    return found


def _excess(condition: Condition, environment: Environment, count: int) -> np.ndarray:
    """The largest ratio of the side that is to be smaller over the other one, of each row."""
    left, right, mask = flat_sides(condition, environment)
    ratio = left / right if condition.relation == "<=" else right / left
    return np.broadcast_to(np.where(mask, np.nan_to_num(ratio), 0.0).max(axis=1, initial=0.0), (count,))


@once_by_claim
def _levers(claim: Claim) -> list[tuple[Condition, list[Lever]]]:
    """Inequalities whose sides have a free positive number, or an assumed constant, as a factor, and these factors."""
    if claim.setting != "run":
        return []
    leaf = {v.name: v.name for v in claim.variables if v.domain == "positive" and not v.indices}
    leaf |= {name: f"{ASSUMED}{name}" for name in assumed_constants(claim)}
    found = []
    for c in claim.hypotheses:
        if c.relation == "==":
            continue
        smaller, larger = (c.left, c.right) if c.relation == "<=" else (c.right, c.left)
        of = [Lever(leaf[str(base)], sign * float(power)) for side, sign in ((smaller, 1), (larger, -1))
              for base, power in side.as_powers_dict().items() if str(base) in leaf and power.is_Rational]
        if of:
            found.append((c, of))
    return found
