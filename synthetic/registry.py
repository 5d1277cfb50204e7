"""Named problems, for the command line and for tables."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from synthetic.base.checks import nearest
from synthetic.base.federation import Federation
from synthetic.base.priority import priority_mask
from synthetic.data.factored import Factored, factored
from synthetic.data.from_arrays import from_arrays
from synthetic.data.perceptron import Perceptron
from synthetic.numbers.arrays import TORCH, Backend, one_place
from synthetic.quadratic.cosine import make_cosine_quadratic
from synthetic.quadratic.layered import layered_quadratic
from synthetic.quadratic.make import make_quadratic
from synthetic.quadratic.quadratic import Quadratic
from synthetic.sources.random_data import random_generalised_linear, random_least_squares, random_logistic, random_perceptron
from synthetic.sources.real_data import real_federation
from synthetic.sources.synth import noisy_copies, synth, synth_noisy
from synthetic.worst_cases import flat_and_steep, huber_worst_case, linear_samples, nesterov_chain

__all__ = ["PROBLEMS", "Problem", "make_problem", "problem_names", "problem_options"]


@dataclass(frozen=True)
class Problem:
    """A named problem: its builder, one line about it, default arguments, and the function to which the builder passes
    further arguments."""

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


def factored_data(rank: int = 4, **options) -> Factored:
    """Softmax regression on a real data set whose matrix is a product of factors; ``options`` of ``real_federation``."""
    return factored(real_federation(**options), rank)


def _loss(about: str, loss: str, **defaults) -> Problem:
    return Problem(random_generalised_linear, about, {"loss": loss} | defaults, from_arrays)


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
    "quadratic-layered": Problem(
        layered_quadratic, "block-diagonal quadratics, three layers of their own curvature",
        {"L": (10.0, 4.0, 1.0), "mu": (1.0, 0.5, 0.1)}),
    "quadratic-layered-isotropic": Problem(
        layered_quadratic, "identical clients, two layers that shrink at their own rates",
        {"sizes": (3, 3), "L": (1.0, 0.25), "isotropic": True, "homogeneous": True}),
    "cosine-quadratic": Problem(make_cosine_quadratic, "quadratics plus cosines: not convex, exact L, proven global minima"),
    "cosine-quadratic-equal": Problem(
        make_cosine_quadratic, "the same with equal Hessians and cosines: not convex, sigma_g exact everywhere",
        {"hessian_spread": 0.0, "equal_waves": True}),
    "huber-worst-case": Problem(huber_worst_case, "the convex function on which gradient descent is slowest"),
    "flat-and-steep": Problem(flat_and_steep, "a flat and a steep Huber client: local steps settle far from the optimum"),
    "nesterov-chain": Problem(nesterov_chain, "Nesterov's worst quadratic, its links dealt to the clients in turn"),
    "linear-samples": Problem(linear_samples, "samples of linear losses: the data set on which stability is worst"),
    "least-squares": Problem(random_least_squares, "least squares on normal data, each client its own parameters",
                             rest=from_arrays),
    "logistic": Problem(random_logistic, "binary logistic regression on normal data, each client its own parameters",
                        rest=from_arrays),
    "log-cosh": _loss("log-cosh regression: convex, each sample Lipschitz and smooth", "log-cosh"),
    "pseudo-huber": _loss("pseudo-Huber regression: convex, each sample Lipschitz and smooth", "pseudo-huber"),
    "softplus": _loss(
        "logistic regression without ridge: convex, each sample Lipschitz and smooth", "softplus", outliers=0.1),
    "nonconvex-logistic": _loss("logistic regression with the bounded penalty x^2/(1 + x^2)", "softplus", alpha=0.1),
    "sigmoid": _loss("sigmoid loss of margins: bounded, not convex", "sigmoid"),
    "robust": _loss("Geman-McClure regression with outliers: bounded, not convex", "geman-mcclure", outliers=0.1),
    "cosine-loss": _loss("1 - cos of residuals: bounded, not convex", "one-minus-cosine"),
    "perceptron": Problem(random_perceptron, "a small network with one hidden layer on random data", rest=from_arrays),
    "synth": Problem(synth, "softmax regression on Synth(1,1) of Li et al. 2018", {"largest": 500}, from_arrays),
    "synth-noisy": Problem(
        synth_noisy, "Synth(1,1) priority clients, free clients with noisy and irrelevant data (FedALIGN, Figure 2)",
        {"largest": 500}, noisy_copies),
    "digits": Problem(real_federation, "softmax regression on scikit-learn's digits", {"name": "digits"}),
    "digits-perceptron": Problem(
        real_federation, "a network with one hidden layer on scikit-learn's digits",
        {"name": "digits", "task": "perceptron", "ridge": 1e-4, "hidden": (16,)}, Perceptron),
    "digits-factored": Problem(
        factored_data, "softmax regression on digits, its matrix a product of small factors (FedPara)",
        {"name": "digits"}, real_federation),
    "breast-cancer": Problem(
        real_federation, "logistic regression on scikit-learn's breast cancer data", {"name": "breast-cancer"}),
}


def problem_names() -> dict[str, str]:
    """One line about each problem, by name."""
    return {name: problem.about for name, problem in PROBLEMS.items()}


_NOT_OPTIONS = ("name", "X", "y", "client", "task", "features", "targets", "counts", "options", "model", "device", "dtype")


def problem_options(name: str) -> dict[str, Any]:
    """Options of the problem called ``name`` with their defaults; ``layers`` is one of every problem.

    Raises:
        LookupError: unknown name, with the nearest known one.
    """
    if name not in PROBLEMS:
        raise nearest("problem", name, PROBLEMS)
    problem = PROBLEMS[name]
    own = dict(inspect.signature(problem.build).parameters)
    rest = dict(inspect.signature(problem.rest).parameters) if problem.rest else {}
    rest.pop("classes", None)  # the builder knows them
    options = {key: problem.defaults.get(key, p.default) for key, p in (rest | own).items()
               if p.kind is not p.VAR_KEYWORD and key not in _NOT_OPTIONS}
    return options | {"layers": problem.defaults.get("layers")}


def make_problem(name: str, *, device: str | None = None, dtype: str | None = None, **options) -> Federation:
    """The problem called ``name``.

    Args:
        device: ``cpu``, ``cuda`` or ``cuda:1``; the federation is made on the CPU in float64 and moved there.
        dtype: ``float32`` or ``float64``.
        options: replace the defaults of :func:`problem_options`. ``backend``, in place of device and dtype, is where it is
            made.

    Raises:
        LookupError: unknown name or option, with the nearest known one.
        ValueError: from the builder; a backend and a device or a dtype, or a device that this machine does not have.

    Example:
        >>> make_problem("quadratic", clients=3, dim=2).clients
        3
        >>> make_problem("quadratic", dtype="float32").backend.dtype
        'float32'
    """
    known = problem_options(name)
    one_place(options.get("backend"), device, dtype)
    for option in options:
        if option not in known:
            raise nearest(f"option of {name!r}", option, known)
    arguments = PROBLEMS[name].defaults | options
    layers = arguments.pop("layers", None)
    federation = PROBLEMS[name].build(**arguments)
    return (federation if layers is None else federation.with_layers(layers)).to(device, dtype)
