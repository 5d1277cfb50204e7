"""Named methods: a maker from plain arguments, one line about it, its source, and the ids that specifications give it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.selection import EveryPriority, PriorityOnly, Selection, WithoutReplacement, WithReplacement
from synthetic.checks import flag

__all__ = ["ALGORITHMS", "Method", "method", "sampled"]

ALGORITHMS: dict[str, Method] = {}


@dataclass(frozen=True)
class Method:
    """A named method: its maker, one line about it, where it comes from, and the ids that specifications give it."""

    make: Callable[..., Algorithm]
    description: str
    source: str
    ids: tuple[str, ...] = ()

    @property
    def arguments(self) -> dict[str, Any]:
        """Names and defaults of the plain arguments."""
        return {name: p.default for name, p in inspect.signature(self.make).parameters.items()}


def method(name: str, description: str, source: str, *ids: str):
    """Decorator of a maker: enters it under ``name``. Makers may be entered several times."""
    def enter(make):
        if name in ALGORITHMS:
            raise ValueError(f"two methods have the name {name!r}")
        ALGORITHMS[name] = Method(make, description, source, ids)
        return make

    return enter


def sampled(participants: int | None = None, replacement: bool = False) -> Selection:
    """All (priority) clients, or ``participants`` of them in each round: uniformly without replacement, or
    independently with probabilities p_k (``replacement``)."""
    law = WithReplacement if flag("replacement", replacement) else WithoutReplacement
    return Selection(PriorityOnly(), EveryPriority() if participants is None else law(participants))
