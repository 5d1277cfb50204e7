"""What the slow references of the methods share: what one run is given, and means and norms of plain vectors."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

__all__ = ["EXTRA", "START", "Given", "at_start", "average", "mean", "mean_over_all", "moved", "norm", "now",
           "sum_of_shares", "unit"]

EXTRA, START = "extra", "start"  #: gradients that belong to no local step: one more in a round, and before the first


class Given(NamedTuple):
    """One run of a method: everything but its hyper-parameters.

    ``grad(i, x, t, k)`` is the stochastic gradient of client i at ``x`` (d,) in local step k of round t, both from 0;
    ``k = EXTRA``: on samples of its own for the round; ``t = START``: on samples of its own before the first round.
    ``active[t]`` lists the clients of round t, each once, and ``weights[t]`` tells the weight of each of them in the mean,
    those in the docstring of ``fedavg``; ``shares`` are the p_k. ``minimise(i, linear, rho, center)`` is the minimiser
    over v of F_i(v) + <linear, v> + rho/2 |v - center|^2. ``full(i, x)`` is the gradient of F_i. ``of_models``: whether the
    server averages models, as in scheme II of Li et al. 2020, and not their changes.
    """

    grad: Callable[..., np.ndarray]
    x: np.ndarray
    active: list[list[int]]
    clients: int
    local_steps: int
    weights: list[dict[int, Any]]
    shares: list[Any]
    minimise: Any = None
    full: Any = None
    of_models: bool = False


def mean(given: Given, t, values):
    """The mean over the sampled clients of round t, with the weights of the sampling: the sum of w_k v_k.

    ``values``: a vector or number of each of them, by client. The weights need not sum to one.
    """
    return sum(given.weights[t][i] * values[i] for i in given.active[t])


def moved(given: Given, t, x, change):
    """x plus the mean ``change`` of the sampled clients; where models are averaged, x times the sum of the weights."""
    return (sum(given.weights[t].values()) if given.of_models else 1) * x + change


def average(given: Given, t, x, models):
    """The mean of the sampled clients' models, by client, around the model ``x`` that they received."""
    return moved(given, t, x, mean(given, t, {i: models[i] - x for i in given.active[t]}))


def sum_of_shares(given: Given, values):
    """The sum over the clients in ``values`` of p_k v_k, however often each was drawn; 1/n of the sum for equal weights."""
    return sum(given.shares[i] * value for i, value in values.items())


def mean_over_all(given: Given, values):
    """The mean over all clients, each with its share p_k."""
    return sum(given.shares[i] * values[i] for i in range(given.clients))


def norm(v):
    """The Euclidean norm, a float."""
    return float(np.sum(v * v)) ** 0.5


def unit(v):
    """v / |v|, and zero for zero."""
    return v / norm(v) if norm(v) > 0 else 0 * v


def now(value, t):
    """A hyper-parameter in round t: a number, or a function of the round."""
    return value(t) if callable(value) else value


def at_start(given: Given):
    """A stochastic gradient of every client at the start of the run."""
    return {i: given.grad(i, given.x, START, 0) for i in range(given.clients)}
