"""Kinds of expressions, and the methods of :class:`verify.evaluate.Evaluator` that evaluate them."""

from __future__ import annotations

from functools import cache

import sympy as sp

from bounds import language as words

__all__ = ["KEPT", "method_for"]

_METHODS = (
    (sp.Rational | sp.Float, "constant"), (sp.Symbol, "symbol"), (sp.Indexed, "indexed"), (sp.Add, "sum_of_terms"),
    (sp.Mul, "product_of_factors"), (sp.Pow, "power"), (sp.Sum | sp.Product, "accumulate"), (sp.Max | sp.Min, "extreme"),
    (sp.Abs, "absolute"), (words.tau | sp.Mod, "of_indices"), (words.norm2, "norm2"), (words.norm, "norm"),
    (words.dot, "dot"), (words.F, "client_loss"), (words.grad, "client_gradient"), (words.objective, "objective"),
    (words.objective_grad, "objective_gradient"), (words.E, "expectation"),
    (words.E_round, "expectation_given_rounds"), (sp.NumberSymbol, "named_number"),
)
#: methods whose values are kept while names keep their meaning
KEPT = frozenset({"accumulate", "norm2", "norm", "dot", "client_loss", "client_gradient", "objective",
                   "objective_gradient", "expectation", "expectation_given_rounds"})


@cache
def method_for(kind: type) -> str:
    """Name of the method that evaluates expressions of a kind; ``"word"`` of those that papers add."""
    return next((name for known, name in _METHODS if issubclass(kind, known)), "word")
