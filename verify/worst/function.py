"""The worst functions themselves: points from a program's inner products, and functions through them."""

from dataclasses import dataclass
from math import inf, isfinite, pi

import numpy as np

from fedtheory.engine import rounds_of
from synthetic.base.constants import Constant
from synthetic.base.display import RichDisplay, lines
from synthetic.numbers.arrays import NUMPY, Backend, to_numpy
from synthetic.numbers.draws import Draws
from synthetic.symbolic.interpolant import Interpolant, least_on_simplex
from verify.worst.blocks import maximise_measures
from verify.worst.method_worst_case import WorstOfMethod

__all__ = ["Polyhedral", "WorstFunction", "measured", "models_on", "worst_function"]

_MARGIN = 1e-10  #: by which points meet the conditions
_TOLERANCES = 1e-11, 1e-10, 1e-9, 1e-8
_TIE = 1e-6  # pieces as near to the largest count as largest, in units of the client's largest number


class Polyhedral(Interpolant):
    """Clients that are the largest of affine functions, one through each of the given points.

    Where several pieces are largest, up to rounding, the gradient is that of the one whose point is nearest.

    Example:
        Through slope 0 at 0 and slope 1 at 2: flat up to 2, then x - 2.

        >>> from verify.worst.function import Polyhedral
        >>> federation = Polyhedral([[[0.0], [2.0]]], [[[0.0], [1.0]]], [[0.0, 0.0]])
        >>> federation.value(federation.backend.array([[[1.5]], [[3.0]]])).ravel().tolist()
        [0.0, 1.0]
    """

    name = "largest of affine functions"

    def __init__(self, places, gradients, values, backend: Backend = NUMPY):
        super().__init__(places, gradients, values, 1.0, 0.0, backend)
        self.L, self.steep = inf, inf
        self.places, self.slopes = (np.asarray(array, dtype=float) for array in (places, gradients))
        falls = (self.slopes * self.places).sum(-1)
        self.heights = np.asarray(values, dtype=float) - falls
        self.size = np.maximum(np.abs(values).max(axis=1), np.abs(falls).max(axis=1))  # of numbers of each client

    def pieces(self, k, x):
        """The affine functions of client ``k`` at ``x`` (dim,)."""
        return self.heights[k] + self.slopes[k] @ x

    def value(self, x, clients=None):
        return self._each(x, clients, lambda k, v, _: self.pieces(k, v).max())

    def gradient(self, x, clients=None):
        def of_client(k, v, _):
            pieces = self.pieces(k, v)
            tied = np.flatnonzero(pieces >= pieces.max() - _TIE * self.size[k])
            return self.slopes[k, tied[np.argmin(((self.places[k, tied] - v) ** 2).sum(axis=1))]]

        return self._each(x, clients, of_client)

    def prox(self, linear, rho, center, clients=None):
        """Solves the problem of :meth:`Interpolant.prox`, with ``rho`` above 0, by the weights of the pieces at the
        solution."""
        def of_client(k, goal, rho):
            share = least_on_simplex(self.slopes[k], -self.pieces(k, goal / rho), 0 * goal, 1 / rho)
            return (goal - share @ self.slopes[k]) / rho

        return self._each(rho * center - linear, clients, of_client, rho)

    @property
    def F_star_client(self):
        return self.backend.array(np.full((1, self.clients), np.nan))

    def smoothness(self):
        return Constant(0 * self.weights + inf, "upper", "not smooth")


@dataclass(frozen=True)
class WorstFunction(RichDisplay):
    """Clients on which a method does as badly as on any of the class.

    Attributes:
        federation: the clients; their optimum is at 0.
        start: from where the method runs, (dim,).
        ratio: the program's value, more precisely than ``worst.ratio``.
        rank: dimension of the points' means and of their deviations.
        error: how far the gradients of the functions are from those of the program, at most.
    """

    worst: WorstOfMethod
    federation: Interpolant
    start: np.ndarray
    ratio: float
    rank: tuple[int, ...]
    error: float

    def _summary(self) -> str:
        return f"{self.worst.algorithm.name} does its worst, {self.ratio:.6g}, in {self.federation.dim} dimensions"

    def _table(self):
        yield from self.worst._table()

    def _svg(self):
        """The values of the models of the run."""
        models = np.array([np.ravel(model) for model in models_on(self)])
        at = np.broadcast_to(models[:, None], (len(models), self.federation.clients, models.shape[1]))
        return lines(np.asarray(self.federation.value(at)).mean(axis=1))


def worst_function(found: WorstOfMethod, precision: float = 1e-8) -> WorstFunction:
    """Functions of the class that are as bad as the program says; eigenvalues of its matrices below ``precision`` times the
    largest are left out.

    They have the class's curvatures whatever was rounded. The start, the bound ``zeta`` and the optimum hold up to rounding,
    and so do bounds on subgradients and on the objective. Of several subgradients the clients return the worst one.
    With an odd number of clients deviations point in directions that are evenly spread over a circle, otherwise to both ends
    of a line.

    Raises:
        ValueError: the ratio is infinite, or one of a start or class for which this is not known.
    """
    if found.ratio == inf:
        raise ValueError("no function has an infinite ratio")
    many = found.question.bounded_below and found.clients > 1
    if many or found.run.free is not None:
        raise ValueError("worst functions are known for one client, or for convex classes, and the method's own start; got "
                         + (f"{found.clients} clients, {found.functions}" if many else "free variates"))
    solution, units = maximise_measures(**found.program, margin=_MARGIN, tolerances=_TOLERANCES), found.units
    means = _vectors(solution.grams[0], precision)
    deviations = _vectors(solution.grams[1], precision) if len(solution.grams) > 1 else np.zeros(
        (found.run.deviations.places.shape[1], 0))
    sides = _directions(found.clients)

    def points(mean, deviation, unit):
        around = np.einsum("pr,kc->kprc", deviation @ deviations, sides).reshape(len(sides), len(mean), -1)
        middle = np.broadcast_to(mean @ means, (len(sides), len(mean), means.shape[1]))
        return unit * np.concatenate([middle, around], axis=2)

    places, gradients = (points(*three) for three in zip(
        found.run.means, found.run.deviations, (units.length, units.gradient), strict=True))
    values = np.broadcast_to(solution.values, places.shape[:2]) * units.value
    start = np.zeros(places.shape[2])
    start[: means.shape[1]] = found.run.models[0][0] @ means * units.length
    if found.question.bounded_below:  # one gradient step of 1/L from one of the points the function has its least value
        least = np.argmin(values[0] - (gradients[0] ** 2).sum(axis=1) / (2 * found.question.L))
        origin = places[0, least] - gradients[0, least] / found.question.L
        places, start = places - origin, start - origin
    if isfinite(found.question.L):
        federation = Interpolant(places, gradients, values, found.question.L, found.question.m)
    else:
        federation = Polyhedral(places, gradients, values)
    error = np.abs(federation.gradient(places.transpose(1, 0, 2)) - gradients.transpose(1, 0, 2)).max()
    ratio = solution.value * units.unit_of(found.question.measure)
    return WorstFunction(found, federation, start, ratio, (means.shape[1], deviations.shape[1]), float(error))


def models_on(function: WorstFunction, backend: Backend = NUMPY) -> list:
    """The models (1, dim) of the method's ordinary run on the worst functions, from the start on."""
    worst, federation = function.worst, function.federation.to(backend)
    draws, x = Draws((0,), backend), backend.array(function.start[None])
    states = [worst.algorithm.init(federation, x, draws)]
    states += rounds_of(worst.algorithm, federation, states[0], draws, 0, worst.rounds)
    return [worst.algorithm.output(state) for state in states]


def measured(function: WorstFunction, backend: Backend = NUMPY) -> dict[str, float]:
    """Runs the method on the worst functions; returns the ``given`` quantity at the start, ``zeta_sq``, and the
    ``ratio``."""
    worst, federation, models = function.worst, function.federation.to(backend), models_on(function, backend)
    of = {
        "distance": lambda x: float(to_numpy((x**2).sum())),
        "value": lambda x: float(federation.objective(x)[0] - federation.objective(0 * x)[0]),
        "gradient": lambda x: float(to_numpy((federation.objective_gradient(x) ** 2).sum())),
    }
    question = worst.question
    ratios = [of[question.measure.removeprefix("least-")](x) for x in (models if question.least else models[-1:])]
    own = to_numpy(federation.gradient(federation.all_clients(0 * models[0])))[0]
    return {"given": of[question.given](models[0]), "zeta_sq": float((own**2).sum(axis=1).mean()), "ratio": min(ratios)}


def _vectors(gram, precision):
    """Vectors (vectors, rank) with the Gram matrix ``gram``."""
    values, vectors = np.linalg.eigh(gram)
    kept = values > precision * max(values[-1], 0.0)
    return vectors[:, kept] * np.sqrt(values[kept])


def _directions(clients):
    """Unit vectors (clients, 1 or 2) that sum to zero."""
    if clients == 1:
        return np.zeros((1, 1))
    if clients % 2 == 0:
        return np.array([[1.0], [-1.0]] * (clients // 2))
    angles = 2 * pi * np.arange(clients) / clients
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


