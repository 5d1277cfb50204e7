"""Costs of a round: evaluated gradients and sent floats against those that the method counts."""

import numpy as np

from fedtheory.engine import Observer
from fedtheory.run import run
from fedtheory.testing.outcome import Broken, same, true
from fedtheory.testing.property import needs, property_of_every_method
from fedtheory.testing.subject import begin, play
from synthetic.numbers.arrays import namespace, to_numpy

AXES = ("run", "client")


class CostRecorder(Observer):
    """Records, round by round, the costs that the method counts, the clients that train, and the messages."""

    everyone = False

    def __init__(self):
        self.gradients, self.down, self.up, self.trains, self.extra = [], [], [], [], []

    def start_of_round(self, context, participation):
        self.gradients.append(self._wide(context, context.algorithm.gradient_evaluations(context)))
        self.trains.append(self._wide(context, context.algorithm.trains(context)).astype(bool))

    def uploads(self, context, local, upload):
        down, up = context.algorithm.floats(context, upload)
        self.down.append(self._wide(context, down))
        self.up.append(self._wide(context, up))
        model = self._wide(context, context.spread(upload.floats))
        sent = sum((_entries(context, array) for array in upload.others.values()), 0 * model)
        self.extra.append((model, sent))

    @staticmethod
    def _wide(context, values):
        values = to_numpy(values).astype(float)
        return np.broadcast_to(values, (context.x.shape[0], context.federation.clients)).copy()


def _entries(context, array):
    """The count of nonzero numbers of an array (runs, participants, ...) that each client sends, (runs, clients)."""
    xp = namespace(array)
    if array.ndim < 2 or "float" not in str(array.dtype):
        return 0.0
    counts = xp.astype(xp.sum(array.reshape(*array.shape[:2], -1) != 0, axis=-1), context.x.dtype)
    return to_numpy(context.spread(counts)).astype(float)


def metered(subject, case, federation=None, **how):
    algorithm, meter = subject.build(case), CostRecorder()
    federation = case.federation() if federation is None else federation
    states = play(algorithm, federation, case, observers=(meter,), **how)
    return algorithm, meter, states


@property_of_every_method("gradients counted")
def gradients_counted(subject, case):
    """The counted stochastic gradients of a client are those evaluated."""
    algorithm, federation, calls = subject.build(case), case.federation(), np.zeros((case.runs, case.clients))
    state, meter = begin(algorithm, federation, case), CostRecorder()
    original = federation.stochastic_gradient

    def counted(x, draws, iteration, clients=None):
        everyone = np.broadcast_to(np.arange(case.clients), calls.shape)
        np.add.at(calls, (np.arange(case.runs)[:, None], everyone if clients is None else to_numpy(clients)), 1)
        return original(x, draws, iteration, clients)

    federation.stochastic_gradient = counted
    for r in range(case.rounds):
        calls[:] = 0
        state = play(algorithm, federation, case, state=state, first=r, rounds=1, observers=(meter,))[-1]
        trains = meter.trains[-1]  # clients that are computed without taking part are not counted
        same(calls * trains, meter.gradients[-1] * trains, f"stochastic gradients charged in round {r}", 0, AXES)


@property_of_every_method("who sits out costs nothing")
def who_sits_out_costs_nothing(subject, case):
    """A client that does not train evaluates no gradient and, unless its loss is asked for, sends and gets nothing."""
    algorithm, meter, _ = metered(subject, case)
    asked = type(algorithm.selection.matching).__name__ == "LossMatching"
    for r, trains in enumerate(meter.trains):
        idle = ~trains
        costs = {"gradients": meter.gradients[r]}
        if not asked:
            costs |= {"floats down": meter.down[r], "floats up": meter.up[r]}
        for name, cost in costs.items():
            same(np.zeros(idle.sum()), cost[idle], f"{name} of clients that sit out round {r}", 0, ("number",))


@property_of_every_method("communication totals")
def communication_totals(subject, case):
    """The totals that ``fedtheory.run`` records are those of a loop that also computes clients that were not drawn."""
    algorithm, meter, _ = metered(subject, case, everyone=True)
    names = {"downlink_floats": meter.down, "uplink_floats": meter.up, "gradients": meter.gradients}
    with np.errstate(all="ignore"):
        ran = run(algorithm, case.federation(), case.rounds, start=case.start(), seeds=case.seeds, record=list(names))
    for name, rounds in names.items():
        same(np.sum(rounds, axis=0), ran.dataset[name].values.sum(axis=1), f"{name} over {case.rounds} rounds", 1e-12, AXES)


@property_of_every_method("everything sent is counted", free=0)
def everything_sent_is_counted(subject, case):
    """Arrays that clients send besides the model are counted in the floats sent."""
    _, meter, _ = metered(subject, case)
    for r, (model, others) in enumerate(meter.extra):
        active = meter.trains[r]
        counted = (meter.up[r] - model)[active]
        missing = (others[active] > 0) & (counted + 1e-9 < others[active])
        if missing.any():
            expected, got = others[active][missing][0], counted[missing][0]
            raise Broken(f"floats up besides the model in round {r}", f"at least {expected:g}", got)


@property_of_every_method("everything received is counted", rounds=2, runs=1, participants=None, free=0, data=False)
def everything_received_is_counted(subject, case):
    """Server arrays that clients read, besides the model, are counted in the floats received."""
    algorithm, federation = subject.build(case), case.federation()
    state = play(algorithm, federation, case, rounds=1)[-1]
    x, read, size = algorithm.broadcast(state), [], 0
    pinned = _copy_with(algorithm, broadcast=lambda self, state: x)

    def sent(server):
        seen = []

        class Watch(CostRecorder):
            def uploads(self, context, local, upload):
                super().uploads(context, local, upload)
                seen.append([local.x, upload.model, *upload.others.values()])

        meter = Watch()
        play(pinned, federation, case, state=state._replace(server=server), first=1, observers=(meter,))
        return seen[0], meter

    plain, meter = sent(state.server)
    for name, array in state.server.items():
        if "float" in str(array.dtype):
            other, _ = sent(state.server | {name: array + 1.0})
            if any(a.shape != b.shape or not np.array_equal(to_numpy(a), to_numpy(b), equal_nan=True)
                   for a, b in zip(plain, other, strict=True)):
                read.append(name)
                one_per_client = array.ndim > 2 and array.shape[1] == case.clients
                size += int(np.prod(array.shape[2 if one_per_client else 1 :]))
    needs(read, "clients read nothing of the server but the model")
    counted = (meter.down[0] - case.dim)[meter.trains[0]].min()
    what = f"floats down besides the model, of which clients read {', '.join(read)}"
    true(counted >= size, what, f"at least {size}", counted)


def _copy_with(algorithm, **functions):
    """The same algorithm with some of its functions replaced."""
    new = object.__new__(type(type(algorithm).__name__, (type(algorithm),), functions))
    new.__dict__.update(algorithm.__dict__)
    return new


@property_of_every_method("declared costs", free=0)
def declared_costs(subject, case):
    """A participant receives, sends and evaluates as much as the method declares, and others nothing."""
    costs = subject.traits.costs
    needs(costs is not None, "not declared")
    _, meter, states = metered(subject, case)
    federation = case.federation()
    for r, trains in enumerate(meter.trains):
        for name, declared, found in (("down", costs.down, meter.down[r]), ("up", costs.up, meter.up[r])):
            if declared is not None:
                models = declared(r, states[r], federation) if callable(declared) else declared
                expected = np.broadcast_to(to_numpy(models) * 1.0 * case.dim, found.shape) * trains
                same(expected, found, f"floats {name} in round {r}", 1e-12, AXES)
        if costs.gradients is not None:
            expected = costs.gradients(case.local_steps) * trains
            same(expected, meter.gradients[r], f"gradients in round {r}", 0, AXES)


@property_of_every_method("declared memory")
def declared_memory(subject, case):
    """A client keeps as many numbers between rounds as the method declares."""
    kept = getattr(subject.traits.costs, "kept", None)
    needs(kept is not None, "not declared")
    state = play(subject.build(case), case.federation(), case, rounds=1)[-1]
    sizes = {name: int(np.prod(a.shape[2:])) for name, a in state.clients.items() if "float" in str(a.dtype)}
    total, found = sum(sizes.values()), ", ".join(f"{name} {size}" for name, size in sizes.items()) or "none"
    true(total == kept * case.dim, "numbers that a client keeps", f"{kept * case.dim:g}", f"{total} ({found})")
