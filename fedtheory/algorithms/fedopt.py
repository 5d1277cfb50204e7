"""FedAdagrad, FedAdam, FedYogi (Reddi et al. 2021): an adaptive step on the server."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.fields import checked, rate, word
from fedtheory.method import register, sampled
from fedtheory.parts import ServerOptimiser
from fedtheory.schedules import value_at
from fedtheory.traits import EVERYONE, LENGTH, NUMBER, STEP, Costs, FixedPoint, Reduction, never_negative
from synthetic.base.checks import finite, nonnegative, one_of
from synthetic.numbers.arrays import namespace

__all__ = ["AdaptiveServer", "check_v_init", "fedadagrad", "fedadam", "fedyogi", "first_moment2", "quotient"]

def quotient(above, below):
    """``above / below`` with 0/0 = 0, arrays of the same number of axes."""
    xp = namespace(above)
    return above / xp.where((below == 0) & (above == 0), 1, below)


def check_v_init(name, value) -> None:
    """Raises ValueError unless ``value`` is ``"eps^2"``, or numbers of at least 0."""
    if isinstance(value, str):
        one_of(name, value, ["eps^2"])
    else:
        nonnegative(name, finite(name, value))


def first_moment2(part, federation, x):
    """The second moment (runs, dim) before the first round, from ``v_init`` and ``eps``."""
    backend, eps = federation.backend, part.eps
    if isinstance(part.v_init, str):
        eps = value_at(eps, backend, 0, 0, x.shape[0])
        return 0 * x + (eps[:, None] if getattr(eps, "ndim", 0) == 1 else eps)**2
    if np.shape(part.v_init) not in ((), (federation.dim,)):
        raise ValueError(f"v_init must be a number or ({federation.dim},); got shape {np.shape(part.v_init)}")
    return 0 * x + backend.array(part.v_init)


@dataclass(frozen=True)
class AdaptiveServer(ServerOptimiser):
    """``x <- x + eta_g m / (sqrt(v) + eps)`` with the moments m, v of the changes ``d = average - x``.

    ``m <- beta1 m + (1 - beta1) d`` from 0, and from ``v_init``, by ``rule``: ``v + d^2`` (adagrad);
    ``beta2 v + (1 - beta2) d^2`` (adam); ``v - (1 - beta2) d^2 sign(v - d^2)`` (yogi). No bias correction.
    """

    rule: str = word("adagrad", "adam", "yogi", default="adam")
    eta_g: Any = rate(0.1)  #: in units of the parameter; number, (runs,) array or Schedule
    beta1: Any = rate(0.9, high=1)
    beta2: Any = rate(0.99, high=1)
    eps: Any = rate(1e-3)  #: in units of the parameter, like the root of v
    v_init: Any = checked("eps^2", check_v_init)  #: number or (dim,), or ``eps^2``

    def server_state(self, federation, x, draws):
        return {"server_moment1": 0 * x, "server_moment2": first_moment2(self, federation, x)}

    def moments(self, average, context):
        """m and v after the change of this round, both (runs, dim)."""
        beta1, beta2 = context.server_number(self.beta1), context.server_number(self.beta2)
        d, v = average - context.x, context.state.server["server_moment2"]
        m = beta1 * context.state.server["server_moment1"] + (1 - beta1) * d
        if self.rule == "adagrad":
            return m, v + d**2
        if self.rule == "adam":
            return m, beta2 * v + (1 - beta2) * d**2
        pull, xp = (1 - beta2) * d**2, namespace(v)
        return m, xp.where(v > d**2, v - pull, xp.where(v < d**2, v + pull, v))

    def step(self, average, context):
        m, v = self.moments(average, context)
        direction = quotient(m, namespace(v).sqrt(v) + context.server_number(self.eps))
        return context.x + context.server_number(self.eta_g) * direction, {"server_moment1": m, "server_moment2": v}


def _make(rule, name, eta_l, local_steps, eta_g, beta1, beta2, eps, v_init, participants, sampling) -> Algorithm:
    server = AdaptiveServer(rule, eta_g, beta1, beta2, eps, v_init)
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), server=server, name=name)


def fedadagrad(
    eta_l=0.1, local_steps=1, eta_g=0.1, beta1=0.0, eps=1e-3, v_init="eps^2",
    participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedAdagrad (Reddi et al. 2021; specification of FedLUAR, 8: high confidence).

    As :func:`fedadam` with ``v <- v + d * d`` and no ``beta2``; ``beta1 = 0`` by default, as its authors ran it.

    Example:
        On 1/2 (x - 1)^2 from 0 the change is 1/2, v is 0 + 1/4, and the step is along 1/2 divided by 1/2.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> made = fedadagrad(0.5, eta_g=0.25, eps=0.0)
        >>> run(made, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.25]
    """
    return _make("adagrad", "FedAdagrad", eta_l, local_steps, eta_g, beta1, 0.0, eps, v_init, participants, sampling)


def fedadam(
    eta_l=0.1, local_steps=1, eta_g=0.1, beta1=0.9, beta2=0.99, eps=1e-3, v_init="eps^2", participants=None,
    sampling="without-replacement",
) -> Algorithm:
    """FedAdam (Reddi et al. 2021; specification of FAdamGC, 3.8: high confidence), with the paper's tau named ``eps``.

    ::

        x_k <- x_k - eta_l * g_k(x_k)                            local_steps times, from x_k = x
        d <- x_bar - x                                           x_bar = mean over sampled k of x_k, weights as in fedavg
        m <- beta1 * m + (1 - beta1) * d                         from 0
        v <- beta2 * v + (1 - beta2) * d * d                     from v_init: eps^2, 0, or any vector of at least 0
        x <- x + eta_g * m / (sqrt(v) + eps)                     0/0 = 0

    Products, roots and quotients are by coordinate. There is no bias correction. ``eta_g`` and ``eps`` are lengths in the
    space of the parameters. ``beta1 = 0``, ``beta2 = 1`` and ``v_init`` 1 with ``eps = 0`` are FedAvg with server step
    ``eta_g``.

    Example:
        On 1/2 (x - 1)^2 from 0 the change is 1/2: m is 1/4, v is 1/16, and the step is along 1.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> made = fedadam(0.5, eta_g=0.25, beta1=0.5, beta2=0.75, eps=0.0)
        >>> run(made, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.25]
    """
    return _make("adam", "FedAdam", eta_l, local_steps, eta_g, beta1, beta2, eps, v_init, participants, sampling)


def fedyogi(
    eta_l=0.1, local_steps=1, eta_g=0.1, beta1=0.9, beta2=0.99, eps=1e-3, v_init="eps^2", participants=None,
    sampling="without-replacement",
) -> Algorithm:
    """FedYogi (Reddi et al. 2021; specification of FedLUAR, 8: high confidence).

    As :func:`fedadam` with ``v <- v - (1 - beta2) * d * d * sign(v - d * d)``, sign(0) = 0. As long as ``v <= d * d`` the
    second moment grows by ``(1 - beta2) d * d``, however large it is; FedAdam's grows by less.

    Example:
        On 1/2 (x - 1)^2 from 0 the change is 1/2: v goes from 0 to 1/4 * 1/4, and m is 1/2 * 1/2.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> made = fedyogi(0.5, eta_g=0.25, beta1=0.5, beta2=0.75, eps=0.0)
        >>> run(made, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.25]
    """
    return _make("yogi", "FedYogi", eta_l, local_steps, eta_g, beta1, beta2, eps, v_init, participants, sampling)


UNITS = {"eta_l": STEP, "eta_g": LENGTH, "eps": LENGTH, "beta1": NUMBER}
MOMENTS: dict[str, Any] = {
    "translation": True, "orthogonal": "signed permutations", "costs": Costs(kept=0),
    "fixed_point": FixedPoint(where=EVERYONE | {"local_steps": 1}, attracts=False),
    "laws": (never_negative("the second moment is not negative", "server", "server_moment2"),),
}
#: arguments with which the second moment stays 1, and the step is the mean change
IDLE = {"beta1": 0.0, "beta2": 1.0, "v_init": 1.0, "eps": 0.0}
FIRST_ROUND = {"rounds": 1}

register(fedadagrad, "fedadagrad", "FedAvg with Adagrad on the server", "Reddi et al. 2021", "fedluar/fedadagrad", **MOMENTS,
         units=UNITS)
register(fedadam, "fedadam", "FedAvg with Adam on the server", "Reddi et al. 2021", "fadamgc/fedadam", "fedluar/fedadam",
         **MOMENTS, units=UNITS | {"beta2": NUMBER},
         reductions=(Reduction("fedavg", IDLE), Reduction("fedyogi", {"v_init": 0.0}, where=FIRST_ROUND)))
register(fedyogi, "fedyogi", "FedAvg with Yogi on the server", "Reddi et al. 2021", "fedluar/fedyogi", **MOMENTS,
         units=UNITS | {"beta2": NUMBER},
         reductions=(Reduction("fedavg", IDLE), Reduction("fedadam", {"v_init": 0.0}, where=FIRST_ROUND)))
