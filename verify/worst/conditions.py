"""The conditions that a class of functions and a start impose on a symbolic run, as rows of numbers."""

from typing import Any, NamedTuple

import numpy as np

from synthetic.symbolic.symbolic_federation import SymbolicFederation
from verify.worst.blocks import Block, interpolation_products, square

__all__ = ["Question", "RunArrays", "Units", "conditions", "run_arrays"]


class Units(NamedTuple):
    """The units in which a program is solved: one of curvature, and one of length, in which what is given is at most 1."""

    curvature: float
    length: float

    @property
    def gradient(self) -> float:
        return self.curvature * self.length

    @property
    def value(self) -> float:
        return self.curvature * self.length**2

    def unit_of(self, measure: str) -> float:
        """The unit of a distance, value or gradient, as measured: squares of the first and the last."""
        return {"distance": self.length**2, "value": self.value, "gradient": self.gradient**2}[
            measure.removeprefix("least-")]

    @classmethod
    def where_given(cls, given: str, curvature: float) -> "Units":
        """The units of such a curvature in which one of what is ``given`` is 1."""
        return cls(curvature, {"distance": 1.0, "value": curvature**-0.5, "gradient": 1 / curvature}[given])


class Question(NamedTuple):
    """A class of functions, what is given at the start, and what is measured, as in
    :func:`verify.worst.method_worst_case.worst`, with the squares of ``zeta`` and ``variates``.

    Curvatures are from ``m`` to ``L``, which may be infinite. ``slope``: a bound on gradients; ``above``: the
    curvature of a parabola with the objective's minimum that is nowhere below it."""

    L: float
    m: float
    given: str
    measure: str
    zeta_sq: float | None
    variates_sq: float | None
    slope: float | None = None
    above: float | None = None

    @property
    def least(self) -> bool:
        """Whether what is measured is the least over all rounds."""
        return self.measure.startswith("least-")

    @property
    def bounded_below(self) -> bool:
        """Whether nothing is known of the optimum but that the objective has a lower bound."""
        return self.m < 0

    def in_units(self, units: Units) -> "Question":
        """The same question in other units, in which what is given is at most 1 too."""
        def in_unit(number, unit):
            return None if number is None else number / unit

        return self._replace(
            L=self.L / units.curvature, m=self.m / units.curvature, slope=in_unit(self.slope, units.gradient),
            above=in_unit(self.above, units.curvature), zeta_sq=in_unit(self.zeta_sq, units.gradient**2),
            variates_sq=in_unit(self.variates_sq, units.gradient**2))


class RunArrays(NamedTuple):
    """A symbolic run as arrays, in its own unit of curvature: the points over the basis vectors of each block; which of them
    all clients share; and the models, the start first, each as a row over the means' basis vectors and the number of its
    point."""

    means: Block
    deviations: Block
    common: np.ndarray
    models: list[tuple[np.ndarray, int]]
    free: np.ndarray | None


def run_arrays(letters: SymbolicFederation, models, question: Question, free=None) -> RunArrays:
    """The run that gave the ``models`` (1, dim), of which the first is the start; ``free`` (1, clients, dim): the difference
    of the clients' arrays from their values at the optimum."""
    needed = [question.given != "distance" or question.least,
              *[question.measure != "distance"] * (len(models) - 1)]
    numbers = [letters.place(letters.all_clients(x)) if ask else -1 for x, ask in zip(models, needed, strict=True)]
    rows = [[letters.parts(row) for row in each] for each in zip(*letters.points, strict=True)]
    units = 1.0, float(letters.curvature)  # of places and gradients
    means, deviations = (Block(*(np.array([parts[side] for parts in each], dtype=float) / unit
                                 for each, unit in zip(rows, units, strict=True))) for side in (0, 1))
    common = ~deviations.places.any(axis=1)
    models = [(np.array(letters.mean_of(x), dtype=float), place) for x, place in zip(models, numbers, strict=True)]
    if free is not None:
        own = letters.parts(letters.row(free, letters.curvature))
        free = [np.array(part, dtype=float) / float(letters.curvature) for part in own]
    if question.bounded_below:  # nothing happens at the optimum
        means, deviations, common = (Block(*(a[1:] for a in means)), Block(*(a[1:] for a in deviations)), common[1:])
        models = [(row, place - 1) for row, place in models]
    return _drop_zero_vectors(RunArrays(means, deviations, common, models, free), question)


def _drop_zero_vectors(run: RunArrays, question: Question) -> RunArrays:
    """Removes basis vectors that are zero or do not occur."""
    def kept_columns(block, zeros, others):
        rows = [*block.places, *block.gradients, *others]
        found = np.abs(np.array(rows)).any(axis=0)
        found[zeros] = False
        return found

    start = [0] if question.bounded_below and (run.means.places[:, 0] == 1).all() else []  # the same for every origin
    free = [] if run.free is None else [run.free]
    means = kept_columns(run.means, [1, *start], [row for row, _ in run.models] + [part[0] for part in free])
    deviations = kept_columns(run.deviations, [0] if question.zeta_sq == 0 else [], [part[1] for part in free])
    return RunArrays(
        Block(*(a[:, means] for a in run.means)), Block(*(a[:, deviations] for a in run.deviations)), run.common,
        [(row[means], place) for row, place in run.models],
        None if run.free is None else [run.free[0][means], run.free[1][deviations]])


def conditions(run: RunArrays, question: Question) -> dict[str, Any]:
    """The arguments of :func:`verify.worst.blocks.maximise_measures`."""
    count, sizes = len(run.common), [run.means.places.shape[1], run.deviations.places.shape[1]]
    one, other = (index.ravel() for index in np.indices((count, count)))
    one, other = one[one != other], other[one != other]
    unit = np.eye(count)

    def row(values=None, mean=None, deviation=None, factor=1.0):
        parts = [np.zeros(count) if values is None else values]
        for vector, size in zip((mean, deviation), sizes, strict=True):
            parts.append(np.zeros(size * (size + 1) // 2) if vector is None else factor * square(vector))
        return np.concatenate(parts)

    def quantity(name, model, place):
        if name == "distance":
            return row(mean=model)
        return row(values=unit[place]) if name == "value" else row(mean=run.means.gradients[place])

    known = [np.concatenate([unit[one] - unit[other], *(interpolation_products(block, one, other, question.L, question.m)
                                                        for block in (run.means, run.deviations))], axis=1)]
    limits, bounds = [quantity(question.given, *run.models[0])], [1.0]
    if question.above is not None:
        known.append(np.concatenate([unit[[0] * (count - 1)] - unit[1:], *(
            interpolation_products(block, np.zeros(count - 1, int), np.arange(1, count), question.above, 0.0)
            for block in (run.means, run.deviations))], axis=1))
    if question.bounded_below:
        places = np.flatnonzero(run.common)
        known.append(np.array([row(unit[i], run.means.gradients[i], factor=-0.5 / question.L) for i in places]))
    else:
        places = [0]
    if question.zeta_sq and sizes[1]:
        for place in places:
            limits.append(row(deviation=run.deviations.gradients[place]))
            bounds.append(question.zeta_sq)
    if question.slope is not None:
        for gradient in run.means.gradients[np.abs(run.means.gradients).any(axis=1)]:
            limits.append(row(mean=gradient))
            bounds.append(question.slope**2)
    if run.free is not None:
        limits.append(row(mean=run.free[0], deviation=run.free[1]))
        bounds.append(question.variates_sq)
    rows = [np.concatenate(known), np.array(limits)]
    measures = np.array([quantity(question.measure.removeprefix("least-"), *model)
                         for model in (run.models if question.least else run.models[1:])])
    if not question.bounded_below:
        for each in (*rows, measures):
            each[:, 0] = 0.0  # values are in excess of those at the optimum
    return {"points": count, "conditions": rows[0], "limits": rows[1], "bounds": np.array(bounds), "measures": measures,
            "sizes": [size for size in sizes if size]}


