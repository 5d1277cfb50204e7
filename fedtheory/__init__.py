"""Federated algorithms as values, and the one batched loop that runs them.

``import fedtheory as ft`` is the way in: every method by name (``ft.scaffold``, ``ft.fa_nt``), problems
(``ft.make_problem``, ``ft.make_quadratic``, ``ft.from_arrays``), ``ft.run``; and, loaded when first asked for,
``ft.claim``, ``ft.verify``, ``ft.compare``, ``ft.along``, ``ft.worst``, ``ft.potential``, ``ft.course``, ``ft.ratio``,
``ft.heat_map``, ``ft.mean_with_band`` and ``ft.main``, the command, of the packages above.
"""

from importlib import import_module

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedalign import align, fedalign
from fedtheory.algorithms.fedavg import FedAvg, fedavg
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
ABOVE = {"claim": "verify.referee.referee", "verify": "verify.referee.referee", "compare": "verify.evidence.beside_runs",
         "worst": "verify.worst.method_worst_case", "potential": "verify.worst.potential",
         "course": "verify.worst.claim_figure", "along": "verify.evidence.along", "ratio": "verify.evidence.ratio",
         "heat_map": "verify.results.heat_map", "mean_with_band": "verify.results.bands", "main": "verify.cli.main"}
METHODS = {name.replace("-", "_"): entry.make for name, entry in ALGORITHMS.items()}


def __getattr__(name):
    if name in METHODS:
        return METHODS[name]
    if name in ABOVE:
        return getattr(import_module(ABOVE[name]), name)
    raise AttributeError(f"module 'fedtheory' has no attribute {name!r}; methods: {', '.join(sorted(METHODS))}; "
                         f"from above: {', '.join(ABOVE)}")


def __dir__():
    return sorted({*globals(), *METHODS, *ABOVE})


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
