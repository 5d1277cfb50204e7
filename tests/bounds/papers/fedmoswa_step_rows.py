"""The proof steps of Appendices D, E, F and I, and those about numbers, in plain Python; see ``fedmoswa_theorem_rows``."""

import math
from fractions import Fraction as Q

from tests.bounds.claim_values import dot, power, sq, total
from tests.bounds.papers.fedmoswa_theorem_rows import G_map, R, chance, exp, expands, ms, qq, seq, xy
from tests.bounds.papers.fedmoswa_world import norm


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
    "eq-13@first": (expands, lambda p: math.sqrt(1 - 2 * p.eta * p.bmu) * xy(p)),
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


(eq_32, eq_32_second), (eq_112, _) = end_of_growth("ctilde"), end_of_growth("cbar")
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
    "eq-32": eq_32, "eq-32@second-inequality": eq_32_second, "eq-112": eq_112,
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


# Algorithm 1 ---------------------------------------------------------------------------------------------------------
def rate_3(p, step):
    """(3): eta_l (1 - k/K) + k/K rho eta_l."""
    return p.eta * (1 - Q(step, p.K)) + Q(step, p.K) * p.rho * p.eta


def local_step(p, direction):
    """theta_{i,k+1} - theta_{i,k} + eta_k (direction), squared."""
    return sq(p.end(p.r, p.j + 1, p.k) - p.loc(p.r, p.j, p.k) + direction * rate_3(p, p.j))


def kept(p):
    """c_i^+ by Option II where client i takes part, else c_i."""
    old, drawn = p.cv(p.r, p.k), p.drawn(p.r, p.k)
    new = old - p.mv(p.r) + (p.th(p.r) - p.end(p.r, p.K, p.k)) * (1 / p.len(p.r))
    return new * drawn + old * (1 - drawn)


def of_drawn(p, inside):
    return total(inside(k) * p.drawn(p.r, k) for k in R(p.m)) * Q(1, p.s)


def zero(p):
    return 0


ALGORITHM_1 = {
    "eq-3": (lambda p: p.w.value("swa_step_rate", p.r, p.j), lambda p: rate_3(p, p.j)),
    "eq-3@first": (lambda p: p.w.value("swa_step_rate", p.r, 0), lambda p: p.eta),
    "eq-3@last": (lambda p: p.w.value("swa_step_rate", p.r, p.K), lambda p: p.rho * p.eta),
    "eq-4": (lambda p: local_step(p, p.g(p.r, p.j, p.k)), zero),
    "eq-5": (lambda p: local_step(p, p.g(p.r, p.j, p.k) - p.cv(p.r, p.k) + p.mv(p.r)), zero),
    "eq-6": (lambda p: sq(p.cv(p.r + 1, p.k) - kept(p)), zero),
    "eq-6@option-I": (lambda p: sq(p.w.E_round(p.cv(p.r + 1, p.k), p.r) - p.dFi(p.k, p.th(p.r))), zero),
    "eq-7": (lambda p: sq(
        p.mv(p.r + 1) - p.mv(p.r) - p.gamma * of_drawn(p, lambda k: p.cv(p.r + 1, k) - p.mv(p.r))), zero),
    "algorithm-1-server": (lambda p: sq(
        p.th(p.r + 1) - p.th(p.r) - p.alpha * (of_drawn(p, lambda k: p.end(p.r, p.K, k)) - p.th(p.r))), zero),
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
    "eq-20-unroll@whole": (
        lambda p: p.dl_end(p.K),
        lambda p: p.Qt(p.r) * p.Dl + 2 * p.bt(p.r) / p.n * p.len(p.r) * p.Qt(p.r) * p.Phi(p.r)),
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
    "eq-29@products": (
        lambda p: p.dl_end(p.K),
        lambda p: whole(p, p.pk) * p.Dl + 2 * p.ct(p.r) / p.n * p.Phi(p.r) * in_round(p, p.pk)),
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
    "eq-109@products": (
        lambda p: p.dl_end(p.K),
        lambda p: SAM_E(p) ** p.K * p.Dl + 2 * p.c / p.n * p.Phi(p.r) * sum(
            p.eta * SAM_E(p) ** len(R(i + 1, p.K)) for i in R(p.K))),
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


def sum_35(p, inner):
    return sum(p.rate(p.r, step) * (1 - p.b) ** (p.K - 1 - step) * inner for step in R(p.K))


def m_norm(p, i):
    return p.E(norm(p.mv(i + 1)))


def m_summed(p, i):
    return sum((1 - p.gamma) ** q * (p.gamma * p.G(i - q) + p.gamma * p.sigma) for q in R(i + 1))


def with_m_sum(p, exponent, factor, steered):
    return 2 / (p.m * p.n) * over_rounds(p, exponent, lambda i: p.len(i) * exp(exponent * p.len(i)) * (
        p.Phig(i) + factor * p.len(i) * steered(p, i)))


MOSWA = {
    "eq-33": (lambda p: p.dev(p.j + 1), lambda p: eq_33(p, p.m_t)),
    "eq-33@sum": (lambda p: p.dev(p.j + 1), lambda p: eq_33(p, p.mom(p.sigma))),
    "eq-33@last": (
        lambda p: p.dev(p.j + 1),
        lambda p: eq_33(p, sum((1 - p.gamma) ** q * (p.gamma * p.L + p.sigma) for q in R(p.r + 1)))),
    "eq-35@first-line+second-line": (lambda p: p.bK * p.len(p.r) * p.m_t, lambda p: sum_35(p, p.mom(p.gamma * p.sigma))),
    "eq-35@first-line+third-line": (lambda p: sum_35(p, p.mom(p.gamma * p.sigma)), lambda p: sum_35(p, p.Ls)),
    "eq-42@first eq-53@first eq-110@first": (lambda p: p.Delta(p.r + 1), lambda p: p.mean(lambda k: p.E2(norm(
        p.end(p.r, p.K, k) - p.w.value("twin_x_before", (p.r + 1) * p.K, k))))),
    "eq-43@first": (lambda p: p.gap_T, lambda p: with_m_sum(p, -p.bmu, p.bK, m_norm)),
    "eq-54@first": (lambda p: p.gap_T, lambda p: with_m_sum(p, p.beta, p.cK, m_norm)),
    "eq-54@second": (
        lambda p: with_m_sum(p, p.beta, p.cK, m_norm), lambda p: with_m_sum(p, p.beta, p.cK, m_summed)),
    "eq-54@fourth": (lambda p: with_m_sum(p, p.beta, p.cK, m_summed), lambda p: last_sum(p, p.beta, F5)),
    "eq-45@first-line": (
        lambda p: p.dev(p.j + 1),
        lambda p: p.pk(p.j) * p.dev0(p.j) + p.rate(p.r, p.j) * p.mom(p.gamma * p.sigma)),
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
