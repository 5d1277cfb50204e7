"""Finds what a method draws at random by itself, by tracing one round of it."""

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bounds.language.claim import Procedure, Variable, length_of
from fedtheory import find_algorithm
from fedtheory.engine import one_round, starting_points
from synthetic.base.noise import FiniteNoise
from synthetic.numbers.arrays import NUMPY
from synthetic.numbers.draws import COMMUNICATION, DROPOUT, LAYERS, LOST, MUTATION, NOISE, QUANTISER, TRACKERS, Draws
from synthetic.quadratic.quadratic import Quadratic
from verify.claims.method import algorithm_of, free_starts, own_arguments, selection_of

__all__ = ["NOTHING_MORE", "Chance", "chance_of"]


@dataclass(frozen=True)
class Chance:
    """The draws of a method besides the gradients of local steps and the sampled clients: gradients before the first round
    (``start``), one outside the local steps in each round (``extra``), layers, and participants that renew what they track
    (``trackers``). ``subset``: the size, if claims leave it open, that says how many of these there are. ``tosses``: streams
    of what every participant tosses by itself. ``alone``: times of a client's gradients before the first round. ``coin``:
    whether one coin for all decides if a round communicates."""

    start: bool = False
    extra: bool = False
    layers: bool = False
    trackers: bool = False
    subset: str = ""
    tosses: tuple[int, ...] = ()
    alone: tuple[int, ...] = ()
    coin: bool = False

    @property
    def beyond_gradients(self) -> bool:
        """Whether it draws anything besides gradients."""
        return self.layers or self.trackers or bool(self.tosses) or self.coin

    def gradients(self, iterations: int, rounds: int) -> int:
        """The number of stochastic gradients that every client takes."""
        return iterations + self.start + self.extra * rounds + len(self.alone)


#: streams of tosses
TOSSED = {DROPOUT, LOST, MUTATION, QUANTISER}
#: what most methods draw besides
NOTHING_MORE = Chance()


class _Listening(Draws):
    """Draws that record what is asked for and answer the first outcome."""

    def __init__(self):
        super().__init__([0], NUMPY)
        self.asked = set()

    def _note(self, stream, time):
        self.asked.add((stream, min(time, 0)))

    def category(self, stream, cumulative, time, keys):
        self._note(stream, time)
        return np.zeros((1, np.shape(keys)[-1]), dtype=np.int64)

    def subset(self, stream, time, population, size):
        self._note(stream, time)
        return np.arange(size)[None]

    def subset_of(self, stream, time, numbers, member, size):
        self._note(stream, time)
        return member & (np.cumsum(member, axis=-1) <= size)

    def order(self, stream, time, weights):
        self._note(stream, time)
        return np.arange(weights.shape[-1])[None]

    def bernoulli(self, stream, probability, time, keys, size):
        if hasattr(probability, "shape") or probability != 0:
            self._note(stream, time)
        return np.zeros((1, np.shape(keys)[-1], size), dtype=bool)

    def uniform(self, stream, *coordinates, ndim=1):
        self._note(stream, coordinates[0])
        return super().uniform(stream, *coordinates, ndim=ndim)


@lru_cache(maxsize=1024)
def chance_of(procedure: Procedure | None, variables: tuple[Variable, ...] = ()) -> Chance:
    """Find the draws of the procedure's method; ``variables`` may be hyper-parameters of the method."""
    if procedure is None:
        return NOTHING_MORE
    noise = FiniteNoise(np.array([[[[1.0, 1.0], [-1.0, -1.0]]] * 2]), np.array([0.5, 0.5]))
    federation = Quadratic(np.ones((1, 2, 2)), np.array([[[1.0, 0.0], [0.0, 1.0]]]), noise=noise, backend=NUMPY, layers=2)
    names = own_arguments(procedure)
    sizes = defaultdict(lambda: 1, layers=2, clients=2)
    own = {v.name: max(v.low, 1) if v.domain == "integer" and not v.indices
           else np.zeros([length_of(size, sizes) for _, size in v.indices])
           for v in variables if v.name in names and (v.indices or v.domain == "integer")}
    arguments = find_algorithm(procedure.base).arguments
    zero = {name for name in names if arguments.get(name) == 0.0} - own.keys()
    own |= {v.name: 0.5 for v in variables if v.name in zero and v.domain in ("positive", "nonnegative")}  # as it is open
    own |= {name: np.zeros((1, *[2] * each, 2)) for name, each in free_starts(procedure).items()}
    draws = _Listening()
    try:
        algorithm = algorithm_of(procedure, 0.1, 1, selection_of(procedure, 1), own)
        state = algorithm.init(federation, starting_points(federation, None, 1), draws)
        one_round(algorithm, federation, state, draws, 0)
    except (ValueError, LookupError, NotImplementedError, ArithmeticError, TypeError):
        draws = _Listening()  # whoever runs it learns why
    streams = {stream for stream, _ in draws.asked}
    alone = sorted((time for stream, time in draws.asked if stream == NOISE and time < -2), reverse=True)
    return Chance((NOISE, -1) in draws.asked, (NOISE, -2) in draws.asked, LAYERS in streams, TRACKERS in streams,
                  find_algorithm(procedure.base).traits.subset, tuple(sorted(streams & TOSSED)), tuple(alone),
                  COMMUNICATION in streams)
