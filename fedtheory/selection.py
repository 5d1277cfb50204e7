"""Participation in a round and weights of the average: priority sampling, free clients, and loss matching.

A sampling scheme gives every client its weight in a round, ``shares``, and says what the server averages with these
weights, ``averaged``: ``changes``, ``x + sum of w_k (x_k - x)``, which is what a scheme averages that does not say it, or
``models``, ``sum of w_k x_k``. Where the weights of a round sum to one both are the same. Elsewhere an average of models
depends on the origin, and a minimiser is no fixed point of it.
"""

from collections.abc import Callable
from dataclasses import MISSING, dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.fields import check_fields, checked, rate, size, word
from fedtheory.schedules import Schedule, check_schedule, value_at
from synthetic.base.checks import flag, number, whole
from synthetic.numbers.arrays import namespace
from synthetic.numbers.draws import CLIENTS, FREE
from synthetic.numbers.rounds import each_round, now

__all__ = [
    "SCHEMES", "AllClients", "Always", "Bernoulli", "EveryPriority", "FractionOfBoth", "Independent", "LossMatching",
    "Participation", "Pattern", "PriorityOnly", "Selection", "WithReplacement", "WithoutReplacement",
    "scheme_of",
]


@dataclass(frozen=True)
class Participation:
    """The clients that count in a round, and their weights; arrays are (runs, clients).

    ``included`` are the indicators I_k (one on priority clients); ``virtual_weight`` is ``p_k I_k / (1 + S)`` with
    ``S = sum over free k of p_k I_k``, the weight of the virtual average; ``weight`` is what the aggregation uses,
    equal to it under full participation of the priority clients. ``nobody`` (runs | 1, 1) says in which runs no client
    takes part, so that the round changes nothing; None where that cannot be. ``everyone``: whether it is known that all
    clients count. ``fixed``: what follows from it (:class:`fedtheory.round_context.Fixed`) where it is that of all rounds.
    """

    included: Any
    virtual_weight: Any
    weight: Any
    nobody: Any = None
    everyone: bool = False
    fixed: Any = None


def chance(name: str, value) -> None:
    """Raises ValueError unless ``value`` is a number or a (runs,) array above 0 and at most 1."""
    if isinstance(value, Schedule):
        raise ValueError(f"{name} must be a number or a (runs,) array; got {value!r}")
    check_schedule(name, value, strict=True, high=1)


# sampling of priority clients ------------------------------------------------------------------------------------------
class EveryPriority:
    """Full participation of the priority clients."""

    averaged = "models"

    def shares(self, federation, draws, round):
        """Weight of each client in place of p_k on the priority clients, (runs | instances, clients)."""
        return federation.weights * federation.priority


@dataclass(frozen=True)
class WithReplacement:
    """Scheme I of Li et al. 2020: ``participants`` independent draws of priority client k with probability p_k."""

    participants: int = size()
    averaged = "models"

    def __post_init__(self):
        check_fields(self)

    def shares(self, federation, draws, round):
        p = federation.weights * federation.priority
        xp = namespace(p)
        cumulative = xp.cumsum(p.astype(float) if p.dtype == object else p, axis=-1)[:, None, :]
        cumulative = cumulative / cumulative[..., -1:]  # the last entry must be 1, whatever the rounding
        drawn = draws.category(CLIENTS, cumulative, round, draws.client_numbers(self.participants))
        counts = xp.sum(xp.astype(drawn[..., None] == draws.client_numbers(federation.clients), xp.int64), axis=1)
        return (p * 0 + 1) * counts / self.participants


@dataclass(frozen=True)
class WithoutReplacement:
    """``participants`` distinct priority clients, uniformly, each weighted ``p_k |P| / participants`` (with equal weights:
    the plain mean of those drawn). Those drawn stay for ``held`` rounds.

    With unequal p_k the weights of a round do not sum to one. ``averaged``: what the server averages with them. ``models``
    is scheme II of Li et al. 2020, which scales the model by the sum of the weights in every round.
    """

    participants: int = size()
    held: int = size(1)
    averaged: str = word("changes", "models")

    def __post_init__(self):
        check_fields(self)

    def shares(self, federation, draws, round):
        p, population = federation.weights * federation.priority, federation.priority_clients
        if self.participants > population:
            raise ValueError(f"participants must be between 1 and {population}; got {self.participants}")
        drawn = draw_from(federation.priority, population, self.participants, draws, CLIENTS, round // self.held)
        return p * drawn * population / self.participants


@dataclass(frozen=True)
class Independent:
    """Each priority client takes part with ``probability``, independently of the others and of other rounds.

    ``probability`` is a number above 0 and at most 1, or one for each run (runs,); or it is ``participants``, the expected
    number of those that take part, over the number of priority clients.

    ``divisor``: ``present``, those that take part are averaged with their p_k over the sum of these, and a round in which
    nobody takes part changes nothing. ``expected``, the changes of those that take part are added up with p_k over the
    probability (with equal weights: their sum over the expected number), which is unbiased; where nobody takes part the
    average change is zero, and the server goes on.
    """

    probability: Any = None
    participants: int | None = None
    divisor: str = word("present", "expected")

    def __post_init__(self):
        check_fields(self)
        if (self.probability is None) == (self.participants is None):
            raise ValueError("independent sampling needs either the probability or the expected number of participants; got "
                             f"probability={self.probability!r}, participants={self.participants!r}")
        chance("probability", 1 if self.probability is None else self.probability)
        whole("participants", 1 if self.participants is None else self.participants, 1)

    def chance(self, federation):
        """The probability with which each priority client takes part, a number or (runs,)."""
        if self.participants is None:
            return self.probability
        population = federation.priority_clients
        if self.participants > population:
            raise ValueError(f"participants must be between 1 and {population}; got {self.participants}")
        exact = federation.weights.dtype == object
        return Fraction(self.participants, population) if exact else self.participants / population

    def shares(self, federation, draws, round):
        xp, p, numbers = namespace(federation.weights), federation.weights, draws.client_numbers(federation.clients)
        chance = self.chance(federation)
        chance = chance if not hasattr(chance, "shape") else chance.reshape(-1, 1, 1)
        taking = draws.bernoulli(CLIENTS, chance, round, numbers, 1)[..., 0] & federation.priority
        p = p * xp.where(taking, 0 * p + 1, 0 * p)
        if self.divisor == "expected":
            return p / (chance if not hasattr(chance, "shape") else chance[..., 0])
        total = xp.sum(p, axis=-1, keepdims=True)
        return p / xp.where(total > 0, total, 0 * total + 1)


@dataclass(frozen=True)
class FractionOfBoth:
    """A uniformly random ``fraction`` of the priority clients, and of the free clients (FedALIGN, Appendix C.3).

    At least one priority client is drawn. The paper does not say how weights are then normalised: ``normalisation``
    ``participants`` divides p_k by the drawn priority clients' sum; ``unbiased`` multiplies it by |P| / drawn.
    Give the same object as ``sampling`` and as ``free``.
    """

    fraction: float = checked(MISSING, partial(number, high=1.0, strict=True))
    normalisation: str = word("participants", "unbiased")

    def __post_init__(self):
        check_fields(self)

    def shares(self, federation, draws, round):
        population = federation.priority_clients
        count = max(1, int(self.fraction * population + 0.5))
        p = federation.weights * federation.priority
        p = p * draw_from(federation.priority, population, count, draws, CLIENTS, round)
        if self.normalisation == "unbiased":
            return p * population / count
        return p / namespace(p).sum(p, axis=-1, keepdims=True)

    def available(self, federation, draws, round):
        free = federation.clients - federation.priority_clients
        count = int(self.fraction * free + 0.5)
        if count == 0:
            return namespace(federation.priority).zeros_like(federation.priority)
        return draw_from(~federation.priority, free, count, draws, FREE, round)


def draw_from(member, population: int, count: int, draws, stream: int, round: int):
    """Truth values (runs, clients): ``count`` distinct of the ``population`` members, uniformly."""
    xp = namespace(member)
    drawn = draws.subset(stream, round, population, count)
    rank = xp.cumsum(xp.astype(member, xp.int64), axis=-1) - 1
    return xp.any(drawn[:, :, None] == rank[:, None, :], axis=1) & member


#: the schemes by name, as functions of the number of participants; verify/claims/method.py has the same names
SCHEMES: dict[str, Callable[[Any], Any]] = {
    "without-replacement": WithoutReplacement,
    "with-replacement": WithReplacement,
    "bernoulli": lambda participants: Independent(participants=participants),
    "bernoulli-expected": lambda participants: Independent(participants=participants, divisor="expected"),
    "li2020-scheme-2": lambda participants: WithoutReplacement(participants, averaged="models"),
}


def scheme_of(sampling) -> str:
    """The name of a sampling scheme: ``full``, a name of :data:`SCHEMES`, or else its class."""
    own = type(sampling), getattr(sampling, "averaged", ""), getattr(sampling, "divisor", "")
    named = ((name, made(1)) for name, made in SCHEMES.items())
    same = (name for name, one in named if own == (type(one), getattr(one, "averaged", ""), getattr(one, "divisor", "")))
    return "full" if isinstance(sampling, EveryPriority) else next(same, type(sampling).__name__)


# participation of free clients -----------------------------------------------------------------------------------------
class Always:
    """Every free client is available in every round."""

    def available(self, federation, draws, round):
        return namespace(federation.priority).ones_like(federation.priority)


@dataclass(frozen=True)
class Bernoulli:
    """Each free client is available with ``probability`` independently in each round."""

    probability: float = checked(MISSING, partial(number, high=1.0))

    def __post_init__(self):
        check_fields(self)

    def available(self, federation, draws, round):
        return draws.uniform(FREE, round, draws.client_numbers(federation.clients), ndim=2) < self.probability


@dataclass(frozen=True)
class Pattern:
    """Availability fixed beforehand: truth values ``table[..., round, client]``, (rounds, clients) or (runs, ...).

    The last row holds on after its round.
    """

    table: Any

    def __post_init__(self):
        if not hasattr(self.table, "shape"):
            object.__setattr__(self, "table", np.asarray(self.table))
        if self.table.ndim not in (2, 3) or 0 in self.table.shape:
            raise ValueError("a pattern must be (rounds, clients) or (runs, rounds, clients), not empty; got shape "
                             f"{tuple(self.table.shape)}")

    def available(self, federation, draws, round):
        if self.table.shape[-1] != federation.clients:
            raise ValueError(f"a pattern must have {federation.clients} clients; got {self.table.shape[-1]}")
        return federation.backend.booleans(now(each_round(self._row, round)))

    def _row(self, round):
        return self.table[..., min(round, self.table.shape[-2] - 1), :].reshape(-1, self.table.shape[-1])


# matching ----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Matching:
    """A rule that decides which available free clients count, after the first ``warmup`` rounds."""

    indicator = "broadcast"
    warmup = 0

    def __post_init__(self):
        check_fields(self)

    def matches(self, federation, x, round, iteration):
        """Truth values (runs | 1, clients): which clients match at the models ``x`` (runs, clients, dim)."""
        raise NotImplementedError

    def willing(self, federation, x, round, iteration):
        """Truth values: the clients that would take part at ``x``, which match unless the client has a rule of its own."""
        return self.matches(federation, x, round, iteration)


class PriorityOnly(Matching):
    """No free client counts: the baseline on the priority clients, and plain FedAvg where all are priority."""

    def matches(self, federation, x, round, iteration):
        return namespace(federation.priority).zeros_like(federation.priority)


@dataclass(frozen=True)
class AllClients(Matching):
    """Every free client counts from round ``warmup`` on: the baseline that ignores who has priority."""

    warmup: int = size(0, low=0)

    def matches(self, federation, x, round, iteration):
        return namespace(federation.priority).ones_like(federation.priority)


@dataclass(frozen=True)
class LossMatching(Matching):
    """FedALIGN: free client k counts iff ``|F_k(w) - F(w)| < epsilon``, from round ``warmup`` on.

    Args:
        epsilon: threshold, a number or a schedule (by iteration or by round); units of the loss.
        warmup: rounds in which no free client counts.
        strict: ``<`` (the printed definition); False means ``<=`` (the printed prose).
        indicator: where the losses are compared. ``broadcast``: at the round's broadcast model, once.
            ``local-at-aggregation``: each client's own model just before it is aggregated.
            ``local-every-step``: each client's own model at every local iteration, of which the last decides.
    """

    epsilon: Any = rate(0.0, infinite=True)
    warmup: int = size(0, low=0)
    strict: bool = checked(True, flag)
    indicator: str = word("broadcast", "local-at-aggregation", "local-every-step")

    def threshold(self, x, federation, round, iteration):
        """epsilon at a time, shaped to compare with (runs, clients)."""
        epsilon = value_at(self.epsilon, federation.backend, iteration, round, x.shape[0])
        return epsilon[:, None] if getattr(epsilon, "ndim", 0) == 1 else epsilon

    def gap(self, federation, x):
        """F_k - F at ``x`` (runs, clients, dim), each client's model compared with F at the same point."""
        xp = namespace(x)
        own = federation.value(x)
        p = federation.weights * federation.priority
        columns = [federation.objective(x[:, k]) for k in range(x.shape[1])] if self.indicator != "broadcast" else None
        common = xp.sum(p * own, axis=-1, keepdims=True) if columns is None else xp.stack(columns, axis=-1)
        return own - common

    def matches(self, federation, x, round, iteration):
        gap, epsilon = namespace(x).abs(self.gap(federation, x)), self.threshold(x, federation, round, iteration)
        return gap < epsilon if self.strict else gap <= epsilon

    def willing(self, federation, x, round, iteration):
        """Free clients that would take part: ``F_k <= F + epsilon`` (one-sided, decided by the client)."""
        return self.gap(federation, x) <= self.threshold(x, federation, round, iteration)


# all together ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Selection:
    """Priority sampling x availability of free clients x matching."""

    matching: Matching = field(default_factory=PriorityOnly)
    sampling: Any = field(default_factory=EveryPriority)
    free: Any = field(default_factory=Always)

    def __post_init__(self):
        if isinstance(self.sampling, Independent) and not isinstance(self.matching, PriorityOnly):
            raise ValueError("independent sampling of priority clients, under which nobody may take part, is without "
                             f"free clients; got the matching {type(self.matching).__name__}, allowed: PriorityOnly")

    def participate(self, federation, x, draws, round: int, iteration: int, aggregated: int | None = None) -> Participation:
        """Decide on the models ``x`` (runs, clients, dim) at local iteration ``iteration``, the start of ``round``.

        The weights are those of the aggregation that ends round ``aggregated``: the same round, or the one before where
        the indicator looks at the models that are just to be averaged.
        """
        if self.fixed:
            shares = self.sampling.shares(federation, draws, round)
            return Participation(federation.priority, shares, shares, None)
        xp, aggregated = namespace(x), round if aggregated is None else aggregated
        available = self.free.available(federation, draws, round)
        chosen = self.matching.matches(federation, x, round, iteration) & available & (aggregated >= self.matching.warmup)
        included = xp.where(federation.priority, xp.ones_like(chosen), chosen)
        p = federation.weights
        free = p * (included & ~federation.priority)
        total = 1 + xp.sum(free, axis=-1, keepdims=True)
        virtual = p * included / total
        weight = (self.sampling.shares(federation, draws, aggregated) + free) / total
        idle = isinstance(self.sampling, Independent) and self.sampling.divisor == "present"
        nobody = ~xp.any(weight != 0, axis=-1)[:, None] if idle else None
        return Participation(included, virtual, weight, nobody)

    @property
    def averaged(self) -> str:
        """The quantities that the server averages with the weights of a round: ``models``, or ``changes`` of the broadcast
        model."""
        own = type(self).participate is Selection.participate
        return getattr(self.sampling, "averaged", "changes") if own else "changes"

    @property
    def fixed(self) -> bool:
        """Whether every round has the same participation, whatever the models."""
        own = type(self).participate is Selection.participate
        return own and type(self.sampling) is EveryPriority and type(self.matching) is PriorityOnly

    def fixed_on(self, federation) -> bool:
        """Whether every round on this federation has the same participation: ``fixed``, or all clients are drawn."""
        if self.fixed or type(self).participate is not Selection.participate or type(self.matching) is not PriorityOnly:
            return self.fixed
        if type(self.sampling) is WithReplacement:
            return federation.priority_clients == 1
        return type(self.sampling) is WithoutReplacement and self.sampling.participants == federation.priority_clients

    def weights(self, federation):
        """p_k of the clients that may ever count, zero for the others, (instances, clients)."""
        p = federation.weights
        return p * federation.priority if isinstance(self.matching, PriorityOnly) else p

    def possible_participants(self, federation, draws, round: int):
        """The numbers (runs, participants), ascending, of the clients that can affect a round; None if all can."""
        subsets = isinstance(self.sampling, WithoutReplacement) and isinstance(self.matching, PriorityOnly)
        if not subsets or federation.priority_clients < federation.clients:
            return None
        drawn = draws.subset(CLIENTS, round // self.sampling.held, federation.clients, self.sampling.participants)
        return namespace(drawn).sort(drawn, axis=-1)

    def trains(self, context):
        """Truth values (runs | 1, clients): which clients take the local steps of a round.

        The priority clients drawn, and the free clients that are available and willing, whether or not they then count.
        """
        federation, draws, round = context.federation, context.draws, context.round
        x = federation.all_clients(context.x)
        willing = self.matching.willing(federation, x, round, context.iteration) & (round >= self.matching.warmup)
        drawn = self.sampling.shares(federation, draws, round) > 0
        return namespace(x).where(federation.priority, drawn, willing & self.free.available(federation, draws, round))

    def floats(self, context, participation: Participation):
        """Floats (down to, up from) each client in a round, (runs | 1, clients).

        Loss matching (FedALIGN, 3.1): a priority client gets the model and returns its loss, and its own model if it
        trains; a free client gets the model and the objective's value, and returns model and loss if it is willing.
        Otherwise: one model each way for the clients that train.
        """
        federation, trains = context.federation, self.trains(context)
        one = federation.weights * 0 + 1
        model = one * federation.dim * trains
        if not isinstance(self.matching, LossMatching):
            return model, model
        there = self.free.available(federation, context.draws, context.round)
        xp = namespace(one)
        down = xp.where(federation.priority, one * federation.dim, one * (federation.dim + 1) * there)
        return down, model + one * (federation.priority | trains)
