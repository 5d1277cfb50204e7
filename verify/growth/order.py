"""Statements with a constant hidden in O(.): the constant taken out of them, and given a value.

``left <= A + C * B`` with a constant C that is not printed holds for some C if and only if ``(left - A) / B`` is bounded.
With a value c for C it is an ordinary claim, and every counterexample to that one with ``B >= 0`` rules out all C <= c.
"""

from dataclasses import replace
from typing import NamedTuple

import sympy as sp

from bounds.language import operators
from bounds.language.claim import HIDDEN, Claim, Condition, names_in
from bounds.language.names import CONSTANT, names_from
from verify.claims.hypotheses import given_numbers
from verify.claims.method import own_arguments
from verify.claims.open_constants import shown_by_runs

__all__ = ["Order", "hides_logarithms", "leaves_the_step_open", "never_vanishes", "order_of", "vanishing", "with_constant"]

_C = sp.Symbol("hidden constant", positive=True)
_OF_NUMBERS = (sp.Number, sp.Symbol, sp.Add, sp.Mul, sp.Pow, sp.exp, sp.Min, sp.Max, sp.Abs)


class Order(NamedTuple):
    """``measured relation C * scale`` with a hidden constant C; ``measured`` is what is left without the rest."""

    measured: sp.Expr
    relation: str
    scale: sp.Expr
    over: tuple


def order_of(claim: Claim) -> Order:
    """The claim's statement with one constant in place of all hidden ones.

    Several constants hold if the largest of them does. Raises NotImplementedError, with the reason, where a hidden
    constant stands elsewhere than as a factor on the right of an inequality.
    """
    names, statement = {v.name for v in claim.variables if v.domain in HIDDEN}, claim.statement
    for condition in claim.hypotheses:
        if names & (names_in(condition.left) | names_in(condition.right)):
            raise NotImplementedError("a hypothesis hides a constant, not the statement alone")
    if statement.relation == "==" or names & names_in(statement.left):
        raise NotImplementedError("only an inequality with its hidden constants on the right side can be decided")
    right = statement.right.xreplace({s: _C for s in statement.right.free_symbols if s.name in names})
    scale = sp.diff(right, _C)
    if scale == 0 or scale.has(_C):
        raise NotImplementedError(f"the hidden {', '.join(sorted(names))} are not factors of the right side")
    rest = right.xreplace({_C: sp.Integer(0)})
    return Order(statement.left - rest, statement.relation, scale, statement.over)


def hides_logarithms(claim: Claim) -> bool:
    """Whether a hidden constant may grow like a power of a logarithm."""
    return any(v.domain == HIDDEN[1] for v in claim.variables)


def never_vanishes(claim: Claim) -> bool:
    """Whether the signs that numbers of an instance must have make positive what hidden constants multiply."""
    scale, given = order_of(claim).scale, given_numbers(claim.hypotheses)
    if not all(isinstance(node, _OF_NUMBERS) for node in sp.preorder_traversal(scale)):
        return False
    own = {v.name: v.low for v in claim.variables if v.domain == "integer"}
    kept = {}
    for symbol in scale.free_symbols:
        if symbol.name in claim.definitions:
            at_least_zero = _above_the_least(claim.definitions[symbol.name].formula)
            kept[symbol] = sp.Dummy(nonnegative=True) if at_least_zero else sp.Dummy()
        elif symbol in given or own.get(symbol.name, 1) < 1:
            kept[symbol] = sp.Dummy()
    return bool(scale.xreplace(kept).is_positive)


def _above_the_least(formula: sp.Expr) -> bool:
    """Whether the formula is the objective somewhere, or its mean over chance, less its least value."""
    value = formula + operators.F_star
    return isinstance(value.args[0] if isinstance(value, operators.E) else value, operators.objective)


def leaves_the_step_open(claim: Claim) -> bool:
    """Whether a claim about runs neither defines its step size nor bounds it from above, or has another hyper-parameter of
    which no condition speaks.

    An order that is claimed without a step size is meant for a good one, so a run that diverges does not refute it; unless
    the order is one of nothing but what the hypotheses let the run itself show, as of the error of local solutions: then a
    bad step stands on the right side too.
    """
    if claim.setting != "run" or _shown_by_the_run(claim):
        return False
    spoken_of = set().union(*(names_in(side) for c in claim.hypotheses for side in (c.left, c.right)))
    free = {v.name for v in claim.variables if v.domain in ("positive", "nonnegative", "real") and not v.indices}
    if (free & set(own_arguments(claim.procedure))) - spoken_of:
        return True
    declared, steps, equalities = {v.name for v in claim.variables} - {*names_from(CONSTANT)}, {"eta_l"}, 0
    for condition in claim.hypotheses:
        others = names_in(condition.right) - {str(index[0]) for index in condition.over}
        if condition.relation == "==" and names_in(condition.left) & {"eta_l"} and "eta_l" not in others:
            equalities += not others & declared
            steps |= others & declared
    bounded = any(
        condition.relation == "<=" and (condition.left.is_Symbol or isinstance(condition.left, sp.Indexed))
        and names_in(condition.left) & steps for condition in claim.hypotheses)
    return not (bounded or equalities)


def _shown_by_the_run(claim: Claim) -> bool:
    """Whether hidden constants multiply nothing but constants that hypotheses bound from below by what happens in runs."""
    try:
        scale = order_of(claim).scale
    except NotImplementedError:
        return False
    return bool(scale.free_symbols) and {s.name for s in scale.free_symbols} <= shown_by_runs(claim)


def _explicit(claim: Claim, statement: Condition, change: str, conditions=()) -> Claim:
    variables = tuple(v for v in claim.variables if v.domain not in HIDDEN)
    return replace(claim, statement=statement, explicit=True, variables=variables, limits=(),
                   conditions=(*claim.conditions, *conditions), reading=f"{claim.reading}; {change}")


def with_constant(claim: Claim, constant) -> Claim:
    """The claim with a value for its hidden constant; the statement of a lower bound takes its inverse. With None, what the
    claim says whatever the constant (:func:`vanishing`)."""
    if constant is None:
        return vanishing(claim)
    order, constant = order_of(claim), sp.Rational(constant)
    factor = constant if order.relation == "<=" else 1 / constant
    return _explicit(claim, Condition(order.measured, order.relation, factor * order.scale, order.over),
                     f"with {factor} for the hidden constant")


def vanishing(claim: Claim) -> Claim:
    """The explicit claim that holds for every constant if the order holds: the left side is at most 0 wherever the right
    side vanishes."""
    order = order_of(claim)
    if order.relation == ">=":
        raise NotImplementedError("a lower bound with a hidden factor says nothing where the factor's scale vanishes")
    return _explicit(claim, Condition(order.measured, "<=", 0, order.over),
                     "where the right side vanishes", (Condition(order.scale, "<=", 0, order.over),))
