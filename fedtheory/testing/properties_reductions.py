"""Declared special cases that are other methods."""

from __future__ import annotations

import numpy as np

from fedtheory.registry import find_algorithm
from fedtheory.testing.outcome import NotApplicable, same
from fedtheory.testing.property import Property
from fedtheory.testing.subject import Subject, models
from fedtheory.traits import GRADIENT_DESCENT, ONE_LOSS, Reduction
from synthetic.numbers.arrays import NUMPY

__all__ = ["declared"]

WORDS = {
    ("participants", None): "all clients", ("sigma", 0.0): "no noise", ("local_steps", 1): "one local step",
    ("clients", 1): "one client", ("rounds", 1): "one round", ("identical", True): "identical clients",
}


def declared(subject) -> list[Property]:
    """One property per declared reduction."""
    return [_property(reduction) for reduction in subject.traits.reductions]


def name_of(reduction: Reduction) -> str:
    """The special case in a few words: ``rho_prox=0, one local step: fedavg``."""
    parts = [f"{name}={value!r}" for name, value in reduction.arguments.items()]
    if reduction.where == ONE_LOSS:
        parts.append("one loss")
    else:
        parts += [WORDS.get((name, value), f"{name}={value}") for name, value in reduction.where.items()]
    given = "".join(f" {name}={value!r}" for name, value in reduction.given.items())
    other = " on other losses" if reduction.on is not None else ""
    return f"{', '.join(parts) or 'always'}: {reduction.to}{given}{other}"


def _property(reduction: Reduction) -> Property:
    def check(subject, case):
        special = subject.with_arguments(reduction.arguments)
        algorithm, federation = special.build(case), case.federation(subject.backend)
        found = models(special, case)
        if reduction.to == GRADIENT_DESCENT:
            expected = gradient_descent(algorithm.eta_l, case)
        else:
            if reduction.on is not None:
                federation = reduction.on(federation, subject.backend.array(case.start()), algorithm)
            expected = other_method(reduction, special, algorithm, case, federation)
        same(expected, found, f"x, against {reduction.to}")

    meaning = "A special case that is another method."
    single = {} if reduction.on is None else {"runs": 1, "data": False}
    return Property(name_of(reduction), meaning, check, single | dict(reduction.where))


def other_method(reduction: Reduction, special: Subject, algorithm, case, federation):
    """The models of the method to which ``special`` reduces, with the arguments that both take."""
    other = find_algorithm(reduction.to)
    own = {name: special.value(name) for name in other.arguments if name in special.parameters and name not in (
        "local_steps", "participants", "replacement", "selection")}
    target = Subject(reduction.to, other.make, other.arguments, other.traits, own | dict(reduction.given))
    return models(target, case, federation)


def gradient_descent(eta, case):
    """``x <- x - eta grad F(x)``, computed here by itself: ``local_steps`` times per round where there is one client."""
    if not isinstance(eta, (int, float)):
        raise NotApplicable("the step size is no number")
    federation, x = case.federation(NUMPY), case.start() * 1.0
    path = [x]
    for _ in range(case.rounds):
        for _ in range(case.local_steps):
            x = x - eta * federation.objective_gradient(x)
        path.append(x)
    return np.stack(path, axis=1)
