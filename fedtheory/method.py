"""The table of named methods: maker, description, source, ids in the papers' specifications, and traits."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.arguments import checked_maker, documented
from fedtheory.selection import SCHEMES, EveryPriority, PriorityOnly, Selection
from fedtheory.traits import Traits
from synthetic.base.checks import one_of

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


def register(make, name: str, description: str, source: str, *ids: str, traits: Traits | None = None,
             arguments: Mapping[str, str] | None = None, **promises) -> None:
    """Registers a maker under ``name``; ``promises`` are the fields of its :class:`fedtheory.traits.Traits`.

    Its docstring gets a section ``Args:``; ``arguments``: what one of them means in this method, where
    :data:`fedtheory.arguments.ARGUMENTS` says something more general. A maker may be registered under several names.
    """
    if name in ALGORITHMS:
        raise ValueError(f"two methods have the name {name!r}")
    traits = traits or Traits(**promises)
    make.__doc__ = documented(make, traits, arguments or {})
    ALGORITHMS[name] = Method(checked_maker(make), description, source, ids, traits)


def method(name: str, description: str, source: str, *ids: str, traits: Traits | None = None,
           arguments: Mapping[str, str] | None = None):
    """:func:`register` as a decorator of the maker."""
    def enter(make):
        register(make, name, description, source, *ids, traits=traits, arguments=arguments)
        return make

    return enter


def sampled(participants: int | None = None, sampling: str = "without-replacement") -> Selection:
    """All priority clients, or ``participants`` of them in each round by a scheme of :data:`fedtheory.selection.SCHEMES`:

    * ``without-replacement``: distinct ones, uniformly; ``x + sum of w_k (x_k - x)`` with ``w_k = p_k m / participants``;
    * ``with-replacement``: independent draws of client k with probability p_k, each weighted 1 / participants;
    * ``bernoulli``: each client takes part independently with probability ``participants / m``; those that do are averaged,
      weighted p_k over the sum of theirs, and nothing happens where nobody does;
    * ``bernoulli-expected``: the same clients, averaged by their expected number: the weights of without-replacement;
    * ``li2020-scheme-2``: as without-replacement, but models are averaged, ``sum of w_k x_k``, as Li et al. 2020 print it.

    m is the number of priority clients. Raises ValueError for another name.
    """
    law = SCHEMES[one_of("sampling", sampling, SCHEMES)]
    return Selection(PriorityOnly(), EveryPriority() if participants is None else law(participants))
