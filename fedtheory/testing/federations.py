"""The small federations on which properties are checked: plain data, so that a failing one can be shrunk."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from synthetic.base.noise import FiniteNoise, NoNoise
from synthetic.data.from_arrays import from_arrays
from synthetic.numbers.arrays import TORCH, namespace
from synthetic.numbers.draws import CLIENTS, Draws
from synthetic.quadratic.quadratic import Quadratic

__all__ = ["CASES", "Case", "RelabelledDraws", "RelabelledNoise", "changed", "power_of_two", "rearranged"]


@dataclass(frozen=True)
class Case:
    """A federation of quadratics (or, with ``data``, of logistic losses and minibatches), and how long to run on it.

    Curvatures, centres, starts and noise are short decimals drawn from ``seed``, client by client, so that a smaller case
    has the same clients as the larger one.
    """

    clients: int = 5
    dim: int = 3
    rounds: int = 3
    local_steps: int = 3
    participants: int | None = None  #: drawn per round, by ``sampling``; None: all
    sigma: float = 0.3  #: scale of two-point gradient noise
    runs: int = 2
    free: int = 0  #: clients without priority, after the others
    equal: bool = False  #: equal weights
    common: bool = False  #: one minimiser for all clients
    identical: bool = False  #: one loss for all clients
    data: bool = False
    seed: int = 0
    sampling: str = "without-replacement"  #: the scheme by which participants are drawn, a word of ``fedavg``

    def but(self, **changes) -> Self:
        """A copy with some fields replaced, by values or by functions of the old values; ``participants`` and ``free`` are
        reduced to fit ``clients``."""
        new = replace(self, **{name: v(getattr(self, name)) if callable(v) else v for name, v in changes.items()})
        new = replace(new, free=min(new.free, new.clients - 1))
        if new.participants is not None and new.participants > new.clients - new.free:
            new = replace(new, participants=new.clients - new.free)
        return new

    @property
    def seeds(self) -> np.ndarray:
        return self.seed + np.arange(self.runs)

    def _numbers(self, purpose: int, client: int, low: int, high: int) -> np.ndarray:
        return np.random.default_rng([self.seed, purpose, client]).integers(low, high + 1, 8) / 10

    def _table(self, purpose: int, low: int, high: int, rows: int, same: bool = False) -> np.ndarray:
        table = [self._numbers(purpose, 0 if same else k, low, high)[: self.dim] for k in range(rows)]
        return np.array(table)

    def start(self) -> np.ndarray:
        """The starts of the runs, (runs, dim)."""
        return self._table(0, -20, 20, self.runs)

    def weights(self) -> np.ndarray:
        return np.ones(self.clients) if self.equal else np.array([1.0 + k % 3 for k in range(self.clients)])

    def federation(self, backend=TORCH):
        """The federation, with one instance for all runs."""
        if self.data:
            return self._logistic(backend)
        curvature = self._table(1, 5, 20, self.clients, self.identical)[None]
        center = self._table(2, -20, 20, self.clients, self.identical or self.common)[None]
        offset = self._table(3, 0, 10, self.clients, self.identical)[None, :, 0]
        priority = np.arange(self.clients)[None] < self.clients - self.free
        noise = NoNoise()
        if self.sigma:
            atom = self.sigma * self._table(4, 1, 10, self.clients)[None, :, None, :]
            noise = FiniteNoise(backend.array(np.concatenate([atom, -atom], axis=2)), backend.array([0.5, 0.5]))
        layers = (1, self.dim - 1) if self.dim > 1 else None
        return Quadratic(curvature, center, offset, self.weights()[None], priority, noise, backend, layers)

    def _logistic(self, backend):
        rng = [np.random.default_rng([self.seed, 5, k]) for k in range(self.clients)]
        features = np.concatenate([r.normal(size=(4, 8))[:, : self.dim] for r in rng])
        owner = np.repeat(np.arange(self.clients), 4)
        labels = np.arange(len(owner)) % 2
        return from_arrays(features, labels, owner, task="binary", ridge=0.1, batch_size=2 if self.sigma else None,
                           weights=self.weights(), priority=np.arange(self.clients) < self.clients - self.free,
                           backend=backend)

    @property
    def L(self) -> float:
        """The largest smoothness of a client."""
        return float(self.federation().smoothness().value.max())

    @property
    def mu(self) -> float:
        """The least strong convexity of a client."""
        return float(self.federation().convexity().value.min())

    def smaller(self) -> Iterator[Self]:
        """Cases that are simpler in one respect, the largest simplification first."""
        if self.participants is not None:
            yield self.but(participants=None)
        simplest = {"sampling": "without-replacement", "sigma": 0.0, "free": 0, "data": False, "equal": True}
        for name, simple in simplest.items():
            if getattr(self, name) != simple:
                yield self.but(**{name: simple})
        for name in ("clients", "rounds", "local_steps", "dim", "runs"):
            value, least = getattr(self, name), 1 + (name == "clients") * self.free
            for lower in sorted({least, value - 1}):
                if least <= lower < value:
                    yield self.but(**{name: lower})
        if (self.participants or 0) > 1:
            yield self.but(participants=self.participants - 1)

    def __str__(self) -> str:
        """The case in words and, where it is small, in numbers."""
        def many(count, word):
            return f"{count} {word}{'s' * (count != 1)}"

        parts = [many(self.clients, "client") + (" of one loss" if self.identical and self.clients > 1 else ""),
                 f"dim {self.dim}", f"{many(self.rounds, 'round')} of {many(self.local_steps, 'local step')}"]
        if self.participants is not None:
            scheme = "" if self.sampling == "without-replacement" else f" ({self.sampling})"
            parts.insert(1, f"{self.participants} of them per round{scheme}")
        if self.free:
            parts.insert(1, f"{self.free} of them free")
        noise = "minibatches" if self.data else "noise"
        parts.append(noise if self.sigma else f"no {noise}")
        if self.runs > 1:
            parts.append(f"{self.runs} runs")
        parts.append(f"seed {self.seed}")
        return ", ".join(parts) + self._in_numbers()

    def _in_numbers(self) -> str:
        if self.data or self.clients * self.dim > 4:
            return ""
        federation = self.federation()
        curvature, center = (getattr(federation, name)[0].tolist() for name in ("curvature", "center"))
        weights = [round(weight, 3) for weight in federation.weights[0].tolist()]
        weights = "" if self.equal or self.clients == 1 else f", weights {weights}"
        noise = f", noise +-{federation.noise.atoms[0, :, 0].tolist()}" if self.sigma else ""
        return f"; curvatures {curvature}, centres {center}{weights}{noise}, start {self.start().tolist()}"


#: from rich to poor: noise and all clients; noise and a sample; free clients; minibatches; one of everything
CASES = (
    Case(),
    Case(clients=4, dim=4, local_steps=2, participants=2, rounds=4, seed=1),
    Case(clients=4, free=2, local_steps=2, seed=2),
    Case(clients=3, dim=2, local_steps=2, data=True, seed=3),
    Case(clients=1, dim=1, rounds=2, local_steps=1, runs=1, sigma=0.0, seed=4),
)


def power_of_two(clients: int) -> int:
    """A number of clients for which the mean of equal numbers is that number, to the last bit."""
    return clients if clients in (1, 2, 4) else 4


# federations made of others ----------------------------------------------------------------------------------------------
def changed(federation: Quadratic, **changes) -> Quadratic:
    """The same quadratics with other ``curvature``, ``center``, ``offset``, ``weights``, ``priority`` or ``noise``."""
    names = ("curvature", "center", "offset", "weights", "priority", "noise")
    arguments = {name: changes.get(name, getattr(federation, name)) for name in names}
    return Quadratic(**arguments, backend=federation.backend, layers=federation.layer_sizes)


def rearranged(federation: Quadratic, order, weights=None) -> Quadratic:
    """The clients numbered ``order``, with repetitions, each with its own noise and its own draws."""
    arrays = {name: getattr(federation, name)[:, order] for name in ("curvature", "center", "offset", "priority")}
    weights = federation.weights[:, order] if weights is None else weights
    return changed(federation, **arrays, weights=weights, noise=RelabelledNoise(federation.noise, order))


@dataclass(frozen=True)
class RelabelledNoise:
    """``law`` with client j drawing what client ``order[j]`` draws under it."""

    law: object
    order: object

    @property
    def variance(self):
        return self.law.variance + 0.0

    @property
    def bound(self):
        return self.law.bound

    def sample(self, draws, iteration, like, clients=None):
        order = draws.integer_backend.integers(np.asarray(self.order))
        names = order[None, :] if clients is None else order[clients]
        names = namespace(names).broadcast_to(names, (like.shape[0], names.shape[1]))
        return self.law.sample(draws, iteration, like, names)


class RelabelledDraws(Draws):
    """Draws in which client j is drawn when client ``order[j]`` was drawn before."""

    def __init__(self, seeds, backend, order):
        super().__init__(seeds, backend)
        self.numbers = self.integer_backend.integers(np.argsort(order))

    def subset(self, stream, time, population, size):
        drawn = super().subset(stream, time, population, size)
        return self.numbers[drawn] if stream == CLIENTS else drawn
