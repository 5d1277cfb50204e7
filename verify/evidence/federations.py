"""Evidence beyond the search: federations of real data with full gradients, and sampled runs with noise and minibatches."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from bounds.language.claim import Claim, Procedure
from fedtheory import FedAvg, Tabulated, run
from synthetic.numbers.arrays import Backend, to_numpy
from synthetic.quadratic.make import make_quadratic
from synthetic.sources.real_data import real_federation
from verify.claims.method import selection_of
from verify.claims.needs import speaks_of_samples
from verify.evaluation.environment import UnboundName
from verify.evidence.beside_runs import compare
from verify.evidence.on_federation import evaluate_on, is_about_losses
from verify.measure.simulate import bind_given
from verify.results.verdict import Series
from verify.search.budget import BUDGETS

__all__ = ["Samples", "on_federations", "sampled"]

_BREAST_CANCER = {"name": "breast-cancer", "clients": 8, "partition": "dirichlet", "alpha": 0.5, "smallest": 5, "ridge": 0.1}
_DIGITS = {"name": "digits", "clients": 6, "partition": "shards", "shards_per_client": 2, "ridge": 0.1, "rows": 300}
_QUADRATIC = {"clients": 8, "dim": 4, "L": 8.0, "mu": 1.0, "sigma": 1.0}

#: federations of real data with full gradients, by name
_REAL = {"breast-cancer, 8 clients, Dirichlet": _BREAST_CANCER, "digits, 6 clients, shards": _DIGITS}
#: federations for sampled runs, by name: (maker, its options, local steps, rounds, largest number of seeds)
_SAMPLED: dict[str, tuple[Callable[..., Any], dict[str, Any], int, int, int]] = {
    "quadratic, Gaussian noise": (make_quadratic, _QUADRATIC | {"noise": "gaussian", "seed": 1}, 1, 200, 1024),
    "quadratic, bounded noise": (make_quadratic, _QUADRATIC | {"noise": "sphere", "seed": 2}, 5, 60, 1024),
    "breast-cancer, minibatches": (real_federation, _BREAST_CANCER | {"batch_size": 8}, 5, 40, 64),
}


@cache
def _real(name: str, priority: int | None, equal: bool):
    return real_federation(**_REAL[name], priority=priority, weights="equal" if equal else None)


@cache
def _noisy(name: str, priority: int | None, device: str):
    make, options, *_ = _SAMPLED[name]
    return make(**options, priority=priority, backend=Backend("torch", device))


def on_federations(claim: Claim, settings) -> list[dict[str, Any]]:
    """Worst ratio of the claim on each federation of real data where it can be evaluated, a row each."""
    rows, (federations, *effort) = [], BUDGETS[settings.budget].on_data
    for name in list(_REAL)[: federations if is_about_losses(claim) else 0]:
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
    if claim.setting != "run" or claim.statement is None or claim.statement.over or claim.variables or claim.exists:
        return samples
    if speaks_of_samples(claim):  # of means over data sets, some that are drawn decide nothing
        return samples
    procedure = claim.procedure or Procedure()
    if procedure.base != "fedavg" or procedure.options:
        return samples
    for name, (*_, steps, rounds, most) in _SAMPLED.items():
        federation = _noisy(name, 4 if procedure.free_clients else None, settings.device)
        if procedure.equal_weights and bool((federation.weights != federation.weights[:, :1]).any()):
            continue
        eta = _steps_of(claim, federation, steps, rounds)
        if eta is None:
            return samples
        trajectory = _trajectory(name, settings.device, procedure, eta, min(settings.seeds, most), settings.seed)
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
    bound = bind_given(claim, federation, sizes, {}).bound
    return tuple(to_numpy(bound["eta_l"].data)[0, 0, 0].tolist()) if "eta_l" in bound else None


@cache
def _trajectory(name: str, device: str, procedure: Procedure, eta: tuple[float, ...], seeds: int, seed: int):
    """A batch of runs, made once for all claims with the same procedure and steps."""
    federation, (*_, steps, rounds, _) = _noisy(name, 4 if procedure.free_clients else None, device), _SAMPLED[name]
    epsilon = None
    if procedure.free_clients:  # a matching threshold under which about half of them match at the optimum
        losses = federation.value(federation.all_clients(federation.x_star))
        gaps = np.abs(to_numpy(losses - federation.F_star[:, None]))
        epsilon = float(np.median(gaps[0][~to_numpy(federation.priority)[0]]) * 1.001)
    algorithm = FedAvg(Tabulated(federation.backend.array(np.array(eta))), steps, selection_of(procedure, 2, epsilon))
    numbers = (np.arange(seeds) + 1_000_003 * seed).tolist()
    found = run(algorithm, federation, rounds, start=to_numpy(federation.x_star)[0] + 1.0, seeds=numbers, record=["x"])
    return replace(found, description=f"{name}; {steps} local step{'s' * (steps > 1)}")
