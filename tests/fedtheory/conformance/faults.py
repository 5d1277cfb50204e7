"""Planted faults: functions that spoil one line of the running code, for the mutation table."""

from dataclasses import replace
from importlib import import_module

import fedtheory.trajectory
from fedtheory import OBSERVABLES, LossMatching, Selection
from fedtheory.paths import states_on
from synthetic import GaussianNoise
from synthetic.numbers.arrays import namespace
from tests.fedtheory.federations import gathered

RUN = import_module("fedtheory.run")  # the package's attribute of that name is the function


def replaced(owner, name, make):
    """Plants ``make(original)`` in place of a function of ``owner``."""
    return lambda patch: patch.setattr(owner, name, make(getattr(owner, name)))


# faults of the selection ---------------------------------------------------------------------------------------------
def participation(change):
    """Changes what Selection.participate answers: ``change(selection, federation, participation, draws, round)``."""
    def make(original):
        def participate(self, federation, x, draws, round, iteration, aggregated=None):
            part = original(self, federation, x, draws, round, iteration, aggregated)
            return change(self, federation, part, draws, round)

        return participate

    return replaced(Selection, "participate", make)


def shifted_warmup(by):
    def make(original):
        def participate(self, federation, x, draws, round, iteration, aggregated=None):
            return original(self, federation, x, draws, round, iteration, (round if aggregated is None else aggregated) + by)

        return participate

    return replaced(Selection, "participate", make)


def scaled(part, factor):
    return replace(part, virtual_weight=part.virtual_weight * factor, weight=part.weight * factor)


def total(federation, included):
    return 1 + namespace(federation.weights).sum(federation.weights * (included & ~federation.priority), axis=-1)[:, None]


def not_normalised(selection, federation, part, draws, round):
    return scaled(part, total(federation, part.included))


def normalised_by_all(selection, federation, part, draws, round):
    return scaled(part, total(federation, part.included) / total(federation, part.included | True))


def normalised_by_matched(selection, federation, part, draws, round):
    absent = ~selection.free.available(federation, draws, round)
    return scaled(part, total(federation, part.included) / total(federation, part.included | absent))


def sampling_forgotten(selection, federation, part, draws, round):
    return replace(part, weight=part.virtual_weight)


def free_weights_shared(selection, federation, part, draws, round):
    """Every free client that counts weighs the same."""
    xp = namespace(federation.weights)
    free = 1.0 * (part.included & ~federation.priority)
    mean = xp.sum(part.weight * free, axis=-1)[:, None] / xp.clip(xp.sum(free, axis=-1)[:, None], min=1)
    return replace(part, weight=xp.where(federation.priority, part.weight, mean * free))


def opposite_sign(original):
    return lambda self, federation, x, round, iteration: ~original(self, federation, x, round, iteration)


def one_sided(original):
    return lambda self, federation, x, round, iteration: self.willing(federation, x, round, iteration)


def ties_turned(original):
    return lambda self, *when: original(replace(self, strict=not self.strict), *when)


def objective_of_all(original):
    def gap(self, federation, x):
        own, p = federation.value(x), federation.weights / federation.weights.sum(-1, keepdims=True)
        return own - (p * own).sum(-1, keepdims=True)

    return gap


def one_round_early(original):
    return lambda self, *where: original(self, *where[:-2], where[-2] + 1, where[-1] + 1)


def read_as(indicator):
    def make(original):
        def post_init(self):
            original(self)
            object.__setattr__(self, "indicator", indicator)

        return post_init

    return replaced(LossMatching, "__post_init__", make)


def uniform_draws(original):
    def shares(self, federation, draws, round):
        uniform = gathered(federation, range(federation.clients), weights=0 * federation.weights + 1)
        return original(self, uniform, draws, round)

    return shares


def same_round(original):
    return lambda self, federation, draws, round: original(self, federation, draws, 0)


def unscaled(original):
    def shares(self, federation, draws, round):
        drawn = original(self, federation, draws, round)
        return drawn * self.participants / int(federation.priority[0].sum())

    return shares


def drawn_twice(original):
    def subset(self, stream, time, population, size):
        drawn = original(self, stream, time, population, size)
        drawn[:, -1] = drawn[:, 0]
        return drawn

    return subset


def only_the_aligned_work(original):
    def trains(self, context):
        x = context.federation.all_clients(context.x)
        return self.participate(context.federation, x, context.draws, context.round, context.iteration).included

    return trains


# faults of the steps, the noise and the time ------------------------------------------------------------------------------
def at_time(shift):
    return lambda original: lambda self, context: original(self, context._replace(iteration=shift(context)))


def pulled_to_the_origin(original):
    return lambda self, g, local, context: original(self, g, local, context._replace(x=0 * context.x))


def noise(change):
    return replaced(GaussianNoise, "sample", change)


def off_centre(original):
    return lambda self, *where: original(self, *where) + 0.05


def shared(original):
    return lambda self, *where: original(self, *where)[:, :1] + 0 * original(self, *where)


def frozen(original):
    return lambda self, draws, iteration, *where: original(self, draws, 0, *where)


def by_position(original):
    def init(self, seeds, *more):
        original(self, seeds, *more)
        self.seeds = self.seeds + self.integer_backend.integers(range(self.runs))

    return init


# faults of what is recorded and resumed ------------------------------------------------------------------------------
def recorded(name, **changes):
    return lambda patch: patch.setitem(OBSERVABLES, name, replace(OBSERVABLES[name], **changes))


def bias_of_all(context, participation):
    bias = participation.virtual_weight * context.federation.constants.value("Gamma_client")
    return namespace(bias).sum(bias, axis=-1)


def drift_from_the_broadcast_model(context, participation, x_local, gradient):
    away = ((x_local - context.x[:, None]) ** 2).sum(-1)
    return (participation.virtual_weight * away).sum(-1)


def clock_restarted(patch):
    def advance(path, algorithm, federation, state, draws, first, *more):
        return states_on(path, algorithm, federation, state, draws, 0, *more)

    patch.setattr(RUN, "states_on", advance)


def resumed_from(change):
    def make(original):
        return lambda state, backend: change(original(state, backend))

    return lambda patch: patch.setattr(RUN, "on_backend", make(RUN.on_backend))


def models_forgotten(state):
    average = namespace(state.x).broadcast_to(state.x[:, None], state.clients["model"].shape)
    return state._replace(clients={"model": average})


def participation_forgotten(state):
    part, xp = state.participation, namespace(state.x)
    return state._replace(participation=replace(part, included=xp.ones_like(part.included)))


def seeds_renewed(patch):
    original = fedtheory.trajectory._read

    def read(*arguments):
        trajectory = original(*arguments)
        return replace(trajectory, seeds=trajectory.seeds + 1)

    patch.setattr(fedtheory.trajectory, "_read", read)
