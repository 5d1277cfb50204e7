"""Local search around one instance: CMA-ES, and gradient ascent through the unrolled run.

Both move the numbers that may vary continuously, positive ones on a logarithmic scale. What is exactly zero where zeros are
corners, what is true or false, and the shape stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from math import log, prod
from typing import Any

import numpy as np
from array_api_compat import is_torch_array

from bounds.language.claim import Claim
from synthetic.numbers.arrays import TORCH, namespace, to_numpy
from verify.evaluation.environment import TooManyTerms, UnboundName
from verify.evaluation.evaluate import sides
from verify.evaluation.judge import Judgement
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters, joined, spec_of, within_domain
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.batch_evaluation import evaluate_batch
from verify.search.stage import State

__all__ = ["Coordinates", "ascend", "ends_from", "evolve", "local_search"]

_ROWS = 24  # instances of a generation of CMA-ES, and gradient ascents, at most
_LONGER_ON_SAMPLES = 2  # times as many generations, for as long as they get anywhere: samples have many numbers
_MOST_TERMS = 1_000_000  # entries of an array of terms, all of which a gradient keeps
_MOST_NUMBERS = 500_000  # coordinates of models in a batch of runs, beside each of which a gradient keeps some hundred
_WIDEST = 80  # numbers beyond which a covariance matrix learns too slowly
_HARDLY = 1e-3  # growth of the logarithm of (score + 1) that counts as none
_FIRST_STEP, _FARTHEST = 0.5, 100.0  # of logarithms of numbers, or in units of vectors; the former go no farther
_RATE = 0.05  # of Adam
_NOTHING = 1e-300  # has a logarithm
_BELOW = 1e-9  # how far below a number another one stays, relatively
_JUMPS = frozenset({"epsilon"})  # thresholds, whose effect is a jump


@dataclass(frozen=True)
class Coordinates:
    """The numbers of an instance that move, as one vector u; u = 0 is the instance itself.

    ``parts`` by name: which entries move, whether on a logarithmic scale, and the scale. ``most`` by name: the largest value
    of numbers that lie below another one.
    """

    base: Parameters
    parts: dict[str, tuple[np.ndarray, bool, float]]
    domains: dict[str, str]
    most: dict[str, float] = field(default_factory=dict)

    @classmethod
    def from_parameters(cls, claim: Claim, params: Parameters) -> Coordinates:
        """The coordinates of a batch of one instance."""
        equal = claim.procedure is not None and claim.procedure.equal_weights
        parts = {}
        for name, array in params.items():
            domain = spec_of(claim, name).domain
            if not array.size or name in _JUMPS or domain in ("binary", "integer") or (name == "weight" and equal):
                continue
            if domain in ("real", "vector"):
                parts[name] = (np.ones(array.shape, dtype=bool), False, float(abs(array).max()) or 1.0)
            elif (array > 0).any():
                parts[name] = (array > 0, True, 1.0)
        most = {v.name: v.below * (1 - _BELOW) for v in claim.variables if v.below is not None}
        return cls(params, parts, {name: spec_of(claim, name).domain for name in params}, most)

    @property
    def size(self) -> int:
        return sum(int(moves.sum()) for moves, _, _ in self.parts.values())

    def params(self, u) -> dict[str, Any]:
        """The instances at vectors (rows, size), of NumPy or torch."""
        rows, start, found = u.shape[0], 0, {}
        torchy = is_torch_array(u)
        if torchy:
            import torch

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
                exp = namespace(u).exp
                new = old * exp(part.clip(-_FARTHEST, _FARTHEST)) if logarithmic else old + scale * part
                if torchy:
                    flat = flat.index_copy(1, torch.as_tensor(where), new)
                else:
                    flat[:, where] = new
                value = flat.reshape(rows, *array.shape[1:])
                value = value.clip(None, self.most[name]) if name in self.most else value
            found[name] = within_domain(self.domains[name], value)
        return found


def evolve(judge: Callable[[Parameters], Judgement], coordinates: Coordinates, generations: int, population: int,
           seed: int, patience: int | None = None) -> Parameters | None:
    """The instance of the highest score that CMA-ES finds; None if there are no or too many numbers.

    ``judge`` judges a batch; infeasible instances have the lowest score. The search ends after ``patience`` generations in
    which the score hardly grew.
    """
    size = coordinates.size
    if not 2 <= size <= _WIDEST:
        return None
    import cma  # half of the time in which a verdict starts, which who explains one need not wait for

    options = {"seed": seed + 1, "popsize": population, "verbose": -9, "verb_log": 0}
    strategy = cma.CMAEvolutionStrategy(np.zeros(size), _FIRST_STEP, options)
    best, found, scores = -2.0, None, []
    for _ in range(generations):
        u = np.array(strategy.ask())
        params = coordinates.params(u)
        verdict = judge(params)
        score = np.where(verdict.met, verdict.score, -2.0)
        top = int(np.argmax(score))
        if score[top] > best:
            best, found = float(score[top]), {name: array[[top]] for name, array in params.items()}
        strategy.tell(list(u), (-score).tolist())
        scores.append(log(max(best + 1, _NOTHING)))
        stuck = patience is not None and len(scores) > patience and scores[-1] < scores[-1 - patience] + _HARDLY
        if best > 1e-6 or stuck or strategy.stop():
            break
    return found


def ascend(claim: Claim, shape: Shape, coordinates: Coordinates, steps: int, rows: int,
           rng: np.random.Generator) -> Parameters | None:
    """Ends of ``rows`` gradient ascents (Adam) of the gap between both sides, from near the instance.

    The hypotheses bind constants and steps to the numbers of the instance, so that an ascent moves within them. Of long runs
    with many outcomes there are fewer ``rows``. None where a gradient does not exist, or where one run would keep too much.
    """
    rows = min(rows, _MOST_NUMBERS // max(1, prod(outcomes(shape)) * shape.clients * shape.iterations * shape.dim))
    if not coordinates.size or not rows:
        return None
    strength = 10 ** rng.uniform(-2, -0.5, (rows, 1))
    strength[0] = 0.0
    import torch

    u = torch.tensor(strength * rng.normal(size=(rows, coordinates.size)), requires_grad=True)
    optimiser = torch.optim.Adam([u], lr=_RATE)
    best, ends = np.full(rows, -np.inf), to_numpy(u).copy()
    for _ in range(steps):
        optimiser.zero_grad()
        try:
            gap = _gap(claim, simulate(claim, shape, coordinates.params(u), TORCH, most=_MOST_TERMS))
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
    return coordinates.params(ends) if np.isfinite(best).any() else None


def _gap(claim: Claim, environment):
    """Per instance, the largest relative excess of the side that must be smaller."""
    import torch

    left, right, mask = torch.broadcast_tensors(*sides(claim.statement, environment))
    excess = {"<=": left - right, ">=": right - left, "==": abs(left - right)}[claim.statement.relation]
    relative = torch.where(mask, excess / (abs(left) + abs(right) + 1e-300), -1.0)
    return relative.reshape(relative.shape[0], -1).amax(dim=1)


def ends_from(state: State, shape: Shape, params: Parameters,
              rng: np.random.Generator) -> Iterator[tuple[Shape, Parameters]]:
    """The ends of local searches from one instance."""
    seed, rows = int(rng.integers(1 << 30)), min(_ROWS, state.batch_size(shape))
    coordinates, steps = Coordinates.from_parameters(state.claim, params), state.budget.gradient_steps
    for look in (partial(_by_cma, state, shape, coordinates, rows, seed),
                 partial(ascend, state.claim, shape, coordinates, steps, rows, rng)):
        try:
            end = look()
        except UnboundName:  # it came to clients that lack a constant, such as clients that differ without bound
            continue
        if end is not None:
            yield shape, end


def _by_cma(state: State, shape: Shape, coordinates: Coordinates, rows: int, seed: int) -> Parameters | None:
    judge, generations, found = partial(evaluate_batch, state.claim, shape,
                                        backend=state.backend), state.budget.cma_steps, []
    if not shape.family.coupled:
        return evolve(judge, coordinates, generations, rows, seed, generations // 3)
    for again in range(2):  # the second time from the end of the first, as wide as that began
        end = evolve(judge, coordinates, _LONGER_ON_SAMPLES * generations, max(rows, _ROWS), seed + again, generations // 3)
        if end is None:
            break
        found, coordinates = [*found, end], Coordinates.from_parameters(state.claim, end)
    return joined(found) if found else None


def local_search(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Local searches from the tightest instances of the archive."""
    for shape, params in state.archive.tightest(state.budget.local_searches):
        yield from ends_from(state, shape, params, state.rng)

