"""Thresholds of free clients that lie between the losses of two outcomes: a client is included on one of them alone."""

from math import prod

import numpy as np
import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.environment import TooManyTerms, UnboundName
from verify.evaluation.evaluate import sides
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.search.batch_evaluation import MOST_TERMS
from verify.search.run_cache import RUNS
from verify.search.transformations.transformation import Transformation, on_runs

__all__ = ["INCLUSION"]

_SHARE = 0.5  # of the instances of a batch


def _by_chance(claim: Claim, shape: Shape) -> bool:
    return on_runs(claim, shape) and bool(shape.free) and shape.rounds > 1 and prod(outcomes(shape)) > 1


def _between_outcomes(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Moves the threshold of one round, after the first, of some instances between what it is compared with on two outcomes
    of chance. The run until then stays."""
    try:
        with np.errstate(all="ignore"):
            environment = RUNS.simulate(claim, shape, params, NUMPY, MOST_TERMS)
            values = np.asarray(sides(_distances(claim, shape), environment)[0])
    except (TooManyTerms, UnboundName):
        return params
    epsilon, count = params["epsilon"], len(params["epsilon"])
    free, rounds = values.shape[-2:]
    values = np.broadcast_to(values, (count, *values.shape[1:])).reshape(count, -1, free, rounds)
    row, round_ = np.arange(count), rng.integers(0, rounds, count)
    values = np.sort(values[row, :, rng.integers(0, free, count), round_], axis=1)
    low, high = values[:, :-1], values[:, 1:]
    apart = np.isfinite(high) & (high - low > 1e-6 * (abs(high) + abs(low)))
    gap = np.argmax(np.where(apart, rng.random(apart.shape), -1.0), axis=1)
    moved = apart[row, gap] & (rng.random(count) < _SHARE)
    found = epsilon.copy()
    found[row, round_ + 1] = np.where(moved, (low[row, gap] + high[row, gap]) / 2, epsilon[row, round_ + 1])
    return params | {"epsilon": found}


def _distances(claim: Claim, shape: Shape) -> Condition:
    """The distance of each free client's loss from the objective at the start of every round after the first, (client,
    round)."""
    k, r = operators.k, operators.r
    broadcast = claim.procedure is None or claim.procedure.indicator == "broadcast"
    point = operators.x_round[r] if broadcast else operators.x_before[r * operators.local_steps, k]
    ends = (k, shape.priority_clients, shape.clients - 1), (r, 1, shape.rounds - 1)
    return Condition(sp.Abs(operators.F(k, point) - operators.objective(point)), "<=", 0,
                     tuple((index, *map(sp.Integer, range_)) for index, *range_ in ends))


INCLUSION = Transformation("inclusion", _by_chance, _between_outcomes, share=0.5, of_mutations=True)
