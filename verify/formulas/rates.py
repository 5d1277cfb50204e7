"""The rate of a bound in each of its parameters as it grows or vanishes, all others fixed."""

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

import numpy as np
import sympy as sp

from bounds.formulas.orders import Order, leading_order, sign_of
from bounds.language.claim import Claim, Condition, names_in
from verify.formulas.bound import Bound, ranges_of
from verify.formulas.compiled import compiled
from verify.formulas.points import parameter_sets
from verify.prove.satisfiable import satisfiable

__all__ = ["LENGTHS", "order_in", "positive", "rates", "sign_under", "tied_to"]

LENGTHS = ("iterations", "rounds")  # how long a run is
_MARGIN = sp.Dummy("margin of conditions", positive=True)  # distance to the border of every condition
_ALGEBRAIC = (sp.Add, sp.Mul, sp.Max, sp.Min, sp.Abs)


def rates(bound: Bound) -> dict[str, dict[str, str]]:
    """Return for each parameter the leading order of the bound as it tends to infinity (``oo``) and to zero (``0``).

    ``none: ...``: there is no such limit, since whole numbers do not vanish and a condition may keep a parameter from
    growing. ``?``: the rules do not decide. ``not known: NAMES``: these parameters change with it (:func:`tied_to`).
    """
    found, ranges, sign = {}, ranges_of(bound), sign_under(bound)
    for symbol in bound.form.parameters:
        tied = tied_to(bound, symbol.name)
        if tied:
            found[symbol.name] = dict.fromkeys(("oo", "0"), f"not known: {', '.join(tied)}")
            continue
        grows, vanishes = order_in(bound, symbol, sign=sign), "none: a whole number"
        if not ranges[symbol.name].whole:
            order = order_in(bound, symbol, sp.S.Zero, sign)
            vanishes = "?" if order is None else order.text(symbol)
        found[symbol.name] = {"oo": _largest(bound, symbol) if grows is None else grows.text(symbol), "0": vanishes}
    return found


def _largest(bound: Bound, symbol: sp.Symbol) -> str:
    """Describe growth where the rules give no order: the constant that bounds the parameter, if any."""
    bounds = [c.right for c in bound.conditions if c.relation == "<=" and c.left == symbol]
    return next((f"none: at most {right}" for right in bounds if symbol not in right.free_symbols), "?")


def order_in(bound: Bound, symbol: sp.Symbol, at=sp.oo, sign=None) -> Order | None:
    """Return the leading order of the bound in a parameter; None if the rules do not decide or others are tied to it.

    Valid in the interior of the claim's conditions, where no coefficient vanishes (K - 1 vanishes at K = 1).
    """
    if tied_to(bound, symbol.name):
        return None
    return leading_order(bound.form.formula, symbol, at, sign or sign_under(bound))


def tied_to(bound: Bound, name: str) -> tuple[str, ...]:
    """Return the measured parameters that depend on the run length ``name``, such as sums over the run and its last model.

    Their value at one length says nothing about another, so that the rate in ``name`` alone is unknown.
    """
    if name not in LENGTHS:
        return ()
    used = {s.name: e for s, e in bound.form.measured.items() if s in bound.form.parameters}
    return tuple(sorted(one for one, e in used.items() if _mentions_length(bound.claim, e)))


def _mentions_length(claim: Claim, e) -> bool:
    """Whether an expression, or a definition that it uses, mentions the length of a run."""
    seen, names = set(), set(names_in(e))
    while more := names & set(claim.definitions) - seen:
        seen |= more
        names = names.union(*(names_in(claim.definitions[name].formula) for name in more))
    return bool(names & set(LENGTHS))


# signs -------------------------------------------------------------------------------------------------------------------
def sign_under(bound: Bound):
    """Return a function that gives the sign of a formula in the interior of the claim's conditions, or None.

    The sign follows from those of the symbols, else z3 proves it from the algebraic conditions.
    """
    conditions = _within(tuple(Condition(positive(c.left), c.sign, positive(c.right)) for c in bound.conditions
                               if _is_algebraic(c.left) and _is_algebraic(c.right)))
    points: dict[str, np.ndarray] | None = None

    def sign(e: sp.Expr) -> int | None:
        nonlocal points
        known = sign_of(e)
        if known is not None or not conditions or not _is_algebraic(e):
            return known
        if points is None:
            try:
                points = parameter_sets(bound, 200)
            except ValueError:  # conditions that exclude each other, or at which the bound has no value
                points = {}
        names = sorted(s.name for s in e.free_symbols)
        if not points or not set(names) <= set(points):
            return None
        values = compiled(names, e)(*(points[n] for n in names))
        seen = set(np.sign(values[np.isfinite(values)]).tolist()) - {0.0}  # zero occurs on borders of conditions
        if len(seen) != 1:
            return None
        likely = int(seen.pop())
        return likely if _proved(conditions, positive(e), likely) else None

    return sign


@lru_cache(maxsize=512)
def _within(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """Return the conditions with strict inequalities, unless these exclude each other."""
    strict = tuple(Condition(*{"<=": (c.left + _MARGIN, "<=", c.right), ">=": (c.left, ">=", c.right + _MARGIN)}.get(
        c.relation, (c.left, c.relation, c.right))) for c in conditions)
    return strict if satisfiable(strict).answer == "yes" else conditions


@lru_cache(maxsize=4096)
def _proved(conditions: tuple[Condition, ...], e: sp.Expr, sign: int) -> bool:
    return satisfiable([*conditions, Condition(e, "<=" if sign > 0 else ">=", 0)]).answer == "no"


def positive(formula: sp.Expr, fixed: Mapping[str, Fraction] | tuple[()] = ()) -> sp.Expr:
    """Replace every parameter by a positive symbol or its fixed value."""
    values = {s: sp.Rational(fixed[s.name]) if s.name in fixed else sp.Symbol(s.name, positive=True, integer=s.is_integer)
              for s in formula.free_symbols}
    return formula.xreplace(values)


def _is_algebraic(e) -> bool:
    return not e.args or (isinstance(e, _ALGEBRAIC) and all(map(_is_algebraic, e.args))) or (
        e.is_Pow and e.exp.is_Rational and _is_algebraic(e.base))
