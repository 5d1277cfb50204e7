"""Participation: which clients train, whose data have influence, and which arrays change."""

import numpy as np

from fedtheory.selection import PriorityOnly
from fedtheory.testing.federations import changed, rearranged
from fedtheory.testing.outcome import same, true
from fedtheory.testing.properties_costs import metered
from fedtheory.testing.property import needs, property_of_every_method
from fedtheory.testing.subject import arrays_of, begin, models, play
from synthetic.numbers.arrays import to_numpy

SAMPLED = {"participants": 2, "clients": 5, "equal": True, "free": 0, "data": False}


def _watched(subject, case, federation, **how):
    """The algorithm, its states, and who trained in each round, (rounds, runs, clients)."""
    algorithm, meter, states = metered(subject, case, federation, **how)
    return algorithm, states, np.array(meter.trains)


@property_of_every_method("number of participants", rounds=24, runs=3, **SAMPLED)
def number_of_participants(subject, case):
    """``participants`` clients train in each round, and every client in some of 24 rounds."""
    _, _, trained = _watched(subject, case, case.federation(subject.backend))
    same(np.full(trained.shape[:2], case.participants), trained.sum(axis=-1), "clients that train", 0, ("round", "run"))
    if case.participants > 1:
        true(trained.any(axis=0).all(), "clients that never train in any of the rounds", "none",
             np.unique(np.argwhere(~trained.any(axis=0))[:, 1]))


@property_of_every_method("sampling everybody", equal=True, free=0)
def sampling_everybody(subject, case):
    """Drawing as many clients as there are is full participation."""
    needs(subject.samples, "the method does not sample clients")
    full, drawn = (models(subject, case.but(participants=number)) for number in (None, case.clients))
    same(full, drawn, f"x with {case.clients} of {case.clients} clients drawn", 1e-12)


@property_of_every_method("only participants are computed")
def only_participants_are_computed(subject, case):
    """Computing only the sampled clients gives the result of computing all clients."""
    algorithm, federation = subject.build(case), case.federation()
    few, all_ = (play(algorithm, federation, case, everyone=everyone) for everyone in (False, True))
    for r, (a, b) in enumerate(zip(few, all_, strict=True)):
        for name, array in arrays_of(a).items():
            same(arrays_of(b)[name], array, f"{name} after round {r}, only participants computed", 1e-12, ("run",))


@property_of_every_method("who is not drawn keeps", rounds=4, **SAMPLED)
def who_is_not_drawn_keeps(subject, case):
    """The arrays of a client do not change in rounds in which it does not train."""
    for everyone in (False, True):
        _, states, trained = _watched(subject, case, case.federation(), everyone=everyone)
        needs(states[0].clients, "clients keep nothing")
        for r, idle in enumerate(~trained):
            for name, before in states[r].clients.items():
                after = to_numpy(states[r + 1].clients[name])
                what = f"{name} of clients that sit out round {r}"
                same(to_numpy(before)[idle], after[idle], what, 0, ("client", "coordinate"))


@property_of_every_method("who is not drawn has no influence", runs=1, rounds=1, **SAMPLED)
def who_is_not_drawn_has_no_influence(subject, case):
    """NaNs in the data of clients that do not train in a round change nothing in it."""
    federation = case.federation()
    algorithm, healthy, trained = _watched(subject, case, federation)
    needs(isinstance(algorithm.selection.matching, PriorityOnly), "clients are chosen by their losses")
    state = begin(algorithm, federation, case)
    idle = federation.backend.array(np.where(trained[0, :1, :, None], 0.0, np.nan))
    ill = changed(federation, center=federation.center + idle)
    for everyone in (False, True):
        found = play(algorithm, ill, case, state=state, everyone=everyone)
        for name, array in arrays_of(healthy[-1]).items():
            same(array, arrays_of(found[-1])[name], f"{name}, nan in the data of who sits out", 0, ("run",))


@property_of_every_method("weight zero", participants=None, sigma=0.0, data=False)
def weight_zero(subject, case):
    """A client of weight zero has no influence on the model."""
    needs(not case.free, "free clients may be chosen by their losses")
    needs(not subject.traits.random, "the method draws at random by itself")
    federation = case.federation(subject.backend)
    order, weights = [*range(case.clients), 0], np.append(case.weights(), 0.0)[None]
    more = rearranged(federation, order, subject.backend.array(weights))
    shift = subject.backend.array(np.eye(case.clients + 1)[None, -1:].transpose(0, 2, 1) * 7.0)
    more = changed(more, center=more.center + shift, noise=federation.noise)
    same(models(subject, case), models(subject, case, more), "x, beside a client of weight zero")


@property_of_every_method("free clients that never count", participants=None, free=2, clients=5, data=False)
def free_clients_that_never_count(subject, case):
    """Removing the free clients changes nothing if only the priority clients count."""
    algorithm, federation = subject.build(case), case.federation(subject.backend)
    needs(type(algorithm.selection.matching) is PriorityOnly, "free clients may count")
    alone = rearranged(federation, list(range(case.clients - case.free)))
    same(models(subject, case, alone), models(subject, case), "x, beside clients that never count")
