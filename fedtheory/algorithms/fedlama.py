"""FedLAMA (Lee et al. 2023): layers whose clients differ little are averaged less often."""

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.chain import masked
from fedtheory.fields import size
from fedtheory.layerwise import by_coordinate, layer_sums, sizes_of
from fedtheory.method import register
from fedtheory.parts import UploadFilter
from fedtheory.selection import EveryPriority, PriorityOnly, Selection, WithoutReplacement
from fedtheory.traits import STEP, Costs, Reduction
from synthetic.base.checks import whole
from synthetic.numbers.arrays import namespace

__all__ = ["LayerIntervals", "fedlama"]


@dataclass(frozen=True)
class LayerIntervals(UploadFilter):
    """Averages some layers after every round, the others only after every ``period`` rounds; meanwhile clients continue with
    their own values of them.

    At the end of a period all layers are averaged, and the discrepancy ``d_l = mean of |x_k - x'|_l^2 / (steps since the
    last average * size of l)``, x' the old model plus the mean change, selects the layers anew: in ascending order of d, a
    layer is averaged rarely while the share of ``sum of d * size`` up to it is below the share of parameters after it.
    """

    period: int = size(2)
    whole = False
    moves_start = True

    def server_state(self, federation, x, draws):
        zero = 0 * x[:, :1] + federation.backend.array([[0] * len(federation.layers())])
        return {"rarely_averaged": zero > 0, "discrepancy": zero}

    def client_state(self, federation, x, draws):
        return {"own_model": 0 * federation.all_clients(x) + x[:, None, :]}

    def _left_out(self, round, context):
        """Layers that are not averaged at the end of a round, truth values (runs, layers)."""
        rarely = context.state.server["rarely_averaged"]
        return rarely if (round + 1) % self.period else rarely & ~rarely

    def begin(self, local, context):
        own = by_coordinate(self._left_out(context.round - 1, context), context.federation.layers())[:, None, :]
        return local._replace(x=namespace(local.x).where(own, local.own["own_model"], local.x))

    def send(self, change, local, context):
        averaged = by_coordinate(~self._left_out(context.round, context), context.federation.layers())
        return masked(change, averaged[:, None, :], local)

    def finish(self, local, context):
        return {"own_model": local.x}

    def learn(self, sent, mean, context):
        if (context.round + 1) % self.period:
            return {}
        federation, xp = context.federation, namespace(sent)
        layers, rarely = federation.layers(), context.state.server["rarely_averaged"]
        steps = context.algorithm.local_steps * xp.where(rarely, self.period + 0 * mean[:, :1], 1)
        apart = context.weighted_sum(layer_sums((sent - mean[:, None, :])**2, layers))
        sizes = federation.backend.array([sizes_of(layers)])
        discrepancy = apart / (steps * sizes)
        return {"discrepancy": discrepancy, "rarely_averaged": rarely_averaged(discrepancy, sizes)}

    def extra_down(self, context):
        stale = by_coordinate(self._left_out(context.round - 1, context), context.federation.layers())
        xp = namespace(context.x)
        return -xp.sum(xp.where(stale, xp.ones_like(context.x), 0), axis=-1)[:, None] / context.federation.dim

    def extra_bits(self, context):
        return len(context.federation.layers()) * (context.round % self.period == 0), 0

    def check(self, algorithm):
        sampling = algorithm.selection.sampling
        held = isinstance(sampling, WithoutReplacement) and sampling.held == self.period
        if algorithm.client_steps is not None:
            raise ValueError("layers are compared per local step, so all clients must take the same number of steps")
        if algorithm.upload is not self or algorithm.client.solves:
            raise ValueError("clients continue with their own values of some layers, which other upload filters and solved "
                             "local problems ignore")
        if not (held or isinstance(sampling, EveryPriority) or self.period == 1):
            raise ValueError(f"the clients of a period must stay together; got {sampling!r}, allowed: all clients, or "
                             f"WithoutReplacement(participants, held={self.period})")


def rarely_averaged(discrepancy, sizes):
    """Truth values (runs, layers): the layers that are averaged rarely; ``sizes`` (1, layers)."""
    xp = namespace(discrepancy)
    order = xp.argsort(discrepancy, axis=-1)
    size, weight = (xp.take_along_axis(v, order, axis=-1) for v in (sizes + 0 * discrepancy, sizes * discrepancy))
    upto, share = (xp.cumsum(v, axis=-1) for v in (size, weight))
    chosen = share * upto[:, -1:] < share[:, -1:] * (upto[:, -1:] - upto)
    return xp.take_along_axis(chosen, xp.argsort(order, axis=-1), axis=-1)


def fedlama(eta_l=0.1, local_steps=1, period=2, participants=None) -> Algorithm:
    """FedLAMA (Lee et al. 2023; specification of FedLUAR, 8: medium confidence).

    ::

        x_k <- x_k - eta_l * g_k(x_k)                               local_steps times
        layers averaged often:   (x_k)_l <- x_l <- mean over sampled k of (x_k)_l     after every round
        layers averaged rarely:  the same                                             after every ``period`` rounds
                                 x_l stays, the clients keep (x_k)_l                  after the other rounds
        after every ``period`` rounds, with all layers averaged:
            d_l <- mean over sampled k of |x_k - x|_l^2 / (local steps since the last average * size_l)
            sorted by d, layer l is averaged rarely from now on if
                sum over l' <= l of d_l' * size_l' / sum of all  <  sum over l' > l of size_l' / sum of all

    The means have the weights of ``fedavg``. d_l has the x_k before the average and the new x; of equal d_l the layer that
    comes first is sorted first. The array ``own_model`` has the x_k before the average. At first every layer is averaged
    often. A client starts a round from the averaged layers of x, and from its own in the others. How many layers are
    averaged rarely follows the literature (medium confidence: where its two curves cross). ``participants`` are drawn
    uniformly without replacement and stay together for a ``period``; all clients of a new period start from x, so that
    absent clients hold nothing that counts. ``x`` holds every layer's last average. A participant receives and sends the
    layers that were averaged. ``period = 1``, or one layer, is FedAvg.

    Example:
        Clients agree on the second coordinate, which is thus averaged after every other round from the third on.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> pair = Quadratic([[[1.0, 1.0], [1.0, 1.0]]], [[[1.0, 1.0], [3.0, 1.0]]], layers=2)
        >>> data = run(fedlama(0.5), pair, 4, record=["x", "uplink_floats"]).dataset
        >>> data.uplink_floats.values[0, :, 0].tolist(), data.x.values[0, :, 1].tolist()
        ([2.0, 2.0, 1.0, 2.0], [0.0, 0.5, 0.75, 0.75, 0.9375])
    """
    sampling = EveryPriority() if participants is None else WithoutReplacement(participants, held=whole("period", period))
    return Algorithm(eta_l, local_steps, Selection(PriorityOnly(), sampling), upload=LayerIntervals(period), name="FedLAMA")


register(fedlama, "fedlama", "layers in which clients differ little are averaged less often", "Lee, Zhang, Avestimehr 2023",
         "fedluar/fedlama", translation=True, orthogonal="within layers", units={"eta_l": STEP},
         costs=Costs(down=None, up=None),
         reductions=(Reduction("fedavg", {"period": 1}), Reduction("fedavg", where={"dim": 1, "participants": None})),
         exempt={"number of participants": "clients stay together for a period, so some may not be drawn in 24 rounds",
             "identical clients": "then rounding errors decide which layers are averaged rarely"})
