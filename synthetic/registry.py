"""Named problems, for the command line and for tables."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from synthetic.arrays import TORCH, Backend
from synthetic.checks import nearest
from synthetic.federation import Federation
from synthetic.from_arrays import from_arrays
from synthetic.make_quadratic import make_quadratic
from synthetic.priority import priority_mask
from synthetic.quadratic import Quadratic
from synthetic.random_data import random_least_squares, random_logistic
from synthetic.real_data import real_federation
from synthetic.synth import noisy_copies, synth, synth_noisy

__all__ = ["PROBLEMS", "Problem", "make_problem", "problem_names", "problem_options"]


@dataclass(frozen=True)
class Problem:
    """A named problem: who builds it, one line about it, its arguments unless others are given, and the function to
    which the builder hands its further arguments."""

    build: Callable[..., Federation]
    about: str
    defaults: dict[str, Any] = field(default_factory=dict)
    rest: Callable | None = None


def quadratic_pair(curvatures=(1.0, 4.0), centers=(1.0, -1.0), offsets=(0.0, 0.0), weights=(1.0, 1.0), priority=None,
                   backend: Backend = TORCH) -> Quadratic:
    """Two clients in one dimension, 1/2 a_k (x - c_k)^2 + b_k: the smallest problem on which local steps drift."""
    curvatures, centers = np.reshape(curvatures, (1, 2, 1)), np.reshape(centers, (1, 2, 1))
    federation = Quadratic(curvatures, centers, offsets, weights, priority_mask(priority, 2), backend=backend)
    federation.name = "pair of quadratics, dim 1"
    return federation


PROBLEMS: dict[str, Problem] = {
    "quadratic": Problem(make_quadratic, "diagonal quadratics, heterogeneous in minimisers and Hessians"),
    "quadratic-rotated": Problem(make_quadratic, "dense quadratics with rotated Hessians", {"hessians": "rotated"}),
    "quadratic-equal-hessians": Problem(
        make_quadratic, "quadratics with one Hessian: sigma_g is finite everywhere", {"hessian_spread": 0.0}),
    "quadratic-identical": Problem(
        make_quadratic, "identical clients: no heterogeneity", {"hessian_spread": 0.0, "minimiser_spread": 0.0}),
    "quadratic-aligned": Problem(
        make_quadratic, "priority clients and free clients whose minimisers lie at the priority optimum",
        {"priority": 4, "free_spread": 0.0}),
    "quadratic-misaligned": Problem(
        make_quadratic, "priority clients and free clients whose minimisers lie far from the priority optimum",
        {"priority": 4, "free_spread": 5.0}),
    "quadratic-1d-pair": Problem(quadratic_pair, "two quadratics in one dimension"),
    "least-squares": Problem(random_least_squares, "least squares on normal data, each client its own parameters",
                             rest=from_arrays),
    "logistic": Problem(random_logistic, "binary logistic regression on normal data, each client its own parameters",
                        rest=from_arrays),
    "synth": Problem(synth, "softmax regression on Synth(1,1) of Li et al. 2018", {"largest": 500}, from_arrays),
    "synth-noisy": Problem(
        synth_noisy, "Synth(1,1) priority clients, free clients with noisy and irrelevant data (FedALIGN, Figure 2)",
        {"largest": 500}, noisy_copies),
    "digits": Problem(real_federation, "softmax regression on scikit-learn's digits", {"name": "digits"}),
    "breast-cancer": Problem(
        real_federation, "logistic regression on scikit-learn's breast cancer data", {"name": "breast-cancer"}),
}


def problem_names() -> dict[str, str]:
    """One line about each problem, by name."""
    return {name: problem.about for name, problem in PROBLEMS.items()}


def problem_options(name: str) -> dict[str, Any]:
    """Options of the problem called ``name`` with their defaults.

    Raises:
        LookupError: unknown name, with the nearest known one.
    """
    if name not in PROBLEMS:
        raise nearest("problem", name, PROBLEMS)
    problem = PROBLEMS[name]
    parameters = dict(inspect.signature(problem.rest).parameters) if problem.rest else {}
    parameters |= inspect.signature(problem.build).parameters
    return {key: problem.defaults.get(key, p.default) for key, p in parameters.items()
            if p.kind is not p.VAR_KEYWORD and key not in ("name", "X", "y", "client", "task", "classes")}


def make_problem(name: str, **options) -> Federation:
    """The problem called ``name``; ``options`` replace the defaults of :func:`problem_options`.

    Raises:
        LookupError: unknown name or option, with the nearest known one. ValueError: from the builder.

    Example:
        >>> make_problem("quadratic", clients=3, dim=2).clients
        3
    """
    known = problem_options(name)
    for option in options:
        if option not in known:
            raise nearest(f"option of {name!r}", option, known)
    return PROBLEMS[name].build(**PROBLEMS[name].defaults | options)
