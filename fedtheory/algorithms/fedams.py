"""FedAMS and FedAMSGrad (Wang, Lin, Chen 2022): FedAdam with the largest second moment so far."""

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedopt import AdaptiveServer, quotient
from fedtheory.fields import word
from fedtheory.method import register, sampled
from fedtheory.traits import LENGTH, NUMBER, STEP, Costs, Law, Reduction, Variant
from synthetic.numbers.arrays import maximum, namespace

__all__ = ["MaxStabilised", "fedams"]

@dataclass(frozen=True)
class MaxStabilised(AdaptiveServer):
    """The direction ``m / sqrt(vhat)`` with ``vhat <- max(vhat, v, eps)`` (``option`` fedams), or ``m / (sqrt(vhat) + eps)``
    with ``vhat <- max(vhat, v)`` (fedamsgrad); vhat starts at 0."""

    v_init: object = 0.0
    option: str = word("fedams", "fedamsgrad")

    def server_state(self, federation, x, draws):
        return super().server_state(federation, x, draws) | {"server_moment2_max": 0 * x}

    def step(self, average, context):
        (m, v), eps = self.moments(average, context), context.server_number(self.eps)
        top = maximum(context.state.server["server_moment2_max"], v)
        top = maximum(top, eps + 0 * top) if self.option == "fedams" else top
        root = namespace(top).sqrt(top)
        direction = quotient(m, root if self.option == "fedams" else root + eps)
        arrays = {"server_moment1": m, "server_moment2": v, "server_moment2_max": top}
        return context.x + context.server_number(self.eta_g) * direction, arrays


def fedams(
    eta_l=0.1, local_steps=1, eta_g=0.1, beta1=0.9, beta2=0.99, eps=1e-3, v_init=0.0, option="fedams", participants=None,
    sampling="without-replacement",
) -> Algorithm:
    """FedAMS and FedAMSGrad (Wang, Lin, Chen 2022; specification of FAdamGC, 3.9: high confidence).

    ::

        x_k <- x_k - eta_l * g_k(x_k)                                 local_steps times, from x_k = x
        d <- x_bar - x                                                x_bar = mean over sampled k of x_k, as in fedavg
        m <- beta1 * m + (1 - beta1) * d
        v <- beta2 * v + (1 - beta2) * d * d
        vhat <- max(vhat, v, eps),   x <- x + eta_g * m / sqrt(vhat)              option fedams
        vhat <- max(vhat, v),        x <- x + eta_g * m / (sqrt(vhat) + eps)      option fedamsgrad; 0/0 = 0

    m and vhat start at zero, v at ``v_init``; no bias correction. ``eps`` is a squared length under ``fedams`` and a length
    under ``fedamsgrad``, as printed. Everything is by coordinate. The first round of ``fedamsgrad`` is FedAdam's.

    Example:
        On 1/2 (x - 1)^2 from 0 the change is 1/2 and v is 1/16: below eps = 1/4, whose root divides m = 1/4.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> made = fedams(0.5, eta_g=1.0, beta1=0.5, beta2=0.75, eps=0.25)
        >>> run(made, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.5]
    """
    server = MaxStabilised("adam", eta_g, beta1, beta2, eps, v_init, option)
    name = "FedAMS" if option == "fedams" else "FedAMSGrad"
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), server=server, name=name)


UNITS = {"eta_l": STEP, "eta_g": LENGTH, "eps": (0, 2), "v_init": (0, 2), "beta1": NUMBER, "beta2": NUMBER}

register(fedams, "fedams", "FedAdam with the largest second moment so far", "Wang, Lin, Chen 2022", "fadamgc/fedams",
         "fadamgc/fedamsgrad", translation=True, orthogonal="signed permutations", units=UNITS, costs=Costs(kept=0),
         laws=(Law("the largest second moment never falls", lambda algorithm, federation, *states: tuple(
             state.server["server_moment2_max"] for state in states), "<="),),
         variants=(Variant({"option": "fedamsgrad"}, {
             "units": UNITS | {"eps": LENGTH},
             "reductions": (Reduction("fedadam", {"v_init": 0.0}, where={"rounds": 1}),)}),))
