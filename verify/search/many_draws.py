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
_OF_CLIENTS = ("curvature", "center", "noise", "weight")  # parameters
_SAME, _CLOSE = 1e-6, 1e-3  # what float64 may add to most instances, and to those that are far from the origin
_ROUNDED = 0.75  # share of the instances to which it adds no more than to most


def of_many_draws(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Yields instances with noise in many steps, rounds or clients, of claims about means that are polynomials of degree
    three in the noise: where a few draws have the same means over an orthogonal array as over all outcomes."""
    claim, budget = state.claim, state.budget
    if claim.setting != "run" or speaks_of_samples(claim) or not speaks_of_means_alone(claim):
        return
    few, many = (shapes_of_many_draws(claim, state.rng_of_shapes, _MOST_ROWS, draws) for draws in (_FEW, _MANY))
    few = [listed for listed in map(_with_fewer_noisy, few or many) if listed is not None]
    if not few or not all(rows_suffice(claim, shape, state.draw_batch(shape, _COMPARED), state.backend) for shape in few):
        return
    for shape, change in product(many, (None, regular, _alike)):
        params = state.draw_batch(shape, budget.small_rows)
        yield shape, change(claim, params, state.rng_of_shapes) if change else params


def _alike(claim: Claim, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Instances whose clients are all alike, of which every other one starts at the optimum, where noise alone moves it."""
    found = {name: np.broadcast_to(array[:, :1], array.shape).copy() if name in _OF_CLIENTS else array.copy()
             for name, array in params.items()}
    if "start_offset" in found:
        found["start_offset"][::2] = 0.0
    return found


def _with_fewer_noisy(shape: Shape) -> Shape | None:
    """The shape with noise in so few clients that all outcomes can be listed; None if they are too many with one, too."""
    ways = (replace(shape, noisy=shape.noisy[:count]) for count in range(len(shape.noisy), 0, -1))
    return next((one for one in ways if prod(outcomes(replace(one, many_draws=False))) <= _MOST_ROWS), None)


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
    if not (by_rows.met == by_outcomes.met).all():
        return False
    rounding, most = (np.isclose(by_rows.score[by_rows.met], by_outcomes.score[by_rows.met], rtol=within, atol=within,
                                 equal_nan=True) for within in (_SAME, _CLOSE))
    return bool(most.all()) and rounding.sum() >= _ROUNDED * len(rounding)
