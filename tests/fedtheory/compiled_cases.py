"""Federations and methods on which compiled steps are compared with the step-by-step path."""

import numpy as np

from fedtheory import FedAvg, Selection, Tabulated, WithReplacement, make_algorithm
from fedtheory.schedules import Geometric
from synthetic import TORCH, Quadratic, make_quadratic
from synthetic.data.generalised_linear import GeneralisedLinear
from synthetic.data.least_squares import LeastSquares
from synthetic.data.logistic import BinaryLogistic
from synthetic.numbers.arrays import Backend

__all__ = ["DIM", "FEDERATIONS", "FLOAT", "METHODS", "data", "methods"]

FLOAT = Backend("torch", "cpu", "float32")
DIM = 19  # no multiple of any vector's length


def data(kind=LeastSquares, instances=1, samples=21, dim=DIM, seed=0, backend=TORCH, **options):
    """Four clients of 21, 1, 16 and 7 samples: whole chunks and rests of every size."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(instances, 4, samples, dim))
    targets = random.normal(size=(instances, 4, samples, 1))
    if kind is BinaryLogistic:
        targets = np.sign(targets)
    counts = np.broadcast_to(np.minimum([samples, 1, 16, 7], samples), (instances, 4))
    return kind(features / dim**0.5, targets, counts, backend=backend, **options)


FEDERATIONS = {
    "least squares": data,
    "ridge": lambda: data(ridge=0.3),
    "one instance per run": lambda: data(instances=5),
    "logistic": lambda: data(BinaryLogistic, ridge=0.1),
    "penalty that is not convex": lambda: data(GeneralisedLinear, loss="log-cosh", alpha=0.4, ridge=0.2),
    "one sample and one coordinate": lambda: data(samples=1, dim=1),
    "diagonal": lambda: make_quadratic(clients=4, dim=DIM, seed=1),
    "dense": lambda: make_quadratic(clients=4, dim=DIM, hessians="rotated", seed=2),
    "dense, one instance per run": lambda: Quadratic(
        np.linspace(0.3, 1.0, 5 * 4 * DIM).reshape(5, 4, DIM, 1) * np.eye(DIM), np.ones((5, 4, DIM))),
}
def methods(runs: int) -> dict:
    """Makers of methods with plain local steps; one has numbers of its own in each of the ``runs``."""
    return {
        "fedavg": lambda: make_algorithm("fedavg", local_steps=4),
        "server step": lambda: make_algorithm("fedavg", local_steps=4, eta_g=1.3),
        "proximal": lambda: make_algorithm("fedprox", local_steps=4, rho_prox=0.7),
        "one step each": lambda: make_algorithm("fedprox", eta_l=np.linspace(0.05, 0.2, runs), local_steps=3,
                                                rho_prox=np.linspace(0, 1, runs)),
        "falling steps": lambda: make_algorithm("fedavg", eta_l=Tabulated(0.2 / (1 + np.arange(20.0))), local_steps=3),
        "falling pull": lambda: make_algorithm("fedprox", local_steps=3, rho_prox=Geometric(2.0, 0.5)),
        "pull by iteration": lambda: make_algorithm("fedprox", local_steps=3, rho_prox=Tabulated(1 / (1 + np.arange(9.0)))),
        "scheme I": lambda: FedAvg(0.1, 3, Selection(sampling=WithReplacement(2))),
        "two of them": lambda: make_algorithm("fedavg", local_steps=3, participants=2),
        "scaffold": lambda: make_algorithm("scaffold", local_steps=3, participants=2),
        "option I": lambda: make_algorithm("scaffold", local_steps=3, option="I"),
    }


METHODS = methods(runs=5) | {"server momentum": lambda: make_algorithm("fedavgm", local_steps=3)}
