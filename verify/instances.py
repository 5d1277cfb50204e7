"""Small instances as plain numbers: the discrete shape, and the continuous leaves of a whole batch.

An instance is a shape plus one row of each leaf. Everything else (optimum, constants, steps, trajectories) follows from
them by exact arithmetic, so that rounding the leaves to rationals gives an exact instance again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from bounds.claim import Claim
from synthetic.arrays import Backend, namespace
from synthetic.noise import FiniteNoise, NoNoise
from synthetic.piecewise import Piecewise
from synthetic.quadratic import Quadratic
from synthetic.turned import Turned
from verify.data_instances import KINDS, outcomes_of_data
from verify.outcomes import NOTHING_MORE, Chance, numbers_of_outcomes
from verify.piecewise_instances import PIECES, piecewise_federation
from verify.procedures import free_starts
from verify.sizes import allowed
from verify.worlds import DataShape

__all__ = [
    "POSITIVE", "Leaves", "Shape", "admissible", "always_available", "by_coordinates", "federation_of", "floats",
    "halves", "joined", "map_leaves", "number_of", "outcomes", "take_rows", "with_participants", "with_times",
    "with_trackers",
]

#: leaves that must be positive
POSITIVE = frozenset({"curvature", "weight", "step_fraction", "step_scale"})

Leaves = dict[str, np.ndarray]  # name -> (instances, ...), of floats or of Fractions


@dataclass(frozen=True)
class Shape:
    """The discrete part of an instance.

    ``noisy`` numbers the clients with two-point gradient noise, whose rarer outcome has probability ``rare``.
    ``data`` is there for claims about samples, whose clients are not the quadratic ones and have no noise besides.
    ``sizes`` holds the integer variables that a claim declares. ``family`` of clients: ``quadratic``, or ``piecewise`` with
    this many ``pieces`` by coordinate.
    ``layers`` are the sizes of the layers, none for claims that do not speak of layers; ``chance`` says what the method
    draws by itself.
    """

    clients: int = 1
    free: int = 0
    dim: int = 1
    local_steps: int = 1
    rounds: int = 1
    participants: int = 1
    sampling: str = "full"
    noisy: tuple[int, ...] = ()
    rare: Fraction = Fraction(1, 2)
    sizes: tuple[tuple[str, int], ...] = ()
    data: DataShape | None = None  #: of claims that speak of clients' samples
    family: str = "quadratic"
    pieces: int = 0
    layers: tuple[int, ...] = ()
    chance: Chance = NOTHING_MORE

    @property
    def iterations(self) -> int:
        return self.local_steps * self.rounds

    @property
    def priority_clients(self) -> int:
        return self.clients - self.free

    @property
    def trackers(self) -> int | None:
        """How many of the participants renew what they track, where the claim speaks of that number."""
        return dict(self.sizes).get("trackers")

    @property
    def most_trackers(self) -> int:
        """As many as take part."""
        return self.clients if self.sampling == "full" else self.participants

    def as_sizes(self) -> dict[str, int]:
        """The integers that claims may name."""
        return {
            "clients": self.clients, "iterations": self.iterations, "local_steps": self.local_steps,
            "participants": self.participants, "rounds": self.rounds, "dim": self.dim,
            "priority_clients": self.priority_clients, "layers": max(len(self.layers), 1), **dict(self.sizes),
            **({"samples": self.data.samples} if self.data else {}),
        }


def outcomes(shape: Shape) -> tuple[int, int]:
    """How many outcomes (noise, sampling) an exact expectation over this shape enumerates."""
    if shape.data is not None:
        return outcomes_of_data(shape)
    return numbers_of_outcomes(shape)


def by_coordinates(claim: Claim) -> set[str]:
    """Names of the leaves whose last axis has an entry for each coordinate."""
    vectors = {v.name for v in claim.variables if v.domain == "vector"}
    of_samples = set(KINDS) - {"sample_offset"}
    return vectors | of_samples | {"curvature", "center", "noise", "start_offset", "local_offset", *PIECES} | {
        f"start:{name}" for name in free_starts(claim.procedure)}


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
        domain = domains.get(name) or ("positive" if name in POSITIVE else _DOMAINS.get(name, "real"))
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


def always_available(claim: Claim) -> bool:
    """Whether the claim is about free clients that never stay away."""
    return claim.procedure is None or claim.procedure.free == "always"


_DOMAINS = KINDS | {"epsilon": "nonnegative", "included": "binary", "available": "binary", "tie": "binary"} | PIECES


def map_leaves(leaves: Leaves, change: Callable[[str, np.ndarray], np.ndarray]) -> Leaves:
    """The leaves with ``change(name, array)`` in place of each array."""
    return {name: change(name, array) for name, array in leaves.items()}


def with_times(shape: Shape, leaves: Leaves, local_steps: int, rounds: int, variables=()) -> tuple[Shape, Leaves]:
    """The instance with other run lengths: times are cut off, or the last one is repeated; also of the ``variables`` of a
    claim whose first index is a time."""
    lengths = {"step_fraction": local_steps * rounds, "epsilon": rounds + 1, "available": rounds + 1}
    by_size = {"rounds": rounds, "iterations": local_steps * rounds}
    lengths |= {v.name: by_size[v.indices[0][1]] for v in variables if v.indices and v.indices[0][1] in by_size}

    def fit(name, array):
        if name not in lengths:
            return array
        return np.take(array, np.minimum(np.arange(lengths[name]), array.shape[1] - 1), axis=1)

    return replace(shape, local_steps=local_steps, rounds=rounds), map_leaves(leaves, fit)


def with_participants(shape: Shape, participants: int) -> Shape:
    """The shape with another number of participants, of which at most as many track."""
    return with_trackers(replace(shape, participants=participants), participants, at_most=True)


def with_trackers(shape: Shape, trackers: int, at_most: bool = False) -> Shape:
    """The shape with this number of trackers, or at most as many; itself where it has no such number."""
    sizes = tuple((name, (min(size, trackers) if at_most else trackers) if name == "trackers" else size)
                  for name, size in shape.sizes)
    return replace(shape, sizes=sizes)


def take_rows(leaves: Leaves, rows) -> Leaves:
    """The instances numbered ``rows``."""
    return {name: array[rows] for name, array in leaves.items()}


def joined(batches: Sequence[Leaves]) -> Leaves:
    """The instances of several batches, at least one, whose arrays have the same shapes but for their number."""
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def floats(leaves: Leaves) -> Leaves:
    """The instances in float64."""
    return {name: np.asarray(array, dtype=np.float64) for name, array in leaves.items()}


def number_of(leaves: Leaves) -> int:
    """How many instances there are; one where they have no leaves."""
    return next((len(array) for array in leaves.values()), 1)


def halves(leaves: Leaves) -> tuple[Leaves, Leaves]:
    """The first half of the instances, and the others."""
    middle = number_of(leaves) // 2
    return take_rows(leaves, slice(middle)), take_rows(leaves, slice(middle, None))
