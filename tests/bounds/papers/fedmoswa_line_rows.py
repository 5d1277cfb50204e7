"""Lines inside the proofs of FedMoSWA's lemmas, in plain Python; see ``fedmoswa_theorem_rows``."""

import math

from tests.bounds.chance import Max, Min
from tests.bounds.claim_values import power, sq, total
from tests.bounds.papers.fedmoswa_round_rows import (
    CONVEX,
    NONCONVEX,
    T4,
    eq_85,
    eq_85_left,
    eq_99,
    first_89,
    inner_75,
    scaled,
    second_89,
)
from tests.bounds.papers.fedmoswa_theorem_rows import (
    ALL_T,
    TERMS,
    P,
    Psi_5,
    Psi_6,
    Q,
    chance,
    exp,
    lag_right,
    outcome,
    own_mean_8,
    seq,
    sum_g,
    sum_grad,
    weights_5,
)
from tests.bounds.papers.fedmoswa_world import SIZES, norm

# Lemmas G.5-G.8 ------------------------------------------------------------------------------------------------------
LAST = SIZES["length"] - 2  # R


def at_step(row, step):
    """A function of p with another step."""
    def with_step(p):
        return row(type(p)(p.w.read(fixed=p.w.fixed | {"step": step(p)}), p.at))

    return with_step


def num(name):
    return lambda p: p.w.value(name)


def log_ratio(p):
    return math.log(Max(1, p.mu**2 * LAST * seq(p, "d", 0) / p.w.value("drop")))


def threshold(p):
    return log_ratio(p) / (p.mu * LAST)


def telescoping(p):
    """(1/(eta W)) sum (w_{r-1} d_{r-1} - w_r d_r) + (c eta/W) sum w_r."""
    step = p.w.value("step")
    w = {r: (1 - p.mu * step) ** (1 - r) for r in range(LAST + 2)}
    rounds = range(1, LAST + 2)
    W = sum(w[r] for r in rounds)
    inner = sum(w[r - 1] * seq(p, "d", r - 1) - w[r] * seq(p, "d", r) for r in rounds)
    return inner / (step * W) + p.w.value("drop") * step / W * sum(w[r] for r in rounds)


def geometric(end):
    def right(p):
        step = p.w.value("step")
        return step * (1 - p.mu * step) ** -LAST * (1 - (1 - p.mu * step) ** end) / (p.mu * step)

    return lambda p: p.w.value("step") * sum(weights_5(p)), right


def first_case(p):
    return 3 * p.mu * seq(p, "d", 0) * exp(-p.mu * p.w.value("largest_step") * LAST)


def order_5(p):
    return p.C * p.w.value("drop") / (p.mu * LAST)


def unrolled_6(p):
    step, n = p.w.value("step"), p.w.value
    return seq(p, "d", 0) / (step * (LAST + 1)) + n("first") * step + n("second") * step**2


def two_roots(p):
    d0 = seq(p, "d", 0)
    return Min(math.sqrt(d0 / (p.w.value("first") * (LAST + 1))),
               float(d0 / (p.w.value("second") * (LAST + 1))) ** (1 / 3))


def ends_6(p, factor):
    """factor sqrt(c_1 d_0)/sqrt(R + 1) + factor (d_0/(R + 1))^(2/3) c_2^(1/3)."""
    d0, c1, c2 = seq(p, "d", 0), p.w.value("first"), p.w.value("second")
    return factor * (math.sqrt(c1 * d0) / math.sqrt(LAST + 1) + float(d0 / (LAST + 1)) ** (2 / 3) * float(c2) ** (1 / 3))


def vectors(p):
    return [seq(p, "vectors", i) for i in TERMS]


def deviation(p):
    return p.E(sq(sum_g(p) - sum_grad(p)))


LINES = {
    "lemma-g.5-explicit@telescoping": (Psi_5, telescoping),
    "lemma-g.5-explicit@geometric": geometric(LAST), "lemma-g.5-explicit@geometric-next": geometric(LAST + 1),
    "lemma-g.5-cases": (
        lambda p: first_case(p) + p.w.value("drop") * p.w.value("largest_step"), lambda p: first_case(p) + order_5(p)),
    "lemma-g.5-cases@second": (
        at_step(Psi_5, threshold), lambda p: 3 * p.mu * seq(p, "d", 0) * exp(-log_ratio(p)) + order_5(p)),
    "lemma-g.5-cases@second-last": (at_step(Psi_5, threshold), order_5),
    "lemma-g.6-explicit": (Psi_6, unrolled_6),
    "eq-61": (at_step(Psi_6, num("largest_step")), at_step(unrolled_6, num("largest_step"))),
    "eq-61@second": (
        at_step(unrolled_6, num("largest_step")),
        lambda p: seq(p, "d", 0) / (p.w.value("largest_step") * (LAST + 1)) + ends_6(p, 1)),
    "lemma-g.6-case-2 lemma-g.6-case-2@at-most": (at_step(unrolled_6, two_roots), lambda p: ends_6(p, 2)),
    "lemma-g.7@identity-minus": (
        lambda p: sq(p.x + p.y),
        lambda p: (1 + p.lam) * sq(p.x) + (1 + 1 / p.lam) * sq(p.y)
        - sq(p.x * math.sqrt(p.lam) - p.y * (1 / math.sqrt(p.lam)))),
    "lemma-g.7@jensen": (
        lambda p: sq(total(vectors(p)) / len(TERMS)), lambda p: sum(map(sq, vectors(p))) / len(TERMS)),
    "lemma-g.8-mean@printed-variance": (
        lambda p: chance(p, lambda k: sq(outcome(p, k, p.i))),
        lambda p: sq(chance(p, lambda k: outcome(p, k, p.i) - own_mean_8(p, p.i))) + sq(own_mean_8(p, p.i))),
    "lemma-g.8-martingale@triangle": (
        lambda p: p.E(sq(sum_g(p))), lambda p: 2 * p.E(sq(sum_grad(p))) + 2 * deviation(p)),
    "lemma-g.8-martingale@orthogonal": (
        deviation, lambda p: sum(p.E(sq(p.w.value("g", t, p.k) - p.dFi(p.k, p.w.value("x_local", t, p.k)))) for t in ALL_T)),
    "lemma-g.8-martingale@deviation": (deviation, lambda p: len(ALL_T) * p.s2),
}


# Appendix F ----------------------------------------------------------------------------------------------------------
def line_40(of_step, last):
    """E |theta_{i,k+1} - theta'_{i,k+1}| <= (1 -+ ...) E |theta_{i,k} - theta'_{i,k}| + last."""
    return lambda p: p.dl_end(p.j + 1), lambda p: of_step(p, p.j) * p.dl(p.j) + last(p)


def other_sample(p):
    """(eta_k/n) E |g_i(theta'_{i,k}) - g'_i(theta'_{i,k})|: the sample is the replaced one with probability 1/n."""
    t = p.r * p.K + p.j
    original = p.w.loss_grad(p.k, p.w.value("used_sample", t, p.k), p.w.value("twin_x_local", t, p.k))
    return p.rate(p.r, p.j) * p.own(p.w.value("replaced", t, p.k) * norm(original - p.w.value("twin_g", t, p.k)))


def own_gradient(p):
    return 2 * p.rate(p.r, p.j) / p.n * p.gn(p.j)


def products(of_step, factor, index=lambda i, j: j):
    """The first line of (41), (52)."""
    def right(p):
        later = sum(p.rate(p.r, i) * math.prod(of_step(p, index(i, j)) for j in range(i + 1, p.K)) for i in range(p.K))
        inside = p.Phi(p.r) + factor(p) * p.len(p.r) * p.m_t
        return math.prod(of_step(p, j) for j in range(p.K)) * p.Dl + 2 / Q(p.n) * later * inside

    return lambda p: p.dl_end(p.K), right


LINES |= {
    "eq-34@line-2": (lambda p: p.m_t, lambda p: (
        (1 - p.gamma) * p.E(norm(p.mv(p.r))) + p.gamma * p.E(norm(p.mean(lambda k: p.g(p.r, 0, k)))))),
    "eq-40@first": line_40(P.q, other_sample), "eq-40@second": line_40(P.q, own_gradient),
    "eq-51@first": line_40(P.pk, other_sample), "eq-51@second": line_40(P.pk, own_gradient),
    "eq-51@third-line": line_40(
        P.pk, lambda p: 2 * p.rate(p.r, p.j) / p.n * (p.Phi(p.r) + p.cK * p.len(p.r) * p.m_t)),
    "eq-41@products": products(P.q, lambda p: p.bK), "eq-52@products": products(P.pk, lambda p: p.cK),
    "eq-52@products-printed": products(P.pk, lambda p: p.cK, lambda i, j: i),
}


# Appendix G.2 --------------------------------------------------------------------------------------------------------
def drawn_variates(p):
    return total(p.cv(p.r, k) * p.drawn(p.r, k) for k in range(p.m)) * Q(1, p.m)


def over_sampled(p, inside):
    """(1/m) E sum over the sampled clients."""
    return sum(p.E(p.drawn(p.r, k) * inside(k)) for k in range(p.m)) / p.m


def after_step(p, gradient, sign):
    """E sum_{i in S} |theta_i - eta_l gradient +- eta_l (m - c_i) - theta|^2 / m."""
    return over_sampled(p, lambda k: sq(
        p.loc(p.r, p.j, k) - p.el * gradient(k) + sign * p.el * (p.mv(p.r) - p.cv(p.r, k)) - p.th(p.r)))


def noisy(p):
    return lambda k: p.g(p.r, p.j, k)


def own(p):
    return lambda k: p.dFi(k, p.loc(p.r, p.j, k))


def second_70(p, sign):
    return after_step(p, own(p), sign) + p.el**2 * p.s2


def third_70(p):
    T2 = over_sampled(p, lambda k: sq(
        p.loc(p.r, p.j, k) - p.el * own(p)(k) + p.el * p.dFi(k, p.th(p.r)) - p.th(p.r))) * p.m
    T3 = over_sampled(p, lambda k: sq(p.mv(p.r) - p.cv(p.r, k) + p.dFi(k, p.th(p.r))))
    return (1 + p.lam) / p.s * T2 + (1 + 1 / p.lam) * p.el**2 * T3 + p.el**2 * p.s2


def own_mean(p, inside):
    return total(inside(i) for i in range(p.K)) * Q(1, p.K)


def added_85(p, lag):
    """Right sides of (82), (83), of Lemma G.10 times 9 eta~^2 m/s, and of (84), less the left side of (84)."""
    e2 = p.ee**2
    eq_82 = CONVEX["eq-82"][1](p)
    eq_84 = e2 / 3 * p.Ct + e2 / 3 * p.D + p.ee / (25 * p.alpha**2) * p.f1 + e2 / (p.K * p.alpha**2) * p.s2
    return eq_82 + scaled(p, p.D, p.gamma) + scaled(p, lag, Q(p.s, p.m)) + eq_84 - 3 * p.beta * p.ee * p.dr


LINES |= {
    "g9-variances@drawn-variates": (
        lambda p: p.E(sq(drawn_variates(p) - p.E(drawn_variates(p)))), lambda p: p.s2 / (p.K * p.s)),
    "eq-66@variates": (
        lambda p: sq(p.cv(p.r + 1, p.k) - (1 - p.drawn(p.r, p.k)) * p.cv(p.r, p.k)
                     - p.drawn(p.r, p.k) * own_mean(p, lambda i: p.g(p.r, i, p.k))), lambda p: 0),
    "eq-66@expected-variates": (
        lambda p: sq(p.E(p.cv(p.r + 1, p.k)) - (1 - Q(p.s, p.m)) * p.E(p.cv(p.r, p.k))
                     - Q(p.s, p.m) * own_mean(p, lambda i: p.E(p.dFi(p.k, p.loc(p.r, i, p.k))))), lambda p: 0),
    **{f"eq-70{end}": (lambda p, sign=sign: after_step(p, noisy(p), sign), lambda p, sign=sign: second_70(p, sign))
       for end, sign in (("", 1), ("@as-in-5", -1))},
    **{f"eq-70@second{end}": (lambda p, sign=sign: second_70(p, sign), third_70)
       for end, sign in (("", 1), ("+as-in-5", -1))},
    "eq-75@second": (
        lambda p: p.sq_steps(p.j, p.end), lambda p: inner_75(p) * (p.K - 1) * ((1 + Q(1, p.K - 1)) ** p.K - 1)),
    "eq-80@first": (lambda p: p.dist(p.r + 1), lambda p: p.dist(p.r) + T4(p) + p.mv2),
    "eq-85@lost-term": (lambda p: eq_85_left(p, p.Ctn), lambda p: (
        eq_85(p, p.Ct) + (1 - p.mu * p.ee / 2) * 9 * p.ee**2 / p.gamma * p.D)),
    "eq-85@as-added": (lambda p: eq_85_left(p, p.Ctn), lambda p: added_85(p, p.Ct)),
}


# Appendix G.3 --------------------------------------------------------------------------------------------------------
def without_expectation(p, share, lag):
    """G.15, G.16 with |grad F(theta^{t-1})|^2 outside of expectations."""
    return lag_right(p, share, lag) + power(share, 2 * p.a - 1) / (48 * p.beta**2) * (sq(p.dF(p.th(p.r))) - p.N)


def apart_from_now(p, k, point):
    return sq(p.dFi(k, point) - p.dFi(k, p.th(p.r)))


def at_points(p):
    """(1/(Km)) sum E |grad F_i(alpha_{i,k-1}) - grad F_i(theta)|^2: alpha of the last round with client i, or theta^0."""
    found = []
    for k in range(p.m):
        drawn = [p.drawn(q, k) for q in range(p.r)]
        for q in range(p.r):
            mask = drawn[q] * math.prod(1 - d for d in drawn[q + 1:])
            found += [p.E(mask * apart_from_now(p, k, p.loc(q, i, k))) / p.K for i in range(p.K)]
        found.append(p.E(math.prod(1 - d for d in drawn) * apart_from_now(p, k, p.th(0))))
    return sum(found) / p.m


def at_moving_points(p):
    past = sum(
        p.gamma * (1 - p.gamma) ** (p.r - 1 - q) * p.over_all(
            lambda i, k, q=q: p.E(apart_from_now(p, k, p.loc(q, i, k)))) for q in range(p.r))
    return past + (1 - p.gamma) ** p.r * p.mean(lambda k: p.E(apart_from_now(p, k, p.th(0))))


def fourth_86(p):
    now = p.over_all(lambda i, k: p.E(apart_from_now(p, k, p.loc(p.r, i, k))))
    return 4 * p.ee**2 * (now + at_points(p) + at_moving_points(p)) + 4 * p.ee**2 * p.N + 9 * p.ee**2 * p.v


def added_102(p):
    """Right sides of (98)-(101), less the left side of (101)."""
    e2 = p.ee**2
    eq_101 = (Q(5, 6) * p.beta**3 * e2 * (p.Xi + p.Gl) + p.ee / (24 * p.alpha**2) * p.N
              + e2 * p.beta / (4 * p.K * p.alpha**2) * p.s2)
    return (p.E(p.f(p.th(p.r))) + NONCONVEX["eq-98"][1](p) + eq_99(p, Q(p.s, p.m), p.Xi, 2 - 2 * p.a)
            + eq_99(p, p.gamma, p.Gl, 2 - 2 * p.a) + eq_101 - Q(5, 3) * p.beta**2 * p.ee * p.dr)


LINES |= {
    "lemma-g.15@printed": (lambda p: p.Gn, lambda p: without_expectation(p, p.gamma, p.Gl)),
    "lemma-g.16@printed": (lambda p: p.Xn, lambda p: without_expectation(p, Q(p.s, p.m), p.Xi)),
    "eq-86@fourth": (
        lambda p: p.ee**2 * p.E(p.over_all(lambda i, k: sq(
            p.dFi(k, p.loc(p.r, i, k)) + p.E(p.mv(p.r)) - p.E(p.cv(p.r, k))))) + 9 * p.ee**2 * p.v, fourth_86),
    "eq-86@last": (fourth_86, lambda p: (
        4 * p.ee**2 * p.beta**2 * (p.dr + p.Xi + p.Gl) + 4 * p.ee**2 * p.N + 9 * p.ee**2 * p.v)),
    "eq-89@second-printed": (
        lambda p: first_89(p, p.gamma, p.Gl), lambda p: second_89(p, p.gamma, p.Xi, 2 * p.gamma * p.m)),
    "eq-102@as-added": (NONCONVEX["eq-102"][0], added_102),
    "points-at-the-start": (lambda p: p.w.value("point_lag", 0), lambda p: 0),
}


# Appendix I ----------------------------------------------------------------------------------------------------------
def unrolled_104(p):
    return sum(p.eta * p.ownF * (1 + p.c) ** (p.j - 1 - i) for i in range(p.j))


def second_104(p):
    return sum(p.eta * p.ownF * p.cK for _ in range(p.K))


def other_sample_108(p):
    return p.eta * other_sample(p) / p.rate(p.r, p.j)


LINES |= {
    "eq-104@unrolled+second": (unrolled_104, second_104),
    "eq-104@unrolled+third": (second_104, lambda p: p.cK * p.K * p.eta * p.Phi(p.r)),
    "eq-108@plain-step+first": line_40(lambda p, j: 1 + p.beta * p.eta, other_sample_108),
}
