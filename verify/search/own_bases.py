"""The stage of quadratic clients with a basis each, whose Hessians do not commute."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle, islice

import numpy as np

from bounds.language.claim import Claim
from verify.claims.needs import needs, needs_one_basis, speaks_of_samples
from verify.claims.sizes import possible
from verify.instances.parameters import Parameters, number_of
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import Shape
from verify.instances.shapes import small_shapes
from verify.search.stage import State
from verify.search.transformations.coordinates import basis_matters

__all__ = ["of_own_bases"]

_OWN_SEED = 577
_NEARLY_PARALLEL = 0.4  # share of the instances whose bases differ by small angles
_SMALLEST = 9  # power of 1/2 down to which tangents go
_LONG = 20  # local steps of every other batch, where a claim leaves their number open
_FLAT, _FLATTEST = 0.75, 20  # share of the instances whose clients are flat in one direction each; power of 1/2
_LEVEL = 0.5  # of those that do not, that start where the first client's gradient has equal entries
_COMMON, _ALONG = 0.6, 0.6  # of these, with one minimum for all clients, and that start where the first one is flat


def of_own_bases(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Small shapes of several coordinates, every other one with many local steps, of quadratic clients with a basis each.
    They have one in common where the claim needs that, and the basis matters to it."""
    if state.claim.setting == "algebra" or speaks_of_samples(state.claim) or needs(state.claim).lipschitz:
        return
    own = replace(state, seeds=[*state.seeds, _OWN_SEED])  # draws of its own: those of the other stages stay
    shapes = own.shapes(small_shapes, 4 * state.budget.small)
    shapes = [*dict.fromkeys(_several_coordinates(shape) for shape in shapes if shape.family.any_coordinates)]
    shapes = [shape for shape in shapes if _is_fit(state.claim, shape)]
    for number, shape in enumerate(islice(cycle(shapes), state.budget.small // 2)):
        shape = _longer(state.claim, shape) if number % 2 else shape
        params = own.draw_batch(shape, state.budget.small_rows)
        tangents = half_tangents(number_of(params), 1 if needs_one_basis(state.claim) else shape.clients, own.rng)
        yield shape, flat_in_one_direction(params | {"half_tangent": tangents}, own.rng)


def half_tangents(count: int, clients: int, rng: np.random.Generator) -> np.ndarray:
    """Tangents of half the angles of turned bases, (count, clients), short fractions; in some instances all are small."""
    any_angle = rng.integers(-8, 9, (count, clients)) / 8
    small = rng.integers(-1, 2, (count, clients)) * 0.5 ** rng.integers(2, _SMALLEST, (count, clients))
    return np.where(rng.random((count, 1)) < _NEARLY_PARALLEL, small, any_angle)


def flat_in_one_direction(params: Parameters, rng: np.random.Generator) -> Parameters:
    """Instances of which some have clients that are flat in one direction each and steep in all others, by factors of their
    own. Many of these have one minimum for all clients; many start where the first client is flat, the others at a corner of
    a cube or along the last coordinate."""
    count, clients, dim = len(params["center"]), *params["curvature"].shape[1:]
    chosen, common, along = rng.random((3, count)) < np.array([[_FLAT], [_COMMON], [_ALONG]])
    steep = 0.5 ** rng.integers(0, _SMALLEST, (count, clients, 1)) * np.ones(dim)
    flat = 0.5 ** rng.integers(1, _FLATTEST, (count, 1, 1))
    first = np.arange(dim) == 0
    found = params | {
        "curvature": np.where(chosen[:, None, None], np.where(first, flat * steep, steep), params["curvature"]),
        "center": np.where((chosen & common)[:, None, None], 0.0, params["center"])}
    found["half_tangent"][chosen & along, 0] = 0.0
    if "start_offset" in params:
        others = np.where(rng.random((count, 1)) < 0.5, rng.choice([-1.0, 1.0], (count, dim)), first[::-1])
        start = np.where(along[:, None], first, others)
        level = rng.spawn(1)[0].random((count, 1)) < _LEVEL
        start = np.where(level & ~along[:, None], _of_equal_slopes(found), start)
        found["start_offset"] = np.where(chosen[:, None], start, params["start_offset"])
    return found


def _of_equal_slopes(params: Parameters) -> np.ndarray:
    """The points, (count, dim), at which the gradient of the first client, with its minimum at 0, has the entries 1."""
    tangent, curvature = params["half_tangent"][:, 0], params["curvature"][:, 0]
    size = 1 + tangent**2
    cosine, sine = (1 - tangent**2) / size, 2 * tangent / size
    own = np.ones_like(curvature)
    own[:, 0], own[:, 1] = cosine + sine, cosine - sine
    own = own / curvature
    found = own.copy()
    found[:, 0], found[:, 1] = cosine * own[:, 0] - sine * own[:, 1], sine * own[:, 0] + cosine * own[:, 1]
    return found


def _several_coordinates(shape: Shape) -> Shape:
    return replace(QUADRATIC.fitting(shape), dim=shape.dim if shape.layers else max(2, shape.dim))


def _is_fit(claim: Claim, shape: Shape) -> bool:
    several = (shape.clients > 1 and not needs_one_basis(claim)) or basis_matters(claim, shape)
    return several and shape.dim > 1 and not shape.free and possible(claim, shape.as_sizes())


def _longer(claim: Claim, shape: Shape) -> Shape:
    """The shape with one round of many local steps and without noise, where the claim allows that."""
    longer = replace(shape, local_steps=_LONG, rounds=1, noisy=())
    is_open = claim.setting == "run" and "local_steps" not in dict(shape.sizes)
    return longer if is_open and possible(claim, longer.as_sizes()) else shape
