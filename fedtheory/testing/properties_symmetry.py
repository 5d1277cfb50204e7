"""Symmetries: renaming, splitting, copying, moving, rotating or rescaling has no effect, or a known one."""

import numpy as np

from fedtheory.engine import Observer
from fedtheory.schedules import Schedule
from fedtheory.testing.federations import RelabelledDraws, changed, power_of_two, rearranged
from fedtheory.testing.outcome import Broken, NotApplicable, same
from fedtheory.testing.property import KEEP_OPTIMUM, needs, property_of_every_method
from fedtheory.testing.subject import begin, models, play
from synthetic.base.noise import FiniteNoise
from synthetic.numbers.arrays import NUMPY, namespace, to_numpy

QUADRATIC = {"data": False}


def not_random(subject):
    needs(not subject.traits.random, "the method draws at random by itself")


# clients -------------------------------------------------------------------------------------------------------------------
@property_of_every_method("client order", **QUADRATIC)
def client_order(subject, case):
    """Renaming the clients, with their noise and their turns, changes nothing."""
    needs(case.clients > 1, "there is one client only")
    not_random(subject)
    federation = case.federation(subject.backend)
    members = case.clients - case.free  # groups keep their places
    order = [*np.roll(np.arange(members)[::-1], 1), *range(members, case.clients)]
    draws = RelabelledDraws(case.seeds, subject.backend, order)
    same(models(subject, case), models(subject, case, rearranged(federation, order), draws=draws), "x, clients renamed")


@property_of_every_method("split client", participants=None, sigma=0.0, **QUADRATIC)
def split_client(subject, case):
    """A client split in two copies that share its weight counts as before."""
    not_random(subject)
    federation, order = case.federation(subject.backend), [0, *range(case.clients)]
    weights = namespace(federation.weights).concat([federation.weights[:, :1] * 0.25, federation.weights], axis=1)
    weights[:, 1] = federation.weights[:, 0] * 0.75
    split = changed(rearranged(federation, order, weights), noise=federation.noise)
    same(models(subject, case), models(subject, case, split), "x, client 0 split in parts of 1/4 and 3/4")


@property_of_every_method("everyone twice", participants=None, sigma=0.0, **QUADRATIC)
def everyone_twice(subject, case):
    """A federation in which every client occurs twice gives the same model."""
    not_random(subject)
    federation, order = case.federation(subject.backend), [k for k in range(case.clients) for _ in range(2)]
    double = changed(rearranged(federation, order), noise=federation.noise)
    same(models(subject, case), models(subject, case, double), "x, every client twice")


@property_of_every_method(
    "identical clients", participants=None, sigma=0.0, identical=True, free=0, equal=True, clients=power_of_two, **QUADRATIC)
def identical_clients(subject, case):
    """The number of clients does not matter if all have one loss."""
    needs(case.clients > 1, "there is one client only")
    not_random(subject)
    alone = case.but(clients=1)
    same(models(subject, alone), models(subject, case), f"x with {case.clients} clients of one loss")


@property_of_every_method("own data only", rounds=1, participants=None, clients=3, **QUADRATIC)
def own_data_only(subject, case):
    """A client's computations and messages in a round do not depend on the other clients' data."""
    needs(not case.free, "free clients may be chosen by their losses")
    algorithm, federation, seen = subject.build(case), case.federation(subject.backend), []
    state = begin(algorithm, federation, case)
    shift = np.zeros((1, case.clients, case.dim))
    shift[:, -1] = 1.0
    other = changed(federation, center=federation.center + subject.backend.array(shift))

    class Watch(Observer):
        everyone = False

        def uploads(self, context, local, upload):
            seen.append({"model": local.x, "upload": upload.model, **upload.others})

    for one in (federation, other):
        play(algorithm, one, case, state=state, observers=(Watch(),))
    for name, sent in seen[0].items():
        if sent.ndim >= 2 and sent.shape[1] == case.clients:
            axes = ("run", "client", "coordinate")
            same(sent[:, :-1], seen[1][name][:, :-1], f"{name}, once client {case.clients - 1} has other data", axes=axes)


# losses and parameters -----------------------------------------------------------------------------------------------------
@property_of_every_method("loss offset", **QUADRATIC)
def loss_offset(subject, case):
    """A constant added to all losses changes nothing."""
    federation = case.federation(subject.backend)
    lifted = changed(federation, offset=federation.offset + 5.0)
    same(models(subject, case), models(subject, case, lifted), "x, all losses larger by 5")


@property_of_every_method("translation", schemes=KEEP_OPTIMUM, **QUADRATIC)
def translation(subject, case):
    """Losses and start moved by a vector: the trajectory moves by it."""
    needs(subject.traits.translation, "not declared")
    federation, vector = case.federation(subject.backend), np.arange(1, case.dim + 1) * 1.5
    moved = changed(federation, center=federation.center + subject.backend.array(vector))
    same(models(subject, case) + vector, models(subject, case, moved, start=case.start() + vector), f"x, moved by {vector}")


@property_of_every_method("orthogonal maps", **QUADRATIC)
def orthogonal_maps(subject, case):
    """Losses, noise and start turned by an orthogonal map: the trajectory turns with them."""
    kind = subject.traits.orthogonal
    needs(kind, "not declared")
    Q, federation = _orthogonal(kind, case), case.federation(subject.backend)
    dense = Q @ (to_numpy(federation.curvature)[..., None] * np.eye(case.dim)) @ Q.T
    turned_noise = federation.noise
    if case.sigma:
        atoms = subject.backend.array(to_numpy(federation.noise.atoms) @ Q.T)
        turned_noise = FiniteNoise(atoms, federation.noise.probabilities)
    curvature = subject.backend.array((dense + np.swapaxes(dense, -1, -2)) / 2)
    turned = changed(federation, curvature=curvature, noise=turned_noise,
                     center=subject.backend.array(to_numpy(federation.center) @ Q.T))
    got = models(subject, case, turned, start=case.start() @ Q.T)
    same(models(subject, case) @ Q.T, got, f"x, turned by an orthogonal map ({kind})", 1e-8)


def _orthogonal(kind: str, case):
    rng = np.random.default_rng(case.seed)
    if kind == "signed permutations":
        return np.eye(case.dim)[np.roll(np.arange(case.dim), 1)] * rng.choice([-1.0, 1.0], case.dim)
    blocks = [slice(0, case.dim)] if kind == "all" else case.federation(NUMPY).layers()
    Q = np.zeros((case.dim, case.dim))
    for block in blocks:
        size = block.stop - block.start
        Q[block, block] = np.linalg.qr(rng.normal(size=(size, size)))[0] * rng.choice([-1.0, 1.0], size)
    return Q


def _rescaled(subject, case, loss: float, length: float):
    """The subject with every hyper-parameter in the new units."""
    units = subject.traits.units
    needs(units is not None, "not declared")
    new = {}
    for name, (a, b) in units.items():
        if name not in subject.parameters:
            raise NotApplicable(f"it has no {name}")
        value, factor = subject.value(name), loss**a * length**b
        if factor != 1 and value is not None:
            new[name] = Scaled(value, factor) if isinstance(value, Schedule) else value * factor
    return subject.with_arguments(new)


class Scaled(Schedule):
    """A schedule times a number."""

    def __init__(self, schedule, factor):
        self.schedule, self.factor = schedule, factor

    def __call__(self, iteration, round):
        return self.schedule(iteration, round) * self.factor


@property_of_every_method("units of the loss", **QUADRATIC)
def units_of_the_loss(subject, case):
    """Losses and noise times 4, hyper-parameters in the new units: the same trajectory."""
    federation, rescaled = case.federation(subject.backend), _rescaled(subject, case, 4.0, 1.0)
    noise = FiniteNoise(4 * federation.noise.atoms, federation.noise.probabilities) if case.sigma else federation.noise
    scaled = changed(federation, curvature=4 * federation.curvature, offset=4 * federation.offset, noise=noise)
    same(models(subject, case), models(rescaled, case, scaled), "x, all losses times 4")


@property_of_every_method("units of the parameter", **QUADRATIC)
def units_of_the_parameter(subject, case):
    """Parameters measured in halves, hyper-parameters in the new units: every number of the trajectory doubles."""
    federation, rescaled = case.federation(subject.backend), _rescaled(subject, case, 1.0, 2.0)
    noise = FiniteNoise(federation.noise.atoms / 2, federation.noise.probabilities) if case.sigma else federation.noise
    scaled = changed(federation, curvature=federation.curvature / 4, center=2 * federation.center, noise=noise)
    same(2 * models(subject, case), models(rescaled, case, scaled, start=2 * case.start()), "x, all lengths times 2")


@property_of_every_method("hyper-parameters act", clients=5, free=2, dim=3, rounds=3, local_steps=3, participants=None,
                          identical=False, common=False, **QUADRATIC)
def hyper_parameters_act(subject, case):
    """Every hyper-parameter of the declared units makes a difference."""
    needs(subject.traits.units is not None, "units are not declared")
    before = models(subject, case)
    for name in subject.traits.units:
        value = subject.value(name)
        if type(value) in (int, float):
            others = [other for other in (value / 2 if value else 0.5, 20 * value + 5) if _fits(subject, case, name, other)]
            after = [models(subject.with_arguments({name: other}), case) for other in others]
            if others and all(np.array_equal(before, x) for x in after):
                tried = " and ".join(map(str, others))
                raise Broken(f"x with {name} = {value}, and with {tried}", "different numbers", "the same numbers")


def _fits(subject, case, name, value) -> bool:
    try:
        subject.with_arguments({name: value}).build(case)
    except NotApplicable:
        return False
    return True
