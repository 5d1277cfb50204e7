"""FedPD (Zhang et al. 2020): clients minimise their augmented Lagrangian, and the duals enter the average."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import Correction
from fedtheory.solvers import local_solver
from fedtheory.traits import CURVATURE, ISOTROPIC, STEP, Costs, FixedPoint, Reduction, Tilt, Variant

__all__ = ["EXACT", "UNITS", "Duals", "PrimalDual", "fedpd", "optimal"]


@dataclass(frozen=True)
class Duals(Correction):
    """``g + lam_k + rho_prox * (x_k - x)``, then ``lam_k <- lam_k + rho_prox * (x_k - x)`` for those who take part.

    That is the gradient of the augmented Lagrangian ``F_k(x_k) + <lam_k, x_k - x> + rho_prox/2 |x_k - x|^2``. Duals start at
    zero.
    """

    rho_prox: Any = rate(0.1, strict=True)  #: number, (runs,) array or Schedule, evaluated at the first step of a round

    def client_state(self, federation, x, draws):
        return {"dual": 0 * federation.all_clients(x)}

    def shift(self, local, context):
        return local.own["dual"]

    def pull(self, context):
        first = context._replace(iteration=context.round * context.algorithm.local_steps)
        return context.algorithm.now(self.rho_prox, first)

    def server_pull(self, context):
        """``rho_prox``, shaped to multiply (runs, dim)."""
        pull = self.pull(context)
        return pull[:, 0] if getattr(pull, "ndim", 0) else pull

    def renewed(self, local, context):
        """The duals after the local steps, (runs, participants, dim)."""
        return local.own["dual"] + self.pull(context) * (local.x - context.x[:, None, :])

    def finish(self, local, context):
        return {"dual": self.renewed(local, context)}, {}


@dataclass(frozen=True)
class PrimalDual(Duals):
    """The model that is sent is ``x_k + lam_k / rho_prox``, after the change of ``lam_k``."""

    def sent_model(self, local, kept, context):
        return local.x + kept["dual"] / self.pull(context)


def fedpd(eta_l=0.1, local_steps=1, rho_prox=0.1, solver="gradient", epsilon=None) -> Algorithm:
    """FedPD (Zhang et al. 2020; specification afedpd 3.1), without the original's rounds that skip the average.

    ::

        x_k   <- argmin over v of F_k(v) + <lam_k, v - x> + rho_prox/2 |v - x|^2
        lam_k <- lam_k + rho_prox * (x_k - x)
        x     <- mean over all k of (x_k + lam_k / rho_prox)

    Every lam_k starts at zero; all clients take part, with the weights p_k. ``solver`` of the first line: ``gradient``,
    ``local_steps`` steps ``x_k <- x_k - eta_l * (g_k(x_k) + lam_k + rho_prox * (x_k - x))`` from ``x_k = x``; ``exact``, the
    minimiser; ``tolerance``, steps with the full gradient of F_k in place of g_k, until the squared norm of the bracket is
    at most ``epsilon``, tested before every step. With the last two ``local_steps`` must be 1 and has no effect; more than
    10000 steps to the tolerance are an error.

    Example:
        On 1/2 (v - 1)^2 with rho_prox 1: to 1/2, lam = 1/2, sent 1; then v solves v - 1 + 1/2 + v - 1 = 0.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> method = fedpd(rho_prox=1.0, solver="exact")
        >>> run(method, Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 1.0, 1.0]
    """
    return Algorithm(eta_l, local_steps, sampled(), correction=PrimalDual(rho_prox), client=local_solver(solver, epsilon),
                     name="FedPD")


def optimal(federation, x):
    """The duals at a minimiser ``x`` (runs, dim): minus every client's gradient."""
    return {}, {"dual": -federation.gradient(federation.all_clients(x))}


UNITS = {"eta_l": STEP, "rho_prox": CURVATURE}
#: with an exact solver eta_l has no effect, and no stochastic gradient is evaluated
EXACT = Variant({"solver": "exact", "local_steps": 1, "rho_prox": 1.0}, {
    "units": {"rho_prox": CURVATURE}, "costs": Costs(gradients=lambda local_steps: 0), "reductions": (),
    "exempt": {"one seed per run": "no stochastic gradient is evaluated"}})

register(fedpd, "fedpd", "primal-dual method with full participation", "Zhang et al. 2020", "afedpd/fedpd", **ISOTROPIC,
         units=UNITS, tilt=Tilt({"dual": -1.0}), fixed_point=FixedPoint(optimal), costs=Costs(kept=1),
         reductions=(Reduction("fedadmm"), Reduction("feddyn")), variants=(EXACT,))
