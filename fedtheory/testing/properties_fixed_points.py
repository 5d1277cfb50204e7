"""Fixed points of a method, and convergence to them."""

from __future__ import annotations

import numpy as np

from fedtheory.testing.federations import power_of_two
from fedtheory.testing.outcome import Broken, at_most, same
from fedtheory.testing.property import Property, needs, property_of_every_method
from fedtheory.testing.subject import begin, models
from synthetic.numbers.arrays import to_numpy

STILL = {"sigma": 0.0, "data": False}


@property_of_every_method("common optimum", common=True, equal=True, clients=power_of_two, **STILL)
def common_optimum(subject, case):
    """At a common minimiser of all clients' losses nothing moves."""
    best = np.repeat(to_numpy(case.federation(subject.backend).center)[:, 0], case.runs, axis=0)
    found = models(subject, case, start=best)
    same(np.broadcast_to(best[:, None], found.shape), found, "x from the common minimiser")


@property_of_every_method("no step, no move", **STILL)
def no_step_no_move(subject, case):
    """With local steps of length zero the model stays where it is."""
    needs("eta_l" in subject.parameters and not subject.build(case).client.solves, "it takes no steps of eta_l")
    found = models(subject.with_arguments({"eta_l": 0.0}), case.but(equal=True))
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


def declared(subject) -> list[Property]:
    """The properties of a declared fixed point."""
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

    where = {**STILL, "equal": True, "free": 0} | dict(point.where)
    whole = where | {"participants": None, "rounds": 80, "runs": 1}
    found = [Property("optimum", "At the minimiser of F, with the arrays that belong to it, nothing moves.", stays, where)]
    if point.attracts:
        meaning = "Small steps lead to the minimiser of F, however different the clients are."
        found.append(Property("gets to the optimum", meaning, arrives, whole))
    return found
