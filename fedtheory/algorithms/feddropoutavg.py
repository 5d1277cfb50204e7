"""FedDropoutAvg (Gunesli et al. 2021): parameters are dropped at random from every upload."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.chain import masked
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import UploadFilter
from fedtheory.traits import ONE_LOSS, STEP, Costs, Law, Reduction
from synthetic.numbers.arrays import namespace
from synthetic.numbers.draws import DROPOUT, LOST

__all__ = ["Dropped", "feddropoutavg"]


@dataclass(frozen=True)
class Dropped(UploadFilter):
    """Each coordinate of an upload is dropped with probability ``fdr``, a whole upload with probability ``cdr``; the
    server averages each coordinate's changes over those who sent it, with their weights divided by the senders' sum and
    multiplied by the sum of all weights of the round."""

    fdr: Any = rate(0.5, high=1)  #: number, (runs,) array or Schedule, at most 1
    cdr: Any = rate(0.0, high=1)
    whole = False

    def sent_coordinates(self, context, like):
        """Truth values shaped as ``like`` (runs, participants, dim): the coordinates that each participant sends."""
        numbers, now = context.numbers(like.shape[1]), context.algorithm.now
        dropped = context.draws.bernoulli(DROPOUT, now(self.fdr, context), context.round, numbers, like.shape[2])
        return ~(dropped | context.draws.bernoulli(LOST, now(self.cdr, context), context.round, numbers, 1))

    def send(self, change, local, context):
        return masked(change, self.sent_coordinates(context, change), local)

    def combine(self, sent, context):
        xp = namespace(sent)
        ones = xp.ones_like(sent)
        senders = context.weighted_sum(xp.where(self.sent_coordinates(context, sent), ones, 0))
        return context.weighted_sum(ones) * context.weighted_sum(sent) / xp.where(senders > 0, senders, 1)


def feddropoutavg(
    eta_l=0.1, local_steps=1, eta_g=1.0, fdr=0.5, cdr=0.0, participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedDropoutAvg (Gunesli et al. 2021; specification of FedLUAR, 8: medium confidence).

    ::

        x_k <- x_k - eta_l * g_k(x_k)                         local_steps times, from x_k = x
        client k sends each coordinate of x_k - x with probability 1 - fdr, and nothing at all with probability cdr
        d_j     <- sum of w_k (x_k - x)_j / sum of w_k, both over the sampled k that sent coordinate j; 0 if nobody did
        x_bar_j <- x_j + W * d_j                              w_k: weights of fedavg; W: sum over sampled k of w_k
        x       <- x + eta_g * (x_bar - x)

    W is 1 where the weights of a round sum to one (:func:`fedavg`). All draws are independent, also of those of other
    rounds. The literature also words ``cdr`` as a fixed share of clients that are left out; that is ``participants``. A
    client sends the floats that it keeps; which they are, both sides know from a common seed. ``fdr = cdr = 0`` is FedAvg.

    Example:
        With one client the coordinates that arrive move as in FedAvg, the others stay.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> one = Quadratic([[[1.0] * 8]], [[[1.0] * 8]])
        >>> sorted(set(run(feddropoutavg(0.5), one, 1).dataset.x.values[0, 1].tolist()))
        [0.0, 0.5]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), server=ServerStep(eta_g),
                     upload=Dropped(fdr, cdr), name="FedDropoutAvg")


def still_or_moved(algorithm, federation, before, after):
    """Returns the product of each coordinate's move and of its difference from a gradient step, and zero: on one loss, with
    one local step, a coordinate moves by 0 or by a gradient step."""
    moved = after.x - before.x
    return moved * (moved + algorithm.eta_l * federation.objective_gradient(before.x)), 0 * moved


register(feddropoutavg, "feddropoutavg", "FedAvg over uploads from which parameters are dropped at random",
         "Gunesli et al. 2021", "fedluar/feddropoutavg", translation=True, units={"eta_l": STEP}, random=True,
         costs=Costs(up=None), reductions=(Reduction("fedavg", {"fdr": 0.0}),),
         laws=(Law("what arrives moves as in FedAvg", still_or_moved, where=ONE_LOSS | {"local_steps": 1}),),
         exempt={"unbiased average": "a coordinate is averaged over those who sent it"})
