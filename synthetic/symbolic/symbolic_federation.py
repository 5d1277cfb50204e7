"""A federation of letters: a method's ordinary file, run on it, writes down how models depend on the gradients.

A letter is a vector without a value. A model is the row of its coefficients over the letters: the start less the optimum,
and the gradients that were asked for. What holds of such a run holds in every dimension, for every federation.

Clients of equal weight that all take part may be exchanged. So a model of a client is a combination of means over the
clients and of its own deviations from these, with the same coefficients for every client; deviations sum to zero. Two
clients whose deviations are opposite therefore stand for any number of clients: the run costs the same for 2 as for 1,000.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np

from synthetic.base.federation import Federation
from synthetic.numbers.arrays import EXACT
from synthetic.numbers.draws import Draws
from synthetic.symbolic.combination import Combination, NotLinear

__all__ = ["NoChance", "SymbolicFederation", "TooManyBasisVectors"]

_NEAR = 1e-12  # floats that count as equal, in units of the largest


class TooManyBasisVectors(ValueError):
    """A method asks for more gradients than there is room for."""


class NoChance(Draws):
    """Draws of a method that draws nothing, on the letters' arrays."""

    def __init__(self):
        super().__init__((0,), EXACT)

    def bits(self, stream, *coordinates, ndim=1):
        raise NotLinear("a random draw")


@lru_cache
def _equal_weights(clients: int):
    """Equal weights of priority clients, and the mask of priority."""
    ones = np.ones((1, clients))
    return EXACT.array(ones) / clients, EXACT.booleans(ones)


class SymbolicFederation(Federation):
    """Clients of equal weight whose gradients are letters; one point has one gradient.

    Vectors have two coordinates, which hold the same row in two bases of the letters. An operation that is not the same in
    every basis, such as one on single coordinates, makes them differ and is refused.

    Args:
        most: how many letters there may be besides the start.
        clients: 1, or any other number, which all have the same run.
        exact: whether coefficients are fractions, else floats.
        curvature: the unit of curvature in which letters are equally large: a gradient is this number times its letter, so
            that the coefficients of models do not depend on the unit of the losses.

    Attributes:
        start: the start less the optimum, (1, dim), from which a method's ``init`` begins.
        points: of the first client, (where, gradient), both rows (see :meth:`parts`); the first is at the optimum.

    Raises:
        NotLinear: in a run, if the method does something else than linear operations on whole vectors, draws at random,
            needs losses, or treats clients differently.
        TooManyBasisVectors: in a run, after ``most`` basis vectors.

    Example:
        Two gradient steps of 1/2: x_0 - 1/2 g_1 - 1/2 g_2, after the gradient at the optimum.

        >>> from synthetic.symbolic.symbolic_federation import SymbolicFederation
        >>> federation = SymbolicFederation(3, clients=1)
        >>> x = federation.start[:, None, :]
        >>> for _ in range(2):
        ...     x = x - federation.gradient(x) / 2
        >>> federation.mean_of(x[:, 0]).tolist()
        [1.0, 0.0, -0.5, -0.5]
    """

    name = "federation of letters"
    dim = 2
    x_star = F_star_client = None

    def __init__(self, most: int, clients: int = 2, exact: bool = False, curvature: float = 1.0):
        self.clients, self.most, self.exact = min(clients, 2), most, exact
        self.curvature = Fraction(curvature) if exact else float(curvature)
        self.given = []  # the letters: a list, as a method's init works on a copy of the federation
        self.zero = np.zeros(1 + most * self.clients)
        self.signs = np.where(np.arange(len(self.zero)) > most, -1, 1)
        if exact:
            self.zero, self.signs = self.zero.astype(int) + np.array([Fraction(0)]), self.signs.astype(object)
        self.weights, self.priority = _equal_weights(self.clients)
        self.start = self._vectors(self._unit(0))[:, 0]
        self.points = [(self.zero, self._new_row())]

    # letters -----------------------------------------------------------------------------------------------------------
    @property
    def used(self) -> int:
        """The number of basis vectors besides the start."""
        return len(self.given)

    def new_vector(self):
        """A new vector of each client, (1, clients, dim), in the unit of gradients."""
        return self._vectors(self._new_row())

    def _new_row(self):
        """The first client's row of a new vector of each client."""
        if self.used == self.most:
            raise TooManyBasisVectors(f"more than {self.most} letters")
        self.given.append(self.used)
        mean = self._unit(self.used)
        return (mean if self.clients == 1 else mean + self._unit(self.most + self.used)) * self.curvature

    def _unit(self, place):
        row = self.zero.copy()
        row[place] += 1
        return row

    def _vectors(self, row):
        """A row of the first client as vectors of all."""
        vectors = np.empty((1, self.clients, self.dim), dtype=object)
        for client, own in enumerate((row, row * self.signs)[: self.clients]):
            vectors[0, client] = Combination(own), Combination(_turned(own))
        return vectors

    def row(self, vectors, unit=1):
        """Returns the first client's row of vectors (1, clients, dim). Coefficients that are small beside ``unit``, 1 for
        models and ``curvature`` for gradients, are rounding errors.

        Raises:
            NotLinear: the row does not determine the vectors of all clients.
        """
        if vectors.shape != (1, self.clients, self.dim):
            raise NotLinear("some clients or coordinates alone")
        rows = [[entry.row if type(entry) is Combination else self._plain(entry) for entry in vector]
                for vector in vectors[0]]
        first = rows[0][0]
        if not all(self._equal(one, _turned(row), unit) for row, one in rows):
            raise NotLinear("an operation that depends on the coordinates")
        if self.clients > 1 and not self._equal(rows[1][0], first * self.signs, unit):
            raise NotLinear("clients are treated differently")
        return first

    def _plain(self, number):
        """The row of a plain number, which must be zero."""
        if number != 0:
            raise NotLinear("a model that is a plain number")
        return self.zero

    def _equal(self, one, other, unit=1) -> bool:
        if (one == other).all():
            return True
        return not self.exact and bool(np.abs(one - other).max() <= _NEAR * max(unit, np.abs(one).max()))

    def parts(self, row):
        """Coefficients of a client's row over start and means, (1 + used,), and over its own deviations, (used,)."""
        deviations = row[1 + self.most : 1 + self.most + self.used]
        return row[: 1 + self.used], deviations if self.clients > 1 else 0 * row[1 : 1 + self.used]

    def mean_of(self, x):
        """Coefficients of a server's vector (1, dim) over the start and the means of the letters, (1 + used,).

        Raises:
            NotLinear: it is no such combination.
        """
        return self.parts(self.row(self.all_clients(x)))[0]

    # a federation --------------------------------------------------------------------------------------------------------
    @property
    def optimal(self):
        """The gradients at the optimum, (1, clients, dim), whose mean is zero."""
        return self._vectors(self.points[0][1])

    def place(self, x) -> int:
        """The number of the point at which all clients have models ``x`` (1, clients, dim); it is asked for if new."""
        row = self.row(x)
        for place, (where, _) in enumerate(self.points):
            if self._equal(where, row):
                return place
        self.points.append((row, self._new_row()))
        return len(self.points) - 1

    def gradient(self, x, clients=None):
        return self._vectors(self.points[self.place(x)][1])

    def prox(self, linear, rho, center, clients=None):
        """The point v with gradient + linear + rho (v - center) = 0, (1, clients, dim)."""
        if not isinstance(rho, int | float | Fraction) or not rho > 0:
            raise NotLinear("a local problem without a pull of fixed strength")
        gradient = self.new_vector()
        v = center - (linear + gradient) / rho
        self.points.append((self.row(v), self.row(gradient, self.curvature)))
        return v

    def value(self, x, clients=None):
        raise NotLinear("losses")

    smoothness = convexity = value


def _turned(row):
    """A row in another basis, no two vectors of which are orthogonal or of equal length one."""
    found = 2 * row
    found[1:] -= 3 * row[:-1]
    found[0] -= 3 * row[-1]
    return found
