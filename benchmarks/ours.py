"""fedtheory on the reference workload: the only file here that knows its interface."""

from functools import partial

import numpy as np
import torch

import fedtheory
from benchmarks.workload import Unavailable
from fedtheory.affine import affine_round
from fedtheory.paths import choose_path, states_on
from fedtheory.round_context import RoundContext
from synthetic import LeastSquares
from synthetic.numbers.arrays import Backend
from synthetic.numbers.draws import Draws

__all__ = ["affine_map", "compiled", "endless", "prepared", "recorded", "step_by_step"]

FOREVER = 10**9


def prepared(workload, method="fedavg", eta=None):
    """The workload as (algorithm, federation); ``eta`` a number or one per run."""
    backend = Backend("torch", "cpu", getattr(torch, workload.dtype))
    counts = np.full((1, workload.clients), workload.samples)
    federation = LeastSquares(workload.features[None], workload.targets[None, ..., None], counts, backend=backend)
    eta = workload.eta if eta is None else backend.array(eta)
    algorithm = fedtheory.make_algorithm(method, eta_l=eta, local_steps=workload.local_steps)
    return algorithm, federation


def _starts(federation, runs):
    """Zeros for the first run, other models for further ones, (runs, dim)."""
    starts = np.random.default_rng(1).standard_normal((runs, federation.dim))
    starts[0] = 0
    return federation.backend.array(starts)


def step_by_step(workload, method="fedavg", runs=1, eta=None, path="steps"):
    """Operation by operation, without recording: returns a call that computes the models of the first run."""
    algorithm, federation = prepared(workload, method, eta)
    draws, start = Draws(np.arange(runs), federation.backend), _starts(federation, runs)
    try:
        path = choose_path(path, algorithm, federation, sees_steps=False)
    except ValueError as reason:
        raise Unavailable(str(reason)) from None

    @torch.no_grad()
    def call():
        state = algorithm.init(federation, start, draws)
        models = [state.x[:1]]
        states = states_on(path, algorithm, federation, state, draws, 0, workload.rounds, (), False)
        models += [state.x[:1] for state in states]
        return torch.cat(models).numpy()

    return call


compiled = partial(step_by_step, path="compiled")  #: the same with the local steps of a round in C


def endless(workload):
    """Yields the states of an endless run."""
    algorithm, federation = prepared(workload)
    draws, start = Draws([0], federation.backend), _starts(federation, 1)
    with torch.no_grad():
        state = algorithm.init(federation, start, draws)
        yield from fedtheory.rounds_of(algorithm, federation, state, draws, 0, FOREVER, everyone=False)


def recorded(workload, path="auto", record=("x",), runs=1, eta=None):
    """``fedtheory.run``: returns a call that computes the recorded models of the first run, (rounds + 1, dim), if any."""
    algorithm, federation = prepared(workload, eta=eta)
    start = _starts(federation, runs)

    def call():
        kept = fedtheory.run(algorithm, federation, workload.rounds, seeds=runs, start=start, record=record, path=path)
        return kept.dataset["x"].values[0] if "x" in record else None

    return call


def affine_map(workload):
    """The whole round as one map, prepared beforehand: returns a call that computes the models."""
    algorithm, federation = prepared(workload)
    draws, start = Draws([0], federation.backend), _starts(federation, 1)
    state = algorithm.init(federation, start, draws)
    whole = affine_round(algorithm, federation, RoundContext(algorithm, federation, draws, 0, 0, state.x, state))

    def call():
        return torch.cat([start, *whole.models(start, workload.rounds)]).numpy()

    return call
