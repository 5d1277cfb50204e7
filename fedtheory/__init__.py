"""Federated algorithms as values, and the one batched loop that runs them."""

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedalign import align, fedalign
from fedtheory.algorithms.fedavg import FedAvg, fedavg
from fedtheory.algorithms.local_only import LocalOnly
from fedtheory.engine import Observer, rounds_of
from fedtheory.method import method, sampled
from fedtheory.moment import Local, Moment, State, Upload
from fedtheory.observables import OBSERVABLES
from fedtheory.parts import ClientOptimiser, Correction, GradientOracle, ServerOptimiser, UploadFilter
from fedtheory.registry import ALGORITHMS, algorithm_names, find_algorithm, make_algorithm
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
    LossMatching,
    Participation,
    Pattern,
    PriorityOnly,
    Selection,
    WithoutReplacement,
    WithReplacement,
)
from fedtheory.solvers import ExactSolve, Inexact, ToTolerance
from fedtheory.trajectory import Trajectory, load_trajectory

__all__ = [
    "ALGORITHMS", "OBSERVABLES", "Algorithm", "AllClients", "Always", "Bernoulli", "ClientOptimiser", "Constant",
    "Correction", "CyclicLinear", "EveryPriority", "ExactSolve", "FedAvg", "FractionOfBoth", "Geometric",
    "GeometricLocal", "GradientOracle", "Inexact", "InverseTime", "Local", "LocalOnly", "LossMatching", "Moment",
    "Observer", "Participation", "Pattern", "PriorityOnly", "Schedule", "Selection", "ServerOptimiser", "State",
    "StopAfter", "Tabulated", "ToTolerance", "Trajectory", "Upload", "UploadFilter", "WithReplacement",
    "WithoutReplacement", "algorithm_names", "align", "fedalign", "fedavg", "find_algorithm", "load_trajectory",
    "make_algorithm", "method", "resume", "rounds_of", "run", "sampled",
]
