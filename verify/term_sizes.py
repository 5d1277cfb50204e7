"""The sizes of an expression's terms, against which rounding errors are measured."""

from __future__ import annotations

import sympy as sp

from bounds.claim import Condition
from synthetic.arrays import namespace
from verify.evaluate import Environment, Evaluator, Value, sides_by

__all__ = ["sizes_of_sides"]


def sizes_of_sides(condition: Condition, environment: Environment):
    """Like :func:`sides`, but with the absolute value of every term: what rounding errors are measured against."""
    left, right, mask = sides_by(SizeEvaluator(environment), condition)
    return abs(left), abs(right), mask


class SizeEvaluator(Evaluator):
    """Adds absolute values. A difference of vectors keeps 1e-4 of its terms, so that the size of its squared norm, times
    1e-11, covers the rounding error ``eps |a| |a - b| + (eps |a|)^2`` of that norm."""

    of_sizes = True

    def value(self, node, scope) -> Value:
        value = super().value(node, scope)
        return value if value.vector else value._replace(data=abs(value.data))

    def dot(self, node, scope) -> Value:
        a, b = (self.vector(arg, scope) for arg in node.args)
        return Value(namespace(a).sum(abs(a * b), axis=-1))

    def add(self, parts) -> Value:
        total = super().add(parts)
        terms = sum(abs(part.data) for part in self.alike(parts))
        return Value(abs(total.data) + 1e-4 * terms, True) if total.vector else total._replace(data=terms)

    def extreme(self, node, scope) -> Value:
        return super().extreme(sp.Max(*node.args, evaluate=False), scope)  # also of a minimum: which one it is may be lost

    def power(self, node, scope) -> Value:
        """A relative error of the base is one of its reciprocal: ``size(b) / |b|``, at least one, scales the value."""
        if not (node.exp.is_Rational and node.exp.is_negative):
            return super().power(node, scope)
        exact = Evaluator(self.env)
        base, value = exact.value(node.base, scope).data, exact.power(node, scope).data
        return Value(abs(value) * (self.value(node.base, scope).data / abs(base)))

    def _at_the_point(self, node, scope, word):
        return getattr(Evaluator(self.env), word)(node, scope)

    def client_loss(self, node, scope):
        return self._at_the_point(node, scope, "client_loss")

    def client_gradient(self, node, scope):
        return self._at_the_point(node, scope, "client_gradient")

    def objective(self, node, scope):
        return self._at_the_point(node, scope, "objective")

    def objective_gradient(self, node, scope):
        return self._at_the_point(node, scope, "objective_gradient")
