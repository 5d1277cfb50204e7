"""FedDyn (Acar et al. 2021): local duals, and a global dual that corrects the average."""

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedpd import EXACT, UNITS, Duals, optimal
from fedtheory.fields import word
from fedtheory.method import register, sampled
from fedtheory.solvers import local_solver
from fedtheory.traits import EVERYONE, ISOTROPIC, Costs, FixedPoint, Reduction, Tilt, Variant, kept_mean

__all__ = ["GlobalDual", "feddyn"]


@dataclass(frozen=True)
class GlobalDual(Duals):
    """The server keeps ``lam``, the mean of all lam_k; its model is the average plus ``lam / rho_prox``.

    ``order``: ``next``, with the new ``lam``; ``printed``, with the ``lam`` before the round.
    """

    order: str = word("next", "printed")
    needs_whole = "the server computes its dual from the local models"

    def server_state(self, federation, x, draws):
        return {"dual": 0 * x}

    def aggregate(self, average, upload, context):
        old, rho = context.state.server["dual"], self.server_pull(context)
        new = old + rho * context.over_all(upload.model - context.x[:, None, :])
        return average + (new if self.order == "next" else old) / rho, {"dual": new}


def feddyn(
    eta_l=0.1, local_steps=1, rho_prox=0.1, order="next", solver="gradient", epsilon=None, participants=None,
    sampling="without-replacement",
) -> Algorithm:
    """FedDyn (Acar et al. 2021; specification afedpd 3.3).

    ::

        x_k   <- argmin over v of F_k(v) + <lam_k, v - x> + rho_prox/2 |v - x|^2     for the sampled k; solver as in FedPD
        lam_k <- lam_k + rho_prox * (x_k - x)                                        for the sampled k
        lam+  <- lam + rho_prox/m * sum over sampled k of (x_k - x)                  m: number of all clients
        x     <- x_bar + lam+ / rho_prox                                             order next, of the original method
               | x_bar + lam / rho_prox                                              order printed
        lam   <- lam+                                         x_bar = mean over sampled k of x_k, weights as in fedavg

    All duals start at zero, so that ``lam`` is the mean over all k of lam_k. With all clients and order ``next`` it is
    FedPD. With unequal weights the share p_k stands for 1/m; a client drawn twice enters that sum once. ``solver`` and
    ``epsilon``: :func:`fedpd`.

    Example:
        On 1/2 (v - 1)^2 with rho_prox 1: to 1/2 and lam = 1/2, so 1; with the old lam 1/2.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> both = [feddyn(rho_prox=1.0, solver="exact", order=order) for order in ("next", "printed")]
        >>> [run(method, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values[0, 1, 0].item() for method in both]
        [1.0, 0.5]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=GlobalDual(rho_prox, order),
                     client=local_solver(solver, epsilon), name="FedDyn")


register(feddyn, "feddyn", "dynamic regularisation with a global dual", "Acar et al. 2021", "afedpd/feddyn",
         "afedpd/feddyn_next", "fedmoswa/feddyn", **ISOTROPIC, units=UNITS, tilt=Tilt({"dual": -1.0}),
         fixed_point=FixedPoint(optimal), costs=Costs(kept=1), laws=(kept_mean("lam", "dual"),),
         reductions=(Reduction("fedpd", where=EVERYONE),),
         variants=(EXACT,
             Variant({"order": "printed"}, {"fixed_point": FixedPoint(optimal, attracts=False), "reductions": ()})))
