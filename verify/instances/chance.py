"""What a method draws at random by itself, found by listening to one round of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bounds.language.claim import Procedure, Variable
from fedtheory import find_algorithm
from fedtheory.engine import one_round, starting_points
from synthetic.base.noise import FiniteNoise
from synthetic.numbers.arrays import NUMPY
from synthetic.numbers.draws import LAYERS, NOISE, TRACKERS, Draws
from synthetic.quadratic.quadratic import Quadratic
from verify.claims.method import algorithm_of, free_starts, own_arguments, selection_of

__all__ = ["NOTHING_MORE", "Chance", "chance_of"]


@dataclass(frozen=True)
class Chance:
    """What a method draws besides the gradients of local steps and the sampled clients: gradients before the first round
    (``start``), one outside the local steps in each round (``extra``), layers, and participants that renew what they track
    (``trackers``). ``subset``: the size, if claims leave it open, that says how many of these there are."""

    start: bool = False
    extra: bool = False
    layers: bool = False
    trackers: bool = False
    subset: str = ""

    def gradients(self, iterations: int, rounds: int) -> int:
        """How many stochastic gradients every client takes."""
        return iterations + self.start + self.extra * rounds


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


@lru_cache(maxsize=1024)
def chance_of(procedure: Procedure | None, variables: tuple[Variable, ...] = ()) -> Chance:
    """What the procedure's method draws; ``variables`` may be hyper-parameters of the method."""
    if procedure is None:
        return NOTHING_MORE
    noise = FiniteNoise(np.array([[[[1.0, 1.0], [-1.0, -1.0]]]]), np.array([0.5, 0.5]))
    federation = Quadratic(np.ones((1, 2, 2)), np.array([[[1.0, 0.0], [0.0, 1.0]]]), noise=noise, backend=NUMPY, layers=2)
    names, sizes = own_arguments(procedure), {"rounds": 1, "layers": 2, "clients": 2, "iterations": 1}
    own = {v.name: max(v.low, 1) if v.domain == "integer" and not v.indices
           else np.zeros([sizes.get(size, 1) for _, size in v.indices])
           for v in variables if v.name in names and (v.indices or v.domain == "integer")}
    own |= {name: np.zeros((1, *[2] * each, 2)) for name, each in free_starts(procedure).items()}
    draws = _Listening()
    try:
        algorithm = algorithm_of(procedure, 0.1, 1, selection_of(procedure, 1), own)
        state = algorithm.init(federation, starting_points(federation, None, 1), draws)
        one_round(algorithm, federation, state, draws, 0)
    except (ValueError, LookupError, NotImplementedError, ArithmeticError, TypeError):
        draws = _Listening()  # whoever runs it learns why
    streams = {stream for stream, _ in draws.asked}
    return Chance((NOISE, -1) in draws.asked, (NOISE, -2) in draws.asked, LAYERS in streams, TRACKERS in streams,
                  find_algorithm(procedure.base).traits.subset)
