"""What names in a claim mean on a batch of instances: arrays by name, sizes, chance, and the federation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from bounds.language.claim import Condition, Definition
from synthetic.numbers.arrays import Backend

__all__ = ["Bindings", "Bound", "Environment", "TooManyTerms", "UnboundName"]


class UnboundName(LookupError):
    """A name in a claim that nothing supplies; says which, and who should supply it."""


class TooManyTerms(ArithmeticError):
    """Sums over more values of their indices than an environment admits."""


class Bound(NamedTuple):
    """An array bound to a name: ``data`` (instances | 1, noise | 1, sampling | 1, sizes of its indices..., [dim]).

    ``times`` lists the values of the first index that were recorded, where these are not all of 0, 1, 2, ...
    """

    data: Any
    indices: int = 0
    vector: bool = False
    times: tuple[int, ...] | None = None


class Bindings(dict):
    """What names are bound to, of which some is made only when it is first asked for."""

    def later(self, name: str, make: Callable[[], Bound]) -> None:
        """Bind ``name`` to what ``make`` answers, once somebody asks."""
        self[name] = make

    def __getitem__(self, name: str) -> Bound:
        value = super().__getitem__(name)
        if callable(value):
            value = self[name] = value()
        return value

    def get(self, name: str, default=None):
        try:
            return self[name]
        except KeyError:
            return default

    def values(self):
        return [self[name] for name in self]

    def items(self):
        return [(name, self[name]) for name in self]

    def copy(self) -> Bindings:
        """Another one, to which what is still to be made is handed on."""
        other = Bindings()
        other.update(self)
        return other


@dataclass
class Environment:
    """Everything that names in a claim can mean.

    ``sizes`` are integers shared by the batch (clients, iterations, ...); ``bound`` maps names to :class:`Bound`;
    ``noise_weight`` (instances | 1, noise) and ``sampling_weight`` (instances | 1, [noise,] sampling) are outcome
    probabilities, and ``noise_start`` of the noise outcomes lie before the first round; ``possible`` (instances, noise,
    sampling) says which outcomes have a positive probability, None for all; ``infinite`` (instances,) which instances have
    an infinite constant, None for none; ``by_definition`` lists conditions that hold because they define a name;
    ``federation`` answers F, grad and objective (one instance per batch entry, or one for all).
    """

    backend: Backend
    sizes: dict[str, int]
    bound: Bindings
    noise_weight: Any = None
    sampling_weight: Any = None
    federation: Any = None
    noise_start: int = 1
    possible: Any = None
    infinite: Any = None
    by_definition: list[Condition] = field(default_factory=list)
    worlds: Any = None  #: of claims about samples, see :mod:`verify.worlds`; the first axis of chance is then theirs
    gradients: Any = None  #: the federation that answers grad and objective_grad, where it is another one
    words: Mapping[type, Any] = field(default_factory=dict)  #: word -> function(evaluator, node, scope) that evaluates it
    also: Any = None  #: an environment of another reading, in which a violation must be one too
    most_terms: int | None = None  #: values of indices that a sum may run over, those around it included; None: any number
    known: dict[tuple, Any] | None = None  #: values of means and definitions, while names keep their meaning; None: not kept
    met: Any = None  #: (instances,) which of them meet the hypotheses, once somebody has found out
    definitions: Mapping[str, Definition] = field(default_factory=dict)
    constants: dict[tuple, Any] = field(default_factory=dict, repr=False)  # arrays of plain numbers, made once

    def __post_init__(self):
        if not isinstance(self.bound, Bindings):
            self.bound = Bindings(self.bound)

    def remembering(self) -> Environment:
        """The environment with a memory of values, for as long as names keep their meaning; itself where it has one."""
        return replace(self, known={}) if self.known is None else self
