"""The stage of what other stages draw seldom: three and more coordinates, as many as clients, regular instances."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from bounds.language.claim import Claim
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import possible
from verify.instances.draw import draw_shape
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import Shape
from verify.search.regular import regular
from verify.search.stage import State

__all__ = ["seldom_drawn"]

_OWN_SEED = 1729
_DIMENSIONS = (3, 3, 4, 8)  # a batch of each
_WIDEST = 33  # without clients
_CORNERS = (3, 4)  # clients, and coordinates, of simplices


def seldom_drawn(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Yields batches of more coordinates, if the claim admits them, in which some instances are regular."""
    claim, rng = state.claim, np.random.default_rng([*state.seeds, _OWN_SEED])
    if speaks_of_samples(claim):
        return
    for number, dim in enumerate((*_DIMENSIONS, *[_WIDEST] * (claim.setting == "algebra"))):
        shape = state.shapes(draw_shape, state.budget.most_iterations, rng=rng)
        wider = shape if shape.layers else shape.family.fitting(replace(shape, dim=dim))
        noisy = _with_noise(claim, wider, state.budget.most_outcomes) if number % 2 == 0 else wider
        shape = next((one for one in (noisy, wider) if possible(claim, one.as_sizes())), shape)
        yield shape, regular(claim, state.draw_batch(shape, state.budget.small_rows, rng), rng)
    for clients in _CORNERS if claim.setting == "point" else ():
        shape = state.shapes(draw_shape, state.budget.most_iterations, rng=rng)
        shape = QUADRATIC.fitting(replace(shape, clients=clients, free=0, dim=clients))
        if possible(claim, shape.as_sizes()):
            yield shape, regular(claim, state.draw_batch(shape, state.budget.small_rows, rng), rng)


def _with_noise(claim: Claim, shape: Shape, most_outcomes: int) -> Shape:
    """The shape with one round and noise in all clients, if all outcomes can be listed."""
    noisy = shape.family.fitting(replace(shape, rounds=1, noisy=tuple(range(shape.clients))))
    return noisy if claim.setting == "run" and prod(outcomes(noisy)) <= most_outcomes else shape
