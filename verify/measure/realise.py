"""Runs a batch of instances of a claim, or fixes its point, and binds every name of the claim to a value."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from math import prod

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition, Procedure
from fedtheory import find_algorithm
from fedtheory.engine import rounds_of, starting_points
from fedtheory.schedules import Tabulated
from fedtheory.selection import Pattern
from synthetic.numbers.arrays import Backend, largest, maximum, namespace, to_numpy
from synthetic.numbers.roots import just_inside
from verify.claims.hypotheses import (
    bounds_at_all_points,
    bounds_on_entries,
    bounds_on_numbers,
    defined_numbers,
    equations,
)
from verify.claims.method import BERNOULLI, algorithm_of, own_arguments, selection_of
from verify.claims.open_constants import ASSUMED, assumed_constants, multiple, possible
from verify.claims.sizes import entries_of
from verify.evaluation import over_space, words  # noqa: F401  (give the papers' operators their meaning)
from verify.evaluation.environment import Environment, NamedArray, UnboundName
from verify.evaluation.evaluate import sides
from verify.evaluation.means import of_possible
from verify.instances.instance import federation_of, outcomes
from verify.instances.leaves import SLACK, START, Leaves, number_of
from verify.instances.outcomes import enumerated
from verify.instances.shape import Shape
from verify.measure.constants import bind_over_space, known_constant
from verify.measure.coupled_runs import realise_coupled
from verify.measure.record import FullRecord
from verify.measure.within import moved_within

__all__ = ["bind_given", "realise"]


def realise(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend, federation=None, values=None,
            most: int | None = None) -> Environment:
    """Bind every name that the claim uses, on a batch of instances.

    The federation follows from the leaves, or is given (one instance, deterministic gradients); then the leaves only say
    where to start, whom to match and how far to step. Constants take the tightest value that the hypotheses admit; a
    condition ``symbol == formula`` defines the symbol; a step size bounded by conditions takes a fraction of its bound;
    ``values`` (name to :class:`NamedArray`) takes precedence over all that. No array of terms has
    more than about ``most`` entries.

    Raises:
        UnboundName: a name nobody supplies.
        TooManyTerms: larger arrays than ``most`` allows.
    """
    rows = number_of(leaves)
    environment = Environment(backend, shape.as_sizes(), dict(values or {}), definitions=claim.definitions, rows=rows)
    if most is not None:
        environment.most_terms = most // max(rows * prod(outcomes(shape)) * shape.dim, 1)
    binder = _Binder(claim, shape, leaves, environment, rows)
    if claim.setting == "algebra":
        binder.bind_variables()
        binder.resolve()
        return environment
    if shape.family.coupled and federation is None:
        return realise_coupled(binder)
    environment.federation = federation_of(shape, leaves, backend) if federation is None else federation
    binder.bind_federation()
    binder.bind_variables()
    if claim.setting == "run":
        binder.bind_start()
    binder.resolve()
    binder.bind_steps()
    binder.resolve()
    if claim.setting == "point":
        binder.bind_point()
    else:
        binder.bind_run()
    binder.resolve()
    return environment


def bind_given(claim: Claim, federation, sizes: dict[str, int], measured: dict[str, NamedArray], runs: int | None = None,
               leaves: Leaves | None = None, **fields) -> Environment:
    """Bind the names of a claim whose runs were made elsewhere and gave ``measured``; ``leaves``: values of free variables,
    which move into the bounds that the hypotheses put on them.

    Where these contain the clients' weights, they contain all constants of the federation. The first axis of chance has
    ``runs`` outcomes of equal probability. ``fields``: further ones of the environment.
    """
    environment = Environment(federation.backend, sizes, {}, federation=federation, definitions=claim.definitions, **fields)
    if runs is not None:
        environment.noise_weight = federation.backend.array(np.full((1, runs), 1 / runs))
    binder = _Binder(claim, None, leaves or {}, environment, 1)
    if "client_weight" not in measured:
        binder.bind_federation()
    environment.bound |= measured
    if leaves:
        binder.bind_variables()
    binder.resolve()
    return environment


@dataclass
class _Binder:
    claim: Claim
    shape: Shape
    leaves: Leaves
    env: Environment
    rows: int
    settled: list[Condition] = field(default_factory=list)

    def put(self, name, data, indices=0, vector=False):
        """Bind ``data`` (instances, indices..., [dim]) that does not depend on chance."""
        self.env.bound[name] = _certain(data, indices, vector)

    def leaf(self, name):
        return self.env.backend.array(self.leaves[name])

    # what the instance supplies ------------------------------------------------------------------------------------
    def bind_federation(self):
        federation, one = self.env.federation, self.env.backend.array(1)
        constants, xp = federation.constants, namespace(federation.weights)
        self.put("client_weight", federation.weights, 1)
        self.put("priority", federation.weights * 0 + xp.where(federation.priority, one, 0 * one), 1)
        self.put("x_star", federation.x_star, 0, True)
        self.put("F_star", constants.value("F_star"))
        for name in ("L_client", "mu_client", "sigma_sq_client"):
            if name in constants:
                self.put(name, constants.value(name), 1)
        self.env.bound.later("F_star_client", lambda: _certain(known_constant(constants, "F_star_client"), 1))
        self.env.infinite = bind_over_space(federation, self.claim, self.put)

    def bind_variables(self):
        """Bind free quantities. A number that a condition bounds waits until its bounds are known."""
        bounded = set(self._bare_symbols())
        for variable in self.claim.variables:
            if variable.name not in self.leaves or variable.name in bounded:
                continue
            data = self.leaf(variable.name)
            if variable.domain == "simplex":
                data = data / namespace(data).sum(data, axis=-1, keepdims=True)
            self.put(variable.name, data, len(variable.indices), variable.domain == "vector")

    def _waiting(self):
        return [v for v in self.claim.variables if v.name in self.leaves and v.name not in self.env.bound]

    def bind_steps(self):
        """Bind step sizes that no formula defines: a fraction of their bounds; without bounds of 1/L, or of 1 without L."""
        if "eta_l" in self.env.bound or "step_fraction" not in self.leaves:
            return
        fraction = self.leaf("step_fraction").reshape(self.rows, 1, 1, -1)
        bounds = []
        for condition in self.claim.hypotheses:
            left = condition.left
            if condition.relation == "<=" and isinstance(left, sp.Indexed) and left.base.label.name == "eta_l" and all(
                    i.is_Symbol for i in left.indices):
                with suppress(UnboundName):
                    bounds.append(self._value(condition.right, condition.over)[0])
        if bounds:
            eta = fraction * reduce(lambda a, b: namespace(a).where(b < a, b, a), bounds)
        else:
            scale = self.leaf("step_scale").reshape(self.rows, 1, 1, 1)
            eta = fraction * scale
            if "L_client" in self.env.bound:
                eta = eta / namespace(fraction).max(self.env.bound["L_client"].data, axis=-1)[..., None]
        if self.env.backend.library == "balls":
            eta = just_inside(eta, up=False)
        self.env.bound["eta_l"] = NamedArray(eta, 1)

    def _value(self, formula, over):
        """The values of a formula for all its indices, and where these are in range."""
        value, _, mask = sides(Condition(formula, "<=", 0, over), self.env)
        return value, mask

    def start(self):
        """Where runs start, (instances, dim)."""
        start = self.env.federation.x_star + self.leaf("start_offset")
        if start.dtype == object:
            return start
        return namespace(start).nan_to_num(start)  # losses without a minimum, which no hypothesis admits (see judge)

    def bind_start(self):
        """Bind the server's first model, which step sizes may depend on."""
        start = self.start()
        self.env.bound["x_round"] = NamedArray(start.reshape(start.shape[0], 1, 1, 1, -1), 1, True, (0,))

    def bind_point(self):
        """One step at a fixed time from any local models."""
        federation, xp = self.env.federation, namespace(self.env.federation.weights)
        included = self.leaf("included")
        x_local = federation.x_star[:, None, :] + self.leaf("local_offset")
        weight = federation.weights * included
        weight = weight / xp.sum(weight, axis=-1, keepdims=True)
        average = xp.sum(weight[..., None] * x_local, axis=1)
        self.put("included", included[:, None], 2)
        self.put("x_local", x_local[:, None], 2, True)
        for name in ("x", "x_sampled"):
            self.put(name, average[:, None], 1, True)

    def bind_run(self):
        env, shape = self.env, self.shape
        weights = to_numpy(env.federation.weights * env.federation.priority)
        weights = np.broadcast_to(weights, (self.rows, weights.shape[1]))
        draws, env.noise_weight, env.sampling_weight, env.noise_start = enumerated(shape, weights, env.backend)
        chance = (env.noise_weight.shape[1], env.sampling_weight.shape[1])
        copies = chance[0] * chance[1]
        federation = env.federation.repeat(copies)
        arrays = self.run(self.claim.procedure, federation, draws, copies, self.start())
        self._weigh_orders(draws, chance)
        entries = entries_of(self.claim)
        for name, make in arrays.items():
            env.bound.later(name, partial(self._of_run, make, entries.get(name), chance))
        procedure = self.claim.procedure or Procedure()
        for name, record in find_algorithm(procedure.base).traits.records.items():
            if record.method:
                run = partial(self.run, replace(procedure, base=record.method), federation, draws, copies, self.start())
                make = partial(lambda run, array: run()[array](), run, record.array)
                env.bound.later(name, partial(self._of_run, make, None, chance))
        if "epsilon" in self.leaves:
            times = np.arange(shape.iterations) // shape.local_steps
            self.put("epsilon", self.leaf("epsilon")[:, times], 1)

    def run(self, procedure, federation, draws, copies, start, twice=False):
        """Run a method, each instance ``copies`` times and, if ``twice``, all of that once more, from ``start`` (instances,
        dim); return the functions that make its recorded arrays, by name (see ``FullRecord.later``)."""
        if "eta_l" not in self.env.bound:
            raise UnboundName("nothing supplies 'eta_l': give a condition on it, or a leaf 'step_fraction'")
        xp = namespace(federation.weights)

        def spread(array):
            array = xp.repeat(array, copies, axis=0)
            return xp.concat([array, array], axis=0) if twice else array

        own = {name: spread(value) if hasattr(value, "shape") else value for name, value in self._hyper_parameters().items()}
        eta = self.env.bound["eta_l"].data
        eta = eta.reshape(eta.shape[0], eta.shape[-1]) + 0 * self.env.backend.array(np.zeros((self.rows, 1)))
        algorithm = algorithm_of(procedure, Tabulated(spread(eta)), self.shape.local_steps, self._selection(copies), own,
                                 exact=self.env.backend.library in ("exact", "balls"))
        start, record = spread(start), FullRecord()
        first = algorithm.init(federation, starting_points(federation, start, len(start)), draws)
        *_, state = rounds_of(algorithm, federation, first, draws, 0, self.shape.rounds, (record,))
        return record.later(federation, state, self.shape.local_steps)

    def _of_run(self, make, entries, chance) -> NamedArray:
        """An array of the run; ``entries``: its number of indices in the claim's formulas."""
        array, indices, vector = make()
        copies = chance[0] * chance[1]
        array = namespace(array).broadcast_to(array, (self.rows * copies, *array.shape[1:]))
        if vector and entries == indices + 1:  # as many layers or clients as coordinates
            indices, vector = indices + 1, False
        return NamedArray(array.reshape(self.rows, *chance, *array.shape[1:]), indices, vector)

    def _weigh_orders(self, draws, chance):
        """Multiply the probabilities of the sampling by those of the orders of layers, which depend on the run."""
        if draws.order_probability is None:
            return
        env = self.env
        given = draws.order_probability.reshape(self.rows, *chance)
        env.sampling_weight = env.sampling_weight[:, None, :] * given
        env.possible = env.sampling_weight > 0

    def _hyper_parameters(self):
        """The method's own arguments, as the claim or the instance gives them: counts, and arrays by instance."""
        found = {}
        for name in own_arguments(self.claim.procedure):
            if name in self.env.sizes:
                found[name] = self.env.sizes[name]
            elif name in self.env.bound:
                data = self.env.bound[name].data
                data = possible(self.claim, name, data.reshape(data.shape[0], *data.shape[3:]), self.env.backend)
            elif f"{START}{name}" in self.leaves:
                data = self.leaf(f"{START}{name}")
            else:
                continue
            if name not in found:
                found[name] = namespace(data).broadcast_to(data, (self.rows, *data.shape[1:]))
        return found

    def _selection(self, copies):
        procedure, xp = self.claim.procedure, namespace(self.env.federation.weights)
        if self.shape.sampling == BERNOULLI:
            if "participation" not in self.env.bound:
                raise UnboundName("nothing supplies 'participation': give a condition on it, or declare it as a variable")
            chance = self.env.bound["participation"].data.reshape(-1)
            chance = possible(self.claim, "participation", chance, self.env.backend)
            chance = namespace(chance).broadcast_to(chance, (self.rows,))
            return selection_of(procedure, participation=xp.repeat(chance, copies, axis=0))
        if not self.shape.free:
            return selection_of(procedure, self.shape.participants)
        epsilon = Tabulated(xp.repeat(self.leaf("epsilon"), copies, axis=0), by="round")
        table = self.env.backend.booleans(to_numpy(self.leaf("available")) > 0)
        return selection_of(procedure, self.shape.participants, epsilon, Pattern(xp.repeat(table, copies, axis=0)))

    # what the hypotheses determine ----------------------------------------------------------------------------------
    def resolve(self):
        """Bind the names that conditions define or bound, until nothing more follows."""
        progress = True
        while progress:
            progress = False
            for condition in equations(self.claim):
                progress = self._define(condition) or progress
            for condition in bounds_on_entries(self.claim):
                progress = self._entries(_bare_name(condition.left), condition) or progress
            for name in self._bare_symbols():
                progress = (name not in defined_numbers(self.claim) and self._tighten(name)) or progress
            assumed = [n for n in assumed_constants(self.claim) if n not in self.env.bound]
            if not progress and assumed and f"{ASSUMED}{assumed[0]}" in self.leaves:  # the run alone would bound it
                self.put(assumed[0], self.leaf(f"{ASSUMED}{assumed[0]}").reshape(-1))
                progress = True
            elif not progress and self._waiting():  # bounds that wait for each other: one of them goes first
                self._tighten(self._waiting()[0].name, ignoring=True)
                progress = True
            progress = progress or any(self._tighten(name) for name in self._bare_symbols())
            progress = progress or any(self._tighten(name, apart=True) for name in self._bare_symbols()
                                       if name not in defined_numbers(self.claim))

    def _known(self, name) -> bool:
        return name in self.env.bound or name in self.env.sizes or name in self.env.definitions

    def _define(self, condition: Condition) -> bool:
        name = _bare_name(condition.left)
        if name is not None and isinstance(condition.left, sp.Indexed) and not condition.left.indices[0].is_Symbol:
            return self._entries(name, condition)
        if name is None or self._known(name):
            return False
        try:
            value, mask = self._value(condition.right, condition.over)
        except UnboundName:
            return False
        value = namespace(value).broadcast_to(value, (*value.shape[:3], *mask.shape))
        self.env.bound[name] = NamedArray(value, len(condition.over))
        self.env.by_definition.append(condition)
        return True

    def _entries(self, name, condition) -> bool:
        """Bind the entries of an array that the condition defines: one, as a[0], or entries t + 1 by earlier ones. Move
        entries that it bounds into these bounds, one after another."""
        if name not in self.env.bound or condition in self.settled or len(condition.over) > 1:
            return False
        sizes, position = self.env.sizes, condition.left.indices[0]

        def number(formula, **indices):
            return int(formula.subs({s: value for s in formula.free_symbols
                                     if (value := indices.get(s.name, sizes.get(s.name))) is not None}))

        before, times = self.env.bound[name], [()]
        if condition.over:
            (index, low, high), = condition.over
            shift = sp.simplify(position - index)
            if not shift.is_Integer or (condition.relation == "==" and shift < 1):
                return False
            times = [((index, t, t),) for t in range(number(low), number(high) + 1)]
        try:
            for over in times:
                data, place = self.env.bound[name].data, number(position, **{str(i): t for i, t, _ in over})
                value, xp = self._value(condition.right, over)[0], namespace(data)
                if not 0 <= place < data.shape[-1]:
                    raise UnboundName(f"{name} has no entry {place}")
                value = value[..., :1] if over else value[..., None]
                if any(size not in (1, own) for size, own in zip(value.shape, data.shape, strict=True)):
                    raise UnboundName(f"{name} does not depend on chance")
                value = xp.broadcast_to(value, (*data.shape[:-1], 1))
                if condition.relation != "==":
                    value = self._inside(data[..., place : place + 1], condition.relation, value)
                data = xp.concat([data[..., :place], value, data[..., place + 1 :]], axis=-1)
                self.env.bound[name] = NamedArray(data, 1)
        except UnboundName:
            self.env.bound[name] = before
            return False
        self.settled.append(condition)
        if condition.relation == "==":
            self.env.by_definition.append(condition)
        return True

    def _inside(self, number, relation: str, bound):
        """The number, or the bound where it is beyond that."""
        upper = relation == "<="
        if self.env.backend.library == "balls":  # conditions hold for sure, and instances stay rational
            bound = just_inside(bound, up=not upper)
        return -maximum(-number, -bound) if upper else maximum(number, bound)

    def _bare_symbols(self):
        names = dict.fromkeys((*bounds_on_numbers(self.claim), *bounds_at_all_points(self.claim)))
        return [name for name in names if not self._known(name)]

    def _tighten(self, name, ignoring: bool = False, apart: bool = False) -> bool:
        """Bind a number to the tightest value that all conditions on it admit; move a free one into its bounds.
        ``ignoring``: bounds that are not known yet are left out. ``apart``: of a constant, bounds are left out that are
        constants and wait for their own bounds; as hypotheses they are checked."""
        free = name in {v.name for v in self._waiting()}
        best, upper, least = self.leaf(name).reshape(-1, 1, 1) if free else None, False, None
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
        if f"{SLACK}{name}" in self.leaves:
            factor = self.leaf(f"{SLACK}{name}").reshape(-1, 1, 1)
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

        return moved_within(holds, self.rows, best, self.env.backend)


def _certain(data, indices=0, vector=False) -> NamedArray:
    """``data`` (instances, indices..., [dim]) that does not depend on chance."""
    return NamedArray(data.reshape(data.shape[0], 1, 1, *data.shape[1:]), indices, vector)


def _bare_name(side) -> str | None:
    """The name if ``side`` is a bare symbol or an indexed one."""
    if side.is_Symbol:
        return side.name
    return side.base.label.name if isinstance(side, sp.Indexed) else None


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
