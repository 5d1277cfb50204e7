"""The worst case of a method over a class of functions, without a claim: the method's own file, run on letters."""

import time
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.engine import rounds_of
from fedtheory.registry import find_algorithm, made_by, make_algorithm
from fedtheory.returned import not_called
from synthetic.base.checks import number, one_of, whole
from synthetic.base.display import RichDisplay
from synthetic.symbolic.combination import NotLinear
from synthetic.symbolic.symbolic_federation import NoChance, SymbolicFederation, TooManyBasisVectors
from verify.worst.blocks import Maximiser, maximise_measures
from verify.worst.conditions import Question, RunArrays, Units, conditions, run_arrays

__all__ = ["CLASSES", "MEASURES", "WorstOfMethod", "worst"]

CLASSES = ("smooth-strongly-convex", "smooth-convex", "smooth", "convex", "convex-lipschitz", "convex-quadratic-bound")
MEASURES = ("distance", "value", "gradient", "least-gradient", "least-value")
_MOST = 400  # letters
_TEXTS = {"distance": "|x - x_*|^2", "value": "F(x) - F_*", "gradient": "|grad F(x)|^2",
          "least-gradient": "the least |grad F(x)|^2", "least-value": "the least F(x) - F_*"}


@dataclass(frozen=True)
class WorstOfMethod(RichDisplay):
    """The worst case of a method.

    Attributes:
        ratio: the largest measure after the last round, in units of what is given at the start; infinite if there is none.
        tight: whether functions of the class attain it, up to 1e-6 of it, else it is an upper bound. It is attained by the
            points of the solution, which passed the check of :func:`verify.worst.blocks.maximise_measures`, where the
            program's conditions are all that functions through them must meet: that is known of all classes but ``smooth``
            with several clients. An infinite ratio is attained in the limit.
        letters: number of vectors without a value: the start, and the gradients, each with its mean and deviations.
        seconds: of running the method, and of solving.
        question, run: the question, and the run on letters.
        program: what :func:`verify.worst.blocks.largest` takes.
        solution: inner products, values and multipliers; None where the ratio is infinite.
        units: those of run, program and solution; all else is in the units of the question.
    """

    algorithm: Algorithm
    functions: str
    rounds: int
    clients: int
    ratio: float
    tight: bool
    letters: int
    seconds: tuple[float, float]
    question: Question
    run: RunArrays
    program: dict[str, Any]
    solution: Maximiser | None
    units: Units

    @property
    def answer(self) -> str:
        """The worst case in words: what is measured after the last round, in units of what is given at the start."""
        what, given = (_TEXTS[name] for name in (self.question.measure, self.question.given))
        zeta, apart = self.question.zeta_sq, ""
        if zeta is not None and self.clients > 1:
            spread = "|grad F_k - grad F|^2" if self.question.bounded_below else "|grad F_k(x_*)|^2"
            apart = f" and the mean of {spread} is at most {zeta:.6g}"
        worst = ("has no bound" if self.ratio == np.inf else
                 f"is {'' if self.tight else 'at most '}{self.ratio:.6g} in the worst case")
        return (f"{what} after {self.rounds} round{'s' * (self.rounds > 1)} {worst}, if {given} at the start is at most 1"
                f"{apart}{', and a function attains it' if self.tight and self.ratio < np.inf else ''}")

    def _summary(self) -> str:
        return f"{self.algorithm.name} on all {self.functions} functions: {'' if self.tight else 'at most '}{self.ratio:.6g}"

    def _table(self):
        yield from (("method", self.algorithm), ("rounds", self.rounds), ("clients", self.clients))
        yield "largest", f"{self.question.measure} after the last round"
        yield "where at most 1", f"{self.question.given} at the start"
        yield "program", f"{self.letters} letters, {sum(self.seconds):.3g} s"


def worst(method, rounds: int = 1, clients: int = 2, L=1.0, mu=None, zeta=1.0, measure: str | None = None,
          functions: str = "smooth-strongly-convex", given: str | None = None, variates=None, exact: bool = False,
          **arguments) -> WorstOfMethod:
    """The largest ``measure`` of a method after ``rounds`` rounds, over all functions of a class in every dimension.

    All clients have equal weight, take part in every round and use full gradients. The ratio is the same for every number
    of clients from 2 on, and so is the time that it takes.

    Args:
        method: its name, or a function that makes it, with its ``arguments``; or an :class:`fedtheory.Algorithm`.
        functions: of the clients: ``smooth-strongly-convex`` (curvatures from ``mu``, by default L/10, to ``L``),
            ``smooth-convex`` (from 0) or ``smooth`` (from -L, with an objective that is bounded below). Without a bound on
            curvatures, where a gradient is any subgradient: ``convex``; and for one client ``convex-lipschitz``, with
            subgradients of at most L, and ``convex-quadratic-bound``, with F(x) - F_* <= L/2 |x - x_*|^2.
        measure: ``distance`` |x - x_*|^2, ``value`` F(x) - F_*, ``gradient`` |grad F(x)|^2, or ``least-gradient`` and
            ``least-value``, the least of these over all rounds from the start on. By default the distance, and for
            ``smooth`` the gradient.
        given: which of the first three is at most 1 at the start; by default the distance, and for ``smooth`` the value.
        zeta: mean of |grad F_k(x_*)|^2 over the clients is at most zeta^2; None: no bound. For ``smooth`` it is the mean of
            |grad F_k - grad F|^2 that is bounded, at the models that all clients have in common.
        variates: control variates or duals of clients start anywhere with a mean squared distance of at most variates^2 to
            the values at the optimum, and the server's at the mean of theirs; None: as the method's ``init`` says.
        exact: run the method on fractions; the solver computes in floats in any case.

    Raises:
        ImportError: the solver is not installed.
        LookupError: no such method.
        ValueError: an argument that is not allowed, a method whose models are no linear combination of gradients, or
            (``NotSolved``) a program whose solver has no answer that passes the check.

    Example:
        One gradient step of 1/2: (1 - mu/2)^2.

        >>> from verify.worst.method_worst_case import worst
        >>> round(worst("fedavg", clients=1, eta_l=0.5).ratio, 6)
        0.9025
    """
    smooth = one_of("class", functions, CLASSES) == "smooth"
    measure = one_of("measure", measure or ("gradient" if smooth else "distance"), MEASURES)
    given = one_of("given", given or ("value" if smooth else "distance"), MEASURES[:3])
    if smooth and "distance" in (measure, given):
        raise ValueError("distances to the optimum say nothing without convexity; allowed: value, gradient, the least")
    if mu is not None and functions != CLASSES[0]:
        raise ValueError(f"mu belongs to {CLASSES[0]}; got {mu!r} with {functions}")
    L = float(number("L", L, strict=True))
    mu = L / 10 if mu is None else float(number("mu", mu, strict=True))
    if functions == "convex" and L != 1:
        raise ValueError(f"convex functions have no bound L; got {L:g}")
    m = {CLASSES[0]: mu, CLASSES[2]: -L}.get(functions, 0.0)
    if not m < L:
        raise ValueError(f"mu must be below L = {L:g}; got {mu:g}")
    alone = {"convex-lipschitz": "slope", "convex-quadratic-bound": "above"}.get(functions)
    if alone and clients != 1:
        raise ValueError(f"{functions} bounds the objective, so that it is about one client; got {clients} clients")
    squares = (None if bound is None else float(number(name, bound)) ** 2
               for name, bound in (("zeta", zeta), ("variates", variates)))
    question = Question(
        L if functions in CLASSES[:3] else np.inf, m, given, measure, *squares, **({alone: L} if alone else {}))
    algorithm, tilt = _method(method, arguments)
    rounds, clients = whole("rounds", rounds), whole("clients", clients)
    began = time.perf_counter()
    bounded = L if functions not in CLASSES[3:5] else None  # a bound on curvatures is the unit of these
    letters, models, free = _on_letters(algorithm, rounds, clients, tilt, variates is not None, exact, bounded)
    run = run_arrays(letters, models if question.least else models[:1] + models[-1:], question, free)
    ran, units = time.perf_counter(), Units.where_given(given, float(letters.curvature))
    program = conditions(run, question.in_units(units))
    solution = maximise_measures(**program)
    ratio = np.inf if solution is None else solution.value * units.unit_of(measure)
    if solution is not None and not isfinite(ratio):
        raise ValueError(f"the worst {measure} is too large for a float: {solution.value:g} times {units}")
    tight = not smooth or clients == 1
    return WorstOfMethod(algorithm, functions, rounds, clients, ratio, tight, 1 + letters.used,
                         (ran - began, time.perf_counter() - ran), question, run, program, solution, units)


def _on_letters(algorithm, rounds: int, clients: int, tilt, variates: bool, exact: bool, curvature: float | None):
    """A method's run on letters in a unit of ``curvature``, by default that in which its longest step is 1: the letters, and
    what :func:`_run` returns."""
    most = 4 + rounds * (algorithm.local_steps + 2)
    while True:
        letters = SymbolicFederation(most, clients, exact, curvature or 1.0)
        try:
            models, free = _run(algorithm, letters, rounds, tilt, variates)
            run = letters, models, free
        except TooManyBasisVectors as error:
            if most > _MOST:
                raise ValueError(f"{algorithm.name}: {error}") from error
            most *= 2
            continue
        except NotLinear as error:
            raise ValueError(f"{algorithm.name} has no worst case of this kind: {error}") from error
        step = max((abs(float(c)) for x in models for c in letters.mean_of(x)[1:]), default=0.0)
        if curvature is not None or step in (0.0, 1.0):
            return run
        curvature = 1 / step


def _method(method, arguments):
    """The algorithm, and the tilt that its traits declare."""
    if isinstance(method, Algorithm):
        if arguments:
            raise ValueError(f"a method that is given as a value takes no {', '.join(arguments)}")
        algorithm, tilt = method, None
    elif isinstance(method, str):
        algorithm, tilt = make_algorithm(method, **arguments), find_algorithm(method).traits.tilt
    elif callable(method):
        algorithm, tilt = made_by(method, **arguments), None
    else:
        raise not_called("a method", "a name, an Algorithm such as ft.fedavg(eta_l=0.1), or a maker of one", method)
    if not algorithm.selection.fixed:
        raise ValueError(f"{algorithm.name} samples its clients; worst cases of methods are with all clients")
    return algorithm, tilt


def _run(algorithm, letters, rounds, tilt, variates):
    """The models after each round from the start on, and how far the clients' free arrays are from those at the optimum."""
    draws, distance = NoChance(), None
    state = algorithm.init(letters, letters.start, draws)
    if variates:
        if tilt is None:
            raise ValueError(f"{algorithm.name} has no control variates or duals whose values at an optimum are known")
        for name, sign in tilt.arrays.items():
            free = letters.new_vector()
            distance = free - letters.optimal * sign
            owner = state.clients if name in state.clients else state.server
            if name in state.server and owner is state.clients:
                state.server[name] = free.sum(axis=1) / letters.clients
            owner[name] = free
    states = [state, *rounds_of(algorithm, letters, state, draws, 0, rounds)]
    return [algorithm.output(state) for state in states], distance
