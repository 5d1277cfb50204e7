"""PruneFL (Jiang et al. 2022): only the parameters in a mask are trained and sent; the mask is renewed periodically."""

from __future__ import annotations

from fedtheory.algorithm import Algorithm
from fedtheory.method import register, sampled
from fedtheory.pruning import KeptParameters, Pruning
from fedtheory.traits import STEP, Costs, Reduction
from synthetic.numbers.arrays import namespace

__all__ = ["prunefl"]


def prunefl(
    eta_l=0.1, local_steps=1, density=0.5, period=10, times=None, client=0, initial_steps=1, participants=None,
    replacement=False,
) -> Algorithm:
    """PruneFL (Jiang et al. 2022; specification of FedLUAR, 8: medium confidence).

    ::

        client 0 alone: initial_steps steps from x, sum of g_0 * g_0; keep the largest sum_j / times_j
        in every round:
            x_k <- x restricted to what is kept
            x_k <- x_k - eta_l * (g_k(x_k) restricted to it)        local_steps times
            s_k <- s_k + g_k * g_k                                   in every local step, unrestricted
            x   <- mean over sampled k of x_k
        every ``period`` rounds: sampled clients send s_k and set it to zero; keep the largest (mean of s_k)_j / times_j

    The steps of client 0 (or ``client``) are plain and only find the first mask: the run starts from x restricted to it.
    s_k starts at zero and adds up over the rounds in which client k takes part. A parameter that leaves the mask is zero,
    and returns from zero. ``times``: relative time that a parameter costs, one per layer or per parameter; None: all the
    same. The number of parameters kept is the share ``density`` of all, rounded, at least one; the literature also adapts
    it to the measured time. ``density = 1`` is FedAvg. A participant receives and sends what is kept, and sends one more
    model when the mask is renewed; a new mask is one bit per parameter.

    Example:
        The first gradient is largest in the first coordinate: after the initial mask only this one moves.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(prunefl(0.5), Quadratic([[[1.0, 1.0]]], [[[3.0, 1.0]]]), 2).dataset.x.values[0].tolist()
        [[0.0, 0.0], [1.5, 0.0], [2.25, 0.0]]
    """
    pruning = Pruning(eta_l, density, period, times, client, initial_steps)
    return Algorithm(eta_l, local_steps, sampled(participants, replacement), correction=pruning, upload=KeptParameters(),
                     name="PruneFL")


def _kept(round, state, federation):
    """The share of the parameters that is kept, (runs, 1)."""
    kept, xp = state.server["kept_parameters"], namespace(state.x)
    return xp.mean(xp.where(kept, xp.ones_like(state.x), 0), axis=-1)[:, None]


register(prunefl, "prunefl", "FedAvg on a mask of parameters that is renewed periodically", "Jiang et al. 2022",
         "fedluar/prunefl", orthogonal="signed permutations", units={"eta_l": STEP}, costs=Costs(_kept, _kept),
         reductions=(Reduction("fedavg", {"density": 1.0}),),
         exempt={"common optimum": "pruned parameters are zero", "no step, no move": "pruned parameters are zero"})
