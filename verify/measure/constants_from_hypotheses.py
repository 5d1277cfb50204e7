"""Computes what hypotheses determine on a batch of instances: names that they define, numbers and entries that they
bound."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import largest, maximum, namespace, to_numpy
from synthetic.numbers.lengths import of_length
from synthetic.numbers.roots import just_inside, square_root
from verify.claims.entries import (
    AffineRecursion,
    Entry,
    affine_recursion,
    at_once,
    bounds_on_single_entries,
    entries_of_equation,
    entry_equations,
)
from verify.claims.hypotheses import bounds_at_all_points, bounds_on_entries, bounds_on_numbers, defined_numbers
from verify.claims.needs import supplied_constants
from verify.claims.open_constants import ASSUMED, assumed_constants, multiple
from verify.claims.told_lengths import ToldLength, told_lengths
from verify.evaluation.environment import Environment, NamedArray, UnboundName
from verify.evaluation.evaluate import Evaluator, outermost, sides
from verify.evaluation.means import of_possible
from verify.evaluation.scopes import Scope, enter_ranges
from verify.instances.parameters import SLACK, Parameters
from verify.measure.bisection import bound_by_bisection

__all__ = ["Determined"]


@dataclass
class Determined:
    """The names of ``claim`` in an environment, which has the values of some; ``rows`` instances, made of ``params``."""

    claim: Claim
    params: Parameters
    env: Environment
    rows: int
    settled: list[Condition | ToldLength] = field(default_factory=list)
    moved: dict[str, set[int]] = field(default_factory=dict)  # entries of simplices that conditions move, by array

    def parameter(self, name):
        return self.env.backend.array(self.params[name])

    def _waiting(self):
        return [v for v in self.claim.variables if v.name in self.params and v.name not in self.env.bound
                and v.name not in self.claim.defining]

    def _value(self, formula, over):
        """The values of a formula for all its indices, and where these are in range."""
        if self.env.data_sets is not None:
            value, _, mask = sides(Condition(formula, "<=", 0, over), self.env)
            return value, mask
        evaluator = Evaluator(self.env)
        scope, mask = enter_ranges(evaluator, over, outermost(self.env))
        value = evaluator.value(formula, scope)
        if value.vector:
            raise TypeError(f"what a condition bounds must be a number; got the vector {formula}")
        return value.data, self.env.backend.booleans(mask)

    def settle(self):
        """Bind the names that conditions define or bound by what is known, until nothing more follows."""
        progress = True
        while progress:
            progress = False
            for name, condition in self.claim.defining.items():
                progress = self._define(name, condition) or progress
            for condition in bounds_on_single_entries(self.claim):
                progress = self._entries(condition) or progress
            for condition in entry_equations(self.claim):
                progress = self._given_entries(condition) or progress
            for condition in bounds_on_entries(self.claim):
                progress = self._entries(condition) or progress
            for told in told_lengths(self.claim):
                progress = self._move_to_length(told) or progress
            for name in self._bare_symbols():
                progress = (name not in defined_numbers(self.claim) and self._tighten(name)) or progress

    def resolve(self):
        """Bind all names that conditions define or bound: what follows from what is known, then what waits for itself."""
        progress = True
        while progress:
            self.settle()
            progress = False
            assumed = [n for n in assumed_constants(self.claim) if n not in self.env.bound]
            if assumed and f"{ASSUMED}{assumed[0]}" in self.params:  # the run alone would bound it
                self.bind(assumed[0], self.parameter(f"{ASSUMED}{assumed[0]}").reshape(-1))
                progress = True
            elif self._waiting():  # bounds that wait for each other: one of them goes first
                self._tighten(self._waiting()[0].name, ignoring=True)
                progress = True
            progress = progress or any(self._tighten(name) for name in self._bare_symbols())
            progress = progress or any(self._tighten(name, apart=True) for name in self._bare_symbols()
                                       if name not in defined_numbers(self.claim))

    def _is_known(self, name) -> bool:
        return name in self.env.bound or name in self.env.sizes or name in self.env.definitions

    def _define(self, name: str, condition: Condition) -> bool:
        if self._is_known(name):
            return False
        try:
            value, mask = self._value(condition.right, condition.over)
        except UnboundName:
            return False
        value = namespace(value).broadcast_to(value, (*value.shape[:3], *mask.shape))
        self.env.bound[name] = NamedArray(value, len(condition.over))
        self.env.by_definition.append(condition)
        return True

    def _given_entries(self, equation: Condition) -> bool:
        """Bind the entries of an array that an equation gives, one after another; at once where none rests on another, or
        where each is a factor times the one before plus a summand."""
        name = equation.left.base.label.name
        if name not in self.env.bound or equation in self.settled:
            return False
        entries, everything = entries_of_equation(equation, tuple(sorted(self.env.sizes.items())))
        before = self.env.bound[name]
        recursion = affine_recursion(equation, entries)
        try:
            for some in [entries] if recursion else at_once(entries):
                value = self._recursive(name, recursion, some) if recursion else self._values_of(some[0].formula, some)
                self._put_entries(name, [entry.position for entry in some], value)
        except UnboundName:
            self.env.bound[name] = before
            return False
        self.settled.append(equation)
        if self._is_simplex(name):  # as a hypothesis the equation is checked
            in_proportion = any(entry.rests_on for entry in entries)
            self._make_sum_one(name, before.data, [] if in_proportion else [entry.position for entry in entries])
        elif everything:
            self.env.by_definition += [c for c in self.claim.hypotheses if c.relation == "==" and c.over == equation.over
                                       and {c.left, c.right} == {equation.left, equation.right}]
        return True

    def _recursive(self, name: str, recursion: AffineRecursion, entries: Sequence[Entry], relation: str = "=="):
        """The values of entries, (..., entries), of which each is a factor times the one before plus a summand, or is moved
        into this bound."""
        data = self.env.bound[name].data
        value = data[..., entries[0].position - 1]
        xp, count = namespace(value), len(entries)
        factors, summands = (xp.broadcast_to(part, (*part.shape[:-1], count))
                             for part in (self._values_of(formula, entries) for formula in recursion))
        values = []
        for number in range(count):
            value = factors[..., number] * value + summands[..., number]
            if relation != "==":
                value = self._inside(data[..., entries[number].position], relation, value)
            values.append(value)
        return xp.stack(values, axis=-1)

    def _values_of(self, formula, entries: Sequence[Entry]):
        """The values of a formula of the index of an equation that gives entries, (..., entries | 1)."""
        over = entries[0].over
        if not over:
            return self._value(formula, over)[0][..., None]
        (index, first, _), ((_, _, last),) = over[0], entries[-1].over
        return self._value(formula, ((index, first, last),))[0][..., : len(entries)]

    def _put_entries(self, name: str, positions: list[int], value, relation: str = "==", copied: bool = False) -> None:
        """Bind entries of an array to values (..., entries | 1), or move them into these bounds; of a copy of the array, if
        it is not ``copied`` before."""
        data = self.env.bound[name].data
        data = data if copied and isinstance(data, np.ndarray) else data + 0  # gradients of a tensor need each copy
        if missing := [place for place in positions if not 0 <= place < data.shape[-1]]:
            raise UnboundName(f"{name} has no entry {missing[0]}")
        if any(size not in (1, own) for size, own in zip(value.shape[:-1], data.shape[:-1], strict=True)):
            raise UnboundName(f"{name} does not depend on chance")
        value = namespace(data).broadcast_to(value, (*data.shape[:-1], len(positions)))
        data[..., positions] = value if relation == "==" else self._inside(data[..., positions], relation, value)
        self.env.bound[name] = NamedArray(data, 1)

    def _is_simplex(self, name: str) -> bool:
        return any(v.name == name and v.domain == "simplex" for v in self.claim.variables)

    def _make_sum_one(self, name: str, before, positions: list[int]) -> None:
        """Multiply the entries of a simplex by one factor, but those at ``positions`` and others that conditions moved
        earlier, so that the sum is 1; as they were ``before`` where there is no such factor."""
        data, moved = self.env.bound[name].data, self.moved.setdefault(name, set())
        moved |= {*positions}
        kept, others, xp = sorted(moved), [n for n in range(data.shape[-1]) if n not in moved], namespace(data)
        if others:
            rest, total = (1 - xp.sum(data[..., kept], axis=-1, keepdims=True),
                           xp.sum(data[..., others], axis=-1, keepdims=True))
            scaled = data + 0
            scaled[..., others] = data[..., others] * (rest / xp.where(total > 0, total, 1))
            scaled[..., others[:1]] = xp.where(total > 0, scaled[..., others[:1]], rest)
            before = xp.where(rest >= 0, scaled, before)
        self.env.bound[name] = NamedArray(before, 1)

    def _entries(self, condition) -> bool:
        """Move entries of an array that the condition bounds into these bounds, one after another."""
        name = condition.left.base.label.name
        if name not in self.env.bound or condition in self.settled or len(condition.over) > 1:
            return False
        sizes, position = self.env.sizes, condition.left.indices[0]

        def number(formula):
            return int(formula.subs({s: sizes[s.name] for s in formula.free_symbols if s.name in sizes}))

        before, times, shift = self.env.bound[name], [()], 0
        entries, _ = entries_of_equation(condition, tuple(sorted(sizes.items())))
        recursion = None if self._is_simplex(name) else affine_recursion(condition, entries)
        if condition.over and not recursion:
            (index, low, high), = condition.over
            if not (shift := sp.simplify(position - index)).is_Integer:
                return False
            times = [((index, t, t),) for t in range(number(low), number(high) + 1)]
        try:
            if recursion:
                value, times = self._recursive(name, recursion, entries, condition.relation), ()
                self._put_entries(name, [entry.position for entry in entries], value)
            for over in times:
                place = over[0][1] + int(shift) if over else number(position)
                value = self._value(condition.right, over)[0]
                was = self.env.bound[name].data
                self._put_entries(name, [place], value[..., :1] if over else value[..., None], condition.relation,
                                  copied=was is not before.data and not self._is_simplex(name))
                if self._is_simplex(name):
                    self._make_sum_one(name, was, [place])
        except UnboundName:
            self.env.bound[name] = before
            return False
        self.settled.append(condition)
        return True

    def _move_to_length(self, told: ToldLength) -> bool:
        """Move a free vector to where an equation tells its length, and to where it is orthogonal to others."""
        if told.name not in self.env.bound or told in self.settled:
            return False
        lengths = {one.name: one for one in told_lengths(self.claim)}
        try:
            rest = Evaluator(self.env).value(told.rest, Scope({})).data if told.rest != 0 else 0
            length, *sizes = (self._length(one) for one in (told, *(lengths[name] for name in told.orthogonal)))
        except (ArithmeticError, UnboundName):  # no number, or a root that is no fraction
            return False
        others = [self.env.bound[name].data for name in told.orthogonal]
        data = told.factor * self.env.bound[told.name].data + rest
        if data.shape[-1] > len(others):
            moved = of_length(data, length, [*zip(others, sizes, strict=True)])
            self.env.bound[told.name] = NamedArray(told.factor * (moved - rest), 0, True)
        self.settled.append(told)
        return True

    def _length(self, told: ToldLength):
        """The length that an equation tells, (instances | 1, 1, 1, 1)."""
        value = self._value(told.length, ())[0][..., None]
        return square_root(value) if told.squared else value

    def _inside(self, number, relation: str, bound):
        """The number, or the bound where it is beyond that."""
        upper = relation == "<="
        if bound.dtype == object:  # conditions hold for sure, and instances stay rational, of few digits
            bound = just_inside(bound, up=not upper)
        return -maximum(-number, -bound) if upper else maximum(number, bound)

    def _bare_symbols(self):
        names = dict.fromkeys((*bounds_on_numbers(self.claim), *bounds_at_all_points(self.claim)))
        return [name for name in names if not self._is_known(name)]

    def _tighten(self, name, ignoring: bool = False, apart: bool = False) -> bool:
        """Bind a number to the tightest value that all conditions on it admit; move a free one into its bounds.
        ``ignoring``: bounds that are not known yet are left out. ``apart``: of a constant, bounds are left out that are
        constants and wait for their own bounds; as hypotheses they are checked."""
        if name in supplied_constants(self.claim):  # the federation has it, or it has no value
            return False
        free = name in {v.name for v in self._waiting()}
        best, upper, least = self.parameter(name).reshape(-1, 1, 1) if free else None, False, None
        for condition, number, relation, other in bounds_on_numbers(self.claim).get(name, ()):
            try:
                value, mask = self._value(other, condition.over)
            except UnboundName:
                if ignoring or (apart and not free and self._waits(other)):
                    continue
                return False
            upper = relation == "<="
            extreme = _extreme(of_possible(value, self.env.possible), mask, upward=not upper)
            if extreme is None:  # the condition is about nothing: the least number that it admits is 0
                if number.is_nonnegative and not number.is_positive and not upper and self.env.federation is not None:
                    least = 0 * self.env.federation.weights[:, :1, None]
                continue
            if best is not None:
                a, b = namespace(best).broadcast_arrays(best, extreme)
                extreme = -maximum(-a, -b) if upper else maximum(a, b)
            best = extreme
        for condition in bounds_at_all_points(self.claim).get(name, ()):
            try:
                best = self._within(condition, name, best)
            except UnboundName:
                if not ignoring:
                    return False
        best = least if best is None else best
        if best is None:
            return False
        if f"{SLACK}{name}" in self.params:
            factor = self.parameter(f"{SLACK}{name}").reshape(-1, 1, 1)
            best = best / factor if upper else multiple(self.claim, name, best, factor, self.env.backend)
        if self.env.backend.library == "balls":  # conditions hold for sure, and instances stay rational
            best = just_inside(best, up=not upper)
        self.env.bound[name] = NamedArray(best)
        return True

    def _waits(self, other) -> bool:
        """Whether a bound is a constant that waits for its own bounds."""
        return other.is_Symbol and other.name in self._bare_symbols() and other.name not in defined_numbers(self.claim)

    def _within(self, condition: Condition, name: str, best):
        """``best`` (instances, 1, 1), or None, moved to where a condition at all points holds, which bounds it."""
        environment, moving = self.env.remembering(), {name, *self.env.definitions}

        def holds(numbers) -> np.ndarray:
            self.env.bound[name] = NamedArray(self.env.backend.array(numbers).reshape(-1, 1, 1))
            try:
                left, right, mask = sides(condition, environment)
            finally:
                del self.env.bound[name]
                environment.forget(moving)
            gap = to_numpy(left - right if condition.relation == ">=" else right - left)
            gap = np.broadcast_to(gap, np.broadcast_shapes(gap.shape, (self.rows, *gap.shape[1:])))
            return ((gap >= 0) | ~np.broadcast_to(to_numpy(mask), gap.shape)).reshape(self.rows, -1).all(axis=1)

        return bound_by_bisection(holds, self.rows, best, self.env.backend)


def _extreme(value, mask, upward: bool):
    """Extreme over everything but the instances, as (instances, 1, 1); None over nothing."""
    xp = namespace(value)
    value, mask = xp.broadcast_arrays(value, mask)
    value, mask = value.reshape(value.shape[0], -1), mask.reshape(value.shape[0], -1)
    counting = value[:, mask[0]]
    if not counting.shape[1]:
        return None
    best = largest(counting, 1) if upward else -largest(-counting, 1)
    return best.reshape(-1, 1, 1)
