"""The parts that make up a method. With the defaults below a method is FedAvg.

A round of :class:`fedtheory.Algorithm` is ::

    x = server.broadcast(state)
    local_steps times, on every participant:
        g         = oracle.gradient(...)               the point and the function of a gradient (SAM, ...)
        g         = correction.correct(g, ...)         terms against drift (control variates, duals, pulls)
        direction = client.direction(g, ...)           the client's optimiser (momentum, Adam)
        direction = correction.after(direction, ...)
        x_local  -= eta_l * direction
    change  = upload.send(x_local - x)                 compression (quantised, masked, only some layers)
    average = x + upload.receive(weighted sum of the changes)
    average = correction.aggregate(average, ...)
    x       = server.step(average, ...)                the server's optimiser

Functions are pure: they take ``local`` or the state inside ``context`` and return new values.
"""

from dataclasses import dataclass
from typing import Any

from fedtheory.fields import check_fields

__all__ = ["ClientOptimiser", "Correction", "GradientOracle", "Part", "ServerOptimiser", "UploadFilter", "joined"]


class Part:
    """Base of all parts: arrays between rounds, and communication besides the model."""

    down = 0  #: models sent to each participant besides the model
    up = 0  #: models sent by each participant besides the model
    may_be_infinite: tuple[str, ...] = ()  #: arrays of its state in which an infinite entry is no sign of divergence
    moves_start = False  #: whether ``begin`` moves the models from which the local steps start
    __post_init__ = check_fields

    def server_state(self, federation, x, draws) -> dict[str, Any]:
        """The server's arrays by name, (runs, ...), before the first round from ``x`` (runs, dim)."""
        return {}

    def client_state(self, federation, x, draws) -> dict[str, Any]:
        """The clients' arrays by name, (runs, clients, ...), before the first round."""
        return {}

    def begin(self, local, context):
        """``local`` at the start of a round, with the arrays that only this round needs."""
        return local

    def finish(self, local, context) -> dict[str, Any]:
        """After the local steps: the arrays that clients keep, by name."""
        return {}

    def extra_up(self, context):
        """Models that clients send besides the model: ``up``, or (runs | 1, clients) where clients differ."""
        return self.up

    def extra_down(self, context):
        """Models that clients receive besides the model: ``down``, or (runs | 1, clients | 1) where that changes."""
        return self.down

    def refuses(self, federation) -> str | None:
        """The reason, in words, why the part is undefined on a federation; None if it is defined."""
        return None

    def check(self, algorithm) -> None:
        """Raises ValueError, with the reason, if the part cannot be combined with the other parts of ``algorithm``."""


@dataclass(frozen=True)
class GradientOracle(Part):
    """The stochastic gradient at the local model."""

    evaluations = 1  #: gradients per local step

    def gradient(self, local, gradient, context):
        """The gradient of this local step, (runs, participants, dim), and ``local``.

        ``gradient(point)`` returns this iteration's stochastic gradient; all calls use the same samples.
        """
        return gradient(local.x), local


@dataclass(frozen=True)
class Correction(Part):
    """No correction.

    Most corrections are affine in the local model: ``g + shift + pull * (x_local - x)`` with a ``shift`` that is fixed
    within a round. Such a correction defines ``shift`` and ``pull``; its local problem can then also be solved exactly.
    """

    extra_evaluations = 0  #: gradients per round besides those of the local steps
    needs_whole = ""  #: why clients must send their models whole, without an upload filter; empty: they need not

    @property
    def fixed_in_round(self) -> bool:
        """Whether ``correct`` is exactly ``g + shift + pull * (x_local - x)``, with a ``shift`` fixed within a round."""
        return type(self).correct is Correction.correct and type(self).after is Correction.after

    @property
    def keeps_nothing(self) -> bool:
        """Whether the correction is only a pull: no shift, no arrays of clients, no change of the average."""
        own = type(self)
        return self.fixed_in_round and (own.shift, own.finish, own.sent_model, own.aggregate) == (
            Correction.shift, Correction.finish, Correction.sent_model, Correction.aggregate)

    def check(self, algorithm):
        if self.needs_whole and not algorithm.upload.whole:
            raise ValueError(f"{self.needs_whole}, so clients must send them whole; got {type(algorithm.upload).__name__}, "
                             "allowed: no upload filter")

    def shift(self, local, context):
        """The term added to every gradient of the round, (runs, participants, dim), or None."""
        return None

    def pull(self, context):
        """Strength of the pull to the broadcast model, or None."""
        return None

    def correct(self, g, local, context):
        """The corrected gradient, and ``local``."""
        shift, pull = self.shift(local, context), self.pull(context)
        g = g if shift is None else g + shift
        return (g if pull is None else g + pull * (local.x - context.x[:, None, :])), local

    def after(self, direction, local, context):
        """The direction of the local step, from the client optimiser's direction."""
        return direction

    def finish(self, local, context):
        """After the local steps: the arrays that clients keep, and those sent besides the model, both by name."""
        return {}, {}

    def tracking(self, context):
        """The participants that renew what they track, truth values (runs, participants); None where nothing is tracked."""
        return None

    def sent_model(self, local, kept, context):
        """The model that is sent, (runs, participants, dim); ``kept`` are the arrays that clients keep."""
        return local.x

    def aggregate(self, average, upload, context):
        """The corrected average (runs, dim) of the models, and the new server arrays."""
        return average, {}


@dataclass(frozen=True)
class ClientOptimiser(Part):
    """Plain gradient steps."""

    solves = False  #: whether the local problem is solved exactly, or to a tolerance, instead of ``local_steps`` steps
    keeps_numbers = False  #: whether arrays that clients keep have one number for all coordinates

    def direction(self, g, local, context):
        """The direction of the local step, and ``local``."""
        return g, local

    def solve(self, local, correction, context):
        """``local`` with the solution of the local problem, of an optimiser that ``solves`` it."""
        raise NotImplementedError


@dataclass(frozen=True)
class ServerOptimiser(Part):
    """The average becomes the model."""

    def broadcast(self, state):
        """The model that clients receive, (runs, dim)."""
        return state.x

    def output(self, state):
        """The model that the method returns, (runs, dim)."""
        return state.x

    def step(self, average, context):
        """The new model (runs, dim) and the new server arrays, from the average of the clients' models."""
        return average, {}


@dataclass(frozen=True)
class UploadFilter(Part):
    """Everything is sent."""

    whole = True  #: whether the server receives the plain weighted mean

    def send(self, change, local, context):
        """The message for the change (runs, participants, dim) of the local models; its size in floats, a number
        or (runs | 1, participants | 1); and ``local``."""
        return change, change.shape[-1], local

    def combine(self, sent, context):
        """The server's mean of the messages, (runs, dim)."""
        return context.weighted_sum(sent)

    def receive(self, change, context):
        """The change (runs, dim) to apply, and the new server arrays."""
        return change, {}

    def learn(self, sent, mean, context) -> dict[str, Any]:
        """The new server arrays that depend on single messages, not on their ``mean`` alone."""
        return {}

    def extra_bits(self, context):
        """Bits (down to, up from) each participant that are not counted as floats: masks, flags, norms."""
        return 0, 0


def joined(parts, state: str, *arguments) -> dict[str, Any]:
    """The arrays by name that the function ``state`` (``server_state`` or ``client_state``) of the ``parts`` returns.

    Raises ValueError if two parts use one name.
    """
    kept: dict[str, Any] = {}
    owners: dict[str, Part] = {}
    for part in parts:
        for name, array in getattr(part, state)(*arguments).items():
            if name in kept:
                both = " and ".join(type(one).__name__ for one in (owners[name], part))
                raise ValueError(f"{both} both keep {state.split('_')[0]} arrays {name!r} and would overwrite each other's; "
                                 "allowed: one of them")
            kept[name], owners[name] = array, part
    return kept
