"""Judges batches of instances; in halves where their sums have too many terms."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import Backend
from verify.claims.existential import PLACES, Bracket, excluded_positions, position_of
from verify.evaluation.environment import TooManyTerms
from verify.evaluation.judge import Judgement, holds, judge
from verify.exact.existential_conditions import existential_conditions
from verify.instances.parameters import Parameters, halves, number_of, take_rows
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.run_cache import RUNS

__all__ = ["MOST_TERMS", "evaluate_batch", "evaluate_first", "in_halves"]

MOST_TERMS = 250_000  # entries of an array of terms
_CLOSELY = 16  # instances of a batch, the most violated ones, on which a value between those of the grid is looked for
_HALVINGS = 36  # of the way to the next value of the grid
Answer = TypeVar("Answer")


def in_halves(look: Callable[[Parameters], Answer], params: Parameters) -> list[Answer]:
    """Call ``look`` on a batch; where it raises TooManyTerms, on the halves of the batch, halved as often as needed.

    Returns:
        The answers, in the order of the instances.

    Raises:
        TooManyTerms: ``look`` raises it for a single instance.
    """
    try:
        return [look(params)]
    except TooManyTerms:
        if number_of(params) == 1:
            raise
        return [answer for half in halves(params) for answer in in_halves(look, half)]


def evaluate_batch(claim: Claim, shape: Shape, params: Parameters, backend: Backend) -> Judgement:
    """Judge a batch, in halves if needed. An instance that alone has too many terms counts as infeasible; overflows and
    divisions by zero are no errors."""
    try:
        parts = in_halves(lambda part: _judged_at_once(claim, shape, part, backend), params)
    except TooManyTerms:
        return _infeasible(number_of(params))
    return Judgement(*map(np.concatenate, zip(*parts, strict=True)))


def evaluate_first(claim: Claim, shape: Shape, params: Parameters, backend: Backend) -> tuple[Parameters, Judgement]:
    """Judge the first instances of a batch, as many as can be judged at once; returns them too."""
    try:
        return params, _judged_at_once(claim, shape, params, backend)
    except TooManyTerms:
        if number_of(params) == 1:
            return params, _infeasible(1)
        return evaluate_first(claim, shape, halves(params)[0], backend)


def _judged_at_once(claim: Claim, shape: Shape, params: Parameters, backend: Backend) -> Judgement:
    if claim.exists is not None:
        return _at_the_best_value(claim, shape, params, backend)
    with np.errstate(all="ignore"):
        return judge(claim, RUNS.simulate(claim, shape, params, backend, MOST_TERMS))


def _at_the_best_value(claim: Claim, shape: Shape, params: Parameters, backend: Backend) -> Judgement:
    """Judge each instance at the value of the number that is said to exist which breaks the statement least: on a grid, then
    around the best value found. An instance on which a value does is not looked at further; one on which only a closer look
    would tell counts as equal. One on which a hypothesis fails that must hold for every value does not count."""
    count, name, hypotheses = number_of(params), position_of(claim), existential_conditions(claim)
    counts = np.ones(count, dtype=bool)
    best = Judgement(np.full(count, np.inf), np.full(count, np.inf), np.zeros(count, dtype=bool))
    at, excluded = np.ones(count), excluded_positions(claim)
    tried = sorted({*PLACES} - excluded)

    def look(places: np.ndarray, rows: np.ndarray) -> None:
        places = places.clip(min(tried), max(tried))
        some = take_rows(params, rows) | {name: places}
        with np.errstate(all="ignore"):
            environment = simulate(claim, shape, some, backend, most=MOST_TERMS).remembering()
            here = judge(claim, environment)
            for condition in (*hypotheses.others, *hypotheses.every) if not here.met.all() else ():
                counts[rows] &= holds(condition, environment, len(rows))
        less = here.met & (here.score < best.score[rows])
        best.score[rows[less]], best.ratio[rows[less]], at[rows[less]] = here.score[less], here.ratio[less], places[less]
        best.met[rows] |= here.met

    def broken() -> np.ndarray:
        return np.flatnonzero(counts & (~best.met | (best.score > 0)))

    for place in (place for place in PLACES if place not in excluded):
        if (rows := broken()).size:
            look(np.full(len(rows), place), rows)
    rows = np.flatnonzero(counts & best.met & (best.score > 0))
    rows, others = np.split(rows[np.argsort(-best.score[rows], kind="stable")], [_CLOSELY])
    best.score[others], best.ratio[others] = 0.0, 0.0
    bracket = Bracket(np.array(tried), at)
    for _ in range(_HALVINGS):
        rows = rows[counts[rows] & (best.score[rows] > 0)]
        for places in bracket.sides(rows) if rows.size else ():
            look(places, rows)
        bracket.step(rows, at[rows])
    met = counts & best.met
    return Judgement(np.where(met, best.score, -1.0), np.where(met, best.ratio, 0.0), met)


def _infeasible(count: int) -> Judgement:
    return Judgement(*np.full((2, count), -1.0), np.zeros(count, dtype=bool))
