"""The worst functions themselves: points from a program's inner products, and functions through them."""

from dataclasses import dataclass
from math import inf, pi

import numpy as np

from fedtheory.engine import rounds_of
from synthetic.letters.interpolant import Interpolant
from synthetic.numbers.arrays import NUMPY, Backend, to_numpy
from synthetic.numbers.draws import Draws
from verify.worst.blocks import largest
from verify.worst.chart import WorstOfMethod

__all__ = ["WorstFunction", "measured", "worst_function"]

_MARGIN = 1e-10  #: by which points meet the conditions
_TOLERANCES = 1e-11, 1e-10, 1e-9, 1e-8


@dataclass(frozen=True)
class WorstFunction:
    """Clients on which a method does as badly as on any of the class.

    Attributes:
        federation: the clients; their optimum is at 0.
        start: from where the method runs, (dim,).
        ratio: what the program says, more precisely than ``worst.ratio``.
        rank: dimension of the points' means and of their deviations.
        error: how far the gradients of the functions are from those of the program, at most.
    """

    worst: WorstOfMethod
    federation: Interpolant
    start: np.ndarray
    ratio: float
    rank: tuple[int, ...]
    error: float


def worst_function(found: WorstOfMethod, precision: float = 1e-8) -> WorstFunction:
    """Functions of the class that are as bad as the program says; eigenvalues of its matrices below ``precision`` times the
    largest are left out.

    They have the class's curvatures whatever was rounded. The start, the bound ``zeta`` and the optimum hold up to rounding.
    With an odd number of clients deviations point in directions that are evenly spread over a circle, otherwise to both ends
    of a line.

    Raises:
        ValueError: the ratio is infinite, or one of a start or class for which this is not known.
    """
    if found.ratio == inf:
        raise ValueError("no function has an infinite ratio")
    if found.wanted.bounded_below or found.run.free is not None:
        raise ValueError("worst functions are known for convex classes and the method's own start; got "
                         + (found.functions if found.wanted.bounded_below else "free variates"))
    solution = largest(**found.program, margin=_MARGIN, tolerances=_TOLERANCES)
    means = _vectors(solution.grams[0], precision)
    deviations = _vectors(solution.grams[1], precision) if len(solution.grams) > 1 else np.zeros(
        (found.run.deviations.places.shape[1], 0))
    sides = _directions(found.clients)

    def points(mean, deviation):
        around = np.einsum("pr,kc->kprc", deviation @ deviations, sides).reshape(len(sides), len(mean), -1)
        return np.concatenate([np.broadcast_to(mean @ means, (len(sides), len(mean), means.shape[1])), around], axis=2)

    places, gradients = (points(*pair) for pair in zip(found.run.means, found.run.deviations, strict=True))
    values = np.broadcast_to(solution.values, places.shape[:2])
    federation = Interpolant(places, gradients, values, found.wanted.L, found.wanted.m)
    start = np.zeros(federation.dim)
    start[: means.shape[1]] = found.run.models[0][0] @ means
    error = np.abs(federation.gradient(places.transpose(1, 0, 2)) - gradients.transpose(1, 0, 2)).max()
    return WorstFunction(found, federation, start, solution.value, (means.shape[1], deviations.shape[1]), float(error))


def measured(function: WorstFunction, backend: Backend = NUMPY) -> dict[str, float]:
    """The method's ordinary run on the worst functions: what is ``given`` at the start, ``zeta_sq``, and the ``ratio``."""
    worst, federation = function.worst, function.federation.to(backend)
    draws, x = Draws((0,), backend), backend.array(function.start[None])
    states = [worst.algorithm.init(federation, x, draws)]
    states += rounds_of(worst.algorithm, federation, states[0], draws, 0, worst.rounds)
    models = [worst.algorithm.output(state) for state in states]
    of = {
        "distance": lambda x: float(to_numpy((x**2).sum())),
        "value": lambda x: float(federation.objective(x)[0] - federation.objective(0 * x)[0]),
        "gradient": lambda x: float(to_numpy((federation.objective_gradient(x) ** 2).sum())),
    }
    of["least-gradient"] = of["gradient"]
    ratios = [of[worst.wanted.measure](x) for x in (models if worst.wanted.measure == "least-gradient" else models[-1:])]
    own = to_numpy(federation.gradient(federation.all_clients(0 * models[0])))[0]
    return {"given": of[worst.wanted.given](models[0]), "zeta_sq": float((own**2).sum(axis=1).mean()), "ratio": min(ratios)}


def _vectors(gram, precision):
    """Letters as vectors (letters, rank) with the inner products ``gram``."""
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


