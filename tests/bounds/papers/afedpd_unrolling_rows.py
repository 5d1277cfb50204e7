"""A-FedPD's multipliers and its recursion unrolled in plain Python, written from the paper's Appendix B.3.2."""

from math import prod, sqrt

from tests.bounds.papers.afedpd_stability_rows import Delta, bound_11, bound_appendix, error_of
from tests.bounds.papers.afedpd_world import C, K, P, R, S, T

__all__ = ["ROWS"]


def weighted_right(w, beta, gamma):
    c_1, c_2, c_3 = w.eta * K * w.L, w.eta * K, 2 * w.eta * K * w.G_lip / (C * S)
    return (beta + gamma * c_1) * w.Delta + (w.alpha_mult + gamma * c_2) * w.sigma_dual + gamma * c_3


def rec_weighted(w, a, at):
    al, be, ga, rho = w.alpha_mult, w.beta_mult, w.gamma_mult, w.rho_prox
    left = w.Delta_next + (al - 1 / rho) * w.sigma_next + (be - 1) * w.delta_next + (ga - al * rho - be) * w.pi_next
    return left, weighted_right(w, be, ga)


def multipliers(w, a, at):
    al = w.alpha_mult * w.rho_prox
    return (w.gamma_mult - al - w.beta_mult, 0) if "feasible" in a else (1 + al, w.gamma_mult)


def fraction(w):
    s = (1 + w.alpha_mult * w.rho_prox) * w.eta * K
    return (w.alpha_mult + s) / (1 + s * w.L)


def rec_factored(w, a, at):
    inner = w.Delta + fraction(w) * (w.sigma_dual if "with-sigma" in a else 1)
    new = 2 * w.gamma_mult * w.eta * K * w.G_lip / (C * S)
    return weighted_right(w, w.beta_mult, w.gamma_mult), (1 + w.gamma_mult * w.eta * K * w.L) * inner + new


def quadratic(w, x):
    return w.L * x**2 - w.rho_prox * x - (w.L + w.rho_prox + 1 / (w.eta * K))


def alpha_condition(w, a, at):
    return (quadratic(w, w.alpha_mult * w.rho_prox), 0) if "necessary" in a else (w.alpha_mult - 1 / w.rho_prox, fraction(w))


def x_plus(w, sign=1):
    return (w.rho_prox + sign * sqrt((w.rho_prox + 2 * w.L) ** 2 + 4 * w.L / (w.eta * K))) / (2 * w.L)


def x_plus_rows(w, a, at):
    first = (w.rho_prox + sqrt(w.rho_prox**2 + 4 * w.L * (w.L + w.rho_prox + 1 / (w.eta * K)))) / (2 * w.L)
    if "forms" in a:
        return first, x_plus(w)
    if "larger" in a:
        return x_plus(w, -1), first
    return quadratic(w, x_plus(w) + w.excess if "suffices" in a else first), 0


def x_plus_bound(w, a, at):
    return x_plus(w), 1 + w.rho_prox / w.L + 2 * (w.z if a else sqrt(w.L / (w.eta * K)))


def alpha_rho_bound(w, a, at):
    last = (x_plus(w) - 1) / w.rho_prox
    return (last, 1 / w.L) if "last" in a else (w.alpha_mult - 1 / w.rho_prox, last)


def rec_one_step(w, a, at):
    al, ga = w.alpha_mult - 1 / w.rho_prox, w.gamma_mult
    new = (2 if "two" in a else 1) * ga * w.eta * K * w.G_lip / (C * S)
    return w.Delta_next + al * w.sigma_next, (1 + ga * w.eta * K * w.L) * (w.Delta + al * w.sigma_dual) + new


# unrolling ----------------------------------------------------------------------------------------------------------
def end_of(w):
    return w.tau0 + w.length - 1


def unrolled_constant(w, a, at):
    n, g = end_of(w), w.gamma_mult * w.eta_0 * K
    total = sum((1 + g * w.L) ** t * 2 * g * w.G_lip / (C * S) for t in R(w.tau0, n))
    last, V = 2 * w.G_lip * (1 + w.gamma_mult) ** n / (w.L * C * S), w.V[w.length - 1]
    return (last, total) if "last" in a else (V, last) if "whole" in a else (total, V)


def unrolled_product(w, a, at):
    n, g = end_of(w), w.gamma_mult * w.eta_0 * K
    total = sum(prod(1 + g * w.L / (j + 1) for j in R(t, n)) * 2 * g * w.G_lip / (C * S * (t + 1)) for t in R(w.tau0, n))
    return total, w.V[w.length - 1]


def product_exp(w, a, at):
    def both(t):
        return (T / (t + 1)) ** w.c, prod(1 + w.c / (j + 1) for j in R(t, T))

    if not a:
        return both(at.t)
    start, factor = (0, 1) if "tau0-0" in a else (w.tau0, 2 * w.c * w.G_lip / (w.L * C * S))
    return tuple(sum(both(t)[side] * factor / (t + 1) for t in R(start, T)) for side in R(2))


def last_bound(w):
    return 2 * w.G_lip / (w.L * C * S) * (T / w.tau0) ** (w.mu_lr * w.L)


def sum_power(w, a, at):
    total = sum((1 / (t + 1)) ** (1 + w.c) for t in R(w.tau0, T))
    return last_bound(w), 2 * w.c * w.G_lip * T**w.c / (w.L * C * S) * total


def unrolled_decayed(w, a, at):
    n, factor = end_of(w), 2 * w.G_lip / (w.L * C * S)
    if "system" in a:
        m = w.length - 1
        Delta_T = sum(2 * w.W[j + 1] - w.W[j] for j in R(m)) + w.W[0]
        return Delta_T + (w.alpha_mult - 1 / w.rho_prox) * w.rho_prox * w.W[m], factor * (n / w.tau0) ** w.p_lr
    return w.V[w.length - 1], factor * (n / w.tau0) ** (w.mu_lr * w.L)


def gap_before_tau0(w, a, at):
    hit = w.H_loss * P * w.tau0 / (C * S)
    if "numbers" in a:
        return w.G_lip * w.Delta + hit, w.G_lip * last_bound(w) + hit
    return error_of(w, a), w.G_lip * (last_bound(w) if "chain" in a else Delta(w, T)) + hit


def tau0_choice(w, a, at):
    def bound(start):
        return 2 * w.G_lip**2 / (w.L * C * S) * (T / start) ** w.p_lr + w.H_loss * P * start / (C * S)

    other = bound(w.tau_other) if "minimiser" in a else 2 / (C * S) * w.root_1 * w.root_2**w.p_lr
    return bound(w.tau_real), other


ROWS = {
    "rec-weighted": rec_weighted, "multipliers": multipliers, "rec-factored": rec_factored,
    "alpha-condition": alpha_condition, "x-plus": x_plus_rows, "x-plus-bound": x_plus_bound,
    "alpha-rho-bound": alpha_rho_bound, "rec-one-step": rec_one_step, "unrolled-constant": unrolled_constant,
    "unrolled-product": unrolled_product, "product-exp": product_exp, "sum-power": sum_power,
    "unrolled-decayed": unrolled_decayed, "gap-before-tau0": gap_before_tau0, "tau0-choice": tau0_choice,
    "theorem-2-constants": lambda w, a, at: (
        (2 * 2 ** (1 / (1 + w.mu_lr * w.L)), 4) if a else (bound_appendix(w), bound_11(w))),
}
