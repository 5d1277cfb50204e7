"""The proof steps of the FedSWA and FedMoSWA paper in plain Python, and its quantities; see ``bounds_fedmoswa_rows``."""

from __future__ import annotations

import math
from fractions import Fraction as Q

from bounds_fedmoswa_rows import G_map, R, chance, exp, expands, ms, qq, seq, xy
from fedmoswa_world import SIZES, Vec, dot, norm, power, sq, total

ZERO = Vec((Q(0), Q(0)))


# any points ----------------------------------------------------------------------------------------------------------
def gdiff(p):
    return p.dFi(p.k, p.x) - p.dFi(p.k, p.y)


def two(p):
    return norm(G_map(p, p.x, p.k) - G_map(p, p.y, p.j))


def at_twin(p):
    return norm(p.dFi(p.k, p.y) - p.dFi(p.j, p.y))


def steered(p, v, k):
    return v - p.eta * (p.dFi(k, v) - p.ci + p.mm)


def sam(p, v, k):
    g = p.dFi(k, v)
    return v - p.eta * p.dFi(k, v + p.rho_sam * (g * (1 / norm(g))))


def pp(p):
    return 1 + p.eta * p.beta


def replaced_by(factor):
    return lambda p: factor(p) * xy(p) + p.eta * at_twin(p)


POINTS = {
    "eq-11": (
        lambda p: dot(gdiff(p), p.x - p.y), lambda p: p.bmu * sq(p.x - p.y) + sq(gdiff(p)) / (p.beta + p.mu)),
    "eq-12": (
        lambda p: sq(G_map(p, p.x, p.k) - G_map(p, p.y, p.k)),
        lambda p: (1 - 2 * p.eta * p.bmu) * sq(p.x - p.y) - p.eta * (2 / (p.beta + p.mu) - p.eta) * sq(gdiff(p))),
    "eq-18": (two, lambda p: qq(p) * xy(p) + p.eta * norm(p.dFi(p.k, p.x) - p.dFi(p.j, p.y))),
    "eq-18@as-27": (two, replaced_by(qq)),
    "eq-26 eq-106@plain-step": (expands, lambda p: pp(p) * xy(p)),
    "eq-27 eq-107@plain-step": (two, replaced_by(pp)),
    "eq-38@shared": (lambda p: norm(steered(p, p.x, p.k) - steered(p, p.y, p.k)), lambda p: qq(p) * xy(p)),
    "eq-39@shared": (lambda p: norm(steered(p, p.x, p.k) - steered(p, p.y, p.j)), replaced_by(qq)),
    "eq-49@shared": (lambda p: norm(steered(p, p.x, p.k) - steered(p, p.y, p.k)), lambda p: pp(p) * xy(p)),
    "eq-50@shared": (lambda p: norm(steered(p, p.x, p.k) - steered(p, p.y, p.j)), replaced_by(pp)),
    "eq-106": (lambda p: norm(sam(p, p.x, p.k) - sam(p, p.y, p.k)), lambda p: pp(p) * xy(p)),
    "eq-107": (lambda p: norm(sam(p, p.x, p.k) - sam(p, p.y, p.j)), replaced_by(pp)),
    "smooth-gap": (
        lambda p: p.mean(lambda k: sq(p.dFi(k, p.x) - p.dFi(k, p.star))), lambda p: 2 * p.beta * (p.f(p.x) - p.Fstar)),
    "eq-71": (
        lambda p: sq(p.x - p.eta * p.dFi(p.k, p.x) + p.eta * p.dFi(p.k, p.y) - p.y), lambda p: sq(p.x - p.y)),
    "eq-72": (
        lambda p: p.mean(lambda k: sq(p.mm - seq(p, "variates", k) + p.dFi(k, p.x))),
        lambda p: 3 * sq(p.mm) + 3 * p.mean(lambda k: sq(seq(p, "variates", k) - p.dFi(k, p.star)))
        + 6 * p.beta * (p.f(p.x) - p.Fstar)),
    "perturbed-strong-convexity": (
        lambda p: dot(p.dFi(p.k, p.x), p.z - p.y),
        lambda p: p.Fi(p.k, p.z) - p.Fi(p.k, p.y) + p.mu / 4 * sq(p.y - p.z) - p.beta * sq(p.z - p.x)),
    "eq-96": (
        lambda p: p.f(p.x + p.u), lambda p: p.f(p.x) + dot(p.dF(p.x), p.u) + p.beta / 2 * sq(p.u)),
}


# numbers -------------------------------------------------------------------------------------------------------------
def et(p, i):
    return seq(p, "rates", i)


def length(p):
    return sum(et(p, i) for i in R(p.K))


def before(p, ratio):
    return sum(et(p, i) * ratio ** (p.j - 1 - i) for i in R(p.j))


def prod(factors):
    return math.prod(factors)


def tail_sum(p, factor):
    return sum(et(p, i) * prod(factor(p, j) for j in R(i + 1, p.K)) for i in R(p.K))


def q_of(p, i):
    return 1 - et(p, i) * p.bmu


def p_of(p, i):
    return 1 + p.beta * et(p, i)


def le(p, i):
    return seq(p, "lengths", i)


def growth(p, rate, factor, weight=lambda i: 1):
    def term(i):
        return exp(rate * sum(le(p, j) for j in R(i + 1, p.T))) * le(p, i) * exp(factor * le(p, i)) * weight(i)

    return sum(map(term, R(p.T)))


def end_of_growth(name):
    def scale(p):
        return 2 * getattr(p, name) / (p.m * p.n)

    def Phi(p):
        return lambda i: seq(p, "Phi", i)

    first = (lambda p: scale(p) * growth(p, p.beta, p.beta, Phi(p)),
             lambda p: scale(p) / p.beta * p.e_nc * p.w.value("largest_Phi"))
    second = (lambda p: scale(p) / p.beta * p.e_nc * (p.top + p.sg + p.sigma),
              lambda p: scale(p) / p.beta * p.e_nc * (p.L + p.sg + p.sigma))
    return first, second


def left_76(p):
    return (p.K - 1) * ((1 + Q(1, p.K - 1)) ** p.K - 1)


def num(name):
    return lambda p: p.w.value(name)


def middle_77(p, first, second):
    f, n = p.w.value("gap"), p.w.value
    return (54 * p.beta**2 * p.ee**2 * f + 27 * p.beta * p.ee**2 * n(first) + 27 * p.beta * p.ee**2 * n(second)
            + 63 * p.beta * p.ee**2 * p.s2 / p.K) / p.alpha**2


def last_77(p):
    n = p.w.value
    return (n("gap") / 25 + p.ee * n("lag") / 3 + p.ee * n("server_gap") / 3 + p.ee * p.s2 / p.K) / p.alpha**2


def change(p, k):
    return p.w.value("change", k)


def moved(p):
    return chance(p, lambda k: sq(p.x - change(p, k)))


def mean_sq(p):
    return chance(p, lambda k: sq(change(p, k)))


def mean_change(p):
    return chance(p, lambda k: change(p, k))


def young(name, share):
    return {
        name: (lambda p: (1 - share(p)) * (1 + p.b), lambda p: 1 - share(p) / 2),
        f"{name}@inverse": (lambda p: 1 / p.b, lambda p: 2 / share(p)),
        f"{name}@step-size": (lambda p: 16 * p.beta**2 * p.ee**2, lambda p: power(share(p), 2 * p.a) / 36),
        f"{name}@power": (lambda p: power(share(p), 2 * p.a) / 36, lambda p: share(p) / 36),
    }


def two_thirds(p):
    return power(ms(p), Q(2, 3))


(eq_32, eq_32_second), (eq_112, eq_112_second) = end_of_growth("ctilde"), end_of_growth("cbar")
VALUES = {
    "eq-13": (lambda p: math.sqrt(1 - 2 * p.eta * p.bmu), qq),
    "eq-15-collect eq-15-collect@b-F1": (lambda p: before(p, 1 - p.b), lambda p: p.bK * length(p)),
    "eq-35": (
        lambda p: sum(et(p, i) * p.Ls * (1 - p.b) ** (p.K - 1 - i) for i in R(p.K)), lambda p: length(p) * p.bK * p.Ls),
    "eq-24": (lambda p: before(p, 1 + p.c), lambda p: p.cK * length(p)),
    "eq-104": (lambda p: before(p, 1 + p.c), lambda p: p.cK * p.K * p.eta),
    "eq-20-exp": (lambda p: prod(q_of(p, i) for i in R(p.K)), lambda p: exp(-length(p) * p.bmu)),
    "eq-20-exp@sum": (lambda p: tail_sum(p, q_of), lambda p: length(p) * exp(-length(p) * p.bmu)),
    "eq-29": (lambda p: prod(p_of(p, i) for i in R(p.K)), lambda p: exp(p.beta * length(p))),
    "eq-29@sum": (lambda p: tail_sum(p, p_of), lambda p: length(p) * exp(p.beta * length(p))),
    "eq-22-sum": (lambda p: growth(p, p.beta, -p.bmu), lambda p: p.e_sc / p.beta),
    "eq-22-sum@as-43": (lambda p: growth(p, -p.bmu, -p.bmu), lambda p: p.e_sc / p.beta),
    "eq-32": eq_32, "eq-32@second-inequality": eq_32_second, "eq-112": eq_112, "eq-112@second-inequality": eq_112_second,
    "eq-76": (left_76, lambda p: 3 * p.K),
    "eq-76@first": (left_76, lambda p: p.K * (exp(p.K / (p.K - 1)) - 1)),
    "eq-76@second": (lambda p: p.K * (exp(p.K / (p.K - 1)) - 1), lambda p: p.K * (exp(4 / 3) - 1)),
    "eq-76@third": (lambda p: p.K * (exp(4 / 3) - 1), lambda p: 3 * p.K),
    "g13-step-size": (lambda p: 44 * p.beta * p.ee**2, lambda p: Q(24, 25) * p.ee),
    "g13-step-size@lag": (lambda p: 9 * p.mu * p.ee * p.m / (2 * p.s), lambda p: Q(1, 3)),
    "eq-77@second": (lambda p: middle_77(p, "lag", "server_gap"), last_77),
    "eq-77@second-printed": (lambda p: middle_77(p, "lag", "lag"), last_77),
    "eq-88": (moved, lambda p: (1 + p.lam) * sq(p.x) + mean_sq(p) + sq(mean_change(p)) / p.lam),
    "eq-88@first-line": (moved, lambda p: sq(p.x) + mean_sq(p) + dot(mean_change(p), p.x)),
    **young("eq-89-b", lambda p: p.gamma), **young("eq-93-b", lambda p: 1 / ms(p)),
    "eq-95-geometric": (
        lambda p: sum((1 + Q(1, p.K - 1) + 4 * p.beta**2 * p.ee**2 / (p.K * p.alpha**2)) ** i for i in R(p.j)),
        lambda p: 3 * p.K),
    "eq-102@step-size": (lambda p: p.beta * p.ee * two_thirds(p), lambda p: Q(1, 24)),
    "eq-102@gradient": (
        lambda p: p.ee / 2 - 2 * p.beta * p.ee**2 - p.beta * p.ee**2 / 4 * two_thirds(p), lambda p: p.ee / 14),
    "eq-102@drift": (
        lambda p: p.ee / 2 - 5 * p.ee / 3 + 2 * p.beta * p.ee**2 + Q(97, 4) * p.beta * p.ee**2 * two_thirds(p),
        lambda p: 0),
}


# FedSWA and FedSAM ---------------------------------------------------------------------------------------------------
def rate_sum(p, ratio, rate):
    return total(rate(i) * p.ownF * ratio ** (p.j - 1 - i) for i in R(p.j))


def swa(p):
    return lambda i: p.rate(p.r, i)


def in_round(p, factor, printed=False):
    return sum(
        p.rate(p.r, i) * math.prod(factor(i if printed else j) for j in R(i + 1, p.K)) for i in R(p.K))


def whole(p, factor):
    return math.prod(factor(j) for j in R(p.K))


def over_rounds(p, exponent, inside):
    return sum(exp(exponent * sum(p.len(j) for j in R(i + 1, p.T))) * inside(i) for i in R(p.T))


def swa_inside(p, factor):
    return lambda i: p.len(i) * exp(factor * p.len(i)) * p.Phig(i)


def eq_22(exponent):
    return lambda p: 2 * p.bt(0) / (p.m * p.n) * over_rounds(p, exponent(p), swa_inside(p, -p.bmu))


def sam_P(p):
    return exp(p.beta * p.K * p.eta)


def SAM_E(p):
    return 1 + p.beta * p.eta


SWA = {
    "eq-14": (lambda p: p.dev(p.j + 1), lambda p: p.q(p.j) * p.dev0(p.j) + p.rate(p.r, p.j) * p.ownF),
    "eq-15-unroll": (lambda p: p.dev(p.j), lambda p: rate_sum(p, 1 - p.b, swa(p))),
    "eq-16 eq-25 eq-105": (lambda p: p.gn(p.j), lambda p: p.Phi(p.r) + p.beta * p.dev0(p.j)),
    "eq-19": (lambda p: p.dl_end(p.j + 1), lambda p: p.q(p.j) * p.dl(p.j) + 2 * p.rate(p.r, p.j) / p.n * p.gn(p.j)),
    "eq-20-unroll": (
        lambda p: p.dl_end(p.K),
        lambda p: whole(p, p.q) * p.Dl + 2 * p.bt(p.r) / p.n * p.Phi(p.r) * in_round(p, p.q)),
    "eq-20-unroll@printed-index": (
        lambda p: p.dl_end(p.K),
        lambda p: whole(p, p.q) * p.Dl + 2 * p.bt(p.r) / p.n * p.Phi(p.r) * in_round(p, p.q, True)),
    "eq-21": (
        lambda p: p.Delta(p.r + 1),
        lambda p: p.Qt(p.r) * p.Delta(p.r) + 2 * p.bt(p.r) / (p.m * p.n) * p.len(p.r) * p.Qt(p.r) * p.Phig(p.r)),
    "eq-22-unroll": (lambda p: p.gap_T, eq_22(lambda p: p.beta)),
    "eq-22-unroll@as-43": (lambda p: p.gap_T, eq_22(lambda p: -p.bmu)),
    "eq-23": (lambda p: p.dev(p.j + 1), lambda p: p.pk(p.j) * p.dev0(p.j) + p.rate(p.r, p.j) * p.ownF),
    "eq-24@unrolled": (lambda p: p.dev(p.j), lambda p: rate_sum(p, 1 + p.c, swa(p))),
    "eq-28": (lambda p: p.dl_end(p.j + 1), lambda p: p.pk(p.j) * p.dl(p.j) + 2 * p.rate(p.r, p.j) / p.n * p.gn(p.j)),
    "eq-28@second-line": (
        lambda p: p.dl_end(p.j + 1), lambda p: p.pk(p.j) * p.dl(p.j) + p.rate(p.r, p.j) / p.n * p.gn(p.j)),
    "eq-28@last-line": (
        lambda p: p.dl_end(p.j + 1),
        lambda p: p.pk(p.j) * p.dl(p.j) + 2 * p.rate(p.r, p.j) * p.ct(p.r) / p.n * p.Phi(p.r)),
    "eq-29@gap": (
        lambda p: p.dl_end(p.K),
        lambda p: p.Pt(p.r) * p.Dl + 2 * p.ct(p.r) / p.n * p.len(p.r) * p.Pt(p.r) * p.Phi(p.r)),
    "eq-30": (
        lambda p: p.Delta(p.r + 1),
        lambda p: p.Pt(p.r) * p.Delta(p.r) + 2 * p.ct(p.r) / (p.m * p.n) * p.len(p.r) * p.Pt(p.r) * p.Phig(p.r)),
    "eq-30@printed": (
        lambda p: p.Delta(p.r + 1),
        lambda p: p.Pt(p.r) * p.Delta(p.r) + 2 * p.ct(p.r) / (p.m * p.n) * p.len(p.r) * p.Pt(p.r) * p.Phi(p.r)),
    "eq-31": (
        lambda p: p.gap_T,
        lambda p: 2 * p.ct(0) / (p.m * p.n) * over_rounds(p, p.beta, swa_inside(p, p.beta))),
    "stability-to-gen": (lambda p: p.w.value("generalisation_error"), lambda p: p.L * p.gap_T),
    "eq-103": (lambda p: p.dev(p.j + 1), lambda p: SAM_E(p) * p.dev0(p.j) + p.eta * p.ownF),
    "eq-104@unrolled": (lambda p: p.dev(p.j), lambda p: rate_sum(p, 1 + p.c, lambda i: p.eta)),
    "eq-108": (lambda p: p.dl_end(p.j + 1), lambda p: SAM_E(p) * p.dl(p.j) + 2 * p.eta / p.n * p.gn(p.j)),
    "eq-108@second-line": (lambda p: p.dl_end(p.j + 1), lambda p: SAM_E(p) * p.dl(p.j) + p.eta / p.n * p.gn(p.j)),
    "eq-108@last-line": (
        lambda p: p.dl_end(p.j + 1), lambda p: SAM_E(p) * p.dl(p.j) + 2 * p.eta * p.c / p.n * p.Phi(p.r)),
    "eq-109": (
        lambda p: p.dl_end(p.K),
        lambda p: sam_P(p) * p.Dl + 2 * p.c / p.n * p.K * p.eta * sam_P(p) * p.Phi(p.r)),
    "eq-110": (
        lambda p: p.Delta(p.r + 1),
        lambda p: sam_P(p) * p.Delta(p.r) + 2 * p.c / (p.m * p.n) * p.K * p.eta * sam_P(p) * p.Phig(p.r)),
    "eq-111": (
        lambda p: p.gap_T,
        lambda p: 2 * p.cbar / (p.m * p.n) * sum(
            exp(p.beta * sum(p.K * p.eta for _ in R(i + 1, p.T))) * p.K * p.eta * sam_P(p) * p.Phig(i) for i in R(p.T))),
}


# FedMoSWA, Appendix F ------------------------------------------------------------------------------------------------
def literal(p):
    return lambda step: step


def eq_33(p, last):
    return p.q(p.j) * p.dev0(p.j) + p.rate(p.r, p.j) * last


def middle_36(p, ratio, at=None):
    inner = p.mom(p.sigma, at)
    return p.Phi(p.r) + sum(p.rate(p.r, step) * ratio ** (p.K - 1 - step) * inner for step in R(p.K))


def own_gap(p, number, replaced):
    t = p.r * p.K + p.j
    where = p.w.value("replaced", t, p.k)
    where = where if replaced else 1 - where
    gap = norm(p.w.value("x_local", t, p.k) - p.w.value("twin_x_local", t, p.k))
    right = (p.q if number < 45 else p.pk)(p.j) * gap
    if replaced:
        sample = p.w.value("used_sample", t, p.k)
        original = p.w.loss_grad(p.k, sample, p.w.value("twin_x_local", t, p.k))
        right += p.rate(p.r, p.j) * norm(original - p.w.value("twin_g", t, p.k))
    left = norm(p.w.value("x_before", t + 1, p.k) - p.w.value("twin_x_before", t + 1, p.k))
    return where * left, where * right


def own_pair(number, replaced):
    return (lambda p: own_gap(p, number, replaced)[0], lambda p: own_gap(p, number, replaced)[1])


def step_rate(p, i):
    return p.w.value("swa_step_rate", p.r, i)


def F2(p, r):
    return (1 + p.beta * p.len(r) * p.bK) * p.Ls


def F5(p, r):
    return (1 + p.beta * p.len(r) * p.cK) * p.Ls


def last_sum(p, exponent, inside):
    return 2 / (p.m * p.n) * over_rounds(
        p, exponent, lambda i: p.len(i) * exp(exponent * p.len(i)) * (inside(p, i) + p.sg))


def with_m(p, factor, heterogeneity):
    return p.G(p.r) + heterogeneity + p.sigma + factor * p.len(p.r) * p.m_t


MOSWA = {
    "eq-33": (lambda p: p.dev(p.j + 1), lambda p: eq_33(p, p.m_t)),
    "eq-33@sum": (lambda p: p.dev(p.j + 1), lambda p: eq_33(p, p.mom(p.sigma))),
    "eq-33@sum+theta-l": (lambda p: p.dev(p.j + 1), lambda p: eq_33(p, p.mom(p.sigma, literal(p)))),
    "eq-34 eq-34@bounded-start": (
        lambda p: p.m_t,
        lambda p: (1 - p.gamma) * p.E(norm(p.mv(p.r))) + p.gamma * p.G(p.r) + p.gamma * p.sigma),
    "eq-34@second": (
        lambda p: (1 - p.gamma) * p.E(norm(p.mv(p.r))) + p.gamma * p.G(p.r) + p.gamma * p.sigma,
        lambda p: p.mom(p.gamma * p.sigma)),
    "eq-34@second+theta-l": (
        lambda p: (1 - p.gamma) * p.E(norm(p.mv(p.r))) + p.gamma * p.G(p.r) + p.gamma * p.sigma,
        lambda p: p.mom(p.gamma * p.sigma, literal(p))),
    "eq-34@third": (lambda p: p.mom(p.gamma * p.sigma), lambda p: p.Ls),
    "eq-34@whole eq-34@whole+bounded-start": (lambda p: p.m_t, lambda p: p.Ls),
    "eq-35@first-line": (lambda p: p.dev(p.K), lambda p: p.bK * p.len(p.r) * p.m_t),
    "eq-36": (lambda p: p.gn(p.t), lambda p: middle_36(p, 1 - p.b)),
    "eq-36@theta-l": (lambda p: p.gn(p.t), lambda p: middle_36(p, 1 - p.b, literal(p))),
    "eq-36@last": (
        lambda p: middle_36(p, 1 - p.b),
        lambda p: (1 + p.beta * p.len(p.r) * (1 + p.b) ** (p.K - 1)) * p.Ls + p.sgi),
    "eq-36@48": (lambda p: p.gn(p.t), lambda p: middle_36(p, 1 + p.c)),
    "eq-36@48+theta-l": (lambda p: p.gn(p.t), lambda p: middle_36(p, 1 + p.c, literal(p))),
    "eq-36@48+last": (lambda p: middle_36(p, 1 + p.c), lambda p: F5(p, p.r) + p.sgi),
    "eq-37": (lambda p: p.gn(0), lambda p: p.sgi + p.G(p.r) + p.sigma),
    "eq-38": own_pair(38, False), "eq-39": own_pair(39, True), "eq-49": own_pair(49, False), "eq-50": own_pair(50, True),
    "eq-40": (
        lambda p: p.dl_end(p.j + 1),
        lambda p: p.q(p.j) * p.dl(p.j) + 2 * p.rate(p.r, p.j) / p.n * F2(p, p.r) + 2 * p.rate(p.r, p.j) / p.n * p.sg),
    "eq-41": (
        lambda p: p.dl_end(p.K),
        lambda p: p.Qt(p.r) * (p.Dl + 2 / Q(p.n) * p.len(p.r) * with_m(p, p.bK, p.sgi))),
    "eq-42": (
        lambda p: p.Delta(p.r + 1),
        lambda p: p.Qt(p.r) * p.Delta(p.r) + 2 * p.len(p.r) / (p.m * p.n) * p.Qt(p.r) * with_m(p, p.bK, p.sg)),
    "eq-42@printed": (
        lambda p: p.Delta(p.r + 1),
        lambda p: p.Qt(p.r) * p.Delta(p.r) + 2 * p.len(p.r) / (p.m * p.n) * p.Qt(p.r) * with_m(p, p.bK, p.sgi)),
    "eq-43": (lambda p: p.gap_T, lambda p: last_sum(p, -p.bmu, F2)),
    "eq-45": (lambda p: p.dev(p.j + 1), lambda p: p.pk(p.j) * p.dev0(p.j) + p.rate(p.r, p.j) * p.Ls),
    "eq-45@third-line": (
        lambda p: p.dev(p.j + 1),
        lambda p: p.Ls * sum(
            math.prod(1 + p.beta * step_rate(p, j) for j in R(i, p.K + 1)) * step_rate(p, i) for i in R(p.K + 1))),
    "eq-45@third-line-literal": (
        lambda p: p.dev(p.j + 1),
        lambda p: p.Ls * sum(
            math.prod((1 + p.beta * step_rate(p, j)) * step_rate(p, j) for j in R(i, p.K + 1)) for i in R(p.K + 1))),
    "eq-45@whole": (lambda p: p.dev(p.j + 1), lambda p: p.len(p.r) * (1 + p.c) ** (p.j - 1) * p.Ls),
    "eq-47": (lambda p: p.dev(p.K), lambda p: p.cK * p.len(p.r) * p.m_t),
    "eq-51": (
        lambda p: p.dl_end(p.j + 1),
        lambda p: p.pk(p.j) * p.dl(p.j) + 2 * p.rate(p.r, p.j) / p.n * (F5(p, p.r) + p.sgi)),
    "eq-51@last-line": (lambda p: p.dl_end(p.j + 1), lambda p: p.pk(p.j) * p.dl(p.j) + F5(p, p.r) + p.sgi),
    "eq-52": (
        lambda p: p.dl_end(p.K),
        lambda p: p.Pt(p.r) * (p.Dl + 2 / Q(p.n) * p.len(p.r) * with_m(p, p.cK, p.sgi))),
    "eq-53": (
        lambda p: p.Delta(p.r + 1),
        lambda p: p.Pt(p.r) * p.Delta(p.r) + 2 * p.len(p.r) / (p.m * p.n) * p.Pt(p.r) * with_m(p, p.cK, p.sg)),
    "eq-54": (lambda p: p.gap_T, lambda p: last_sum(p, p.beta, F5)),
}


# Appendix G ----------------------------------------------------------------------------------------------------------
def gi(p):
    return lambda i, k: p.g(p.r, i, k)


def Fik(p):
    return lambda i, k: p.dFi(k, p.loc(p.r, i, k))


def X(p):
    return p.over_drawn(gi(p))


def noise_of_X(p):
    return p.E(sq(X(p) - p.over_drawn(Fik(p))))


def variance(p, v):
    return p.E(sq(v - p.E(v)))


def to_start(p):
    return p.over_all(lambda i, k: p.E(sq(Fik(p)(i, k) - p.dFi(k, p.th(p.r)))))


def to_star(p):
    return total(p.E(sq(Fik(p)(i, k) - p.dFi(k, p.star))) for i in R(p.K) for k in R(p.m))


def eq_65(p, clients, server):
    return (4 * p.ee**2 * to_start(p) + 4 * p.ee**2 * clients + 4 * p.ee**2 * server + 8 * p.beta * p.ee**2 * p.f1
            + 12 * p.ee**2 * p.v)


def recursion(p, noise):
    e2 = p.el**2
    return ((1 + Q(1, p.K - 1)) * p.sq_steps(p.j - 1, p.loc) + noise * e2 * p.s2 + 6 * e2 * p.K * p.beta * p.f1
            + 3 * p.K * e2 * p.Cl + 3 * p.K * e2 * p.D)


def eq_75(p, last):
    return 18 * p.K**2 * p.beta * p.el**2 * p.f1 + 9 * p.K**2 * p.el**2 * (p.Cl + p.D) + last


def middle(p, second):
    return (54 * p.beta**2 * p.ee**2 * p.f1 + 27 * p.beta * p.ee**2 * p.Cl + 27 * p.beta * p.ee**2 * second
            + 63 * p.beta * p.ee**2 * p.s2 / p.K) / p.alpha**2


def step(p):
    return p.th(p.r + 1) - p.th(p.r)


def T4(p):
    return 2 * p.ee * p.E(p.over_drawn(lambda i, k: dot(Fik(p)(i, k), p.star - p.th(p.r))))


def g9(p):
    return (8 * p.beta * p.ee**2 * p.f1 + 4 * p.ee**2 * p.Cl + 4 * p.ee**2 * p.D + 4 * p.ee**2 * p.beta**2 * p.dr
            + 12 * p.ee**2 * p.s2 / (p.K * p.s))


def scaled(p, lag, share):
    w = 9 * p.ee**2
    return ((1 - p.mu * p.ee / 2) * w / share * lag + w * (p.mu * p.ee / (2 * share) - 1) * lag
            + w * (4 * p.beta * p.f1 + 2 * p.beta**2 * p.dr))


def eq_85(p):
    rest = (9 * p.mu * p.ee * p.m / (2 * p.s) - Q(1, 3)) * p.Cl + (9 * p.mu * p.ee / (2 * p.gamma) - Q(1, 3)) * p.D
    return ((1 - p.mu * p.ee / 2) * (p.dist(p.r) + 9 * p.ee**2 * p.m * p.Cl / p.s)
            + (44 * p.beta * p.ee**2 - Q(49, 25) * p.ee) * p.f1 + 12 * p.ee**2 * p.v * (1 + p.s / p.alpha**2)
            + (22 * p.beta**2 * p.ee**2 - p.beta * p.ee) * p.dr + p.ee**2 * rest)


CONVEX = {
    "g9-variances g14-variances": (noise_of_X, lambda p: p.s2 / (p.K * p.s)),
    "g9-variances@given-round": (lambda p: p.E(sq(X(p) - p.w.E_round(X(p), p.r))), lambda p: p.s2 / (p.K * p.s)),
    "g9-variances@variates": (
        lambda p: p.E(p.drawn(p.r, p.k) * sq(
            p.cv(p.r + 1, p.k) - total(Fik(p)(i, p.k) for i in R(p.K)) * Q(1, p.K))),
        lambda p: p.s2 / p.K),
    "g9-variances@variates-total": (lambda p: variance(p, p.cv(p.r + 1, p.k)), lambda p: p.s2 / p.K),
    "eq-65": (lambda p: p.mv2, lambda p: eq_65(p, p.Cl, p.D)),
    "eq-65@total": (
        lambda p: p.mv2,
        lambda p: eq_65(p, p.mean(lambda k: sq(p.dFi(k, p.star) - p.E(p.cv(p.r, k)))), sq(p.E(p.mv(p.r))))),
    "eq-66": (lambda p: p.Cn, lambda p: (1 - Q(p.s, p.m)) * p.Cl + Q(p.s, p.m**2 * p.K) * to_star(p)),
    "eq-68": (
        lambda p: sq(p.mv(p.r + 1) - (1 - p.gamma) * p.mv(p.r) - p.gamma * p.mean(lambda k: p.cv(p.r + 1, k))),
        lambda p: 0),
    "eq-68@printed": (
        lambda p: sq(p.mv(p.r + 1) - (1 - p.beta) * p.mv(p.r) - p.beta * p.mean(lambda k: p.cv(p.r + 1, k))),
        lambda p: 0),
    "eq-69": (
        lambda p: p.Dn,
        lambda p: (1 - p.gamma) * p.D + p.gamma * p.E(sq(p.over_all(gi(p)) - p.mean(lambda k: p.dFi(k, p.star))))),
    "eq-73": (lambda p: p.sq_steps(p.j, p.end), lambda p: recursion(p, 1)),
    "eq-74": (lambda p: p.sq_steps(p.j, p.end), lambda p: recursion(p, 7)),
    "eq-75": (lambda p: p.sq_steps(p.j, p.end), lambda p: eq_75(p, 21 * p.K * p.beta * p.el**2 * p.s2)),
    "eq-75@unrolled": (lambda p: p.sq_steps(p.j, p.end), lambda p: eq_75(p, 21 * p.K * p.el**2 * p.s2)),
    "eq-77": (lambda p: 3 * p.beta * p.dr, lambda p: middle(p, p.D)),
    "eq-77@printed": (lambda p: 3 * p.beta * p.dr, lambda p: middle(p, p.Cl)),
    "g12-k1": (lambda p: p.dr, lambda p: 0),
    "mean-update": (
        lambda p: sq(p.w.E_round(step(p), p.r) + p.ee * p.over_all(lambda i, k: p.w.E_round(p.g(p.r, i, k), p.r))),
        lambda p: 0),
    "mean-update@change": (
        lambda p: sq(step(p) + p.ee * p.over_drawn(lambda i, k: p.g(p.r, i, k) + p.mv(p.r) - p.cv(p.r, k))), lambda p: 0),
    "eq-80": (lambda p: p.dist(p.r + 1), lambda p: p.dist(p.r) + T4(p) + g9(p)),
    "eq-81": (T4, lambda p: -2 * p.ee * (p.f1 + p.mu / 4 * p.dist(p.r)) + 2 * p.beta * p.ee * p.dr),
    "eq-82": (
        lambda p: p.dist(p.r + 1),
        lambda p: (1 - p.mu * p.ee / 2) * p.dist(p.r) + (8 * p.beta * p.ee**2 - 2 * p.ee) * p.f1 + 12 * p.ee**2 * p.v
        + (2 * p.beta * p.ee + 4 * p.beta**2 * p.ee**2) * p.dr + 4 * p.ee**2 * p.Cl + 4 * p.ee**2 * p.D),
    "eq-83": (lambda p: 9 * p.ee**2 / p.gamma * p.Dn, lambda p: scaled(p, p.D, p.gamma)),
    "eq-83@lemma-g.10": (lambda p: 9 * p.ee**2 * ms(p) * p.Cn, lambda p: scaled(p, p.Cl, Q(p.s, p.m))),
    "eq-85": (
        lambda p: p.dist(p.r + 1) + 9 * p.ee**2 * p.m * p.Cn / p.s + 9 * p.ee**2 / p.gamma * p.Dn, eq_85),
}


def lag_points(p):
    """Gradients at the points of the server's variate, the expectation over the random lag taken."""
    rounds = total(
        p.gamma * (1 - p.gamma) ** (p.r - q) * p.E(p.dFi(k, p.loc(q, i, k)))
        for q in R(p.r + 1) for i in R(p.K) for k in R(p.m))
    return rounds * Q(1, p.K * p.m) + (1 - p.gamma) ** (p.r + 1) * p.mean(lambda k: p.E(p.dFi(k, p.th(0))))


def E_m(p):
    return p.E(p.mv(p.r + 1))


def squared(p, server, client):
    return p.ee**2 * p.E(sq(p.over_drawn(lambda i, k: Fik(p)(i, k) + server - client(k)))) + 9 * p.ee**2 * p.v


def first_89(p, share, lag):
    conditional = p.E(sq(p.w.E_round(step(p), p.r)))
    return (1 - share) * (1 + p.lam) * lag + 2 * share * p.dr + 2 * p.mv2 + conditional / p.lam


def second_89(p, share, lag, drift_share=None):
    e2b2 = p.ee**2 * p.beta**2
    drift_share = 2 * share if drift_share is None else drift_share
    return (((1 - share) * (1 + p.lam) + 16 * e2b2) * lag + (drift_share + 8 * e2b2 + 2 * e2b2 / p.lam) * p.dr
            + (8 + 2 / p.lam) * p.ee**2 * p.N + 18 * p.ee**2 * p.v)


def eq_99(p, share, lag, exponent):
    return (12 * p.beta**3 * p.ee**2 / share * lag - Q(17, 3) * p.beta**3 * p.ee**2 * lag
            + p.beta * p.ee**2 / 4 * power(1 / share, exponent) * p.N
            + Q(97, 4) * p.beta**3 * p.ee**2 * power(1 / share, 2 - 2 * p.a) * p.dr + 3 * p.beta * p.ee**2 * p.v / 8)


def eq_100_first(p):
    g = power(p.gamma, 2 * p.a - 1)
    inner = ((1 - 17 * p.gamma / 36) * p.Gl + g / (48 * p.beta**2) * p.N + Q(97, 48) * g * p.Gl
             + p.gamma / p.beta**2 * p.s2 / (32 * p.K * p.s))
    return 12 * p.beta**3 * p.ee**2 / p.gamma * inner


def share(p):
    return Q(p.s, p.m)


def eq_102(p):
    spread, e2 = power(ms(p), 2 - 2 * p.a), p.ee**2
    return (p.E(p.f(p.th(p.r))) + 12 * p.beta**3 * e2 * ms(p) * p.Xi + (Q(5, 6) - Q(17, 3)) * p.beta**3 * e2 * p.Xi
            + (Q(5, 6) - Q(17, 3)) * p.beta**3 * e2 * p.Gl
            - (p.ee / 2 - 2 * p.beta * e2 - p.beta * e2 * spread / 4) * p.N
            + (p.ee / 2 - 5 * p.ee / 3 + 2 * p.beta * e2 + Q(97, 4) * p.beta * e2 * spread) * p.beta**2 * p.dr
            + 39 * p.beta * e2 * p.s2 / (8 * p.K * p.s) * (1 + p.s / p.alpha**2))


NONCONVEX = {
    "mean-of-m": (
        lambda p: sq(E_m(p) - (1 - p.gamma) * p.E(p.mv(p.r)) - p.gamma * p.E(p.mean(lambda k: p.cv(p.r + 1, k)))),
        lambda p: 0),
    "mean-of-m@lag-points": (lambda p: sq(E_m(p) - lag_points(p)), lambda p: 0),
    "mean-of-m@mean": (lambda p: sq(p.mv(p.r + 1) - p.mean(lambda k: p.cv(p.r + 1, k))), lambda p: 0),
    "g14-variances@total": (lambda p: variance(p, X(p)), lambda p: p.s2 / (p.K * p.s)),
    "g14-variances@variates": (
        lambda p: variance(p, total(p.drawn(p.r, k) * p.cv(p.r, k) for k in R(p.m)) * Q(1, p.m)),
        lambda p: p.s2 / (p.K * p.s)),
    "g14-variances@server": (lambda p: variance(p, p.mv(p.r)), lambda p: p.s2 / (p.K * p.s)),
    "eq-86": (lambda p: p.mv2, lambda p: squared(p, p.mv(p.r), lambda k: p.cv(p.r, k))),
    "eq-86@total": (lambda p: p.mv2, lambda p: squared(p, p.E(p.mv(p.r)), lambda k: p.E(p.cv(p.r, k)))),
    "eq-91": (
        lambda p: p.over_all(lambda i, k: p.E(sq(p.loc(p.r, i, k) - p.th(p.r + 1)))), lambda p: 2 * (p.dr + p.mv2)),
    "eq-89": (lambda p: p.Gn, lambda p: first_89(p, p.gamma, p.Gl)),
    "eq-89@second": (lambda p: first_89(p, p.gamma, p.Gl), lambda p: second_89(p, p.gamma, p.Gl)),
    "eq-89@second-printed-lag": (lambda p: first_89(p, p.gamma, p.Gl), lambda p: second_89(p, p.gamma, p.Xi)),
    "eq-89@second-printed-factor": (
        lambda p: first_89(p, p.gamma, p.Gl), lambda p: second_89(p, p.gamma, p.Gl, 2 * p.gamma * p.m)),
    "eq-89@whole": (lambda p: p.Gn, lambda p: second_89(p, p.gamma, p.Gl)),
    "eq-93": (lambda p: p.Xn, lambda p: first_89(p, share(p), p.Xi)),
    "eq-93@second": (lambda p: first_89(p, share(p), p.Xi), lambda p: second_89(p, share(p), p.Xi)),
    "eq-93@whole": (lambda p: p.Xn, lambda p: second_89(p, share(p), p.Xi)),
    "eq-94": (
        lambda p: p.E(sq(p.end(p.r, p.j, p.k) - p.th(p.r))),
        lambda p: (1 + Q(1, p.K - 1) + 4 * p.K * p.beta**2 * p.el**2) * p.E(sq(p.loc(p.r, p.j - 1, p.k) - p.th(p.r)))
        + p.el**2 * p.s2 + 4 * p.K * p.el**2 * (
            p.N + p.E(sq(p.mv(p.r) - p.dF(p.th(p.r)))) + p.E(sq(p.cv(p.r, p.k) - p.dFi(p.k, p.th(p.r)))))),
    "eq-95": (
        lambda p: p.sq_steps(p.j, p.end),
        lambda p: 3 * p.K * (p.ee * p.s2 / (24 * p.beta * p.K**2 * p.alpha**2)
                             + p.N / (144 * p.beta**2 * p.K * p.alpha**2)
                             + p.ee * p.beta / (6 * p.K * p.alpha**2) * (p.Xi + p.Gl))),
    "eq-98": (
        lambda p: p.E(p.f(p.th(p.r + 1))) - p.E(p.f(p.th(p.r))),
        lambda p: -(p.ee / 2 - 2 * p.beta * p.ee**2) * p.N + (p.ee / 2 + 2 * p.beta * p.ee**2) * p.beta**2 * p.dr
        + 2 * p.beta**3 * p.ee**2 * p.Gl + 2 * p.beta**3 * p.ee**2 * p.Xi + 9 * p.beta * p.ee**2 * p.s2 / (2 * p.K * p.s)),
    "eq-99": (
        lambda p: 12 * p.beta**3 * p.ee**2 * ms(p) * p.Xn, lambda p: eq_99(p, share(p), p.Xi, 2 - 2 * p.a)),
    "eq-100": (
        lambda p: 12 * p.beta**3 * p.ee**2 / p.gamma * p.Gn, lambda p: eq_99(p, p.gamma, p.Gl, 2 - 2 * p.a)),
    "eq-100@printed-exponent": (
        lambda p: 12 * p.beta**3 * p.ee**2 / p.gamma * p.Gn, lambda p: eq_99(p, p.gamma, p.Gl, 2 - 2 * p.alpha)),
    "eq-100@printed-lag": (lambda p: 12 * p.beta**3 * p.ee**2 / p.gamma * p.Gn, eq_100_first),
    "eq-101@printed": (
        lambda p: Q(5, 3) * p.beta**2 * p.ee * p.dr,
        lambda p: Q(5, 6) * p.beta**3 * p.ee**2 * (p.Xi + p.Gl) + p.ee / (24 * p.a**2) * p.N
        + p.ee**2 * p.beta / (4 * p.K * p.alpha**2) * p.s2),
    "eq-102": (
        lambda p: p.E(p.f(p.th(p.r + 1))) + 12 * p.beta**3 * p.ee**2 * ms(p) * p.Xn
        + 12 * p.beta**3 * p.ee**2 / p.gamma * p.Gn, eq_102),
}


# quantities ----------------------------------------------------------------------------------------------------------
def every(w, steps, inside):
    m, K = SIZES["clients"], SIZES["local_steps"]
    return total(w.E(inside(i, k)) for i in steps for k in R(m)) * Q(1, m * K)


def clients(w, inside):
    return total(inside(k) for k in R(SIZES["clients"])) * Q(1, SIZES["clients"])


def at(w, name, r, step, k):
    return w.value(name, r * SIZES["local_steps"] + step, k)


def lag(w, inner):
    return clients(w, lambda k: inner(k, w.grad(k, w.value("x_star"))))


def last_points(w, r):
    """Where the points of a client's variate are: the local models of its last round before r, or the start."""
    m, K = SIZES["clients"], SIZES["local_steps"]
    found = []
    for k in R(m):
        drawn = [w.value("sampled", q, k) for q in R(r)]
        for q in R(r):
            mask = drawn[q] * math.prod(1 - d for d in drawn[q + 1:])
            found += [w.E(mask * sq(at(w, "x_local", q, j, k) - w.value("x_round", r))) / K for j in R(K)]
        found.append(w.E(math.prod(1 - d for d in drawn) * sq(w.value("x_round", 0) - w.value("x_round", r))))
    return total(found) / m


def moving(w, r):
    gamma, K = w.value("gamma"), SIZES["local_steps"]
    past = total(
        gamma * (1 - gamma) ** (r - 1 - q) * every(
            w, R(K), lambda i, k, q=q: sq(at(w, "x_local", q, i, k) - w.value("x_round", r))) for q in R(r))
    return past + (1 - gamma) ** r * w.E(sq(w.value("x_round", 0) - w.value("x_round", r)))


def fall(w, step):
    return 1 - (1 - w.value("rho_decay")) * Q(step, SIZES["local_steps"])


#: name -> formula from the paper, a function of (world, its indices)
MEANINGS = {
    "swa_rate": lambda w, t: w.value("eta_l", t) * fall(w, t % SIZES["local_steps"]),
    "swa_step_rate": lambda w, r, j: w.value("eta_l", r * SIZES["local_steps"]) * fall(w, j),
    "swa_length": lambda w, r: sum(
        w.value("eta_l", r * SIZES["local_steps"] + i) * fall(w, i) for i in R(SIZES["local_steps"])),
    "generalisation_error": lambda w: w.E_data(
        w.F_pop(w.value("x_round", SIZES["rounds"])) - w.objective(w.value("x_round", SIZES["rounds"]))),
    "start_distance_sq": lambda w: sq(w.value("x_round", 0) - w.value("x_star")) + lag(
        w, lambda k, at_star: w.E(sq(w.value("client_variate", 0, k) - at_star))) / (2 * w.value("L") ** 2),
    "drift_E1": lambda w, r: every(w, R(1, SIZES["local_steps"] + 1), lambda i, k: sq(
        at(w, "x_before", r, i, k) - w.value("x_round", r))),
    "drift_E0": lambda w, r: every(w, R(SIZES["local_steps"]), lambda i, k: sq(
        at(w, "x_local", r, i, k) - w.value("x_round", r))),
    "variate_lag": lambda w, r: lag(w, lambda k, star: w.E(sq(w.value("client_variate", r, k) - star))),
    "variate_lag_total": lambda w, r: lag(w, lambda k, star: sq(w.E(w.value("client_variate", r, k)) - star)),
    "variate_lag_noise": lambda w, r: lag(
        w, lambda k, star: w.E(sq(w.E_noise(w.value("client_variate", r, k)) - star))),
    "variate_lag_after": lambda w, r: lag(
        w, lambda k, star: w.E(sq(w.E_round(w.value("client_variate", r + 1, k), r) - star))),
    "server_lag": lambda w, r: w.E(sq(w.value("server_variate", r))),
    "point_lag": last_points,
    "moving_lag": moving,
}
