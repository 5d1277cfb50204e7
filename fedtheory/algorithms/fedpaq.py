"""FedPAQ (Reisizadeh et al. 2020): clients send their changes in low precision."""

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.chain import masked
from fedtheory.fields import word
from fedtheory.layerwise import by_coordinate, layer_norms
from fedtheory.method import register, sampled
from fedtheory.parts import UploadFilter
from fedtheory.traits import STEP, Costs, Reduction
from synthetic.base.checks import whole
from synthetic.numbers.arrays import namespace
from synthetic.numbers.draws import QUANTISER

__all__ = ["Quantised", "fedpaq"]


@dataclass(frozen=True)
class Quantised(UploadFilter):
    """QSGD: ``|v| sign(v_j) z_j``, where z_j is ``|v_j| / |v|`` rounded at random to one of its two neighbours among the
    multiples of ``1 / levels``, without bias.

    ``bits`` per coordinate: one for the sign, the rest for 0 .. levels, so ``levels = 2^(bits - 1) - 1`` unless given.
    ``scope``: v is a layer's change (per-layer) or all of it (whole-vector). ``quantiser`` identity sends everything as it
    is. The norms are not among the floats, as in the papers' costs, but among the bits (32 each).
    """

    bits: int = 8
    levels: int | None = None
    scope: str = word("per-layer", "whole-vector")
    quantiser: str = word("qsgd", "identity")
    whole = False

    def __post_init__(self):
        super().__post_init__()
        if self.levels is None:
            object.__setattr__(self, "levels", 2 ** (whole("bits", self.bits, 2, 32) - 1) - 1)
        object.__setattr__(self, "bits", 1 + whole("levels", self.levels).bit_length())

    def _blocks(self, federation):
        return federation.layers() if self.scope == "per-layer" else (slice(0, federation.dim),)

    def send(self, change, local, context):
        xp, blocks = namespace(change), self._blocks(context.federation)
        present, floats, local = masked(change, xp.ones_like(change[:1, :1]) > 0, local)
        if self.quantiser == "identity":
            return change, floats, local
        norm = by_coordinate(layer_norms(present, blocks), blocks)
        place = self.levels * xp.abs(change) / xp.where(norm > 0, norm, 1)
        low = xp.floor(place)
        numbers = context.numbers(change.shape[1])
        up = context.draws.bernoulli(QUANTISER, place - low, context.round, numbers, change.shape[2])
        size = norm * xp.where(up, low + 1, low) / self.levels
        return xp.where(change < 0, -size, size), floats * self.bits / 32, local

    def extra_bits(self, context):
        if self.quantiser == "identity":
            return 0, 0
        recycled = context.state.server.get("recycle_set")
        if self.scope == "whole-vector" or recycled is None:
            return 0, 32 * len(self._blocks(context.federation))
        xp = namespace(recycled)
        return 0, 32 * xp.sum(xp.astype(~recycled, xp.int64), axis=-1)[:, None]


def fedpaq(
    eta_l=0.1, local_steps=1, eta_g=1.0, bits=8, levels=None, scope="per-layer", quantiser="qsgd", participants=None,
    sampling="without-replacement",
) -> Algorithm:
    """FedPAQ (Reisizadeh et al. 2020) with the QSGD quantiser Q (specification of FedLUAR, 8: high confidence).

    ::

        x_k <- x_k - eta_l * g_k(x_k)                        local_steps times, from x_k = x
        x_bar <- mean over sampled k of (x + Q(x_k - x))     weights as in fedavg
        x     <- x + eta_g * (x_bar - x)

        Q(v)_j = |v| * sign(v_j) * z_j,    z_j = (floor(u_j) + (1 with probability u_j - floor(u_j), else 0)) / levels
                                           with u_j = levels * |v_j| / |v|, and Q(0) = 0

    Q acts on each layer by itself, |v| being the layer's norm, or with ``scope`` whole-vector on all of x_k - x; roundings
    are independent, and a client that is drawn twice in a round rounds and sends once. ``levels`` is ``2^(bits - 1) - 1``
    unless given. Q is unbiased with ``E|Q(v) - v|^2 <= min(dim / levels^2, sqrt(dim) / levels) |v|^2``. A client sends
    ``bits / 32`` floats per coordinate, and the norms of its layers. ``quantiser``: ``qsgd``, the Q above; ``identity``,
    Q(v) = v, which is FedAvg.

    Example:
        With one level the change (3/5, 0) of length 3/5 is sent exactly: each z_j is 0 or 1.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> made = fedpaq(0.5, levels=1)
        >>> run(made, Quadratic([[[1.0, 1.0]]], [[[1.2, 0.0]]]), 1).dataset.x.values[0].tolist()
        [[0.0, 0.0], [0.6, 0.0]]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), server=ServerStep(eta_g),
                     upload=Quantised(bits, levels, scope, quantiser), name="FedPAQ")


register(fedpaq, "fedpaq", "FedAvg with quantised changes", "Reisizadeh et al. 2020", "fedluar/fedpaq", translation=True,
         units={"eta_l": STEP}, random=True, costs=Costs(up=8 / 32),
         reductions=(Reduction("fedavg", {"quantiser": "identity"}),))
