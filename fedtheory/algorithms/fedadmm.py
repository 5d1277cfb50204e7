"""FedADMM (Wang et al. 2022; Gong et al. 2022): FedPD with partial participation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedpd import EXACT, UNITS, Duals, PrimalDual, optimal
from fedtheory.fields import rate, word
from fedtheory.method import register, sampled
from fedtheory.parts import ServerOptimiser
from fedtheory.schedules import Schedule
from fedtheory.solvers import local_solver
from fedtheory.traits import CURVATURE, EVERYONE, ISOTROPIC, SLOPE, Costs, FixedPoint, Reduction, Tilt, Variant
from synthetic.base.checks import one_of
from synthetic.numbers.arrays import namespace, to_numpy

__all__ = ["ServerProximal", "StalePrimalDual", "fedadmm"]


@dataclass(frozen=True)
class StalePrimalDual(Duals):
    """The server's model is the mean over *all* clients of their last ``x_k + lam_k / rho_prox``, initially the start.

    Participants send the change of theirs, added to the model.
    """

    needs_whole = "the server adds the changes of messages to its model"

    def client_state(self, federation, x, draws):
        start = federation.all_clients(x)
        return {"dual": 0 * start, "primal_dual": start + 0 * start}

    def finish(self, local, context):
        dual = self.renewed(local, context)
        new = local.x + dual / self.pull(context)
        return {"dual": dual, "primal_dual": new}, {}

    def sent_model(self, local, kept, context):
        return context.x[:, None, :] + (kept["primal_dual"] - local.own["primal_dual"])

    def aggregate(self, average, upload, context):
        return context.x + context.over_all(upload.model - context.x[:, None, :]), {}


@dataclass(frozen=True)
class ServerProximal(ServerOptimiser):
    """``x <- argmin over v of g(v) + w |v - average|^2`` with ``g(v) = l2/2 |v|^2 + l1 |v|_1``, in closed form.

    ``weight``: ``printed``, w = 1 / (2 rho_prox); ``consistent``, w = rho_prox / 2, that of the augmented Lagrangian.
    """

    l2: Any = rate(0.0)  #: at least 0: number, (runs,) array or Schedule, like ``l1``
    l1: Any = rate(0.0)
    weight: str = word("printed", "consistent")

    def check(self, algorithm):
        if not isinstance(algorithm.correction, Duals):
            raise ValueError("the server's term g is weighted by the duals' rho_prox; got the correction "
                             f"{type(algorithm.correction).__name__}, allowed: one with duals, as in fedpd and fedadmm")
        if isinstance(algorithm.correction, StalePrimalDual):
            raise ValueError("with variant 'stale' the server's model is the mean of what clients sent last, and with a "
                             "term g it is not; allowed: variant 'eq6'")

    def step(self, average, context):
        xp, rho = namespace(average), context.algorithm.correction.server_pull(context)
        twice = 1 / rho if self.weight == "printed" else rho
        l2, l1 = (context.server_number(number) for number in (self.l2, self.l1))
        target = twice * average
        size = xp.abs(target) - l1
        return xp.where(size > 0, xp.where(target > 0, size, -size), 0 * target) / (twice + l2), {}


def fedadmm(
    eta_l=0.1, local_steps=1, rho_prox=0.1, variant="eq6", solver="gradient", epsilon=None, l2=0.0, l1=0.0,
    weight="printed", participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedADMM (Wang et al. 2022; Gong et al. 2022; specification afedpd 3.2), with ``g(v) = l2/2 |v|^2 + l1 |v|_1``.

    ::

        x_k   <- argmin over v of F_k(v) + <lam_k, v - x> + rho_prox/2 |v - x|^2     for the sampled k; solver as in FedPD
        lam_k <- lam_k + rho_prox * (x_k - x)                                        for the sampled k
        x <- mean over sampled k of (x_k + lam_k / rho_prox)                         variant eq6, as printed
        x <- mean over all k of the last x_k + lam_k / rho_prox                      variant stale (the literature's, medium)
        x <- argmin over v of g(v) + w |v - x|^2                                     where there is a g; variant eq6 only

    Every lam_k starts at zero; ``l1`` and ``l2`` are 0 unless given. Under ``stale`` the message of a client that has not
    yet taken part is the first x. ``weight`` of the last line: ``printed``, w = 1 / (2 rho_prox); ``consistent``, w =
    rho_prox / 2, with which the fixed points are the minimisers of F + g. With all clients both variants are FedPD. With
    unequal weights the mean over sampled clients has the weights of ``fedavg``, the mean over all has the shares p_k.
    ``solver`` and ``epsilon``: :func:`fedpd`.

    Example:
        On 1/2 (v - 1)^2 with rho_prox 1: to 1/2, lam = 1/2, sent 1.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> method = fedadmm(rho_prox=1.0, variant="stale", solver="exact")
        >>> run(method, Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 1.0, 1.0]
    """
    duals = (PrimalDual if one_of("variant", variant, ("eq6", "stale")) == "eq6" else StalePrimalDual)(rho_prox)
    server: ServerOptimiser = ServerProximal(l2, l1, weight)
    regularised = any(isinstance(number, Schedule) or np.any(to_numpy(number) != 0) for number in (l2, l1))
    server = server if regularised else ServerOptimiser()
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=duals,
                     client=local_solver(solver, epsilon), server=server, name="FedADMM")


#: the traits with a term g, which pulls every coordinate towards zero
REGULARISED = {
    "translation": False, "orthogonal": "signed permutations", "units": UNITS | {"l2": CURVATURE, "l1": SLOPE}, "tilt": None,
    "fixed_point": None, "reductions": (), "exempt": dict.fromkeys(
        ("common optimum", "common optimum, sampled", "no step, no move"), "the term g pulls to the origin"),
}

register(fedadmm, "fedadmm", "primal-dual method with partial participation", "Wang et al. 2022; Gong et al. 2022",
         "afedpd/fedadmm", "afedpd/fedadmm_eq6", **ISOTROPIC, units=UNITS, tilt=Tilt({"dual": -1.0}, EVERYONE),
         fixed_point=FixedPoint(optimal, EVERYONE), costs=Costs(kept=1), reductions=(Reduction("fedpd", where=EVERYONE),),
         variants=(EXACT, Variant({"variant": "stale"}, {"tilt": None, "fixed_point": None, "costs": Costs(kept=2)}),
             Variant({"l2": 0.5, "l1": 0.05, "weight": "consistent", "rho_prox": 1.0}, REGULARISED)))
