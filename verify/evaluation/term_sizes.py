"""The sizes of an expression's terms, to which rounding errors are relative."""

import numpy as np
import sympy as sp

from bounds.language import operators
from bounds.language.claim import Condition
from synthetic.numbers.arrays import add_up, namespace
from verify.evaluation.environment import Environment
from verify.evaluation.evaluate import Evaluator, Value, sides_by

__all__ = ["sizes_of_sides"]


def sizes_of_sides(condition: Condition, environment: Environment):
    """:func:`verify.evaluation.evaluate.sides` with the absolute value of every term."""
    left, right, mask = sides_by(SizeEvaluator(environment), condition)
    return abs(left), abs(right), mask


class SizeEvaluator(Evaluator):
    """Adds absolute values. A difference of vectors keeps 1e-4 of its terms, so that the size of its squared norm, times
    1e-11, covers the rounding error ``eps |a| |a - b| + (eps |a|)^2`` of that norm."""

    of_sizes = True

    def value(self, node, scope) -> Value:
        if _nothing_cancels(node, self.env):
            return Evaluator(self.env).value(node, scope)
        value = super().value(node, scope)
        return value if value.vector else value._replace(data=abs(value.data))

    def dot(self, node, scope) -> Value:
        a, b = (self.vector(arg, scope) for arg in node.args)
        return Value(add_up(abs(a * b)))

    def add(self, parts) -> Value:
        total = super().add(parts)
        terms = sum(abs(part.data) for part in self.alike(parts))
        return Value(abs(total.data) + 1e-4 * terms, True) if total.vector else total._replace(data=terms)

    def extreme(self, node, scope) -> Value:
        return super().extreme(sp.Max(*node.args, evaluate=False), scope)  # rounding may exchange the arguments of a minimum

    def power(self, node, scope) -> Value:
        """A relative error of the base, ``size(b) / |b|`` and at least one, is one of its reciprocal; of ``b**n`` it is one
        |n| times over, however small that is."""
        if not (node.exp.is_integer or (node.exp.is_Rational and node.exp.is_negative)):
            return super().power(node, scope)
        exact = Evaluator(self.env)
        base, value = exact.value(node.base, scope).data, exact.power(node, scope).data
        xp, size = namespace(base), self.value(node.base, scope).data
        relative = size / xp.where(base == 0, size, abs(base))
        if node.exp.is_integer:
            times = abs(exact.value(node.exp, scope).data)
            relative = relative * xp.where(times > 1, times, 0 * times + 1)
        error = abs(value) * relative
        return Value(_least(super().power(node, scope).data, error) if node.exp.is_nonnegative else error)

    def client_loss(self, node, scope):
        return self._loss(Evaluator.client_loss, node, scope)

    def client_gradient(self, node, scope):
        return self._of_slopes(node, scope, self.integer(node.args[0], scope), node.args[1])

    def objective(self, node, scope):
        return self._loss(Evaluator.objective, node, scope)

    def _loss(self, compute, node, scope) -> Value:
        """A loss at the point itself, of the federation whose losses are the sizes of the terms of these, if it is known."""
        exact, federation = Evaluator(self.env), self.env.federation
        of_terms = getattr(federation, "of_terms", federation)
        return exact.value(node, scope) if of_terms is federation else compute(exact, node, scope, of_terms)

    def objective_gradient(self, node, scope):
        return self._of_slopes(node, scope, None, node.args[0])

    def _of_slopes(self, node, scope, number, point) -> Value:
        """A gradient. Terms as large as L |point| cancel in it, with the L of the client, or the largest for the mean."""
        exact = Evaluator(self.env)
        value = exact.value(node, scope)
        if "L_client" not in self.env.bound:
            return value
        smoothness, x = self.env.bound["L_client"].data, exact.vector(point, scope)
        xp = namespace(x)
        if number is None:
            smoothness = xp.max(smoothness, axis=-1).reshape(*smoothness.shape[:3], *(1,) * scope.depth)
        else:
            smoothness = smoothness[..., np.clip(number, 0, smoothness.shape[-1] - 1)]
        length = xp.sqrt(add_up(x * x))
        return Value(abs(value.data) + 1e-4 * (smoothness * length)[..., None], True)


def _least(one, other):
    one, other = namespace(one).broadcast_arrays(one, other)
    return namespace(one).where(other < one, other, one)


def _nothing_cancels(node, environment: Environment) -> bool:
    """Whether an expression adds only nonnegative numbers, so that its size is its value."""
    known, key = environment.constants, ("nothing cancels", node)
    if key not in known:
        known[key] = _adds_no_signs(node, environment)
    return known[key]


def _adds_no_signs(node, environment: Environment) -> bool:
    if isinstance(node, sp.Symbol | sp.Indexed):
        name = (node.base.label if isinstance(node, sp.Indexed) else node).name
        if name in environment.definitions:
            return _nothing_cancels(environment.definitions[name].formula, environment)
        return bool(node.is_nonnegative)
    if isinstance(node, operators.norm2 | operators.norm):
        vector = node.args[0]
        return isinstance(vector, sp.Indexed) and vector.base.label.name not in environment.definitions
    if isinstance(node, sp.Pow):
        return _nothing_cancels(node.base, environment)
    if isinstance(node, sp.Add | sp.Mul | sp.Max):
        return all(_nothing_cancels(part, environment) for part in node.args)
    if isinstance(node, sp.Sum | sp.Product | operators.E | operators.E_round):
        return _nothing_cancels(node.args[0], environment)
    return bool(node.is_Number and node.is_nonnegative)
