"""The archive: instances from which a search goes on, the tightest ones of different kinds."""

import heapq
from math import log10

import numpy as np

from verify.evaluation.judge import Judgement
from verify.instances.parameters import Parameters, take_rows
from verify.instances.shape import Shape

__all__ = ["CANDIDATE", "Archive"]

CANDIDATE = 1e-8  # score above which float64 sees a violation
_MOST = 5  # instances of each kind
_LONG = 20  # iterations
_UNINFORMATIVE = -0.3  # rank of instances on which both sides agree: everywhere around them they agree too


class Archive:
    """Keeps the instances of the highest scores, apart for runs with and without drift and noise, and for those that start
    at the optimum, so that one kind on which the claim is nearly tight does not displace the others."""

    def __init__(self):
        self._niches: dict[tuple, list] = {}
        self._long: dict[tuple, tuple] = {}
        self._count = 0

    @property
    def empty(self) -> bool:
        """Whether no instance met the hypotheses yet."""
        return not self._niches

    def add(self, shape: Shape, params: Parameters, verdict: Judgement) -> None:
        """Take in the highest feasible instance of each kind of a batch."""
        uninformative = abs(verdict.score) < CANDIDATE
        rank = np.where(verdict.met, np.where(uninformative, _UNINFORMATIVE, verdict.score), -2.0)
        moves = params["start_offset"].any(axis=1) if "start_offset" in params else np.ones(len(rank), dtype=bool)
        for kind in (True, False):
            self._add(shape, params, np.where(moves == kind, rank, -2.0), kind)

    def _add(self, shape: Shape, params: Parameters, rank: np.ndarray, moves: bool) -> None:
        best = int(np.argmax(rank))
        if rank[best] <= -2.0:
            return
        self._count += 1
        niche = self._niches.setdefault((shape.local_steps > 1, bool(shape.noisy), moves), [])
        entry = float(rank[best]), self._count, shape, take_rows(params, [best])
        heapq.heappush(niche, entry)
        while len(niche) > _MOST:
            heapq.heappop(niche)
        if shape.family.coupled and shape.iterations >= _LONG:
            length = round(2 * log10(shape.iterations)), shape.local_steps > 1
            self._long[length] = max(self._long.get(length, entry), entry, key=lambda e: e[0])

    def tightest(self, count: int) -> list[tuple[Shape, Parameters]]:
        """Up to ``count`` instances of the highest ranks, of each kind in turn, without uninformative ones. Of long runs on
        samples also the highest of each order of length, however loose, because short runs would displace them."""
        ranked = [enumerate(sorted(niche, key=lambda e: (-e[0], e[1]))) for niche in self._niches.values()]
        kept = [entry for _, entry in sorted(((place, e) for of in ranked for place, e in of if e[0] > _UNINFORMATIVE),
                                             key=lambda one: (one[0], -one[1][0], one[1][1]))]
        long = [entry for entry in self._long.values() if count and -1 < entry[0] != _UNINFORMATIVE]
        first, more = _different(kept), _different(long)
        return list({**dict([*first.items()][:count]), **more}.values())

    def first_of_each_kind(self) -> list[tuple[Shape, Parameters]]:
        """The instance of the highest rank of each kind, however low."""
        return [max(niche, key=lambda entry: entry[:2])[2:] for niche in self._niches.values()]

    def tightest_of(self, shape: Shape) -> Parameters | None:
        """The instance of the highest rank of this shape; None where none is kept."""
        of_shape = [entry for niche in self._niches.values() for entry in niche if entry[2] == shape]
        return max(of_shape, key=lambda entry: entry[0])[3] if of_shape else None

    def pick(self, step: int, rng: np.random.Generator) -> tuple[Shape, Parameters]:
        """One instance at random, of each kind in turn."""
        niche = [*self._niches.values()][step % len(self._niches)]
        _, _, shape, params = niche[int(rng.integers(len(niche)))]
        return shape, params


def _different(entries) -> dict[tuple, tuple[Shape, Parameters]]:
    return {(shape, *(a.tobytes() for a in params.values())): (shape, params) for _, _, shape, params in entries}
