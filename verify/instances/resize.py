"""Instances with more or fewer clients, and with other run lengths."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bounds.language.claim import Claim
from verify.claims.method import free_starts
from verify.claims.needs import needs_equal_curvatures
from verify.instances.leaves import KINDS, PIECES, Leaves, map_leaves
from verify.instances.shape import Shape, with_participants, with_times, with_trackers

__all__ = ["RUN_SIZES", "Together", "resized", "with_client_twice", "without_client"]


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


#: sizes of a run that every instance has
RUN_SIZES = ("rounds", "iterations", "local_steps", "clients", "participants")
_BY_CLIENT = {"curvature": 1, "center": 1, "offset": 1, "weight": 1, "included": 1, "local_offset": 1, "available": 2,
              "tie": 1} | dict.fromkeys(PIECES, 1)


@dataclass(frozen=True)
class Together:
    """Sizes ``names`` that are multiplied by one number; ``least`` has them, and sizes that stay, at the number 1."""

    names: tuple[str, ...]
    least: tuple[tuple[str, int], ...]

    def __str__(self):
        return " and ".join(self.names)

    def at(self, factor: int) -> tuple[tuple[str, int], ...]:
        """All sizes where these are multiplied by the factor."""
        return tuple((name, size * factor if name in self.names else size) for name, size in self.least)


def resized(claim: Claim, shape: Shape, leaves: Leaves, name: str | Together, size: int) -> tuple[Shape, Leaves]:
    """The instances with another size called ``name``: the last step is repeated, clients are copied in turn.

    Raises NotImplementedError for a name that is no size of the instance, and ValueError for a size that it cannot have.
    """
    if isinstance(name, Together):
        for each, least in name.at(size):
            shape, leaves = resized(claim, shape, leaves, each, least)
        return shape, leaves
    if name in ("rounds", "iterations"):
        rounds, rest = (size, 0) if name == "rounds" else divmod(size, shape.local_steps)
        if rest:
            raise ValueError(f"{size} iterations are no whole number of rounds of {shape.local_steps} local steps")
        return with_times(shape, leaves, shape.local_steps, rounds)
    if name == "local_steps":
        sizes = tuple((n, size if n == name else s) for n, s in shape.sizes)
        return with_times(replace(shape, sizes=sizes), leaves, size, shape.rounds)
    if shape.data is not None and name in ("clients", "participants"):
        raise NotImplementedError(f"clients with samples are not copied, so that {name} stays")
    if name == "participants":
        if shape.sampling == "without-replacement" and size > shape.priority_clients:
            raise ValueError(f"at most {shape.priority_clients} participants; got {size}")
        return with_participants(shape, size), leaves
    if name == "clients":
        return _with_clients(claim, shape, leaves, size)
    if name in dict(shape.sizes):
        sizes = tuple((n, size if n == name else s) for n, s in shape.sizes)
        new = replace(shape, sizes=sizes)
        return new, map_leaves(leaves, lambda leaf, a: _longer(claim, leaf, a, name, new.as_sizes()))
    raise NotImplementedError(f"{name} is no size of an instance")


def _longer(claim, leaf, array, name, sizes):
    for variable in claim.variables:
        if variable.name == leaf:
            for axis, (_, size) in enumerate(variable.indices):
                if size == name:
                    array = np.take(array, np.minimum(np.arange(sizes[size]), array.shape[1 + axis] - 1), axis=1 + axis)
    return array


def _with_clients(claim, shape, leaves, clients):
    if shape.free:
        raise NotImplementedError("copies of clients are made without free clients only")
    by_client = _BY_CLIENT | {f"start:{name}": 1 for name, each in free_starts(claim.procedure).items() if each}
    for variable in claim.variables:
        for axis, (_, size) in enumerate(variable.indices):
            if size == "clients":
                by_client[variable.name] = 1 + axis
    kept = np.arange(clients) % shape.clients
    own = {n: axis for n, axis in by_client.items() if n in leaves and leaves[n].shape[axis] == shape.clients}
    new = map_leaves(leaves, lambda n, a: np.take(a, kept, axis=own[n]) if n in own else a)
    noisy = tuple(k for k in range(clients) if k % shape.clients in shape.noisy)
    if noisy:
        new["noise"] = leaves["noise"][:, [shape.noisy.index(k % shape.clients) for k in noisy]]
    else:
        new.pop("noise", None)
    everybody = shape.sampling == "without-replacement" and shape.participants == shape.clients
    new_shape = replace(shape, clients=clients, noisy=noisy, participants=clients if everybody else shape.participants)
    return (with_trackers(new_shape, clients) if everybody and shape.trackers == shape.clients else new_shape), new
