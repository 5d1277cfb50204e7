"""The instances from which a search goes on: the most promising ones, of different kinds."""

from __future__ import annotations

import heapq
from math import log10

import numpy as np

from verify.evaluation.judge import Judgement
from verify.instances.leaves import Leaves, take_rows
from verify.instances.shape import Shape

__all__ = ["CANDIDATE", "Pools"]

CANDIDATE = 1e-8  # score above which float64 sees a violation
_POOL = 5  # instances that evolve, in each of the two rankings
_LONG = 20  # iterations
_BLAND = -0.3  # rank of instances on which both sides agree: everywhere around them they agree too


class Pools:
    """The instances that evolve: the worst ones by each ranking of the judge, apart for runs with and without drift and
    noise, so that one kind on which the claim is nearly tight does not crowd out the others."""

    def __init__(self):
        self.filled: list[list] = []
        self._long: dict[tuple, tuple] = {}
        self._by_niche: dict[tuple, list] = {}
        self._count = 0

    def add(self, shape: Shape, leaves: Leaves, verdict: Judgement) -> None:
        """Take in the most promising instance of a batch by each ranking."""
        bland = abs(verdict.score) < CANDIDATE
        for ranking in ("score", "late"):
            rank = np.where(verdict.met, np.where(bland, _BLAND, getattr(verdict, ranking)), -2.0)
            best = int(np.argmax(rank))
            if rank[best] <= -2.0:
                return
            self._count += 1
            pool = self._by_niche.setdefault((ranking, shape.local_steps > 1, bool(shape.noisy)), [])
            entry = float(rank[best]), self._count, shape, take_rows(leaves, [best])
            heapq.heappush(pool, entry)
            while len(pool) > _POOL:
                heapq.heappop(pool)
            if ranking == "score" and shape.data is not None and shape.iterations >= _LONG:
                length = round(2 * log10(shape.iterations)), shape.local_steps > 1
                self._long[length] = max(self._long.get(length, entry), entry, key=lambda e: e[0])
        self.filled = list(self._by_niche.values())

    def tightest(self, count: int) -> list[tuple[Shape, Leaves]]:
        """Up to ``count`` instances of the highest ranks, where these say more than that both sides agree; if any are asked
        for, then also, of long runs on samples, the one of the highest rank of each order of length, however loose: short
        ones would crowd it out."""
        kept = sorted((entry for pool in self.filled for entry in pool if entry[0] > _BLAND), key=lambda e: (-e[0], e[1]))
        long = [entry for entry in self._long.values() if count and -1 < entry[0] != _BLAND]
        first, more = _different(kept), _different(long)
        return list({**dict([*first.items()][:count]), **more}.values())

    def pick(self, step: int, rng: np.random.Generator) -> tuple[Shape, Leaves]:
        """One instance, from each pool in turn."""
        pool = self.filled[step % len(self.filled)]
        _, _, shape, leaves = pool[int(rng.integers(len(pool)))]
        return shape, leaves


def _different(entries) -> dict[tuple, tuple[Shape, Leaves]]:
    return {(shape, *(a.tobytes() for a in leaves.values())): (shape, leaves) for _, _, shape, leaves in entries}
