"""Finds the hypotheses that no instance of a search satisfies."""

import numpy as np

from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import NUMPY
from verify.claims.existential import with_position
from verify.evaluation.environment import UNMEASURED, TooManyTerms
from verify.evaluation.judge import holds
from verify.instances.draw import draw_params, draw_shape
from verify.measure.simulate import simulate
from verify.search.batch_evaluation import MOST_TERMS
from verify.search.budget import Budget

__all__ = ["unsatisfied_hypotheses"]

_SHAPES, _ROWS = 24, 16


def unsatisfied_hypotheses(claim: Claim, budget: Budget, seed: int = 0) -> list[Condition]:
    """The hypotheses that no instance of a small sample meets."""
    claim, rng = with_position(claim), np.random.default_rng(seed)
    open_ones = list(claim.hypotheses)
    for _ in range(_SHAPES):
        shape = draw_shape(claim, rng, budget.most_outcomes, budget.most_iterations)
        params = draw_params(claim, shape, _ROWS, rng)
        try:
            with np.errstate(all="ignore"):
                environment = simulate(claim, shape, params, NUMPY, most=MOST_TERMS)
                open_ones = [c for c in open_ones if not holds(c, environment, _ROWS).any()]
        except (*UNMEASURED, TooManyTerms):
            continue
    return open_ones
