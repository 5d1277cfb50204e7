"""A-FedPD's formulas in plain Python, written from the paper, on a world of random numbers.

A row gives both sides of a claim from the world ``w``, the names ``a`` of the claim's reading, and indices ``at``.
Expectations multiply by a factor of their own, so that one cannot stand for another. The paper's t is ``at.r``.
"""

import random
from math import prod, sqrt
from types import SimpleNamespace

import numpy as np

from bounds.language import samples as on_samples
from bounds.language import words
from tests.bounds.claim_values import Values, entry, name_of, reading_of

#: block ids of the specification's sections 4 and 5
BLOCKS = """
    theorem-1 theorem-1-explicit lemma-1 lemma-2 lemma-3 theorem-2 theorem-2-explicit lemma-4
    lemma-5 lemma-6 remark-1.1 remark-1.2 remark-2.1-rate remark-2.1-local table-7-fedpd
    table-7-fedadmm table-7-feddyn table-7-afedpd text-c-over-p table-9-sgd table-9-mohri table-9-hu
    table-9-wu table-9-fedavg table-9-afedpd text-partial-fedpd text-mean-dual text-unbiased eq-9
    eq-10 eq-13 lemma-1-step-1 lemma-1-step-2 lemma-2-step-1 lemma-2-step-2 lemma-2-step-3
    lemma-3-step-1 lemma-3-step-2 descent-1 descent-2 descent-3 descent-4 descent-5 descent-6
    descent-7 descent-8 descent-9 descent j-by-r r-recursion q-combined q-range q-equation
    rho-quadratic rho-order q-choice one-step-theorem-1 telescoped telescoped-relaxed lemma-4-split
    lemma-4-hitting lemma-5-triangle lemma-5-contraction lemma-5-unroll lemma-5-geometric bernoulli
    lemma-6-different lemma-6-mixture lemma-6-unroll rec-delta-global rec-sigma rec-delta-local rec-pi
    rec-weighted multipliers rec-factored alpha-condition x-plus x-plus-bound alpha-rho-bound
    rec-one-step unrolled-constant unrolled-product product-exp sum-power unrolled-decayed
    gap-before-tau0 tau0-choice theorem-2-constants"""
#: readings that the specification lists for a block
READINGS = {
    "theorem-1": "exact rho-appendix rho-appendix+exact", "theorem-1-explicit": "exact", "lemma-1": "inactive-theta",
    "lemma-2": "exact", "lemma-3": "inactive-theta", "theorem-2": "gamma-last gamma-all",
    "theorem-2-explicit": "gamma-last gamma-all", "lemma-4": "sup-only cond-zeta cond-zeta+rounds-upto generalisation",
    "lemma-5": "every-step theta-T stable quadratic+stable", "lemma-6": "every-step stable",
    **dict.fromkeys(("lemma-5-triangle", "lemma-5-contraction", "lemma-5-unroll", "lemma-6-different", "bernoulli"),
                    "stable"),
    "lemma-6-unroll": "stable closed run+printed run+round", "lemma-5-geometric": "theta-t bound bound+stable",
    "eq-9": "abs-outside signed second",
    "eq-10": "fedavg appendix", "table-7-fedadmm": "text sent start", "table-7-afedpd": "start",
    **dict.fromkeys(("table-7-fedpd", "table-7-feddyn"), "sent start"), "remark-1.1": "full",
    "remark-2.1-rate": "any-step fedpd fedadmm feddyn",
    **dict.fromkeys(("table-9-fedavg", "table-9-afedpd"), "any-step"), "table-9-sgd": "any-step fedavg",
    "text-mean-dual": "through", "q-choice": "range relation", "telescoped": "from-0", "telescoped-relaxed": "numbers",
    "lemma-4-split": "sup-only", "lemma-4-hitting": "rounds-upto last", "rec-delta-global": "virtual",
    "rec-sigma": "virtual text", "rec-delta-local": "virtual", "rec-pi": "virtual stable at-most", "rec-factored": "printed",
    "alpha-condition": "necessary", "rec-one-step": "two", "unrolled-constant": "last whole", "product-exp": "summed",
    "tau0-choice": "minimiser", "unrolled-decayed": "system", "theorem-2-constants": "factor",
}
#: numbers that take any unit, and a constant that O(.) hides
WITHOUT_UNIT = {"C", "slack", "s_1", "s_2", "s_3", "s_4", "root_1", "root_2", "tau_real", "tau_other"}

C, P, K, T, S = 3, 2, 2, 3, 5
R = range
NUMBERS = [
    "L", "rho_prox", "eps_inexact", "F_star", "C", "c", "eta", "eta_0", "alpha_mult", "beta_mult", "gamma_mult", "q_mult",
    "mu_lr", "G_lip", "H_loss", "R_now", "R_before", "J_now", "h_sq", "f_now", "f_next", "f_first", "f_last", "f_low",
    "f_1", "f_2", "f_3", "R_start", "R_end", "R_1", "R_2", "h_sq_1", "h_sq_2", "s_1", "s_2", "s_3", "s_4", "D", "p",
    "loss_1", "twin_loss_1", "loss_2", "twin_loss_2", "distance", "a_now", "D_theta", "D_lambda", "D_last", "x_plus_1",
    "curvature", "x_1", "lam_1", "Delta", "sigma_dual", "Delta_next", "sigma_next", "delta_next", "pi_next", "excess", "m",
    "z", "tau_real", "tau_other", "root_1", "root_2",
]


def sq(v):
    return float(v @ v)


def E(value):
    return 1.7 * value


def E_t(value, t):
    return value * (11 + t) / 10


def E_unused(t, value):
    return value * (7 + t)


def E_data(value):
    return 0.3 * value


def world(seed: int, reading=frozenset()) -> SimpleNamespace:
    """Random values for every name, the same in every reading."""
    rng = random.Random(seed)

    def number():
        return rng.uniform(0.2, 3)

    def vector():
        return np.array([rng.uniform(-2, 2) for _ in R(2)])

    def table(make, *sizes):
        return make() if not sizes else [table(make, *sizes[1:]) for _ in R(sizes[0])]

    w = SimpleNamespace(**{n: number() for n in NUMBERS})
    w.clients, w.participants, w.local_steps, w.rounds, w.iterations, w.samples = C, P, K, T, K * T, S
    w.tau0, w.length, w.count, w.p_lr = 1, 4, 3, 2
    w.x_round, w.twin_x_round = table(vector, T + 2), table(vector, T + 2)
    w.server_x_bar, w.twin_server_x_bar = table(vector, T + 2), table(vector, T + 2)
    for name in ("server_duals", "twin_server_duals", "client_dual"):
        setattr(w, name, table(vector, T + 2, C))
    for name in ("x_local", "x_before", "twin_x_before", "g"):
        setattr(w, name, table(vector, (T + 2) * K, C))
    w.sampled = [[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 1]]
    w.differing, w.eta_l, w.L_client = [0, 1, 0], table(number, (T + 1) * K), table(number, C)
    for name in ["a", "slack", "V", "W"]:
        setattr(w, name, table(number, 8))
    w.update_gap, w.lam_gaps = table(vector, 3), table(vector, 3)
    for name in ["w_gap", "x_gap", "lam_gap", "g_gap", "g_one", "g_two", "rest_one", "rest_two", "at_point", "sent_mean"]:
        setattr(w, name, vector())
    steep, centre = table(number, C), table(vector, C)
    w.grad = lambda k, v: (v - centre[k]) * steep[k]
    w.objective = lambda v: 3 * sq(v) + v @ centre[0]
    w.objective_grad = lambda v: 6 * v + centre[0]
    w.F_pop = lambda v: 2 * sq(v - centre[1])
    w.worst_mean_gap = lambda v, u: abs((v - u) @ centre[2])
    w.worst_mean_signed_gap = lambda v, u: (v - u) @ centre[2] + 1
    return w


# the paper's quantities ------------------------------------------------------------------------------------------------
def mean(term):
    return sum(term(i) for i in R(C)) / C


def trained(w, t, i, inactive=False):
    """theta_i^{t+1}."""
    return w.x_round[t] if inactive and not w.sampled[t][i] else w.x_before[(t + 1) * K][i]


def twin(w, t, i, inactive=False):
    return w.twin_x_round[t] if inactive and not w.sampled[t][i] else w.twin_x_before[(t + 1) * K][i]


def bar(w, t):
    return w.server_x_bar[t]


def lam_bar(w, t):
    return mean(lambda i: w.server_duals[t][i])


def R_(w, t, inactive=False):
    return mean(lambda i: E_t(sq(trained(w, t, i, inactive) - bar(w, t)), t))


def J_(w, t):
    return mean(lambda i: E_t(sq(w.x_before[t * K][i] - bar(w, t)), t))


def R_0(w):
    return mean(lambda i: E(sq(w.x_before[K][i] - w.x_round[0])))


def first_gap(w):
    return E(w.objective(bar(w, 1))) - w.F_star


def h(w, t):
    return w.objective_grad(bar(w, t))


def grads(w, first, last):
    return sum(E(sq(h(w, t))) for t in R(first, last + 1)) / (last - first + 1)


def eps(w, a):
    return 0 if "exact" in a else w.eps_inexact


def error(w, t, i):
    return w.grad(i, trained(w, t, i)) + w.server_duals[t][i] + w.rho_prox * (trained(w, t, i) - w.x_round[t])


# optimisation --------------------------------------------------------------------------------------------------------
def theorem_1(w, a, at):
    right = (w.rho_prox * first_gap(w) + R_0(w)) / T
    return grads(w, 1, T), right + (0 if "exact" in a else w.C * w.eps_inexact)


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
    """Both sides averaged over the round before, but for the readings at a given state; numbers have their own row."""

    def sides(w, a, at):
        left, right = row(w, a, at)
        given = "given-t" in a
        return (left, right) if given else (E_t(left, at.r - 1), E_t(right, at.r - 1))

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


def lemma_2_step_3(w, a, at):
    b = w.L**2 / w.rho_prox**2
    return (1 - 4 * b) * w.R_now, 8 * b * w.J_now + 4 * b * w.h_sq + 4 * w.eps_inexact / w.rho_prox**2


# generalisation ------------------------------------------------------------------------------------------------------
def gen(w):
    return E_data(w.F_pop(w.x_round[T]) - w.objective(w.x_round[T]))


def bound_11(w):
    e = 1 / (1 + w.mu_lr * w.L)
    return 4 * (w.G_lip**2 / w.L) ** e / (C * S) * (w.H_loss * P * T) ** (w.mu_lr * w.L * e)


def bound_appendix(w):
    e = 1 / (1 + w.mu_lr * w.L)
    return 2 / (C * S) * (2 * w.G_lip**2 / w.L) ** e * (w.H_loss * P * T) ** (w.mu_lr * w.L * e)


def stability(w):
    return w.worst_mean_gap(w.x_round[T], w.twin_x_round[T])


def norm(v):
    return sqrt(sq(v))


def lemma_4(w, a, at):
    signed, distance = w.worst_mean_signed_gap(w.x_round[T], w.twin_x_round[T]), norm(w.x_round[T] - w.twin_x_round[T])
    if "generalisation" in a:
        return gen(w), signed
    distance = E_unused(w.tau0 + ("rounds-upto" in a), distance) if "cond-zeta" in a else E(distance)
    return signed, w.G_lip * distance + w.H_loss * P * w.tau0 / (C * S)


def lemma_5(w, a, at):
    if "quadratic" in a:
        steps = sum((1 - w.eta * (w.rho_prox + w.curvature)) ** k for k in R(K))
        return abs(w.eta * (w.curvature * w.x_1 + w.lam_1) * steps), w.eta * K * w.L * abs(w.x_1) + w.eta * K * abs(w.lam_1)
    return on_updates(w, a, at, 1 - w.differing[at.k], 0)


def lemma_6(w, a, at):
    return on_updates(w, a, at, w.differing[at.k], 2 * w.eta_l[at.r * K] * K * w.G_lip / S)


def on_updates(w, a, at, mask, extra):
    t, i, step = at.r, at.k, w.eta_l[at.r * K]
    when = t * K + (at.j if "every-step" in a else K)
    update = (w.x_before[when][i] - w.x_round[t]) - (w.twin_x_before[when][i] - w.twin_x_round[t])
    end = T if "theta-T" in a else t
    right = step * K * w.L * E(norm(w.x_round[end] - w.twin_x_round[end])) + step * K * E(
        norm(w.server_duals[t][i] - w.twin_server_duals[t][i])) + extra
    return mask * E(norm(update)), mask * right


def Delta(w, t):
    return E(norm(w.x_round[t] - w.twin_x_round[t]))


def sigma(w, t):
    return mean(lambda i: E(norm(w.server_duals[t][i] - w.twin_server_duals[t][i])))


def delta_next(w, t, inactive):
    return mean(lambda i: E(norm(trained(w, t, i, inactive) - twin(w, t, i, inactive))))


def change(w, t, i, inactive):
    return norm((trained(w, t, i, inactive) - w.x_round[t]) - (twin(w, t, i, inactive) - w.twin_x_round[t]))


def pi_next(w, t, inactive):
    return mean(lambda i: E(change(w, t, i, inactive)))


def rec_delta_global(w, a, at):
    t, inactive = at.r, "virtual" not in a
    far = sum(norm(trained(w, t, i, inactive) - twin(w, t, i, inactive)) for i in R(C) if w.sampled[t][i])
    dual = E(norm(lam_bar(w, t + 1) - mean(lambda i: w.twin_server_duals[t + 1][i]))) / w.rho_prox
    ends = Delta(w, t + 1), E(far) / P + dual, delta_next(w, t, inactive) + sigma(w, t + 1) / w.rho_prox
    return ends[:2] if "first" in a else ends[1:] if "second" in a else ends[::2]


def rec_sigma(w, a, at):
    if "vectors" in a:
        after = sum(norm(w.lam_gaps[i] + w.rho_prox * w.update_gap[j]) for i in R(C) for j in R(C)) / C**2
        moved = mean(lambda i: norm(w.update_gap[i])) / (1 if "virtual" in a else C)
        return after, mean(lambda i: norm(w.lam_gaps[i])) + w.rho_prox * moved
    pi = pi_next(w, at.r - ("text" in a), "virtual" not in a)
    return sigma(w, at.r + 1), sigma(w, at.r) + w.rho_prox * pi


def rec_pi(w, a, at):
    t, inactive, step = at.r, "virtual" not in a, w.eta_l[at.r * K]
    if "middle" in a:
        return pi_next(w, t, True), E(sum(change(w, t, i, True) for i in R(C) if w.sampled[t][i])) / C
    if "definition" in a:
        return (pi_next(w, t, True),) * 2
    return pi_next(w, t, inactive), step * K * (w.L * Delta(w, t) + sigma(w, t)) + 2 * step * K * w.G_lip / (C * S)


# local steps ---------------------------------------------------------------------------------------------------------
def lemma_4_split(w, a, at):
    left = w.p * abs(w.loss_1 - w.twin_loss_1) + (1 - w.p) * abs(w.loss_2 - w.twin_loss_2)
    return left, w.G_lip * w.distance + w.H_loss * (1 - w.p)


def lemma_4_hitting(w, a, at):
    in_round, H, t0 = P / C * (1 - (1 - 1 / S) ** K), w.H_loss, w.tau0
    right = H * P * t0 / (C * S)
    if "last" in a:
        each = in_round if "K-draws" in a else P / C / S
        return H * each * (t0 + ("rounds-below" not in a)), right
    hit = H * (1 - (1 - in_round) ** (t0 + bool(a)))
    return (H * in_round * (t0 + 1), hit) if "union" in a else (hit, right)


def after(w, g):
    return norm((1 - w.eta * w.rho_prox) * w.w_gap - w.eta * g - w.eta * w.lam_gap)


def triangle(w):
    return (1 - w.eta * w.rho_prox) * norm(w.w_gap) + w.eta * w.L * norm(w.w_gap + w.x_gap) + w.eta * norm(w.lam_gap)


def contraction(w, a, at):
    right = (1 - w.eta * (w.rho_prox - w.L)) * norm(w.w_gap) + w.eta * w.L * norm(w.x_gap) + w.eta * norm(w.lam_gap)
    return (triangle(w) if "last" in a else after(w, w.g_gap)), right


def different(w, a, at):
    right = (1 - w.eta * w.rho_prox) * norm(w.w_gap) + 2 * w.eta * w.G_lip + w.eta * norm(w.lam_gap)
    return after(w, w.g_one - w.g_two), right


def mixture(w, a, at):
    D = w.eta * w.L * w.D_theta + w.eta * w.D_lambda
    same = (1 - w.eta * (w.rho_prox - w.L)) * w.a_now + D
    other = (1 - w.eta * w.rho_prox) * w.a_now + 2 * w.eta * w.G_lip + w.eta * w.D_lambda
    return (1 - 1 / S) * same + other / S, same + 2 * w.eta * w.G_lip / S


def q_(w):
    return 1 - w.eta * (w.rho_prox - w.L)


def unroll(extra, n, w):
    return sum(w.eta * q_(w) ** (n - 1 - k) for k in R(n)) * (w.L * w.D_theta + w.D_lambda + extra)


def unroll_5(w, a, at):
    n = w.length - 1
    if "start" in a:
        return q_(w) ** n * w.a[0] + unroll(0, n, w), unroll(0, n, w)
    return q_(w) ** n * w.a[0] + unroll(0, n, w), w.a[n]


def on_runs(w, at, mask, end, extra):
    """A client's update after round t against the closed form, with the models of round ``end``."""
    t, i = at.r, at.k
    update = (w.x_before[(t + 1) * K][i] - w.x_round[t]) - (w.twin_x_before[(t + 1) * K][i] - w.twin_x_round[t])
    form = (1 - (1 - w.eta_l[t * K] * (w.rho_prox - w.L)) ** K) / (w.rho_prox - w.L)
    duals = E(norm(w.server_duals[t][i] - w.twin_server_duals[t][i]))
    return mask * E(norm(update)), mask * form * (w.L * E(norm(w.x_round[end] - w.twin_x_round[end])) + duals + extra)


def unroll_6(w, a, at):
    if "run" in a:
        return on_runs(w, at, w.differing[at.k], at.r, 2 * w.G_lip / S)
    if "closed" in a:
        form = (1 - q_(w) ** K) / (w.rho_prox - w.L)
        return unroll(2 * w.G_lip / S, K, w), form * (w.L * w.D_theta + w.D_lambda + 2 * w.G_lip / S)
    return unroll(2 * w.G_lip / S, w.length - 1, w), w.a[w.length - 1]


def geometric(w, a, at):
    if "run" in a:
        return on_runs(w, at, 1 - w.differing[at.k], T if {"printed", "theta-T"} & a else at.r, 0)
    n = w.length - 1 if "bound" in a else K
    closed = (1 - q_(w) ** n) / (w.rho_prox - w.L)
    distance = w.D_theta if {"theta-t", "bound"} & a else w.D_last
    return (w.a[n] if "bound" in a else unroll(0, n, w)), closed * (w.L * distance + w.D_lambda)


def bernoulli(w, a, at):
    if "bernoulli-itself" in a:
        x = w.x_plus_1 - 1
        return (1 + x) ** K, 1 + K * x
    return (1 - q_(w) ** K) / (w.rho_prox - w.L), w.eta * K


# multipliers ---------------------------------------------------------------------------------------------------------
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
    inner = w.Delta + fraction(w) * (1 if "printed" in a else w.sigma_dual)
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


# unrolling -----------------------------------------------------------------------------------------------------------
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
    return (w.G_lip * w.Delta + hit, w.G_lip * last_bound(w) + hit) if a else (stability(w), w.G_lip * Delta(w, T) + hit)


def tau0_choice(w, a, at):
    def bound(start):
        return 2 * w.G_lip**2 / (w.L * C * S) * (T / start) ** w.p_lr + w.H_loss * P * start / (C * S)

    other = bound(w.tau_other) if "minimiser" in a else 2 / (C * S) * w.root_1 * w.root_2**w.p_lr
    return bound(w.tau_real), other


# text and tables -----------------------------------------------------------------------------------------------------
def partial_fedpd(w, a, at):
    if not a:
        return 0, sq(w.at_point - w.sent_mean) / (2 * w.rho_prox)
    sent = [trained(w, at.r, i) + w.client_dual[at.r + 1][i] / w.rho_prox for i in R(C) if w.sampled[at.r][i]]
    return sq(w.x_round[at.r + 1] - sum(sent) / P), 0


def mean_dual(w, a, at):
    return sq(lam_bar(w, at.r + 1) - lam_bar(w, at.r) - w.rho_prox * (bar(w, at.r + 1) - w.x_round[at.r])), 0


def unbiased(w, a, at):
    active = sum(trained(w, at.r, i) for i in R(C) if w.sampled[at.r][i]) / P
    return sq(E_t(trained(w, at.r, at.k) - active, at.r)), 0


def eq_9(w, a, at):
    if "second" in a:
        return stability(w), bound_appendix(w)
    gap = w.F_pop(w.x_round[T]) - w.objective(w.x_round[T])
    return E_data(gap) if "signed" in a else E_data(abs(gap)), stability(w)


def local(w, at):
    t = at.r * K + at.j
    return w.x_local[t][at.k], w.x_before[t + 1][at.k], w.x_round[at.r], w.g[t][at.k], w.eta_l[at.r * K]


def eq_10(w, a, at):
    now, later, sent, g, step = local(w, at)
    lam = w.server_duals[at.r][at.k]
    if "fedavg" in a:
        return sq(later - sent - (now - sent) - step * g), 0
    return sq(later - sent - (1 - step * w.rho_prox) * (now - sent) - (-1 if "appendix" in a else 1) * step * (g + lam)), 0


def eq_13(w, a, at):
    now, later, sent, g, step = local(w, at)
    lam = w.server_duals[at.r][at.k]
    if "full-gradient" in a:
        return step**2 * sq(w.grad(at.k, now) - g), 0
    return sq(later - now + step * (g + lam + w.rho_prox * (now - sent))), 0


def remark_1_2(w, a, at):
    if "samples" in a:
        return grads(w, 1, T), w.C / sqrt(K * T)
    return E(sq(error(w, at.r, at.k))), w.C / K


def family(w, a, at):
    p = w.mu_lr * w.L / (1 + w.mu_lr * w.L)
    return gen(w), w.C * ((C if "fedpd" in a else P) * T) ** p / (C * S)


def table_7(row):
    def sides(w, a, at):
        average = sum(w.sampled[0][i] * w.x_before[K][i] for i in R(C)) / P
        D = w.objective(w.x_round[0]) - w.F_star if "start" in a else E(w.objective(
            w.x_round[1] if "sent" in a else bar(w, 1) if row == "afedpd" else average)) - w.F_star
        models = sum(E(sq(w.objective_grad(w.x_round[t]))) for t in R(1, T + 1)) / T
        if row == "afedpd":
            return grads(w, 1, T), w.C * (D / T + R_0(w) / T + w.eps_inexact)
        if row == "fedpd":
            return models, w.C * (D / T + w.eps_inexact)
        if row == "feddyn":
            return models, w.C * (C * D / (P * T) + R_0(w) / T)
        errors = sum(
            E(sq(w.grad(i, trained(w, t, i)) + w.client_dual[t][i] + w.rho_prox * (trained(w, t, i) - w.x_round[t])))
            for t in R(T) for i in R(C))
        return models, w.C * (C * D / ((1 if "text" in a else P) * T) + errors / (C * T))

    return sides


def table_9(row):
    def sides(w, a, at):
        p = w.mu_lr * w.L / (1 + w.mu_lr * w.L)
        rate = {"sgd": (K * T) ** p / (C * S), "mohri": T * K / sqrt(C * S), "hu": T * K / sqrt(C * S),
                "wu": sqrt(T) / (C * sqrt(C * S)), "fedavg": (P * K * T) ** p / (C * S), "afedpd": (P * T) ** p / (C * S)}
        return gen(w), w.C * rate[row]

    return sides


def simple(left, right):
    return lambda w, a, at: (left(w, at), right(w, at))


ROWS = {
    "theorem-1": theorem_1, "theorem-1-explicit": theorem_1_explicit, "lemma-1": lemma_1, "lemma-2": lemma_2,
    "lemma-3": lemma_3, "theorem-2": simple(lambda w, at: gen(w), lambda w, at: bound_11(w)),
    "theorem-2-explicit": simple(lambda w, at: stability(w), lambda w, at: bound_appendix(w)), "lemma-4": lemma_4,
    "lemma-5": lemma_5, "lemma-6": lemma_6, "remark-1.1": simple(lambda w, at: grads(w, 1, T), lambda w, at: w.C / T),
    "remark-1.2": remark_1_2, "remark-2.1-rate": family,
    "remark-2.1-local": simple(lambda w, at: E(change(w, at.r, at.k, False)), lambda w, at: w.C),
    **{f"table-7-{row}": table_7(row) for row in ["fedpd", "fedadmm", "feddyn", "afedpd"]},
    **{f"table-9-{row}": table_9(row) for row in ["sgd", "mohri", "hu", "wu", "fedavg", "afedpd"]},
    "text-c-over-p": simple(lambda w, at: C * w.D / (P * T), lambda w, at: C / P * w.D / T),
    "text-partial-fedpd": partial_fedpd, "text-mean-dual": mean_dual, "text-unbiased": unbiased, "eq-9": eq_9,
    "eq-10": eq_10, "eq-13": eq_13, "lemma-1-step-1": simple(lambda w, at: move(w, at.r), lambda w, at: active_sq(w, at.r)),
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
    "rho-order": simple(lambda w, at: 4 * w.L**3 * w.rho_prox + 36 * w.L**2 + 4 * w.L**4, lambda w, at: w.rho_prox**2),
    "q-choice": q_choice, "one-step-theorem-1": of_a_round(one_step), "telescoped": telescoped,
    "telescoped-relaxed": telescoped_relaxed, "lemma-4-split": lemma_4_split, "lemma-4-hitting": lemma_4_hitting,
    "lemma-5-triangle": simple(lambda w, at: after(w, w.g_gap), lambda w, at: triangle(w)),
    "lemma-5-contraction": contraction, "lemma-5-unroll": unroll_5, "lemma-5-geometric": geometric, "bernoulli": bernoulli,
    "lemma-6-different": different, "lemma-6-mixture": mixture, "lemma-6-unroll": unroll_6,
    "rec-delta-global": rec_delta_global, "rec-sigma": rec_sigma,
    "rec-delta-local": lambda w, a, at: (
        delta_next(w, at.r, "virtual" not in a), pi_next(w, at.r, "virtual" not in a) + Delta(w, at.r)),
    "rec-pi": rec_pi, "rec-weighted": rec_weighted, "multipliers": multipliers, "rec-factored": rec_factored,
    "alpha-condition": alpha_condition, "x-plus": x_plus_rows, "x-plus-bound": x_plus_bound,
    "alpha-rho-bound": alpha_rho_bound, "rec-one-step": rec_one_step, "unrolled-constant": unrolled_constant,
    "unrolled-product": unrolled_product, "product-exp": product_exp, "sum-power": sum_power,
    "unrolled-decayed": unrolled_decayed, "gap-before-tau0": gap_before_tau0, "tau0-choice": tau0_choice,
    "theorem-2-constants": lambda w, a, at: (
        (2 * 2 ** (1 / (1 + w.mu_lr * w.L)), 4) if a else (bound_appendix(w), bound_11(w))),
}


def values(w, definitions) -> Values:
    """Values in a world; definitions are put in."""
    return Values(lambda name, places: entry(getattr(w, name), places), {
        words.norm2: sq, words.norm: norm, words.dot: lambda u, v: float(u @ v), words.E: E, words.E_round: E_t,
        words.grad: lambda k, v: w.grad(int(k), v), words.objective: w.objective, words.objective_grad: w.objective_grad,
        on_samples.E_data: E_data, on_samples.E_unused: E_unused, on_samples.F_pop: w.F_pop,
        on_samples.worst_mean_gap: w.worst_mean_gap, on_samples.worst_mean_signed_gap: w.worst_mean_signed_gap,
    }, definitions=definitions, number=float)


def sides(claim, w, at):
    """Both sides from the paper."""
    return ROWS[name_of(claim)](w, reading_of(claim), SimpleNamespace(**at))
