"""Instances with one client more, or one less."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bounds.claim import Claim
from verify.data_instances import KINDS
from verify.federation_constants import needs_equal_curvatures
from verify.instances import Leaves, Shape, map_leaves
from verify.piecewise_instances import PIECES
from verify.procedures import free_starts

__all__ = ["with_client_twice", "without_client"]


def without_client(claim: Claim, shape: Shape, leaves: Leaves, client: int) -> tuple[Shape, Leaves] | None:
    """The instance without a client; None for the last priority client, or where fewer would be left than are sampled."""
    is_free = client >= shape.priority_clients
    if not is_free and shape.priority_clients == 1:
        return None
    if shape.sampling == "without-replacement" and not is_free and shape.participants == shape.priority_clients:
        return None
    kept = [k for k in range(shape.clients) if k != client]
    new = _taken(claim, shape, leaves, kept)
    slots = [s for s, k in enumerate(shape.noisy) if k != client]
    noisy = tuple(kept.index(shape.noisy[s]) for s in slots)
    if "noise" in new:
        new["noise"] = new["noise"][:, slots]
        if not noisy:
            del new["noise"]
    return replace(shape, clients=shape.clients - 1, free=shape.free - is_free, noisy=noisy), new


def with_client_twice(claim: Claim, shape: Shape, leaves: Leaves, client: int) -> tuple[Shape, Leaves]:
    """The instance with a second client like this one, but for its noise, of which it has none."""
    kept = [k for k in range(shape.clients) for _ in range(1 + (k == client))]
    noisy = tuple(k + (k > client) for k in shape.noisy)
    is_free = client >= shape.priority_clients
    return (replace(shape, clients=shape.clients + 1, free=shape.free + is_free, noisy=noisy),
            _taken(claim, shape, leaves, kept))


def _taken(claim: Claim, shape: Shape, leaves: Leaves, kept: list[int]) -> Leaves:
    """The leaves of the clients numbered ``kept``."""
    by_client = {"curvature": 1, "center": 1, "offset": 1, "weight": 1, "included": 1, "local_offset": 1, "available": 2,
                 "tie": 1, **dict.fromkeys(KINDS, 1)}
    for variable in claim.variables:
        for axis, (_, size) in enumerate(variable.indices):
            if size == "clients":
                by_client[variable.name] = 1 + axis
    by_client |= dict.fromkeys(PIECES, 1)
    by_client |= {f"start:{name}": 1 for name, each in free_starts(claim.procedure).items() if each}
    if needs_equal_curvatures(claim) and "curvature" in leaves and leaves["curvature"].shape[1] == 1:
        del by_client["curvature"]  # one for all clients
    by_client = {n: axis for n, axis in by_client.items() if n in leaves and leaves[n].shape[axis] == shape.clients}
    return map_leaves(leaves, lambda n, a: np.take(a, kept, axis=by_client[n]) if n in by_client else a)
