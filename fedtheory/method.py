"""The table of named methods: maker, description, source, ids in the papers' specifications, and traits."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.selection import EveryPriority, PriorityOnly, Selection, WithoutReplacement, WithReplacement
from fedtheory.traits import Traits
from synthetic.base.checks import flag

__all__ = ["ALGORITHMS", "Method", "method", "register", "sampled"]


@dataclass(frozen=True)
class Method:
    """A named method: its maker, one line about it, its source, its ids in the papers' specifications, and its traits."""

    make: Callable[..., Algorithm]
    description: str
    source: str
    ids: tuple[str, ...] = ()
    traits: Traits = field(default_factory=Traits)

    @property
    def arguments(self) -> dict[str, Any]:
        """Names and defaults of the plain arguments."""
        return {name: p.default for name, p in _parameters(self.make).items() if p.kind is not p.VAR_KEYWORD}

    @property
    def passes_on(self) -> bool:
        """Whether further arguments are passed to another method, on which this one builds."""
        return any(p.kind is p.VAR_KEYWORD for p in _parameters(self.make).values())


ALGORITHMS: dict[str, Method] = {}


@cache
def _parameters(make):
    return inspect.signature(make).parameters


def register(make, name: str, description: str, source: str, *ids: str, traits: Traits | None = None, **promises) -> None:
    """Registers a maker under ``name``; ``promises`` are the fields of its :class:`fedtheory.traits.Traits`.

    A maker may be registered under several names.
    """
    if name in ALGORITHMS:
        raise ValueError(f"two methods have the name {name!r}")
    ALGORITHMS[name] = Method(make, description, source, ids, traits or Traits(**promises))


def method(name: str, description: str, source: str, *ids: str, traits: Traits | None = None):
    """:func:`register` as a decorator of the maker."""
    def enter(make):
        register(make, name, description, source, *ids, traits=traits)
        return make

    return enter


def sampled(participants: int | None = None, replacement: bool = False) -> Selection:
    """All (priority) clients, or ``participants`` of them in each round: uniformly without replacement, or
    independently with probabilities p_k (``replacement``)."""
    law = WithReplacement if flag("replacement", replacement) else WithoutReplacement
    return Selection(PriorityOnly(), EveryPriority() if participants is None else law(participants))
