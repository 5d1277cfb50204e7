"""FedAvg (McMahan et al. 2017): local SGD steps, then a weighted average."""

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import ServerOptimiser
from fedtheory.traits import EVERYONE, ISOTROPIC, NUMBER, STEP, Costs, FixedPoint, Variant, as_descent

__all__ = ["FedAvg", "ServerStep", "fedavg"]


@dataclass(frozen=True)
class ServerStep(ServerOptimiser):
    """``x <- x + eta_g (average - x)``; ``eta_g`` is a number, (runs,) array or schedule."""

    eta_g: object = rate(1.0)

    def step(self, average, context):
        if isinstance(self.eta_g, (int, float)) and self.eta_g == 1:
            return average, {}
        return context.x + context.server_number(self.eta_g) * (average - context.x), {}


@dataclass(frozen=True)
class FedAvg(Algorithm):
    """FedAvg.

    ::

        for round r:
            x_k   <- x                                for every sampled client k
            x_k   <- x_k - eta_l * g_k(x_k)           local_steps times
            x_bar <- x + sum over sampled k of w_k (x_k - x)
            x     <- x_bar                            or x + eta_g * (x_bar - x)

    With ``Selection(sampling=WithReplacement(s))`` this is scheme I of Li et al. 2020, with
    ``WithoutReplacement(s, averaged="models")`` scheme II, with ``matching=LossMatching(epsilon)`` FedALIGN.

    Example:
        Two steps of 1/2 on 1/2 (x - 1)^2 lead from 0 to 1/2 to 3/4.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(FedAvg(eta_l=0.5, local_steps=2), Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.75]
    """


def fedavg(eta_l=0.1, local_steps=1, participants=None, sampling="without-replacement", eta_g=1.0) -> FedAvg:
    """FedAvg on the priority clients, all of them or ``participants`` per round.

    ::

        x_k   <- x_k - eta_l * g_k(x_k)               local_steps times, from x_k = x, for every sampled k
        x_bar <- mean over sampled k of x_k           that is, x + sum over sampled k of w_k (x_k - x)
        x     <- x + eta_g * (x_bar - x)

    p_k and m are those of the priority clients, whose p_k sum to one. With all clients ``w_k = p_k``. With s
    ``participants`` the scheme ``sampling`` says who is drawn, with which weight:

    * ``without-replacement``: s distinct ones, uniformly; ``w_k = p_k m / s``.
    * ``with-replacement`` (scheme I of Li et al. 2020): s independent draws, of client k with probability p_k; w_k is the
      share of the draws that fell on k. A client drawn twice takes its steps once.
    * ``bernoulli``: each by itself with probability s / m; w_k is p_k over the sum of those of the clients that take part.
      A round in which nobody takes part changes nothing. With unequal p_k x_bar is biased.
    * ``bernoulli-expected``: the same clients, averaged by their expected number; ``w_k = p_k m / s``. In a round in which
      nobody takes part ``x_bar = x``.
    * ``li2020-scheme-2``: the clients and weights of without-replacement, with ``x_bar = sum over sampled k of w_k x_k``,
      scheme II as Li et al. print it. For unequal p_k the result depends on the origin, and the minimiser is no fixed
      point.

    Without replacement, and by the expected number, the w_k of a round sum to one on average only; x_bar is unbiased.

    Example:
        >>> fedavg(eta_l=0.5, local_steps=4).local_steps
        4
    """
    return FedAvg(eta_l, local_steps, sampled(participants, sampling), server=ServerStep(eta_g))


TRAITS = dict(**ISOTROPIC, units={"eta_l": STEP, "eta_g": NUMBER}, costs=Costs(kept=0), variants=(Variant({"eta_g": 1.5}),),
    fixed_point=FixedPoint(where=EVERYONE | {"local_steps": 1}), reductions=as_descent(eta_g=1.0))

register(fedavg, "fedavg", "FedAvg, full or sampled participation",
         "McMahan et al. 2017; Li et al. 2020", **TRAITS)
register(fedavg, "fedavg-priority", "baseline: FedAvg on the priority clients", "Ravi, Shomorony: FedALIGN, Section 4",
         "fedalign/fedavg-priority", **TRAITS)
