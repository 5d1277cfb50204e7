"""Gradient descent and stochastic gradient descent: rates with their tight constants."""

from bounds.language.claim import Assumption, Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS
from bounds.language.words import (
    E,
    F_star,
    L,
    L_client,
    Max,
    Sum,
    clients,
    eta_l,
    i,
    iterations,
    k,
    mu,
    mu_client,
    norm2,
    objective,
    objective_grad,
    sigma_sq,
    sigma_sq_client,
    t,
    x_sampled,
    x_star,
)

__all__ = ["CLAIMS"]

ALL_CLIENTS, ALL_STEPS = (k, 0, clients - 1), (t, 0, iterations - 1)
SMOOTH = Assumption("classical/smooth", "every client is L-smooth", (Condition(L_client[k], "<=", L, (ALL_CLIENTS,)),))
JUST_CONVEX = Assumption(
    "classical/convex", "every client is convex", (Condition(mu_client[k], ">=", 0, (ALL_CLIENTS,)),))
CONVEX = Assumption(
    "classical/strongly-convex", "every client is mu-strongly convex", (Condition(mu_client[k], ">=", mu, (ALL_CLIENTS,)),))
EXACT = Assumption(
    "classical/full-gradients", "full gradients", (Condition(sigma_sq_client[k], "<=", 0, (ALL_CLIENTS,)),))
NOISE = Assumption(
    "classical/bounded-variance", "unbiased gradients of variance at most sigma^2",
    (Condition(sigma_sq_client[k], "<=", sigma_sq, (ALL_CLIENTS,)),))
ONE_STEP = (Variable("local_steps", "integer", high=1),)
UNIT_STEP = Condition(eta_l[t], "==", 1 / L, (ALL_STEPS,))
before, after = x_sampled[t], x_sampled[t + 1]
factor = Max(1 - eta_l[t] * mu, eta_l[t] * L - 1) ** 2
up_to_two = Condition(eta_l[t], "<=", 2 / L, (ALL_STEPS,))
up_to_one = Condition(eta_l[t], "<=", 1 / L, (ALL_STEPS,))


def _claim(name: str, number: str, source: str, statement: Condition, assumptions, *conditions) -> Claim:
    """Runs of FedAvg with one local step and full participation are gradient descent on the objective."""
    return Claim(
        f"classical/{name}", number, "control", "run", statement, tuple(assumptions), tuple(conditions), "as in the source",
        source, procedure=Procedure(), variables=ONE_STEP, definitions=DEFINITIONS)


_TIGHT = "Taylor, Hendrickx, Glineur 2018, exact worst-case rates of the gradient method"

CLAIMS = (
    _claim("gd-convex", "Theorem 3.1", "Drori, Teboulle 2014", Condition(
        objective(x_sampled[iterations]) - F_star, "<=", L * norm2(x_sampled[0] - x_star) / (4 * iterations + 2)),
        (SMOOTH, JUST_CONVEX, EXACT), UNIT_STEP),
    _claim("gd-distance", "Theorem 3.1", _TIGHT, Condition(
        norm2(after - x_star), "<=", factor * norm2(before - x_star), (ALL_STEPS,)), (SMOOTH, CONVEX, EXACT), up_to_two),
    _claim("gd-value", "Theorem 3.3", _TIGHT, Condition(
        objective(after) - F_star, "<=", factor * (objective(before) - F_star), (ALL_STEPS,)),
        (SMOOTH, CONVEX, EXACT), up_to_two),
    _claim("gd-gradient", "Theorem 3.2", _TIGHT, Condition(
        norm2(objective_grad(after)), "<=", factor * norm2(objective_grad(before)), (ALL_STEPS,)),
        (SMOOTH, CONVEX, EXACT), up_to_two),
    _claim("gd-nonconvex", "(1.2.15)", "Nesterov 2004, Introductory lectures", Condition(
        Sum(norm2(objective_grad(x_sampled[i])), (i, 0, iterations - 1)), "<=", 2 * L * (objective(x_sampled[0]) - F_star)),
        (SMOOTH, EXACT), UNIT_STEP),
    _claim("gd-descent", "Lemma 1.2.3", "Nesterov 2004, Introductory lectures", Condition(
        objective(after), "<=", objective(before) - eta_l[t] * (1 - L * eta_l[t] / 2) * norm2(objective_grad(before)),
        (ALL_STEPS,)), (SMOOTH, EXACT)),
    _claim("sgd-distance", "(4.23)", "Bottou, Curtis, Nocedal 2018, for weighted means of independent clients", Condition(
        E(norm2(after - x_star)), "<=", (1 - eta_l[t] * mu) * E(norm2(before - x_star)) + eta_l[t] ** 2 * sigma_sq,
        (ALL_STEPS,)), (SMOOTH, CONVEX, NOISE), up_to_one),
    _claim("sgd-value", "(4.12)", "Bottou, Curtis, Nocedal 2018, for weighted means of independent clients", Condition(
        E(objective(after)) - F_star, "<=", (1 - eta_l[t] * mu) * (E(objective(before)) - F_star)
        + L * eta_l[t] ** 2 * sigma_sq / 2, (ALL_STEPS,)), (SMOOTH, CONVEX, NOISE), up_to_one),
    _claim("sgd-nonconvex", "Theorem 4.8", "Bottou, Curtis, Nocedal 2018, for weighted means of independent clients",
           Condition(E(objective(after)), "<=", E(objective(before)) - eta_l[t] / 2 * E(norm2(objective_grad(before)))
                     + L * eta_l[t] ** 2 * sigma_sq / 2, (ALL_STEPS,)), (SMOOTH, NOISE), up_to_one),
)
