"""The fast path on quadratics: the local steps of a round as one affine map per client.

With plain gradient steps on F_k(v) = 1/2 v^T A_k v - <b_k, v> + const, corrected by a shift s_k that is fixed within a
round and by a pull rho to the broadcast model x, the local steps end at ::

    x_k = x - Q_k (grad F_k(x) + s_k),    Q_k = sum_j eta_j prod_{i > j} (I - eta_i (A_k + rho I))

If nothing but the average of the models counts, and all clients take part, the round itself is one affine map of x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.engine import one_round
from fedtheory.moment import Moment, State
from fedtheory.parts import ClientOptimiser, GradientOracle, ServerOptimiser, UploadFilter
from fedtheory.schedules import Schedule
from fedtheory.selection import EveryPriority, PriorityOnly
from synthetic.arrays import namespace, take_clients
from synthetic.least_squares import LeastSquares
from synthetic.noise import NoNoise
from synthetic.quadratic import Quadratic

__all__ = ["AffineSteps", "RoundMap", "affine_round", "affine_rounds", "affine_steps", "why_not_affine"]

_OWN = {name: getattr(Algorithm, name) for name in (
    "client_step", "client_start", "client_models", "broadcast", "server_step", "aggregate", "output", "step_size",
    "now")}


def _plain(algorithm, *names: str) -> bool:
    """Whether a method leaves these functions of the base class as they are."""
    return all(getattr(type(algorithm), name) is _OWN[name] for name in names)


def why_not_affine(algorithm: Algorithm, federation) -> str | None:
    """In words, why the local steps are no affine map; None if they are."""
    if not _plain(algorithm, "client_step", "client_start", "step_size", "now"):
        return f"{algorithm.name} has a local step of its own"
    if not _plain(algorithm, "client_models", "broadcast"):
        return f"{algorithm.name} starts its local steps elsewhere than at the broadcast model"
    if type(algorithm.oracle) is not GradientOracle:
        return f"the gradient oracle is {type(algorithm.oracle).__name__}"
    if type(algorithm.client) is not ClientOptimiser:
        return f"the client optimiser is {type(algorithm.client).__name__}"
    if not algorithm.correction.fixed_in_round:
        return f"the correction {type(algorithm.correction).__name__} is not affine"
    if algorithm.selection.matching.indicator != "broadcast":
        return "the selection looks at local models"
    if type(federation) not in (Quadratic, LeastSquares):
        return f"{federation.name} is not quadratic"
    if type(federation) is LeastSquares and (federation.outputs > 1 or federation.batch_size is not None):
        return "the least squares have minibatches or several outputs"
    if not isinstance(federation.noise, NoNoise):
        return "gradients are noisy"
    return None


class AffineSteps(NamedTuple):
    """Q_k of a round, (instances | runs, clients, dim) if all A_k are diagonal, else (..., dim, dim)."""

    matrix: object
    diagonal: bool

    def models(self, local, correction, moment: Moment):
        """The local models at the end of the round, (runs, participants, dim)."""
        shift = correction.shift(local, moment)
        slope = moment.federation.gradient(local.x, moment.clients)
        slope = slope if shift is None else slope + shift
        matrix = take_clients(self.matrix, moment.clients)
        if self.diagonal:
            return local.x - matrix * slope
        return local.x - namespace(slope).matmul(matrix, slope[..., None])[..., 0]


def affine_steps(algorithm: Algorithm, moment: Moment) -> AffineSteps:
    """Q_k for the round of ``moment``; the algorithm must be affine there (:func:`why_not_affine`)."""
    federation, steps = moment.federation, algorithm.local_steps
    hessian = federation.curvature if isinstance(federation, Quadratic) else federation.hessians()
    diagonal, xp = hessian.ndim == 3, namespace(hessian)
    pull = algorithm.correction.pull(moment)
    one = 0 * hessian + (1 if diagonal else federation.backend.array(np.eye(federation.dim)))
    if pull is not None:
        hessian = hessian + (pull if diagonal or not getattr(pull, "ndim", 0) else pull[..., None]) * one
    rest, total = one, 0 * one
    for j in reversed(range(steps)):  # rest is the product over the later steps
        eta = algorithm.step_size(moment._replace(iteration=moment.round * steps + j))
        eta = eta if diagonal or not getattr(eta, "ndim", 0) else eta[..., None]
        total = total + eta * rest
        rest = rest - eta * (rest * hessian if diagonal else xp.matmul(rest, hessian))
    return AffineSteps(total, diagonal)


class RoundMap(NamedTuple):
    """A round as one map of the model: ``x <- x - matrix x + offset``; (1 | instances, dim[, dim]) and (..., dim)."""

    matrix: object
    offset: object
    diagonal: bool

    def models(self, x, rounds: int):
        """The models after each of ``rounds`` rounds from ``x`` (runs, dim), a list of (runs, dim).

        Every run is computed by itself, whatever the batch.
        """
        xp, found = namespace(x), []
        for _ in range(rounds):
            step = self.matrix * x if self.diagonal else xp.sum(self.matrix * x[:, None, :], axis=-1)
            x = x - step + self.offset
            found.append(x)
        return found


def affine_rounds(algorithm, federation, state: State, draws, first: int, rounds: int, observers=(), everyone=True):
    """What :func:`fedtheory.rounds_of` yields, with the local steps of each round taken at once."""
    fixed = not any(isinstance(number, Schedule) for number in _numbers(algorithm))
    taken = None

    def all_steps(local, moment):
        nonlocal taken
        if taken is None or not fixed:
            taken = affine_steps(algorithm, moment)
        return local._replace(x=taken.models(local, algorithm.correction, moment))

    for number in range(first, first + rounds):
        state = one_round(algorithm, federation, state, draws, number, observers, everyone, all_steps)
        yield state


def _numbers(algorithm):
    return [algorithm.eta_l, *vars(algorithm.correction).values(), getattr(algorithm.server, "eta_g", 1.0)]


def affine_round(algorithm: Algorithm, federation, moment: Moment) -> RoundMap | None:
    """The whole round as one map, the same for every round; None where a round is more than that."""
    selection, server = algorithm.selection, algorithm.server
    plain = (
        _plain(algorithm, "server_step", "aggregate", "output") and algorithm.correction.keeps_nothing
        and type(algorithm.upload) is UploadFilter and type(server) in (ServerOptimiser, ServerStep)
        and type(selection.sampling) is EveryPriority and type(selection.matching) is PriorityOnly
    )
    if not plain or any(isinstance(number, Schedule) for number in _numbers(algorithm)):
        return None
    steps, xp = affine_steps(algorithm, moment), namespace(moment.x)
    weight = (federation.weights * federation.priority)[..., None]
    at_zero = federation.gradient(federation.all_clients(0 * moment.x[:1]))
    hessian = federation.curvature if isinstance(federation, Quadratic) else federation.hessians()
    eta_g = moment.server_number(getattr(server, "eta_g", 1.0))
    if steps.diagonal:
        matrix = eta_g * xp.sum(weight * steps.matrix * hessian, axis=1)
        return RoundMap(matrix, -eta_g * xp.sum(weight * steps.matrix * at_zero, axis=1), True)
    offset = -eta_g * xp.sum(weight * xp.matmul(steps.matrix, at_zero[..., None])[..., 0], axis=1)
    matrix = xp.sum(weight[..., None] * xp.matmul(steps.matrix, hessian), axis=1)
    return RoundMap((eta_g if not getattr(eta_g, "ndim", 0) else eta_g[..., None]) * matrix, offset, False)
