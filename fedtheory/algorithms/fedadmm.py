"""FedADMM (Wang et al. 2022; Gong et al. 2022): FedPD with partial participation."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedpd import EXACT, UNITS, Duals, PrimalDual, optimal
from fedtheory.method import method, sampled
from fedtheory.solvers import local_solver
from fedtheory.traits import EVERYONE, ISOTROPIC, Costs, FixedPoint, Reduction, Tilt, Traits, Variant
from synthetic.checks import one_of

__all__ = ["StalePrimalDual", "fedadmm"]

VARIANTS = ("eq6", "stale")


@dataclass(frozen=True)
class StalePrimalDual(Duals):
    """The server's model is the mean over *all* clients of their last ``x_k + lam_k / rho_prox``, at first the start.

    Participants send by how much theirs has changed, on top of the model.
    """

    def client_state(self, federation, x, draws):
        start = federation.all_clients(x)
        return {"dual": 0 * start, "primal_dual": start + 0 * start}

    def finish(self, local, moment):
        dual = self.renewed(local, moment)
        new = local.x + dual / self.pull(moment)
        return {"dual": dual, "primal_dual": new}, {}

    def sent_model(self, local, kept, moment):
        return moment.x[:, None, :] + (kept["primal_dual"] - local.own["primal_dual"])

    def aggregate(self, average, upload, moment):
        return moment.x + moment.over_all(upload.model - moment.x[:, None, :]), {}

    def check(self, algorithm):
        if not algorithm.upload.whole:
            raise ValueError("the server adds the changes of each client's last message to its model, so all of them must "
                             f"arrive; got {type(algorithm.upload).__name__}, allowed: no upload filter")


@method("fedadmm", "primal-dual method with partial participation", "Wang et al. 2022; Gong et al. 2022", "afedpd/fedadmm",
        "afedpd/fedadmm_eq6", traits=Traits(
            **ISOTROPIC, units=UNITS, tilt=Tilt({"dual": -1.0}, EVERYONE), fixed_point=FixedPoint(optimal, EVERYONE),
            costs=Costs(kept=1), reductions=(Reduction("fedpd", where=EVERYONE),),
            variants=(EXACT, Variant({"variant": "stale"}, {"tilt": None, "fixed_point": None, "costs": Costs(kept=2)}))))
def fedadmm(
    eta_l=0.1, local_steps=1, rho_prox=0.1, variant="eq6", solver="gradient", epsilon=None, participants=None,
    replacement=False,
) -> Algorithm:
    """FedADMM (afedpd 3.2 with g = 0).

    ::

        x_k   <- argmin over v of F_k(v) + <lam_k, v - x> + rho_prox/2 |v - x|^2     for the sampled k; solver as in FedPD
        lam_k <- lam_k + rho_prox * (x_k - x)
        x <- mean over sampled k of (x_k + lam_k / rho_prox)                         variant eq6, as printed
        x <- mean over all k of the last x_k + lam_k / rho_prox                      variant stale (the literature's, medium)

    With everybody both are FedPD. With unequal weights the mean over sampled clients has the sampling's weights, the mean
    over all has the shares p_k.

    Example:
        On 1/2 (v - 1)^2 with rho_prox 1: to 1/2, lam = 1/2, sent 1.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> method = fedadmm(rho_prox=1.0, variant="stale", solver="exact")
        >>> run(method, Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 1.0, 1.0]
    """
    duals = (PrimalDual if one_of("variant", variant, VARIANTS) == "eq6" else StalePrimalDual)(rho_prox)
    return Algorithm(eta_l, local_steps, sampled(participants, replacement), correction=duals,
                     client=local_solver(solver, epsilon), name="FedADMM")
