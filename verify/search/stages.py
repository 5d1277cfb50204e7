"""The stages of a search, in their order, and what can be switched off by name."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from math import prod

import numpy as np

from bounds.language.claim import Claim
from verify.claims.sizes import integer_variables, possible
from verify.instances.draw import draw_shape
from verify.instances.instance import outcomes
from verify.instances.neighbours import neighbour
from verify.instances.offspring import offspring
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.instances.shapes import extreme_shapes, small_shapes
from verify.search.local_search import local_search
from verify.search.many_draws import of_many_draws
from verify.search.own_bases import of_own_bases
from verify.search.regular import regular
from verify.search.related import related
from verify.search.seldom import seldom_drawn
from verify.search.slopes import of_slopes
from verify.search.small_pieces import of_small_pieces
from verify.search.stage import Stage, State
from verify.search.thresholds import at_thresholds
from verify.search.transformations import TRANSFORMATIONS, Transformation
from verify.search.whole_numbers import at_whole_numbers
from verify.search.worst_points import worst_points_of

__all__ = ["NAMES", "STAGES", "layer_shapes", "switched_on"]

Batches = Iterator[tuple[Shape, Parameters]]
_PATIENCE, _PATIENT_ROUNDS = 10, (100, 300)  # how much longer where no run met the hypotheses; of how many rounds
_OWN_SEED = 911
_LONGEST_IN_LAYERS = 6  # iterations


def _small(state: State) -> Batches:
    """The smallest shapes: most false statements fail there already."""
    for shape in state.shapes(small_shapes, state.budget.small):
        yield shape, state.draw_batch(shape, state.budget.small_rows)


def _extreme(state: State) -> Batches:
    """Shapes that are large in one way and small in all others, with random and with regular instances."""
    for shape in state.shapes(extreme_shapes, state.budget.most_iterations, state.budget.most_rounds):
        rows = state.budget.small_rows // (10 if shape.family.coupled else 1)
        yield shape, state.draw_batch(shape, rows)
        yield shape, regular(state.claim, state.draw_batch(shape, rows), state.rng_of_shapes)


def layer_shapes(claim: Claim, rng: np.random.Generator, most_outcomes: int, count: int) -> list[Shape]:
    """Up to ``count`` shapes of one or two clients, two or three rounds, and two or three layers of one coordinate.

    A number that the claim's conditions hold below the number of layers (as in: m of the layers are recycled) counts some
    of them but not all. No shapes where there is no such number.
    """
    if claim.setting != "run" or not (counting := _below_layers(claim)):
        return []
    found = []
    for _ in range(3 * count):
        layers, clients = (1,) * int(rng.integers(2, 4)), int(rng.integers(1, 3))
        drawn = draw_shape(claim, rng, most_outcomes, _LONGEST_IN_LAYERS)
        own = {name: int(rng.integers(1, len(layers))) for name in counting}
        shape = replace(
            drawn, clients=clients, free=(free := min(drawn.free, clients - 1)),
            participants=min(drawn.participants, clients - free),
            layers=layers, dim=len(layers), rounds=int(rng.integers(2, 4)), local_steps=int(rng.choice([1, 1, 2])),
            noisy=drawn.noisy and (0,), sizes=tuple((dict(drawn.sizes) | own).items()))
        few = prod(outcomes(shape)) <= most_outcomes
        if few and len(found) < count and possible(claim, shape.as_sizes()):
            found.append(shape)
    return found


def _below_layers(claim: Claim) -> list[str]:
    return [name for name in integer_variables(claim) if any(
        c.relation == "<=" and str(c.left) == name and str(c.right) == "layers" for c in claim.conditions)]


def _layered(state: State) -> Batches:
    """Short runs in which some layers are chosen and others are not."""
    for shape in state.shapes(layer_shapes, state.budget.small // 2):
        yield shape, state.draw_batch(shape, state.budget.small_rows)


def _very_long_runs(state: State) -> Batches:
    """Long runs: several, where no instance met the hypotheses so far; else one that is longer than all before, with random
    and with regular instances."""
    if state.archive.empty:
        for shape in state.shapes(extreme_shapes, state.budget.most_iterations, _PATIENT_ROUNDS):
            yield shape, state.draw_batch(shape, state.budget.size)
        return
    longest = max(_PATIENT_ROUNDS)
    if state.claim.setting == "run" and max(state.budget.most_rounds) < longest:
        own = replace(state, seeds=[*state.seeds, _OWN_SEED])  # draws of its own: those of the other stages stay
        for shape in own.shapes(extreme_shapes, state.budget.most_iterations, (longest,)):
            if shape.rounds == longest:
                yield shape, own.draw_batch(shape, state.budget.small_rows)
                yield shape, regular(state.claim, own.draw_batch(shape, state.budget.small_rows), own.rng_of_shapes)


def _random(state: State) -> Batches:
    """Random shapes; from the middle on longer runs, if no instance met the hypotheses until then."""
    long_runs = 1
    for step in range(state.budget.batches):
        if step == state.budget.batches // 2 and state.archive.empty:
            long_runs = _PATIENCE
        yield _random_batch(state, long_runs)


def _random_batch(state: State, long_runs: int) -> tuple[Shape, Parameters]:
    shape = state.shapes(draw_shape, state.budget.most_iterations, long_runs, rng=state.rng)
    return shape, state.draw_batch(shape, state.budget.size, state.rng)


def _evolved(state: State) -> Batches:
    """Mutations of the archive; random shapes while it is empty."""
    claim, budget = state.claim, state.budget
    for step in range(budget.batches, budget.batches + budget.generations):
        if state.archive.empty:
            yield _random_batch(state, _PATIENCE)
            continue
        shape, parent = state.archive.pick(step, state.rng)
        longest = budget.most_iterations * (_PATIENCE if shape.iterations > budget.most_iterations else 1)
        shape, parent = neighbour(claim, shape, parent, state.rng, budget.most_outcomes, longest)
        params = offspring(claim, shape, parent, state.batch_size(shape), state.rng)
        for corner in state.corners:
            if corner.of_mutations:
                params = corner(claim, shape, params, state.rng_of_corners)
        yield shape, params


STAGES: dict[str, Stage] = {
    "small": _small, "extreme": _extreme, "layered": _layered, "own-bases": of_own_bases, "patient": _very_long_runs,
    "slopes": of_slopes, "random": _random, "thresholds": at_thresholds, "small-pieces": of_small_pieces,
    "worst-points": worst_points_of, "evolved": _evolved, "local-search": local_search,
    "whole-numbers": at_whole_numbers, "related": related, "seldom": seldom_drawn, "many-draws": of_many_draws,
}
#: of all that can be switched off
NAMES = (*STAGES, "real-numbers", "many-rounds", *(corner.name for corner in TRANSFORMATIONS))


def switched_on(without: Collection[str]) -> tuple[dict[str, Stage], tuple[Transformation, ...]]:
    """Stages and corners but those called ``without``.

    Raises:
        ValueError: an unknown name.
    """
    if unknown := sorted({*without} - {*NAMES}):
        raise ValueError(f"unknown stage {unknown[0]!r}; allowed: {', '.join(NAMES)}")
    return ({name: stage for name, stage in STAGES.items() if name not in without},
            tuple(corner for corner in TRANSFORMATIONS if corner.name not in without))
