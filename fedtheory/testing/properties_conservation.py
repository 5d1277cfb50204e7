"""Declared laws: relations between the states before and after every round."""

from __future__ import annotations

from itertools import pairwise

from fedtheory.testing.outcome import at_most, same
from fedtheory.testing.property import Property
from fedtheory.testing.subject import play
from fedtheory.traits import Law

__all__ = ["declared"]


def declared(subject) -> list[Property]:
    """One property per declared law."""
    return [_property(law) for law in subject.traits.laws]


def _property(law: Law) -> Property:
    def check(subject, case):
        algorithm, federation = subject.build(case), case.federation(subject.backend)
        states = play(algorithm, federation, case)
        for r, (before, after) in enumerate(pairwise(states)):
            left, right = law.sides(algorithm, federation, before, after)
            if law.relation == "<=":
                at_most(left, right, f"{law.name}, after round {r}")
            else:
                same(right + 0 * left, left + 0 * right, f"{law.name}, after round {r}", axes=("run", "entry", "coordinate"))

    meaning = "A relation that the method declares for the states before and after every round."
    return Property(f"law: {law.name}", meaning, check, {"rounds": 4, "equal": False} | dict(law.where))
