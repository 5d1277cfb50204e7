"""Neighbours of an instance: the same with another integer of the claim, other participants, or noise in other clients."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bounds.claim import Claim
from verify.instances import Leaves, Shape, with_participants
from verify.sizes import integer_variables

__all__ = ["with_another_integer", "with_other_noise", "with_other_participants"]


def with_another_integer(claim: Claim, shape: Shape, rng: np.random.Generator) -> Shape:
    """The shape with one of the claim's integer variables one larger or smaller; not one that sizes arrays or runs."""
    lengths = {size for v in claim.variables for _, size in v.indices} | {"local_steps"}
    own = [v for v in integer_variables(claim).values() if v.name not in lengths and v.name in dict(shape.sizes)]
    if not own:
        return shape
    chosen = own[int(rng.integers(len(own)))]
    value = dict(shape.sizes)[chosen.name] + int(rng.choice([-1, 1]))
    if value < chosen.low or (chosen.high is not None and value > chosen.high):
        return shape
    return replace(shape, sizes=tuple((name, value if name == chosen.name else size) for name, size in shape.sizes))


def with_other_participants(shape: Shape, rng: np.random.Generator) -> Shape:
    """The shape with one participant more or less, where clients are sampled without replacement."""
    if shape.sampling != "without-replacement":
        return shape
    return with_participants(shape, int(np.clip(shape.participants + rng.choice([-1, 1]), 1, shape.priority_clients)))


def with_other_noise(shape: Shape, leaves: Leaves, rng: np.random.Generator) -> tuple[Shape, Leaves]:
    """The instance, a row of leaves, with noise in a client that had none, or without that of one that had some."""
    client, noise = int(rng.integers(shape.clients)), leaves.get("noise", np.zeros((1, 0, shape.dim)))
    amplitude = dict(zip(shape.noisy, np.moveaxis(noise, 1, 0), strict=True))
    if client in amplitude:
        del amplitude[client]
    else:
        amplitude[client] = 10 ** rng.uniform(-2, 1) * rng.normal(size=(1, shape.dim))
    noisy, rest = tuple(sorted(amplitude)), {name: array for name, array in leaves.items() if name != "noise"}
    if noisy:
        rest["noise"] = np.stack([amplitude[k] for k in noisy], axis=1)
    return replace(shape, noisy=noisy), rest
