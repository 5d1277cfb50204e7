"""Properties of methods, and the table of those that every method must have."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fedtheory.testing.federations import Case
from fedtheory.testing.outcome import NotApplicable
from fedtheory.testing.subject import Subject

__all__ = ["KEEP_OPTIMUM", "PROPERTIES", "UNBIASED", "Property", "needs", "property_of_every_method"]


@dataclass(frozen=True)
class Property:
    """A named statement about methods.

    ``check(subject, case)`` raises ``Broken`` if it fails and ``NotApplicable`` if it does not apply. ``where``: fields of
    the cases to which it applies, for example ``{"sigma": 0.0}``, or functions of the old values. A case with
    sampled clients stands for one by each of the ``schemes`` of sampling; without any, for itself.
    """

    name: str
    meaning: str
    check: Callable[[Subject, Case], None]
    where: dict[str, Any] = field(default_factory=dict)
    schemes: tuple[str, ...] = ()

    def cases(self, cases, subject: Subject) -> tuple[Case, ...]:
        """The cases changed as this property and the method require, each once; none if they contradict each other."""
        needed = subject.traits.where
        if any(name in self.where and self.where[name] != value for name, value in needed.items()):
            return ()
        changed = dict.fromkeys(case.but(**(self.where | needed)) for case in cases)
        if not self.schemes:
            return tuple(changed)
        return tuple(each for case in changed for each in (
            [case] if case.participants is None else [case.but(sampling=name) for name in self.schemes]))


#: the schemes of sampling under which a minimiser stays one, and nothing depends on the origin
KEEP_OPTIMUM = ("without-replacement", "with-replacement", "bernoulli", "bernoulli-expected")
#: those under which the average over who is drawn is the average of all clients
UNBIASED = ("without-replacement", "with-replacement", "bernoulli-expected")

#: every property that is not declared by a method, by name, in the order in which they are reported
PROPERTIES: dict[str, Property] = {}


def property_of_every_method(name: str, schemes: tuple[str, ...] = (), **where):
    """Decorator that enters a check under ``name``; its docstring is its meaning."""
    def enter(check):
        PROPERTIES[name] = Property(name, " ".join(check.__doc__.split()), check, where, schemes)
        return check

    return enter


def needs(condition, reason: str) -> None:
    """Raises NotApplicable with ``reason`` unless ``condition``."""
    if not condition:
        raise NotApplicable(reason)
