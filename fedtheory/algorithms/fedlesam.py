"""FedLESAM (Fan et al. 2024): sharpness-aware gradients whose ascent step comes from the global model's path."""

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.fedsam import SharpnessAware, along
from fedtheory.method import register, sampled
from fedtheory.traits import ISOTROPIC, LENGTH, STEP, Costs, Reduction

__all__ = ["GloballyEstimated", "fedlesam"]


class GloballyEstimated(SharpnessAware):
    """The gradient at ``x_k + rho_sam * d/|d|`` with ``d = old_k - x``; old_k is the model that client k received when it
    last took part. The gradient at ``x_k`` if client k takes part for the first time, or if d is zero."""

    evaluations = 1

    def client_state(self, federation, x, draws):
        models = federation.all_clients(x)
        return {"last_received": models, "took_part": 0 * models[..., :1]}

    def begin(self, local, context):
        here = context.x[:, None, :]
        ascent = along(local.own["last_received"] - here, context.algorithm.now(self.rho_sam, context))
        ascent = local.own["took_part"] * ascent
        return local.with_own(last_received=here + 0 * ascent, took_part=0 * local.own["took_part"] + 1, ascent=ascent)

    def gradient(self, local, gradient, context):
        return gradient(local.x + local.own["ascent"]), local

    def finish(self, local, context):
        return {name: local.own[name] for name in ("last_received", "took_part")}


def fedlesam(
    eta_l=0.1, local_steps=1, rho_sam=0.05, eta_g=1.0, participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedLESAM (Fan et al. 2024; specification of FedMoSWA, 8: medium to high confidence; the sign is old minus new).

    ::

        e_k   <- rho_sam * (old_k - x)/|old_k - x|          zero where client k takes part for the first time; 0/0 = 0
        old_k <- x
        x_k   <- x_k - eta_l * g_k(x_k + e_k)               local_steps times, from x_k = x
        x     <- x + eta_g * (x_bar - x)                    x_bar = mean over sampled k of x_k, weights as in fedavg

    The array ``last_received`` is the start until client k takes part. Runs record the gradients of the steps, which are
    those at x_k + e_k. A descent direction of the objective stands for the client's own gradient, so a step costs one
    gradient. ``rho_sam = 0`` is FedAvg, and so is the first round.

    Example:
        On 1/2 (x - 1)^2 the first step leads from 0 to 1/2; the second takes the gradient at 1/2 - 1/4, which is -3/4.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(fedlesam(0.5, rho_sam=0.25), Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.5, 0.875]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), oracle=GloballyEstimated(rho_sam),
                     server=ServerStep(eta_g), name="FedLESAM")


register(fedlesam, "fedlesam", "sharpness-aware gradients from the global model's path", "Fan et al. 2024",
         "fedmoswa/fedlesam", **ISOTROPIC, units={"eta_l": STEP, "rho_sam": LENGTH}, costs=Costs(),
         reductions=(Reduction("fedavg", {"rho_sam": 0.0}), Reduction("fedavg", where={"rounds": 1})))
