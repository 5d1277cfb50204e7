"""The whole numbers of an instance: clients, rounds, local steps, participants, layers, data."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from bounds.language.claim import BY_NUMBER, Claim
from verify.instances.chance import NOTHING_MORE, Chance
from verify.instances.family import Family
from verify.instances.parameters import Parameters, repeated
from verify.instances.quadratic import QUADRATIC

__all__ = ["RARE", "Shape", "with_participants", "with_size", "with_subset", "with_times"]


@dataclass(frozen=True)
class Shape:
    """The discrete part of an instance.

    ``noisy`` numbers the clients with two-point gradient noise, whose rarer outcome has probability ``rare``; ``symmetric``
    noise is with that probability a vector or its opposite, and else zero. With
    ``many_draws``, exact sides are those that the checker computes; in float64 means over noise of equally likely outcomes
    are those over the rows of an orthogonal array of strength three (:func:`~verify.instances.outcomes.signs`), the same for
    polynomials of degree three in the noise.
    ``sizes`` holds the integer variables that a claim declares. ``family`` is the kind of clients. ``layers`` are the sizes
    of the layers, none for claims that do not mention layers; ``chance`` says what the method draws by itself.
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
    family: Family = QUADRATIC
    layers: tuple[int, ...] = ()
    chance: Chance = NOTHING_MORE
    many_draws: bool = False
    symmetric: bool = False

    @property
    def iterations(self) -> int:
        return self.local_steps * self.rounds

    @property
    def priority_clients(self) -> int:
        return self.clients - self.free

    @property
    def is_priority(self) -> np.ndarray:
        """Truth values by client; priority clients come first."""
        return np.arange(self.clients) < self.priority_clients

    @property
    def noise_law(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The outcomes of a client's noise: the probability of each, and by what its vector is multiplied."""
        rare, others = self.rare, 1 - self.rare
        if self.symmetric:
            return (rare / 2, Fraction(1)), (rare / 2, Fraction(-1)), (others, Fraction(0))
        return (rare, others), (others, -rare)

    @property
    def subset(self) -> int | None:
        """The number of participants that the method draws once more in every round, if that is a size."""
        return dict(self.sizes).get(self.chance.subset)

    @property
    def taking_part(self) -> int:
        """The largest number of clients that take part in a round."""
        return self.participants if self.sampling in BY_NUMBER else self.clients

    def as_sizes(self) -> dict[str, int]:
        """The integers that claims may name."""
        participants = self.participants if self.sampling in BY_NUMBER else self.priority_clients
        return {
            "clients": self.clients, "iterations": self.iterations, "local_steps": self.local_steps,
            "participants": participants, "rounds": self.rounds, "dim": self.dim,
            "priority_clients": self.priority_clients, "layers": max(len(self.layers), 1), **dict(self.sizes),
            **self.family.sizes(),
        }


def with_times(claim: Claim, shape: Shape, params: Parameters, local_steps: int, rounds: int) -> tuple[Shape, Parameters]:
    """The instance with other run lengths: times are cut off, or the last one is repeated."""
    lengths = {"iterations": local_steps * rounds, "rounds": rounds, "local_steps": local_steps}
    return replace(shape, local_steps=local_steps, rounds=rounds), repeated(claim, params, lengths)


def with_size(shape: Shape, name: str, size: int) -> Shape:
    """The shape with another value of an integer that its claim declares."""
    return replace(shape, sizes=tuple((each, size if each == name else value) for each, value in shape.sizes))


def with_participants(shape: Shape, participants: int) -> Shape:
    """The shape with another number of participants, and a subset of at most so many."""
    shape = replace(shape, participants=participants)
    return shape if shape.subset is None else with_size(shape, shape.chance.subset, min(shape.subset, participants))


def with_subset(shape: Shape, size: int) -> Shape:
    """The shape with another size of the subset, where it has one."""
    return with_size(shape, shape.chance.subset, size)


#: probabilities of the rarer outcome of two-point noise
RARE = (Fraction(1, 2), Fraction(1, 2), Fraction(1, 4), Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000))
