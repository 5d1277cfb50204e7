"""The values of a claim's names on a batch of instances: arrays by name, sizes, probabilities, and the federation."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from bounds.language.claim import Condition, Definition
from synthetic.numbers.arrays import Backend, namespace

__all__ = ["UNMEASURED", "Bindings", "Environment", "NamedArray", "NoEntry", "TooManyTerms", "UnboundName"]


class UnboundName(LookupError):
    """A name in a claim without a value; the message says which, and what should supply it."""


class NoEntry(IndexError):
    """A claim asks an instance for what it does not have: a round, a client, a sample, the largest of no terms."""


#: what a name without a value, or a method or number without a meaning, raises
UNMEASURED = (LookupError, NotImplementedError, TypeError, ValueError)


class TooManyTerms(ArithmeticError):
    """A sum runs over more values of its indices than an environment admits."""


class NamedArray(NamedTuple):
    """The array of a name: ``data`` (instances | 1, noise | 1, sampling | 1, sizes of its indices..., [dim]).

    ``times`` lists the recorded values of the first index, if these are not all of 0, 1, 2, ...
    """

    data: Any
    indices: int = 0
    vector: bool = False
    times: tuple[int, ...] | None = None


class Bindings(dict):
    """Arrays by name; some are computed when they are first used."""

    def later(self, name: str, make: Callable[[], NamedArray]) -> None:
        """Bind ``name`` to the result of ``make``, which is called at the first use."""
        self[name] = make

    def __getitem__(self, name: str) -> NamedArray:
        value = super().__getitem__(name)
        if callable(value):
            value = self[name] = value()
        return value

    def get(self, name: str, default=None):
        try:
            return self[name]
        except KeyError:
            return default

    def items(self):
        return [(name, self[name]) for name in self]

    def copy(self) -> Self:
        """A copy that computes nothing."""
        other = Bindings()
        other.update(self)
        return other


@dataclass
class Environment:
    """The values of all names of a claim.

    Attributes:
        sizes: integers shared by the batch (clients, iterations, ...).
        bound: arrays by name.
        noise_weight, sampling_weight: probabilities of outcomes, (instances | 1, noise) and (instances | 1, [noise,]
            sampling); ``noise_start`` of the noise outcomes lie before the first round. ``by_iteration``: all others are
            drawn one by one in the iterations, and nothing else is drawn but clients.
        federation: evaluates F, grad and objective; one instance per batch entry, or one for all.
        possible: (instances, noise, sampling), which outcomes have a positive probability; None for all.
        infinite: (instances,), which instances have an infinite constant; None for none.
        by_definition: conditions that hold because they define a name.
        data_sets: all outcomes of the data draw, for claims about samples (:mod:`verify.instances.data_sets`); then the
        first
            axis of chance has these outcomes.
        gradients: the federation that evaluates grad and objective_grad, if it is another one.
        words: operator -> function(evaluator, node, scope) that evaluates it.
        also: an environment of another reading; a violation must occur in both.
        most_terms: how many values the indices of a sum and of the sums around it may have together; None for any number.
        known: kept values of means and definitions; None if none are kept.
        met: (instances,), which instances satisfy the hypotheses, once that is computed.
        rows: the number of instances, of which arrays may have one for all.
        instance: the shape and the parameters of the instances, in the units in which they were realised.
    """

    backend: Backend
    sizes: dict[str, int]
    bound: Bindings
    noise_weight: Any = None
    sampling_weight: Any = None
    federation: Any = None
    noise_start: int = 1
    by_iteration: bool = False
    possible: Any = None
    infinite: Any = None
    by_definition: list[Condition] = field(default_factory=list)
    data_sets: Any = None
    gradients: Any = None
    words: Mapping[type, Any] = field(default_factory=dict)
    also: Any = None
    most_terms: int | None = None
    known: dict[tuple, Any] | None = None
    met: Any = None
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    rows: int = 1
    instance: Any = None
    constants: dict[tuple, Any] = field(default_factory=dict, repr=False)  # arrays of plain numbers, made once

    def __post_init__(self):
        if not isinstance(self.bound, Bindings):
            self.bound = Bindings(self.bound)

    def remembering(self) -> Self:
        """The environment with a memory for values, valid while ``bound`` stays the same; itself if it has one."""
        return replace(self, known={}) if self.known is None else self

    def forget(self, names: Collection[str]) -> None:
        """Forget the kept values of formulas in which one of these names stands."""
        for key in [key for key in self.known or () if any(str(symbol) in names for symbol in key[1].free_symbols)]:
            del self.known[key]

    def where_possible(self, data):
        """Values (instances, noise, sampling, ...) with 0 on outcomes of probability zero, which means leave out."""
        if self.possible is None or data.shape[1] * data.shape[2] == 1:
            return data
        possible = self.possible.reshape(*self.possible.shape, *(1,) * (data.ndim - 3))
        return namespace(data).where(self.backend.booleans(possible), data, namespace(data).zeros_like(data))
