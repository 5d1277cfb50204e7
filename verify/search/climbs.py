"""Local search around one instance: CMA-ES, and gradient ascent through the unrolled run.

Both move the same numbers: the leaves that may vary continuously, positive ones on a logarithmic scale. What is exactly zero
where zeros are corners, what is true or false, and the shape stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log, prod
from typing import Any

import cma
import numpy as np
import torch

from bounds.language.claim import Claim
from synthetic.numbers.arrays import TORCH, to_numpy
from verify.evaluation.environment import TooManyTerms
from verify.evaluation.evaluate import sides
from verify.evaluation.judge import Judgement
from verify.instances.instance import outcomes
from verify.instances.leaves import Leaves
from verify.instances.shape import Shape
from verify.measure.realise import realise

__all__ = ["Coordinates", "ascend", "evolve"]

_MOST_TERMS = 1_000_000  # entries of an array of terms, all of which a gradient keeps
_MOST_NUMBERS = 500_000  # coordinates of models in a batch of runs, beside each of which a gradient keeps some hundred
_WIDEST = 80  # numbers beyond which a covariance matrix learns too slowly
_HARDLY = 1e-3  # by which the logarithm of a score above its least grows that stays as it is
_FIRST_STEP, _FARTHEST = 0.5, 100.0  # of logarithms of numbers, or in units of vectors; the former go no farther
_NOTHING = 1e-300  # has a logarithm
_JUMPS = frozenset({"epsilon"})  # thresholds, whose effect is a jump


@dataclass(frozen=True)
class Coordinates:
    """The numbers of an instance that move, as one vector u; u = 0 is the instance itself.

    ``parts``: name -> (where it moves, a truth value per entry; whether on a logarithmic scale; its scale).
    """

    base: Leaves
    parts: dict[str, tuple[np.ndarray, bool, float]]

    @classmethod
    def of(cls, claim: Claim, leaves: Leaves, kinds: Mapping[str, str]) -> Coordinates:
        """Of a one-row instance; ``kinds``: domains of leaves that are no variables of the claim (default positive)."""
        domains = {v.name: v.domain for v in claim.variables}
        equal = claim.procedure is not None and claim.procedure.equal_weights
        parts = {}
        for name, array in leaves.items():
            domain = domains.get(name) or kinds.get(name, "positive")
            if not array.size or name in _JUMPS or domain in ("binary", "integer") or (name == "weight" and equal):
                continue
            if domain in ("real", "vector"):
                parts[name] = (np.ones(array.shape, dtype=bool), False, float(abs(array).max()) or 1.0)
            elif (array > 0).any():
                parts[name] = (array > 0, True, 1.0)
        return cls(leaves, parts)

    @property
    def size(self) -> int:
        return sum(int(moves.sum()) for moves, _, _ in self.parts.values())

    def leaves(self, u) -> dict[str, Any]:
        """Leaves of a batch of vectors (rows, size), NumPy or torch."""
        rows, start, found = u.shape[0], 0, {}
        torchy = isinstance(u, torch.Tensor)
        for name, array in self.base.items():
            value = np.repeat(array, rows, axis=0).astype(float)
            value = torch.tensor(value) if torchy else value
            if name in self.parts:
                moves, logarithmic, scale = self.parts[name]
                count = int(moves.sum())
                part, start = u[:, start : start + count], start + count
                where = np.flatnonzero(moves[0])
                flat = value.reshape(rows, -1)
                old = flat[:, where]
                exp = torch.exp if torchy else np.exp
                new = old * exp(part.clip(-_FARTHEST, _FARTHEST)) if logarithmic else old + scale * part
                if torchy:
                    flat = flat.index_copy(1, torch.as_tensor(where), new)
                else:
                    flat[:, where] = new
                value = flat.reshape(rows, *array.shape[1:])
            found[name] = _within(name, value)
        return found


def _within(name, value):
    """Fractions stay at most 1, factors of slack at least 1."""
    if name == "step_fraction":
        return value.clip(1e-6, 1.0)
    return value.clip(1.0, None) if name.startswith("slack:") else value


def evolve(judged: Callable[[Leaves], Judgement], coordinates: Coordinates, generations: int, population: int,
           seed: int, patience: int | None = None) -> Leaves | None:
    """The worst instance that CMA-ES finds by the judge's score, as one row; None if there are no or too many numbers.

    ``judged`` judges a batch of leaves; instances that break a hypothesis count as the mildest. It gives up after
    ``patience`` generations in which the score hardly grew.
    """
    size = coordinates.size
    if not 2 <= size <= _WIDEST:
        return None
    options = {"seed": seed + 1, "popsize": population, "verbose": -9, "verb_log": 0}
    strategy = cma.CMAEvolutionStrategy(np.zeros(size), _FIRST_STEP, options)
    best, found, scores = -2.0, None, []
    for _ in range(generations):
        u = np.array(strategy.ask())
        leaves = coordinates.leaves(u)
        verdict = judged(leaves)
        score = np.where(verdict.met, verdict.score, -2.0)
        top = int(np.argmax(score))
        if score[top] > best:
            best, found = float(score[top]), {name: array[[top]] for name, array in leaves.items()}
        strategy.tell(list(u), (-score).tolist())
        scores.append(log(max(best + 1, _NOTHING)))
        stuck = patience is not None and len(scores) > patience and scores[-1] < scores[-1 - patience] + _HARDLY
        if best > 1e-6 or stuck or strategy.stop():
            break
    return found


def ascend(claim: Claim, shape: Shape, coordinates: Coordinates, steps: int, rows: int, rng: np.random.Generator,
           rate: float = 0.05) -> Leaves | None:
    """Ends of ``rows`` ascents (Adam) of the gap between both sides, through the unrolled run, from near the instance.

    The hypotheses bind constants and steps from the leaves, so an ascent moves within them; the judge looks at its end. Of
    long runs with many outcomes there are fewer ``rows``. None where a gradient does not exist or is not finite, or where
    a single run would keep too much.
    """
    rows = min(rows, _MOST_NUMBERS // max(1, prod(outcomes(shape)) * shape.clients * shape.iterations * shape.dim))
    if not coordinates.size or not rows:
        return None
    strength = 10 ** rng.uniform(-2, -0.5, (rows, 1))
    strength[0] = 0.0
    u = torch.tensor(strength * rng.normal(size=(rows, coordinates.size)), requires_grad=True)
    optimiser = torch.optim.Adam([u], lr=rate)
    best, ends = np.full(rows, -np.inf), to_numpy(u).copy()
    for _ in range(steps):
        optimiser.zero_grad()
        try:
            gap = _gap(claim, realise(claim, shape, coordinates.leaves(u), TORCH, most=_MOST_TERMS))
        except (RuntimeError, TooManyTerms):  # torch: something on the way has no gradient
            return None
        if not gap.requires_grad:
            return None
        values = to_numpy(gap)
        better = values > best
        best = np.where(better, values, best)
        ends[better] = to_numpy(u)[better]
        (-gap[torch.isfinite(gap)].sum()).backward()
        if u.grad is None or not torch.isfinite(u.grad).all():
            break
        optimiser.step()
    return coordinates.leaves(ends) if np.isfinite(best).any() else None


def _gap(claim: Claim, environment):
    """Per instance, the largest relative excess of the side that must be smaller."""
    left, right, mask = torch.broadcast_tensors(*sides(claim.statement, environment))
    excess = {"<=": left - right, ">=": right - left, "==": abs(left - right)}[claim.statement.relation]
    relative = torch.where(mask, excess / (abs(left) + abs(right) + 1e-300), -1.0)
    return relative.reshape(relative.shape[0], -1).amax(dim=1)
