"""Clients with samples as federations, one for every data set that may have been drawn."""

from dataclasses import replace

import numpy as np

from synthetic.numbers.arrays import BALLS, EXACT, Backend, to_numpy
from synthetic.piecewise.piecewise import Piecewise
from verify.instances.leaves import Leaves
from verify.instances.worlds import Worlds, worlds_of

__all__ = ["PIECES", "atoms_of", "negated", "with_federations"]

PIECES = ("sample_slope", "sample_knot", "sample_width")


def _federation(leaves, atoms, backend: Backend, copies: int = 1, **options) -> Piecewise:
    """Clients with the samples numbered ``atoms`` (data sets, clients, samples), for every row of the leaves; instances are
    nested as ``copies``, row, data set."""
    sets, clients, _ = atoms.shape
    rows = leaves["sample_center"].shape[0]
    where = np.arange(rows)[:, None, None, None], np.arange(clients)[None, None, :, None], atoms[None]

    def taken(name):
        array = leaves[name]
        array = np.broadcast_to(array, (*array.shape[:2], leaves["sample_center"].shape[2], *array.shape[3:]))
        return np.moveaxis(array[where], -2, -1) if name in PIECES else array[where]

    if not leaves["sample_slope"].shape[3]:  # one that is zero
        none = np.zeros((*leaves["sample_center"].shape[:3], 1, leaves["sample_center"].shape[3]), dtype=int)
        leaves = leaves | dict.fromkeys(PIECES, none)

    def flat(array):
        array = array.reshape(rows, copies, sets // copies, *array.shape[2:])
        return np.moveaxis(array, 1, 0).reshape(rows * sets, *array.shape[3:])

    arrays = [flat(taken(name)) for name in ("sample_curvature", "sample_center", "sample_slope", "sample_knot",
                                             "sample_width", "sample_offset")]
    return Piecewise(*arrays, backend=backend, **options)


def _atoms_alone(leaves, backend: Backend) -> Piecewise:
    """Every atom as a client of its own, client by client."""
    clients, atoms = leaves["sample_center"].shape[1:3]
    every = np.broadcast_to(np.arange(atoms), (1, clients, atoms))
    law = _federation(leaves, every, backend)._decided
    parts = (law.curvature, law.center, law.slope, law.knot, law.width, law.offset)
    return Piecewise(*(a.reshape(a.shape[0], a.shape[1] * a.shape[2], *a.shape[3:]) for a in parts), backend=backend)


def negated(federation: Piecewise) -> Piecewise:
    """The federation of the negative losses, of clients without samples and without curvature."""
    own = federation._decided
    parts = (part[:, :, 0] for part in (own.curvature, own.center, -own.slope, own.knot, own.width))
    return Piecewise(*parts, -own.offset[:, :, 0], backend=federation.backend)


def explicit(family, leaves: Leaves, backend: Backend) -> Leaves:
    """The leaves with every piece written out. Bounded losses are pairs of pieces at a distance of ``sample_center``, the
    second subtracted from the first, moved up so that their infimum is ``sample_offset``."""
    if not family.bounded:
        return leaves
    distance = leaves["sample_center"][:, :, :, None] + 0 * leaves["sample_knot"]
    leaves = leaves | {
        "sample_slope": np.concatenate([leaves["sample_slope"], -leaves["sample_slope"]], axis=3),
        "sample_knot": np.concatenate([leaves["sample_knot"], leaves["sample_knot"] + distance], axis=3),
        "sample_width": np.concatenate([leaves["sample_width"], leaves["sample_width"]], axis=3),
    }
    exactly = EXACT if backend == BALLS else backend  # the infimum of fractions is one
    lowest = to_numpy(_atoms_alone(leaves | {"sample_offset": 0 * leaves["sample_offset"]}, exactly).F_star_client)
    return leaves | {"sample_offset": leaves["sample_offset"] - lowest.reshape(leaves["sample_offset"].shape)}


def with_federations(shape, leaves, backend: Backend, fixed: bool) -> tuple[Worlds, Piecewise]:
    """The worlds of a batch, and the federations of both runs: instances nested as run, row, world."""
    leaves = explicit(shape.family, leaves, backend)
    participants = None if shape.sampling == "full" else shape.participants
    worlds = worlds_of(shape.family, shape.chance, shape.clients, shape.iterations, shape.rounds, participants)
    every = np.broadcast_to(np.arange(shape.family.atoms), (1, shape.clients, shape.family.atoms))
    law = _federation(leaves, every, backend, batch_size=1)
    each = _atoms_alone(leaves, backend)
    runs = _federation(leaves, np.concatenate([worlds.data, worlds.twin]), backend, copies=2, batch_size=1)
    return replace(worlds, fixed=fixed, law=law, each=each), runs


def atoms_of(family, leaves: Leaves, text) -> list:
    """The atoms of instance 0, by client, as certificates carry them; ``text`` writes arrays."""
    leaves = explicit(family, {name: array[:1] for name, array in leaves.items()}, EXACT)
    curvature, knots = leaves["sample_curvature"], leaves["sample_knot"]

    def atom(k, a):
        pieces = [[text(leaves[name][0, k, a, p]) for name in PIECES] for p in range(knots.shape[3])]
        return {"curvature": text(curvature[0, k, a if curvature.shape[2] > 1 else 0]), "pieces": pieces,
                "center": text(leaves["sample_center"][0, k, a]), "offset": text(leaves["sample_offset"][0, k, a])}

    return [[atom(k, a) for a in range(family.atoms)] for k in range(knots.shape[1])]
