"""Instances: a shape and one row of each parameter give a federation.

Everything else (optimum, constants, steps, trajectories) follows by arithmetic, so that rounding the parameters to rationals
gives an exact instance again.
"""

import numpy as np

from bounds.language.claim import Claim
from synthetic.base.federation import Federation
from synthetic.base.noise import FiniteNoise, NoNoise
from synthetic.numbers.arrays import Backend, namespace
from synthetic.quadratic.turned import Turned
from verify.claims.needs import always_available
from verify.claims.sizes import allowed
from verify.instances.parameters import Parameters, spec_of
from verify.instances.shape import Shape

__all__ = ["admissible", "federation_of", "outcomes"]


def outcomes(shape: Shape) -> tuple[int, int]:
    """The number of outcomes (noise, sampling) that an exact expectation over this shape enumerates."""
    return shape.family.outcomes(shape)


def federation_of(shape: Shape, params: Parameters, backend: Backend) -> Federation:
    """The federation of a batch of instances; priority clients come first.

    Where ``tie`` is 1, a free client's offset is such that its loss equals the objective at the start: the border of every
    comparison of losses. ``half_tangent`` turns the federation (:mod:`synthetic.quadratic.turned`), or each of its clients.
    """
    if "half_tangent" in params and shape.dim > 1:
        inner = {name: array for name, array in params.items() if name != "half_tangent"}
        tangent = backend.array(params["half_tangent"])
        return Turned(federation_of(shape, inner, backend), tangent[:, 0] if tangent.shape[1] == 1 else tangent)
    priority = np.broadcast_to(shape.is_priority, params["weight"].shape)
    common = {"weights": params["weight"], "priority": priority, "noise": _noise(shape, params, backend)}
    federation = shape.family.federation(shape, params, backend, offset=params["offset"], **common)
    if "tie" not in params or not (params["tie"] != 0).any():
        return federation
    start = federation.x_star + backend.array(params["start_offset"])
    gap = federation.objective(start)[:, None] - federation.value(federation.all_clients(start))
    offset = federation.offset if federation.offset.ndim == 2 else federation.offset[..., 0]
    offset = offset + gap * backend.array(params["tie"] * ~priority)
    return shape.family.federation(shape, params, backend, offset=offset, **common)


def _noise(shape, params, backend):
    if not shape.noisy:
        return NoNoise()
    law = shape.noise_law if backend.library in ("exact", "balls") else [[*map(float, one)] for one in shape.noise_law]
    amplitude, noise = 0 * backend.array(params["center"]), backend.array(params["noise"])
    for slot, client in enumerate(shape.noisy):
        amplitude[:, client] = noise[:, slot]
    atoms = namespace(amplitude).stack([amplitude * factor for _, factor in law], axis=2)
    return FiniteNoise(atoms, backend.array([chance for chance, _ in law]))


#: domain -> whether it contains all numbers of an array; of the domains that exclude some
_INSIDE = {
    "positive": lambda a: (a > 0).all(), "fraction": lambda a: (a > 0).all(), "factor": lambda a: not (a < 1).any(),
    "nonnegative": lambda a: not (a < 0).any(), "binary": lambda a: ((a == 0) | (a == 1)).all(),
    "simplex": lambda a: not (a < 0).any() and (a.sum(axis=-1) > 0).all(),
}


def admissible(claim: Claim, shape: Shape, params: Parameters) -> bool:
    """Whether every parameter of a batch lies in its domain, and the sizes meet the claim's conditions on them."""
    if not allowed(claim, shape.as_sizes()):
        return False
    if claim.setting == "run" and shape.subset is not None and not 1 <= shape.subset <= shape.taking_part:
        return False
    if not all(_INSIDE[spec_of(claim, name).domain](array) for name, array in params.items()
               if spec_of(claim, name).domain in _INSIDE):
        return False
    if "available" in params and always_available(claim) and not (params["available"] == 1).all():
        return False
    equal = claim.procedure is not None and claim.procedure.equal_weights
    if equal and not (params["weight"] == params["weight"][:, :1]).all():
        return False
    return "included" not in params or bool((params["included"][:, shape.is_priority] == 1).all())
