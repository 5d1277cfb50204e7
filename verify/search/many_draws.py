"""The stage of many draws: expectations over noise in many steps or clients, whose outcomes are too many to be listed."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod

import numpy as np

from bounds.language import operators
from bounds.language.claim import Claim
from synthetic.numbers.arrays import Backend
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import once_by_claim
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.instances.shapes import shapes_of_many_draws
from verify.search.batch_evaluation import evaluate_batch
from verify.search.regular import regular
from verify.search.stage import State

__all__ = ["of_many_draws", "rows_suffice", "speaks_of_means_alone"]

_FEW, _MANY = (6, 8), (12, 64)  # draws: so few that all outcomes can be listed, too; and so many that they are not
_MOST_ROWS = 1024  # of an array, and outcomes that are listed
_COMPARED = 16  # instances
_SAME = 1e-6  # what float64 may add


def of_many_draws(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Yields instances with noise in many steps, rounds or clients, of claims about means that are polynomials of degree
    three in the noise: where a few draws have the same means over an orthogonal array as over all outcomes."""
    claim, budget = state.claim, state.budget
    if claim.setting != "run" or speaks_of_samples(claim) or not speaks_of_means_alone(claim):
        return
    few, many = (shapes_of_many_draws(claim, state.rng_of_shapes, _MOST_ROWS, draws) for draws in (_FEW, _MANY))
    few = [shape for shape in few if prod(outcomes(replace(shape, many_draws=False))) <= _MOST_ROWS]
    if not few or not all(rows_suffice(claim, shape, state.draw_batch(shape, _COMPARED), state.backend) for shape in few):
        return
    for shape, is_regular in product(many, (False, True)):
        params = state.draw_batch(shape, budget.small_rows)
        yield shape, regular(claim, params, state.rng_of_shapes) if is_regular else params


@once_by_claim
def speaks_of_means_alone(claim: Claim) -> bool:
    """Whether the claim has means over all noise, and none of some of it, and no probabilities."""
    formulas = [*claim.formulas, *(rule.formula for rule in claim.used_definitions().values())]
    others = (operators.E_round, operators.E_step, operators.below)
    return any(formula.has(operators.E) for formula in formulas) and not any(formula.has(*others) for formula in formulas)


def rows_suffice(claim: Claim, shape: Shape, params: Parameters, backend: Backend) -> bool:
    """Whether instances with few draws are judged alike over the rows of the array and over all outcomes."""
    by_rows, by_outcomes = (evaluate_batch(claim, one, params, backend)
                            for one in (replace(shape, many_draws=True), replace(shape, many_draws=False)))
    return bool((by_rows.met == by_outcomes.met).all()) and np.allclose(
        by_rows.score[by_rows.met], by_outcomes.score[by_rows.met], rtol=_SAME, atol=_SAME, equal_nan=True)
