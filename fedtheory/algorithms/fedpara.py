"""FedPara (Hyeon-Woo et al. 2022): FedAvg on small factors whose products make up the model."""

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.method import register, sampled

__all__ = ["FedPara", "fedpara"]


@dataclass(frozen=True)
class FedPara(Algorithm):
    """FedAvg that accepts only federations whose parameters are factors of a model (:mod:`synthetic.data.factored`)."""

    def refuses(self, federation):
        if federation.factored:
            return super().refuses(federation)
        return (f"FedPara trains factors of a model, and the parameters of {federation.name} are not factors; allowed: "
                "synthetic.factored(federation, rank)")


def fedpara(eta_l=0.1, local_steps=1, eta_g=1.0, participants=None, sampling="without-replacement") -> FedPara:
    """FedPara (Hyeon-Woo et al. 2022; specification of FedLUAR, 8: high confidence).

    ::

        x = (X1, Y1, X2, Y2), the model is W = (X1 Y1^T) o (X2 Y2^T), of rank at most r^2
        x_k <- x_k - eta_l * g_k(x_k)                     local_steps times, from x_k = x; g_k by the chain rule
        x   <- x + eta_g * (x_bar - x)                    x_bar = mean over sampled k of x_k, weights as in fedavg

    o is the product by entry. W (n1, n2) and the factors X (n1, r), Y (n2, r) are laid out row by row, and the vector x is
    X1, then Y1, X2, Y2. The factors are trained, sent and averaged: ``2 r (n1 + n2)`` floats instead of ``n1 n2``. It is
    FedAvg on a federation of :func:`synthetic.factored`, which does all that is special; other federations are refused.

    Example:
        >>> from fedtheory import run
        >>> from synthetic import factored, make_problem
        >>> digits = make_problem("digits", clients=2, rows=40)
        >>> small = factored(digits, rank=1)
        >>> data = run(fedpara(0.1), small, 1, start=small.default_start(), record=["uplink_floats"]).dataset
        >>> digits.dim, data.uplink_floats.values[0, 0, 0].item()
        (640, 148.0)
    """
    return FedPara(eta_l, local_steps, sampled(participants, sampling), server=ServerStep(eta_g))


register(fedpara, "fedpara", "FedAvg on factors of the model", "Hyeon-Woo, Ye-Bin, Oh 2022", "fedluar/fedpara")
