"""Runs a batch of instances of a claim, or fixes its point, and binds every name of the claim to a value."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from math import prod

import numpy as np
import sympy as sp

from bounds.language.claim import INDEPENDENT, Claim, Procedure
from fedtheory import find_algorithm
from fedtheory.engine import rounds_of, starting_points
from fedtheory.schedules import Tabulated
from fedtheory.selection import Pattern
from synthetic.numbers.arrays import EXACT, NUMPY, Backend, namespace, to_numpy
from synthetic.numbers.roots import Irrational, just_inside
from verify.claims.method import algorithm_of, own_arguments, selection_of
from verify.claims.normalisations import Normalisation, normalisations, signs_in_all_units
from verify.claims.open_constants import possible
from verify.claims.sizes import entries_of
from verify.claims.ties import ties_of
from verify.evaluation import operators, pointwise_bounds  # noqa: F401  (give the papers' operators their meaning)
from verify.evaluation.environment import Environment, NamedArray, NoEntry, UnboundName
from verify.evaluation.judge import holds, significant_sides
from verify.instances.instance import federation_of, outcomes
from verify.instances.outcomes import enumerated
from verify.instances.parameters import START, Parameters, number_of
from verify.instances.shape import Shape
from verify.measure.constants import bind_over_space, known_constant
from verify.measure.constants_from_hypotheses import Determined
from verify.measure.coupled_runs import simulate_coupled
from verify.measure.normalisation import normalised
from verify.measure.record import FullRecord
from verify.measure.tied import tied

__all__ = ["bind_given", "simulate"]


def simulate(claim: Claim, shape: Shape, params: Parameters, backend: Backend, federation=None, values=None,
             most: int | None = None, runs: bool = True) -> Environment:
    """Bind every name that the claim uses, on a batch of instances.

    The federation follows from the leaves, or is given (one instance, deterministic gradients); then the leaves only say
    where to start, whom to match and how far to step. Constants take the tightest value that the hypotheses admit; a
    condition ``symbol == formula`` defines the symbol; a step size bounded by conditions takes a fraction of its bound;
    units of loss and length are such that other equations hold, where these determine them; free vectors lie where
    hypotheses tie them (:mod:`verify.measure.tied`), but not at the optimum of a given federation, which is known up to
    rounding only;
    ``values`` (name to :class:`NamedArray`) takes precedence over all that. No array of terms has
    more than about ``most`` entries. Without ``runs``, only what is known before a run is bound.

    Raises:
        UnboundName: a name nobody supplies.
        TooManyTerms: larger arrays than ``most`` allows.
    """
    given = dict(claim=claim, backend=backend, federation=federation, values=values, most=most)
    ties = [tie for tie in ties_of(claim) if federation is None or not tie.to_losses]
    if values is None and not shape.family.coupled and ties:
        begin = partial(_bind_for_ties, shape=shape, **given)
        certain = runs and claim.setting == "run" and prod(outcomes(shape)) == 1
        params = tied(ties, params, [begin, partial(begin, runs=True)] if certain else [begin])
    told = normalisations(claim, federation is None) if values is None and not shape.family.coupled else ()
    if told:
        shape, params = normalised(claim, told, shape, params, partial(_measured, told, **given))
    binder = _begun(shape=shape, params=params, **given)
    return _ended(binder) if runs else binder.env


def _begun(claim: Claim, shape: Shape, params: Parameters, backend: Backend, federation, values,
           most: int | None) -> "_Binder":
    """Bind what is known before the run or the point."""
    rows = number_of(params)
    environment = Environment(backend, shape.as_sizes(), dict(values or {}), definitions=claim.definitions, rows=rows,
                              instance=(shape, params))
    if most is not None:
        environment.most_terms = most // max(rows * prod(outcomes(shape)) * shape.dim, 1)
    binder = _Binder(claim, params, environment, rows, shape=shape)
    if claim.setting == "algebra":
        binder.bind_variables()
    elif not shape.family.coupled or federation is not None:
        environment.federation = federation_of(shape, params, backend) if federation is None else federation
        binder.bind_federation()
        binder.bind_variables()
        if claim.setting == "run":
            binder.bind_start()
        binder.resolve()
        binder.bind_steps()
        binder.resolve()
    return binder


def _bind_for_ties(params: Parameters, *, backend: Backend, federation, most, runs: bool = False, **given) -> Environment:
    """Bind what is known of instances before a run, or with it, in exact arithmetic where it must be certain."""
    backend = EXACT if backend.library in ("exact", "balls") else NUMPY
    federation = None if federation is None else federation.to(backend)
    binder = _begun(params=params, backend=backend, federation=federation, most=None, **given)
    if runs or binder.claim.setting == "point":
        return _ended(binder)
    return binder.env


def _ended(binder: "_Binder") -> Environment:
    """The environment with the run or the point."""
    if binder.env.federation is not None:
        binder.bind_point() if binder.claim.setting == "point" else binder.bind_run()
    elif binder.claim.setting != "algebra":
        return simulate_coupled(binder)
    binder.resolve()
    return binder.env


def _measured(told: Sequence[Normalisation], shape: Shape, params: Parameters, *, backend: Backend,
              **given) -> list[tuple] | None:
    """Both sides of what equations tell, (instances,), NaN on instances that break a hypothesis in all units; None where
    they have no value. A run is made only if they need it. Where fractions do not suffice, balls measure."""
    if backend.library == "balls":
        with suppress(Irrational, TypeError, ValueError):
            return _measured(told, shape, params, backend=EXACT, **given)
    binder = _begun(shape=shape, params=params, backend=backend, **given)
    for environment in (lambda: binder.env, lambda: _ended(binder)):
        with suppress(UnboundName, NoEntry):
            found = [significant_sides(one.condition, environment()) for one in told]
            return found if found[0][0].dtype == object else _where_signs_fit(given["claim"], found, binder.env)
    return None


def _where_signs_fit(claim: Claim, sides: list[tuple], environment: Environment) -> list[tuple]:
    """The sides, NaN where a number has not the sign that a hypothesis asks for: in small units it would pass for 0."""
    fits = np.ones(environment.rows, dtype=bool)
    for condition in signs_in_all_units(claim):
        with suppress(UnboundName, NoEntry):
            fits &= holds(condition, environment, environment.rows)
    where, fits = namespace(sides[0][0]).where, environment.backend.booleans(fits)
    return [tuple(where(fits, side, np.nan) for side in pair) for pair in sides]


def bind_given(claim: Claim, federation, sizes: dict[str, int], measured: dict[str, NamedArray], runs: int | None = None,
               params: Parameters | None = None, **fields) -> Environment:
    """Bind the names of a claim whose runs were made elsewhere and gave ``measured``; ``params``: values of free variables,
    which move into the bounds that the hypotheses put on them.

    Where these contain the clients' weights, they contain all constants of the federation. The first axis of chance has
    ``runs`` outcomes of equal probability. ``fields``: further ones of the environment.
    """
    environment = Environment(federation.backend, sizes, {}, federation=federation, definitions=claim.definitions, **fields)
    if runs is not None:
        environment.noise_weight = federation.backend.array(np.full((1, runs), 1 / runs))
    binder = _Binder(claim, params or {}, environment, 1, shape=None)
    if "client_weight" not in measured:
        binder.bind_federation()
    environment.bound |= measured
    if params:
        binder.bind_variables()
    binder.resolve()
    return environment


def _of_run(rows: int, make, entries, chance) -> NamedArray:
    """An array of the run; ``entries``: its number of indices in the claim's formulas. It knows nothing of the binder, whose
    environment keeps it: else each environment were in a cycle, and its arrays waited for the garbage collector."""
    array, indices, vector = make()
    copies = chance[0] * chance[1]
    array = namespace(array).broadcast_to(array, (rows * copies, *array.shape[1:]))
    if vector and entries == indices + 1:  # as many layers or clients as coordinates
        indices, vector = indices + 1, False
    return NamedArray(array.reshape(rows, *chance, *array.shape[1:]), indices, vector)


@dataclass(kw_only=True)
class _Binder(Determined):
    shape: Shape | None

    def bind(self, name, data, indices=0, vector=False):
        """Bind ``data`` (instances, indices..., [dim]) that does not depend on chance."""
        self.env.bound[name] = _certain(data, indices, vector)

    def bind_federation(self):
        federation, one = self.env.federation, self.env.backend.array(1)
        constants, xp = federation.constants, namespace(federation.weights)
        self.bind("client_weight", federation.weights, 1)
        self.bind("priority", federation.weights * 0 + xp.where(federation.priority, one, 0 * one), 1)
        self.bind("x_star", federation.x_star, 0, True)
        self.bind("F_star", constants.value("F_star"))
        for name in ("L_client", "mu_client", "sigma_sq_client"):
            if (name != "mu_client" or name in self.claim.names) and name in constants:  # where it is none, that takes long
                self.bind(name, constants.value(name), 1)
        self.env.bound.later("F_star_client", lambda: _certain(known_constant(constants, "F_star_client"), 1))
        self.env.infinite = bind_over_space(federation, self.claim, self.bind)

    def bind_variables(self):
        """Bind free quantities. A number that a condition bounds waits until its bounds are known."""
        bounded = set(self._bare_symbols())
        for variable in self.claim.variables:
            if variable.name not in self.params or variable.name in bounded or variable.name in self.claim.defining:
                continue
            data = self.parameter(variable.name)
            if variable.domain == "simplex":
                data = data / namespace(data).sum(data, axis=-1, keepdims=True)
            self.bind(variable.name, data, len(variable.indices), variable.domain == "vector")

    def bind_steps(self):
        """Bind step sizes that no formula defines: a fraction of their bounds; without bounds of 1/L, or of 1 without L."""
        if "eta_l" in self.env.bound or "step_fraction" not in self.params:
            return
        fraction = self.parameter("step_fraction").reshape(self.rows, 1, 1, -1)
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
            scale = self.parameter("step_scale").reshape(self.rows, 1, 1, 1)
            eta = fraction * scale
            if "L_client" in self.env.bound:
                eta = eta / namespace(fraction).max(self.env.bound["L_client"].data, axis=-1)[..., None]
        if self.env.backend.library == "balls":
            eta = just_inside(eta, up=False)
        self.env.bound["eta_l"] = NamedArray(eta, 1)

    @cached_property
    def start(self):
        """The starts of runs, (instances, dim)."""
        start = self.env.federation.x_star + self.parameter("start_offset")
        if start.dtype == object:
            return start
        return namespace(start).nan_to_num(start)  # losses without a minimum, which no hypothesis admits (see judge)

    def bind_start(self):
        """Bind the server's first model, which step sizes may depend on."""
        start = self.start
        self.env.bound["x_round"] = NamedArray(start.reshape(start.shape[0], 1, 1, 1, -1), 1, True, (0,))

    def bind_point(self):
        """One step at a fixed time from any local models."""
        federation, xp = self.env.federation, namespace(self.env.federation.weights)
        included = self.parameter("included")
        x_local = federation.x_star[:, None, :] + self.parameter("local_offset")
        weight = federation.weights * included
        weight = weight / xp.sum(weight, axis=-1, keepdims=True)
        average = xp.sum(weight[..., None] * x_local, axis=1)
        self.bind("included", included[:, None], 2)
        self.bind("x_local", x_local[:, None], 2, True)
        for name in ("x", "x_sampled"):
            self.bind(name, average[:, None], 1, True)

    def bind_run(self):
        env, shape = self.env, self.shape
        weights = to_numpy(env.federation.weights * env.federation.priority)
        weights = np.broadcast_to(weights, (self.rows, weights.shape[1]))
        draws, env.noise_weight, env.sampling_weight, env.noise_start = enumerated(shape, weights, env.backend)
        env.by_iteration = not (shape.chance.extra or shape.chance.beyond_gradients or shape.subset is not None)
        chance = (env.noise_weight.shape[1], env.sampling_weight.shape[1])
        copies = chance[0] * chance[1]
        federation = env.federation.repeat(copies)
        arrays = self.run(self.claim.procedure, federation, draws, copies, self.start)
        self._weigh_orders(draws, chance)
        entries = entries_of(self.claim)
        for name, make in arrays.items():
            env.bound.later(name, partial(_of_run, self.rows, make, entries.get(name), chance))
        procedure = self.claim.procedure or Procedure()
        for name, record in find_algorithm(procedure.base).traits.records.items():
            if record.method:
                run = partial(self.run, replace(procedure, base=record.method), federation, draws, copies, self.start)
                make = partial(lambda run, array: run()[array](), run, record.array)
                env.bound.later(name, partial(_of_run, self.rows, make, None, chance))
        if "epsilon" in self.params:
            times = np.arange(shape.iterations) // shape.local_steps
            self.bind("epsilon", self.parameter("epsilon")[:, times], 1)

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
            elif f"{START}{name}" in self.params:
                data = self.parameter(f"{START}{name}")
            else:
                continue
            if name not in found:
                found[name] = namespace(data).broadcast_to(data, (self.rows, *data.shape[1:]))
        return found

    def _selection(self, copies):
        procedure, xp = self.claim.procedure, namespace(self.env.federation.weights)
        if self.shape.sampling in INDEPENDENT:
            if "participation" not in self.env.bound:
                raise UnboundName("nothing supplies 'participation': give a condition on it, or declare it as a variable")
            chance = self.env.bound["participation"].data.reshape(-1)
            chance = possible(self.claim, "participation", chance, self.env.backend)
            chance = namespace(chance).broadcast_to(chance, (self.rows,))
            return selection_of(procedure, participation=xp.repeat(chance, copies, axis=0))
        if not self.shape.free:
            return selection_of(procedure, self.shape.participants)
        epsilon = Tabulated(xp.repeat(self.parameter("epsilon"), copies, axis=0), by="round")
        table = self.env.backend.booleans(to_numpy(self.parameter("available")) > 0)
        return selection_of(procedure, self.shape.participants, epsilon, Pattern(xp.repeat(table, copies, axis=0)))


def _certain(data, indices=0, vector=False) -> NamedArray:
    """``data`` (instances, indices..., [dim]) that does not depend on chance."""
    return NamedArray(data.reshape(data.shape[0], 1, 1, *data.shape[1:]), indices, vector)
