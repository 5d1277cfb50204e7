"""Federated algorithms as values, and the one batched loop that runs them."""

from fedtheory.algorithm import Algorithm, Moment, State
from fedtheory.algorithms.fedavg import FedAvg
from fedtheory.algorithms.fedprox import FedProx
from fedtheory.algorithms.local_only import LocalOnly
from fedtheory.engine import Observer, rounds_of
from fedtheory.observables import OBSERVABLES
from fedtheory.registry import ALGORITHMS, algorithm_names, fedalign, fedavg, find_algorithm, make_algorithm
from fedtheory.run import resume, run
from fedtheory.schedules import Constant, Geometric, InverseTime, Schedule, StopAfter, Tabulated
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
from fedtheory.trajectory import Trajectory, load_trajectory

__all__ = [
    "ALGORITHMS", "OBSERVABLES", "Algorithm", "AllClients", "Always", "Bernoulli", "Constant", "EveryPriority", "FedAvg",
    "FedProx", "FractionOfBoth", "Geometric", "InverseTime", "LocalOnly", "LossMatching", "Moment", "Observer",
    "Participation", "Pattern", "PriorityOnly", "Schedule", "Selection", "State", "StopAfter", "Tabulated",
    "Trajectory", "WithReplacement", "WithoutReplacement", "algorithm_names", "fedalign", "fedavg", "find_algorithm",
    "load_trajectory", "make_algorithm", "resume", "rounds_of", "run",
]
