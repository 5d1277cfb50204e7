"""FedSMOO (Sun et al. 2023): FedDyn with sharpness-aware gradients, whose perturbations are tied to a common one."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.feddyn import GlobalDual
from fedtheory.algorithms.fedsam import along
from fedtheory.fields import rate, word
from fedtheory.method import register, sampled
from fedtheory.parts import GradientOracle
from fedtheory.traits import ISOTROPIC, Costs, Reduction, Variant, kept_mean

__all__ = ["CommonPerturbation", "DynamicPerturbation", "fedsmoo"]

@dataclass(frozen=True)
class DynamicPerturbation(GradientOracle):
    """``g_k(x_k + s_k)`` with ``s_k = rho_sam * u/|u|``, ``u = g_k(x_k) - mu_k - s``; then ``mu_k <- mu_k + s_k - s``.

    Clients keep mu_k; the server sends s, which :class:`CommonPerturbation` keeps.
    """

    rho_sam: Any = rate(0.1)  #: radius, in units of the parameter: number, (runs,) array or Schedule
    evaluations = 2

    def client_state(self, federation, x, draws):
        return {"perturbation_dual": 0 * federation.all_clients(x)}

    def begin(self, local, context):
        return local.with_own(perturbation=0 * local.x)

    def gradient(self, local, gradient, context):
        mu, s = local.own["perturbation_dual"], context.server("perturbation")
        own = along(gradient(local.x) - mu - s, context.algorithm.now(self.rho_sam, context))
        local = local.with_own(perturbation_dual=mu + own - s, perturbation=own)
        return gradient(local.x + own), local

    def finish(self, local, context):
        return {"perturbation_dual": local.own["perturbation_dual"]}

    def check(self, algorithm):
        if not isinstance(algorithm.correction, CommonPerturbation):
            raise ValueError("the perturbations need a common one that the server keeps; got the correction "
                             f"{type(algorithm.correction).__name__}, allowed: CommonPerturbation")


@dataclass(frozen=True)
class CommonPerturbation(GlobalDual):
    """FedDyn's duals, and ``s = rho_sam * v/|v|`` with v the mean of the sampled clients' mu_k or last s_k (``sent``)."""

    sent: str = word("mu", "s_hat")
    down, up = 1, 1

    def server_state(self, federation, x, draws):
        return super().server_state(federation, x, draws) | {"perturbation": 0 * x}

    def finish(self, local, context):
        sent = local.own["perturbation_dual" if self.sent == "mu" else "perturbation"]
        return {"dual": self.renewed(local, context)}, {"perturbation": sent}

    def aggregate(self, average, upload, context):
        average, server = super().aggregate(average, upload, context)
        radius = context.server_number(context.algorithm.oracle.rho_sam)
        return average, server | {"perturbation": along(context.weighted_sum(upload.others["perturbation"]), radius)}

    def check(self, algorithm):
        super().check(algorithm)
        if not isinstance(algorithm.oracle, DynamicPerturbation):
            raise ValueError("the common perturbation is computed from the clients'; got the oracle "
                             f"{type(algorithm.oracle).__name__}, allowed: DynamicPerturbation")


def fedsmoo(
    eta_l=0.1, local_steps=1, rho_prox=0.1, rho_sam=0.1, sent="mu", order="next",
    participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedSMOO (Sun et al. 2023; specification fedmoswa 8: low to medium confidence).

    ::

        s_k  = rho_sam * u/|u| with u = g_k(x_k) - mu_k - s,   mu_k <- mu_k + s_k - s
        x_k  <- x_k - eta_l * (g_k(x_k + s_k) + lam_k + rho_prox * (x_k - x))     both lines local_steps times, from x_k = x
        s    <- rho_sam * v/|v| with v = mean over sampled k of mu_k              after the local steps; sent mu
                                         mean over sampled k of s_k               of the last local step; sent s_hat
        lam_k, lam and x as in :func:`feddyn`, like ``order``

    mu_k, s and all duals start at zero; 0/0 = 0. The means have the weights of ``fedavg``. mu_k moves in every local step;
    both gradients of a step are on the same samples. mu_k stays with the client between rounds. ``sent="mu"`` is what the
    authors' public code does. ``rho_sam = 0`` is FedDyn. The code's ``lam_k`` has the opposite sign of the paper's, and
    ``rho_prox`` is its 1/a. Two models each way.

    Example:
        On 1/2 (x - 1)^2 the first perturbation is -1/2, where the gradient is -3/2: to 3/4, lam = 3/4, and 3/4 + 3/4.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> end = run(fedsmoo(0.5, rho_prox=1.0, rho_sam=0.5), Quadratic([[[1.0]]], [[[1.0]]]), 1)
        >>> end.dataset.x.values.ravel().tolist(), end.state.server["perturbation"].tolist()
        ([0.0, 1.5], [[-0.5]])
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), oracle=DynamicPerturbation(rho_sam),
                     correction=CommonPerturbation(rho_prox, order, sent), name="FedSMOO")


register(fedsmoo, "fedsmoo", "FedDyn with perturbations drawn to a common one", "Sun et al. 2023", "fedmoswa/fedsmoo",
         **ISOTROPIC, costs=Costs(2, 2, lambda local_steps: 2 * local_steps, kept=2),
         laws=(kept_mean("lam", "dual"),),
         reductions=(Reduction("feddyn", {"rho_sam": 0.0}),), variants=(Variant({"sent": "s_hat"}),))
