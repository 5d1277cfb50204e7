"""Which hypotheses keep a search without instances."""

import numpy as np

from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import NUMPY
from verify.claims.choice import placed
from verify.evaluation.environment import UNMEASURED, TooManyTerms
from verify.evaluation.judge import holds
from verify.instances.draw import draw_leaves, draw_shape
from verify.measure.realise import realise
from verify.search.budget import Budget
from verify.search.judged import MOST_TERMS

__all__ = ["never_met"]

_SHAPES, _ROWS = 24, 16


def never_met(claim: Claim, budget: Budget, seed: int = 0) -> list[Condition]:
    """The hypotheses that no instance of a small sample meets."""
    claim, rng = placed(claim), np.random.default_rng(seed)
    open_ones = list(claim.hypotheses)
    for _ in range(_SHAPES):
        shape = draw_shape(claim, rng, budget.most_outcomes, budget.most_iterations)
        leaves = draw_leaves(claim, shape, _ROWS, rng)
        try:
            with np.errstate(all="ignore"):
                environment = realise(claim, shape, leaves, NUMPY, most=MOST_TERMS)
                open_ones = [c for c in open_ones if not holds(c, environment, _ROWS).any()]
        except (*UNMEASURED, TooManyTerms):
            continue
    return open_ones
