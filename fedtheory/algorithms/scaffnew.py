"""Scaffnew (Mishchenko et al. 2022), ProxSkip for federated learning: a coin decides which rounds communicate."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.control_variates import given_start
from fedtheory.fields import check_fields, rate, word
from fedtheory.method import register, sampled
from fedtheory.parts import Correction
from fedtheory.round_context import mean_over_clients
from fedtheory.selection import EveryPriority, PriorityOnly
from fedtheory.traits import ISOTROPIC, ONE_CLIENT, STEP, Costs, FixedPoint, Law, Reduction, Tilt
from synthetic.numbers.arrays import namespace
from synthetic.numbers.draws import COMMUNICATION

__all__ = ["Scaffnew", "Shifts", "scaffnew"]


@dataclass(frozen=True)
class Shifts(Correction):
    """``g - h_k``, with shifts h_k of the clients whose mean is zero.

    ``start``: ``zero``; or ``free``, ``client_variate`` ([runs,] clients, dim) minus their mean, with the weights p_k.
    """

    start: str = word("zero", "free")
    client_variate: Any = None

    def __post_init__(self):
        check_fields(self)
        if self.client_variate is not None and self.start != "free":
            raise ValueError(f"client_variate is given, so start must be 'free'; got {self.start!r}")

    def client_state(self, federation, x, draws):
        given = given_start("client_variate", self.client_variate, 0 * federation.all_clients(x))
        return {"variate": given - mean_over_clients(federation, given)[:, None]}

    def shift(self, local, context):
        return -local.own["variate"]


@dataclass(frozen=True)
class Scaffnew(Algorithm):
    """Clients that keep their models in rounds that do not communicate."""

    communication: Any = rate(0.5, strict=True, high=1)  #: number, (runs,) array or Schedule, at most 1

    def __post_init__(self):
        super().__post_init__()
        check_fields(self)
        if not isinstance(self.selection.sampling, EveryPriority) or not isinstance(self.selection.matching, PriorityOnly):
            raise ValueError("Scaffnew is defined for rounds in which all clients take part; got "
                             f"{type(self.selection.sampling).__name__}")
        if not self.upload.whole:
            raise ValueError(f"clients of Scaffnew send whole models; got {type(self.upload).__name__}")

    def init(self, federation, x, draws=None):
        state = super().init(federation, x, draws)
        return state._replace(clients=state.clients | {"model": federation.all_clients(x)})

    def client_models(self, state, x, federation):
        return state.clients["model"]

    def communicates(self, context):
        """Whether the round communicates, truth values (runs, 1)."""
        chance, numbers = self.now(self.communication, context), context.draws.client_numbers(1)
        return context.draws.bernoulli(COMMUNICATION, chance, context.round, numbers, 1)[..., 0]

    def server_step(self, upload, context):
        mean = context.average(upload.model)
        told, where = self.communicates(context)[..., None], namespace(mean).where
        missed = (mean[:, None] - upload.model) * self.now(self.communication, context) / self.round_length(context)
        variate = context.state.clients["variate"]
        return context.state._replace(x=mean, clients=context.state.clients | {
            "model": where(told, mean[:, None] + 0 * upload.model, upload.model),
            "variate": where(told, variate + missed, variate)})

    def floats(self, context, upload):
        told = self.communicates(context)
        return tuple(namespace(part).where(told, part, 0 * part) for part in super().floats(context, upload))


def scaffnew(eta_l=0.1, local_steps=1, communication=0.5, start="zero", client_variate=None) -> Scaffnew:
    """Scaffnew (Mishchenko et al. 2022, Algorithm 2), the federated ProxSkip.

    ::

        x_k <- x_k - eta_l * (g_k(x_k) - h_k)                     local_steps times, from its x_k of the round before
        with probability communication, the same for all clients:
            x_bar <- mean over all k of x_k
            h_k   <- h_k + communication / (local_steps * eta_l) * (x_bar - x_k)
            x_k   <- x_bar
        x <- mean over all k of x_k

    Algorithm 2 has one local step between two coins; with more, as here, ``communication = 1`` is SCAFFOLD with all clients
    and ``eta_g = 1``, where h_k is its c_k - c. With a schedule the sum of the round's steps stands for local_steps * eta_l.
    All x_k begin at the start. ``start``: ``zero``, all h_k zero; ``free``, h_k = ``client_variate`` ([runs,] clients, dim)
    minus their mean. The mean of the h_k stays zero. x is the mean of the clients' models in every round; clients receive it
    only in those that communicate. The x_k are ``state.clients["model"]``, the h_k ``state.clients["variate"]``.

    Example:
        On 1/2 (x - 1)^2 and 2 (x + 1)^2, whose mean is smallest at -3/5, however seldom clients communicate.

        >>> from fedtheory import run
        >>> from synthetic import make_problem
        >>> found = run(scaffnew(0.2, communication=0.3), make_problem("quadratic-1d-pair"), 400)
        >>> round(found.dataset.x.values[0, -1, 0].item(), 6)
        -0.6
    """
    return Scaffnew(eta_l, local_steps, sampled(), correction=Shifts(start, client_variate), communication=communication,
                    name="Scaffnew")


def settled(federation, x):
    """Models and shifts at a minimiser ``x`` (runs, dim): x, and every client's gradient."""
    models = federation.all_clients(x)
    return {}, {"model": models, "variate": federation.gradient(models)}


def shifts_cancel(algorithm, federation, before, after):
    """The mean of the h_k, and zero."""
    mean = mean_over_clients(federation, after.clients["variate"])
    return mean, 0 * mean


register(scaffnew, "scaffnew", "control variates; a coin decides which rounds communicate", "Mishchenko et al. 2022",
         **ISOTROPIC, units={"eta_l": STEP}, tilt=Tilt({"variate": 1.0}), fixed_point=FixedPoint(settled), random=True,
         laws=(Law("the h_k cancel", shifts_cancel, where={"free": 0}),), costs=Costs(None, None, kept=2),
         reductions=(Reduction("scaffold", {"communication": 1.0}, {"eta_g": 1.0}),
                     Reduction("fedavg", where=ONE_CLIENT)))
