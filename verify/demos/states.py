"""States that methods keep besides the model, which :func:`fedtheory.run` does not record."""

from collections.abc import Iterator

import numpy as np

from fedtheory.engine import rounds_of, starting_points
from fedtheory.round_context import State
from synthetic.numbers.draws import Draws

__all__ = ["states_of"]


def states_of(method, federation, rounds: int, seeds: int = 1, start=None) -> Iterator[State]:
    """The state at the start and after every round, with the same draws as ``fedtheory.run`` makes of these seeds."""
    draws = Draws(np.arange(seeds), federation.backend)
    first = method.init(federation, starting_points(federation, start, seeds), draws)
    yield first
    yield from rounds_of(method, federation, first, draws, 0, rounds)
