"""Local SGD with heterogeneous clients: drift within a round, single steps, single rounds, the sampling of clients.

In the manner of Karimireddy et al. 2020 and of Khaled, Mishchenko, Richtarik 2020, with constants derived here.
"""

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS
from bounds.language.words import (
    E,
    F_star,
    G_sq,
    L,
    Sum,
    client_weight,
    clients,
    eta_l,
    grad,
    i,
    iterations,
    k,
    local_steps,
    mu,
    mu_client,
    norm2,
    objective,
    objective_grad,
    participants,
    r,
    rounds,
    sampling,
    sigma_sq,
    sigma_sq_client,
    t,
    tau,
    x,
    x_before,
    x_local,
    x_round,
    x_sampled,
    x_star,
)
from bounds.papers.classical.gradient_descent import ALL_CLIENTS, ALL_STEPS, CONVEX, EXACT, JUST_CONVEX, NOISE, SMOOTH
from bounds.papers.classical.notation import eta

__all__ = [
    "ALL_ROUNDS", "ANY_ETA", "CLAIMS", "CONSTANT_STEP", "ONE_OPTIMUM", "at_most", "gradient_at_start", "moved",
    "noise_free_steps", "round_gradient",
]

ALL_ROUNDS = (r, 0, rounds - 1)
ANY_ETA = Variable("eta", "positive")
CONSTANT_STEP = Condition(eta_l[t], "==", eta, (ALL_STEPS,))
ONE_OPTIMUM = Condition(norm2(grad(k, x_star)), "<=", 0, (ALL_CLIENTS,))


def at_most(bound) -> tuple[Condition, Condition]:
    """A constant step of at most ``bound``."""
    return CONSTANT_STEP, Condition(eta, "<=", bound)


def _claim(name: str, number: str, derivation: str, statement: Condition, assumptions, conditions, **others) -> Claim:
    given = {"procedure": Procedure(), "variables": (ANY_ETA,)}
    return Claim(
        f"classical/{name}", number, "control", "run", statement, tuple(assumptions), tuple(conditions), "as derived",
        derivation=derivation, definitions=DEFINITIONS, **given | others)


noise_free_steps = t + 1 - tau(t)  # local steps of the round up to time t + 1
moved = norm2(x_before[t + 1, k] - x_sampled[tau(t)])
gradient_at_start = norm2(grad(k, x_sampled[tau(t)]))
spread = Sum(client_weight[k] * norm2(x_local[t, k] - x_sampled[t]), ALL_CLIENTS)
gap = objective(x_sampled[t]) - F_star
before, after = norm2(x_sampled[t] - x_star), norm2(x_sampled[t + 1] - x_star)
start_gradients = Sum(client_weight[k] * gradient_at_start, ALL_CLIENTS)
noise_of_mean = Sum(client_weight[k] ** 2 * sigma_sq_client[k], ALL_CLIENTS)
round_gradient = norm2(objective_grad(x_round[r]))
local_drift = Sum(
    client_weight[k] * Sum(norm2(x_local[i, k] - x_round[r]), (i, r * local_steps, (r + 1) * local_steps - 1)), ALL_CLIENTS)
past = t - tau(t)
END = ((t, iterations, iterations),)
ONE_ROUND = Condition(iterations, "==", local_steps)
STEP = (
    "expand the square; for every client smoothness at the mean and convexity at the local model bound the inner product by "
    "its gap, the mean of the local gradients is within L^2 times the spread of the gradient at the mean")

CLAIMS = (
    _claim(
        "drift-smooth", "Drift, smooth clients", "|y_{j+1} - x| <= (1 + eta L) |y_j - x| + eta |grad F_k(x)|, summed",
        Condition(moved * L**2, "<=", ((1 + eta * L) ** noise_free_steps - 1) ** 2 * gradient_at_start,
                  (ALL_STEPS, ALL_CLIENTS)), (SMOOTH, EXACT), (CONSTANT_STEP,)),
    _claim(
        "drift-convex", "Drift, convex clients", "gradient steps of length at most 2/L do not expand, so no step of a round "
        "is longer than its first",
        Condition(moved, "<=", eta**2 * noise_free_steps**2 * gradient_at_start, (ALL_STEPS, ALL_CLIENTS)),
        (SMOOTH, JUST_CONVEX, EXACT), at_most(2 / L)),
    _claim(
        "local-sgd-step", "One step, convex clients", STEP,
        Condition(E(after), "<=", (1 - eta_l[t] * mu) * E(before) - 2 * eta_l[t] * (1 - 2 * eta_l[t] * L) * E(gap)
                  + eta_l[t] * L * (1 + 2 * eta_l[t] * L) * E(spread) + eta_l[t] ** 2 * noise_of_mean, (ALL_STEPS,)),
        (SMOOTH, CONVEX), (), variables=()),
    _claim(
        "local-gd-spread", "Spread, convex clients", "the mean minimises the spread, which is no larger around the round's "
        "start; there the drift of convex clients bounds it",
        Condition(spread, "<=", eta**2 * past**2 * start_gradients, (ALL_STEPS,)),
        (SMOOTH, JUST_CONVEX, EXACT), at_most(2 / L), steps=("classical/drift-convex",)),
    _claim(
        "local-gd-step", "One step, convex clients, full gradients", "one step with the spread at its bound",
        Condition(after, "<=", (1 - eta * mu) * before - 2 * eta * (1 - 2 * eta * L) * gap
                  + eta**3 * L * (1 + 2 * eta * L) * past**2 * start_gradients, (ALL_STEPS,)),
        (SMOOTH, CONVEX, EXACT), at_most(2 / L), steps=("classical/local-sgd-step", "classical/local-gd-spread")),
    _claim(
        "local-sgd-one-optimum", "Clients with a common minimiser", "the weighted mean of E|y_k - x*|^2 contracts by "
        "(1 - eta mu)^2 in every step and gains eta^2 sigma^2; averaging does not increase it",
        Condition(E(norm2(x_sampled[iterations] - x_star)), "<=", (1 - eta * mu) ** (2 * iterations)
                  * norm2(x_sampled[0] - x_star)
                  + eta**2 * sigma_sq * Sum((1 - eta * mu) ** (2 * i), (i, 0, iterations - 1))),
        (SMOOTH, CONVEX, NOISE), (*at_most(2 / (L + mu)), ONE_OPTIMUM)),
    _claim(
        "fedavg-round", "One round, smooth clients, full gradients", "descent lemma along the mean of the local gradients, "
        "which differs from the gradient by at most L times the local models' distances from the start",
        Condition(objective(x_round[r + 1]), "<=", objective(x_round[r]) - eta * local_steps / 2 * round_gradient
                  + eta * L**2 / 2 * local_drift, (ALL_ROUNDS,)), (SMOOTH, EXACT), at_most(1 / (L * local_steps))),
    _claim(
        "fedavg-round-noise", "One round, smooth clients", "as with full gradients; the square of gradients and noise is at "
        "most twice the sum of their squares, and noise of different steps and clients is uncorrelated",
        Condition(E(objective(x_round[r + 1])), "<=", E(objective(x_round[r])) - eta * local_steps / 2 * E(round_gradient)
                  + eta * L**2 / 2 * E(local_drift) + L * eta**2 * local_steps * noise_of_mean, (ALL_ROUNDS,)),
        (SMOOTH,), at_most(1 / (2 * L * local_steps))),
    _claim(
        "fedavg-round-dissimilar", "One round, convex clients of bounded dissimilarity", "one round with the drift of "
        "convex clients; j^2 summed over j < K is (K-1) K (2K-1) / 6",
        Condition(objective(x_round[r + 1]), "<=", objective(x_round[r]) - eta * local_steps / 2 * round_gradient
                  + eta**3 * L**2 * (local_steps - 1) * local_steps * (2 * local_steps - 1) / 12 * G_sq, (ALL_ROUNDS,)),
        (SMOOTH, JUST_CONVEX, EXACT), (*at_most(1 / (L * local_steps)), Condition(
            Sum(client_weight[k] * norm2(grad(k, x_round[r])), ALL_CLIENTS), "<=", G_sq, (ALL_ROUNDS,))),
        steps=("classical/fedavg-round", "classical/drift-convex")),
    _claim(
        "fedavg-equal-curvature", "Equal isotropic curvature", "every client's distance from its own minimiser shrinks by "
        "(1 - eta L)^K, and the objective's minimiser is the mean of these",
        Condition(norm2(x_round[r + 1] - x_star - (1 - eta * L) ** local_steps * (x_round[r] - x_star)), "<=", 0,
                  (ALL_ROUNDS,)),
        (SMOOTH, EXACT), (CONSTANT_STEP, Condition(mu_client[k], ">=", L, (ALL_CLIENTS,)))),
    _claim(
        "sampling-variance", "Variance of sampled clients", "variance of the mean of a sample without replacement",
        Condition(E(norm2(x_sampled[t] - x[t]), sampling) * participants * (clients - 1), "==",
                  (clients - participants) / clients * Sum(norm2(x_before[t, k] - x[t]), ALL_CLIENTS), END),
        (), (ONE_ROUND,), procedure=Procedure(sampling="without-replacement", equal_weights=True), variables=()),
)
