"""Federated algorithms as values, the one loop that runs them, and the referee of theorems about them.

``import fedtheory as ft`` is the way in. Methods go by name (``ft.scaffold``, ``ft.fa_nt``), so do problems
(``ft.make_problem``); ``ft.run`` runs one on the other. ``ft.verify``, ``ft.check``, ``ft.compare``, ``ft.worst``,
``ft.repair``, ``ft.bound`` and ``ft.lint`` take a claim, its id or ``FILE:ID``; they are loaded when first asked for.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedalign import align
from fedtheory.algorithms.fedavg import FedAvg
from fedtheory.algorithms.local_only import LocalOnly
from fedtheory.engine import Observer, rounds_of
from fedtheory.method import method, sampled
from fedtheory.observables import OBSERVABLES, observables_of
from fedtheory.parts import ClientOptimiser, Correction, GradientOracle, ServerOptimiser, UploadFilter
from fedtheory.registry import ALGORITHMS, find_algorithm, make_algorithm
from fedtheory.round_context import ClientState, RoundContext, State, Upload
from fedtheory.run import resume, run
from fedtheory.schedules import (
    Constant,
    CyclicLinear,
    Geometric,
    GeometricLocal,
    InverseTime,
    Schedule,
    StopAfter,
    Tabulated,
)
from fedtheory.selection import (
    AllClients,
    Always,
    Bernoulli,
    EveryPriority,
    FractionOfBoth,
    Independent,
    LossMatching,
    Participation,
    Pattern,
    PriorityOnly,
    Selection,
    WithoutReplacement,
    WithReplacement,
)
from fedtheory.solvers import ExactSolve, ToTolerance
from fedtheory.sweep import sweep
from fedtheory.trajectory import Trajectory, load_trajectory
from synthetic import from_arrays, make_problem, make_quadratic, problem_names

#: the one arrow upwards: names that the packages above give, with the module that has each
ABOVE = {
    "claim": "verify.claims.named", "verify": "verify.referee.referee", "check": "verify.api.check",
    "compare": "verify.api.compare", "worst": "verify.api.worst", "potential": "verify.worst.potential",
    "repair": "verify.api.repair", "bound": "verify.api.bound", "lint": "verify.api.lint",
    "bound_over_rounds": "verify.worst.claim_figure",
    "along": "verify.evidence.along", "ratio": "verify.evidence.ratio", "heat_map": "verify.results.heat_map",
    "mean_with_band": "verify.results.bands", "main": "verify.cli.main",
}
METHODS: dict[str, Callable[..., Algorithm]] = {name.replace("-", "_"): entry.make for name, entry in ALGORITHMS.items()}
fedalign, fedavg = METHODS["fedalign"], METHODS["fedavg"]


def __getattr__(name: str) -> Any:
    if name in METHODS:
        return METHODS[name]
    if name in ABOVE:
        return getattr(import_module(ABOVE[name]), name)
    raise AttributeError(f"fedtheory has no {name!r}; methods: {', '.join(sorted(METHODS))}; others: "
                         f"{', '.join(sorted({*__all__, *ABOVE} - {'main'}))}")


def __dir__() -> list[str]:
    return sorted({*__all__, *METHODS, *ABOVE} - {"main"})


__all__ = [
    "ALGORITHMS",
    "OBSERVABLES",
    "Algorithm",
    "AllClients",
    "Always",
    "Bernoulli",
    "ClientOptimiser",
    "ClientState",
    "Constant",
    "Correction",
    "CyclicLinear",
    "EveryPriority",
    "ExactSolve",
    "FedAvg",
    "FractionOfBoth",
    "Geometric",
    "GeometricLocal",
    "GradientOracle",
    "Independent",
    "InverseTime",
    "LocalOnly",
    "LossMatching",
    "Observer",
    "Participation",
    "Pattern",
    "PriorityOnly",
    "RoundContext",
    "Schedule",
    "Selection",
    "ServerOptimiser",
    "State",
    "StopAfter",
    "Tabulated",
    "ToTolerance",
    "Trajectory",
    "Upload",
    "UploadFilter",
    "WithReplacement",
    "WithoutReplacement",
    "align",
    "fedalign",
    "fedavg",
    "find_algorithm",
    "from_arrays",
    "load_trajectory",
    "make_algorithm",
    "make_problem",
    "make_quadratic",
    "method",
    "observables_of",
    "problem_names",
    "resume",
    "rounds_of",
    "run",
    "sampled",
    "sweep",
]
