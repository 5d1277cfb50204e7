"""Runs of a trajectory, made again from their seeds, with a value for every name of a claim."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Procedure, Variable, length_of, names_in
from bounds.language.names import CONSTANT, names_from
from fedtheory import LossMatching, find_algorithm, make_algorithm
from fedtheory.engine import rounds_of
from fedtheory.schedules import value_at
from fedtheory.selection import Independent
from synthetic.base.noise import NoNoise
from synthetic.numbers.arrays import namespace, to_numpy
from synthetic.numbers.draws import Draws
from verify.claims.hypotheses import bounds_on_numbers, equations
from verify.claims.method import subset_left_open
from verify.claims.same_method import arguments_of, other_procedure
from verify.claims.sizes import entries_of, integer_variables
from verify.evaluation.environment import UNMEASURED, Environment, NamedArray
from verify.evaluation.evaluate import sides
from verify.instances.chance import chance_of
from verify.measure.record import FullRecord
from verify.measure.simulate import bind_given

__all__ = ["MOST_BYTES", "Runs"]

MOST_BYTES = 2 * 10**9  #: of local models and gradients
_RECORD = "full record"


class Runs:
    """The runs of a trajectory with everything recorded that a claim may name.

    Runs with the same seed and the same start are copies of one another, and count once: ``seeds`` (runs,) and ``start``
    (runs, dim) are those of the ``count`` different ones. ``other`` says why these are not runs of the claim's procedure, or
    is None; ``arguments`` are the procedure's, as the runs have them; ``random``: whether runs differ, or would if there
    were more than one; ``by_chance``: whether seeds may matter; ``independent``: whether no two runs share a seed.
    """

    coupled = False  #: whether there are runs on neighbouring data sets beside them
    said = ""  #: what the runs are besides seeds, for a title
    unsure = ""  #: why no means over them decide, if none do

    def __init__(self, claim: Claim, trajectory, values: Mapping[str, float]):
        self.claim, self.trajectory, self.values = claim, trajectory, values
        self.algorithm, self.federation = trajectory.algorithm, trajectory.federation
        self.procedure = claim.procedure or Procedure()
        if self.algorithm is None or trajectory.start is None:
            raise ValueError("a trajectory that was read from a file has no method and federation; allowed: those of run")
        if self.federation.instances != 1:
            raise ValueError(f"one bound is compared with runs on one instance; got {self.federation.instances}, "
                             "of which federation.select([number]) takes one")
        if trajectory.narrow:
            self.unsure = "the runs are in float32, whose rounding no bound covers (dtype float64 makes them again)"
        rows = _distinct(trajectory)
        self.seeds, self.start, self.count = trajectory.seeds[rows], trajectory.start[rows], len(rows)
        self.independent = len(np.unique(self.seeds)) == self.count
        self.arguments = arguments_of(self.procedure, self.algorithm)
        self.other = other_procedure(self.procedure, self.algorithm)
        self.of_selection = self._chances()
        self._check_values()
        if _RECORD not in vars(trajectory):  # kept with the trajectory, for the next claim
            vars(trajectory)[_RECORD] = self._full_record(self.algorithm, to_numpy(trajectory.state.x)[rows])
        self.record, self.final = vars(trajectory)[_RECORD]
        certain = (isinstance(self.federation.noise, NoNoise) and self.algorithm.selection.fixed_on(self.federation)
                   and not chance_of(self.procedure, claim.variables).beyond_gradients)
        seen = (*self.record.local, *self.record.gradients, self.final.x)
        differ = any(bool((rows != rows[:1]).any()) for rows in seen)
        self.random, self.by_chance = differ or (self.count == 1 and not certain), not certain

    def _check_values(self) -> None:
        """Refuse a value of a whole number that is none, and one of a number that the runs have already."""
        whole, fixed = integer_variables(self.claim), {} if self.other else self.arguments | self.of_selection
        for name, value in self.values.items():
            if name in whole and value != int(value):
                raise ValueError(f"{name} is a whole number; got {value:g}")
        self.values = {name: int(value) if name in whole else value for name, value in self.values.items()}
        fixed |= self._own_sizes(self.trajectory.rounds)
        for name in sorted(self.values.keys() & fixed.keys()):
            if isinstance(fixed[name], int | float) and not np.isclose(fixed[name], self.values[name], rtol=1e-9):
                raise ValueError(f"the runs have {name} = {fixed[name]}; got {name} = {self.values[name]:g}")

    def _chances(self) -> dict[str, float]:
        """The probability with which each client takes part, if it takes part by itself."""
        sampling = self.algorithm.selection.sampling
        if not isinstance(sampling, Independent):
            return {}
        chance = sampling.chance(self.federation)
        chances = np.unique(to_numpy(chance) if hasattr(chance, "shape") else [float(chance)])
        if len(chances) > 1:
            text = f"a claim has one participation; the runs have {len(chances)}, from {chances[0]:g} to {chances[-1]:g}"
            self.other = self.other or text
        return {"participation": float(chances[0])}

    def _full_record(self, algorithm, end=None):
        """The full record of runs of a method with the seeds and the starts of the runs, and the state at the end, where the
        models are ``end`` (runs, dim), if that is given."""
        federation, steps, rounds = self.federation, algorithm.local_steps, self.trajectory.rounds
        needed = 16 * self.count * rounds * (steps + 2) * federation.clients * federation.dim
        if needed > MOST_BYTES:
            raise ValueError(f"the local models of these runs take {needed / 1e9:.3g} GB; allowed: {MOST_BYTES / 1e9:g} GB "
                             "(fewer seeds, fewer rounds)")
        draws, record = Draws(self.seeds, federation.backend), FullRecord()
        state = algorithm.init(federation, federation.backend.array(self.start), draws)
        *_, final = rounds_of(algorithm, federation, state, draws, 0, rounds, (record,))
        if end is not None and not np.allclose(to_numpy(final.x), end, equal_nan=True, **self._tolerances):
            raise ValueError("these runs end elsewhere when they are made again; was the method or the federation changed?")
        return record, final

    @property
    def _tolerances(self) -> dict[str, float]:
        """The tolerances within which rounding may move the end of runs."""
        narrow = self.trajectory.narrow or self.trajectory.dataset.attrs.get("made_in")
        return {"rtol": 1e-3, "atol": 1e-5} if narrow else {"rtol": 1e-6, "atol": 1e-9}

    def environment(self, rounds: int) -> Environment:
        """The claim's names on the runs up to a round. Free numbers have the values that were given, or that an argument of
        the method has, or an equation with the step size; others are 1, moved into the bounds of the hypotheses."""
        bind, tied = self._tied(rounds)
        return bind(tied)

    def determines(self, name: str) -> bool:
        """Whether a number has a value by what was given, by an argument of the method or by an equation with the step."""
        return name in self.arguments | self.of_selection | self.values or name in self._tied(self.trajectory.rounds)[1]

    def _tied(self, rounds: int):
        """A function that makes the environment from values of numbers, and those of the numbers that equations tie to the
        step size."""
        claim, sizes, given = self.claim, self._sizes(rounds), self._measured(rounds)
        for name, value in (self.arguments | self.of_selection | self.values).items():
            if name in claim.names and name not in sizes and name not in given:
                given[name] = self._constant(value)
        tightest = {*names_from(CONSTANT)} & {*bounds_on_numbers(claim)}  # as of constants that are not declared
        usual = {v.name: _usual(v, sizes) for v in claim.variables if v.name not in (given.keys() | sizes | tightest)}

        def bind(more):
            left = {name: leaf for name, leaf in usual.items() if name not in more}
            return self._bind(sizes, given | more, left)

        tied: dict[str, NamedArray] = {}
        for name, leaf in usual.items():
            value = _tied(claim, lambda number, name=name: bind(tied | {name: self._constant(number)}), name)
            if leaf.shape == (1,) and value is not None:
                tied[name] = self._constant(value)
        return bind, tied

    def _bind(self, sizes, given, params) -> Environment:
        return bind_given(self.claim, self.federation, sizes, given, self.count, params)

    def _constant(self, value) -> NamedArray:
        array = self.federation.backend.array(value)
        return NamedArray(array.reshape(1, 1, 1, *array.shape), array.ndim)

    def _sizes(self, rounds: int) -> dict[str, int]:
        known = self.arguments | self.values
        all_of_them = self.federation.clients if self.algorithm.selection.fixed_on(self.federation) else self._participants
        subset = dict.fromkeys(subset_left_open(self.claim), all_of_them)
        return {name: known.get(name, v.low) for name, v in integer_variables(self.claim).items()} | subset | (
            self._own_sizes(rounds))

    def _own_sizes(self, rounds: int) -> dict[str, int]:
        """The sizes that the runs have, whatever the claim says."""
        federation, steps = self.federation, self.algorithm.local_steps
        return {
            "clients": federation.clients, "iterations": steps * rounds, "local_steps": steps, "rounds": rounds,
            "dim": federation.dim, "participants": self._participants,
            "priority_clients": int(to_numpy(federation.priority)[0].sum()), "layers": len(federation.layers()),
        }

    @property
    def _participants(self) -> int:
        everyone = int(to_numpy(self.federation.priority)[0].sum())
        return getattr(self.algorithm.selection.sampling, "participants", everyone)

    def _measured(self, rounds: int) -> dict[str, Any]:
        """The quantities that the runs record, up to a round."""
        steps, backend = self.algorithm.local_steps, self.federation.backend
        found = self._recorded(rounds)
        eta = self._by_iteration(self.arguments["eta_l"], rounds)
        if eta is None:
            raise ValueError("every run must have the same steps to be compared with one bound; got several")
        found["eta_l"] = NamedArray(backend.array(eta).reshape(1, 1, 1, -1), 1)
        matching = self.algorithm.selection.matching
        if isinstance(matching, LossMatching) and (epsilon := self._by_iteration(matching.epsilon, rounds)) is not None:
            epsilon[: matching.warmup * steps] = [0.0] * len(epsilon[: matching.warmup * steps])
            found["epsilon"] = NamedArray(backend.array(epsilon).reshape(1, 1, 1, -1), 1)
        found |= self._bounds(max(eta))
        for name, record in find_algorithm(self.procedure.base).traits.records.items():
            if record.method and name in self.claim.names and self.other is None:
                other = make_algorithm(record.method, local_steps=steps, **self.arguments, **dict(self.procedure.options))
                ran, final = self._full_record(other.having(selection=self.algorithm.selection))
                found[name] = self._arrays(*ran.until(rounds, steps, final))[record.array]
        return found

    def _recorded(self, rounds: int) -> dict[str, Callable]:
        """The arrays of the runs up to a round."""
        return self._arrays(*self.record.until(rounds, self.algorithm.local_steps, self.final))

    def _bounds(self, largest_step: float) -> dict[str, NamedArray]:
        """Constants that are known of every run on the federation, before it is made."""
        constants, found = self.federation.constants, {}
        if "noise_bound" in constants and constants["noise_bound"].decides:
            found["noise_bound"] = NamedArray(constants.value("noise_bound").reshape(-1, 1, 1))
            if (bound := self._bound_on_gradients(largest_step)) is not None:
                found["G_sq"] = self._constant(bound)
        return found

    def _by_iteration(self, schedule, rounds: int) -> list[float] | None:
        """The values of a schedule at every local iteration; None where those of the runs differ."""
        found, steps, runs = [], self.algorithm.local_steps, self.count
        for t in range(rounds * steps):
            values = np.ravel(to_numpy(value_at(schedule, self.federation.backend, t, t // steps, runs)))
            if (values != values[0]).any():
                return None
            found.append(float(values[0]))
        return found

    def _arrays(self, record: FullRecord, final) -> dict[str, Callable]:
        """Functions that make the arrays of a record, by name."""
        entries = entries_of(self.claim)
        later = record.later(self.federation, final, self.algorithm.local_steps)
        return {name: partial(_of_runs, make, entries.get(name)) for name, make in later.items()}

    def _bound_on_gradients(self, largest_step: float) -> float | None:
        """A bound on the squared stochastic gradients of every run of FedAvg: with steps of at most 2/(L + mu) iterates stay
        in a ball."""
        federation, constants = self.federation, self.federation.constants
        if self.other or self.procedure.base != "fedavg" or getattr(self.algorithm.server, "eta_g", 1) != 1:
            return None
        if "mu" not in constants or not float(to_numpy(constants.value("mu")).min()) > 0:
            return None
        L, mu = (float(to_numpy(constants.value(n)).max()) for n in ("L", "mu"))
        if largest_step > 2 / (L + mu):
            return None
        noise = float(np.max(to_numpy(constants.value("noise_bound"))))
        xp = namespace(federation.weights)
        gradients = federation.gradient(federation.all_clients(federation.x_star))
        steepest = float(xp.max(xp.sqrt(xp.sum(gradients**2, axis=-1))))
        distance = float(np.sqrt(((self.start - to_numpy(federation.x_star)) ** 2).sum(axis=-1)).max())
        return (steepest + L * max(distance, (steepest + noise) / mu) + noise) ** 2

    def estimates(self, environment: Environment) -> list[str]:
        """The claim's constants that are only estimates: those that the federation does not know, and those that hypotheses
        bound by what random runs do."""
        found = self._unknown()
        known = {*self._measured(1)} - {*self._arrays(self.record, self.final)}
        for name, bounds in bounds_on_numbers(self.claim).items() if self.random else ():
            if name in environment.bound and name not in known and any(self._is_random(b.other) for b in bounds):
                found.append(name)
        return sorted(found)

    def _unknown(self) -> list[str]:
        """The claim's constants that the federation only estimates."""
        constants = self.federation.constants
        return [name for name in self.claim.names if name in constants and not constants[name].decides]

    def _is_random(self, formula) -> bool:
        """Whether a formula names what the runs do after their start."""
        starts = {name for name in ("x_round", "x_sampled", "x") if all(
            entry.indices[0] == 0 for entry in sp.sympify(formula).atoms(sp.Indexed) if str(entry.base.label) == name)}
        return bool({name.removeprefix("twin_") for name in names_in(formula)} & (
            {*self._arrays(self.record, self.final)} - starts))


def _distinct(trajectory) -> np.ndarray:
    """The numbers of the first runs of each seed and start, in their order."""
    first: dict[tuple, int] = {}
    for row, (seed, start) in enumerate(zip(trajectory.seeds.tolist(), to_numpy(trajectory.start), strict=True)):
        first.setdefault((seed, start.tobytes()), row)
    return np.array([*first.values()])


def _of_runs(make: Callable, entries: int | None) -> NamedArray:
    array, indices, vector = make()
    if vector and entries == indices + 1:  # as many layers or clients as coordinates
        indices, vector = indices + 1, False
    return NamedArray(array.reshape(1, array.shape[0], 1, *array.shape[1:]), indices, vector)


def _usual(variable: Variable, sizes: Mapping[str, int]) -> np.ndarray:
    """The value of a free variable of which nothing is known, as a leaf: 1, or half of what it lies below."""
    shape = (1, *(length_of(size, sizes) for _, size in variable.indices), *[sizes["dim"]] * (variable.domain == "vector"))
    if variable.domain == "simplex":
        return np.full(shape, 1 / shape[-1])
    if variable.domain == "integer":
        return np.full(shape, float(variable.low))
    return np.full(shape, 1.0 if variable.below is None else variable.below / 2)


def _tied(claim: Claim, bind: Callable[[float], Environment], name: str) -> float | None:
    """The value of a free number to which an equation of the hypotheses makes the step size proportional; None if none does.
    ``bind``: the environment where that number has a value."""
    for condition in equations(claim):
        if str(getattr(condition.left, "base", "")) != "eta_l" or name not in names_in(condition.right):
            continue
        try:
            (step, once, _), (_, twice, _) = (sides(condition, bind(number)) for number in (1.0, 2.0))
        except UNMEASURED:
            continue
        step, once, twice = (np.ravel(to_numpy(side))[0] for side in (step, once, twice))
        if once and np.isclose(twice, 2 * once):
            return float(step / once)
    return None
