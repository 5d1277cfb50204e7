"""Claims that a number exists: the number as a place in its interval, which a search can put anywhere."""

from dataclasses import replace

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition, Variable, names_in
from verify.claims.sizes import once_by_claim

__all__ = ["PLACES", "Bracket", "excluded_positions", "position_of", "runs_for_every_value", "with_position",
           "without_position"]

#: places in an interval, from its lower end (0) to its upper one (1), at which a statement is tried: both ends, a geometric
#: grid and a linear one
PLACES = (1.0, 0.0, 0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12, 0.03, 0.25, 0.75, 0.9)


def position_of(claim: Claim) -> str:
    """The name of the place of the number that is said to exist."""
    return f"position_of_{claim.exists.name}"


def runs_for_every_value(claim: Claim) -> bool:
    """Whether each instance is run for many values of a number that is said to exist, which takes long."""
    return claim.exists is not None and claim.setting == "run"


def excluded_positions(claim: Claim) -> set[float]:
    """The ends that the interval is without, as places."""
    return {place for place, is_open in ((0.0, claim.exists.open_low), (1.0, claim.exists.open_high)) if is_open}


@once_by_claim
def with_position(claim: Claim) -> Claim:
    """The claim with the number that is said to exist given by its place, a variable from 0 to 1; another claim as it is."""
    if claim.exists is None or position_of(claim) in {v.name for v in claim.variables}:
        return claim
    name, value = position_of(claim), _value(claim)
    uses = [n for n, c in enumerate(claim.conditions) if claim.exists.name in names_in(c.left) | names_in(c.right)]
    first = uses[0] if uses else len(claim.conditions)
    return replace(claim, variables=(*claim.variables, Variable(name, "nonnegative")),
                   conditions=(*claim.conditions[:first], value, *claim.conditions[first:]))


@once_by_claim
def without_position(claim: Claim) -> Claim:
    """The claim of which another one is ``with_position``; any other claim as it is."""
    if claim.exists is None or with_position(claim) is not claim:
        return claim
    value = _value(claim)
    return replace(claim, variables=tuple(v for v in claim.variables if v.name != position_of(claim)),
                   conditions=tuple(c for c in claim.conditions if c != value))


class Bracket:
    """The best place of each instance on a grid, between its neighbours, which come nearer with every step."""

    def __init__(self, grid: np.ndarray, at: np.ndarray):
        place = np.searchsorted(grid, at)
        self.low, self.at, self.high = grid[(place - 1).clip(0)], at.copy(), grid[(place + 1).clip(max=len(grid) - 1)]

    def sides(self, rows) -> tuple[np.ndarray, np.ndarray]:
        """The places halfway to the neighbours."""
        return (self.low[rows] + self.at[rows]) / 2, (self.at[rows] + self.high[rows]) / 2

    def step(self, rows, best: np.ndarray) -> None:
        """Halve the interval around the position ``best``, among the current one and those halfway to its neighbours."""
        left, right = self.sides(rows)
        low, at, high = self.low[rows], self.at[rows], self.high[rows]
        self.low[rows] = np.where(best == left, low, np.where(best == right, at, left))
        self.high[rows] = np.where(best == right, high, np.where(best == left, at, right))
        self.at[rows] = best


def _value(claim: Claim) -> Condition:
    exists, place = claim.exists, sp.Symbol(position_of(claim), nonnegative=True)
    return Condition(sp.Symbol(exists.name, real=True), "==", exists.low + place * (exists.high - exists.low))
