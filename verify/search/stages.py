"""The instances that a search judges, one stage after the other."""

from __future__ import annotations

from functools import partial
from math import prod

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY, Backend
from verify.evaluation.environment import UnboundName
from verify.instances.draw import draw_leaves, draw_shape
from verify.instances.instance import outcomes
from verify.instances.leaves import KINDS_OF_LEAVES, Leaves, joined
from verify.instances.neighbours import neighbour
from verify.instances.offspring import offspring
from verify.instances.shape import Shape
from verify.instances.shapes import extreme_shapes, small_shapes
from verify.search.budget import Budget
from verify.search.climbs import Coordinates, ascend, evolve
from verify.search.corners.knots_on_path import knots_on_path
from verify.search.corners.layers import layer_corners, layer_shapes
from verify.search.corners.patterns import alike_in_all_coordinates, patterned, turned
from verify.search.corners.units import rescaled
from verify.search.corners.within_conditions import within_conditions
from verify.search.extreme_numbers import extreme_numbers
from verify.search.judged import MOST_TERMS, judged_in_parts
from verify.search.pools import Pools
from verify.search.sharing import RUNS, Draws

__all__ = ["climbs_from", "instances"]

_OF_DATA = 60_000  # what claims about samples have for a budget's work
_MOVED_KNOTS = 0.3  # share of batches of piecewise clients in which pieces move onto the path
_TURNED = 0.3  # share of the batches in whose basis clients are not separable, of methods that act by coordinate
_CLIMBS_ON_SAMPLES = 2  # times as many, for as long as they get anywhere: atoms have many numbers
_PATIENCE, _PATIENT_ROUNDS = 10, (100, 300)  # how much longer where no run met the hypotheses; of how many rounds


def instances(claim: Claim, budget: Budget, seeds: int | list[int], pools: Pools, backend: Backend):
    """Batches to look at, one after the other: the later ones follow from what was kept of the earlier ones."""
    rng = np.random.default_rng(seeds)
    longer, apart, moving = 1, *rng.spawn(2)
    once = Draws(RUNS.known_draws(claim, budget, seeds), (rng, apart, moving))

    def drawn(shape: Shape, rows: int) -> Leaves:
        return _drawn(claim, shape, min(rows, _batch_size(shape, budget)), apart, moving)

    def random(longer: int) -> tuple[Shape, Leaves]:
        shape = draw_shape(claim, rng, budget.most_outcomes, budget.most_iterations, longer)
        return shape, _drawn(claim, shape, _batch_size(shape, budget), rng, moving)

    for shape in once(partial(small_shapes, claim, apart, budget.most_outcomes, budget.small)):
        yield shape, once(partial(drawn, shape, budget.small_rows))
    most = budget.most_outcomes, budget.most_iterations, budget.most_rounds
    for shape in once(partial(extreme_shapes, claim, apart, *most)):
        yield shape, once(partial(drawn, shape, budget.small_rows // (10 if shape.data else 1)))
    for shape in once(partial(layer_shapes, claim, apart, budget.most_outcomes, budget.small // 2)):
        yield shape, once(partial(drawn, shape, budget.small_rows))
    waiting = not pools.filled
    for shape in once(partial(extreme_shapes, claim, apart, *most[:2], _PATIENT_ROUNDS), waiting) if waiting else ():
        yield shape, once(partial(drawn, shape, budget.size), waiting)
    for step in range(budget.batches + budget.generations):
        if step < budget.batches or not pools.filled:
            if step == budget.batches // 2 and not pools.filled:
                longer = _PATIENCE
            yield once(partial(random, longer), longer, waiting)
        else:
            shape, parent = pools.pick(step, rng)
            longest = budget.most_iterations * (_PATIENCE if shape.iterations > budget.most_iterations else 1)
            shape, parent = neighbour(claim, shape, parent, rng, budget.most_outcomes, longest)
            children = offspring(claim, shape, parent, _batch_size(shape, budget), rng)
            yield shape, _cornered(claim, shape, children, moving)
    for shape, leaves in pools.tightest(budget.ascents):
        yield from climbs_from(claim, shape, leaves, budget, rng, backend)
    yield from extreme_numbers(claim, apart)


def climbs_from(claim: Claim, shape: Shape, leaves: Leaves, budget: Budget, rng: np.random.Generator, backend: Backend):
    """Where climbs from one instance end."""
    coordinates, rows = Coordinates.of(claim, leaves, KINDS_OF_LEAVES), min(24, _batch_size(shape, budget))
    seed = int(rng.integers(1 << 30))
    for climb, steps in ((_evolved, budget.climbs), (_ascended, budget.slopes)):
        try:
            end = climb(claim, shape, coordinates, steps, rows, rng, seed, backend)
        except UnboundName:  # it came to clients that lack a constant, as those that differ without bound do
            continue
        if end is not None:
            yield shape, end


def _drawn(claim: Claim, shape: Shape, count: int, rng: np.random.Generator, moving: np.random.Generator) -> Leaves:
    """Leaves in one of the corners, now and then in turned coordinates where that matters."""
    leaves = patterned(claim, shape, draw_leaves(claim, shape, count, rng), moving)
    leaves = layer_corners(claim, shape, leaves, moving)
    leaves = turned(claim, shape, leaves, moving) if moving.random() < _TURNED else leaves
    leaves = rescaled(claim, shape, _cornered(claim, shape, leaves, moving), moving)
    return within_conditions(claim, shape, leaves, moving, partial(RUNS.realise, backend=NUMPY, most=MOST_TERMS))


def _cornered(claim: Claim, shape: Shape, leaves: Leaves, moving: np.random.Generator) -> Leaves:
    """Leaves, some with all coordinates alike where that matters, now and then with pieces on the path."""
    leaves = alike_in_all_coordinates(claim, shape, leaves, moving)
    return knots_on_path(claim, shape, leaves, moving) if moving.random() < _MOVED_KNOTS else leaves


def _evolved(claim, shape, coordinates, climbs, rows, rng, seed, backend) -> Leaves | None:
    judged, patience, found = partial(judged_in_parts, claim, shape, backend=backend), climbs // 3, []
    if not shape.data:
        return evolve(judged, coordinates, climbs, rows, seed, patience)
    for again in range(2):  # the second time from the end of the first, as wide as that began
        end = evolve(judged, coordinates, _CLIMBS_ON_SAMPLES * climbs, max(rows, 24), seed + again, patience)
        if end is None:
            break
        found, coordinates = [*found, end], Coordinates.of(claim, end, KINDS_OF_LEAVES)
    return joined(found) if found else None


def _ascended(claim, shape, coordinates, climbs, rows, rng, seed, backend) -> Leaves | None:
    return ascend(claim, shape, coordinates, climbs, rows, rng)


def _batch_size(shape: Shape, budget: Budget) -> int:
    drawn = shape.rounds * shape.participants if shape.sampling != "full" else 0
    work = prod(outcomes(shape)) * shape.clients * (shape.iterations * shape.dim + drawn)
    work = max(work, 4 * (shape.clients * shape.pieces) ** 2)  # at both knots of every piece, all pieces are asked twice
    return int(np.clip((_OF_DATA if shape.data else budget.work) // max(work, 1), 8, budget.size))
