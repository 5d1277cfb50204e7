"""The reference workload, and the plain float64 computation against which everything is checked before it is timed."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

__all__ = ["Unavailable", "Workload"]

TOLERANCE = {"float32": 1e-5, "float64": 1e-12}  #: largest error of any model of the run, relative to the largest entry


class Unavailable(Exception):
    """An implementation cannot run here; the message says what it needs."""


@dataclass(frozen=True)
class Workload:
    """FedAvg on least squares: F_i(x) = 1/(2n) |A_i x - b_i|^2, full participation, full gradients, constant step, x_0 = 0.

    The entries of A_i are standard normal, b_i = A_i w_i + 0.1 times standard normal noise, w_i standard normal.
    """

    dtype: str = "float64"
    clients: int = 100
    samples: int = 50
    dim: int = 100
    local_steps: int = 10
    rounds: int = 100
    seed: int = 0

    @cached_property
    def _float64(self):
        draw = np.random.default_rng(self.seed).standard_normal
        features = draw((self.clients, self.samples, self.dim))
        targets = np.einsum("ijk,ik->ij", features, draw((self.clients, self.dim)))
        return features, targets + 0.1 * draw((self.clients, self.samples))

    @property
    def features(self):
        """A, (clients, samples, dim)."""
        return self._float64[0].astype(self.dtype)

    @property
    def targets(self):
        """b, (clients, samples)."""
        return self._float64[1].astype(self.dtype)

    @cached_property
    def eta(self) -> float:
        """The step: half of 1/L, with L the largest of the clients' smoothness constants."""
        features = self._float64[0]
        largest = np.linalg.eigvalsh(features @ features.transpose(0, 2, 1) / self.samples)[:, -1].max()
        return float(0.5 / largest)

    @property
    def flop(self) -> float:
        """Floating-point operations of the matrix-vector products: 4 m n d K T."""
        return 4.0 * self.clients * self.samples * self.dim * self.local_steps * self.rounds

    @property
    def reference(self):
        """The models x_0 .. x_T, (rounds + 1, dim), client by client in float64."""
        return _reference(replace(self, dtype="float64"))

    def check(self, name: str, models) -> float:
        """The error of ``models`` (rounds + 1, dim), relative to the largest entry; ValueError if it is too large."""
        models = np.asarray(models)
        if models.shape != self.reference.shape or str(models.dtype) != self.dtype:
            raise ValueError(f"{name} must return {self.reference.shape} in {self.dtype}; got {models.shape} {models.dtype}")
        error = float(np.abs(models - self.reference).max() / np.abs(self.reference).max())
        if not error <= TOLERANCE[self.dtype]:
            raise ValueError(f"{name} computes something else: relative error {error:.1e} in {self.dtype}, allowed "
                             f"{TOLERANCE[self.dtype]:.0e}")
        return error


@lru_cache(maxsize=8)
def _reference(workload: Workload):
    features, targets = workload.features, workload.targets
    models = [np.zeros(workload.dim)]
    for _ in range(workload.rounds):
        local = np.repeat(models[-1][None], workload.clients, axis=0)
        for i in range(workload.clients):
            for _ in range(workload.local_steps):
                residual = features[i] @ local[i] - targets[i]
                local[i] -= workload.eta / workload.samples * (features[i].T @ residual)
        models.append(local.mean(axis=0))
    return np.stack(models)
