"""Small instances as plain numbers: the discrete shape, and the continuous leaves of a whole batch.

An instance is a shape plus one row of each leaf. Everything else (optimum, constants, steps, trajectories) follows from
them by exact arithmetic, so that rounding the leaves to rationals gives an exact instance again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np

from bounds.claim import Claim
from synthetic.arrays import Backend, namespace
from synthetic.draws import CLIENTS, NOISE, EnumeratedDraws
from synthetic.noise import FiniteNoise, NoNoise
from synthetic.piecewise import Piecewise
from synthetic.quadratic import Quadratic
from verify.data_instances import KINDS, outcomes_of_data
from verify.piecewise_instances import PIECES, piecewise_federation
from verify.worlds import DataShape

__all__ = [
    "POSITIVE", "Leaves", "Shape", "admissible", "always_available", "enumerate_chance", "federation_of", "map_leaves",
    "outcomes", "take_rows", "with_times",
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

    @property
    def iterations(self) -> int:
        return self.local_steps * self.rounds

    @property
    def priority_clients(self) -> int:
        return self.clients - self.free

    def as_sizes(self) -> dict[str, int]:
        """The integers that claims may name."""
        return {
            "clients": self.clients, "iterations": self.iterations, "local_steps": self.local_steps,
            "participants": self.participants, "rounds": self.rounds, "dim": self.dim,
            "priority_clients": self.priority_clients, **dict(self.sizes),
            **({"samples": self.data.samples} if self.data else {}),
        }


def outcomes(shape: Shape) -> tuple[int, int]:
    """How many outcomes (noise, sampling) an exact expectation over this shape enumerates."""
    if shape.data is not None:
        return outcomes_of_data(shape)
    noise = 2 ** (len(shape.noisy) * shape.iterations)
    return noise, len(_sampling_round(shape)) ** shape.rounds


def _sampling_round(shape: Shape) -> list[tuple[int, ...]]:
    if shape.sampling == "full":
        return [()]
    if shape.sampling == "with-replacement":
        return list(product(range(shape.priority_clients), repeat=shape.participants))
    return list(combinations(range(shape.priority_clients), shape.participants))


def federation_of(shape: Shape, leaves: Leaves, backend: Backend) -> Quadratic | Piecewise:
    """The federation of a batch of instances (diagonal Hessians; priority clients come first).

    Where the leaf ``tie`` is 1, a free client's offset is such that its loss equals the objective at the start: the border
    of every comparison of losses.
    """
    priority = np.broadcast_to(np.arange(shape.clients) < shape.priority_clients, leaves["weight"].shape)
    noise = _noise(shape, leaves, backend)

    def build(offset):
        if shape.family == "piecewise":
            return piecewise_federation(leaves, offset, priority, noise, backend)
        return Quadratic(leaves["curvature"], leaves["center"], offset, leaves["weight"], priority, noise, backend)

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
    rare = shape.rare if backend.library == "exact" else float(shape.rare)
    amplitude, noise = 0 * backend.array(leaves["center"]), backend.array(leaves["noise"])
    for slot, client in enumerate(shape.noisy):
        amplitude[:, client] = noise[:, slot]
    atoms = namespace(amplitude).stack([amplitude * (1 - rare), -amplitude * rare], axis=2)
    return FiniteNoise(atoms, backend.array([rare, 1 - rare]))


def enumerate_chance(shape: Shape, weights, backend: Backend):
    """Every outcome of noise and client sampling.

    ``weights`` are the normalised p_k (instances, clients). Returns draws for ``instances * noise * sampling`` runs in
    that nesting, and the probabilities (1, noise) and (instances, sampling).
    """
    instances = weights.shape[0]
    noise_rows = list(product((0, 1), repeat=len(shape.noisy) * shape.iterations))
    table = np.zeros((len(noise_rows), shape.iterations, shape.clients), dtype=np.int64)
    if shape.noisy:
        table[:, :, list(shape.noisy)] = np.array(noise_rows).reshape(len(noise_rows), shape.iterations, -1)
    rare = [Fraction(shape.rare), 1 - Fraction(shape.rare)]
    noise_weight = np.array([[_product(rare[o] for o in row) for row in noise_rows]], dtype=object)

    per_round = _sampling_round(shape)
    paths = list(product(per_round, repeat=shape.rounds))
    drawn = np.array(paths, dtype=np.int64).reshape(len(paths), shape.rounds, -1)
    if shape.sampling == "with-replacement":
        p = backend.array(weights)
        sampling_weight = np.stack([_product(p[:, int(c)] for c in path.reshape(-1)) for path in drawn], axis=1)
    else:
        sampling_weight = np.full((1, len(paths)), Fraction(1, len(paths)), dtype=object)

    both = (instances, len(noise_rows), len(paths))
    tables = {NOISE: _spread(table, both, 1)}
    if shape.sampling != "full":
        tables[CLIENTS] = _spread(drawn, both, 2)
    return EnumeratedDraws(tables, backend), backend.array(noise_weight), backend.array(sampling_weight)


def _spread(table, both, axis):
    lead = [1, 1, 1]
    lead[axis] = table.shape[0]
    spread = np.broadcast_to(table.reshape(*lead, *table.shape[1:]), (*both, *table.shape[1:]))
    return spread.reshape(-1, *table.shape[1:])


def _product(factors):
    total: Any = 1
    for factor in factors:
        total = total * factor
    return total


def admissible(claim: Claim, shape: Shape, leaves: Leaves) -> bool:
    """Whether every leaf of an exact batch lies where it must: signs, truth values, shares, factors of at least one."""
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


def with_times(shape: Shape, leaves: Leaves, local_steps: int, rounds: int) -> tuple[Shape, Leaves]:
    """The instance with other run lengths: times are cut off, or the last one is repeated."""
    lengths = {"step_fraction": local_steps * rounds, "epsilon": rounds + 1, "available": rounds + 1}

    def fit(name, array):
        if name not in lengths:
            return array
        return np.take(array, np.minimum(np.arange(lengths[name]), array.shape[1] - 1), axis=1)

    return replace(shape, local_steps=local_steps, rounds=rounds), map_leaves(leaves, fit)


def take_rows(leaves: Leaves, rows) -> Leaves:
    """The instances numbered ``rows``."""
    return {name: array[rows] for name, array in leaves.items()}
