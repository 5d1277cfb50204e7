"""FedLADA: local AMSGrad from averaged second moments, mixed with the last round's mean direction."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.fedopt import first_moment2
from fedtheory.algorithms.local_adam import Adam
from fedtheory.fields import rate, word
from fedtheory.method import register, sampled
from fedtheory.parts import Correction
from fedtheory.traits import LENGTH, NUMBER, SLOPE, Costs, Reduction, Variant
from synthetic.base.checks import number

__all__ = ["AveragedAdam", "LastDirection", "fedlada"]

@dataclass(frozen=True)
class AveragedAdam(Adam):
    """Adam whose second moment starts a round at the server's ``averaged_moment2``; clients keep no arrays."""

    def client_state(self, federation, x, draws):
        return {}

    def server_state(self, federation, x, draws):
        return {"averaged_moment2": first_moment2(self, federation, x)}

    def begin(self, local, context):
        return super().begin(local.with_own(moment2=context.server("averaged_moment2") + 0 * local.x), context)

    def finish(self, local, context):
        return {}


@dataclass(frozen=True)
class LastDirection(Correction):
    """``alpha * direction + (1 - alpha) * g_a``, with g_a the mean direction of the round before, from 0.

    ``moments``: averaged, the clients also send their largest second moments of the round; or local.
    """

    alpha: Any = rate(0.5, high=1)  #: number, (runs,) array or Schedule, at most 1
    moments: str = word("averaged", "local")

    @property
    def down(self):
        return 2 if self.moments == "averaged" else 1

    @property
    def up(self):
        return 1 if self.moments == "averaged" else 0

    def server_state(self, federation, x, draws):
        return {"last_direction": 0 * x}

    def after(self, direction, local, context):
        alpha = context.algorithm.now(self.alpha, context)
        return alpha * direction + (1 - alpha) * context.server("last_direction")

    def finish(self, local, context):
        return {}, {"moment2_max": local.own["moment2_max"]} if self.moments == "averaged" else {}

    def aggregate(self, average, upload, context):
        arrays = {"last_direction": (context.x - average) / context.server_length()}
        if self.moments == "averaged":
            change = upload.others["moment2_max"] - context.server("averaged_moment2")
            arrays["averaged_moment2"] = context.state.server["averaged_moment2"] + context.weighted_sum(change)
        return average, arrays

    def check(self, algorithm):
        needed = AveragedAdam if self.moments == "averaged" else Adam
        if not isinstance(algorithm.client, needed):
            raise ValueError(f"FedLADA's correction with {self.moments} moments mixes the directions of {needed.__name__}; "
                             f"got {type(algorithm.client).__name__}")
        if algorithm.client_steps is not None:
            raise ValueError("FedLADA divides by one length of the round; client_steps must be None")


def fedlada(
    eta_l=0.1, local_steps=1, alpha=0.5, beta1=0.9, beta2=0.99, eps=1e-4, eta_g=1.0, moments="averaged", participants=None,
    sampling="without-replacement",
) -> Algorithm:
    """FedLADA (reference [29] of Chen et al.; specification of FAdamGC, 3.10: low confidence, one public port).

    ::

        x_k <- x;  m_k <- 0;  v_k, vhat_k <- v                      moments averaged; local: v_k from client k's last round
        local_steps times:
            g      <- g_k(x_k)
            m_k    <- beta1 * m_k + (1 - beta1) * g
            v_k    <- beta2 * v_k + (1 - beta2) * g * g
            vhat_k <- max(vhat_k, v_k)
            x_k    <- x_k - eta_l * (alpha * m_k / sqrt(vhat_k) + (1 - alpha) * g_a)        0/0 = 0
        g_a <- (x - x_bar) / (eta_l * local_steps)                  x_bar = mean over sampled k of x_k
        v   <- v + mean over sampled k of (vhat_k - v)              both means with the weights of fedavg
        x   <- x + eta_g * (x_bar - x)
        before the first round g_a = 0 and v = eps^2

    ``alpha = 1`` with ``moments = "local"`` is LocalAdam with ``eps = 0`` and ``v_init`` this eps squared. Under
    ``averaged`` the server sends x, g_a and v and a client sends x_k and vhat_k; under ``local`` v_k stays with the client,
    whose vhat_k starts a round at v_k.

    Example:
        From v = 1, on 1/2 (x - 1)^2: the step is half of eta_l * 1 at first; then g_a is -1/2, the rest half of 1/2.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> made = fedlada(1.0, alpha=0.5, beta1=0.0, beta2=0.5, eps=1.0)
        >>> run(made, Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.5, 1.0]
    """
    adam = (AveragedAdam if moments == "averaged" else Adam)(beta1, beta2, 0.0, v_init=number("eps", eps)**2)
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=LastDirection(alpha, moments),
                     client=adam, server=ServerStep(eta_g), name="FedLADA")


register(fedlada, "fedlada", "local AMSGrad with averaged moments", "Chen et al.: FAdamGC, 3.10, after its reference [29]",
         "fadamgc/fedlada", translation=True, orthogonal="signed permutations", costs=Costs(3, 2, kept=0),
         units={"eta_l": LENGTH, "eps": SLOPE, "alpha": NUMBER, "beta1": NUMBER, "beta2": NUMBER},
         reductions=(Reduction("local-adam", {"alpha": 1.0, "moments": "local", "eps": 0.5}, {"eps": 0.0, "v_init": 0.25}),),
         variants=(Variant({"moments": "local"}, {"costs": Costs(2, 1, kept=1)}),),
         arguments={"alpha": "weight of the client's own direction against the mean direction of the last round"})
