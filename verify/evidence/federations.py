"""Evidence beyond the search: federations of real data with full gradients, and sampled runs with noise and minibatches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import torch

from bounds.language.claim import Claim, Procedure
from fedtheory import FedAvg, Tabulated, run
from synthetic.numbers.arrays import Backend, to_numpy
from synthetic.quadratic.make import make_quadratic
from synthetic.sources.real_data import real_federation
from verify.claims.method import selection_of
from verify.evaluation.environment import Environment, UnboundName
from verify.evidence.beside_runs import RECORD, compare
from verify.evidence.on_federation import evaluate_on
from verify.measure.realise import bind_given
from verify.results.verdict import Series
from verify.search.budget import BUDGETS

__all__ = ["Samples", "on_federations", "sampled"]

#: federations of real data with full gradients: name -> maker, given the number of priority clients (None: all) and the
#: weights of clients (None: in proportion to their samples)
_REAL: dict[str, Callable[..., Any]] = {
    "breast-cancer, 8 clients, Dirichlet": lambda priority, weights: real_federation(
        "breast-cancer", 8, "dirichlet", alpha=0.5, smallest=5, priority=priority, ridge=0.1, weights=weights
    ),
    "digits, 6 clients, shards": lambda priority, weights: real_federation(
        "digits", 6, "shards", shards_per_client=2, priority=priority, ridge=0.1, rows=300, weights=weights
    ),
}

#: federations for sampled runs: name -> (maker, given priority and backend; local steps; rounds; largest number of seeds)
_SAMPLED: dict[str, tuple[Callable[..., Any], int, int, int]] = {
    "quadratic, Gaussian noise": (
        lambda priority, backend: make_quadratic(
            clients=8, dim=4, L=8.0, mu=1.0, priority=priority, noise="gaussian", sigma=1.0, seed=1, backend=backend
        ), 1, 200, 1024,
    ),
    "quadratic, bounded noise": (
        lambda priority, backend: make_quadratic(
            clients=8, dim=4, L=8.0, mu=1.0, priority=priority, noise="sphere", sigma=1.0, seed=2, backend=backend
        ), 5, 60, 1024,
    ),
    "breast-cancer, minibatches": (
        lambda priority, backend: real_federation(
            "breast-cancer", 8, "dirichlet", alpha=0.5, smallest=5, priority=priority, ridge=0.1, batch_size=8,
            backend=backend,
        ), 5, 40, 64,
    ),
}


@cache
def _real(name: str, priority: int | None, equal: bool):
    return _REAL[name](priority, "equal" if equal else None)


@cache
def _noisy(name: str, priority: int | None, device: str):
    return _SAMPLED[name][0](priority, Backend("torch", device, torch.float64))


def on_federations(claim: Claim, settings) -> list[dict[str, Any]]:
    """Worst ratio of the claim on each federation of real data where it can be evaluated, a row each."""
    rows, (federations, *effort) = [], BUDGETS[settings.budget].on_data
    for name in list(_REAL)[:federations]:
        free = claim.procedure is None or claim.procedure.free_clients
        equal = claim.procedure is not None and claim.procedure.equal_weights
        found = evaluate_on(claim, _real(name, 4 if free else None, equal), name, settings.seed, *effort)
        if found:
            rows.append(found.__dict__.copy())
    return rows


@dataclass
class Samples:
    """Comparisons of one claim with sampled runs: a row of facts and a series for each federation."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    series: tuple[Series, ...] = ()
    refuted_by: str = ""
    e_value: float = 1.0


def sampled(claim: Claim, settings) -> Samples:
    """Compares a claim about the end of a FedAvg run with sampled runs; empty for other claims."""
    samples = Samples()
    if claim.setting != "run" or claim.statement is None or claim.statement.over or claim.variables:
        return samples
    procedure = claim.procedure or Procedure()
    if procedure.base != "fedavg" or procedure.options:
        return samples
    free = claim.procedure is not None and claim.procedure.free_clients
    for name, (_, steps, rounds, most) in _SAMPLED.items():
        federation = _noisy(name, 4 if free else None, settings.device)
        if procedure.equal_weights and bool((federation.weights != federation.weights[:, :1]).any()):
            continue
        eta = _steps_of(claim, federation, steps, rounds)
        if eta is None:
            return samples
        trajectory = _trajectory(
            name, federation, claim.procedure, eta, steps, rounds, min(settings.seeds, most), settings.seed
        )
        try:
            result = compare(claim, trajectory, points=12)
        except UnboundName:
            return samples
        if result.series is None:
            continue
        samples.series += (result.series,)
        samples.rows.append({
            "name": name, "seeds": trajectory.runs, "ratio": result.ratio, "decides": result.series.decides,
            "e_value": result.e_value, "tested": result.tested, "reason": result.reason,
        })
        if result.verdict == "refuted":
            samples.refuted_by, samples.e_value = name, result.e_value
    return samples


def _steps_of(claim: Claim, federation, steps: int, rounds: int):
    """The step sizes that the claim's conditions prescribe on this federation; None where they prescribe none."""
    sizes = {"clients": federation.clients, "iterations": steps * rounds, "local_steps": steps, "rounds": rounds,
             "dim": federation.dim, "participants": 2}
    environment = Environment(federation.backend, sizes, {}, federation=federation, definitions=claim.definitions)
    bind_given(claim, environment, {})
    if "eta_l" not in environment.bound:
        return None
    return tuple(to_numpy(environment.bound["eta_l"].data)[0, 0, 0].tolist())


_RUNS: dict[tuple, Any] = {}


def _trajectory(name, federation, procedure: Procedure, eta, steps, rounds, seeds, seed):
    """A batch of runs, made once for all claims with the same procedure and steps."""
    key = (name, procedure, eta, steps, rounds, seeds, seed, str(federation.backend))
    if key not in _RUNS:
        epsilon = _threshold(federation) if procedure.free_clients else None
        selection = selection_of(procedure, 2, epsilon)
        algorithm = FedAvg(Tabulated(federation.backend.array(np.array(eta))), steps, selection)
        start = to_numpy(federation.x_star)[0] + 1.0
        numbers = (np.arange(seeds) + 1_000_003 * seed).tolist()
        trajectory = run(algorithm, federation, rounds, start=start, seeds=numbers, record=RECORD)
        _RUNS[key] = replace(trajectory, description=f"{name}; {steps} local step{'s' * (steps > 1)}")
    return _RUNS[key]


def _threshold(federation) -> float:
    """A matching threshold under which about half of the free clients match at the optimum."""
    gaps = np.abs(to_numpy(federation.value(federation.all_clients(federation.x_star)) - federation.F_star[:, None]))
    return float(np.median(gaps[0][~to_numpy(federation.priority)[0]]) * 1.001)
