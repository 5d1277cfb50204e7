"""The stage of what other stages draw seldom: three and more coordinates, arrays of equal entries, signs, equal noise."""

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
from verify.instances.shape import Shape
from verify.search.stage import State

__all__ = ["seldom_drawn"]

_OWN_SEED = 1729
_DIMENSIONS = (3, 3, 4, 8)  # a batch of each
_EQUAL, _SIGNS = 0.3, 0.3  # shares of the instances


def seldom_drawn(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Yields batches of more coordinates, if the claim admits them, in which some instances have arrays of equal entries,
    others vectors of entries 1 and -1, and some the same noise in all clients."""
    claim, rng = state.claim, np.random.default_rng([*state.seeds, _OWN_SEED])
    if speaks_of_samples(claim):
        return
    for number, dim in enumerate(_DIMENSIONS):
        shape = state.shapes(draw_shape, state.budget.most_iterations, rng=rng)
        wider = shape if shape.layers else shape.family.fitting(replace(shape, dim=dim))
        noisy = _with_noise(claim, wider, state.budget.most_outcomes) if number % 2 == 0 else wider
        shape = next((one for one in (noisy, wider) if possible(claim, one.as_sizes())), shape)
        yield shape, _regular(claim, shape, state.draw_batch(shape, state.budget.small_rows, rng), rng)


def _with_noise(claim: Claim, shape: Shape, most_outcomes: int) -> Shape:
    """The shape with one round and noise in all clients, if all outcomes can be listed."""
    noisy = shape.family.fitting(replace(shape, rounds=1, noisy=tuple(range(shape.clients))))
    return noisy if claim.setting == "run" and prod(outcomes(noisy)) <= most_outcomes else shape


def _regular(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Instances of which some have equal entries, or vectors of entries 1 and -1."""
    found, variables = dict(params), {v.name: v for v in claim.variables}
    kind = rng.random(len(next(iter(params.values())))) if params else np.zeros(0)
    for name, array in params.items():
        equal, signs = (chosen.reshape(-1, *(1,) * (array.ndim - 1)) for chosen in (
            kind < _EQUAL, (kind >= _EQUAL) & (kind < _EQUAL + _SIGNS)))
        variable = variables.get(name)
        if variable is not None and variable.indices and variable.domain in ("positive", "nonnegative", "real"):
            found[name] = np.where(equal, array.max(axis=tuple(range(1, array.ndim)), keepdims=True, initial=0.0), array)
        elif variable is None and name == "noise":
            found[name] = np.where(equal, array[:, :1], array)
        if name in ("center", "start_offset", "noise") if variable is None else variable.domain == "vector":
            found[name] = np.where(signs, np.sign(rng.random(array.shape) - 0.5), found[name])
    return found
