"""Exact first and second moments of methods whose rounds are affine, by propagation instead of enumeration.

On quadratics with additive noise, a round of a linear method maps everything that is kept between rounds (server's model,
control variates, duals, momenta) to ``A_S z + b_S + N_S xi``: S is who is sampled, xi the noise of all local steps. The
maps are read off the algorithm itself, by running one round from zero and from every unit vector. Then ::

    m' = sum_S p_S (A_S m + b_S)
    M' = sum_S p_S (A_S M A_S' + A_S m b_S' + b_S m' A_S' + b_S b_S' + N_S C N_S')

for the mean m and the second moment M = E z z'. The number of rounds does not enter the cost of a step, while enumeration
grows with its power; on exact fractions every number is exact.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from typing import Any

import numpy as np

from fedtheory.engine import one_round, starting_points
from fedtheory.moment import State
from fedtheory.selection import EveryPriority, PriorityOnly, WithoutReplacement, WithReplacement
from synthetic.base.noise import FiniteNoise, GaussianNoise, NoNoise
from synthetic.numbers.arrays import namespace, to_numpy
from synthetic.numbers.draws import CLIENTS, EnumeratedDraws
from synthetic.quadratic.quadratic import Quadratic

__all__ = ["Moments", "propagate"]

_TOLERANCE = 1e-9  # what floats may lose where a map is checked to be affine


@dataclass(frozen=True)
class Moments:
    """Moments of everything kept between rounds, before round 0 .. rounds.

    ``mean`` (rounds + 1, size), ``second`` E z z' (rounds + 1, size, size); ``places`` says where each array lies in z:
    ``x``, ``server_<name>`` or ``client_<name>`` -> (slice, shape of one run).
    """

    mean: Any
    second: Any
    places: dict[str, tuple[slice, tuple[int, ...]]]
    federation: Any

    def mean_of(self, name: str = "x"):
        """E of an array, (rounds + 1, *its shape)."""
        place, shape = self._place(name)
        return self.mean[:, place].reshape(-1, *shape)

    def second_of(self, name: str = "x"):
        """E a a' of an array a laid out flat, (rounds + 1, n, n)."""
        place, _ = self._place(name)
        return self.second[:, place, place]

    def distance_sq(self, point=None):
        """E|x_r - point|^2, (rounds + 1,); ``point`` (dim,), default the optimum."""
        point = self.federation.x_star[0] if point is None else self.federation.backend.array(point)
        return self._square(self.federation.backend.array(np.eye(self.federation.dim, dtype=int)), point)

    def suboptimality(self):
        """E F(x_r) - F*, (rounds + 1,)."""
        federation, xp = self.federation, namespace(self.mean)
        hessian = federation.curvature[0]
        if federation.diagonal:
            hessian = hessian[..., None] * federation.backend.array(np.eye(federation.dim, dtype=int))
        weights = (federation.weights * federation.priority)[0]
        return self._square(xp.sum(weights[:, None, None] * hessian, axis=0), federation.x_star[0]) / 2

    def _square(self, matrix, point):
        """E (x - point)' matrix (x - point)."""
        xp = namespace(self.mean)
        mean, second = self.mean_of("x"), self.second_of("x")
        cross = mean[:, :, None] * point[None, None, :]
        spread = second - cross - xp.permute_dims(cross, (0, 2, 1)) + point[:, None] * point[None, :]
        return xp.sum(xp.sum(spread * matrix, axis=-1), axis=-1)

    def _place(self, name):
        if name not in self.places:
            raise KeyError(f"unknown array {name!r}; kept: {', '.join(self.places)}")
        return self.places[name]


def propagate(algorithm, federation, rounds: int, start=None, steady: bool = False, most_samples: int = 5000) -> Moments:
    """Moments of the runs of a linear method on a quadratic federation, in the federation's arithmetic.

    Args:
        federation: one instance, with no noise or noise of known covariance that does not depend on the model.
        start: (dim,); default the federation's own.
        steady: the method is the same in every round, so its maps are read off once (rounds 0 and 1 are compared).

    Raises:
        ValueError: a federation or selection that this does not cover, a method that is not affine (the
            message says in what), more than ``most_samples`` outcomes of the sampling of clients.
    """
    if type(federation) is not Quadratic or federation.instances != 1:
        raise ValueError(f"needs one instance of a quadratic federation; got {federation.instances} of {federation.name}")
    if rounds < 0:
        raise ValueError(f"rounds must be at least 0; got {rounds}")
    backend, xp = federation.backend, namespace(federation.weights)
    state = algorithm.init(_prescribed(federation, 0), starting_points(federation, start, 1), _NoDraws({}, backend))
    layout = _Layout.of(state)
    z = layout.pack(state)[0]
    mean, second = [z], [z[:, None] * z[None, :]]
    covariance = _covariance(federation, algorithm.local_steps)
    chance = _sampling(algorithm.selection, federation, most_samples)
    maps = None
    for number in range(rounds):
        if maps is None or not steady or number == 1:
            read = _maps(algorithm, federation, state, layout, chance, number)
            if steady and maps is not None:
                _compare(maps, read, "the rounds 0 and 1 differ; do not say steady")
            maps = read
        m, M = mean[-1], second[-1]
        new_m, new_M = 0 * m, 0 * M
        for (_, odds), (A, b, N) in zip(chance, maps, strict=True):
            Am = xp.matmul(A, m[:, None])
            cross = xp.matmul(Am, b[None, :])
            noise = xp.matmul(xp.matmul(N, covariance), xp.permute_dims(N, (1, 0)))
            spread = xp.matmul(xp.matmul(A, M), xp.permute_dims(A, (1, 0)))
            new_m = new_m + odds * (Am[:, 0] + b)
            new_M = new_M + odds * (spread + cross + xp.permute_dims(cross, (1, 0)) + b[:, None] * b[None, :] + noise)
        mean.append(new_m)
        second.append(new_M)
    return Moments(xp.stack(mean), xp.stack(second), layout.places, federation)


class _NoDraws(EnumeratedDraws):
    """The start of a run must not depend on chance."""

    def bits(self, stream, *coordinates, ndim=1):
        raise ValueError("the method draws something before the first round; moments of such a start are not propagated")


@dataclass(frozen=True)
class _Layout:
    """Where the arrays of a state lie in one vector; what is not a real array is carried along."""

    like: State
    places: dict

    @classmethod
    def of(cls, state: State) -> _Layout:
        places, end = {}, 0
        for name, array in cls._arrays(state):
            shape = tuple(array.shape[1:])
            places[name] = (slice(end, end + prod(shape)), shape)
            end += prod(shape)
        return cls(state, places)

    @staticmethod
    def _arrays(state: State):
        yield "x", state.x
        for owner, arrays in (("server", state.server), ("client", state.clients)):
            for name, array in sorted(arrays.items()):
                if hasattr(array, "dtype") and ("float" in str(array.dtype) or array.dtype == object):
                    yield f"{owner}_{name}", array

    def pack(self, state: State):
        """The state as (runs, size)."""
        xp = namespace(state.x)
        runs = state.x.shape[0]
        rows = [xp.broadcast_to(a, (runs, *a.shape[1:])).reshape(runs, -1) for _, a in self._arrays(state)]
        return xp.concat(rows, axis=1)

    def unpack(self, z) -> State:
        """The state whose arrays are (runs, size) ``z``."""
        found = {name: z[:, place].reshape(-1, *shape) for name, (place, shape) in self.places.items()}
        server = self.like.server | {n.removeprefix("server_"): a for n, a in found.items() if n.startswith("server_")}
        clients = self.like.clients | {n.removeprefix("client_"): a for n, a in found.items() if n.startswith("client_")}
        return self.like._replace(x=found["x"], server=server, clients=clients)


@dataclass(frozen=True)
class _Prescribed:
    """Gradient noise that is given: ``values`` (runs, local steps, clients, dim) of one round, which begins at ``first``."""

    values: Any
    first: int
    outcomes = None
    bound = float("inf")
    variance = float("inf")

    def sample(self, draws, iteration, like, clients=None):
        step = iteration - self.first
        if not 0 <= step < self.values.shape[1]:
            raise ValueError("the method takes gradients outside its local steps; their moments are not propagated")
        return self.values[:, step]

    def repeat(self, times):
        return self


def _prescribed(federation, first: int, values=None):
    """The federation with the given noise, none of which may be asked for where ``values`` is None; without noise, as it is.
    """
    if isinstance(federation.noise, NoNoise):
        return federation
    given = copy(federation)
    given.noise = _Prescribed(np.zeros((1, 0)) if values is None else values, first)
    return given


def _maps(algorithm, federation, state, layout: _Layout, chance, number: int):
    """(A, b, N) of a round for every outcome of sampling."""
    backend, xp = federation.backend, namespace(federation.weights)
    size, steps = layout.pack(state).shape[1], algorithm.local_steps
    noises = steps * federation.clients * federation.dim
    probes = np.zeros((1 + size + noises + 2, size + noises), dtype=object)
    probes[1:-2] = np.eye(size + noises, dtype=int)
    numbers = [Fraction(n % 7 - 3, 1 + n % 3) for n in range(size + noises)]  # two further points: is it affine?
    probes[-2], probes[-1] = numbers, numbers[::-1]
    rows = backend.array(probes)
    values = rows[:, size:].reshape(-1, steps, federation.clients, federation.dim)
    noisy, found = _prescribed(federation, number * steps, values), []
    for drawn, _ in chance:
        table = np.broadcast_to(np.array(drawn, dtype=np.int64), (len(probes), number + 1, len(drawn)))
        draws = EnumeratedDraws({CLIENTS: table} if drawn else {}, backend)
        if not drawn:
            draws = EnumeratedDraws({CLIENTS: np.zeros((len(probes), 1, 1), dtype=np.int64)}, backend)
        after = layout.pack(one_round(algorithm, noisy, layout.unpack(rows[:, :size]), draws, number))
        b, columns = after[0], xp.permute_dims(after[1:-2] - after[:1], (1, 0))
        for row, got in zip(rows[-2:], after[-2:], strict=True):
            _same(xp.matmul(columns, row[:, None])[:, 0] + b, got, "the method is not affine on quadratics")
        found.append((columns[:, :size], b, columns[:, size:]))
    return found


def _compare(old, new, message):
    for one, other in zip(old, new, strict=True):
        for a, b in zip(one, other, strict=True):
            _same(a, b, message)


def _same(a, b, message):
    a, b = to_numpy(a), to_numpy(b)
    exact = a.dtype == object
    if (a != b).any() if exact else (abs(a - b) > _TOLERANCE * (1 + abs(a) + abs(b))).any():
        raise ValueError(message)


def _sampling(selection, federation, most: int):
    """Who is drawn in a round, and the chances of that; nothing drawn under full participation."""
    one = federation.backend.array(np.array([1], dtype=object))[0]
    sampling, priority = selection.sampling, to_numpy(federation.priority)[0]
    members = np.flatnonzero(priority)
    if type(selection.matching) is not PriorityOnly:
        raise ValueError(f"who takes part may depend on the models; got {type(selection.matching).__name__}")
    if type(sampling) is EveryPriority:
        return [((), one)]
    count = sampling.participants if isinstance(sampling, WithReplacement | WithoutReplacement) else 0
    outcomes = len(members) ** count if isinstance(sampling, WithReplacement) else comb(len(members), count)
    if not 0 < outcomes <= most:
        raise ValueError(f"sampling must have between 1 and {most} outcomes; got {type(sampling).__name__} with {outcomes}")
    if isinstance(sampling, WithReplacement):
        p = federation.weights[0]
        return [(drawn, prod([p[int(k)] for k in drawn], start=one)) for drawn in product(members.tolist(), repeat=count)]
    if sampling.held != 1:
        raise ValueError(f"clients must be drawn anew in every round; got held={sampling.held}")
    return [(drawn, one / outcomes) for drawn in combinations(members.tolist(), count)]


def _covariance(federation, steps: int):
    """Covariance of the noise of all local steps of one round, (steps * clients * dim) squared."""
    law, dim, clients = federation.noise, federation.dim, federation.clients
    backend, xp = federation.backend, namespace(federation.weights)
    identity = backend.array(np.eye(dim, dtype=int))
    if isinstance(law, NoNoise):
        blocks = [0 * identity] * clients
    elif isinstance(law, FiniteNoise):
        atoms = xp.broadcast_to(law.atoms, (1, clients, *law.atoms.shape[2:]))[0]
        blocks = [xp.matmul(xp.permute_dims(a, (1, 0)) * law.probabilities[None, :], a) for a in atoms]
    elif isinstance(law, GaussianNoise):
        scale = xp.broadcast_to(law.scale, (1, clients))[0]
        blocks = [s**2 / dim * identity for s in scale]
    else:
        raise ValueError(f"the covariance of {type(law).__name__} is not known")
    total = backend.array(np.zeros((steps * clients * dim,) * 2, dtype=int))
    for number in range(steps * clients):
        here = slice(number * dim, (number + 1) * dim)
        total[here, here] = blocks[number % clients]
    return total
