"""The stage of thresholds: free numbers at which an event of the statement begins, on some outcome of chance."""

from collections.abc import Iterator
from math import prod

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition
from bounds.language.operators import below
from synthetic.numbers.arrays import NUMPY
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import once_by_claim
from verify.evaluation.environment import Environment, TooManyTerms, UnboundName
from verify.evaluation.evaluate import sides
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters, number_of
from verify.instances.shape import Shape
from verify.instances.shapes import small_shapes
from verify.measure.simulate import simulate
from verify.search.batch_evaluation import MOST_TERMS
from verify.search.stage import State

__all__ = ["at_thresholds"]

_OWN_SEED = 2718
_INSIDE = sp.Rational(1, 10**6)  # how far inside of an event thresholds lie, as a share, so that rounding leaves them there


def at_thresholds(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Small shapes with chance, whose thresholds in events such as ``P(a <= ...)`` are values of the other side."""
    claim, budget = state.claim, state.budget
    if claim.setting != "run" or speaks_of_samples(claim) or not (events := _events(claim)):
        return
    rng = np.random.default_rng([*state.seeds, _OWN_SEED])
    for shape in small_shapes(claim, rng, budget.most_outcomes, 2 * budget.small):
        if prod(outcomes(shape)) == 1:
            continue
        params = state.draw_batch(shape, budget.small_rows, rng)
        try:
            with np.errstate(all="ignore"):
                environment = simulate(claim, shape, params, NUMPY, most=MOST_TERMS)
                for name, event in events:
                    params = params | {name: _begun(event, environment, params[name], rng)}
        except (TooManyTerms, UnboundName):
            continue
        yield shape, params


@once_by_claim
def _events(claim: Claim) -> tuple[tuple[str, Condition], ...]:
    """Free positive numbers of which events are linear; the left side of a condition is where an event just happens."""
    free = {v.name for v in claim.variables if v.domain in ("positive", "nonnegative") and not v.indices}
    found = []
    for node in claim.statement.left.atoms(below) | claim.statement.right.atoms(below):
        difference = node.args[0] - node.args[1]
        for symbol in (s for s in difference.free_symbols if s.name in free):
            factor = sp.diff(difference, symbol)
            if factor.is_number and factor != 0:
                equal = -difference.xreplace({symbol: sp.Integer(0)}) / factor
                inside = 1 - _INSIDE if factor > 0 else 1 + _INSIDE
                found.append((symbol.name, Condition(inside * equal, "<=", 0, claim.statement.over)))
    return tuple(sorted(found, key=str))


def _begun(event: Condition, environment: Environment, numbers: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The numbers (instances, 1), moved to values of the event's left side on some outcomes where these are positive."""
    count = number_of({"numbers": numbers})
    values, _, mask = sides(event, environment)
    values, mask = np.broadcast_arrays(values, mask)
    values = np.broadcast_to(np.where(mask, values, np.nan), (count, *values.shape[1:])).reshape(count, -1)
    values = values[np.arange(count), rng.integers(0, values.shape[1], count)].reshape(numbers.shape)
    return np.where(np.isfinite(values) & (values > 0), values, numbers)
