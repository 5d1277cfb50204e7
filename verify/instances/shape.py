"""The whole numbers of an instance: clients, rounds, local steps, participants, layers, data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from verify.instances.leaves import Leaves, map_leaves

__all__ = [
    "DATA_OUTCOMES",
    "NOTHING_MORE",
    "RARE",
    "Chance",
    "DataShape",
    "Shape",
    "with_participants",
    "with_times",
    "with_trackers",
]


@dataclass(frozen=True)
class Chance:
    """What a method draws besides the noise of local steps and the sampled clients: gradients before the first round, one
    outside the local steps in each round, layers, and clients that renew what they track."""

    start: bool = False
    extra: bool = False
    layers: bool = False
    trackers: bool = False


#: what most methods draw besides
NOTHING_MORE = Chance()


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


@dataclass(frozen=True)
class DataShape:
    """The discrete part of clients' data: ``samples`` per client out of ``atoms`` by client, each a quadratic plus
    ``pieces`` Huber functions; ``bounded``: pieces come with their mirror images, so that losses are bounded. ``start``,
    ``extra``: whether the method takes gradients before the first round, and one outside the local steps of each."""

    samples: int = 1
    atoms: int = 2
    pieces: int = 0
    bounded: bool = False
    start: bool = False
    extra: bool = False

    def gradients(self, iterations: int, rounds: int) -> int:
        """How many stochastic gradients every client takes."""
        return iterations + self.start + self.extra * rounds

    def worlds(self, clients: int) -> int:
        """Number of worlds."""
        return self.atoms ** (clients * self.samples) * clients * self.atoms


#: probabilities of the rarer outcome of two-point noise
RARE = (Fraction(1, 2), Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000))

#: claims about samples have this many times the outcomes of others: data sets and replaced samples are chance too
DATA_OUTCOMES = 16
