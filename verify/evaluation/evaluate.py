"""Evaluates expressions of the language on a batch of instances."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import ceil, floor, prod
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from bounds.language import operators
from bounds.language.claim import Condition
from synthetic.numbers.arrays import add_up, maximum, namespace
from synthetic.numbers.balls import Ball, Undecided
from synthetic.numbers.roots import product_over, real_power, square_root, whole_power
from verify.evaluation.environment import Environment, NoEntry, TooManyTerms, UnboundName
from verify.evaluation.means import mean_after, mean_over
from verify.evaluation.scopes import LEAD, Scope, enter_ranges, positions, slices

__all__ = ["KEPT", "WORDS", "Evaluator", "Value", "evaluate", "method_for", "sides", "sides_by"]

_MOST_TAKEN = 2**25  # numbers of samples that are gathered at once: 256 MiB
_METHODS = (
    (sp.Rational | sp.Float, "constant"), (sp.Symbol, "symbol"), (sp.Indexed, "indexed"), (sp.Add, "sum_of_terms"),
    (sp.Mul, "product_of_factors"), (sp.Pow, "power"), (sp.Sum | sp.Product, "accumulate"), (sp.Max | sp.Min, "extreme"),
    (sp.Abs, "absolute"), (operators.tau | sp.Mod, "of_indices"), (sp.floor | sp.ceiling, "whole_number"),
    (operators.norm2, "norm2"), (operators.norm, "norm"),
    (operators.dot, "dot"), (operators.F, "client_loss"), (operators.grad, "client_gradient"),
    (operators.objective, "objective"),
    (operators.objective_grad, "objective_gradient"), (operators.E, "expectation"),
    (operators.E_round, "expectation_given_rounds"), (sp.NumberSymbol, "named_number"),
)

#: methods whose values an environment's memory keeps
KEPT = frozenset({"accumulate", "norm2", "norm", "dot", "client_loss", "client_gradient", "objective",
                   "objective_gradient", "expectation", "expectation_given_rounds"})


@cache
def method_for(kind: type) -> str:
    """Name of the method that evaluates expressions of a kind; ``"word"`` for operators beyond the core."""
    return next((name for known, name in _METHODS if issubclass(kind, known)), "word")


#: operators beyond the core, and functions of numbers -> function(evaluator, node, scope) that gives their Value
WORDS: dict[type, Any] = {}


class Value(NamedTuple):
    """A value on a batch: (instances | 1, noise | 1, sampling | 1, one axis per index in scope, [dim]).

    ``nothing``: an empty sum, which is 0 beside numbers and beside vectors.
    """

    data: Any
    vector: bool = False
    nothing: bool = False


def evaluate(expression, environment: Environment):
    """Value of a scalar expression without free indices, (instances | 1, noise | 1, sampling | 1)."""
    return Evaluator(environment).value(sp.sympify(expression), outermost(environment)).data


def sides(condition: Condition, environment: Environment):
    """Both sides of a condition for all its indices, and where it applies: (left, right, mask).

    The arrays (instances | 1, noise | 1, sampling | 1, one axis per index of ``over``) broadcast with each other.
    """
    return sides_by(Evaluator(environment), condition)


def sides_by(evaluator: Evaluator, condition: Condition):
    """:func:`sides` by the given evaluator."""
    scope, mask = enter_ranges(evaluator, condition.over, outermost(evaluator.env))
    left, right = (evaluator.value(side, scope) for side in (condition.left, condition.right))
    if left.vector or right.vector:
        raise TypeError("both sides of a condition must be numbers; got a vector")
    both = left.data, right.data
    if evaluator.env.data_sets is not None:
        both = evaluator.env.data_sets.compared(condition, *both)
    return *both, evaluator.env.backend.booleans(mask)


def outermost(environment: Environment) -> Scope:
    return environment.constants.setdefault("outermost", Scope({}))


def _whole(number, rounding) -> Fraction:
    """An exact number made whole; Undecided where a ball has several such numbers."""
    low, high = map(rounding, number.ends) if isinstance(number, Ball) else [rounding(number)] * 2
    if low != high:
        raise Undecided(f"a whole number between {low} and {high}")
    return Fraction(low)


def _in_blocks(function, federation, point, numbers):
    """``function(federation, point, numbers)``; for clients with samples some columns at a time, as each takes its samples
    along."""
    samples = getattr(federation, "features", None)
    taken = 0 if samples is None else prod(samples.shape[2:]) * point.shape[0]
    columns = max(1, _MOST_TAKEN // taken if taken else point.shape[1])
    parts = [function(federation, point[:, n : n + columns], numbers[:, n : n + columns])
             for n in range(0, max(1, point.shape[1]), columns)]
    return parts[0] if len(parts) == 1 else namespace(point).concat(parts, axis=1)


class Evaluator:
    """Evaluates expressions in an environment, by the kind of their outermost operation."""

    of_sizes = False  #: whether it computes the sizes of terms instead of values

    def __init__(self, environment: Environment):
        self.env = environment

    # numbers ----------------------------------------------------------------------------------------------------------
    def constant(self, value, scope: Scope) -> Value:
        """A whole number, a Fraction, a float, or a number of sympy's."""
        key = (value, scope.depth)
        if key not in self.env.constants:
            if isinstance(value, sp.Number):
                value = Fraction(int(value.p), int(value.q)) if value.is_Rational else float(value)
            self.env.constants[key] = self.env.backend.array(np.full((1,) * (LEAD + scope.depth), value, dtype=object))
        return Value(self.env.constants[key])

    def value(self, node, scope: Scope) -> Value:
        name = method_for(type(node))
        method = getattr(self, name)
        return self.memoised(node, scope, method) if name in KEPT else method(node, scope)

    def sum_of_terms(self, node, scope) -> Value:
        return self.add([self.value(a, scope) for a in node.args])

    def product_of_factors(self, node, scope) -> Value:
        return self.multiply([self.value(a, scope) for a in node.args])

    def absolute(self, node, scope) -> Value:
        inner = self.value(node.args[0], scope).data
        return Value(namespace(inner).abs(inner))

    def of_indices(self, node, scope) -> Value:
        return self.integer_as_value(self.integer(node, scope), scope)

    def whole_number(self, node, scope) -> Value:
        try:
            return self.of_indices(node, scope)
        except UnboundName:
            data, rounding = self.value(node.args[0], scope).data, floor if isinstance(node, sp.floor) else ceil
        if data.dtype == object:
            return Value(np.frompyfunc(lambda number: _whole(number, rounding), 1, 1)(data))
        return Value(getattr(namespace(data), rounding.__name__)(data) + self.of_sizes)

    def named_number(self, node, scope) -> Value:
        return self.value(sp.exp(1, evaluate=False), scope) if node is sp.E else self.constant(float(node), scope)

    def word(self, node, scope) -> Value:
        meaning = self.env.words.get(type(node)) or WORDS.get(type(node))
        if not meaning:
            raise UnboundName(f"no function evaluates {node} ({type(node).__name__}); see verify.evaluation.operators")
        return meaning(self, node, scope)

    def memoised(self, node, scope, compute) -> Value:
        """``compute(node, scope)``, or its kept value for the same environment and scope."""
        known = self.env.known
        if known is None:
            return compute(node, scope)
        key = type(self), node, scope.key
        if key not in known:
            known[key] = compute(node, scope)
        return known[key]

    def symbol(self, node, scope) -> Value:
        name = node.name
        if name in scope.values:
            return self.integer_as_value(scope.values[name], scope)
        if name in self.env.sizes:
            return self.constant(self.env.sizes[name], scope)
        if name in self.env.bound:
            return self.take(name, (), scope)
        if name in self.env.definitions:
            return self.memoised(node, scope, lambda node, scope: self.defined(name, (), scope))
        raise UnboundName(f"nothing supplies {name!r}: it is neither bound by the instance nor defined by a formula")

    def integer_as_value(self, numbers: np.ndarray, scope) -> Value:
        return Value(self.env.backend.array(numbers.reshape((1,) * LEAD + numbers.shape)))

    # indices ----------------------------------------------------------------------------------------------------------
    def integer(self, node, scope: Scope) -> np.ndarray:
        """Value of an index expression, an integer array of ``scope.depth`` axes."""
        if node.is_Symbol and node.name in scope.values:
            return scope.values[node.name]
        if node.is_Integer or (node.is_Symbol and node.name in self.env.sizes):
            return self.whole(int(node) if node.is_Integer else self.env.sizes[node.name], scope.depth)
        if node.is_Add:
            return sum(self.integer(a, scope) for a in node.args)
        if node.is_Mul:
            return np.asarray(np.prod(np.broadcast_arrays(*[self.integer(a, scope) for a in node.args]), axis=0))
        if isinstance(node, operators.tau):
            inner = self.integer(node.args[0], scope)
            return inner - inner % self.env.sizes["local_steps"]
        if isinstance(node, sp.Mod):
            return self.integer(node.args[0], scope) % self.integer(node.args[1], scope)
        if isinstance(node, sp.floor | sp.ceiling):
            above, below = (self.integer(part, scope) for part in sp.fraction(sp.together(node.args[0])))
            return above // below if isinstance(node, sp.floor) else -(-above // below)
        if isinstance(node, sp.Max | sp.Min):
            combine = np.maximum if isinstance(node, sp.Max) else np.minimum
            parts = [self.integer(a, scope) for a in node.args]
            return parts[0] if len(parts) == 1 else combine(*parts)
        raise UnboundName(f"{node} is not an index expression")

    def whole(self, number: int, depth: int) -> np.ndarray:
        """A whole number, as an index expression."""
        known, key = self.env.constants, ("whole", number, depth)
        if key not in known:
            known[key] = np.full((1,) * depth, number)
        return known[key]

    def enter(self, name, low, high, scope: Scope):
        """The scope with one more index over low..high, and where along all axes that index is in range."""
        key = name, low, high
        if key in scope.entered:
            return scope.entered[key]
        low, high = self.integer(sp.sympify(low), scope), self.integer(sp.sympify(high), scope)
        numbers = np.arange(int(low.min()), int(high.max()) + 1) if low.size and high.size else np.arange(0)
        inside = (numbers >= low[..., None]) & (numbers <= high[..., None])
        deeper = scope.deeper(name, numbers, inside)
        if self.env.most_terms is not None and deeper.inside.size > self.env.most_terms:
            raise TooManyTerms(f"at most {self.env.most_terms} values of indices are admitted; got {deeper.inside.size}")
        scope.entered[key] = deeper, inside
        return deeper, inside

    def indexed(self, node, scope) -> Value:
        name = node.base.label.name
        if name in self.env.bound:
            return self.take(name, node.indices, scope)
        if name in self.env.definitions:
            return self.memoised(node, scope, lambda node, scope: self.defined(name, node.indices, scope))
        raise UnboundName(f"nothing supplies {name!r}: it is neither bound by the instance nor defined by a formula")

    def take(self, name, indices, scope) -> Value:
        data, count, vector, times = self.env.bound[name]
        if len(indices) != count:
            raise TypeError(f"{name} takes {count} indices; got {len(indices)}")
        if count == 0:
            shape = (*data.shape[:LEAD], *(1,) * scope.depth, *data.shape[LEAD:])
            return Value(data.reshape(shape), vector)
        along = None if scope.clip or times is not None else slices(name, indices, scope, data.shape[LEAD:])
        if along:  # without looking up every entry
            places, shape = along
            return Value(data[places].reshape((*data.shape[:LEAD], *shape, *data.shape[LEAD + count :])), vector)
        numbers = []
        for axis, index in enumerate(indices):
            number, size = self.integer(index, scope), data.shape[LEAD + axis]
            if axis == 0 and times is not None:
                number = positions(name, number, times)
            elif scope.clip:
                number = np.clip(number, 0, max(size - 1, 0))
            elif number.size and (number.min() < 0 or number.max() >= size):
                raise NoEntry(f"index {axis} of {name} must lie in 0..{size - 1}; got {number.min()}..{number.max()}")
            numbers.append(self.env.backend.integers(number) if self.env.backend.library == "torch" else number)
        return Value(data[(slice(None),) * LEAD + tuple(numbers)], vector)

    def defined(self, name, indices, scope) -> Value:
        definition = self.env.definitions[name]
        if len(indices) != len(definition.indices):
            raise TypeError(f"{name} takes {len(definition.indices)} indices; got {len(indices)}")
        pairs = [(f.name, i) for f, i in zip(definition.indices, indices, strict=True)]
        inner = {name: self.integer(i, scope) for name, i in pairs}
        ranges = {name: scope.ranges[i.name] for name, i in pairs if i.is_Symbol and i.name in scope.ranges}
        return self.value(definition.formula, Scope(inner, scope.depth, scope.clip, scope.inside, ranges))

    # arithmetic -------------------------------------------------------------------------------------------------------
    @staticmethod
    def alike(parts) -> list:
        """The terms of a sum, all numbers or all vectors; empty sums beside vectors are left out."""
        kept = [p for p in parts if p.vector or not p.nothing] if any(p.vector for p in parts) else parts
        if len({p.vector for p in kept}) > 1:
            raise TypeError("cannot add a vector and a number")
        return kept

    def add(self, parts) -> Value:
        parts = self.alike(parts)
        total = parts[0].data
        for part in parts[1:]:
            total = total + part.data
        return Value(total, parts[0].vector, all(p.nothing for p in parts))

    @staticmethod
    def multiply(parts) -> Value:
        vectors = [p for p in parts if p.vector]
        if len(vectors) > 1:
            raise TypeError("cannot multiply two vectors; use dot")
        product = None
        for part in parts:
            if not part.vector:
                product = part.data if product is None else product * part.data
        if not vectors:
            return Value(product, nothing=any(p.nothing for p in parts))
        return vectors[0] if product is None else Value(product[..., None] * vectors[0].data, True)

    def power(self, node, scope) -> Value:
        base, exponent = self.value(node.base, scope), node.exp
        if base.vector:
            raise TypeError("cannot raise a vector to a power; use norm2")
        if exponent.is_Integer:
            e = int(exponent)
            return Value(base.data**e if e >= 0 else 1 / base.data**-e)
        if exponent == sp.Rational(1, 2) or exponent == -sp.Rational(1, 2):
            root = square_root(base.data)
            return Value(root if exponent.is_positive else 1 / root)
        try:
            numbers = self.integer(exponent, scope)
        except UnboundName:
            power = self.value(exponent, scope).data
            if exponent.is_Rational and power.dtype == object:  # on balls, 2/3 itself
                power = np.full(power.shape, Fraction(int(exponent.p), int(exponent.q)), dtype=object)
            return Value(real_power(base.data, power))
        if scope.clip:  # outside a sum's range a negative power of zero must not divide by zero
            numbers = np.where(scope.inside, numbers, np.maximum(numbers, 0))
        if self.env.backend.library in ("exact", "balls"):
            integer_exponent = numbers.reshape((1,) * LEAD + numbers.shape).astype(object)
        else:
            integer_exponent = self.integer_as_value(numbers, scope).data
        exact = self.env.backend.library == "exact"
        return Value(whole_power(base.data, integer_exponent) if exact else base.data**integer_exponent)

    def accumulate(self, node, scope) -> Value:
        body, inner, mask = node.function, scope, np.ones((1,) * scope.depth, dtype=bool)
        for name, low, high in reversed(node.limits):
            inner, inside = self.enter(name.name, low, high, inner)
            mask = mask[..., None] & inside
        axes = tuple(range(LEAD + scope.depth, LEAD + inner.depth))
        neutral = 0 if isinstance(node, sp.Sum) else 1
        if 0 in mask.shape or not mask.any():
            return self.constant(neutral, scope)._replace(nothing=neutral == 0)
        value = self.value(body, inner)
        xp = namespace(value.data)
        keep = self.env.backend.booleans(mask.reshape((1,) * LEAD + mask.shape + (1,) * value.vector))
        data = xp.where(keep, value.data, self.env.backend.array(np.full((1,) * value.data.ndim, neutral, dtype=object)))
        reduce = xp.sum if neutral == 0 else product_over
        return Value(reduce(data, axis=axes), value.vector)

    def extreme(self, node, scope) -> Value:
        parts = [self.value(a, scope).data for a in node.args]
        best = parts[0]
        for part in parts[1:]:
            best, part = namespace(best).broadcast_arrays(best, part)
            best = maximum(best, part) if isinstance(node, sp.Max) else -maximum(-best, -part)
        return Value(best)

    # operators --------------------------------------------------------------------------------------------------------
    def norm2(self, node, scope) -> Value:
        v = self.vector(node.args[0], scope)
        return Value(add_up(v**2))

    def norm(self, node, scope) -> Value:
        return Value(square_root(self.norm2(node, scope).data))

    def dot(self, node, scope) -> Value:
        a, b = (self.vector(arg, scope) for arg in node.args)
        return Value(add_up(a * b))

    def vector(self, node, scope):
        value = self.value(node, scope)
        if not value.vector and not value.nothing:
            why = "; the claim has a vector that is 0 as it is written, such as x - x" if node == 0 else ""
            raise (UnboundName if why else TypeError)(f"expected a vector, got the number {node}{why}")
        return value.data if value.vector else value.data[..., None]

    def expectation(self, node, scope) -> Value:
        value = self.value(node.args[0], scope)
        over_sampling_only = len(node.args) == 2
        if over_sampling_only and str(node.args[1]) != "sampling":
            raise UnboundName(f"unknown source of chance {node.args[1]}; allowed: sampling")
        if self.env.data_sets is not None and self.env.data_sets.fixed and not over_sampling_only:
            return Value(self.env.data_sets.mean_given(value.data), value.vector)
        data = mean_over(self.env.where_possible(value.data), 2, self.env.sampling_weight)
        return Value(data if over_sampling_only else mean_over(data, 1, self.env.noise_weight), value.vector)

    def expectation_given_rounds(self, node, scope) -> Value:
        """Expectation given everything before a round."""
        value, known, total = self.value(node.args[0], scope), self.integer(node.args[1], scope), 0
        if not known.size:  # no round at all
            return value
        for r in np.unique(known):
            data = mean_after(value.data, 2, self.env.sampling_weight, int(r), self.env.sizes["rounds"])
            data = mean_after(data, 1, self.env.noise_weight, int(r), self.env.sizes["rounds"], self.env.noise_start)
            here = self.env.backend.booleans((known == r).reshape((1,) * LEAD + known.shape + (1,) * value.vector))
            total = total + namespace(data).where(here, data, 0 * data)
        return Value(total, value.vector)

    def on_federation(self, function, point, numbers, scope, vector, federation=None) -> Value:
        """``function(federation, point, numbers)`` of points (..., dim) and client numbers, one axis per index."""
        federation = self.env.federation if federation is None else federation
        if federation is None:
            raise UnboundName("the claim mentions losses, and no federation is bound")
        xp = namespace(point)
        index_shape = np.broadcast_shapes(tuple(point.shape[LEAD:-1]), numbers.shape)
        lead = tuple(point.shape[:LEAD])
        if self.env.data_sets is not None:
            lead = self.env.data_sets.lead(lead, federation)
        elif federation.instances > 1:
            lead = (federation.instances, *lead[1:])
        runs = int(np.prod(lead))
        point = xp.broadcast_to(point, (*lead, *index_shape, point.shape[-1])).reshape(runs, -1, point.shape[-1])
        flat = np.broadcast_to(numbers, index_shape).reshape(1, -1)
        flat = np.broadcast_to(flat, (runs, flat.shape[1]))
        numbers = self.env.backend.integers(flat) if self.env.backend.library == "torch" else flat
        copies = lead[1] * lead[2] if self.env.data_sets is None else runs // federation.instances
        result = _in_blocks(function, federation.repeat(copies), point, numbers)
        return Value(result.reshape((*lead, *index_shape, *result.shape[2:])), vector)

    def client(self, node, scope) -> np.ndarray:
        """The numbers of clients in the first argument of an operator."""
        numbers, clients = self.integer(node.args[0], scope), self.env.sizes["clients"]
        outside = (numbers < 0) | (numbers >= clients)
        if (outside & scope.inside).any():
            raise NoEntry(f"clients have the numbers 0..{clients - 1}; got {numbers.min()}..{numbers.max()} in {node}")
        return np.where(outside, 0, numbers) if scope.clip else numbers

    def client_loss(self, node, scope, federation=None) -> Value:
        k, point = self.client(node, scope), self.vector(node.args[1], scope)
        return self.on_federation(lambda f, x, c: f.value(x, c), point, k, scope, False, federation)

    def client_gradient(self, node, scope) -> Value:
        k, point = self.client(node, scope), self.vector(node.args[1], scope)
        return self.on_federation(lambda f, x, c: f.gradient(x, c), point, k, scope, True, self.env.gradients)

    def _average(self, node, scope, function, vector, federation=None) -> Value:
        point = self.vector(node.args[0], scope)
        numbers = np.zeros((1,) * scope.depth, dtype=int)

        def average(federation, x, _):
            columns = [function(federation, x[:, c]) for c in range(x.shape[1])]
            return namespace(x).stack(columns, axis=1) if columns else x if vector else x[..., 0]

        return self.on_federation(average, point, numbers, scope, vector, federation)

    def objective(self, node, scope, federation=None) -> Value:
        return self._average(node, scope, lambda f, x: f.objective(x), False, federation)

    def objective_gradient(self, node, scope) -> Value:
        return self._average(node, scope, lambda f, x: f.objective_gradient(x), True, self.env.gradients)
