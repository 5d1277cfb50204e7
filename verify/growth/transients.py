"""Whether runs along a limit have hardly begun: of these no growth says where it ends.

A run of short steps stays near its start for long. Its left side stays what it is meanwhile, and against a right side that
falls with the number of rounds the ratio grows, until the run gets anywhere. Where nothing says how short steps may be,
there is for every number of rounds a run that has hardly begun, and the growth has no end.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import to_numpy
from verify.evaluation.environment import Environment
from verify.growth.limits import Motion, scaled, unit_exponents
from verify.instances.parameters import Parameters
from verify.instances.resize import Together

__all__ = ["has_longer_transient", "is_transient", "longer_transients", "numbers_of_steps"]

_TIMES = {"rounds", "iterations", "local_steps"}
_SOME_WAY = 0.25  # of the way to the optimum
_FARTHER = 2.0  # times as far at the largest of the sizes as at the smallest
_SHORTER, _LATER = Fraction(1, 256), 16.0  # steps that begin later; how much less far they get at least
_OTHER_UNITS = ((0, -1), (-1, 0), (0, 1), (1, 0))  # powers of loss and length


def is_transient(limit: Motion, environments: Sequence[Environment]) -> bool:
    """Whether runs, given in the order of their sizes along ``limit``, stay near their starts and get farther with every
    size."""
    if not _TIMES.intersection(limit.names if isinstance(limit, Together) else (limit,)):
        return False
    ways = [_way(environment) for environment in environments]
    return None not in ways and _FARTHER * ways[0] < ways[-1] < _SOME_WAY


def _way(environment: Environment) -> float | None:
    """The distance of the server's final model from its start in instance 0, relative to the distance from the start to the
    optimum; the largest over outcomes. Infinite for a run from the optimum, None where there is no run or no optimum."""
    models, optimum = environment.bound.get("x_round"), environment.bound.get("x_star")
    if models is None or optimum is None or models.data.shape[3] < 2:
        return None
    models, optimum = (np.vectorize(float, otypes=[float])(to_numpy(one.data[:1])) for one in (models, optimum))
    start, end = models[..., 0, :], models[..., -1, :]
    gone, distance = (np.linalg.norm(difference, axis=-1).max() for difference in (end - start, start - optimum))
    return float(gone / distance) if distance > 0 else np.inf


def longer_transients(claim: Claim, params: Parameters) -> Iterator[Parameters]:
    """Instances whose runs may begin much later: those with another number in place of one that may make steps shorter (all
    positive ones that a claim leaves free, but for those on which its constants may depend), and the same clients and start
    in other units of loss or length, where steps stay as they are."""
    held, free = claim.constants_may_use or (), _free_numbers(claim)
    for name in numbers_of_steps(claim, params):
        yield {**params, name: params[name] * _SHORTER}
    units = {name: both for name, both in unit_exponents(claim, params).items() if name not in (*free, *held, "epsilon")}
    for loss, length in _OTHER_UNITS:
        powers = {name: np.full(params[name].shape, round(by_loss * loss + by_length * length), dtype=object)
                  for name, (by_loss, by_length) in units.items()}
        yield scaled(params, powers, _SHORTER)


def numbers_of_steps(claim: Claim, params: Parameters) -> list[str]:
    """The parameters that may make steps shorter, but for those on which constants may depend."""
    return [name for name in ("step_fraction", *_free_numbers(claim))
            if name in params and name not in (claim.constants_may_use or ())]


def _free_numbers(claim: Claim) -> list[str]:
    return [v.name for v in claim.variables if v.domain in ("positive", "nonnegative")]


def has_longer_transient(slower: Environment, environment: Environment) -> bool:
    """Whether a run gets much less far than another one."""
    ways = _way(slower), _way(environment)
    return None not in ways and _LATER * ways[0] <= ways[1]
