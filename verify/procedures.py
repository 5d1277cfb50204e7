"""From the words in which a claim names its algorithm to the algorithm's code."""

from __future__ import annotations

from bounds.claim import Procedure
from fedtheory.selection import (
    Always,
    EveryPriority,
    LossMatching,
    PriorityOnly,
    Selection,
    WithoutReplacement,
    WithReplacement,
)

__all__ = ["selection_of"]

_SAMPLING = {"with-replacement": WithReplacement, "without-replacement": WithoutReplacement}


def selection_of(procedure: Procedure | None, participants: int = 1, epsilon=None, free=None) -> Selection:
    """The selection that a claim's procedure names.

    ``participants`` is the number of sampled priority clients, ``epsilon`` the matching threshold (None: no free client
    counts), ``free`` the free clients' availability.
    """
    procedure = procedure or Procedure()
    law = _SAMPLING.get(procedure.sampling)
    sampling = law(participants) if law else EveryPriority()
    if epsilon is None:
        return Selection(PriorityOnly(), sampling)
    matching = LossMatching(epsilon, strict=procedure.strict, indicator=procedure.indicator)
    return Selection(matching, sampling, free or Always())
