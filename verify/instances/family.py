"""Kinds of clients: what instances, measurements and certificates ask of each."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from bounds.language.claim import Claim
from synthetic.base.federation import Federation
from synthetic.numbers.arrays import Backend
from verify.instances.parameters import Parameters

__all__ = ["Family", "vectors"]


@dataclass(frozen=True)
class Family:
    """One kind of clients, with sizes of its own as fields; methods take the shape of which it is the family.

    A new kind is a subclass in a file of its own, rows in :data:`verify.instances.parameters.PARAMETERS`, and a place among
    :mod:`verify.instances.families`.
    """

    name: ClassVar[str]
    #: part of a certificate's instance by which clients of this kind are recognised
    written_as: ClassVar[str]
    #: whether every run is compared with runs on neighbouring data sets
    coupled: ClassVar[bool] = False
    #: whether an instance without some of its coordinates is one, too, and one that is translated or turned
    any_coordinates: ClassVar[bool] = True
    #: times as many outcomes of chance may be enumerated as of others
    more_outcomes: ClassVar[int] = 1

    @property
    def knots(self) -> int:
        """Pieces by coordinate of every client, each of which the minimum of the objective may depend on."""
        return 0

    def fitting(self, shape):
        """The shape with clients of this kind, and without what these do not have."""
        return replace(shape, family=self)

    def sizes(self) -> dict[str, int]:
        """The integers of this kind that claims may name."""
        return {}

    def parts(self) -> tuple[tuple[str, int], ...]:
        """Sizes of which small shapes take each value in turn."""
        return ()

    def outcomes(self, shape) -> tuple[int, int]:
        """The number of outcomes (noise, sampling) that an exact expectation enumerates."""
        raise NotImplementedError

    def draw(self, claim: Claim, shape, count: int, rng: np.random.Generator) -> Parameters:
        """``count`` rows of the parameters of the clients."""
        raise NotImplementedError

    def starts(self, federation: Callable[[], Federation], params: Parameters, rng: np.random.Generator) -> np.ndarray:
        """The leaf ``start_offset``, some of whose rows may move to where the clients' losses change."""
        return params["start_offset"]

    def federation(self, shape, params: Parameters, backend: Backend, **common) -> Federation:
        """The federation of a batch; ``common``: offset, weights, priority and noise."""
        raise NotImplementedError

    def translated(self, params: Parameters, by: np.ndarray) -> Parameters:
        """Translate every client's losses, before they are turned, by a vector, (instances, clients, dim); return the
        parameters that change."""
        raise NotImplementedError

    def simpler(self, claim: Claim, shape, params: Parameters) -> Iterator[tuple[Any, Parameters]]:
        """The instance with simpler clients."""
        yield from ()

    def write(self, params: Parameters, text: Callable[[np.ndarray], Any]) -> dict[str, Any]:
        """The losses of the only instance, as certificates carry them; ``text`` writes arrays."""
        raise NotImplementedError

    @classmethod
    def read(cls, instance: Mapping[str, Any], sizes: Mapping[str, int], numbers: Callable[[Any], np.ndarray],
             ) -> tuple[Self, Parameters]:
        """The family and the leaves of what :meth:`written` answered; ``numbers`` reads arrays."""
        raise NotImplementedError


def vectors(shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Vectors: exactly zero altogether, each zero or not, or generic, at scales over several decades."""
    lead = (shape[0], *(1,) * (len(shape) - 1))
    scale = np.where(rng.random(lead) < 0.5, 1.0, 10 ** rng.uniform(-3, 2, lead))
    generic = rng.normal(size=shape) * scale
    kind = rng.random(lead)
    sparse = generic * (rng.random((*shape[:-1], 1)) < 0.5)
    return np.where(kind < 0.25, 0.0, np.where(kind < 0.5, sparse, generic))
