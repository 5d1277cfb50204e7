"""Statements with constants hidden in O(.) whose truth is known: on gradient descent, FedAvg and numbers."""

import sympy as sp

from bounds.language.claim import Assumption, Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS, chi
from bounds.language.operators import (
    E,
    F_star,
    L,
    L_client,
    Sum,
    client_weight,
    clients,
    eta_l,
    grad,
    iterations,
    k,
    local_steps,
    mu,
    mu_client,
    norm2,
    objective,
    objective_grad,
    rounds,
    sigma_sq,
    sigma_sq_client,
    t,
    x,
    x_before,
    x_sampled,
    x_star,
)

__all__ = ["FALSE", "OPEN_STEP", "TRUE"]

C = sp.Symbol("C", positive=True)
HIDDEN = Variable("C", "hidden")
APART = Condition(2 * mu, "<=", L)
ONE_STEP, ONE_ROUND = Variable("local_steps", "integer", high=1), Condition(rounds, "==", 1)
ALL_CLIENTS, ALL_STEPS = (k, 0, clients - 1), (t, 0, iterations - 1)
SMOOTH = Assumption("growth/smooth", "L-smooth clients", (Condition(L_client[k], "<=", L, (ALL_CLIENTS,)),))
CONVEX = Assumption("growth/convex", "mu-strongly convex", (Condition(mu_client[k], ">=", mu, (ALL_CLIENTS,)),))
EXACT = Assumption("growth/exact", "full gradients", (Condition(sigma_sq_client[k], "<=", 0, (ALL_CLIENTS,)),))
NOISE = Assumption("growth/noise", "variance", (Condition(sigma_sq_client[k], "<=", sigma_sq, (ALL_CLIENTS,)),))
UNIT = Condition(eta_l[t], "==", 1 / L, (ALL_STEPS,))
SMALL = Condition(eta_l[t], "<=", 1 / L, (ALL_STEPS,))
CONSTANT = Condition(eta_l[t], "==", eta_l[0], (ALL_STEPS,))
SMALL_ROUND = Condition(eta_l[t], "<=", 1 / (L * local_steps), (ALL_STEPS,))
SHORT = Condition(eta_l[t], "==", 1 / (10_000 * L), (ALL_STEPS,))
DECAY = Condition(eta_l[t], "==", 2 / (mu * (8 * L / mu + local_steps + t)), (ALL_STEPS,))
LONG, MANY_STEPS, MANY_CLIENTS = (rounds, sp.oo), (local_steps, sp.oo), (clients, sp.oo)

gap, gap_0 = E(objective(x_sampled[iterations])) - F_star, objective(x_sampled[0]) - F_star
left, start = E(norm2(x_sampled[iterations] - x_star)), norm2(x_sampled[0] - x_star)
mean_gradient = Sum(norm2(objective_grad(x_sampled[t])), ALL_STEPS) / iterations
walk = norm2(x_before[local_steps, k] - x_sampled[0])
own, eta = norm2(grad(k, x_sampled[0])), eta_l[0]
spread = Sum(client_weight[k] * norm2(grad(k, x_sampled[0])), ALL_CLIENTS)
there = Sum(client_weight[k] * norm2(grad(k, x_star)), ALL_CLIENTS)
sampled = E(norm2(x_sampled[iterations] - x[iterations]))
a, b, c, q, small, i = (sp.Symbol(n, positive=True) for n in ("a", "b", "c", "q", "small", "i"))
length, i = sp.Symbol("length", integer=True, positive=True), sp.Symbol("i", integer=True)


def control(name, left, right, assumptions=(SMOOTH, EXACT), conditions=(), limits=(LONG,), may_use=(), variables=(ONE_STEP,),
            over=(), **more) -> Claim:
    """``left <= C * right`` with a hidden constant."""
    fields = {"setting": "run", "procedure": Procedure()} | more
    return Claim(
        f"growth/{name}", name, "control", statement=Condition(left, "<=", C * right, over), assumptions=assumptions,
        conditions=conditions, variables=(*variables, HIDDEN), explicit=False, limits=limits, constants_may_use=may_use,
        derivation="textbook", definitions=DEFINITIONS, **fields)


def numbers(name, left, right, *variables, limits=(), **more):
    """A control about plain numbers."""
    return control(name, left, right, assumptions=(), variables=variables, limits=limits, setting="algebra", procedure=None,
                   **more)


def local(name, left, right, conditions=(CONSTANT, SMALL_ROUND, ONE_ROUND), **more):
    """A control about one round of FedAvg."""
    return control(name, left, right, conditions=conditions, **{"limits": (MANY_STEPS,), "variables": ()} | more)


POSITIVE = {n: Variable(n, "positive") for n in "abcq"}
A, B, Q = POSITIVE["a"], POSITIVE["b"], POSITIVE["q"]
SUM_SIZE = Variable("length", "integer")
geometric = Sum((1 - q)**i, (i, 0, length - 1))
BELOW_ONE = (Condition(q, "<=", 1),)
STRONGLY = (SMOOTH, CONVEX, EXACT)
SCHEME = {"procedure": Procedure(sampling="with-replacement")}
OWN = {"may_use": None, "variables": ()}
#: constants may depend on the share of rounds to clients, so that both grow together
IN_PROPORTION = {"conditions": (UNIT, Condition(q, "==", rounds / clients)), "may_use": ("q",)}
#: free clients, all of whose weights grow
FREE = {"procedure": Procedure(free_clients=True), "limits": ((sp.Symbol("free_weight", positive=True), sp.oo),)}

TRUE = {claim.id: claim for claim in (
    control("value", gap, L * start / rounds, STRONGLY, (UNIT,)),
    control("gradient", mean_gradient, L * gap_0 / rounds, conditions=(UNIT,)),
    control("distance", left, (1 - mu / L)**rounds * start, STRONGLY, (UNIT,)),
    control("value-linear", gap, (1 - mu / L)**rounds * gap_0, STRONGLY, (UNIT,)),
    control("any-step", gap, start / (eta * rounds), STRONGLY, (CONSTANT, SMALL)),
    control("noise", left, start + eta**2 * sigma_sq, (SMOOTH, NOISE), (SMALL, ONE_ROUND), limits=(MANY_CLIENTS,)),
    local("walk", walk, eta**2 * local_steps**2 * own, over=(ALL_CLIENTS,)),
    local("bias", left, start + eta**4 * local_steps**4 * L**2 * there),
    local("sampling", sampled, eta**2 * local_steps**2 * spread, **SCHEME),
    numbers("squares", (a + b)**2, a**2 + b**2, A, B),
    numbers("young", 2 * a * b, c * a**2 + b**2 / c, *(POSITIVE[n] for n in "abc")),
    numbers("geometric-sum", geometric, 1 / q, Q, SUM_SIZE, conditions=BELOW_ONE, limits=((length, sp.oo),)),
    control("instance/value", gap, 1 / rounds**2, STRONGLY, (UNIT,), may_use=None),
    control("instance/bias", gap, sp.Integer(1), STRONGLY, (CONSTANT, SMALL_ROUND), **OWN),
    control("instance/decay", gap, 1 / rounds**2, STRONGLY, (DECAY,), **OWN),
    control("instance/short-steps", gap, 1 / rounds, STRONGLY, (SHORT,), may_use=None),
    control("short-steps", gap, L * start / rounds, STRONGLY, (SHORT,)),
    numbers("instance/small", a * q + b * q**2, q, A, B, Q, limits=((q, 0),), may_use=None),
    numbers("held", a**2 * b, b, A, B, may_use=("a",)),
    control("in-proportion", gap, L * start / clients, STRONGLY, **IN_PROPORTION),
    control("instance/free-weight", left, sp.Integer(1), STRONGLY, (UNIT,), may_use=None, **FREE),
    numbers("instance/two-terms", b, 10_000 * b / length + b, B, SUM_SIZE, limits=((length, sp.oo),), may_use=None),
)}
#: false for large steps, of which nothing is said
OPEN_STEP = local("walk/any-step", walk, eta**2 * local_steps**2 * own, (CONSTANT, ONE_ROUND), over=(ALL_CLIENTS,))
FALSE = {claim.id: claim for claim in (
    control("value/too-fast", gap, L * start / rounds**2, STRONGLY, (UNIT,)),
    control("gradient/too-fast", mean_gradient, L * gap_0 / rounds**2, conditions=(UNIT,)),
    control("distance/too-fast", left, (1 - mu / L)**(3 * rounds) * start, STRONGLY, (UNIT, APART)),
    control("value-linear/too-fast", gap, (1 - mu / L)**(4 * rounds) * gap_0, STRONGLY, (UNIT, APART)),
    control("units", gap, start / rounds, STRONGLY, (UNIT,)),
    control("any-step/no-step", gap, L * start / rounds, STRONGLY, (CONSTANT, SMALL)),
    control("value/not-convex", gap, L * start / rounds, conditions=(UNIT,)),
    control("noise/missing", left, start, (SMOOTH, NOISE), (SMALL, ONE_ROUND), limits=(MANY_CLIENTS,)),
    control("noise/step-power", left, start + eta**3 * L * sigma_sq, (SMOOTH, NOISE), (SMALL, ONE_ROUND),
            limits=(MANY_CLIENTS,)),
    local("walk/one-step-less", walk, eta**2 * local_steps * own, over=(ALL_CLIENTS,)),
    local("walk/step-power", walk, eta**3 * L * local_steps**2 * own, over=(ALL_CLIENTS,)),
    local("walk/no-own-gradient", walk, eta**2 * local_steps**2 * norm2(objective_grad(x_sampled[0])), over=(ALL_CLIENTS,)),
    local("bias/missing", left, start),
    local("bias/fewer-steps", left, start + eta**4 * local_steps**2 * L**2 * there),
    local("bias/step-power", left, start + eta**6 * local_steps**4 * L**4 * there),
    local("sampling/step-power", sampled, eta**4 * local_steps**2 * L**2 * spread, **SCHEME),
    numbers("squares/mixed", (a + b)**2, a**2 + a * b, A, B),
    numbers("young/power", 2 * a * b, c * a**2 + b**2 / c**2, *(POSITIVE[n] for n in "abc")),
    numbers("geometric-sum/root", geometric, 1 / sp.sqrt(q), Q, SUM_SIZE, conditions=BELOW_ONE, limits=((length, sp.oo),)),
    control("instance/too-fast", gap, (1 - mu / L)**(4 * rounds), STRONGLY, (UNIT, APART), may_use=None),
    control("instance/bias-goes", gap, 1 / rounds, STRONGLY, (CONSTANT, SMALL_ROUND), **OWN),
    control("instance/decay-too-fast", gap, 1 / rounds**3, STRONGLY, (DECAY,), **OWN),
    numbers("instance/small-power", a * q + b * q**2, q**2, A, B, Q, limits=((q, 0),), may_use=None),
    numbers("held/not", a**2 * b, b, A, B),
    control("instance/free-weight/too-fast", left, chi[0], STRONGLY, (UNIT,), may_use=None, **FREE),
    control("in-proportion/too-fast", gap, L * start / (clients * rounds), STRONGLY, **IN_PROPORTION),
)}
