"""Hypotheses of FedALIGN and of Li et al. 2020 in plain Python, written from FedALIGN's Section 2 and appendix."""

from tests.bounds.arithmetic import ALL, P
from tests.bounds.chance import E, Max
from tests.bounds.claim_values import dot, norm, sq
from tests.bounds.rows import Assumed, Relation

__all__ = ["ASSUMED", "IMPLICIT", "SCHEDULE", "each_client", "each_step"]


def each_step(w):
    """t = 0, ..., T - 1."""
    return range(w.iterations)


def each_client(w, *_):
    return range(w.clients)


def mean_squared_gradient(w, t, who, weight):
    return E(sum(weight[k] * sq(w.g[t][k]) for k in who))


def _at_every_client(left, sign, right):
    return Assumed((Relation(left, sign, right, (each_client,)),))


IMPLICIT = "implicit-nonanticipating implicit-divisible"
ASSUMED = {
    # "for all u and v, f(v) <= f(u) + (u - v)^T grad f(v) + L/2 |u - v|^2", for each f in {F_1, ..., F_N}
    "assumption-1": Assumed(for_all_functions=Relation(
        lambda w: w.f(w.v), "<=", lambda w: w.f(w.u) + dot(w.u - w.v, w.f_grad(w.v)) + w.L / 2 * sq(w.u - w.v))),
    "assumption-2": Assumed(for_all_functions=Relation(
        lambda w: w.f(w.v), ">=", lambda w: w.f(w.u) + dot(w.u - w.v, w.f_grad(w.v)) + w.mu / 2 * sq(w.u - w.v))),
    # every F_k is L-smooth and mu-strongly convex
    "assumption-1@as-used": _at_every_client(lambda w, k: w.L_client[k], "<=", lambda w, k: w.L),
    "assumption-2@as-used": _at_every_client(lambda w, k: w.mu_client[k], ">=", lambda w, k: w.mu),
    # "E |grad F_k(w_k, xi_k) - grad F_k(w_k)|^2 <= sigma^2, k = 1..N"
    "assumption-3": _at_every_client(lambda w, k: w.sigma_sq_client[k], "<=", lambda w, k: w.sigma_sq),
    # "E |grad F_k(w_k, xi_k)|^2 <= G^2, k = 1..N", which does not say at which points
    "assumption-4": Assumed(everywhere=Relation(lambda w: sq(w.f_grad(w.u)), "<=", lambda w: w.G_sq)),
    "assumption-4@G-trajectory-weighted": Assumed((Relation(
        lambda w, t: mean_squared_gradient(w, t, ALL, w.aggregate_weight[t]), "<=", lambda w, t: w.G_sq, (each_step,)),)),
    "assumption-4@G-priority": Assumed((Relation(
        lambda w, t: mean_squared_gradient(w, t, P, w.client_weight), "<=", lambda w, t: w.G_sq, (each_step,)),)),
    "assumption-4@G-where-used": Assumed((Relation(
        lambda w, t: mean_squared_gradient(w, t, P, w.client_weight), "<=", lambda w, t: w.G_priority_sq, (each_step,)),)),
    # over the clients that are active
    "assumption-4@G-trajectory-max": Assumed((Relation(
        lambda w, t, k: E(w.included[t][k] * sq(w.g[t][k])), "<=", lambda w, t, k: w.G_sq, (each_step, each_client)),)),
    # "|xi| <= s_0 surely", "eta_t <= 2/(L+mu)", "r = max{|w_0 - w*|, (max_k |grad F_k(w*)| + s_0)/mu}", "G = max_k |grad
    # F_k(w*)| + L r + s_0"
    "assumption-4@G-a-priori": Assumed((
        Relation(lambda w, t, k: norm(w.g[t][k] - w.grad(k, w.x_local[t][k])), "<=", lambda w, t, k: w.noise_bound,
                 (each_step, each_client)),
        Relation(lambda w, k: norm(w.grad(k, w.x_star)), "<=", lambda w, k: w.optimum_gradient_bound, (each_client,)),
        Relation(lambda w: w.ball_radius, "==", lambda w: Max(
            norm(w.x_sampled[0] - w.x_star), (w.optimum_gradient_bound + w.noise_bound) / w.mu)),
        Relation(lambda w: w.G_sq, "==", lambda w: (w.optimum_gradient_bound + w.L * w.ball_radius + w.noise_bound) ** 2),
        Relation(lambda w, t: w.eta_l[t], "<=", lambda w, t: 2 / (w.L + w.mu), (each_step,)))),
    "implicit-nonanticipating": Assumed(), "implicit-independence": Assumed(), "implicit-divisible": Assumed(),
    "largest-gap": _at_every_client(
        lambda w, k: (k not in P) * w.Gamma_client[k], "<=", lambda w, k: w.Gamma_max),
}

#: "gamma = max{8 L/mu, E}", "eta_t = 2 / (mu (gamma + t))"
OFFSET = Relation(lambda w: w.step_offset, "==", lambda w: Max(8 * w.L / w.mu, w.local_steps))
SCHEDULE = {
    "offset": OFFSET,
    "schedule": (OFFSET, Relation(
        lambda w, t: w.eta_l[t], "==", lambda w, t: 2 / (w.mu * (w.step_offset + t)), (each_step,))),
    # eta_t <= 1/(4L)
    "small-step": Relation(lambda w, t: w.eta_l[t], "<=", lambda w, t: 1 / (4 * w.L), (each_step,)),
    # eta_t does not increase
    "non-increasing": Relation(
        lambda w, t: w.eta_l[t + 1], "<=", lambda w, t: w.eta_l[t], (lambda w: range(w.iterations - 1),)),
    # one round, with everything before it given
    "one-round": Relation(lambda w: w.iterations, "==", lambda w: w.local_steps),
}
