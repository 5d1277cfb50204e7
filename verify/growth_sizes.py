"""Larger instances of a claim, and further along its limits: sizes set, numbers scaled, everything else as it was."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bounds.claim import Claim
from verify.assumed import ASSUMED
from verify.instances import Leaves, Shape, always_available, map_leaves, with_participants, with_times, with_trackers
from verify.piecewise_instances import PIECES
from verify.procedures import free_starts

__all__ = ["FREE_WEIGHT", "RUN_SIZES", "Together", "moved", "resized", "scalable", "scaled", "simple_shape", "tame",
           "tame_shape"]

#: sizes of a run that every instance has
RUN_SIZES = ("rounds", "iterations", "local_steps", "clients", "participants")
#: the total weight of the free clients, which grows as the weights of all of them do
FREE_WEIGHT = "free_weight"
_BY_CLIENT = {"curvature": 1, "center": 1, "offset": 1, "weight": 1, "included": 1, "local_offset": 1, "available": 2,
              "tie": 1} | dict.fromkeys(PIECES, 1)
_GRADIENTS = 8  # times as large as tame numbers may gradients on tame instances be
#: leaves that say yes or no
_TRUTH = frozenset({"included", "available", "tie"})


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


def moved(claim: Claim, shape: Shape, leaves: Leaves, name: str | Together, size) -> tuple[Shape, Leaves]:
    """The instances with the size ``name`` set to ``size``, or with the number ``name`` multiplied by it."""
    if isinstance(name, Together) or name in RUN_SIZES or name in dict(shape.sizes):
        return resized(claim, shape, leaves, name, int(size))
    if name == FREE_WEIGHT and shape.free:
        free = np.arange(shape.clients) >= shape.priority_clients
        return shape, {**leaves, "weight": np.where(free, leaves["weight"] * size, leaves["weight"])}
    if name not in leaves:
        raise NotImplementedError(f"nothing moves {name} while everything else is fixed")
    return shape, {**leaves, name: leaves[name] * size}


def scalable(claim: Claim, leaves: Leaves) -> list[str]:
    """Names of the leaves that may be multiplied by a number."""
    domains = {v.name: v.domain for v in claim.variables}
    equal = claim.procedure is not None and claim.procedure.equal_weights
    return [n for n in sorted(leaves)
            if n not in _TRUTH and domains.get(n) not in ("binary", "simplex") and not (n == "weight" and equal)]


def scaled(leaves: Leaves, exponents: Leaves, factor) -> Leaves:
    """Every number times ``factor`` to the power that ``exponents`` has in its place; of factors from 1 on, what lies
    beyond 1."""
    def change(name, array):
        times = np.power(np.full(1, factor, dtype=array.dtype), exponents[name])
        return 1 + (array - 1) * times if name.startswith("slack:") else array * times

    return {n: change(n, a) if n in exponents else a for n, a in leaves.items()}


def tame_shape(claim: Claim, shape: Shape) -> Shape:
    """The shape without chance, so that a run may be long: no noise, and as many participants as clients."""
    participants = 1 if shape.sampling == "full" else shape.priority_clients
    if shape.sampling == "with-replacement":
        return replace(shape, clients=1 + shape.free, participants=1, noisy=())
    return with_trackers(replace(shape, participants=participants, noisy=()), participants)


def simple_shape(claim: Claim, shape: Shape) -> Shape:
    """The shape without chance, and with quadratic clients, of which there may be many."""
    return replace(tame_shape(claim, shape), family="quadratic", pieces=0)


def tame(claim: Claim, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    """The instances with every number between 1/4 and 2 or zero, fractions and thresholds the same at all times; some
    thresholds are zero after a few rounds.

    Whatever happens on them happens soon: no time scale is longer than a few dozen steps.
    """
    found = {}
    domains = {v.name: v.domain for v in claim.variables}
    for name, array in leaves.items():
        if name in _TRUTH or domains.get(name) == "binary":
            found[name] = array if name != "available" or always_available(claim) else array[:, :1] + 0 * array
            continue
        size = np.clip(np.round(abs(array) * 8) / 8, 0.25, 2.0)
        value = np.where(array == 0, 0.0, np.sign(array) * size)
        if name in ("step_fraction", "epsilon"):
            value = value[:, :1] + 0 * value
        if name == "step_fraction":
            value = np.minimum(np.where(rng.random((len(value), 1)) < 0.5, 1.0, value), 1.0)
        if name == "epsilon":
            value = np.where(array[:, :1] > 10, 1e9, value)
            open_for = rng.integers(1, 4, (len(value), 1))
            stopped = (np.arange(value.shape[1]) >= open_for) & (rng.random((len(value), 1)) < 0.5)
            value = np.where(stopped, 0.0, value)
        if name.startswith("slack:"):
            value = np.maximum(value, 1.0)
        if name.startswith(ASSUMED):
            value = _GRADIENTS * value
        found[name] = value
    return found
