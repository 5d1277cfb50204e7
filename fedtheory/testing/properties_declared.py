"""Properties that methods declare: fixed points and convergence to them, idle linear terms, special cases, and laws."""

from itertools import pairwise

import numpy as np

from fedtheory.registry import find_algorithm
from fedtheory.testing.federations import changed, power_of_two
from fedtheory.testing.outcome import Broken, NotApplicable, at_most, same, true
from fedtheory.testing.property import KEEP_OPTIMUM, Property, needs, property_of_every_method
from fedtheory.testing.subject import Subject, begin, models, play
from fedtheory.traits import GRADIENT_DESCENT, ONE_LOSS, Law, Reduction
from synthetic.numbers.arrays import NUMPY, to_numpy

__all__ = ["declared"]

def declared(subject) -> list[Property]:
    """The properties of the declared tilt, fixed point, reductions and laws."""
    traits = subject.traits
    return [*_tilt(subject), *_fixed_point(subject), *map(_reduction, traits.reductions), *map(_law, traits.laws)]


# fixed points --------------------------------------------------------------------------------------------------------------
STILL = {"sigma": 0.0, "data": False}


@property_of_every_method("common optimum", common=True, equal=True, clients=power_of_two, **STILL)
def common_optimum(subject, case):
    """Nothing moves at a common minimiser of all clients' losses."""
    stays_at_the_common_minimiser(subject, case)


@property_of_every_method("common optimum, sampled", schemes=KEEP_OPTIMUM, common=True, **STILL)
def common_optimum_sampled(subject, case):
    """Nothing moves at a common minimiser of all clients' losses, whoever is drawn and whatever the clients' weights."""
    needs(case.participants, "all clients take part")
    stays_at_the_common_minimiser(subject, case)


def stays_at_the_common_minimiser(subject, case):
    best = np.repeat(to_numpy(case.federation(subject.backend).center)[:, 0], case.runs, axis=0)
    found = models(subject, case, start=best)
    same(np.broadcast_to(best[:, None], found.shape), found, "x from the common minimiser")


@property_of_every_method("no step, no move", schemes=KEEP_OPTIMUM, **STILL)
def no_step_no_move(subject, case):
    """The model stays where it is with local steps of length zero."""
    needs("eta_l" in subject.parameters and not subject.build(case).client.solves, "it takes no steps of eta_l")
    found = models(subject.with_arguments({"eta_l": 0.0}), case)
    needs(np.isfinite(found).all(), "it divides by the length of the steps")
    same(np.broadcast_to(found[:, :1], found.shape), found, "x with eta_l = 0")


def at_rest(algorithm, federation, case, arrays):
    """The state at the minimiser of F, with the arrays that belong to it."""
    x = np.repeat(to_numpy(federation.x_star), case.runs, axis=0)
    state = begin(algorithm, federation, case, start=x)
    server, clients = arrays(federation, state.x)
    for owner, given in (("server", server), ("clients", clients)):
        unknown = sorted(set(given) - set(getattr(state, owner)))
        if unknown:
            raise Broken(f"arrays declared for the fixed point, {owner}' {unknown[0]}", "an array of the state", "none")
    return state._replace(server=state.server | server, clients=state.clients | clients)


def _fixed_point(subject) -> list[Property]:
    point = subject.traits.fixed_point
    if point is None:
        return []

    def stays(subject, case):
        algorithm, federation = subject.build(case), case.federation(subject.backend)
        state = at_rest(algorithm, federation, case, point.arrays)
        found = models(subject, case, state=state)
        same(np.broadcast_to(to_numpy(federation.x_star)[:, None], found.shape), found, "x from the minimiser of F", 1e-8)

    def arrives(subject, case):
        apart = np.linalg.norm(models(subject, case) - to_numpy(case.federation().x_star)[:, None], axis=-1)
        at_most(apart[:, -1], 0.03 * apart[:, 0] + 1e-6, f"distance from the minimiser after {case.rounds} rounds")

    where = {**STILL, "free": 0} | dict(point.where)
    whole = where | {"equal": True, "participants": None, "rounds": 80, "runs": 1}
    meaning = "At the minimiser of F, with the arrays that belong to it, nothing moves."
    found = [Property("optimum", meaning, stays, where, schemes=KEEP_OPTIMUM)]
    if point.attracts:
        meaning = "Small steps lead to the minimiser of F, however different the clients are."
        found.append(Property("gets to the optimum", meaning, arrives, whole))
    return found


def _tilt(subject) -> list[Property]:
    tilt = subject.traits.tilt
    if tilt is None:
        return []

    def tilted(subject, case):
        needs(case.clients - case.free > 1, "there is one client only")
        algorithm, federation = subject.build(case), case.federation(subject.backend)
        weights, term = to_numpy(federation.weights), np.zeros((1, case.clients, case.dim))
        term[:, 0], term[:, 1] = 1.0, -weights[:, :1] / weights[:, 1:2]
        term = subject.backend.array(term)
        other = changed(federation, center=federation.center - term / federation.curvature)
        slanted = begin(algorithm, federation, case)
        for name, sign in tilt.arrays.items():
            owner = "clients" if name in slanted.clients else "server"
            kept = getattr(slanted, owner)
            true(name in kept, "arrays declared for linear terms", name, f"only {', '.join(kept) or 'none'}")
            slanted = slanted._replace(**{owner: kept | {name: kept[name] + sign * term}})
        same(models(subject, case), models(subject, case, other, state=slanted), "x, with linear terms that cancel")

    meaning = "Linear terms that cancel between the clients, added to the losses and to what clients keep, are idle."
    return [Property("linear terms", meaning, tilted, {"data": False} | dict(tilt.where))]


# special cases and laws ----------------------------------------------------------------------------------------------------
WORDS = {
    ("participants", None): "all clients", ("sigma", 0.0): "no noise", ("local_steps", 1): "one local step",
    ("clients", 1): "one client", ("rounds", 1): "one round", ("identical", True): "identical clients",
}


def name_of(reduction: Reduction) -> str:
    """The special case in a few words: ``rho_prox=0, one local step: fedavg``."""
    parts = [f"{name}={value!r}" for name, value in reduction.arguments.items()]
    if reduction.where == ONE_LOSS:
        parts.append("one loss")
    else:
        parts += [WORDS.get((name, value), f"{name}={value}") for name, value in reduction.where.items()]
    given = "".join(f" {name}={value!r}" for name, value in reduction.given.items())
    other = " on other losses" if reduction.on is not None else ""
    return f"{', '.join(parts) or 'always'}: {reduction.to}{given}{other}"


def _reduction(reduction: Reduction) -> Property:
    def check(subject, case):
        special = subject.with_arguments(reduction.arguments)
        algorithm, federation = special.build(case), case.federation(subject.backend)
        found = models(special, case)
        if reduction.to == GRADIENT_DESCENT:
            expected = gradient_descent(algorithm.eta_l, case)
        else:
            if reduction.on is not None:
                federation = reduction.on(federation, subject.backend.array(case.start()), algorithm)
            expected = other_method(reduction, special, algorithm, case, federation)
        same(expected, found, f"x, against {reduction.to}")

    meaning = "A special case that is another method."
    single = {} if reduction.on is None else {"runs": 1, "data": False}
    return Property(name_of(reduction), meaning, check, single | dict(reduction.where))


def other_method(reduction: Reduction, special: Subject, algorithm, case, federation):
    """The models of the method to which ``special`` reduces, with the arguments that both take."""
    other = find_algorithm(reduction.to)
    own = {name: special.value(name) for name in other.arguments if name in special.parameters and name not in (
        "local_steps", "participants", "sampling", "selection")}
    target = Subject(reduction.to, other.make, other.arguments, other.traits, own | dict(reduction.given))
    return models(target, case, federation)


def gradient_descent(eta, case):
    """``x <- x - eta grad F(x)``, computed here by itself: ``local_steps`` times per round where there is one client."""
    if not isinstance(eta, (int, float)):
        raise NotApplicable("the step size is no number")
    federation, x = case.federation(NUMPY), case.start() * 1.0
    path = [x]
    for _ in range(case.rounds):
        for _ in range(case.local_steps):
            x = x - eta * federation.objective_gradient(x)
        path.append(x)
    return np.stack(path, axis=1)


def _law(law: Law) -> Property:
    def check(subject, case):
        algorithm, federation = subject.build(case), case.federation(subject.backend)
        states = play(algorithm, federation, case)
        for r, (before, after) in enumerate(pairwise(states)):
            left, right = law.sides(algorithm, federation, before, after)
            if law.relation == "<=":
                at_most(left, right, f"{law.name}, after round {r}")
            else:
                same(right + 0 * left, left + 0 * right, f"{law.name}, after round {r}", axes=("run", "entry", "coordinate"))

    meaning = "A relation that the method declares for the states before and after every round."
    return Property(f"law: {law.name}", meaning, check, {"rounds": 4, "equal": False} | dict(law.where))
