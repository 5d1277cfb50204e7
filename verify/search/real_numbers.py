"""The stage of real numbers: single numbers at which z3 says that hypotheses hold and the statement fails."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition
from verify.instances.draw import draw_params, draw_shape
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.prove.satisfiable import Satisfiability, Untranslatable, satisfiable
from verify.search.points_of_equations import points_of_equations
from verify.search.stage import State

__all__ = ["by_real_arithmetic", "no_real_counterexample", "written_out"]

_OWN_SEED = 1618
_BESIDE = (1 - 2.0**-30, 1 + 2.0**-30)  # factors of numbers, where floats lose by how little one breaks a statement
_STEPS = 100_000  # of z3: about a fifth of a second


def by_real_arithmetic(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Yields an instance for each way in which z3 finds that the statement of a claim about single numbers fails. Yields
    nothing at the smallest level of a budget, where few claims need it."""
    claim = state.claim
    if not state.budget.generations or not _about_single_numbers(claim):
        return
    rng = np.random.default_rng([*state.seeds, _OWN_SEED])
    for conditions, found in _answers(claim):
        if found.answer != "yes":
            continue
        near = {name: _number(text) for name, text in found.witness.items()}
        beside = ({name: value * factor for name, value in near.items()} for factor in _BESIDE)
        for values in (near, *beside, *points_of_equations(conditions, near)):
            shape = state.shapes(draw_shape, state.budget.most_iterations, rng=rng)
            sizes = {name: max(1, round(values.get(name, size))) for name, size in shape.sizes}
            shape = replace(shape, sizes=(*sizes.items(),))
            params = draw_params(claim, shape, 1, rng)
            yield shape, params | {name: np.full(params[name].shape, values[name]) for name in params if name in values}


def no_real_counterexample(claim: Claim) -> bool:
    """Whether z3 says that no real numbers meet the hypotheses of a claim about single numbers and break its statement."""
    if not _about_single_numbers(claim):
        return False
    answers = [found.answer for _, found in _answers(claim)]
    return bool(answers) and {*answers} == {"no"}


def _answers(claim: Claim) -> Iterator[tuple[list[Condition], Satisfiability]]:
    """Yields, for each way in which the statement may fail, the conditions and whether z3 finds that numbers meet them;
    nothing where formulas have no translation."""
    try:
        ways = [[written_out(claim, c) for c in (*claim.hypotheses, broken, *_upper_ends(claim))]
                for broken in _opposites(claim.statement)]
    except Untranslatable:
        return
    for conditions in ways:
        yield conditions, satisfiable(conditions, core=False, steps=_STEPS)


def _about_single_numbers(claim: Claim) -> bool:
    return (claim.setting == "algebra" and claim.exists is None and not claim.statement.over
            and not any(v.indices or v.domain in ("vector", "binary", "simplex") for v in claim.variables))


def _upper_ends(claim: Claim) -> list[Condition]:
    """Returns ``x < bound`` for each variable x that is declared below a bound."""
    return [Condition(sp.Symbol(v.name, real=True), "<", v.below) for v in claim.variables
            if v.below is not None and v.name in claim.names]


def _opposites(c: Condition) -> list[Condition]:
    """Returns the conditions of which one holds where ``c`` fails."""
    if c.relation == "==":
        return [Condition(c.left, "<", c.right), Condition(c.left, ">", c.right)]
    opposite = {"<=": ">", ">=": "<", "<": ">=", ">": "<="}[c.sign]
    return [Condition(c.left, opposite, c.right)]


def written_out(claim: Claim, c: Condition) -> Condition:
    """Returns a condition with the claim's definitions put in. Raises Untranslatable where one of them has indices."""
    if c.over or any(rule.indices for rule in claim.used_definitions().values()):
        raise Untranslatable(f"{c.left} {c.sign} {c.right} has indices")
    put = {rule.symbol: rule.formula for rule in claim.used_definitions().values()}
    sides = c.left, c.right
    for _ in put:  # a definition may use others
        sides = tuple(side.xreplace(put) for side in sides)
    return Condition(sides[0], c.sign, sides[1])


def _number(text: str) -> float:
    """Parses a number of z3: a fraction, or the first digits of an algebraic number, behind which a question mark stands."""
    return float(Fraction(text.removesuffix("?")))
