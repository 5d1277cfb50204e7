"""FedAvg (McMahan et al. 2017): local SGD steps, then a weighted average."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm

__all__ = ["FedAvg"]


@dataclass(frozen=True)
class FedAvg(Algorithm):
    """FedAvg.

    ::

        for round r:
            x_k <- x                                  for every participating client k
            x_k <- x_k - eta_l * g_k(x_k)             local_steps times
            x   <- sum_k weight_k x_k

    With ``Selection(sampling=WithReplacement(s))`` this is scheme I of Li et al. 2020, with
    ``WithoutReplacement(s)`` scheme II, with ``matching=LossMatching(epsilon)`` FedALIGN.

    Example:
        Two steps of 1/2 on 1/2 (x - 1)^2 lead from 0 to 1/2 to 3/4.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(FedAvg(eta_l=0.5, local_steps=2), Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.75]
    """
