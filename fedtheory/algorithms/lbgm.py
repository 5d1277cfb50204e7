"""LBGM (Azam et al. 2021): a client whose change is nearly parallel to its last full one sends a single number."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import UploadFilter
from fedtheory.traits import ISOTROPIC, ONE_LOSS, STEP, Costs, Law, Reduction
from synthetic.numbers.arrays import namespace

__all__ = ["LookBack", "lbgm"]


@dataclass(frozen=True)
class LookBack(UploadFilter):
    """Sends the change's projection on the client's look-back vector if the squared sine between them is at most
    ``threshold``; else the change, which becomes the look-back vector on both sides.

    Client and server hold the same look-back vectors, stored once. A client also sends one flag (a bit).
    """

    threshold: Any = rate(0.1, high=1)  #: number, (runs,) array or Schedule, at most 1
    whole = False

    def client_state(self, federation, x, draws):
        return {"look_back": 0 * federation.all_clients(x)}

    def send(self, change, local, context):
        xp, back = namespace(change), local.own["look_back"]
        inner, square, last = (xp.sum(v, axis=-1, keepdims=True) for v in (change * back, change**2, back**2))
        threshold = context.algorithm.now(self.threshold, context)
        near = (last > 0) & (square * last - inner**2 <= threshold * square * last)
        sent = xp.where(near, inner / xp.where(last > 0, last, 1) * back, change)
        floats = xp.where(near, xp.ones_like(last), change.shape[-1])[..., 0]
        return sent, floats, local.with_own(look_back=xp.where(near, back, change))

    def finish(self, local, context):
        return {"look_back": local.own["look_back"]}

    def extra_bits(self, context):
        return 0, 1

    def check(self, algorithm):
        if algorithm.upload is not self:
            raise ValueError("look-back vectors are whole changes, so LBGM's filter cannot be combined with another one")


def lbgm(eta_l=0.1, local_steps=1, eta_g=1.0, threshold=0.1, participants=None, sampling="without-replacement") -> Algorithm:
    """LBGM (Azam et al. 2021; specification of FedLUAR, 8: high confidence).

    ::

        d_k <- x_k - x                                        after local_steps steps x_k <- x_k - eta_l * g_k(x_k)
        if sin^2 of the angle between d_k and b_k <= threshold:
            client k sends rho_k = <d_k, b_k> / |b_k|^2,      the server uses rho_k * b_k
        else:
            client k sends d_k, and b_k <- d_k on both sides
        x_bar <- mean over sampled k of (x + what the server uses of k)              weights as in fedavg
        x     <- x + eta_g * (x_bar - x)

    A client that is drawn twice in a round sends once. Before a client's first upload b_k is zero, and it sends in full. A
    change of zero counts as parallel. ``threshold = 0`` is FedAvg (a number is sent only for parallel changes).

    Example:
        On 1/2 |x - (1, 1)|^2 all changes are parallel: two floats are sent in the first round, one in the others.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> data = run(lbgm(0.5), Quadratic([[[1.0, 1.0]]], [[[1.0, 1.0]]]), 3, record=["x", "uplink_floats"]).dataset
        >>> data.x.values[0, -1].tolist(), data.uplink_floats.values.ravel().tolist()
        ([0.875, 0.875], [2.0, 1.0, 1.0])
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), server=ServerStep(eta_g),
                     upload=LookBack(threshold), name="LBGM")


def projected(algorithm, federation, before, after):
    """Returns the inner product of the step and of its difference from a gradient step, which is zero on one loss with one
    local step, and zero."""
    used, step = after.x - before.x, -algorithm.eta_l * federation.objective_gradient(before.x)
    product = namespace(used).sum(used * (step - used), axis=-1)
    return product, 0 * product


register(lbgm, "lbgm", "FedAvg whose clients send one number where their change keeps its direction", "Azam et al. 2021",
         "fedluar/lbgm", **ISOTROPIC, units={"eta_l": STEP}, costs=Costs(up=None),
         reductions=(Reduction("fedavg", {"threshold": 0.0}),),
         laws=(Law("what is used is a projection of the change", projected, where=ONE_LOSS | {
             "local_steps": 1, "participants": None}),))
