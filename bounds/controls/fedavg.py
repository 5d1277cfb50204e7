"""Controls: textbook facts as claims, each with variants that are too strong and therefore false."""

from dataclasses import dataclass, replace

import sympy as sp

from bounds.language.claim import Assumption, Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS, aggregate_weight, drift, every_client
from bounds.language.operators import (
    E,
    F,
    F_star,
    F_star_client,
    L,
    L_client,
    Sum,
    client_weight,
    clients,
    dot,
    epsilon,
    eta_l,
    g,
    grad,
    included,
    iterations,
    k,
    local_steps,
    mu,
    mu_client,
    norm2,
    objective,
    sampling,
    sigma_sq,
    sigma_sq_client,
    t,
    tau,
    x,
    x_local,
    x_sampled,
    x_star,
)

__all__ = ["ALL_CLIENTS", "ALL_STEPS", "CLASS", "CONTROLS", "FACTORS", "TWINS", "Control", "control", "kind_of",
           "with_twins"]

#: by how much the false variants exaggerate
FACTORS = (sp.Rational(3, 2), sp.Integer(2), sp.Integer(10))
ALL_CLIENTS = (k, 0, clients - 1)
ALL_STEPS = (t, 0, iterations - 1)

CLASS = (
    Assumption("control/smooth", "L-smooth clients", (Condition(L_client[k], "<=", L, (ALL_CLIENTS,)),)),
    Assumption("control/convex", "mu-strongly convex clients", (Condition(mu_client[k], ">=", mu, (ALL_CLIENTS,)),)),
    Assumption("control/noise", "bounded variance", (Condition(sigma_sq_client[k], "<=", sigma_sq, (ALL_CLIENTS,)),)),
)

ONE_STEP = (Variable("local_steps", "integer", high=1),)


@dataclass(frozen=True)
class Control:
    """A true claim, and its false variants by name: ``/3/2``, ``/2``, ``/10`` exaggerate a constant, others leave out a term
    or a condition, which their name says."""

    claim: Claim
    twins: dict[str, Claim]


def control(name: str, setting: str, statement: Condition, **others) -> Claim:
    """A claim without a source. Federations have no free clients unless ``procedure`` says otherwise."""
    given = {"definitions": DEFINITIONS, "derivation": "textbook", "procedure": Procedure() if setting == "run" else None}
    if setting != "algebra":
        given["assumptions"] = CLASS
    return Claim(f"control/{name}", name, "control", setting, statement, **given | others)


def with_twins(name: str, setting: str, statement, otherwise=None, **others) -> Control:
    """A control with its false variants: ``statement(factor)`` for several factors, and ``otherwise`` (name -> another
    statement, or fields to replace)."""
    claim = control(name, setting, statement(sp.Integer(1)) if callable(statement) else statement, **others)
    changes = {f"/{f}": {"statement": statement(f)} for f in FACTORS} if callable(statement) else {}
    changes |= {label: change if isinstance(change, dict) else {"statement": change}
                for label, change in (otherwise or {}).items()}
    twins = {label: replace(claim, id=f"{claim.id}@{label}", **change) for label, change in changes.items()}
    return Control(claim, twins)


here = x_local[0, k]
gap_here = F(k, here) - F_star_client[k]
linear = F(k, x[0]) + dot(grad(k, x[0]), here - x[0])
spread = Sum(aggregate_weight[0, k] * norm2(here - x_star), every_client)
before, after = E(norm2(x_sampled[t] - x_star)), E(norm2(x_sampled[t + 1] - x_star))
loss_before, loss_after = (E(objective(x_sampled[time])) - F_star for time in (t, t + 1))
noise_in_mean = E(norm2(Sum(client_weight[k] * (g[t, k] - grad(k, x_local[t, k])), every_client)))
mean_gradient = Sum(client_weight[k] * g[t, k], every_client)
mismatch = sp.Abs(F(k, x_sampled[tau(t)]) - objective(x_sampled[tau(t)]))
unbiased = norm2(E(x_sampled[iterations], sampling) - x[iterations])
a, b, c, y, z, q = (sp.Symbol(name) for name in "abcyzq")
length, i = sp.Symbol("length", integer=True), sp.Symbol("i", integer=True)


def over_steps(left, relation, right):
    return Condition(left, relation, right, (ALL_STEPS,))


small = over_steps(eta_l[t], "<=", 1 / L)
medium = over_steps(eta_l[t], "<=", 2 / (L + mu))

CONTROLS = [
    # at a point
    with_twins("gradient-and-gap", "point", lambda f: Condition(
        norm2(grad(k, here)), "<=", 2 * L * gap_here / f, (ALL_CLIENTS,)),
        otherwise={"exponent: of L": Condition(norm2(grad(k, here)) * L, "<=", 2 * mu**2 * gap_here, (ALL_CLIENTS,))}),
    with_twins("descent", "point", lambda f: Condition(
        F(k, here), "<=", linear + L / 2 * norm2(here - x[0]) / f, (ALL_CLIENTS,)),
        otherwise={"no quadratic": Condition(F(k, here), "<=", linear, (ALL_CLIENTS,))}),
    with_twins("convexity", "point", lambda f: Condition(
        F(k, here), ">=", linear + f * mu / 2 * norm2(here - x[0]), (ALL_CLIENTS,))),
    with_twins("jensen", "point", lambda f: Condition(norm2(x[0] - x_star), "<=", spread / f)),
    with_twins("spread", "point", lambda f: Condition(spread, "==", norm2(x[0] - x_star) + drift[0] / f),
             otherwise={"no mean": Condition(spread, "==", drift[0])}),
    # along a run
    with_twins("contraction", "run", lambda f: over_steps(
        after, "<=", (1 - eta_l[t] * mu) ** 2 * before / f + eta_l[t] ** 2 * sigma_sq),
        conditions=(medium,), variables=ONE_STEP,
        otherwise={"no noise": over_steps(after, "<=", (1 - eta_l[t] * mu) ** 2 * before), "any: step": {"conditions": ()},
                   "exponent: of the factor": over_steps(
                       after, "<=", (1 - eta_l[t] * mu) ** 3 * before + eta_l[t] ** 2 * sigma_sq)}),
    with_twins("stochastic-recursion", "run", lambda f: over_steps(
        after, "<=", (1 - eta_l[t] * mu) * before + eta_l[t] ** 2 * sigma_sq / f),
        conditions=(small,), variables=ONE_STEP,
        otherwise={"no noise": over_steps(after, "<=", (1 - eta_l[t] * mu) * before), "any: step": {"conditions": ()},
                   "no convexity": over_steps(after, "<=", (1 - eta_l[t] * L) ** 2 * before + eta_l[t] ** 2 * sigma_sq),
                   "exponent: of the step": over_steps(
                       after, "<=", (1 - eta_l[t] * mu) * before + eta_l[t] ** 3 * L * sigma_sq)}),
    with_twins("loss-recursion", "run", lambda f: over_steps(
        loss_after, "<=", (1 - eta_l[t] * mu) * loss_before + L * eta_l[t] ** 2 * sigma_sq / (2 * f)),
        conditions=(small,), variables=ONE_STEP,
        otherwise={"no noise": over_steps(loss_after, "<=", (1 - eta_l[t] * mu) * loss_before),
                   "any: step": {"conditions": ()}, "exponent: of the step": over_steps(
                       loss_after, "<=", (1 - eta_l[t] * mu) * loss_before + L**2 * eta_l[t] ** 3 * sigma_sq / 2)}),
    with_twins("noise-of-the-mean", "run", lambda f: over_steps(noise_in_mean, "<=", sigma_sq / f)),
    with_twins("noise-adds-up", "run", lambda f: over_steps(
        noise_in_mean, "==", Sum(client_weight[k] ** 2 * sigma_sq_client[k], every_client) / f),
        otherwise={"weights once": over_steps(
            noise_in_mean, "==", Sum(client_weight[k] * sigma_sq_client[k], every_client))}),
    with_twins("averages-move-along-gradients", "run", lambda f: over_steps(
        norm2(x_sampled[t + 1] - x_sampled[t] + eta_l[t] * mean_gradient / f), "==", 0)),
    with_twins("smooth-gap", "run", lambda f: Condition(
        E(objective(x_sampled[iterations])) - F_star, "<=", L / 2 * E(norm2(x_sampled[iterations] - x_star)) / f)),
    with_twins("convex-gap", "run", lambda f: Condition(
        E(objective(x_sampled[iterations])) - F_star, ">=", f * mu / 2 * E(norm2(x_sampled[iterations] - x_star)))),
    with_twins("scheme-1-is-unbiased", "run", Condition(unbiased, "==", 0),
             conditions=(Condition(iterations, "==", local_steps),), procedure=Procedure(sampling="with-replacement"),
             otherwise={"every draw": Condition(norm2(x_sampled[iterations] - x[iterations]), "==", 0)}),
    with_twins("scheme-2-is-unbiased", "run", Condition(unbiased, "==", 0),
             conditions=(Condition(iterations, "==", local_steps),), procedure=Procedure(sampling="without-replacement"),
             otherwise={"every draw": Condition(norm2(x_sampled[iterations] - x[iterations]), "==", 0)}),
    with_twins("who-matches-counts", "run", Condition(
        (1 - included[t, k]) * epsilon[tau(t)], "==", 0, (ALL_STEPS, ALL_CLIENTS)),
        conditions=(Condition(2 * mismatch, "<=", epsilon[tau(t)], (ALL_STEPS, ALL_CLIENTS)),),
        procedure=Procedure(free_clients=True),
        otherwise={"stays away": {"procedure": Procedure(free_clients=True, free="arbitrary")},
                   "own model": {"procedure": Procedure(free_clients=True, indicator="local-every-step")}}),
    # of numbers
    with_twins("young", "algebra", lambda f: Condition(2 * dot(a, b), "<=", (c * norm2(a) + norm2(b) / c) / f),
             variables=(Variable("a", "vector"), Variable("b", "vector"), Variable("c", "positive"))),
    with_twins("means", "algebra", lambda f: Condition(4 * y * z, "<=", (y + z) ** 2 / f),
             variables=(Variable("y", "positive"), Variable("z", "positive"))),
    with_twins("geometric-sum", "algebra", Condition((1 - q) * Sum(q**i, (i, 0, length - 1)), "==", 1 - q**length),
             variables=(Variable("q", "positive"), Variable("length", "integer")),
             otherwise={"one more": Condition((1 - q) * Sum(q**i, (i, 0, length)), "==", 1 - q**length)}),
]


def kind_of(label: str) -> str:
    """The kind of exaggeration in a false variant, by its name."""
    if label.startswith("/"):
        return f"constant divided by {float(sp.Rational(label[1:])):g}"
    kinds = {"no ": "term dropped", "any: ": "condition removed", "exponent: ": "exponent changed"}
    return next((kind for start, kind in kinds.items() if label.startswith(start)), "another statement")


#: every false variant by id
TWINS = {twin.id: twin for row in CONTROLS for twin in row.twins.values()}
