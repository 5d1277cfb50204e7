"""Small instances as plain numbers: the discrete shape, and the continuous leaves of a whole batch.

An instance is a shape plus one row of each leaf. Everything else (optimum, constants, steps, trajectories) follows from
them by exact arithmetic, so that rounding the leaves to rationals gives an exact instance again.
"""

from __future__ import annotations

import numpy as np

from bounds.language.claim import Claim
from synthetic.base.noise import FiniteNoise, NoNoise
from synthetic.numbers.arrays import Backend, namespace
from synthetic.piecewise.piecewise import Piecewise
from synthetic.quadratic.quadratic import Quadratic
from synthetic.quadratic.turned import Turned
from verify.claims.needs import always_available
from verify.claims.sizes import allowed
from verify.instances.leaves import DOMAINS, POSITIVE, Leaves
from verify.instances.outcomes import numbers_of_outcomes
from verify.instances.piecewise import piecewise_federation
from verify.instances.sample_federations import outcomes_of_data
from verify.instances.shape import Shape

__all__ = ["admissible", "federation_of", "outcomes"]


def outcomes(shape: Shape) -> tuple[int, int]:
    """How many outcomes (noise, sampling) an exact expectation over this shape enumerates."""
    if shape.data is not None:
        return outcomes_of_data(shape)
    return numbers_of_outcomes(shape)


def federation_of(shape: Shape, leaves: Leaves, backend: Backend) -> Quadratic | Piecewise | Turned:
    """The federation of a batch of instances (diagonal Hessians; priority clients come first).

    Where the leaf ``tie`` is 1, a free client's offset is such that its loss equals the objective at the start: the border
    of every comparison of losses. Where there is a leaf ``half_tangent``, all that is turned (:mod:`synthetic.turned`).
    """
    if "half_tangent" in leaves and shape.dim > 1:
        inner = {name: array for name, array in leaves.items() if name != "half_tangent"}
        return Turned(federation_of(shape, inner, backend), backend.array(leaves["half_tangent"])[:, 0])
    priority = np.broadcast_to(np.arange(shape.clients) < shape.priority_clients, leaves["weight"].shape)
    noise = _noise(shape, leaves, backend)

    def build(offset):
        if shape.family == "piecewise":
            return piecewise_federation(leaves, offset, priority, noise, backend, shape.layers)
        curvature = backend.array(leaves["curvature"])
        curvature = namespace(curvature).broadcast_to(curvature, tuple(leaves["center"].shape))
        return Quadratic(curvature, leaves["center"], offset, leaves["weight"], priority, noise, backend,
                         shape.layers or None)

    federation = build(leaves["offset"])
    if "tie" not in leaves or not (leaves["tie"] != 0).any():
        return federation
    start = federation.x_star + backend.array(leaves["start_offset"])
    gap = federation.objective(start)[:, None] - federation.value(federation.all_clients(start))
    offset = federation.offset if federation.offset.ndim == 2 else federation.offset[..., 0]
    return build(offset + gap * backend.array(leaves["tie"] * ~priority))


def _noise(shape, leaves, backend):
    if not shape.noisy:
        return NoNoise()
    rare = shape.rare if backend.library in ("exact", "balls") else float(shape.rare)
    amplitude, noise = 0 * backend.array(leaves["center"]), backend.array(leaves["noise"])
    for slot, client in enumerate(shape.noisy):
        amplitude[:, client] = noise[:, slot]
    atoms = namespace(amplitude).stack([amplitude * (1 - rare), -amplitude * rare], axis=2)
    return FiniteNoise(atoms, backend.array([rare, 1 - rare]))


def admissible(claim: Claim, shape: Shape, leaves: Leaves) -> bool:
    """Whether every leaf of an exact batch lies where it must: signs, truth values, shares, factors of at least one; and
    whether the sizes meet the claim's conditions on them."""
    if not allowed(claim, shape.as_sizes()):
        return False
    if claim.setting == "run" and shape.trackers is not None and not 1 <= shape.trackers <= shape.most_trackers:
        return False
    domains = {v.name: v.domain for v in claim.variables}
    for name, array in leaves.items():
        domain = domains.get(name) or ("positive" if name in POSITIVE else DOMAINS.get(name, "real"))
        if name.startswith("slack:") and (array < 1).any():
            return False
        if domain == "positive" and not (array > 0).all():
            return False
        if domain in ("nonnegative", "simplex") and (array < 0).any():
            return False
        if domain == "simplex" and not (array.sum(axis=-1) > 0).all():
            return False
        if domain == "binary" and not ((array == 0) | (array == 1)).all():
            return False
    if "available" in leaves and always_available(claim) and not (leaves["available"] == 1).all():
        return False
    equal = claim.procedure is not None and claim.procedure.equal_weights
    if equal and not (leaves["weight"] == leaves["weight"][:, :1]).all():
        return False
    priority = np.arange(shape.clients) < shape.priority_clients
    return "included" not in leaves or bool((leaves["included"][:, priority] == 1).all())
