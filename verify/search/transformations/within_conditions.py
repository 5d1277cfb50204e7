"""Numbers scaled until conditions hold that compare them with what a run does, which is known only after the run."""

from typing import NamedTuple

import numpy as np

from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import NUMPY
from verify.claims.open_constants import ASSUMED, assumed_constants
from verify.claims.sizes import once_by_claim
from verify.evaluation.environment import Environment, TooManyTerms, UnboundName
from verify.evaluation.judge import flat_sides, holds
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.search.batch_evaluation import MOST_TERMS
from verify.search.run_cache import RUNS
from verify.search.transformations.transformation import Transformation, on_runs

__all__ = ["WITHIN_CONDITIONS"]

_ENOUGH = 0.6  # share of feasible instances from which on nothing is scaled: runs take long
_LARGEST = 1e12  # factor by which a number is scaled


class ScalingVariable(NamedTuple):
    """A positive number of the instance: the ratio of the side that must be smaller over the other goes with its power."""

    name: str
    power: float


def _within_conditions(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Scales free numbers and assumed constants where a condition fails that has them as a factor: steps of at most 1/G
    become shorter once the run, and with it G, is known."""
    try:
        with np.errstate(all="ignore"):
            return _scaled(_scaling_variables(claim), RUNS.simulate(claim, shape, params, NUMPY, MOST_TERMS), params, rng)
    except (TooManyTerms, UnboundName):
        return params


WITHIN_CONDITIONS = Transformation(
    "within-conditions", lambda claim, shape: on_runs(claim, shape) and bool(_scaling_variables(claim)), _within_conditions)


def _scaled(variables, environment: Environment, params: Parameters, rng: np.random.Generator) -> Parameters:
    count = len(params["weight"])
    broken = [(condition, of, ~holds(condition, environment, count)) for condition, of in variables]
    if np.any([rows for *_, rows in broken], axis=0).mean() <= 1 - _ENOUGH:
        return params
    found = dict(params)
    for condition, of, rows in broken:
        name, power = of[rng.integers(len(of))]
        excess = np.clip(_excess(condition, environment, count), 1.0, _LARGEST)
        room = np.where(rng.random(count) < 0.5, 1.001, 1 / np.maximum(rng.random(count), 0.01))
        factor = (excess * room) ** (-1 / power)
        factor = np.where(rows & np.isfinite(factor), factor, 1.0)
        found[name] = factor.reshape(-1, *(1,) * (found[name].ndim - 1)) * found[name]
    return found


def _excess(condition: Condition, environment: Environment, count: int) -> np.ndarray:
    """The largest ratio of the side that must be smaller over the other, of each instance."""
    left, right, mask = flat_sides(condition, environment)
    ratio = left / right if condition.relation == "<=" else right / left
    return np.broadcast_to(np.where(mask, np.nan_to_num(ratio), 0.0).max(axis=1, initial=0.0), (count,))


@once_by_claim
def _scaling_variables(claim: Claim) -> list[tuple[Condition, list[ScalingVariable]]]:
    """Inequalities that have a free positive number or an assumed constant as a factor of a side, with these factors."""
    names = {v.name: v.name for v in claim.variables if v.domain == "positive" and not v.indices}
    names |= {name: f"{ASSUMED}{name}" for name in assumed_constants(claim)}
    found = []
    for c in claim.hypotheses:
        if c.relation == "==":
            continue
        smaller, larger = (c.left, c.right) if c.relation == "<=" else (c.right, c.left)
        of = [ScalingVariable(names[str(base)], sign * float(power)) for side, sign in ((smaller, 1), (larger, -1))
              for base, power in side.as_powers_dict().items() if str(base) in names and power.is_Rational]
        if of:
            found.append((c, of))
    return found
