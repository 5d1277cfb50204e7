"""Who takes part in a round and with which weight: priority sampling, free clients, and loss matching."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from fedtheory.schedules import Schedule, as_schedule
from synthetic.arrays import namespace
from synthetic.draws import CLIENTS, FREE

__all__ = [
    "AllClients", "Always", "Bernoulli", "EveryPriority", "LossMatching", "Participation", "Pattern", "PriorityOnly",
    "Selection", "WithReplacement", "WithoutReplacement",
]


@dataclass(frozen=True)
class Participation:
    """Who counts in a round; arrays are (runs, clients).

    ``included`` are the indicators I_k (one on priority clients); ``virtual_weight`` is ``p_k I_k / (1 + S)`` with
    ``S = sum over free k of p_k I_k``, the weight of the virtual average; ``weight`` is what the aggregation uses,
    equal to it under full participation of the priority clients. ``clients`` (runs, participants) numbers the clients
    that compute, None for all of them; then the weights are gathered with it.
    """

    included: Any
    virtual_weight: Any
    weight: Any
    clients: Any = None


# sampling of priority clients ------------------------------------------------------------------------------------------
class EveryPriority:
    """Full participation of the priority clients."""

    def shares(self, federation, draws, round):
        """Weight of each client in place of p_k on the priority clients, (runs | instances, clients)."""
        return federation.weights * federation.priority


@dataclass(frozen=True)
class WithReplacement:
    """Scheme I of Li et al. 2020: ``participants`` independent draws of priority client k with probability p_k."""

    participants: int

    def __post_init__(self):
        if self.participants < 1:
            raise ValueError(f"participants must be at least 1; got {self.participants}")

    def shares(self, federation, draws, round):
        p = federation.weights * federation.priority
        xp = namespace(p)
        cumulative = xp.cumsum(p.astype(float) if p.dtype == object else p, axis=-1)[:, None, :]
        drawn = draws.category(CLIENTS, cumulative, round, draws.client_numbers(self.participants))
        counts = xp.sum(xp.astype(drawn[..., None] == draws.client_numbers(federation.clients), xp.int64), axis=1)
        return (p * 0 + 1) * counts / self.participants


@dataclass(frozen=True)
class WithoutReplacement:
    """Scheme II of Li et al. 2020: ``participants`` distinct priority clients, uniformly, each weighted
    ``p_k |P| / participants`` (with equal weights: the plain mean of those drawn)."""

    participants: int

    def shares(self, federation, draws, round):
        p = federation.weights * federation.priority
        xp = namespace(p)
        population = int(xp.max(xp.sum(xp.astype(federation.priority, xp.int64), axis=-1)))
        if not 1 <= self.participants <= population:
            raise ValueError(f"participants must be between 1 and {population}; got {self.participants}")
        drawn = draws.subset(CLIENTS, round, population, self.participants)
        rank = xp.cumsum(xp.astype(federation.priority, xp.int64), axis=-1) - 1  # number among the priority clients
        chosen = xp.any(drawn[:, :, None] == rank[:, None, :], axis=1) & federation.priority
        return p * chosen * population / self.participants


# participation of free clients -----------------------------------------------------------------------------------------
class Always:
    """Every free client is available in every round."""

    def available(self, federation, draws, round):
        return namespace(federation.priority).ones_like(federation.priority)


@dataclass(frozen=True)
class Bernoulli:
    """Each free client is available with ``probability`` independently in each round."""

    probability: float

    def available(self, federation, draws, round):
        return draws.uniform(FREE, round, draws.client_numbers(federation.clients), ndim=2) < self.probability


@dataclass(frozen=True)
class Pattern:
    """Availability fixed beforehand: truth values ``table[..., round, client]``, (rounds, clients) or (runs, ...).

    The last row holds on after its round.
    """

    table: Any

    def available(self, federation, draws, round):
        row = self.table[..., min(round, self.table.shape[-2] - 1), :]
        return row if row.ndim == 2 else row[None, :]


# matching ----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Matching:
    """Which available free clients count."""

    indicator = "broadcast"

    def matches(self, federation, x, round, iteration):
        raise NotImplementedError


class PriorityOnly(Matching):
    """No free client counts: the baseline on the priority clients, and plain FedAvg where all are priority."""

    def matches(self, federation, x, round, iteration):
        return namespace(federation.priority).zeros_like(federation.priority)


class AllClients(Matching):
    """Every free client counts: the baseline that ignores who has priority."""

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
            ``local-every-step``: each client's own model at every local iteration.
    """

    epsilon: Any = 0.0
    warmup: int = 0
    strict: bool = True
    indicator: str = "broadcast"

    def __post_init__(self):
        allowed = ("broadcast", "local-at-aggregation", "local-every-step")
        if self.indicator not in allowed:
            raise ValueError(f"unknown indicator {self.indicator!r}; allowed: {', '.join(allowed)}")
        if self.warmup < 0:
            raise ValueError(f"warmup must be at least 0 rounds; got {self.warmup}")
        if isinstance(self.epsilon, (int, float)) and not self.epsilon >= 0:
            raise ValueError(f"epsilon must be at least 0; got {self.epsilon}")

    @property
    def _epsilon(self) -> Schedule:
        return as_schedule(self.epsilon)

    def threshold(self, round, iteration):
        epsilon = self._epsilon(iteration, round)
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
        gap, epsilon = namespace(x).abs(self.gap(federation, x)), self.threshold(round, iteration)
        matched = gap < epsilon if self.strict else gap <= epsilon
        return matched if round >= self.warmup else namespace(matched).zeros_like(matched)

    def willing(self, federation, x, round, iteration):
        """Free clients that would take part: ``F_k <= F + epsilon`` (one-sided, decided by the client)."""
        return self.gap(federation, x) <= self.threshold(round, iteration)


# all together ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Selection:
    """Priority sampling x availability of free clients x matching."""

    matching: Matching = field(default_factory=PriorityOnly)
    sampling: Any = field(default_factory=EveryPriority)
    free: Any = field(default_factory=Always)

    def participate(self, federation, x, draws, round: int, iteration: int) -> Participation:
        """Decide on the models ``x`` (runs, clients, dim); selection sees no noise of the coming round."""
        xp = namespace(x)
        available = self.free.available(federation, draws, round)
        chosen = self.matching.matches(federation, x, round, iteration) & available
        included = xp.where(federation.priority, xp.ones_like(chosen), chosen)
        p = federation.weights
        free = p * (included & ~federation.priority)
        total = 1 + xp.sum(free, axis=-1, keepdims=True)
        virtual = p * included / total
        weight = (self.sampling.shares(federation, draws, round) + free) / total
        return Participation(included, virtual, weight)

    def gathered(self, participation: Participation, participants: int) -> Participation:
        """The same participation with only the clients of positive weight computing, where those are few."""
        xp = namespace(participation.weight)
        order = xp.argsort(-participation.weight, axis=-1)[:, :participants]
        take = xp.take_along_axis
        return replace(participation, weight=take(participation.weight, order, axis=-1), clients=order)
