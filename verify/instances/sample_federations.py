"""Clients with samples as federations, one for every data set that may have been drawn."""

from dataclasses import replace

import numpy as np

from synthetic.numbers.arrays import BALLS, EXACT, Backend, to_numpy
from synthetic.piecewise.piecewise import Piecewise
from verify.instances.data_sets import DataSets, data_sets_of
from verify.instances.parameters import Parameters

__all__ = ["PIECES", "atoms_of", "negated", "with_federations"]

PIECES = ("sample_slope", "sample_knot", "sample_width")


def _federation(params, atoms, backend: Backend, copies: int = 1, **options) -> Piecewise:
    """Clients with the samples numbered ``atoms`` (data sets, clients, samples), for every row of the leaves; instances are
    nested as ``copies``, row, data set."""
    sets, clients, _ = atoms.shape
    rows = params["sample_center"].shape[0]
    where = np.arange(rows)[:, None, None, None], np.arange(clients)[None, None, :, None], atoms[None]

    def sampled(name):
        array = params[name]
        array = np.broadcast_to(array, (*array.shape[:2], params["sample_center"].shape[2], *array.shape[3:]))
        return np.moveaxis(array[where], -2, -1) if name in PIECES else array[where]

    if not params["sample_slope"].shape[3]:  # one that is zero
        none = np.zeros((*params["sample_center"].shape[:3], 1, params["sample_center"].shape[3]), dtype=int)
        params = params | dict.fromkeys(PIECES, none)

    def flat(array):
        array = array.reshape(rows, copies, sets // copies, *array.shape[2:])
        return np.moveaxis(array, 1, 0).reshape(rows * sets, *array.shape[3:])

    arrays = [flat(sampled(name)) for name in ("sample_curvature", "sample_center", "sample_slope", "sample_knot",
                                             "sample_width", "sample_offset")]
    return Piecewise(*arrays, backend=backend, **options)


def _atoms_alone(params, backend: Backend) -> Piecewise:
    """Every atom as a client of its own, client by client."""
    clients, atoms = params["sample_center"].shape[1:3]
    every = np.broadcast_to(np.arange(atoms), (1, clients, atoms))
    law = _federation(params, every, backend)._decided
    parts = (law.curvature, law.center, law.slope, law.knot, law.width, law.offset)
    return Piecewise(*(a.reshape(a.shape[0], a.shape[1] * a.shape[2], *a.shape[3:]) for a in parts), backend=backend)


def negated(federation: Piecewise) -> Piecewise:
    """The federation of the negative losses, of clients without samples and without curvature."""
    own = federation._decided
    parts = (part[:, :, 0] for part in (own.curvature, own.center, -own.slope, own.knot, own.width))
    return Piecewise(*parts, -own.offset[:, :, 0], backend=federation.backend)


def explicit(family, params: Parameters, backend: Backend) -> Parameters:
    """The leaves with every piece written out. Bounded losses are pairs of pieces at a distance of ``sample_center``, the
    second subtracted from the first, moved up so that their infimum is ``sample_offset``."""
    if not family.bounded:
        return params
    distance = params["sample_center"][:, :, :, None] + 0 * params["sample_knot"]
    params = params | {
        "sample_slope": np.concatenate([params["sample_slope"], -params["sample_slope"]], axis=3),
        "sample_knot": np.concatenate([params["sample_knot"], params["sample_knot"] + distance], axis=3),
        "sample_width": np.concatenate([params["sample_width"], params["sample_width"]], axis=3),
    }
    exactly = EXACT if backend == BALLS else backend  # the infimum of fractions is one
    lowest = to_numpy(_atoms_alone(params | {"sample_offset": 0 * params["sample_offset"]}, exactly).F_star_client)
    return params | {"sample_offset": params["sample_offset"] - lowest.reshape(params["sample_offset"].shape)}


def with_federations(shape, params, backend: Backend, fixed: bool) -> tuple[DataSets, Piecewise]:
    """The data_sets of a batch, and the federations of both runs: instances nested as run, row, world."""
    params = explicit(shape.family, params, backend)
    participants = None if shape.sampling == "full" else shape.participants
    data_sets = data_sets_of(shape.family, shape.chance, shape.clients, shape.iterations, shape.rounds, participants)
    every = np.broadcast_to(np.arange(shape.family.atoms), (1, shape.clients, shape.family.atoms))
    law = _federation(params, every, backend, batch_size=1)
    each = _atoms_alone(params, backend)
    runs = _federation(params, np.concatenate([data_sets.data, data_sets.twin]), backend, copies=2, batch_size=1)
    return replace(data_sets, fixed=fixed, law=law, each=each), runs


def atoms_of(family, params: Parameters, text) -> list:
    """The atoms of instance 0, by client, as certificates carry them; ``text`` writes arrays."""
    params = explicit(family, {name: array[:1] for name, array in params.items()}, EXACT)
    curvature, knots = params["sample_curvature"], params["sample_knot"]

    def atom(k, a):
        pieces = [[text(params[name][0, k, a, p]) for name in PIECES] for p in range(knots.shape[3])]
        return {"curvature": text(curvature[0, k, a if curvature.shape[2] > 1 else 0]), "pieces": pieces,
                "center": text(params["sample_center"][0, k, a]), "offset": text(params["sample_offset"][0, k, a])}

    return [[atom(k, a) for a in range(family.atoms)] for k in range(knots.shape[1])]
