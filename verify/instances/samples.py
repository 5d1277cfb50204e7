"""Clients with samples: each draws its data from a distribution on finitely many losses, its atoms."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from math import comb, prod
from typing import Self

import numpy as np

from bounds.language.claim import Claim
from verify.claims.method import free_starts
from verify.claims.needs import needs_convex, needs_lipschitz
from verify.claims.sizes import ABOVE, first_possible, integer_variables, largest_sizes, possible, within_sizes
from verify.instances.chance import chance_of
from verify.instances.family import Family, vectors
from verify.instances.parameters import START, Parameters, take_entries
from verify.instances.sample_federations import PIECES, atoms_of
from verify.instances.shape import Shape

__all__ = ["SampleClients", "draw_data_shape", "extreme_data_shapes", "small_data_shapes"]

#: shares of the rows in which all atoms of a client but one are constant, or are mirrored, or nearly alike
_CONSTANT, _MIRRORED, _MOVED = 0.12, 0.08, 0.08
_JOINED, _AT_KNOTS = 0.2, 0.3  # shares in which bounded losses have no linear part, and in which runs start at a knot
_MANY_SAMPLES, _MANY_CLIENTS = 12, 4  # of which outcomes may admit fewer


@dataclass(frozen=True)
class SampleClients(Family):
    """Clients with ``samples`` each out of ``atoms`` by client, all quadratic plus ``pieces`` Huber functions; ``bounded``:
    pieces come with their mirror images, so that losses are bounded."""

    samples: int = 1
    atoms: int = 2
    pieces: int = 0
    bounded: bool = False
    name = "samples"
    written_as = "atoms"
    coupled = True
    more_outcomes = 16  # data sets and replaced samples are chance too

    def sizes(self):
        return {"samples": self.samples}

    def parts(self):
        return ("samples", self.samples), ("atoms", self.atoms)

    def data_sets(self, clients: int) -> int:
        """Number of data sets with a replaced sample."""
        return self.atoms ** (clients * self.samples) * clients * self.atoms

    def outcomes(self, shape):
        """Outcomes of data_sets and samples drawn, of both runs, and of the sampling of clients."""
        drawn = self.samples ** (shape.clients * shape.chance.gradients(shape.iterations, shape.rounds))
        paths = comb(shape.clients, shape.participants) ** shape.rounds if shape.sampling != "full" else 1
        return 2 * self.data_sets(shape.clients) * drawn, paths

    def draw(self, claim, shape, count, rng):
        """Rows of atoms, and where runs and methods start."""
        lead = (count, shape.clients, self.atoms)
        pieces = (*lead, self.pieces, shape.dim)
        row = (count, *(1,) * 4)
        sign = 1.0 if needs_convex(claim) else rng.choice([-1.0, 1.0], pieces)
        center = vectors((*lead, shape.dim), rng)
        width = 10 ** np.where(rng.random(row) < 0.4, 0.0, rng.uniform(-2, 1, pieces))
        if self.bounded:  # in some rows losses go from one constant to another without a linear part between
            joined = rng.random(row)[..., 0] < _JOINED
            center = np.where(joined, 2 * width.max(axis=3) * rng.choice([-1.0, 1.0], center.shape), center)
        far = np.where(rng.random(row) < 0.25, 10 ** rng.uniform(1, 3, row), 1.0)  # within reach the losses are linear
        decades = rng.uniform(-1, 2, (count, shape.clients, 1, shape.dim))
        curvature = 10 ** np.where(rng.random((count, 1, 1, 1)) < 0.5, 0.0, decades)
        params = {
            "sample_curvature": curvature * (not needs_lipschitz(claim)),
            "sample_center": center,
            "sample_slope": 10 ** np.where(rng.random(row) < 0.4, 0.0, rng.uniform(-1, 1, pieces)) * sign,
            "sample_knot": far * vectors(pieces, rng),
            "sample_width": width,
            "sample_offset": np.zeros(lead) if rng.random() < 0.7 else rng.uniform(0, 1, lead),
            "start_offset": vectors((count, shape.dim), rng),
            "weight": np.ones((count, shape.clients)),
            **{f"{START}{name}": vectors((count, *[shape.clients] * each, shape.dim), rng)
               for name, each in free_starts(claim.procedure).items()},
        }
        return self._start_at_knots(self._related(claim, params, rng), rng)

    def _related(self, claim: Claim, params: Parameters, rng: np.random.Generator) -> Parameters:
        """Change some rows: all atoms of a client but one are constant, or each mirrors the one before, or all are one loss
        that is moved a little, about the start."""
        (count, clients), atoms, row = params["weight"].shape, self.atoms, (-1, *(1,) * 4)
        kind, found = rng.random(count), dict(params)
        constant = np.arange(atoms)[:, None, None] != rng.integers(0, atoms, (count, clients, 1, 1, 1))
        found["sample_slope"] = np.where((kind < _CONSTANT).reshape(row) & constant, 0.0, params["sample_slope"])
        mirrored, moved = kind > 1 - _MIRRORED, (kind > 1 - _MIRRORED - _MOVED) & (kind <= 1 - _MIRRORED)
        place = "sample_knot" if self.pieces else "sample_center"
        turned = ("sample_knot", "sample_center") if needs_convex(claim) else ("sample_slope",)  # minus convex is not convex
        sign = np.where(mirrored.reshape(row), (-1.0) ** np.arange(atoms)[:, None, None], 1.0)
        little = 10 ** rng.uniform(-3, 0, (count, 1, 1, 1, 1))
        for name in (*PIECES, "sample_center"):
            array = found[name].reshape(count, clients, atoms, -1, params["start_offset"].shape[1])
            one = array[:, :, :1] * (sign if name in turned else 1.0)
            if name == place:
                start = np.where(moved[:, None], one[:, 0, 0, 0], params["start_offset"])
                one = one + moved.reshape(row) * little * rng.normal(size=array.shape)
            found[name] = np.where((mirrored | moved).reshape(row), one, array).reshape(found[name].shape)
        return found | {"start_offset": start}

    def _start_at_knots(self, params: Parameters, rng: np.random.Generator) -> Parameters:
        """Change the starts of some rows to a point within a piece or at its end, or between a pair of pieces."""
        count, clients, atoms, pieces, dim = params["sample_knot"].shape
        if not pieces:
            return params
        client, atom, piece = (rng.integers(0, number, (count, dim)) for number in (clients, atoms, pieces))
        row, column = np.arange(count)[:, None], np.arange(dim)
        start = params["sample_knot"][row, client, atom, piece, column]
        start = start + rng.integers(-1, 2, (count, dim)) * params["sample_width"][row, client, atom, piece, column]
        if self.bounded:
            start = start + rng.integers(0, 5, (count, dim)) / 4 * params["sample_center"][row, client, atom, column]
        at_knots = rng.random((count, 1)) < _AT_KNOTS
        return params | {"start_offset": np.where(at_knots, start, params["start_offset"])}

    def neighbour(self, rng: np.random.Generator) -> Self:
        """Clients with one sample more or less."""
        return replace(self, samples=max(1, self.samples + int(rng.choice([-1, 1]))))

    def simpler(self, claim, shape, params):
        """Fewer samples, atoms or pieces."""
        for samples in {1, self.samples - 1} & set(range(1, self.samples)):
            yield replace(shape, family=replace(self, samples=samples)), params
        for axis, size, least in (("atoms", self.atoms, 1), ("pieces", self.pieces, int(self.bounded))):
            for gone in range(size if size > least else 0):
                kept = [n for n in range(size) if n != gone]
                yield replace(shape, family=replace(self, **{axis: size - 1})), take_entries(claim, params, axis, kept, size)

    def write(self, params, text):
        return {"atoms": atoms_of(self, params, text)}

    @classmethod
    def read(cls, instance, sizes, numbers):
        """Every piece of an atom's loss is written out."""
        def by_atom(of) -> np.ndarray:
            return np.stack([np.stack([of(atom) for atom in atoms]) for atoms in instance["atoms"]])[None]

        most = max(len(atom["pieces"]) for atoms in instance["atoms"] for atom in atoms)

        def pieces(number):
            return by_atom(lambda atom: np.array([numbers(piece[number]) for piece in [
                *atom["pieces"], *[[["0"] * sizes["dim"]] * 3] * (most - len(atom["pieces"]))]],
                dtype=object).reshape(-1, sizes["dim"]))

        params = {f"sample_{name}": by_atom(lambda atom, name=name: numbers(atom[name]))
                  for name in ("curvature", "center", "offset")}
        params |= {name: pieces(number) for number, name in enumerate(PIECES)}
        return cls(sizes["samples"], params["sample_center"].shape[2], params["sample_slope"].shape[3]), params


# shapes --------------------------------------------------------------------------------------------------------------
def draw_data_shape(claim: Claim, rng: np.random.Generator, most_outcomes: int, most_iterations: int) -> Shape:
    """A random shape whose chance has at most ``most_outcomes`` outcomes, and whose sizes meet the claim's conditions."""
    return first_possible(claim, lambda: _draw_data_shape(claim, rng, most_outcomes, most_iterations))


def _draw_data_shape(claim, rng, most_outcomes, most_iterations):
    lipschitz = needs_lipschitz(claim)
    clients, samples = int(rng.choice([1, 2, 2, 3])), int(rng.choice([1, 1, 2, 2, 3]))
    steps, rounds = int(rng.choice([1, 1, 2, 3, 5])), int(rng.choice([1, 1, 2, 3]))
    atoms = 2 if rng.random() < 0.85 else 3
    pieces = int(rng.integers(1, 3)) if lipschitz else int(rng.choice([0, 0, 1, 2]))
    dim = 1 if rng.random() < 0.85 else 2
    own = {name: int(rng.integers(v.low, v.low + rounds + 1)) for name, v in integer_variables(claim).items()}
    while True:
        participants = clients if claim.procedure.sampling == "full" else int(rng.integers(1, clients + 1))
        shape = _data_shape(claim, own, samples, atoms, pieces, clients=clients, dim=dim, local_steps=steps,
                            rounds=rounds, participants=participants)
        if prod(shape.family.outcomes(shape)) <= most_outcomes and shape.iterations <= most_iterations:
            return within_sizes(claim, shape, rng)
        lengths = np.array([clients, samples, steps, rounds, atoms])
        reducible = np.flatnonzero(lengths > (1, 1, 1, 1, 2))
        lengths[reducible[rng.integers(len(reducible))]] -= 1
        clients, samples, steps, rounds, atoms = lengths.tolist()


def _data_shape(claim, own, samples, atoms, pieces, **sizes):
    """The shape of these sizes, with ``own`` integers of the claim by name."""
    family = SampleClients(samples, atoms, pieces, "H_loss" in claim.names)
    return Shape(sampling=claim.procedure.sampling, sizes=tuple(own.items()), family=family,
                 chance=chance_of(claim.procedure, claim.variables), **sizes)


def small_data_shapes(claim: Claim) -> Iterator[Shape]:
    """The smallest shapes of claims about samples."""
    own = integer_variables(claim)
    for clients, samples, steps, rounds, atoms, pieces, *above in product(
            (1, 2), (1, 2, 3), (1, 2, 3), (1, 2, 3), (2, 3), (1, 2) if needs_lipschitz(claim) else (0, 1),
            *[ABOVE] * len(own)):
        sizes = {name: v.low + more for (name, v), more in zip(own.items(), above, strict=True)}
        for participants in (clients,) if claim.procedure.sampling == "full" else range(1, clients + 1):
            yield _data_shape(claim, sizes, samples, atoms, pieces, clients=clients, local_steps=steps, rounds=rounds,
                              participants=participants)


def extreme_data_shapes(claim: Claim, rng: np.random.Generator, most_outcomes: int, most_iterations: int,
                        most_rounds: tuple[int, ...]) -> Iterator[Shape]:
    """Shapes that are large in one way and small in all others: in local steps, in rounds, in both, in samples and in
    clients, as far as the claim and ``most_outcomes`` admit. With one sample, which all steps use, runs may be long."""
    both, full = round(most_iterations**0.5), claim.procedure.sampling == "full"
    ways = [{"local_steps": most_iterations}, {"local_steps": both, "rounds": both}]
    ways += [{"rounds": rounds} for rounds in most_rounds]
    several = range(2, 2 + len(most_rounds))
    ways = [{"samples": 1} | way for way in ways] + [{"samples": n} | way for n in several for way in (ways[0], ways[2])]
    ways += [{"samples": size} for name, size in largest_sizes(claim).items() if name == "samples"]
    for way in (*ways, {"samples": _MANY_SAMPLES}, {"samples": 1, "clients": _MANY_CLIENTS}):
        pieces = int(rng.integers(2)) + needs_lipschitz(claim)
        own = {name: int(rng.integers(v.low, v.low + way.get("rounds", 1) + 1))
               for name, v in integer_variables(claim).items()}
        shape = _data_shape(claim, own, 1, 2, pieces, clients=1, local_steps=1, rounds=1, participants=1)
        shape = _with(shape, full, **way)
        while prod(shape.family.outcomes(shape)) > most_outcomes:
            name = max(way, key=lambda name, shape=shape: _length(shape, name))
            shape = _with(shape, full, **{name: _length(shape, name) - max(1, _length(shape, name) // 4)})
        shape = within_sizes(claim, shape, rng)
        if possible(claim, shape.as_sizes()):
            yield shape


def _length(shape, name) -> int:
    return shape.family.samples if name == "samples" else getattr(shape, name)


def _with(shape, full, samples=None, **sizes):
    """The shape with other sizes; all clients take part where participation is ``full``."""
    family = shape.family if samples is None else replace(shape.family, samples=samples)
    shape = replace(shape, family=family, **sizes)
    return replace(shape, participants=shape.clients) if full else shape
