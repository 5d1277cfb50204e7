"""Judges batches, in parts where their sums have too many terms."""

from __future__ import annotations

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import Backend
from verify.evaluation.environment import TooManyTerms
from verify.evaluation.judge import Judgement, judge
from verify.instances.leaves import Leaves, halves, number_of, take_rows
from verify.instances.shape import Shape
from verify.search.sharing import RUNS

__all__ = ["MOST_TERMS", "admitted", "judged_in_parts"]

MOST_TERMS = 250_000  # entries of an array of terms


def judged_in_parts(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> Judgement:
    """The judgement on a batch, in which instances that overflow or divide by zero are no errors; in halves where its sums
    have too many terms, and an instance of which alone has too many meets nothing."""
    try:
        with np.errstate(all="ignore"):
            return judge(claim, RUNS.realise(claim, shape, leaves, backend, MOST_TERMS))
    except TooManyTerms:
        if number_of(leaves) == 1:
            return Judgement(*np.full((3, 1), -1.0), np.zeros(1, dtype=bool))
        parts = (judged_in_parts(claim, shape, half, backend) for half in halves(leaves))
        return Judgement(*map(np.concatenate, zip(*parts, strict=True)))


def admitted(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> tuple[Leaves, Judgement]:
    """The first of the instances, as many as may be judged at once, and the judgement on them."""
    count = number_of(leaves)
    while count > 1:
        try:
            with np.errstate(all="ignore"):
                return leaves, judge(claim, RUNS.realise(claim, shape, leaves, backend, MOST_TERMS))
        except TooManyTerms:
            count //= 2
            leaves = take_rows(leaves, slice(count))
    return leaves, judged_in_parts(claim, shape, leaves, backend)
