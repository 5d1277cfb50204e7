"""Judges batches of instances; in halves where their sums have too many terms."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import Backend
from verify.evaluation.environment import TooManyTerms
from verify.evaluation.judge import Judgement, judge
from verify.instances.leaves import Leaves, halves, number_of
from verify.instances.shape import Shape
from verify.search.sharing import RUNS

__all__ = ["MOST_TERMS", "in_halves", "judged", "judged_first"]

MOST_TERMS = 250_000  # entries of an array of terms
Answer = TypeVar("Answer")


def in_halves(look: Callable[[Leaves], Answer], leaves: Leaves) -> list[Answer]:
    """Call ``look`` on a batch; where it raises TooManyTerms, on the halves of the batch, halved as often as needed.

    Returns:
        The answers, in the order of the instances.

    Raises:
        TooManyTerms: ``look`` raises it for a single instance.
    """
    try:
        return [look(leaves)]
    except TooManyTerms:
        if number_of(leaves) == 1:
            raise
        return [answer for half in halves(leaves) for answer in in_halves(look, half)]


def judged(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> Judgement:
    """Judge a batch, in halves if needed. An instance that alone has too many terms counts as infeasible; overflows and
    divisions by zero are no errors."""
    try:
        parts = in_halves(lambda part: _judged_at_once(claim, shape, part, backend), leaves)
    except TooManyTerms:
        return _infeasible(number_of(leaves))
    return Judgement(*map(np.concatenate, zip(*parts, strict=True)))


def judged_first(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> tuple[Leaves, Judgement]:
    """Judge the first instances of a batch, as many as can be judged at once; returns them too."""
    try:
        return leaves, _judged_at_once(claim, shape, leaves, backend)
    except TooManyTerms:
        if number_of(leaves) == 1:
            return leaves, _infeasible(1)
        return judged_first(claim, shape, halves(leaves)[0], backend)


def _judged_at_once(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> Judgement:
    with np.errstate(all="ignore"):
        return judge(claim, RUNS.realise(claim, shape, leaves, backend, MOST_TERMS))


def _infeasible(count: int) -> Judgement:
    return Judgement(*np.full((2, count), -1.0), np.zeros(count, dtype=bool))
