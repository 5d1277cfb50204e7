"""SCAFFOLD (Karimireddy et al. 2020): identities of the method, its control variates and its drift."""

import sympy as sp

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS
from bounds.language.words import (
    L,
    Sum,
    client_weight,
    clients,
    eta_l,
    g,
    grad,
    i,
    k,
    local_steps,
    mu_client,
    norm2,
    objective_grad,
    r,
    rounds,
    sampled,
    sigma_sq_client,
    t,
    x_local,
    x_round,
    x_star,
)
from bounds.papers.classical.gradient_descent import EXACT, JUST_CONVEX, SMOOTH
from bounds.papers.classical.local_sgd import ANY_ETA, CONSTANT_STEP, moved, noise_free_steps
from bounds.papers.classical.notation import eta

__all__ = ["CLAIMS"]

client_variate, server_variate = (sp.IndexedBase(name, real=True) for name in ("client_variate", "server_variate"))
eta_g = sp.Symbol("eta_g", positive=True)
ALL_CLIENTS = (k, 0, clients - 1)
SOURCE = "Karimireddy et al. 2020"
STEP = Variable("eta_g", "positive")


def _claim(name: str, number: str, statement: Condition, *conditions, sampling="full", variables=(STEP,), assumptions=(),
           derivation="", steps=()) -> Claim:
    said = ("as derived", None, derivation) if derivation else ("as in the source", SOURCE)
    return Claim(
        f"classical/{name}", number, "control", "run", statement, assumptions, conditions, *said,
        procedure=Procedure("scaffold", sampling=sampling, equal_weights=True), variables=variables, definitions=DEFINITIONS,
        steps=steps)


PARTIAL = "without-replacement"
ALL_ROUNDS = (r, 0, rounds - 1)
local_times = (i, r * local_steps, (r + 1) * local_steps - 1)
EVERY_STEP = (ALL_ROUNDS, (t, r * local_steps, (r + 1) * local_steps - 1), ALL_CLIENTS)
first_step = norm2(grad(k, x_round[r]) + server_variate[r] - client_variate[r, k])
CONSTANT = (ANY_ETA, STEP)
shrunk = (1 - eta * L) ** local_steps

CLAIMS = (
    _claim("scaffold-mean-variate", "(5)", Condition(
        norm2(Sum(client_weight[k] * client_variate[r, k], ALL_CLIENTS) - server_variate[r]), "<=", 0, ((r, 0, rounds),)),
        sampling="without-replacement"),
    _claim("scaffold-one-step", "Section 4", Condition(
        norm2(x_round[r + 1] - x_round[r] + eta_g * eta_l[r] * objective_grad(x_round[r])), "<=", 0, ((r, 0, rounds - 1),)),
        Condition(sigma_sq_client[k], "<=", 0, (ALL_CLIENTS,)),
        variables=(STEP, Variable(local_steps.name, "integer", high=1))),
    _claim("scaffold-new-variate", "(4), option II", Condition(
        sampled[r, k] * norm2(client_variate[r + 1, k] - Sum(g[i, k], local_times) / local_steps), "<=", 0,
        (ALL_ROUNDS, ALL_CLIENTS)), CONSTANT_STEP, sampling=PARTIAL, variables=CONSTANT),
    _claim("scaffold-old-variate", "Algorithm 1", Condition(
        (1 - sampled[r, k]) * norm2(client_variate[r + 1, k] - client_variate[r, k]), "<=", 0, (ALL_ROUNDS, ALL_CLIENTS)),
        sampling=PARTIAL),
    _claim("scaffold-variate-lag", "Lag of a control variate", Condition(
        sampled[r, k] * norm2(client_variate[r + 1, k] - grad(k, x_star)), "<=",
        L**2 / local_steps * Sum(norm2(x_local[i, k] - x_star), local_times), (ALL_ROUNDS, ALL_CLIENTS)), CONSTANT_STEP,
        sampling=PARTIAL, variables=CONSTANT, assumptions=(SMOOTH, EXACT), steps=("classical/scaffold-new-variate",),
        derivation="a new variate is the mean of the gradients of the local steps; Jensen and smoothness"),
    _claim("scaffold-mean-step", "(3) with full participation", Condition(
        norm2(x_round[r + 1] - x_round[r]
              + eta_g * eta * Sum(client_weight[k] * Sum(g[i, k], local_times), ALL_CLIENTS)), "<=", 0, (ALL_ROUNDS,)),
        CONSTANT_STEP, variables=CONSTANT),
    _claim("scaffold-drift-smooth", "Drift with corrections, smooth clients", Condition(
        moved * L**2, "<=", ((1 + eta * L) ** noise_free_steps - 1) ** 2 * first_step, EVERY_STEP),
        CONSTANT_STEP, variables=CONSTANT, assumptions=(SMOOTH, EXACT),
        derivation="|y_{j+1} - x| <= (1 + eta L) |y_j - x| + eta |grad F_k(x) + c - c_k|, summed"),
    _claim("scaffold-drift-convex", "Drift with corrections, convex clients", Condition(
        moved, "<=", eta**2 * noise_free_steps**2 * first_step, EVERY_STEP),
        CONSTANT_STEP, Condition(eta, "<=", 2 / L), variables=CONSTANT, assumptions=(SMOOTH, JUST_CONVEX, EXACT),
        derivation="a constant correction leaves the step non-expansive, so no step of a round is longer than its first"),
    _claim("scaffold-equal-curvature", "Equal isotropic curvature", Condition(
        norm2(x_round[r + 1] - x_star - (1 - eta_g * (1 - shrunk)) * (x_round[r] - x_star)), "<=", 0, (ALL_ROUNDS,)),
        CONSTANT_STEP, Condition(mu_client[k], ">=", L, (ALL_CLIENTS,)), variables=CONSTANT, assumptions=(SMOOTH, EXACT),
        derivation="the corrections of all clients have mean zero, and the mean of equal linear steps keeps them so"),
)
