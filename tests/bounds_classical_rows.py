"""The textbooks' statements in plain Python, written from the books."""

from __future__ import annotations

from bounds_arithmetic import ALL, sq, total

__all__ = ["CLASSICAL"]


def gap(w, x):
    return w.objective(x) - w.F_star


def rate(w, t):
    """rho(gamma)^2 of Taylor, Hendrickx and Glineur."""
    a, b = 1 - w.eta_l[t] * w.mu, w.L * w.eta_l[t] - 1
    return a * a if a >= b else b * b


def slope(w, t):
    return sq(w.objective_grad(w.x_sampled[t]))


def moved_apart(w, k):
    """|G(v) - G(w)|^2 for G the gradient step of client k, at the models of clients k and 0."""
    one, two = (w.x_local[0][c] - w.grad(k, w.x_local[0][c]) * w.eta_l[0] for c in (k, 0))
    return sq(one - two)


def apart(w, k):
    return sq(w.x_local[0][k] - w.x_local[0][0])


def distance(w, t):
    return sq(w.x_sampled[t] - w.x_star)


def contraction(w):
    return 1 - w.eta_l[0] * w.L * w.mu / (w.L + w.mu)


#: claim ids -> both sides as functions of (world, t or r, k)
CLASSICAL = {
    "classical/gd-convex": (
        lambda w, t, k: gap(w, w.x_sampled[w.iterations]),
        lambda w, t, k: w.L / 2 * distance(w, 0) / (2 * w.iterations + 1)),
    "classical/gd-distance": (lambda w, t, k: distance(w, t + 1), lambda w, t, k: rate(w, t) * distance(w, t)),
    "classical/gd-value": (
        lambda w, t, k: gap(w, w.x_sampled[t + 1]), lambda w, t, k: rate(w, t) * gap(w, w.x_sampled[t])),
    "classical/gd-gradient": (lambda w, t, k: slope(w, t + 1), lambda w, t, k: rate(w, t) * slope(w, t)),
    "classical/gd-nonconvex": (
        lambda w, t, k: sum(slope(w, i) for i in range(w.iterations)), lambda w, t, k: gap(w, w.x_sampled[0]) * 2 * w.L),
    "classical/gd-descent": (
        lambda w, t, k: w.objective(w.x_sampled[t + 1]),
        lambda w, t, k: w.objective(w.x_sampled[t]) - w.eta_l[t] * slope(w, t) + w.L / 2 * w.eta_l[t] ** 2 * slope(w, t)),
    "classical/sgd-distance": (
        lambda w, t, k: distance(w, t + 1),
        lambda w, t, k: distance(w, t) - w.mu * w.eta_l[t] * distance(w, t) + w.eta_l[t] ** 2 * w.sigma_sq),
    "classical/sgd-value": (
        lambda w, t, k: gap(w, w.x_sampled[t + 1]),
        lambda w, t, k: gap(w, w.x_sampled[t]) * (1 - w.mu * w.eta_l[t]) + w.eta_l[t] ** 2 * w.L * w.sigma_sq / 2),
    "classical/sgd-nonconvex": (
        lambda w, t, k: w.objective(w.x_sampled[t + 1]),
        lambda w, t, k: w.objective(w.x_sampled[t]) - slope(w, t) * w.eta_l[t] / 2 + w.eta_l[t] ** 2 * w.L * w.sigma_sq / 2),
    "classical/sgd-expansive": (
        lambda w, t, k: moved_apart(w, k), lambda w, t, k: apart(w, k) * (1 + w.eta_l[0] * w.L) ** 2),
    "classical/sgd-nonexpansive": (lambda w, t, k: moved_apart(w, k), lambda w, t, k: apart(w, k)),
    "classical/sgd-contractive": (
        lambda w, t, k: moved_apart(w, k), lambda w, t, k: apart(w, k) * contraction(w) * contraction(w)),
    "classical/scaffold-mean-variate": (
        lambda w, r, k: sq(total([w.client_variate[r][c] * w.client_weight[c] for c in ALL]) - w.server_variate[r]),
        lambda w, r, k: 0),
    "classical/scaffold-one-step": (
        lambda w, r, k: sq(w.x_round[r + 1] - (w.x_round[r] - w.objective_grad(w.x_round[r]) * (w.eta_g * w.eta_l[r]))),
        lambda w, r, k: 0),
}
