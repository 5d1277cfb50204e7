"""The search for statements that fail after many rounds alone, by instances whose state is then a power of a matrix
(:mod:`verify.checker.long_run`)."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import sympy as sp

from bounds.language.claim import Claim
from bounds.language.coordinates import highest
from synthetic.numbers.arrays import each
from synthetic.numbers.balls import Ball
from synthetic.numbers.roots import Irrational
from verify.checker.limits import MANY_ROUNDS, WorkLimit
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import allowed, once_by_claim
from verify.evaluation.environment import UNMEASURED
from verify.exact.by_checker import MOST_WORK, judged_by_checker
from verify.exact.confirm import Violation
from verify.instances.parameters import Parameters, map_params, take_rows
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import Shape, with_times
from verify.instances.shapes import small_shapes
from verify.search.batch_evaluation import evaluate_first
from verify.search.stage import State

__all__ = ["after_many_rounds", "has_long_runs", "is_fit", "violation_or_ratio"]

_SOME, _MORE, _MANY = 120, 480, (9000, 90_000)  # rounds
_KEPT, _SHAPES, _ROWS = 12, 5, 2  # instances of an archive; shapes of other ones, and how many of each
_STEPS, _LONGER = 32, 2  # local steps of more shapes, and how many of these there are
_GROWING, _TIGHT = 4, 1  # instances that are followed farther: whose ratio grows most, and those with the largest one
_UNKNOWN = 3  # instances of which nothing is known, after which no other one is looked at
_MOST_CLIENTS, _LEAST = 6, 1e-290  # a side below which no ratio is looked at
_HALVINGS = 6
_OWN_SEED = 271
_WORK = 2  # times the work of a replay: of all of them, but those that look for the least number of rounds


def after_many_rounds(state: State) -> Violation | None:
    """A violation after many rounds, if the checker sees one, by instances with quadratic losses: of those whose ratio of
    the left to the right side is large or grows."""
    claim, looked_at, unknown, meter = state.claim, [], 0, WorkLimit(_WORK * MOST_WORK)
    if not has_long_runs(claim):
        return None
    for shape, params in _instances(state):
        exact, ratios = (shape, map_params(params, lambda name, a: each(a, Fraction))), []
        for rounds in (_SOME, _MORE):
            ratio = violation_or_ratio(claim, *exact, rounds, meter)
            if isinstance(ratio, Violation):
                return ratio
            if ratio is None and not any(ratios) and not looked_at:  # the method is not the same in every round, say
                unknown += 1
                if unknown > _UNKNOWN:
                    return None
            ratios.append(ratio or 0.0)
        if min(ratios) > 0:
            looked_at.append((exact, *ratios))
    growing = sorted(looked_at, key=lambda one: one[1] / one[2])
    tight = sorted(growing[_GROWING:], key=lambda one: -one[2])
    for exact, _, before in (*growing[:_GROWING], *tight[:_TIGHT]):
        fewer = _MORE
        for rounds in _MANY if _step_is_constant(claim) else ():
            ratio = violation_or_ratio(claim, *exact, rounds, meter)
            if isinstance(ratio, Violation):
                return _earlier(claim, *exact, fewer, rounds, ratio)
            if (ratio or 0.0) <= before:
                break
            before, fewer = ratio, rounds
    return None


@once_by_claim
def has_long_runs(claim: Claim) -> bool:
    """Whether the claim is about the end of runs of any number of rounds, which a power of a matrix may give."""
    if claim.setting != "run" or speaks_of_samples(claim) or claim.exists is not None or _steps_are_tied(claim):
        return False
    said_of_one = not claim.statement.over and not _speaks_of_every_round(claim)  # of every round short runs tell as much
    return said_of_one and "rounds" in claim.names


def _speaks_of_every_round(claim: Claim) -> bool:
    """Whether the statement has a sum, or a smallest or largest number, over a range as long as the run: all its states,
    of which each would be computed by itself."""
    formulas = [claim.statement.left, claim.statement.right, *(rule.formula for rule in claim.used_definitions().values())]
    ends = [end for formula in formulas for node in sp.sympify(formula).atoms(sp.Sum, sp.Product, highest)
            for end in (node.args[1:3] if isinstance(node, highest) else node.limits[0][1:])]
    return any({str(symbol) for symbol in end.free_symbols} & {"rounds", "iterations"} for end in ends)


@once_by_claim
def _steps_are_tied(claim: Claim) -> bool:
    """Whether a hypothesis is about several steps, as ``eta_l[t] == eta_l[t+1]`` is."""
    return any(len({entry for side in (c.left, c.right) for entry in _steps(side)}) > 1 for c in claim.hypotheses)


@once_by_claim
def _step_is_constant(claim: Claim) -> bool:
    """Whether a hypothesis gives every step the same size."""
    given = claim.defining.get("eta_l")
    return given is not None and not {index for index, *_ in given.over} & {*given.right.free_symbols}


def _steps(formula: sp.Expr) -> list[sp.Indexed]:
    return [entry for entry in sp.sympify(formula).atoms(sp.Indexed) if str(entry.base.label) == "eta_l"]


def _earlier(claim: Claim, shape: Shape, params: Parameters, fewer: int, rounds: int, violation: Violation) -> Violation:
    """A violation after about the least number of rounds, between a number that shows none and one that does."""
    for _ in range(_HALVINGS):
        middle = round((fewer * rounds) ** 0.5)
        found = violation_or_ratio(claim, shape, params, middle, WorkLimit(MOST_WORK))
        if isinstance(found, Violation):
            violation, rounds = found, middle
        else:
            fewer = middle
    return violation


def violation_or_ratio(claim: Claim, shape: Shape, params: Parameters, iterations: int, meter: WorkLimit,
                       ) -> Violation | float | None:
    """The violation of an explicit claim after so many iterations, or the ratio of the sides; None where the checker does
    not know them, or where the ``meter`` has no work left for it."""
    rounds = max(iterations // shape.local_steps, MANY_ROUNDS + 1)
    shape, params = with_times(claim, shape, params, shape.local_steps, rounds)
    shape = replace(shape, many_draws=True)
    if not allowed(claim, shape.as_sizes()):
        return None
    try:
        own = WorkLimit(min(MOST_WORK, meter.most - meter.spent))
        environment, accepted, reason, left, right = judged_by_checker(claim, shape, params, own)
        meter.spent = min(meter.most, meter.spent + own.spent)
    except (Irrational, *UNMEASURED):  # a constant of the instance is a root that is no fraction, say
        return None
    known = all(isinstance(side, Fraction | Ball) for side in (left, right))
    if not known or not (accepted or reason.startswith("nothing")):
        return None
    if accepted:
        return Violation(shape, params, environment, left, right)
    left, right = (float(right), float(left)) if claim.statement.relation == ">=" else (float(left), float(right))
    return left / right if min(left, right) > _LEAST else 0.0


def _instances(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """The tightest instances, those of each kind, and some of a few small shapes, the highest and random ones."""
    for shape, params in (*state.archive.tightest(_KEPT), *state.archive.first_of_each_kind()):
        if is_fit(shape):
            yield shape, params
    rng = np.random.default_rng([*state.seeds, _OWN_SEED])
    shapes = small_shapes(state.claim, rng, state.budget.most_outcomes, 4 * state.budget.small)
    shapes = [*dict.fromkeys(QUADRATIC.fitting(shape) for shape in shapes)]
    shapes = [shape for shape in shapes if is_fit(shape) and shape.clients > 1]
    longer = [replace(shape, local_steps=_STEPS) for shape in shapes if not shape.noisy]
    for shape in (*shapes[:_SHAPES], *[shape for shape in longer if allowed(state.claim, shape.as_sizes())][:_LONGER]):
        params, verdict = evaluate_first(
            state.claim, shape, state.draw_batch(shape, state.budget.small_rows, rng), state.backend)
        met = np.flatnonzero(verdict.met)
        best = [int(np.argmax(np.where(verdict.met, verdict.score, -2.0)))] if met.size else []
        for row in dict.fromkeys((*best, *met[:_ROWS])):
            yield shape, take_rows(params, [int(row)])


def is_fit(shape: Shape) -> bool:
    """Whether the checker may know the state of such runs after many rounds."""
    return shape.family == QUADRATIC and shape.clients <= _MOST_CLIENTS and not shape.free
