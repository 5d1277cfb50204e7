"""Random draws that depend on a run's own seed only.

Every draw is a pure function of (seed, stream, coordinates): the SplitMix64 finaliser (Steele, Lea, Flood 2014)
applied along the coordinates. A run therefore has the same draws alone, in any batch, in any order, after a resume,
on NumPy and on torch. :class:`EnumeratedDraws` reads draws from a table of outcomes, for exact expectations.
"""

import math
from typing import Any

import numpy as np

from synthetic.numbers.arrays import TORCH, Backend, namespace, numbers_to, waits
from synthetic.numbers.rounds import ByRound

__all__ = [
    "CLIENTS", "COMMUNICATION", "DROPOUT", "FREE", "LAYERS", "LOST", "MUTATION", "NOISE", "PROBLEM", "QUANTISER", "SAMPLES",
    "STEPS", "TRACKERS", "Draws", "EnumeratedDraws", "probability_of_order",
]

NOISE, SAMPLES, CLIENTS, FREE, PROBLEM = 1, 2, 3, 4, 5  # one number per purpose, so that purposes never share a draw
TRACKERS, STEPS, LAYERS, QUANTISER, DROPOUT, LOST, MUTATION, COMMUNICATION = range(6, 14)


_TIMES, _AHEAD = 16, 2**12  #: at most so many times, and numbers, are drawn at once


#: what methods draw by themselves
OWN = {TRACKERS: "the clients that renew what they track", STEPS: "random numbers of local steps",
       LAYERS: "random layers", QUANTISER: "the roundings of uploads", DROPOUT: "the parameters that are dropped",
       LOST: "the uploads that are lost", MUTATION: "the signs of mutated models",
       COMMUNICATION: "the rounds that communicate"}


def _signed(constant: int) -> int:
    return constant - (1 << 64) if constant >= 1 << 63 else constant


_GAMMA = _signed(0x9E3779B97F4A7C15)
_MIX_1 = _signed(0xBF58476D1CE4E5B9)
_MIX_2 = _signed(0x94D049BB133111EB)


def _shift(z, bits: int):
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def _mix(z):
    z = (z ^ _shift(z, 30)) * _MIX_1
    z = (z ^ _shift(z, 27)) * _MIX_2
    return z ^ _shift(z, 31)


class Draws:
    """Random draws for a batch of runs.

    ``seeds`` is (runs,) integers. Coordinates are integers or integer arrays that broadcast against
    ``(runs, 1, ..., 1)``; the result has the broadcast shape. Runs of one seed share their draws, which are computed once.
    """

    def __init__(self, seeds, backend: Backend = TORCH):
        self.backend = backend
        self.integer_backend = backend if backend.library == "torch" else Backend("numpy")
        seeds = np.atleast_1d(np.asarray(seeds, dtype=np.int64))
        self.seeds = self.integer_backend.integers(seeds)
        self._few = None
        self._begun: dict[int, Any] = {}
        self._ahead: dict[tuple[int, int], tuple] = {}
        if len(seeds) > 1 and type(self) is Draws:
            few, first, place = np.unique(seeds, return_index=True, return_inverse=True)
            if len(few) < len(seeds):
                self._few = Draws(few, backend), *map(self.integer_backend.integers, (first, place))

    def _alike(self, coordinates, ndim: int):
        """The draws of each seed once, the coordinates there, and the place of each run among these seeds; None where runs
        of the same seed have coordinates of their own, or no two runs have the same seed."""
        if self._few is None:
            return None
        few, first, place = self._few
        own = [getattr(coordinate, "ndim", 0) == ndim and coordinate.shape[0] > 1 for coordinate in coordinates]
        if any(own) and waits(self.seeds):
            return None
        chosen = [one[first] if of_runs else one for one, of_runs in zip(coordinates, own, strict=True)]
        for one, here, of_runs in zip(coordinates, chosen, own, strict=True):
            if of_runs and not bool((here[place] == one).all()):
                return None
        return few, chosen, place

    @property
    def runs(self) -> int:
        return self.seeds.shape[0]

    def bits(self, stream: int, *coordinates, ndim: int = 1):
        """64 random bits per coordinate tuple, as int64, with ``ndim`` axes; the first axis is the run."""
        with np.errstate(over="ignore"):
            if stream not in self._begun:
                self._begun[stream] = _mix(self.seeds * _GAMMA + _signed((stream * 0xD1342543DE82EF95) % (1 << 64)))
            z = self._begun[stream].reshape((-1,) + (1,) * (ndim - 1))
            for coordinate in coordinates:
                coordinate = coordinate.now() if isinstance(coordinate, ByRound) else coordinate
                z = _mix(z + (coordinate + 1) * _GAMMA if not isinstance(coordinate, int) else
                         z + _signed(((coordinate + 1) * 0x9E3779B97F4A7C15) % (1 << 64)))
        return z

    def uniform(self, stream: int, *coordinates, ndim: int = 1):
        """Uniform numbers in the open interval (0, 1), float64."""
        if (alike := self._alike(coordinates, ndim)) is not None:
            few, coordinates, place = alike
            return few.uniform(stream, *coordinates, ndim=ndim)[place]
        z = _shift(self.bits(stream, *coordinates, ndim=ndim), 12)
        as_float = z.double() if hasattr(z, "double") else z.astype(np.float64)
        return (as_float + 0.5) * 2.0**-52

    def of_each(self, stream: int, time: int, population: int):
        """Uniform numbers (runs, population) of the clients or layers ``0 .. population-1`` at a time from 0, as
        :meth:`uniform`. Where they are few, those of the times that follow are drawn at once."""
        together = min(_TIMES, _AHEAD // max(1, self.runs * population))
        if together < 2 or not isinstance(time, int) or time < 0 or waits(self.seeds):
            return self.uniform(stream, time, self.client_numbers(population), ndim=2)
        first, drawn = self._ahead.get((stream, population), (time + 1, None))
        if not first <= time < first + together:
            times = numbers_to(together, self.integer_backend)[None, :, None] + time
            first, drawn = time, self.uniform(stream, times, self.client_numbers(population)[:, None], ndim=3)
            self._ahead[stream, population] = first, drawn
        return drawn[:, time - first]

    def normal(self, stream: int, *coordinates, ndim: int = 1):
        """Standard normal numbers (Box-Muller on two independent uniforms)."""
        if (alike := self._alike(coordinates, ndim)) is not None:
            few, coordinates, place = alike
            return few.normal(stream, *coordinates, ndim=ndim)[place]
        radius = self.uniform(stream, *coordinates, 0, ndim=ndim)
        angle = self.uniform(stream, *coordinates, 1, ndim=ndim)
        xp = namespace(radius)
        return xp.sqrt(-2.0 * xp.log(radius)) * xp.cos(2.0 * math.pi * angle)

    def category(self, stream: int, cumulative, time: int, keys):
        """Index of an outcome, (runs, keys).

        ``cumulative`` (runs | 1, keys | 1, outcomes) are the cumulative probabilities; ``keys`` (runs | 1, keys) are
        the numbers (of clients, or of sampling slots) that tell the draws apart.
        """
        u = self.uniform(stream, time, keys, ndim=2)
        xp = namespace(u)
        index = xp.sum(xp.astype(u[..., None] >= cumulative, xp.int64), axis=-1)
        return xp.clip(index, max=cumulative.shape[-1] - 1)

    def integer(self, stream: int, population, time: int, keys):
        """Uniform integers from 0 to ``population - 1``, (runs, keys), with replacement.

        ``population`` (runs | 1, keys | 1) are integers of at least 1; ``keys`` as in :meth:`category`.
        """
        u = self.uniform(stream, time, keys, ndim=2)
        xp = namespace(u)
        return xp.minimum(xp.astype(xp.floor(u * population), xp.int64), population - 1)

    def subset(self, stream: int, time: int, population: int, size: int):
        """``size`` distinct numbers out of ``population``, uniformly, as (runs, size)."""
        u = self.of_each(stream, time, population)
        xp = namespace(u)
        return xp.argsort(u, axis=-1)[:, :size]

    def subset_of(self, stream: int, time: int, numbers, member, size: int):
        """Truth values (runs, numbers): ``size`` of the members, drawn uniformly, or all of them where there are fewer.

        ``numbers`` (runs | 1, numbers) are client numbers. The draw of a client does not depend on the other members.
        """
        u = self.uniform(stream, time, numbers, ndim=2)
        xp = namespace(u)
        rank = xp.argsort(xp.argsort(xp.where(member, u, 2.0), axis=-1), axis=-1)
        return (rank < size) & member

    def order(self, stream: int, time: int, weights):
        """Places (runs, items), from 0, that items take in successive draws without replacement.

        Each draw takes one of the remaining items with probability proportional to ``weights`` (runs | 1, items), floats
        of at least 0; items of weight zero come last, in uniformly random order.
        """
        u = self.of_each(stream, time, weights.shape[-1])
        xp, drawn = namespace(u), weights > 0
        arrival = xp.log(-xp.log(u)) - xp.log(xp.where(drawn, weights, 1.0))  # exponential race, on the log scale
        return xp.argsort(xp.argsort(xp.where(drawn, arrival, arrival + 1e6), axis=-1), axis=-1)

    def bernoulli(self, stream: int, probability, time: int, keys, size: int):
        """Truth values (runs, keys, size), each true with its ``probability``, which broadcasts to that shape."""
        return self.uniform(stream, time, keys[..., None], self.client_numbers(size)[None], ndim=3) < probability

    def client_numbers(self, population: int):
        """``0 .. population-1`` as an integer array (1, population) of this backend."""
        return numbers_to(population, self.integer_backend)[None, :]

    def numbers_of(self, clients, population: int):
        """The client numbers ``clients``, or all of them, ``0 .. population-1``, if None."""
        return self.client_numbers(population) if clients is None else clients


def probability_of_order(places, weights):
    """Probability (runs,) that :meth:`Draws.order` returns ``places`` (runs, items) for ``weights`` (runs | 1, items).

    Example:
        >>> probability_of_order(np.array([[0, 1], [1, 0]]), np.array([[1.0, 3.0]])).tolist()
        [0.25, 0.75]
    """
    xp, items = namespace(weights), places.shape[-1]
    left = xp.broadcast_to(weights, tuple(places.shape))
    total = 0 * left[:, 0] + 1
    for place in range(items):
        taken = places == place
        sum_left, own = xp.sum(left, axis=-1), xp.sum(xp.where(taken, left, 0 * left), axis=-1)
        by_weight = sum_left > 0
        share = xp.where(by_weight, own, 0 * own + 1) / xp.where(by_weight, sum_left, 0 * own + (items - place))
        total, left = total * share, xp.where(taken, 0 * left, left)
    return total


class EnumeratedDraws(Draws):
    """Draws read from a table, one outcome per run, for exact enumeration.

    ``tables`` maps a stream to integers: for :meth:`category` and :meth:`integer` an array (runs, times, keys) of
    outcome numbers; for :meth:`subset` an array (runs, times, size) of the members; for :meth:`order` the places
    (runs, times, items); for :meth:`bernoulli` truth values (runs, times, keys, size), negative where nobody asks; for
    :meth:`uniform` whole numbers (runs, times, ...) in the same order.

    ``outside`` are the negative times (gradients outside the local steps) that the tables hold, at their ends, the largest
    last. How probable an order or a truth value is depends on the run: ``order_probability`` (runs,) is the product over all
    that were requested so far, None before the first.
    """

    def __init__(self, tables: dict, backend: Backend = TORCH, outside: frozenset[int] = frozenset()):
        runs = next(iter(tables.values())).shape[0] if tables else 1
        super().__init__(np.zeros(runs, dtype=np.int64), backend)
        self.tables = {stream: self.integer_backend.integers(table) for stream, table in tables.items()}
        self.outside, self.order_probability, self._counted = outside, None, set()

    def _table(self, stream: int):
        if stream not in self.tables and stream in OWN:
            raise NotImplementedError(f"means over {OWN[stream]} are not enumerated here")
        if stream not in self.tables:
            raise KeyError(f"no outcomes were enumerated for stream {stream}; given: {sorted(self.tables)}")
        return self.tables[stream]

    def bits(self, stream: int, *coordinates, ndim: int = 1):
        raise NotImplementedError("this law has no finite support, so its expectation cannot be enumerated")

    def uniform(self, stream, *coordinates, ndim=1):
        if stream not in self.tables and stream not in OWN:
            return super().uniform(stream, *coordinates, ndim=ndim)
        time, *places = coordinates
        row = self._table(stream)[:, time]
        runs = self.client_numbers(row.shape[0]).reshape(-1, *(1,) * (ndim - 1))
        return row[(runs, *places)] * 1.0

    def place(self, time: int) -> int:
        """The position of a time in the tables."""
        if time >= 0:
            return time
        if time not in self.outside:
            raise KeyError(f"no outcomes were enumerated for gradients outside the local steps (time {time})")
        return -1 - sum(other > time for other in self.outside)

    def _weigh(self, stream, time, probability):
        """Count the probability of a draw, once however often it is asked for."""
        if (stream, time) not in self._counted:
            before = self.order_probability
            self.order_probability = probability if before is None else before * probability
            self._counted.add((stream, time))

    def category(self, stream, cumulative, time, keys):
        row = self._table(stream)[:, self.place(time)]
        return namespace(row).take_along_axis(row, keys + 0 * row[:, :1], axis=1)

    def integer(self, stream, population, time, keys):
        return self.category(stream, None, time, keys)

    def subset(self, stream, time, population, size):
        return self._table(stream)[:, time, :size]

    def subset_of(self, stream, time, numbers, member, size):
        drawn = self._table(stream)[:, time, :size]
        return namespace(drawn).any(drawn[:, :, None] == numbers[:, None, :], axis=1) & member

    def order(self, stream, time, weights):
        places = self._table(stream)[:, time]
        self._weigh(stream, time, probability_of_order(places, self.backend.array(weights)))
        return places

    def bernoulli(self, stream, probability, time, keys, size):
        if stream not in self.tables and not hasattr(probability, "shape") and probability == 0:
            return self.client_numbers(size)[None] < 0 * keys[..., None]
        row = self._table(stream)[:, self.place(time)]
        runs = self.client_numbers(row.shape[0])[0][:, None]
        drawn = row[runs, keys + 0 * runs]
        xp, chance = namespace(drawn), probability + self.backend.array(np.zeros((1, 1, 1)))
        chances = xp.where(drawn == 1, chance, xp.where(drawn == 0, 1 - chance, 0 * chance + 1))
        chances = chances.reshape(chances.shape[0], -1)
        self._weigh(stream, time, math.prod(chances[:, each] for each in range(chances.shape[1])))
        return drawn == 1
