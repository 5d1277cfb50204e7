"""PruneFL (Jiang et al. 2022): only the parameters in a mask are trained and sent; the mask is renewed periodically."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.chain import masked
from fedtheory.fields import checked, rate, size
from fedtheory.layerwise import by_coordinate, share_of
from fedtheory.method import register, sampled
from fedtheory.parts import Correction, ServerOptimiser, UploadFilter
from fedtheory.schedules import value_at
from fedtheory.traits import STEP, Costs, Reduction
from synthetic.base.checks import finite, number
from synthetic.numbers.arrays import namespace

__all__ = ["KeptParameters", "Pruning", "prunefl"]

_ALONE = -(2**40)  # samples of the steps before the first round, far from those of any other


@dataclass(frozen=True)
class Pruning(Correction):
    """The parameters outside the mask are zero. All gradients are squared and summed, also of pruned parameters; every
    ``period`` rounds the server gets the sums of the participants and keeps the parameters of the largest
    ``mean sum / times``, a share ``density`` of them all. Returning parameters start from zero.

    The first mask comes from ``client`` alone: ``initial_steps`` local steps of size ``eta`` from the start.
    """

    eta: Any = rate(0.1)
    density: float = checked(0.5, lambda name, value: number(name, value, 0, 1, strict=True))
    period: int = size(10)
    times: Any = None
    client: int = size(0, low=0)
    initial_steps: int = size(1)
    moves_start = True

    def __post_init__(self):
        super().__post_init__()
        if self.times is not None and (finite("times", self.times) <= 0).any():
            raise ValueError(f"times must be above 0; got {self.times!r}")

    def refuses(self, federation):
        layers, times = len(federation.layers()), np.shape(self.times)
        if times not in ((), (layers,), (federation.dim,)):
            return f"times must be a number, ({layers},) or ({federation.dim},) on {federation.name}; got shape {times}"
        if self.client >= federation.clients:
            return f"the first mask comes from client {self.client}, and {federation.name} has {federation.clients} clients"
        return None

    def server_state(self, federation, x, draws):
        eta = value_at(self.eta, federation.backend, 0, 0, x.shape[0])
        eta = eta[:, None, None] if getattr(eta, "ndim", 0) == 1 else eta
        clients = federation.backend.integers(np.full((x.shape[0], 1), self.client))
        local, total = x[:, None, :], 0 * x
        for j in range(self.initial_steps):
            if draws is None:
                g = federation.gradient(local, clients)
            else:
                g = federation.stochastic_gradient(local, draws, _ALONE - j, clients)
            local, total = local - eta * g, total + g[:, 0]**2
        return {"kept_parameters": self.largest(total, federation)}

    def client_state(self, federation, x, draws):
        return {"squared_gradients": 0 * federation.all_clients(x)}

    def largest(self, importance, federation):
        """Truth values (runs, dim): the share ``density`` of the parameters with the largest importance / time."""
        xp, times = namespace(importance), federation.backend.array(1.0 if self.times is None else self.times)
        if times.ndim and tuple(times.shape) != (federation.dim,):
            times = by_coordinate(times, federation.layers())
        place = xp.argsort(xp.argsort(-importance / times, axis=-1), axis=-1)
        return place < max(1, int(self.density * federation.dim + 0.5))

    def renews(self, context) -> bool:
        """Whether the mask is decided anew at the end of the round."""
        return (context.round + 1) % self.period == 0

    def begin(self, local, context):
        return local._replace(x=namespace(local.x).where(context.server("kept_parameters"), local.x, 0 * local.x))

    def correct(self, g, local, context):
        return g, local.with_own(squared_gradients=local.own["squared_gradients"] + g**2)

    def after(self, direction, local, context):
        return namespace(direction).where(context.server("kept_parameters"), direction, 0)

    def finish(self, local, context):
        total = local.own["squared_gradients"]
        if self.renews(context):
            return {"squared_gradients": 0 * total}, {"squared_gradients": total}
        return {"squared_gradients": total}, {}

    def aggregate(self, average, upload, context):
        where = namespace(average).where
        average = where(context.state.server["kept_parameters"], average, 0 * average)  # the first x has the others, too
        if not self.renews(context):
            return average, {}
        kept = self.largest(context.weighted_sum(upload.others["squared_gradients"]), context.federation)
        kept = where(namespace(average).any(context.active, axis=-1)[:, None], kept, context.state.server["kept_parameters"])
        return where(kept, average, 0 * average), {"kept_parameters": kept}

    def extra_down(self, context):
        return share_of(context.state.server["kept_parameters"], context.x) - 1

    def extra_up(self, context):
        return int(self.renews(context))

    def check(self, algorithm):
        if algorithm.client.solves or type(algorithm.server) is not ServerOptimiser or not isinstance(
                algorithm.upload, KeptParameters):
            raise ValueError("pruned parameters must stay zero, which a solved local problem, a server optimiser and other "
                             "upload filters do not know of")


@dataclass(frozen=True)
class KeptParameters(UploadFilter):
    """The parameters that are not pruned."""

    def check(self, algorithm):
        if not isinstance(algorithm.correction, Pruning):
            raise ValueError("which parameters are kept is decided by pruning; got the correction "
                             f"{type(algorithm.correction).__name__}, allowed: Pruning, as in prunefl")

    def send(self, change, local, context):
        return masked(change, context.server("kept_parameters"), local)

    def extra_bits(self, context):
        return context.federation.dim * (context.round % context.algorithm.correction.period == 0), 0


def prunefl(
    eta_l=0.1, local_steps=1, density=0.5, period=10, times=None, client=0, initial_steps=1, participants=None,
    sampling="without-replacement",
) -> Algorithm:
    """PruneFL (Jiang et al. 2022; specification of FedLUAR, 8: medium confidence).

    ::

        client 0 alone: initial_steps steps from x, sum of g_0 * g_0; keep the largest sum_j / times_j
        in every round:
            x_k <- x restricted to what is kept
            x_k <- x_k - eta_l * (g_k(x_k) restricted to it)        local_steps times
            s_k <- s_k + g_k * g_k                                   in every local step, unrestricted
            x   <- mean over sampled k of x_k                        weights as in fedavg
        after rounds period, 2 period, ...: sampled clients send s_k and set it to zero;
            keep the largest (mean over sampled k of s_k)_j / times_j

    The steps of client 0 (or ``client``), of the first size ``eta_l``, are plain and only find the first mask: clients start
    the run from x restricted to it, while the first recorded x is the whole start. When the mask is renewed, the new x is
    restricted to it at once. Of equal sums the parameters that come first are kept. s_k starts at zero and adds up over the
    rounds in which client k takes part. A parameter that leaves the mask is zero, and returns from zero. ``times``: relative
    time that a parameter costs, one per layer or per parameter; None: all the same. The number of parameters kept is the
    share ``density`` of all, rounded (halves up), at least one. Rounds count from 1 here: the new mask holds from the round
    after. The literature also adapts the number to the measured time. ``density = 1`` is FedAvg. A participant receives and
    sends what is kept, and sends one more model when the mask is renewed; a new mask is one bit per parameter.

    Example:
        The first gradient is largest in the first coordinate: after the initial mask only this one moves.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(prunefl(0.5), Quadratic([[[1.0, 1.0]]], [[[3.0, 1.0]]]), 2).dataset.x.values[0].tolist()
        [[0.0, 0.0], [1.5, 0.0], [2.25, 0.0]]
    """
    pruning = Pruning(eta_l, density, period, times, client, initial_steps)
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=pruning, upload=KeptParameters(),
                     name="PruneFL")


def _kept_share(round, state, federation):
    """The share of the parameters that are kept, (runs, 1)."""
    return share_of(state.server["kept_parameters"], state.x)


register(prunefl, "prunefl", "FedAvg on a mask of parameters that is renewed periodically", "Jiang et al. 2022",
         "fedluar/prunefl", orthogonal="signed permutations", units={"eta_l": STEP}, costs=Costs(_kept_share, _kept_share),
         reductions=(Reduction("fedavg", {"density": 1.0}),),
         exempt=dict.fromkeys(
             ("common optimum", "common optimum, sampled", "no step, no move"), "pruned parameters are zero"))
