"""FedALIGN (Ravi and Shomorony): free clients take part while their loss matches the priority clients' objective."""

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import FedAvg
from fedtheory.algorithms.fedprox import Proximal
from fedtheory.method import register, sampled
from fedtheory.selection import AllClients, Always, Bernoulli, FractionOfBoth, LossMatching, Selection
from fedtheory.traits import CURVATURE, EVERYONE, ISOTROPIC, LOSS, STEP, Costs, Reduction, Variant

__all__ = ["align", "fedalign", "fedalign_fedprox", "fedalign_fraction", "fedavg_all", "fedprox_all"]


def align(base: Algorithm, matching, free=None) -> Algorithm:
    """Adds FedALIGN's selection of free clients to any method, on top of its own sampling of priority clients.

    ``free``: availability of free clients, ``Always()`` (default), ``Bernoulli(p)`` or just p, or ``Pattern(table)``.

    Example:
        >>> from fedtheory import LossMatching, make_algorithm
        >>> align(make_algorithm("fedprox", rho_prox=0.5), LossMatching(epsilon=0.1)).name
        'FedALIGN on FedProx'
    """
    free = Always() if free is None else free if hasattr(free, "available") else Bernoulli(free)
    return base.having(selection=Selection(matching, base.selection.sampling, free), name=f"FedALIGN on {base.name}")


def fedalign(
    eta_l=0.1, local_steps=1, epsilon=0.0, warmup=0, strict=True, indicator="broadcast", participants=None,
    sampling="without-replacement", free=None,
) -> Algorithm:
    """FedALIGN on FedAvg (Ravi and Shomorony, Section 3): free clients take part while their loss matches the objective's.

    ::

        I_k = 1 if |F_k(x) - F(x)| < epsilon, client k is available and ``warmup`` rounds are over, else 0       free k
        x_k <- x_k - eta_l * g_k(x_k)                                      local_steps times, from x_k = x
        S   = sum over free k of p_k I_k
        x   <- (sum over priority k of q_k x_k + sum over free k of p_k I_k x_k) / (1 + S)

    p_k sum to one over the priority clients, and F is their weighted mean. q_k = p_k; with ``participants``, eq. (56), q_k
    is the weight w_k of ``fedavg``. Losses are full ones; ``strict`` false compares with <=. ``epsilon`` is a number, or a
    schedule that has its value at the comparison's local iteration and round. ``indicator``: ``broadcast``, I_k compares
    once, at the x that clients receive; ``local-at-aggregation``, at client k's own x_k, F_k and F alike, after the
    round's last local step, just before the average, with the epsilon and availability of the round that then begins;
    ``local-every-step``, before every local step at the x_k of that step, with its epsilon; the average has the I_k of the
    last step. ``warmup`` counts rounds of the average. ``free``: who is available; all free clients (None), each
    independently with that probability in every round (a number, or ``Bernoulli(p)``), or by a table of truth values, rounds
    by clients, whose last row holds on (``Pattern(table)``).

    Example:
        At 0 the free client's loss is 2, the objective 1/2: they match below 1.6, and the steps to 1/4 and -1 average.

        >>> from synthetic import Quadratic
        >>> pair = Quadratic([[[1.0], [4.0]]], [[[1.0], [-1.0]]], priority=[[True, False]])
        >>> from fedtheory import run
        >>> [run(fedalign(0.25, epsilon=e), pair, 1).dataset.x.values[0, 1, 0].item() for e in (1.5, 1.6)]
        [0.25, -0.375]
    """
    base = FedAvg(eta_l, local_steps, sampled(participants, sampling))
    return align(base, LossMatching(epsilon, warmup, strict, indicator), free)


def fedalign_fedprox(
    eta_l=0.1, local_steps=1, epsilon=0.0, warmup=0, strict=True, indicator="broadcast", rho_prox=1.0, participants=None,
    sampling="without-replacement", free=None,
) -> Algorithm:
    """FedALIGN on FedProx (Appendix C.2): as :func:`fedalign`, with the local steps of :func:`fedprox`.

    ``x_k <- x_k - eta_l * (g_k(x_k) + rho_prox * (x_k - x))``, x the broadcast model. Losses are compared without the
    proximal term, by the arguments of :func:`fedalign`.
    """
    aligned = fedalign(eta_l, local_steps, epsilon, warmup, strict, indicator, participants, sampling, free)
    return aligned.having(correction=Proximal(rho_prox), name="FedALIGN on FedProx")


def fedavg_all(eta_l=0.1, local_steps=1, warmup=0) -> FedAvg:
    """FedAvg on priority and free clients alike: weights p_k / (1 + P_N), P_N the sum of p_k over the free clients.

    Free clients count from round ``warmup`` on; before, it is FedAvg on the priority clients.
    """
    return FedAvg(eta_l, local_steps, Selection(AllClients(warmup)))


def fedprox_all(eta_l=0.1, local_steps=1, warmup=0, rho_prox=1.0) -> Algorithm:
    """FedProx on all clients: the weights of :func:`fedavg_all`, the local steps of :func:`fedprox`."""
    return Algorithm(eta_l, local_steps, Selection(AllClients(warmup)), correction=Proximal(rho_prox), name="FedProx")


def fedalign_fraction(
    eta_l=0.1, local_steps=1, epsilon=0.0, warmup=0, strict=True, fraction=0.3, normalisation="participants"
) -> FedAvg:
    """FedALIGN with a uniformly random ``fraction`` of the priority and of the free clients in each round (Appendix C.3).

    As :func:`fedalign` with ``indicator`` broadcast; free clients that are not drawn are not available. Of each group the
    ``fraction``, rounded (halves up), is drawn without replacement: of the priority clients at least one, of the free ones
    perhaps none. ``normalisation`` of the weights of the drawn priority clients, which the paper leaves open:
    ``participants``, q_k = p_k / sum of the drawn p_k; ``unbiased``, q_k = p_k * |P| / drawn, with |P| priority clients.
    """
    drawn = FractionOfBoth(fraction, normalisation)
    return FedAvg(eta_l, local_steps, Selection(LossMatching(epsilon, warmup, strict), drawn, drawn))


_PAPER = "Ravi, Shomorony: FedALIGN"
_EPSILON = {"epsilon": "a free client matches if its loss differs by less from the objective"}
UNITS = {"eta_l": STEP, "epsilon": LOSS}
MATCHING = {"epsilon": 0.5}  #: a threshold that some free clients meet and others do not

register(fedalign, "fedalign", "FedAvg with free clients of matching loss", f"{_PAPER}, Section 3", "fedalign/alg-fedavg",
         "fedalign/alg-arbitrary", "fedalign/alg-partial", "fedalign/alg-partial-without-replacement", **ISOTROPIC,
         units=UNITS,
         reductions=(Reduction("fedavg", {"epsilon": 0.0}), Reduction("fedavg", where={"free": 0}),
             Reduction("fedavg-all", {"epsilon": float("inf")}, where=EVERYONE)),
         variants=(Variant(MATCHING),
             *(Variant(MATCHING | {"indicator": indicator}) for indicator in ("local-at-aggregation", "local-every-step")),
             Variant(MATCHING | {"warmup": 1})),
         arguments=_EPSILON)
register(fedalign_fedprox, "fedalign-fedprox", "FedProx with free clients of matching loss", f"{_PAPER}, C.2",
         "fedalign/alg-fedprox", **ISOTROPIC, units=UNITS | {"rho_prox": CURVATURE}, variants=(Variant(MATCHING),),
         reductions=(Reduction("fedprox", {"epsilon": 0.0}), Reduction("fedalign", {"rho_prox": 0.0})),
         arguments=_EPSILON)
register(fedavg_all, "fedavg-all", "baseline: FedAvg on all clients", f"{_PAPER}, Section 4", "fedalign/fedavg-all",
         **ISOTROPIC, units={"eta_l": STEP}, costs=Costs(kept=0), reductions=(Reduction("fedavg", where={"free": 0}),))
register(fedprox_all, "fedprox-all", "baseline: FedProx on all clients", f"{_PAPER}, C.2", "fedalign/fedprox-all",
         **ISOTROPIC, units={"eta_l": STEP, "rho_prox": CURVATURE}, costs=Costs(kept=0),
         reductions=(Reduction("fedavg-all", {"rho_prox": 0.0}),))
register(fedalign_fraction, "fedalign-fraction", "FedALIGN on a random fraction of both groups", f"{_PAPER}, C.3",
         "fedalign/alg-fraction", **ISOTROPIC, units=UNITS, random=True, variants=(Variant(MATCHING),),
         arguments=_EPSILON)
