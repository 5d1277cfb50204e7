"""The variates of MoSWA-fresh (Liu et al. 2025, App. F): every client's gradient at the model of the round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.control_variates import given_start
from fedtheory.parts import Correction, GradientOracle
from fedtheory.schedules import check_schedule
from fedtheory.selection import EveryPriority
from synthetic.base.checks import one_of

__all__ = ["BATCHES", "FreshVariates", "SinceBroadcast"]

BATCHES = ("independent", "same")


@dataclass(frozen=True)
class FreshVariates(Correction):
    """Before the local steps ``c_k = g_k(x)`` and ``m <- (1 - gamma) m + gamma * mean of c_k``; then ``g - c_k + m``.

    It costs one more exchange per round. ``m`` starts at ``server_variate`` ([runs,] dim), or at zero. With ``batch``
    same, c_k is left to :class:`SinceBroadcast`, which takes it on the samples of the local step.

    Example:
        One client on 1/2 (x - 1)^2 from 0: c = -1 and m = -1/2, so the first step of 1/2 is along -1 + 1 - 1/2.

        >>> from fedtheory import make_algorithm, run
        >>> from synthetic import Quadratic
        >>> method = make_algorithm("fedmoswa", eta_l=0.5, eta_g=1, gamma=0.5, variant="fresh")
        >>> run(method, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.25]
    """

    gamma: Any = 0.2
    batch: str = "independent"
    server_variate: Any = None
    down, up, extra_evaluations = 1, 1, 1

    def __post_init__(self):
        check_schedule("gamma", self.gamma)
        one_of("batch", self.batch, BATCHES)

    def server_state(self, federation, x, draws):
        return {"variate": given_start("server_variate", self.server_variate, 0 * x)}

    def moved(self, fresh, moment):
        """m after the exchange, (runs, dim)."""
        m = moment.state.server["variate"]
        return m + moment.server_number(self.gamma) * (moment.average(fresh) - m)

    def begin(self, local, moment):
        fresh = moment.extra_gradient(moment.x[:, None, :] + 0 * local.x)
        m = self.moved(fresh, moment)[:, None, :] + 0 * fresh
        return local.with_own(fresh=fresh, steer=m - fresh if self.batch == "independent" else m)

    def shift(self, local, moment):
        return local.own["steer"]

    def finish(self, local, moment):
        return {}, {"fresh": local.own["fresh"]}

    def aggregate(self, average, upload, moment):
        return average, {"variate": self.moved(upload.others["fresh"], moment)}

    def check(self, algorithm):
        if not isinstance(algorithm.selection.sampling, EveryPriority):
            raise ValueError("in this variant every client renews its variate in every round; allowed: participants=None")
        if (self.batch == "same") != isinstance(algorithm.oracle, SinceBroadcast):
            raise ValueError("batch 'same' goes with the oracle SinceBroadcast, batch 'independent' without; got "
                             f"{self.batch!r} with {type(algorithm.oracle).__name__}")


@dataclass(frozen=True)
class SinceBroadcast(GradientOracle):
    """``g_k(x_k) - g_k(x)``, both on the samples of the local step."""

    evaluations = 2

    def gradient(self, local, gradient, moment):
        return gradient(local.x) - gradient(moment.x[:, None, :] + 0 * local.x), local
