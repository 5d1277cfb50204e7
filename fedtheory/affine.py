"""The fast path on quadratics: the local steps of a round as one affine map per client.

With plain gradient steps on F_k(v) = 1/2 v^T A_k v - <b_k, v> + const, corrected by a shift s_k that is fixed within a
round and by a pull rho to the broadcast model x, the local steps end at ::

    x_k = x - Q_k (grad F_k(x) + s_k),    Q_k = sum_j eta_j prod_{i > j} (I - eta_i (A_k + rho_i I))

If clients keep no arrays and all of them take part, the whole round is one affine map of x.
"""

from collections import OrderedDict
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.engine import fixed_participation
from fedtheory.fused import map_rounds
from fedtheory.parts import ServerOptimiser, UploadFilter
from fedtheory.plain import is_own, own_numbers, why_not_plain
from fedtheory.round_context import RoundContext, State
from fedtheory.schedules import Schedule
from synthetic.base.noise import NoNoise
from synthetic.data.least_squares import LeastSquares
from synthetic.numbers.arrays import namespace, take_clients, to_numpy
from synthetic.quadratic.quadratic import Quadratic

__all__ = ["RoundMap", "affine_local_steps", "affine_round", "affine_steps", "mapped_rounds", "why_not_affine"]


def why_not_affine(algorithm: Algorithm, federation) -> str | None:
    """The reason, in words, why the local steps are no affine map; None if they are."""
    if reason := why_not_plain(algorithm):
        return reason
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

    def models(self, local, correction, context: RoundContext):
        """The local models at the end of the round, (runs, participants, dim)."""
        shift = correction.shift(local, context)
        slope = context.federation.gradient(local.x, context.clients)
        slope = slope if shift is None else slope + shift
        matrix = take_clients(self.matrix, context.clients)
        if self.diagonal:
            return local.x - matrix * slope
        return local.x - namespace(slope).matmul(matrix, slope[..., None])[..., 0]


def affine_steps(algorithm: Algorithm, context: RoundContext) -> AffineSteps:
    """Q_k for the round of ``context``; the algorithm must be affine there (:func:`why_not_affine`)."""
    federation, steps = context.federation, algorithm.local_steps
    hessian = federation.curvature if isinstance(federation, Quadratic) else federation.hessians()
    diagonal, xp = hessian.ndim == 3, namespace(hessian)
    one = 0 * hessian + (1 if diagonal else federation.backend.array(np.eye(federation.dim)))
    rest, total = one, 0 * one
    for j in reversed(range(steps)):  # rest is the product over the later steps
        now = context._replace(iteration=context.round * steps + j)
        eta, pull = (
            n if diagonal or not getattr(n, "ndim", 0) else n[..., None]
            for n in (algorithm.step_size(now), algorithm.correction.pull(now)))
        here = hessian if pull is None else hessian + pull * one
        total = total + eta * rest
        rest = rest - eta * (rest * here if diagonal else xp.matmul(rest, here))
    return AffineSteps(total, diagonal)


class RoundMap(NamedTuple):
    """A round as one map of the model: ``x <- x - matrix x + offset``; (1 | instances, dim[, dim]) and (..., dim)."""

    matrix: object
    offset: object
    diagonal: bool

    def models(self, x, rounds: int):
        """The models after each of ``rounds`` rounds from ``x`` (runs, dim), a list of (runs, dim).

        Runs are computed one by one, so that results do not depend on the batch.
        """
        if not self.diagonal and (models := map_rounds(self.matrix, self.offset, x, rounds)) is not None:
            return list(models)
        xp, found = namespace(x), []
        for _ in range(rounds):
            step = self.matrix * x if self.diagonal else xp.sum(self.matrix * x[:, None, :], axis=-1)
            x = x - step + self.offset
            found.append(x)
        return found


def affine_local_steps(algorithm):
    """A function that takes all local steps of a round at once, for :func:`fedtheory.engine.rounds_of`."""
    fixed = not any(isinstance(number, Schedule) for number in own_numbers(algorithm))
    taken = None

    def all_steps(local, context):
        nonlocal taken
        if taken is None or not fixed:
            taken = affine_steps(algorithm, context)
        return local._replace(x=taken.models(local, algorithm.correction, context))

    return all_steps


def mapped_rounds(whole: RoundMap, context: RoundContext, rounds: int, observers=()):
    """The states after each of ``rounds`` rounds of the map ``whole``, from the state of ``context``.

    Observers see the beginning and the end of every round, and no local models.
    """
    same = fixed_participation(context.algorithm, context.federation, context.state, context.draws) if observers else None
    state = context.state
    for number, x in enumerate(whole.models(context.x, rounds), start=context.round):
        yield (state := _notify_observers(context, number, state, State(x), observers, same))


def mapped_round(whole: RoundMap, context: RoundContext, number, state: State, observers=(), participation=None) -> State:
    """The state after the round ``number`` from the ``state`` before it, as :func:`mapped_rounds`."""
    return _notify_observers(context, number, state, State(whole.models(state.x, 1)[0]), observers, participation)


def _notify_observers(context, number, before: State, after: State, observers, participation) -> State:
    """Shows the round ``number`` to the observers; returns the state ``after`` it."""
    steps = context.algorithm.local_steps
    now = context._replace(round=number, iteration=number * steps, x=before.x, state=before, participation=participation)
    for observer in observers:
        observer.start_of_round(now, participation)
        observer.end_of_round(now._replace(iteration=now.iteration + steps - 1), participation, None, after)
    return after


def affine_round(algorithm: Algorithm, federation, context: RoundContext) -> RoundMap | None:
    """The whole round as one map, the same for every round; None if the method has no such map.

    The last maps are cached with the federation, for further runs of the same method.
    """
    selection, server = algorithm.selection, algorithm.server
    plain = (
        is_own(algorithm, "init", "client_final", "server_step", "aggregate", "output")
        and algorithm.correction.keeps_nothing
        and type(algorithm.upload) is UploadFilter and type(server) in (ServerOptimiser, ServerStep)
        and selection.fixed
    )
    if not plain or any(isinstance(number, Schedule) for number in own_numbers(algorithm)):
        return None
    numbers = (algorithm.step_size(context), algorithm.correction.pull(context),
               context.server_number(getattr(server, "eta_g", 1.0)))
    parts = (*numbers, federation.weights, federation.priority)
    key = (algorithm.local_steps, *(_comparable(part) for part in parts), *(_identity(a) for a in _data(federation)))
    kept = _KEPT.setdefault(federation, OrderedDict())
    if key not in kept:
        found = _thin_map(algorithm, federation, *numbers) or _any_map(algorithm, federation, context, numbers[2])
        kept[key] = found, _data(federation)  # keeping the arrays keeps their ids unique
        if len(kept) > 4:
            kept.popitem(last=False)
    return kept[key][0]


_KEPT: WeakKeyDictionary = WeakKeyDictionary()


def forget(federation) -> None:
    """Lets go of the maps that are kept for a federation."""
    _KEPT.pop(federation, None)


def _comparable(number):
    """A number, or the shape and bytes of an array."""
    return (tuple(number.shape), to_numpy(number).tobytes()) if hasattr(number, "shape") else number


def _data(federation):
    return [federation.curvature, federation.center] if isinstance(federation, Quadratic) else [
        federation.features, federation.targets, federation.share]


def _identity(array):
    """A key that changes if an array is replaced, or (torch only) written to."""
    return id(array), getattr(array, "_version", None)


def _any_map(algorithm, federation, context, eta_g) -> RoundMap:
    steps, xp = affine_steps(algorithm, context), namespace(context.x)
    weight = (federation.weights * federation.priority)[..., None]
    at_zero = federation.gradient(federation.all_clients(0 * context.x[:1]))
    hessian = federation.curvature if isinstance(federation, Quadratic) else federation.hessians()
    if steps.diagonal:
        matrix = eta_g * xp.sum(weight * steps.matrix * hessian, axis=1)
        return RoundMap(matrix, -eta_g * xp.sum(weight * steps.matrix * at_zero, axis=1), True)
    offset = -eta_g * xp.sum(weight * xp.matmul(steps.matrix, at_zero[..., None])[..., 0], axis=1)
    matrix = xp.sum(weight[..., None] * xp.matmul(steps.matrix, hessian), axis=1)
    return RoundMap((eta_g if not getattr(eta_g, "ndim", 0) else eta_g[..., None]) * matrix, offset, False)


def _thin_map(algorithm: Algorithm, federation: Any, eta: Any, pull: Any, eta_g: Any) -> RoundMap | None:
    """The map if clients have fewer samples than coordinates, and no ridge; else None.

    With A_k A_k^T / n_k = U diag(l) U^T, Q_k A_k^T = A_k^T U diag(q) U^T for q = sum_j eta (1 - eta (l + rho))^j, so that
    no dim x dim matrix per client is needed.
    """
    if not isinstance(federation, LeastSquares) or federation.ridge or federation.instances > 1:
        return None
    weights: Any = federation.weights
    if federation.features.shape[2] >= federation.dim:
        return None
    values, rows, right = _thin_parts(federation)
    xp, many = namespace(values), [n for n in (eta, pull, eta_g) if getattr(n, "ndim", 0)]
    pull = 0.0 if pull is None else pull
    eta, pull = (n.reshape(-1, 1, 1) if getattr(n, "ndim", 0) else n for n in (eta, pull))
    ratio: Any = 1 - eta * (values + pull)
    q: Any = 0 * values
    for _ in range(algorithm.local_steps):
        q = eta + ratio * q
    shares: Any = (weights * federation.priority)[..., None]
    q = shares * q
    flat = rows.reshape(-1, federation.dim)
    eta_g = eta_g.reshape(-1, 1) if getattr(eta_g, "ndim", 0) else eta_g
    matrices = [xp.matmul((one.reshape(-1, 1) * flat).T, flat) for one in q]
    offset = eta_g * xp.matmul((q * right).reshape(q.shape[0], -1), flat)
    matrix = (eta_g[..., None] if getattr(eta_g, "ndim", 0) else eta_g) * xp.stack(matrices)
    runs = max((n.reshape(-1).shape[0] for n in many), default=1)
    matrix, offset = (xp.broadcast_to(a, (runs, *a.shape[1:])) if runs > 1 else a for a in (matrix, offset))
    return RoundMap(matrix, offset, False)


def _thin_parts(federation) -> tuple[Any, Any, Any]:
    """Eigenvalues l (1, clients, samples), U^T A / sqrt(n) (1, clients, samples, dim) and U^T b / sqrt(n) of all clients."""
    kept, key = _KEPT.setdefault(federation, OrderedDict()), tuple(_identity(a) for a in _data(federation))
    if key not in kept:
        xp, root = namespace(federation.features), federation.share**0.5
        rows = federation.features * root[..., None]
        values, vectors = xp.linalg.eigh(xp.matmul(rows, rows.swapaxes(2, 3)))
        across = vectors.swapaxes(2, 3)
        right = xp.matmul(across, federation.targets * root[..., None])[..., 0]
        kept[key] = (values, xp.matmul(across, rows), right), _data(federation)
    kept.move_to_end(key)
    return kept[key][0]
