"""Evaluates the operators on layers, chance and coordinates, and functions of numbers."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import sympy as sp

from bounds.language import coordinates
from bounds.language.layers import largest_sum, layer_part, share
from bounds.language.operators import E_noise, E_step, below
from synthetic.numbers.arrays import add_up, first_least, largest, maximum, namespace
from synthetic.numbers.roots import Irrational, square_root
from verify.evaluation.environment import NoEntry, UnboundName
from verify.evaluation.evaluate import WORDS, Evaluator, Value
from verify.evaluation.means import mean_after, mean_over
from verify.evaluation.scopes import LEAD


# layers ----------------------------------------------------------------------------------------------------------------
def _layer_part(evaluator: Evaluator, node, scope) -> Value:
    number, vector = evaluator.integer(node.args[0], scope), evaluator.vector(node.args[1], scope)
    if evaluator.env.federation is None:
        raise UnboundName("the claim mentions layers, and no federation is bound")
    layers = evaluator.env.federation.layers()
    table = np.zeros((len(layers), vector.shape[-1]), dtype=int)
    for row, layer in enumerate(layers):
        table[row, layer] = 1
    outside = (number < 0) | (number >= len(layers))
    if (outside & scope.inside).any():
        raise NoEntry(f"layers have the numbers 0..{len(layers) - 1}; got {number.min()}..{number.max()} in {node}")
    number = np.where(outside, 0, number)
    kept = table[number].reshape((1,) * LEAD + number.shape + (-1,))
    return Value(vector * evaluator.env.backend.array(kept), True)


def _quotient(above, below):
    """The quotient of two numbers, with 0/0 = 0."""
    xp = namespace(above)
    above, below = xp.broadcast_arrays(above, below)
    nothing = (above == 0) & (below == 0)
    return xp.where(nothing, 0 * above, above / xp.where(nothing, 0 * below + 1, below))


def _largest_sum(evaluator: Evaluator, node, scope) -> Value:
    count, value, index, low, high = node.args
    counts = np.unique(evaluator.integer(count, scope))
    if len(counts) != 1:
        raise UnboundName(f"{node}: how many values are summed may not depend on an index")
    inner, inside = evaluator.enter(str(index), low, high, scope)
    if not inside.all():
        raise UnboundName(f"{node}: its range may not depend on an index")
    if not inside.size:
        return evaluator.constant(0, scope)
    values = evaluator.value(value, inner).data
    size, xp = inside.shape[-1], namespace(values)
    values = xp.broadcast_to(values, (*values.shape[:-1], size))
    taken = list(combinations(range(size), min(max(int(counts[0]), 0), size)))
    if taken == [()]:
        return Value(0 * values[..., 0])
    sums = xp.stack([sum(values[..., i] for i in chosen) for chosen in taken], axis=-1)
    return Value(largest(sums, -1))


# chance ----------------------------------------------------------------------------------------------------------------
def _over_noise(evaluator: Evaluator, node, scope) -> Value:
    value = evaluator.value(node.args[0], scope)
    return Value(mean_over(value.data, 1, evaluator.env.noise_weight), value.vector)


def _given_iterations(evaluator: Evaluator, node, scope) -> Value:
    """Expectation given everything before an iteration, and the clients of its round."""
    env, value, known, total = evaluator.env, evaluator.value(node.args[0], scope), evaluator.integer(node.args[1], scope), 0
    if not env.by_iteration:
        raise UnboundName(f"{node}: E_step is known of enumerated runs that draw gradients of local steps and clients alone")
    if not known.size:
        return value
    steps, rounds = env.sizes["local_steps"], env.sizes["rounds"]
    for t in map(int, np.unique(known)):
        data = mean_after(value.data, 2, env.sampling_weight, t // steps + 1, rounds)
        data = mean_after(data, 1, env.noise_weight, t, steps * rounds, env.noise_start)
        here = env.backend.booleans((known == t).reshape((1,) * LEAD + known.shape + (1,) * value.vector))
        total = total + namespace(data).where(here, data, 0 * data)
    return Value(total, value.vector)


# by coordinates --------------------------------------------------------------------------------------------------------
def _with_coordinates(value: Value):
    return value.data if value.vector else value.data[..., None]


def _over_range(evaluator, index, low, high, scope):
    """The scope with one more index, and a function that puts the first entry inside the range in place of those outside."""
    inner, inside = evaluator.enter(str(index), low, high, scope)
    if (scope.inside & ~inside.any(axis=-1)).any():
        raise NoEntry(f"the largest or least of no terms is asked for, {index} in {low}..{high}")
    axis = LEAD + scope.depth

    def within(value: Value) -> Value:
        if inside.all():
            return value
        xp, numbers = namespace(value.data), np.where(inside, np.arange(inside.shape[-1]), inside.argmax(axis=-1)[..., None])
        indices = np.broadcast_shapes(tuple(value.data.shape[LEAD : axis + 1]), inside.shape)
        data = xp.broadcast_to(value.data, (*value.data.shape[:LEAD], *indices, *value.data.shape[axis + 1 :]))
        numbers = numbers.reshape((1,) * LEAD + numbers.shape + (1,) * value.vector)
        numbers = evaluator.env.backend.integers(np.broadcast_to(numbers, tuple(data.shape)))
        return Value(xp.take_along_axis(data, numbers, axis=axis), value.vector)

    return inner, within


def _highest(evaluator, node, scope) -> Value:
    index, low, high, v = node.args
    inner, within = _over_range(evaluator, index, low, high, scope)
    value = within(evaluator.value(v, inner))
    return Value(largest(value.data, LEAD + scope.depth), value.vector)


def _first_least(evaluator, node, scope) -> Value:
    index, low, high, a, v = node.args
    inner, within = _over_range(evaluator, index, low, high, scope)
    least = first_least(within(Evaluator(evaluator.env).value(a, inner)).data)
    value, xp = within(evaluator.value(v, inner)), namespace(least)
    axis = LEAD + scope.depth
    places = np.broadcast_shapes(tuple(least.shape), tuple(value.data.shape[:axis]))
    rest = value.data.shape[axis + 1 :]
    data = xp.broadcast_to(value.data, (*places, inner.inside.shape[-1], *rest))
    chosen = xp.broadcast_to(least.reshape(*least.shape, 1, *(1 for _ in rest)), (*places, 1, *rest))
    return Value(xp.take_along_axis(data, chosen, axis=axis)[(slice(None),) * axis + (0,)], value.vector)


def _raised(evaluator, node, scope) -> Value:
    v, a = evaluator.vector(node.args[0], scope), evaluator.value(node.args[1], scope)
    return Value(v + a.data[..., None], True)


# functions of numbers --------------------------------------------------------------------------------------------------
def _applied(name):
    def function(evaluator, node, scope) -> Value:
        data = evaluator.value(node.args[0], scope).data
        if evaluator.of_sizes and name == "exp":  # an error of the exponent is a relative one of the value
            return Value(namespace(data).exp(Evaluator(evaluator.env).value(node.args[0], scope).data) * (1 + data))
        if data.dtype != object:
            return Value(getattr(namespace(data), name)(data))
        neutral = {"exp": 0, "log": 1}[name]
        return Value(np.frompyfunc(lambda v: _of_number(v, name, neutral), 1, 1)(data))

    return function


def _of_number(value, name, neutral):
    if hasattr(value, name):
        return getattr(value, name)()
    if value == neutral:
        return value - neutral + (name == "exp")
    raise Irrational(f"{name} of {value} is irrational")


def _below(evaluator, node, scope) -> Value:
    left, right = (Evaluator(evaluator.env).value(a, scope).data for a in node.args)
    xp = namespace(left)
    left, right = xp.broadcast_arrays(left, right)
    if left.dtype == object:
        return Value(np.frompyfunc(lambda a, b: Fraction(int(a <= b)), 2, 1)(left, right))
    one = xp.ones_like(left)
    return Value(one if evaluator.of_sizes else xp.where(left <= right, one, 0 * one))


# what each means -------------------------------------------------------------------------------------------------------
def _of_values(compute):
    """The meaning of an operator whose value follows from those of its arguments."""
    return lambda evaluator, node, scope: compute(*(evaluator.value(arg, scope) for arg in node.args))


def _of_vector(compute, vector: bool = True):
    """The meaning of an operator on one vector."""
    return lambda evaluator, node, scope: Value(compute(evaluator.vector(node.args[0], scope)), vector)


WORDS |= {
    layer_part: _layer_part, largest_sum: _largest_sum, E_noise: _over_noise, E_step: _given_iterations,
    coordinates.highest: _highest,
    coordinates.first_least: _first_least, coordinates.raised: _raised, sp.exp: _applied("exp"), sp.log: _applied("log"),
    below: _below,
    share: _of_values(lambda a, b: Value(_quotient(a.data, b.data))),
    coordinates.scaled: _of_values(
        lambda u, w, a: Value(_quotient(_with_coordinates(u), _with_coordinates(w) + a.data[..., None]), True)),
    coordinates.reciprocal: _of_values(lambda w, a: Value(1 / (_with_coordinates(w) + a.data[..., None]), True)),
    coordinates.upper: _of_values(
        lambda a, b: Value(maximum(*namespace(a.data).broadcast_arrays(a.data, b.data)), a.vector)),
    coordinates.root: _of_vector(square_root),
    coordinates.square: _of_vector(lambda v: v**2),
    coordinates.least: _of_vector(lambda v: -largest(-v, -1), vector=False),
    coordinates.norm1: _of_vector(lambda v: add_up(abs(v)), vector=False),
    coordinates.norm_inf: _of_vector(lambda v: largest(abs(v), -1), vector=False),
}
