"""A stage of a search: a generator of batches; and the state that the stages of a search share."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from bounds.language.claim import BY_NUMBER, Claim, length_of
from synthetic.numbers.arrays import Backend
from verify.exact.confirm import Violation
from verify.instances.draw import draw_params
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.search.archive import Archive
from verify.search.budget import Budget
from verify.search.run_cache import RUNS
from verify.search.transformations import Transformation

__all__ = ["Stage", "State"]

_WORK_ON_SAMPLES = 60_000  # in place of a budget's work
_MOST_ENTRIES = 2**20  # of a claim's largest array, in all instances of a batch: 8 MiB


@dataclass
class State:
    """The state that the stages of a search share, within one level of its budget.

    Attributes:
        seeds: of the level; ``rng`` begins with them.
        counterexamples: to related claims, found one by one.
        rng, rng_of_shapes, rng_of_corners: generators for random and mutated instances, for instances of fixed shapes, and
            for the corners.
    """

    claim: Claim
    budget: Budget
    archive: Archive
    corners: tuple[Transformation, ...]
    backend: Backend
    seeds: list[int]
    counterexamples: Iterable[Violation] = ()

    def __post_init__(self):
        self.rng = np.random.default_rng(self.seeds)
        self.rng_of_shapes, self.rng_of_corners = self.rng.spawn(2)

    def shapes(self, function: Callable, *arguments, rng: np.random.Generator | None = None):
        """Draw a shape, or several, by ``function(claim, rng, most_outcomes, *arguments)``."""
        rng = rng or self.rng_of_shapes
        return RUNS.draw(function, self.claim, self.budget.most_outcomes, *arguments, rng=(rng,))

    def draw_batch(self, shape: Shape, most: int, rng: np.random.Generator | None = None) -> Parameters:
        """A batch of up to ``most`` instances of a shape, changed by all corners."""
        rng, count = rng or self.rng_of_shapes, min(most, self.batch_size(shape))
        return RUNS.draw(_batch, self.claim, shape, count, self.corners, rng=(rng, self.rng_of_corners))

    def batch_size(self, shape: Shape) -> int:
        """The number of instances of a shape that are judged together."""
        drawn = shape.rounds * shape.participants if shape.sampling in BY_NUMBER else 0
        work = prod(outcomes(shape)) * shape.clients * (shape.iterations * shape.dim + drawn)
        work = max(work, 4 * (shape.clients * shape.family.knots) ** 2)  # at both knots of every piece, all pieces twice
        most = _WORK_ON_SAMPLES if shape.family.coupled else self.budget.work
        sizes = shape.as_sizes()
        entries = max((prod(length_of(size, sizes) for _, size in v.indices) * (shape.dim if v.domain == "vector" else 1)
                       for v in self.claim.variables), default=1)
        return min(int(np.clip(most // max(work, 1), 8, self.budget.size)), max(1, _MOST_ENTRIES // max(entries, 1)))


def _batch(claim: Claim, rng: np.random.Generator, rng_of_corners: np.random.Generator, shape: Shape, count: int,
           corners: tuple[Transformation, ...]) -> Parameters:
    params = draw_params(claim, shape, count, rng)
    for corner in corners:
        params = corner(claim, shape, params, rng_of_corners)
    return params


#: a part of a search: generates instances to look at, which may follow from what the archive kept of earlier batches
Stage = Callable[[State], Iterator[tuple[Shape, Parameters]]]
