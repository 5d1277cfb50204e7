"""FedMut (Hu et al. 2024): clients start from models scattered around the global one, along its last move."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.fields import rate, word
from fedtheory.layerwise import by_coordinate
from fedtheory.method import register, sampled
from fedtheory.parts import Correction
from fedtheory.traits import STEP, Costs, Reduction
from synthetic.numbers.arrays import namespace
from synthetic.numbers.draws import MUTATION

__all__ = ["Mutation", "fedmut"]


@dataclass(frozen=True)
class Mutation(Correction):
    """Participant i starts at ``x + alpha * v_i * (x - last x)`` with signs v_i by layer.

    In every layer half of the participants have +1 and half -1, at random; of an odd number one has 0, so that the signs
    sum to zero. Upload filters act on the change from this start, or from the ``broadcast`` model (``relative``).
    """

    alpha: Any = rate(0.5)  #: number, (runs,) array or Schedule
    relative: str = word("start", "broadcast")
    moves_start = True

    def server_state(self, federation, x, draws):
        return {"previous_model": x}

    def signs(self, context, participants: int):
        """The signs v_i, (runs, participants, layers)."""
        layers, numbers = context.draws.client_numbers(len(context.federation.layers())), context.numbers(participants)
        u = context.draws.uniform(MUTATION, context.round, numbers[..., None], layers[None], ndim=3)
        xp, active = namespace(u), context.active[..., None]
        half = xp.sum(xp.astype(active, xp.int64), axis=1, keepdims=True) // 2
        place = xp.argsort(xp.argsort(xp.where(active, u, 2.0), axis=1), axis=1)  # the inactive come last
        last = xp.sum(xp.astype(active, xp.int64), axis=1, keepdims=True) - half
        return context.federation.backend.array(xp.where(place < half, 1, xp.where((place >= last) & active, -1, 0)))

    def begin(self, local, context):
        signs = by_coordinate(self.signs(context, local.x.shape[1]), context.federation.layers())
        moved = context.state.x - context.state.server["previous_model"]
        start = local.x + context.algorithm.now(self.alpha, context) * signs * moved[:, None, :]
        return local._replace(x=start, own=local.own | ({"start": start} if self.relative == "start" else {}))

    def aggregate(self, average, upload, context):
        return average, {"previous_model": context.state.x}

    def check(self, algorithm):
        if algorithm.client.solves:
            raise ValueError("a solved local problem does not depend on its start, so mutated starts have no effect")


def fedmut(
    eta_l=0.1, local_steps=1, eta_g=1.0, alpha=0.5, relative="start", participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedMut (Hu et al. 2024; specification of FedLUAR, 8: medium confidence).

    ::

        x_i   <- x + alpha * v_i * (x - last x)               v_i: +-1 by layer, sum of v_i over the participants is zero
        x_i   <- x_i - eta_l * g_i(x_i)                       local_steps times
        x_bar <- mean over sampled i of x_i                   weights as in fedavg
        x     <- x + eta_g * (x_bar - x)

    ``last x`` is the model that clients received in the round before, x in the first round. In every layer half of the
    participants, drawn uniformly and anew, have +1 and half -1; of an odd number one has 0. A client that is drawn twice is
    one participant with one mutation. ``relative`` matters to upload filters (LUAR, quantisers) only: they act on the change
    from the mutated ``start`` or from the ``broadcast`` model. With equal weights their plain means agree. ``alpha = 0`` is
    FedAvg, as is the first round. The paper's beta, a strength of the mutation that changes over time, is left out: there
    the specification's confidence is low.

    Example:
        From 0, 1/2, where the last move was 1/2: the starts are 1/4 and 3/4, one step of 1/2 leads to 5/8 and 7/8.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> data = run(fedmut(0.5), Quadratic([[[1.0], [1.0]]], [[[1.0], [1.0]]]), 2, record=["x", "x_local"]).dataset
        >>> sorted(data.x_local.values[0, 1, :, 0].tolist()), data.x.values[0, 2, 0].item()
        ([0.25, 0.75], 0.75)
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=Mutation(alpha, relative),
                     server=ServerStep(eta_g), name="FedMut")


register(fedmut, "fedmut", "FedAvg from mutated models", "Hu et al. 2024", "fedluar/fedmut", translation=True,
         orthogonal="within layers", units={"eta_l": STEP}, random=True, costs=Costs(),
         reductions=(Reduction("fedavg", {"alpha": 0.0}), Reduction("fedavg", where={"rounds": 1})),
         exempt={"everything received is counted": "the server mutates the model before it sends it"},
         arguments={"alpha": "length of the mutation in units of the model's last move"})
