"""Instances of claims that speak of clients' samples: what such claims need, random ones, federations, smaller ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import product
from math import comb, prod

import numpy as np
import sympy as sp

from bounds import language as words
from bounds.afedpd import words as afedpd
from bounds.claim import Claim
from bounds.fedmoswa import words as fedmoswa
from bounds.functions import f_grad
from fedtheory.engine import one_round, starting_points
from synthetic.arrays import BALLS, EXACT, NUMPY, Backend, to_numpy
from synthetic.draws import Draws
from synthetic.piecewise import Piecewise
from verify.procedures import algorithm_of, free_starts, selection_of
from verify.sizes import ABOVE, first_possible, integer_variables, names_of, once_by_claim, possible, within_sizes
from verify.worlds import DataShape, Worlds, worlds_of

__all__ = [
    "KINDS", "atoms_of", "draw_data", "draw_data_shape", "expressions_of", "extreme_data_shapes", "gradients_outside",
    "needs_lipschitz", "negated", "outcomes_of_data", "simpler_data", "small_data_shapes", "speaks_of_samples",
    "uses_gradients", "with_federations",
]

_NAMES = {"samples", "differing", "replaced", "used_sample", "H_loss"}
_WORDS = (
    afedpd.E_data, afedpd.E_unused, afedpd.F_pop, afedpd.worst_mean_gap, afedpd.worst_mean_signed_gap, fedmoswa.E_client,
    fedmoswa.E_data, fedmoswa.F_pop, fedmoswa.loss_grad, fedmoswa.worst_mean_gap, fedmoswa.worst_pair_gap,
)
#: shares of the rows in which all atoms of a client but one are constant, or are mirrored, or nearly alike
_CONSTANT, _MIRRORED, _MOVED = 0.12, 0.08, 0.08
_JOINED, _AT_KNOTS = 0.2, 0.3  # shares in which bounded losses have no linear part, and in which runs start at a knot
_MANY_SAMPLES, _MANY_CLIENTS = 12, 4  # of which outcomes may admit fewer
#: leaves of clients' atoms: (instances, clients, atoms, [pieces,] [dim]), the curvature the same for all atoms of a client
KINDS = {
    "sample_curvature": "nonnegative", "sample_center": "vector", "sample_slope": "real", "sample_knot": "vector",
    "sample_width": "nonnegative", "sample_offset": "nonnegative",
}


# what a claim is about -----------------------------------------------------------------------------------------------
def expressions_of(claim: Claim) -> tuple:
    """Both sides of the statement and of all hypotheses, and the formulas on which they rest."""
    conditions = (*claim.hypotheses, *([claim.statement] if claim.statement else []))
    return (*(e for c in conditions for e in (c.left, c.right)), *(d.formula for d in claim.used_definitions().values()))


@once_by_claim
def speaks_of_samples(claim: Claim) -> bool:
    """Whether a claim about runs speaks of the samples of clients, or of runs on neighbouring data sets."""
    if claim.setting != "run" or claim.statement is None:
        return False
    names = names_of(claim)
    return bool(names & _NAMES) or any(n.startswith("twin_") for n in names) or any(
        e.has(*_WORDS) for e in expressions_of(claim))


@once_by_claim
def uses_gradients(claim: Claim) -> bool:
    """Whether a claim speaks of the gradients of the clients' losses."""
    return any(e.has(words.grad, words.objective_grad) for e in expressions_of(claim))


def needs_lipschitz(claim: Claim) -> bool:
    """Whether the loss of every sample must be Lipschitz on all of R^dim."""
    return any(a.everywhere is not None and sp.sympify(a.everywhere.left).has(f_grad) for a in claim.assumptions)


def _needs_convex(claim: Claim) -> bool:
    return "mu_client" in names_of(claim)


# shapes --------------------------------------------------------------------------------------------------------------
def outcomes_of_data(shape) -> tuple[int, int]:
    """Outcomes of worlds and samples drawn, of both runs, and of the sampling of clients."""
    drawn = shape.data.samples ** (shape.clients * shape.data.gradients(shape.iterations, shape.rounds))
    sampled = shape.sampling != "full"
    paths = comb(shape.clients, shape.participants) ** shape.rounds if sampled else 1
    return 2 * shape.data.worlds(shape.clients) * drawn, paths


class _Listening(Draws):
    """Draws that note at which negative times samples are drawn."""

    def __init__(self):
        super().__init__([0], NUMPY)
        self.asked = set()

    def category(self, stream, cumulative, time, keys):
        self.asked |= {time} if time < 0 else set()
        return np.zeros((1, np.shape(keys)[-1]), dtype=np.int64)

    def integer(self, stream, population, time, keys):
        return self.category(stream, None, time, keys)


@lru_cache(maxsize=256)
def gradients_outside(procedure) -> tuple[bool, bool]:
    """Whether a method takes stochastic gradients before the first round, and outside the local steps of a round."""
    one = np.ones((1, 2, 1, 1))
    federation = Piecewise(one, one, one[..., None], one[..., None], one[..., None], backend=NUMPY, batch_size=1)
    draws = _Listening()
    own = {name: np.zeros((1, *[2] * each, 1)) for name, each in free_starts(procedure).items()}
    try:
        algorithm = algorithm_of(procedure, 0.1, 1, selection_of(replace(procedure, sampling="full")), own)
        state = algorithm.init(federation, starting_points(federation, np.ones((1, 1)), 1), draws)
        one_round(algorithm, federation, state, draws, 0)
    except (ValueError, LookupError, NotImplementedError, ArithmeticError, TypeError):
        pass  # whoever runs it learns why
    return -1 in draws.asked, -2 in draws.asked


def draw_data_shape(claim: Claim, make, rng: np.random.Generator, most_outcomes: int, most_iterations: int):
    """A random shape, made by ``make(**fields)``, whose chance has at most ``most_outcomes`` outcomes, and whose sizes meet
    the claim's conditions."""
    return first_possible(claim, lambda: _draw_data_shape(claim, make, rng, most_outcomes, most_iterations))


def _draw_data_shape(claim, make, rng, most_outcomes, most_iterations):
    lipschitz = needs_lipschitz(claim)
    clients, samples = int(rng.choice([1, 2, 2, 3])), int(rng.choice([1, 1, 2, 2, 3]))
    steps, rounds = int(rng.choice([1, 1, 2, 3, 5])), int(rng.choice([1, 1, 2, 3]))
    atoms = 2 if rng.random() < 0.85 else 3
    pieces = int(rng.integers(1, 3)) if lipschitz else int(rng.choice([0, 0, 1, 2]))
    dim = 1 if rng.random() < 0.85 else 2
    own = {name: int(rng.integers(v.low, v.low + rounds + 1)) for name, v in integer_variables(claim).items()}
    while True:
        participants = clients if claim.procedure.sampling == "full" else int(rng.integers(1, clients + 1))
        shape = _data_shape(claim, make, own, samples, atoms, pieces, clients=clients, dim=dim, local_steps=steps,
                            rounds=rounds, participants=participants)
        if prod(outcomes_of_data(shape)) <= most_outcomes and shape.iterations <= most_iterations:
            return within_sizes(claim, shape, rng)
        lengths = np.array([clients, samples, steps, rounds, atoms])
        reducible = np.flatnonzero(lengths > (1, 1, 1, 1, 2))
        lengths[reducible[rng.integers(len(reducible))]] -= 1
        clients, samples, steps, rounds, atoms = lengths.tolist()


def _data_shape(claim, make, own, samples, atoms, pieces, **sizes):
    """The shape of these sizes, with ``own`` integers of the claim by name."""
    data = DataShape(samples, atoms, pieces, "H_loss" in names_of(claim), *gradients_outside(claim.procedure))
    return make(sampling=claim.procedure.sampling, sizes=tuple(own.items()), data=data, **sizes)


def small_data_shapes(claim: Claim, make) -> Iterator:
    """The smallest shapes of claims about samples, made by ``make(**fields)``."""
    own = integer_variables(claim)
    for clients, samples, steps, rounds, atoms, pieces, *above in product(
            (1, 2), (1, 2, 3), (1, 2, 3), (1, 2, 3), (2, 3), (1, 2) if needs_lipschitz(claim) else (0, 1),
            *[ABOVE] * len(own)):
        sizes = {name: v.low + more for (name, v), more in zip(own.items(), above, strict=True)}
        for participants in (clients,) if claim.procedure.sampling == "full" else range(1, clients + 1):
            yield _data_shape(claim, make, sizes, samples, atoms, pieces, clients=clients, local_steps=steps, rounds=rounds,
                              participants=participants)


def extreme_data_shapes(claim: Claim, make, rng: np.random.Generator, most_outcomes: int, most_iterations: int,
                        most_rounds: tuple[int, ...]) -> Iterator:
    """Shapes that are large in one way and small in all others: in local steps, in rounds, in both, in samples and in
    clients, as far as the claim and ``most_outcomes`` admit. With one sample, which all steps use, runs may be long."""
    both, full = round(most_iterations**0.5), claim.procedure.sampling == "full"
    ways = [{"local_steps": most_iterations}, {"local_steps": both, "rounds": both}]
    ways += [{"rounds": rounds} for rounds in most_rounds]
    several = range(2, 2 + len(most_rounds))
    ways = [{"samples": 1} | way for way in ways] + [{"samples": n} | way for n in several for way in (ways[0], ways[2])]
    for way in (*ways, {"samples": _MANY_SAMPLES}, {"samples": 1, "clients": _MANY_CLIENTS}):
        pieces = int(rng.integers(2)) + needs_lipschitz(claim)
        own = {name: int(rng.integers(v.low, v.low + way.get("rounds", 1) + 1))
               for name, v in integer_variables(claim).items()}
        shape = _data_shape(claim, make, own, 1, 2, pieces, clients=1, local_steps=1, rounds=1, participants=1)
        shape = _with(shape, full, **way)
        while prod(outcomes_of_data(shape)) > most_outcomes:
            name = max(way, key=lambda name, shape=shape: _length(shape, name))
            shape = _with(shape, full, **{name: _length(shape, name) - max(1, _length(shape, name) // 4)})
        shape = within_sizes(claim, shape, rng)
        if possible(claim, shape.as_sizes()):
            yield shape


def _length(shape, name) -> int:
    return shape.data.samples if name == "samples" else getattr(shape, name)


def _with(shape, full, samples=None, **sizes):
    """The shape with other sizes; all clients take part where participation is ``full``."""
    data = shape.data if samples is None else replace(shape.data, samples=samples)
    shape = replace(shape, data=data, **sizes)
    return replace(shape, participants=shape.clients) if full else shape


# leaves --------------------------------------------------------------------------------------------------------------
def draw_data(claim: Claim, shape, count: int, rng: np.random.Generator, vectors) -> dict[str, np.ndarray]:
    """``count`` rows of leaves that describe clients' atoms, by :data:`KINDS`, and where runs and methods start;
    ``vectors(shape, rng)`` draws vectors."""
    lead = (count, shape.clients, shape.data.atoms)
    pieces = (*lead, shape.data.pieces, shape.dim)
    row = (count, *(1,) * 4)
    sign = 1.0 if _needs_convex(claim) else rng.choice([-1.0, 1.0], pieces)
    center, width = vectors((*lead, shape.dim), rng), 10 ** np.where(rng.random(row) < 0.4, 0.0, rng.uniform(-2, 1, pieces))
    if shape.data.bounded:  # in some rows losses go from one constant to another without a linear part between
        joined = rng.random(row)[..., 0] < _JOINED
        center = np.where(joined, 2 * width.max(axis=3) * rng.choice([-1.0, 1.0], center.shape), center)
    far = np.where(rng.random(row) < 0.25, 10 ** rng.uniform(1, 3, row), 1.0)  # within reach the losses are linear
    decades = rng.uniform(-1, 2, (count, shape.clients, 1, shape.dim))
    curvature = 10 ** np.where(rng.random((count, 1, 1, 1)) < 0.5, 0.0, decades)
    leaves = {
        "sample_curvature": curvature * (not needs_lipschitz(claim)),
        "sample_center": center,
        "sample_slope": 10 ** np.where(rng.random(row) < 0.4, 0.0, rng.uniform(-1, 1, pieces)) * sign,
        "sample_knot": far * vectors(pieces, rng),
        "sample_width": width,
        "sample_offset": np.zeros(lead) if rng.random() < 0.7 else rng.uniform(0, 1, lead),
        "start_offset": vectors((count, shape.dim), rng),
        "weight": np.ones((count, shape.clients)),
        **{f"start:{name}": vectors((count, *[shape.clients] * each, shape.dim), rng)
           for name, each in free_starts(claim.procedure).items()},
    }
    return _start_at_knots(shape, _related(claim, shape, leaves, rng), rng)


def _related(claim: Claim, shape, leaves, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The batch, in some rows of which all atoms of a client but one are constant, or each mirrors the one before, or all
    are one loss that is moved a little, about the start."""
    count, atoms, row = len(leaves["weight"]), shape.data.atoms, (-1, *(1,) * 4)
    kind, found = rng.random(count), dict(leaves)
    constant = np.arange(atoms)[:, None, None] != rng.integers(0, atoms, (count, shape.clients, 1, 1, 1))
    found["sample_slope"] = np.where((kind < _CONSTANT).reshape(row) & constant, 0.0, leaves["sample_slope"])
    mirrored, moved = kind > 1 - _MIRRORED, (kind > 1 - _MIRRORED - _MOVED) & (kind <= 1 - _MIRRORED)
    place = "sample_knot" if shape.data.pieces else "sample_center"
    turned = ("sample_knot", "sample_center") if _needs_convex(claim) else ("sample_slope",)  # minus convex is not convex
    sign = np.where(mirrored.reshape(row), (-1.0) ** np.arange(atoms)[:, None, None], 1.0)
    little = 10 ** rng.uniform(-3, 0, (count, 1, 1, 1, 1))
    for name in (*_PIECES, "sample_center"):
        array = found[name].reshape(count, shape.clients, atoms, -1, shape.dim)
        one = array[:, :, :1] * (sign if name in turned else 1.0)
        if name == place:
            start = np.where(moved[:, None], one[:, 0, 0, 0], leaves["start_offset"])
            one = one + moved.reshape(row) * little * rng.normal(size=array.shape)
        found[name] = np.where((mirrored | moved).reshape(row), one, array).reshape(found[name].shape)
    return found | {"start_offset": start}


def _start_at_knots(shape, leaves, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The batch, in some rows of which runs start amid or at an end of a piece, or of the way between a pair of pieces."""
    count, clients, atoms, pieces, dim = leaves["sample_knot"].shape
    if not pieces:
        return leaves
    client, atom, piece = (rng.integers(0, number, (count, dim)) for number in (clients, atoms, pieces))
    row, column = np.arange(count)[:, None], np.arange(dim)
    start = leaves["sample_knot"][row, client, atom, piece, column]
    start = start + rng.integers(-1, 2, (count, dim)) * leaves["sample_width"][row, client, atom, piece, column]
    if shape.data.bounded:
        start = start + rng.integers(0, 5, (count, dim)) / 4 * leaves["sample_center"][row, client, atom, column]
    at_knots = rng.random((count, 1)) < _AT_KNOTS
    return leaves | {"start_offset": np.where(at_knots, start, leaves["start_offset"])}


def _federation(leaves, atoms, backend: Backend, copies: int = 1, **options) -> Piecewise:
    """Clients whose samples are the atoms numbered ``atoms`` (instances or 1, clients, samples), once for every
    instance's row of the leaves; instances are nested as ``copies``, row, data set."""
    sets, clients, _ = atoms.shape
    rows = leaves["sample_center"].shape[0]
    where = np.arange(rows)[:, None, None, None], np.arange(clients)[None, None, :, None], atoms[None]

    def taken(name):
        array = leaves[name]
        array = np.broadcast_to(array, (*array.shape[:2], leaves["sample_center"].shape[2], *array.shape[3:]))
        return np.moveaxis(array[where], -2, -1) if name in _PIECES else array[where]

    if not leaves["sample_slope"].shape[3]:  # one that is zero
        none = np.zeros((*leaves["sample_center"].shape[:3], 1, leaves["sample_center"].shape[3]), dtype=int)
        leaves = leaves | dict.fromkeys(_PIECES, none)

    def flat(array):
        array = array.reshape(rows, copies, sets // copies, *array.shape[2:])
        return np.moveaxis(array, 1, 0).reshape(rows * sets, *array.shape[3:])

    arrays = [flat(taken(name)) for name in ("sample_curvature", "sample_center", "sample_slope", "sample_knot",
                                             "sample_width", "sample_offset")]
    return Piecewise(*arrays, backend=backend, **options)


_PIECES = ("sample_slope", "sample_knot", "sample_width")


def _atoms_alone(leaves, backend: Backend) -> Piecewise:
    """Every atom as a client of its own, client by client."""
    clients, atoms = leaves["sample_center"].shape[1:3]
    every = np.broadcast_to(np.arange(atoms), (1, clients, atoms))
    law = _federation(leaves, every, backend)._decided
    parts = (law.curvature, law.center, law.slope, law.knot, law.width, law.offset)
    return Piecewise(*(a.reshape(a.shape[0], a.shape[1] * a.shape[2], *a.shape[3:]) for a in parts), backend=backend)


def negated(federation: Piecewise) -> Piecewise:
    """Minus the losses of clients without samples, where these have no curvature."""
    own = federation._decided
    parts = (part[:, :, 0] for part in (own.curvature, own.center, -own.slope, own.knot, own.width))
    return Piecewise(*parts, -own.offset[:, :, 0], backend=federation.backend)


def explicit(shape, leaves, backend: Backend) -> dict[str, np.ndarray]:
    """The leaves with every piece written out. Bounded losses are made of pairs of pieces, the second one less the first, at
    a distance of ``sample_center``; they are moved up so that their infimum is ``sample_offset``."""
    if not shape.data.bounded:
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
    leaves = explicit(shape, leaves, backend)
    participants = None if shape.sampling == "full" else shape.participants
    worlds = worlds_of(shape.data, shape.clients, shape.iterations, shape.rounds, participants)
    every = np.broadcast_to(np.arange(shape.data.atoms), (1, shape.clients, shape.data.atoms))
    law = _federation(leaves, every, backend, batch_size=1)
    each = _atoms_alone(leaves, backend)
    runs = _federation(leaves, np.concatenate([worlds.data, worlds.twin]), backend, copies=2, batch_size=1)
    return replace(worlds, fixed=fixed, law=law, each=each), runs


def atoms_of(shape, leaves, text) -> list:
    """The atoms of instance 0, by client, as certificates carry them; ``text`` writes arrays."""
    leaves = explicit(shape, {name: array[:1] for name, array in leaves.items()}, EXACT)

    def atom(k, a):
        own = leaves["sample_curvature"].shape[2] > 1
        pieces = [[text(leaves[name][0, k, a, p]) for name in _PIECES] for p in range(leaves["sample_knot"].shape[3])]
        return {"curvature": text(leaves["sample_curvature"][0, k, a if own else 0]), "pieces": pieces,
                "center": text(leaves["sample_center"][0, k, a]), "offset": text(leaves["sample_offset"][0, k, a])}

    return [[atom(k, a) for a in range(shape.data.atoms)] for k in range(shape.clients)]


# smaller instances ---------------------------------------------------------------------------------------------------
def simpler_data(shape, leaves) -> Iterator[tuple]:
    """Smaller data: fewer samples, atoms or pieces."""
    data = shape.data
    for samples in {1, data.samples - 1} & set(range(1, data.samples)):
        yield replace(shape, data=replace(data, samples=samples)), leaves
    for axis, size, field, least in ((2, data.atoms, "atoms", 1), (3, data.pieces, "pieces", int(data.bounded))):
        for gone in range(size if size > least else 0):
            kept = [n for n in range(size) if n != gone]
            names = KINDS if axis == 2 else _PIECES
            smaller = {name: np.take(array, kept, axis=axis) if name in names and array.shape[axis] == size else array
                       for name, array in leaves.items()}
            yield replace(shape, data=replace(data, **{field: size - 1})), smaller
