"""A-FedPD's optimisation, its Appendix B.2, in plain Python, written from the paper."""

from math import sqrt

from tests.bounds.papers.afedpd_world import (
    J_,
    R_,
    R_0,
    C,
    E,
    E_t,
    P,
    R,
    T,
    bar,
    eps,
    error,
    first_gap,
    grads,
    h,
    lam_bar,
    mean,
    simple,
    sq,
    trained,
)

__all__ = ["ROWS", "larger_zero"]


def theorem_1(w, a, at):
    right = (w.rho_prox * first_gap(w) + R_0(w)) / T
    return grads(w, 1, T), right + (0 if "exact" in a else w.constant * w.eps_inexact)


def theorem_1_explicit(w, a, at):
    return grads(w, 1, T), (w.rho_prox * first_gap(w) + R_0(w)) / T + eps(w, a) / (8 * w.L**2 * w.rho_prox)


def move(w, t):
    return E_t(sq(bar(w, t + 1) - bar(w, t)), t)


def lemma_1(w, a, at):
    return move(w, at.r), R_(w, at.r, "inactive-theta" in a)


def lemma_2(w, a, at):
    t, b = at.r, w.L**2 / w.rho_prox**2
    right = 8 * b * J_(w, t) + 4 * b * E_t(sq(h(w, t)), t) + 4 * eps(w, a) / w.rho_prox**2
    return (1 - 4 * b) * R_(w, t), right


def spread(w, t, inactive=False):
    return mean(lambda i: E_t(sq(trained(w, t, i, inactive) - bar(w, t + 1)), t))


def lemma_3(w, a, at):
    inactive = "inactive-theta" in a
    return spread(w, at.r, inactive), 4 * R_(w, at.r, inactive)


def active_sq(w, t):
    return E_t(sum(sq(trained(w, t, i) - bar(w, t)) for i in R(C) if w.sampled[t][i]), t) / P


def lemma_2_step_2(w, a, at):
    t, b = at.r, 4 * w.L**2 / w.rho_prox**2
    return R_(w, t), b * (R_(w, t) + 2 * J_(w, t) + E_t(sq(h(w, t)), t)) + 4 * eps(w, a) / w.rho_prox**2


def descent(number):
    def line(w, t, n):
        A, N = w.L / 2 * move(w, t), E_t(sq(h(w, t)), t) / (2 * w.rho_prox)
        g = mean(lambda i: w.grad(i, trained(w, t, i)))
        if n == 0:
            return E_t(w.objective(bar(w, t + 1)), t) - w.objective(bar(w, t))
        if n <= 5:
            theta = mean(lambda i: trained(w, t, i))
            direction = {
                1: bar(w, t + 1) - bar(w, t), 2: theta - bar(w, t),
                3: mean(lambda i: trained(w, t, i) - w.x_round[t]) + w.x_round[t] - bar(w, t),
                4: -(g + lam_bar(w, t) - mean(lambda i: error(w, t, i)) - lam_bar(w, t)) / w.rho_prox, 5: -g / w.rho_prox}[n]
            return A + E_t(h(w, t) @ direction, t)
        if n == 6:
            return A + E_t(sq(h(w, t) - g), t) / (2 * w.rho_prox) - N
        if n == 7:
            rest = mean(lambda i: E_t(sq(w.grad(i, bar(w, t)) - w.grad(i, trained(w, t, i))), t))
            return A + rest / (2 * w.rho_prox) - N
        if n == 8:
            return A + w.L**2 / (2 * w.rho_prox) * R_(w, t) - N
        return w.L / 2 * (1 + w.L / w.rho_prox) * R_(w, t) - N

    first, last = (0, 9) if number is None else (number - 1, number)
    return lambda w, a, at: (line(w, at.r, first), line(w, at.r, last))


def averaged(row):
    """Both sides, averaged over the round before in the reading that says so; numbers have their own row."""

    def sides(w, a, at):
        left, right = row(w, a, at)
        return (E_t(left, at.r - 1), E_t(right, at.r - 1)) if "averaged" in a else (left, right)

    return sides


def r_recursion(w, a, at):
    b = w.L**2 / w.rho_prox**2
    if "numbers" in a:
        return (1 - 4 * b) * w.R_now, 32 * b * w.R_before + 4 * b * w.h_sq + 4 * w.eps_inexact / w.rho_prox**2
    return averaged(lambda w, a, at: (
        (1 - 4 * b) * R_(w, at.r),
        32 * b * R_(w, at.r - 1) + 4 * b * E_t(sq(h(w, at.r)), at.r) + 4 * eps(w, a) / w.rho_prox**2))(w, a, at)


def round_values(w, a, at):
    """E_t f, R_t, f, R_{t-1}, E_t |grad f|^2, epsilon."""
    if "numbers" in a:
        return w.f_next, w.R_now, w.f_now, w.R_before, w.h_sq, w.eps_inexact
    t = at.r
    return (E_t(w.objective(bar(w, t + 1)), t), R_(w, t), w.objective(bar(w, t)), R_(w, t - 1), E_t(sq(h(w, t)), t),
            eps(w, a))


def of_a_round(row):
    return lambda w, a, at: row(w, a, at) if "numbers" in a else averaged(row)(w, a, at)


def q_combined(w, a, at):
    f_next, now, f, before, h_sq, e = round_values(w, a, at)
    q, b, rho = w.q_mult, w.L**2 / w.rho_prox**2, w.rho_prox
    left = f_next + (q * (1 - 4 * b) - w.L / 2 * (1 + w.L / rho)) * now
    return left, f + q * 32 * b * before - (1 / (2 * rho) - 4 * q * b) * h_sq + 4 * q * e / rho**2


def one_step(w, a, at):
    f_next, now, f, before, h_sq, e = round_values(w, a, at)
    rho = w.rho_prox
    return f_next + now / rho, f + before / rho - h_sq / rho + e / (8 * w.L**2 * rho)


def summed(w, a):
    n, last = T - 1, w.objective(bar(w, T))
    return (E(w.objective(bar(w, 1))) - E(last)) / n + (R_0(w) - E(R_(w, n))) / (w.rho_prox * n) + eps(w, a) / (
        8 * w.L**2 * w.rho_prox)


def telescoped(w, a, at):
    if "numbers" in a:
        return (w.h_sq_1 + w.h_sq_2) / 2, (w.f_1 - w.f_3) / 2 + (w.R_start - w.R_2) / (2 * w.rho_prox) + w.eps_inexact / (
            8 * w.L**2 * w.rho_prox)
    return (grads(w, 0, T - 2) if "from-0" in a else grads(w, 1, T - 1)), summed(w, a)


def telescoped_relaxed(w, a, at):
    e = eps(w, a) / (8 * w.L**2 * w.rho_prox)
    if "numbers" in a:
        left = (w.f_first - w.f_last) / T + (w.R_start - w.R_end) / (w.rho_prox * T) + e
        return left, (w.rho_prox * (w.f_first - w.f_low) + w.R_start) / T + e
    return summed(w, a), (w.rho_prox * first_gap(w) + R_0(w)) / (T - 1) + e


def q_parts(w):
    q, b = w.q_mult, w.L**2 / w.rho_prox**2
    return q * (1 - 4 * b) - w.L / 2 * (1 + w.L / w.rho_prox), q * 32 * b, 1 / (2 * w.rho_prox) - 4 * q * b


def q_range(w, a, at):
    return (w.q_mult, w.rho_prox / (8 * w.L**2)) if "necessary" in a else (q_parts(w)[2], 0)


def q_choice(w, a, at):
    if "range" in a:
        return w.q_mult, w.rho_prox / (8 * w.L**2)
    return q_parts(w)[:2] if "relation" in a else (q_parts(w)[1], 1 / w.rho_prox)


def rho_quadratic(w, a, at):
    L, rho = w.L, w.rho_prox
    if "necessary" in a:
        return rho**2 - 4 * L**3 * rho - 36 * L**2 - 4 * L**4, 0
    return L * (rho**2 + rho * L) / (rho**2 - 36 * L**2), rho / (4 * L**2)


def larger_zero(w):
    """Return the larger zero of rho^2 - 4 L^3 rho - 36 L^2 - 4 L^4, a polynomial in rho."""
    p, q = -4 * w.L**3, -36 * w.L**2 - 4 * w.L**4
    return -p / 2 + sqrt(p**2 / 4 - q)


def rho_order(w, a, at):
    if "zero" in a:
        return 4 * w.L**3 * w.rho_prox + 36 * w.L**2 + 4 * w.L**4, w.rho_prox**2
    return larger_zero(w), w.constant * w.L**3


def lemma_2_step_3(w, a, at):
    b = w.L**2 / w.rho_prox**2
    return (1 - 4 * b) * w.R_now, 8 * b * w.J_now + 4 * b * w.h_sq + 4 * w.eps_inexact / w.rho_prox**2


ROWS = {
    "theorem-1": theorem_1, "theorem-1-explicit": theorem_1_explicit, "lemma-1": lemma_1, "lemma-2": lemma_2,
    "lemma-3": lemma_3, "lemma-1-step-1": simple(lambda w, at: move(w, at.r), lambda w, at: active_sq(w, at.r)),
    "lemma-1-step-2": simple(lambda w, at: active_sq(w, at.r), lambda w, at: R_(w, at.r)),
    "lemma-2-step-1": simple(lambda w, at: R_(w, at.r), lambda w, at: mean(
        lambda i: E_t(sq(trained(w, at.r, i) - w.x_round[at.r] + lam_bar(w, at.r) / w.rho_prox), at.r))),
    "lemma-2-step-2": lemma_2_step_2, "lemma-2-step-3": lemma_2_step_3,
    "lemma-3-step-1": simple(lambda w, at: spread(w, at.r), lambda w, at: 2 * R_(w, at.r) + 2 * move(w, at.r)),
    "lemma-3-step-2": simple(lambda w, at: 2 * R_(w, at.r) + 2 * move(w, at.r), lambda w, at: 4 * R_(w, at.r)),
    **{f"descent-{n}": descent(n) for n in R(1, 10)}, "descent": descent(None),
    "j-by-r": averaged(lambda w, a, at: (J_(w, at.r), 4 * R_(w, at.r - 1))), "r-recursion": r_recursion,
    "q-combined": of_a_round(q_combined), "q-range": q_range,
    "q-equation": simple(lambda w, at: q_parts(w)[0], lambda w, at: q_parts(w)[1]), "rho-quadratic": rho_quadratic,
    "rho-order": rho_order,
    "q-choice": q_choice, "one-step-theorem-1": of_a_round(one_step), "telescoped": telescoped,
    "telescoped-relaxed": telescoped_relaxed,
}
