"""The state of a run, and the structures that the functions of a round exchange."""

from typing import Any, NamedTuple, Self

from synthetic.base.display import brief
from synthetic.numbers.arrays import all_true, namespace, take_clients, waits
from synthetic.numbers.draws import Draws

__all__ = ["ClientState", "Fixed", "RoundContext", "State", "Upload"]


class State(NamedTuple):
    """The state between rounds: the server's model ``x`` (runs, dim), the arrays of the server (runs, ...) and of the
    clients (runs, clients, ...) by name, and the last round's participation if the selection depends on it."""

    x: Any
    server: dict = {}
    clients: dict = {}
    participation: Any = None

    def __repr__(self) -> str:
        kept = ", ".join(f"{name}={brief(array)}" for name, array in (self.server | self.clients).items())
        return f"State(x={brief(self.x)}{', ' * bool(kept)}{kept})"


class ClientState(NamedTuple):
    """The participants during a round: their models ``x`` (runs, participants, dim), and their arrays by name
    (runs, participants, ...), both those kept between rounds and those of this round only."""

    x: Any
    own: dict = {}

    def with_own(self, **arrays) -> Self:
        """A copy with some arrays replaced or added."""
        return self._replace(own=self.own | arrays)


class Upload(NamedTuple):
    """The messages of the participants: the ``model`` that enters the average (runs, participants, dim), ``others`` by
    name, and the size of the model's message in ``floats``, a number or (runs | 1, participants | 1)."""

    model: Any
    others: dict
    floats: Any


class Fixed(NamedTuple):
    """Numbers of a participation that is the same in all rounds, computed once: weights and shares of the clients as columns
    (runs | 1, clients, 1), and the sum of the weights (runs | 1, 1)."""

    weights: Any
    shares: Any
    total: Any


class RoundContext(NamedTuple):
    """The circumstances of a step: algorithm, federation, draws, time and state.

    ``x`` (runs, dim) is the broadcast model of the round, ``state`` the state before it, ``iteration`` counts local
    steps over all rounds. ``clients`` (runs, participants) are the client numbers behind the participants' axis, None
    if that axis holds every client, whether or not it was sampled. ``models`` (runs, participants, dim) are those with which
    the participants begin the round.
    """

    algorithm: Any
    federation: Any
    draws: Any
    round: int
    iteration: int
    x: Any
    state: State = State(None)
    clients: Any = None
    participation: Any = None
    models: Any = None

    @property
    def step(self) -> int:
        """Local step within the round, from 0."""
        return self.iteration - self.round * self.algorithm.local_steps

    def numbers(self, participants: int):
        """Client numbers (runs | 1, participants) behind the participants' axis."""
        return self.draws.numbers_of(self.clients, participants)

    def rows(self, array):
        """The rows of the participants of an array (runs | 1, clients, ...)."""
        return array if self.clients is None else take_clients(array, self.clients)

    def with_rows(self, array, rows):
        """A copy of an array (runs, clients, ...) with new ``rows`` (runs, participants, ...) of the active participants."""
        xp = namespace(rows)
        if self.clients is None:
            if self.participation.everyone and (rows.shape, rows.dtype) == (array.shape, array.dtype):
                return rows
            active = self.active
            return xp.where(active.reshape(*active.shape, *(1,) * (rows.ndim - 2)), rows, array)
        runs = self.draws.client_numbers(rows.shape[0])[0][:, None]
        array = xp.broadcast_to(array, (rows.shape[0], *array.shape[1:]))
        array = array.clone() if hasattr(array, "clone") else array.copy()
        array[runs, self.clients] = rows
        return array

    def spread(self, values):
        """(runs | 1, participants | 1) as (runs | 1, clients | 1), zero for the clients who are not participants; a number
        as it is."""
        if self.clients is None or not hasattr(values, "shape") or values.shape[1] == 1:
            return values
        return self.with_rows(0 * self.participation.weight, values)

    def server(self, name: str):
        """A server's array (runs, dim) of this round, shaped to broadcast with (runs, participants, dim)."""
        return self.state.server[name][:, None, :]

    def server_number(self, schedule):
        """A hyper-parameter (number, (runs,) array or schedule) now, shaped to multiply (runs, dim)."""
        return _of_runs(self.algorithm.now(schedule, self))

    def server_length(self):
        """Sum of the local steps of the round, shaped to multiply (runs, dim)."""
        return _of_runs(self.algorithm.round_length(self))

    @property
    def weight(self):
        """Weight of each participant in the aggregation, (runs | 1, participants); where nobody takes part, those of all,
        as what then follows is not used (:func:`fedtheory.engine.one_round`)."""
        part = self.participation
        if part.nobody is None:
            return self.rows(part.weight)
        return self.rows(namespace(part.weight).where(part.nobody, part.virtual_weight, part.weight))

    @property
    def _fixed(self) -> Fixed | None:
        """The fixed numbers of the participation, if it is that of all rounds and the participants' axis holds every
        client."""
        return None if self.clients is not None or self.participation is None else self.participation.fixed

    @property
    def _weights(self):
        """:attr:`weight` as a column, (runs | 1, participants, 1)."""
        return self.weight[..., None] if self._fixed is None else self._fixed.weights

    @property
    def active(self):
        """Truth values (runs | 1, participants): who takes part in the aggregation."""
        return self.weight != 0

    def weighted_sum(self, values):
        """Sum over the participants of (runs, participants, dim), weighted by :attr:`weight`, (runs, dim).

        The weights of a round need not sum to one, so this is for changes, gradients and the like; models have
        :meth:`average`.
        """
        xp, weight = namespace(values), self._weights
        if not self.participation.everyone and not all_true(weight != 0):
            values = xp.where(weight != 0, values, 0)  # a client of weight 0 may have diverged
        if waits(values):  # a card reads the values once
            return xp.matmul(weight[..., 0][:, None, :], values)[:, 0]
        return xp.sum(weight * values, axis=1)

    def apply_change(self, change):
        """The broadcast model plus the average ``change`` (runs, dim) of the clients' models; x has the sum of the weights
        as its factor where the sampling averages models (:attr:`fedtheory.selection.Selection.averaged`)."""
        if self.algorithm.selection.averaged == "changes":
            return self.x + change
        return (total_of(self.weight) if self._fixed is None else self._fixed.total) * self.x + change

    def average(self, models):
        """The average of ``models`` (runs, participants, dim), (runs, dim): ``x + sum of w_k (x_k - x)``, or ``sum of w_k
        x_k`` where the sampling averages models."""
        if self.algorithm.selection.averaged == "changes":
            return self.apply_change(self.weighted_sum(models - self.x[:, None, :]))
        return self.weighted_sum(models)

    def over_all(self, values):
        """Sum over the active participants of (runs, participants, dim), weighted by :attr:`share`, (runs, dim).

        With equal weights this is 1/m times the sum over the sampled clients: the change of a mean over all clients when
        only the sampled clients change.
        """
        xp = namespace(values)
        shares = self.rows(self._shares) * values
        return xp.sum(shares if self.participation.everyone else xp.where(self.active[..., None], shares, 0), axis=1)

    @property
    def share(self):
        """Each client's share p_k / sum of the p_k, over the clients that may ever count, (instances, clients)."""
        return normalised(self.algorithm.selection.weights(self.federation))

    @property
    def _shares(self):
        """:attr:`share` as a column, (instances, clients, 1)."""
        return self.share[..., None] if self._fixed is None else self._fixed.shares

    def mean_over_all(self, values):
        """Mean of (runs, clients, dim) over all clients, each with its share, (runs, dim)."""
        return namespace(values).sum(self._shares * values, axis=1)

    def gradient(self, point, iteration: int | None = None):
        """A stochastic gradient of every participant at ``point``; fresh samples need an ``iteration`` of their own."""
        iteration = self.iteration if iteration is None else iteration
        return self.federation.stochastic_gradient(point, self.draws, iteration, self.clients)

    def extra_gradient(self, point):
        """A stochastic gradient that belongs to no local step, on samples of its own for each round."""
        return self.gradient(point, -2 - self.round)


def _of_runs(value):
    """A number, or (runs, 1, 1) as (runs, 1)."""
    return value[:, 0] if getattr(value, "ndim", 0) == 3 else value


def normalised(weights):
    """Weights (instances, clients) over their sum."""
    return weights / namespace(weights).sum(weights, axis=-1, keepdims=True)


def total_of(weights):
    """Sum of the weights (runs, clients), (runs, 1)."""
    return namespace(weights).sum(weights, axis=-1)[:, None]


def mean_over_clients(federation, values):
    """Mean of (runs, clients, dim) over all clients by the federation's weights, (runs, dim)."""
    return namespace(values).sum(normalised(federation.weights)[..., None] * values, axis=1)


def initial_gradient(federation, x, draws: Draws | None):
    """Stochastic gradients (runs, clients, dim) of all clients at the start ``x`` (runs, dim), on samples of their own;
    full gradients where there are no draws."""
    models = federation.all_clients(x)
    return federation.gradient(models) if draws is None else federation.stochastic_gradient(models, draws, -1)
