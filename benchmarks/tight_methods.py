"""Methods with published tight constants at L = 1, made of the library's parts and of server steps as a user adds them."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import fedtheory as ft
from fedtheory import Algorithm, ExactSolve, ServerOptimiser, Tabulated
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.fedavgm import ServerMomentum
from fedtheory.fields import rate

__all__ = [
    "Extrapolated", "Invariant", "Triple", "bounded", "descent", "douglas_rachford", "falling", "fast_gradient",
    "heavy_ball", "information_theoretic", "invariants", "joined", "optimal_step", "optimized_gradient",
    "optimized_gradient_norm", "primal_dual", "proximal_point", "silver", "thetas", "triple_momentum", "two_steps",
]


@dataclass(frozen=True)
class Extrapolated(ServerOptimiser):
    """``y' = average``, ``x <- y' + beta (y' - y) + gamma (y' - x)``, from y = x; the model is x, or y with ``primary``.

    With local steps of 1/L this is Nesterov's method (gamma = 0), OGM and OGM-G, each with its numbers by round.
    """

    beta: Any = rate(0.0)
    gamma: Any = rate(0.0)
    primary: bool = False

    def server_state(self, federation, x, draws):
        return {"y": x}

    def step(self, average, context):
        beta, gamma = context.server_number(self.beta), context.server_number(self.gamma)
        return average + beta * (average - context.state.server["y"]) + gamma * (average - context.x), {"y": average}

    def output(self, state):
        return state.server["y"] if self.primary else state.x


@dataclass(frozen=True)
class Triple(ServerOptimiser):
    """``xi' = xi + beta (xi - xi_before) + (average - x)``, ``x <- xi' + gamma (xi' - xi)``; the model is
    ``xi' + delta (xi' - xi)`` (Van Scoy, Freeman, Lynch 2018)."""

    beta: float = 0.0
    gamma: float = 0.0
    delta: float = 0.0

    def server_state(self, federation, x, draws):
        return {"xi": x, "before": x}

    def step(self, average, context):
        xi, before = (context.state.server[name] for name in ("xi", "before"))
        after = xi + self.beta * (xi - before) + (average - context.x)
        return after + self.gamma * (after - xi), {"xi": after, "before": xi}

    def output(self, state):
        return state.server["xi"] + self.delta * (state.server["xi"] - state.server["before"])


@dataclass(frozen=True)
class Invariant(ServerOptimiser):
    """``z <- (1 - q delta) z + q delta x + delta (average - x)``, ``x <- (1 - beta) z + beta average``; the model is z
    (Taylor, Drori 2023, ITEM). ``beta``: of the round after."""

    q: float = 0.0
    beta: Any = rate(0.0)
    delta: Any = rate(0.0)

    def server_state(self, federation, x, draws):
        return {"z": x}

    def step(self, average, context):
        beta, delta = context.server_number(self.beta), context.server_number(self.delta)
        z = (1 - self.q * delta) * context.state.server["z"] + (self.q * delta) * context.x + delta * (average - context.x)
        return (1 - beta) * z + beta * average, {"z": z}

    def output(self, state):
        return state.server["z"]


# sequences --------------------------------------------------------------------------------------------------------------
def thetas(rounds: int, last: int = 4) -> list[float]:
    """theta_0 = 1, theta_i = (1 + sqrt(4 theta_{i-1}^2 + 1)) / 2, and the last one with ``last`` in place of 4."""
    found = [1.0]
    for i in range(1, rounds + 1):
        found.append((1 + sqrt((last if i == rounds else 4) * found[-1] ** 2 + 1)) / 2)
    return found


def invariants(rounds: int, q: float) -> list[float]:
    """A_0 = 0, A_1, ... of Taylor, Drori 2023."""
    found = [0.0]
    for _ in range(rounds):
        A = found[-1]
        found.append(((1 + q) * A + 2 * (1 + sqrt((1 + A) * (1 + q * A)))) / (1 - q) ** 2)
    return found


def silver(rounds: int) -> list[float]:
    """Altschuler, Parrilo 2024: 1 + (1 + sqrt 2)^(v - 1) for i = 1, 2, ..., with v the number of times that 2 divides i."""
    return [1 + (1 + sqrt(2)) ** ((i & -i).bit_length() - 2) for i in range(1, rounds + 1)]


def two_steps(q: float) -> list[float]:
    """The best two steps for contraction, at mu = q: Altschuler, Parrilo 2025."""
    s = sqrt(1 + (1 - q) ** 2)
    return [2 / (q + s), 2 / (2 + q - s)]


def joined(rounds: int) -> list[float]:
    """Silver steps, and the last h for which prod (1 - h_i)^2 = 1 / (1 + 2 sum h_i): Grimmer, Shu, Wang 2024."""
    steps = silver(rounds - 1)
    size = 1.0
    for h in steps:
        size *= (1 - h) ** 2
    return [*steps, _root(lambda h: size * (1 - h) ** 2 * (1 + 2 * (sum(steps) + h)) - 1)]


def optimal_step(rounds: int) -> float:
    """The constant step h with (1 - h)^(2 N) = 1 / (1 + 2 N h)."""
    return _root(lambda h: (1 - h) ** (2 * rounds) * (1 + 2 * rounds * h) - 1)


def bounded(rounds: int) -> list[float]:
    """1 / u_t with u_0 = 1 and u_t = u_{t-1} / 2 + sqrt(u_{t-1}^2 / 4 + 2): Goujaud, Taylor, Dieuleveut 2022, A.3."""
    found = [1.0]
    for _ in range(rounds):
        found.append(found[-1] / 2 + sqrt(found[-1] ** 2 / 4 + 2))
    return [1 / u for u in found[1:]]


def falling(rounds: int) -> list[float]:
    """(N + 1 - k) / (N + 1)^(3/2) for k = 1, ..., N: Zamani, Glineur 2025."""
    return [(rounds + 1 - k) / (rounds + 1) ** 1.5 for k in range(1, rounds + 1)]


def _root(rising, low=1.0, high=4.0) -> float:
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return low


# methods ----------------------------------------------------------------------------------------------------------------
def _by_round(values) -> Tabulated:
    return Tabulated(list(values), by="round")


def descent(h, local_steps: int = 1) -> Algorithm:
    """Gradient steps of ``h``, or of one length each."""
    return ft.fedavg(Tabulated(h) if isinstance(h, list) else h, local_steps)


def proximal_point(gamma: float) -> Algorithm:
    """``x <- argmin F + |. - x|^2 / (2 gamma)``: FedProx with one client and a solved local problem."""
    return ft.fedprox(rho_prox=1 / gamma).having(client=ExactSolve())


def primal_dual(gamma: float) -> Algorithm:
    """FedPD with a solved local problem; with one client its first round is ``x <- 2 prox(x) - x``."""
    return ft.fedpd(rho_prox=1 / gamma, solver="exact")


def douglas_rachford(gamma: float, alpha: float) -> Algorithm:
    """``x <- (1 - alpha) x + alpha (2 prox(x) - x)``, Douglas-Rachford where the second function is zero."""
    return proximal_point(gamma).having(server=ServerStep(2 * alpha))


def heavy_ball(rounds: int) -> Algorithm:
    """Steps of 1 / (t + 2) with momentum t / (t + 2): FedAvgM with one client."""
    beta = _by_round(t / (t + 2) for t in range(rounds))
    return descent([1 / (t + 2) for t in range(rounds)]).having(server=ServerMomentum(beta, 1.0))


def fast_gradient(rounds: int) -> Algorithm:
    """Nesterov's method with momentum i / (i + 3) in round i = 0, 1, ...; its model is the one after the gradient step."""
    return descent(1.0).having(server=Extrapolated(_by_round(i / (i + 3) for i in range(rounds)), primary=True))


def optimized_gradient(rounds: int) -> Algorithm:
    """OGM of Drori, Teboulle 2014 and Kim, Fessler 2016."""
    t = thetas(rounds, last=8)
    pairs = [(a, t[i + 1]) for i, a in enumerate(t[:-1])]
    return descent(1.0).having(server=Extrapolated(
        _by_round((a - 1) / b for a, b in pairs), _by_round(a / b for a, b in pairs)))


def optimized_gradient_norm(rounds: int) -> Algorithm:
    """OGM-G of Kim, Fessler 2021."""
    t = thetas(rounds, last=8)[::-1]
    pairs = [(a, t[i + 1]) for i, a in enumerate(t[:-1])]
    return descent(1.0).having(server=Extrapolated(
        _by_round((a - 1) * (2 * b - 1) / (a * (2 * a - 1)) for a, b in pairs),
        _by_round((2 * b - 1) / (2 * a - 1) for a, b in pairs)))


def triple_momentum(q: float) -> Algorithm:
    """The triple momentum method of Van Scoy, Freeman, Lynch 2018, at mu = q."""
    rho = 1 - sqrt(q)
    return descent(1 + rho).having(
        server=Triple(rho**2 / (2 - rho), rho**2 / ((1 + rho) * (2 - rho)), rho**2 / (1 - rho**2)))


def information_theoretic(rounds: int, q: float) -> Algorithm:
    """ITEM of Taylor, Drori 2023, at mu = q."""
    A = invariants(rounds + 1, q)
    beta = [A[i] / ((1 - q) * A[i + 1]) for i in range(1, rounds + 1)]
    delta = [((1 - q) ** 2 * A[i + 1] - (1 + q) * A[i]) / (2 * (1 + q + q * A[i])) for i in range(rounds)]
    return descent(1.0).having(server=Invariant(q, _by_round(beta), _by_round(delta)))
