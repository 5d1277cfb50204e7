"""Larger instances of a claim, and further along its limits: sizes set, numbers scaled, everything else as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bounds.language.claim import Claim
from verify.claims.needs import always_available
from verify.instances.leaves import SLACK, Leaves, leaf_of, within_domain
from verify.instances.quadratic import QUADRATIC
from verify.instances.resize import RUN_SIZES, Together, resized
from verify.instances.shape import Shape, with_subset

__all__ = ["FREE_WEIGHT", "moved", "scalable", "scaled", "simple_shape", "tame", "tame_shape"]

#: the total weight of the free clients, which grows as the weights of all of them do
FREE_WEIGHT = "free_weight"
_GRADIENTS = 8  # times as large as tame numbers may gradients on tame instances be


def moved(claim: Claim, shape: Shape, leaves: Leaves, name: str | Together, size) -> tuple[Shape, Leaves]:
    """The instances with the size ``name`` set to ``size``, or with the number ``name`` multiplied by it."""
    if isinstance(name, Together) or name in RUN_SIZES or name in dict(shape.sizes):
        return resized(claim, shape, leaves, name, int(size))
    if name == FREE_WEIGHT and shape.free:
        return shape, {**leaves, "weight": np.where(shape.is_priority, leaves["weight"], leaves["weight"] * size)}
    if name not in leaves:
        raise NotImplementedError(f"nothing moves {name} while everything else is fixed")
    return shape, {**leaves, name: leaves[name] * size}


def scalable(claim: Claim, leaves: Leaves) -> list[str]:
    """Names of the leaves that may be multiplied by a number."""
    equal = claim.procedure is not None and claim.procedure.equal_weights
    return [name for name in sorted(leaves)
            if leaf_of(claim, name).domain not in ("binary", "simplex") and not (name == "weight" and equal)]


def scaled(leaves: Leaves, exponents: Leaves, factor) -> Leaves:
    """Every number times ``factor`` to the power that ``exponents`` has in its place; of factors from 1 on, what lies
    beyond 1."""
    def change(name, array):
        times = np.power(np.full(1, factor, dtype=array.dtype), exponents[name])
        return 1 + (array - 1) * times if name.startswith(SLACK) else array * times

    return {n: change(n, a) if n in exponents else a for n, a in leaves.items()}


def tame_shape(claim: Claim, shape: Shape) -> Shape:
    """The shape without chance, so that a run may be long: no noise, and as many participants as clients."""
    participants = 1 if shape.sampling == "full" else shape.priority_clients
    if shape.sampling == "with-replacement":
        return replace(shape, clients=1 + shape.free, participants=1, noisy=())
    return with_subset(replace(shape, participants=participants, noisy=()), participants)


def simple_shape(claim: Claim, shape: Shape) -> Shape:
    """The shape without chance, and with quadratic clients, of which there may be many."""
    return replace(tame_shape(claim, shape), family=shape.family if shape.family.coupled else QUADRATIC)


def tame(claim: Claim, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    """The instances with every number between 1/4 and 2 or zero, fractions and thresholds the same at all times; some
    thresholds are zero after a few rounds.

    Whatever happens on them happens soon: no time scale is longer than a few dozen steps.
    """
    found = {}
    for name, array in leaves.items():
        domain = leaf_of(claim, name).domain
        if domain == "binary":
            found[name] = array if name != "available" or always_available(claim) else array[:, :1] + 0 * array
            continue
        size = np.clip(np.round(abs(array) * 8) / 8, 0.25, 2.0)
        value = np.where(array == 0, 0.0, np.sign(array) * size)
        if name in ("step_fraction", "epsilon"):
            value = value[:, :1] + 0 * value
        if name == "step_fraction":
            value = np.where(rng.random((len(value), 1)) < 0.5, 1.0, value)
        if name == "epsilon":
            value = np.where(array[:, :1] > 10, 1e9, value)
            open_for = rng.integers(1, 4, (len(value), 1))
            stopped = (np.arange(value.shape[1]) >= open_for) & (rng.random((len(value), 1)) < 0.5)
            value = np.where(stopped, 0.0, value)
        found[name] = within_domain(domain, _GRADIENTS * value if domain == "constant" else value)
    return found
