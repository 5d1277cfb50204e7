"""The proof steps of Appendix G and the paper's quantities in plain Python; see ``fedmoswa_theorem_rows``."""

import math
from fractions import Fraction as Q

from tests.bounds.claim_values import dot, power, sq, total
from tests.bounds.papers.fedmoswa_theorem_rows import R, ms
from tests.bounds.papers.fedmoswa_world import SIZES


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


def own(p, k):
    return p.dFi(k, p.th(p.r))


def drawn_sq(p, inside):
    """E |eta/(Ks) sum over steps and sampled clients|^2."""
    return p.ee**2 * p.E(sq(p.over_drawn(inside)))


def eq_66(p, lag):
    return (1 - Q(p.s, p.m)) * lag + Q(p.s, p.m**2 * p.K) * to_star(p)


def eq_67(p, last):
    """Second and third line: ``last`` is the sum over the clients of the means over the steps."""
    return ((1 - Q(p.s, p.m)) * p.Ct + Q(2 * p.s, p.m**2) * sum(p.E(sq(own(p, k) - p.dFi(k, p.star))) for k in R(p.m))
            + Q(2 * p.s, p.m**2) * last)


def eq_69(p):
    return (1 - p.gamma) * p.D + p.gamma * p.E(sq(p.over_all(gi(p)) - p.mean(lambda k: p.dFi(k, p.star))))


def inner_75(p):
    return (6 * p.K * p.beta * p.el**2 * p.f1 + 3 * p.K * p.el**2 * p.Ct + 3 * p.K * p.el**2 * p.D
            + 7 * p.beta * p.el**2 * p.s2)


def eq_81(p):
    return 2 * p.ee * p.E(p.over_drawn(lambda i, k: (
        p.Fi(k, p.star) - p.Fi(k, p.th(p.r)) + p.beta * sq(p.loc(p.r, i, k) - p.th(p.r))
        - p.mu / 4 * sq(p.th(p.r) - p.star))))


def recursion(p, noise):
    e2 = p.el**2
    return ((1 + Q(1, p.K - 1)) * p.sq_steps(p.j - 1, p.loc) + noise * e2 * p.s2 + 6 * e2 * p.K * p.beta * p.f1
            + 3 * p.K * e2 * p.Cl + 3 * p.K * e2 * p.D)


def eq_75(p, last):
    return 18 * p.K**2 * p.beta * p.el**2 * p.f1 + 9 * p.K**2 * p.el**2 * (p.Ct + p.D) + last


def middle(p, second):
    return (54 * p.beta**2 * p.ee**2 * p.f1 + 27 * p.beta * p.ee**2 * p.Ct + 27 * p.beta * p.ee**2 * second
            + 63 * p.beta * p.ee**2 * p.s2 / p.K) / p.alpha**2


def step(p):
    return p.th(p.r + 1) - p.th(p.r)


def T4(p):
    return 2 * p.ee * p.E(p.over_drawn(lambda i, k: dot(Fik(p)(i, k), p.star - p.th(p.r))))


def g9(p):
    return (8 * p.beta * p.ee**2 * p.f1 + 4 * p.ee**2 * p.Ct + 4 * p.ee**2 * p.D + 4 * p.ee**2 * p.beta**2 * p.dr
            + 12 * p.ee**2 * p.s2 / (p.K * p.s))


def scaled(p, lag, share):
    w = 9 * p.ee**2
    return ((1 - p.mu * p.ee / 2) * w / share * lag + w * (p.mu * p.ee / (2 * share) - 1) * lag
            + w * (4 * p.beta * p.f1 + 2 * p.beta**2 * p.dr))


def eq_85_left(p, lag):
    return p.dist(p.r + 1) + 9 * p.ee**2 * p.m * lag / p.s + 9 * p.ee**2 / p.gamma * p.Dn


def eq_85(p, lag):
    rest = (9 * p.mu * p.ee * p.m / (2 * p.s) - Q(1, 3)) * lag + (9 * p.mu * p.ee / (2 * p.gamma) - Q(1, 3)) * p.D
    return ((1 - p.mu * p.ee / 2) * (p.dist(p.r) + 9 * p.ee**2 * p.m * lag / p.s)
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
    "eq-65": (lambda p: p.mv2, lambda p: eq_65(p, p.Ct, p.D)),
    "eq-65@total": (
        lambda p: p.mv2,
        lambda p: eq_65(p, p.mean(lambda k: sq(p.dFi(k, p.star) - p.E(p.cv(p.r, k)))), sq(p.E(p.mv(p.r))))),
    "eq-65@63": (
        lambda p: p.mv2,
        lambda p: 4 * drawn_sq(p, lambda i, k: p.g(p.r, i, k) - own(p, k)) + 4 * p.ee**2 * p.D
        + 4 * drawn_sq(p, lambda i, k: p.dFi(k, p.star) - p.cv(p.r, k))
        + 4 * drawn_sq(p, lambda i, k: own(p, k) - p.dFi(k, p.star))),
    "eq-65@64": (
        lambda p: 4 * drawn_sq(p, lambda i, k: own(p, k) - p.dFi(k, p.star)), lambda p: 8 * p.beta * p.ee**2 * p.f1),
    "eq-65@64-last": (
        lambda p: 4 * drawn_sq(p, lambda i, k: p.g(p.r, i, k) - own(p, k)) + 4 * p.ee**2 * p.D
        + 4 * drawn_sq(p, lambda i, k: p.dFi(k, p.star) - p.cv(p.r, k)) + 8 * p.beta * p.ee**2 * p.f1,
        lambda p: 4 * drawn_sq(p, lambda i, k: Fik(p)(i, k) - own(p, k)) + 4 * p.ee**2 * sq(p.E(p.mv(p.r)))
        + 4 * drawn_sq(p, lambda i, k: p.dFi(k, p.star) - p.E(p.cv(p.r, k))) + 8 * p.beta * p.ee**2 * p.f1
        + 12 * p.ee**2 * p.v),
    "eq-66": (lambda p: p.Ctn, lambda p: eq_66(p, p.Ct)),
    "eq-66@lag-round": (lambda p: p.Cn, lambda p: eq_66(p, p.Cl)),
    "eq-66@67": (lambda p: eq_66(p, p.Ct), lambda p: eq_67(p, to_start(p) * p.m)),
    "eq-66@67-third": (
        lambda p: eq_67(p, to_start(p) * p.m),
        lambda p: eq_67(p, p.beta**2 * p.m * p.over_all(lambda i, k: p.E(sq(p.loc(p.r, i, k) - p.th(p.r)))))),
    "eq-66@67-last": (
        lambda p: p.Ctn,
        lambda p: (1 - Q(p.s, p.m)) * p.Ct + Q(p.s, p.m) * (4 * p.beta * p.f1 + p.beta**2 * p.dr)),
    "eq-68": (
        lambda p: sq(p.mv(p.r + 1) - (1 - p.gamma) * p.mv(p.r) - p.gamma * p.mean(lambda k: p.cv(p.r + 1, k))),
        lambda p: 0),
    "eq-68@printed": (
        lambda p: sq(p.mv(p.r + 1) - (1 - p.beta) * p.mv(p.r) - p.beta * p.mean(lambda k: p.cv(p.r + 1, k))),
        lambda p: 0),
    "eq-69": (lambda p: p.Dn, lambda p: eq_69(p)),
    "eq-69@second": (eq_69, lambda p: (1 - p.gamma) * p.D + 2 * p.gamma * p.E(sq(p.dF(p.th(p.r)) - p.dF(p.star)))
                     + 2 * p.gamma * to_start(p)),
    "eq-69@last": (
        lambda p: p.Dn, lambda p: (1 - p.gamma) * p.D + p.gamma * (4 * p.beta * p.f1 + p.beta**2 * p.dr)),
    "eq-75@first": (
        lambda p: p.sq_steps(p.j, p.end), lambda p: inner_75(p) * sum((1 + Q(1, p.K - 1)) ** i for i in R(p.j))),
    "eq-75@third": (lambda p: p.sq_steps(p.j, p.end), lambda p: inner_75(p) * 3 * p.K),
    "eq-73": (lambda p: p.sq_steps(p.j, p.end), lambda p: recursion(p, 1)),
    "eq-74": (lambda p: p.sq_steps(p.j, p.end), lambda p: recursion(p, 7)),
    "eq-75": (lambda p: p.sq_steps(p.j, p.end), lambda p: eq_75(p, 21 * p.K * p.beta * p.el**2 * p.s2)),
    "eq-75@unrolled": (lambda p: p.sq_steps(p.j, p.end), lambda p: eq_75(p, 21 * p.K * p.el**2 * p.s2)),
    "eq-77": (lambda p: 3 * p.beta * p.dr, lambda p: middle(p, p.D)),
    "eq-77@printed": (lambda p: 3 * p.beta * p.dr, lambda p: middle(p, p.Ct)),
    "g12-k1": (lambda p: p.dr, lambda p: 0),
    "mean-update": (
        lambda p: sq(p.w.E_round(step(p), p.r) + p.ee * p.over_all(lambda i, k: p.w.E_round(p.g(p.r, i, k), p.r))),
        lambda p: 0),
    "mean-update@change": (
        lambda p: sq(step(p) + p.ee * p.over_drawn(lambda i, k: p.g(p.r, i, k) + p.mv(p.r) - p.cv(p.r, k))), lambda p: 0),
    "eq-80": (lambda p: p.dist(p.r + 1), lambda p: p.dist(p.r) + T4(p) + g9(p)),
    "eq-81": (T4, lambda p: -2 * p.ee * (p.f1 + p.mu / 4 * p.dist(p.r)) + 2 * p.beta * p.ee * p.dr),
    "eq-81@second": (T4, eq_81),
    "eq-81@third": (eq_81, lambda p: -2 * p.ee * (p.f1 + p.mu / 4 * p.dist(p.r)) + 2 * p.beta * p.ee * p.dr),
    "eq-82": (
        lambda p: p.dist(p.r + 1),
        lambda p: (1 - p.mu * p.ee / 2) * p.dist(p.r) + (8 * p.beta * p.ee**2 - 2 * p.ee) * p.f1 + 12 * p.ee**2 * p.v
        + (2 * p.beta * p.ee + 4 * p.beta**2 * p.ee**2) * p.dr + 4 * p.ee**2 * p.Ct + 4 * p.ee**2 * p.D),
    "eq-83": (lambda p: 9 * p.ee**2 / p.gamma * p.Dn, lambda p: scaled(p, p.D, p.gamma)),
    "eq-83@lemma-g.10": (lambda p: 9 * p.ee**2 * ms(p) * p.Ctn, lambda p: scaled(p, p.Ct, Q(p.s, p.m))),
    "eq-85": (lambda p: eq_85_left(p, p.Ctn), lambda p: eq_85(p, p.Ct)),
    "eq-85@lag-round": (lambda p: eq_85_left(p, p.Cn), lambda p: eq_85(p, p.Cl)),
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


def inside_86(p, mean):
    """The squares inside a mean over steps and clients."""
    return p.ee**2 * p.E(mean(lambda i, k: sq(Fik(p)(i, k) + p.mv(p.r) - p.cv(p.r, k)))) + 9 * p.ee**2 * p.v


def new_points(p):
    return p.over_all(lambda i, k: p.E(sq(p.loc(p.r, i, k) - p.th(p.r + 1))))


def old_moving(p):
    """T_5 of (87): the points of the server's variate before the round, from the next model."""
    rounds = total(
        p.gamma * (1 - p.gamma) ** (p.r - 1 - q) * p.over_all(lambda i, k, q=q: p.E(sq(p.loc(q, i, k) - p.th(p.r + 1))))
        for q in R(p.r))
    return rounds + (1 - p.gamma) ** p.r * p.E(sq(p.th(0) - p.th(p.r + 1)))


def old_points(p):
    """T_5 of (90): each client's last local models before the round, or the start, from the next model."""
    def left_out(k, first):
        return math.prod(1 - p.drawn(q, k) for q in R(first, p.r))

    rounds = total(
        p.over_all(lambda i, k, q=q: p.E(
            p.drawn(q, k) * left_out(k, q + 1) * sq(p.loc(q, i, k) - p.th(p.r + 1)))) for q in R(p.r))
    return rounds + p.mean(lambda k: p.E(left_out(k, 0) * sq(p.th(0) - p.th(p.r + 1))))


def line_94(p, number):
    step_before, e2 = p.loc(p.r, p.j - 1, p.k) - p.th(p.r), p.el**2
    gradient = p.dFi(p.k, p.loc(p.r, p.j - 1, p.k))
    towards = gradient + p.mv(p.r) - p.cv(p.r, p.k)
    if number == 2:
        return p.E(sq(step_before - p.el * towards)) + e2 * p.s2
    young = (1 + Q(1, p.K - 1)) * p.E(sq(step_before)) + e2 * p.s2
    if number == 3:
        return young + p.K * e2 * p.E(sq(towards))
    return young + 4 * p.K * e2 * (
        p.E(sq(gradient - own(p, p.k))) + p.E(sq(p.mv(p.r) - p.dF(p.th(p.r)))) + p.N
        + p.E(sq(p.cv(p.r, p.k) - own(p, p.k))))


def ratio_95(p):
    return 1 + Q(1, p.K - 1) + 4 * p.K * p.beta**2 * p.el**2


def inner_95(p):
    return p.el**2 * (p.s2 + 4 * p.K * p.N + 4 * p.K * p.beta**2 * p.Xi + 4 * p.K * p.beta**2 * p.Gl)


def along(p):
    return -p.ee * p.over_all(lambda i, k: p.E(dot(p.dF(p.th(p.r)), Fik(p)(i, k))))


def lags_98(p):
    e2, b = p.ee**2, p.beta
    return (2 * e2 * b**3 * p.dr + 2 * e2 * b**3 * p.Xi + 2 * e2 * b**3 * p.Gl + 2 * b * e2 * p.N
            + 9 * b * e2 * p.s2 / (2 * p.K * p.s))


def apart_98(p):
    return p.E(sq(p.over_all(Fik(p)) - p.dF(p.th(p.r))))


def third_98(p, distance):
    return -p.ee / 2 * p.N + p.ee / 2 * distance + lags_98(p)


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
    "eq-86@second": (lambda p: squared(p, p.mv(p.r), lambda k: p.cv(p.r, k)), lambda p: inside_86(p, p.over_drawn)),
    "eq-86@third": (lambda p: inside_86(p, p.over_drawn), lambda p: inside_86(p, p.over_all)),
    "eq-89@identity": (lambda p: p.Gn, lambda p: (1 - p.gamma) * old_moving(p) + p.gamma * new_points(p)),
    "eq-89@printed-identity": (lambda p: p.Xn, lambda p: (1 - p.gamma) * old_moving(p) + p.gamma * new_points(p)),
    "eq-93@identity": (lambda p: p.Xn, lambda p: (1 - share(p)) * old_points(p) + share(p) * new_points(p)),
    "eq-94@first": (lambda p: p.E(sq(p.end(p.r, p.j, p.k) - p.th(p.r))), lambda p: line_94(p, 2)),
    "eq-94@second": (lambda p: line_94(p, 2), lambda p: line_94(p, 3)),
    "eq-94@third": (lambda p: line_94(p, 3), lambda p: line_94(p, 5)),
    "eq-94@fourth": (lambda p: line_94(p, 5), lambda p: NONCONVEX["eq-94"][1](p)),
    "eq-95@first": (
        lambda p: p.sq_steps(p.j, p.end), lambda p: ratio_95(p) * p.sq_steps(p.j - 1, p.loc) + inner_95(p)),
    "eq-95@second": (
        lambda p: p.sq_steps(p.j, p.end), lambda p: inner_95(p) * sum(ratio_95(p) ** i for i in R(p.j))),
    "eq-95@last": (
        lambda p: inner_95(p) * sum(ratio_95(p) ** i for i in R(p.j)), lambda p: NONCONVEX["eq-95"][1](p)),
    "eq-98@first": (lambda p: NONCONVEX["eq-98"][0](p), lambda p: along(p) + p.beta / 2 * p.mv2),
    "eq-98@second": (lambda p: along(p) + p.beta / 2 * p.mv2, lambda p: along(p) + lags_98(p)),
    "eq-98@third": (lambda p: along(p) + lags_98(p), lambda p: third_98(p, apart_98(p))),
    "eq-98@third-printed": (lambda p: along(p) + lags_98(p), lambda p: third_98(p, p.K * p.m * apart_98(p))),
    "eq-98@fourth": (lambda p: third_98(p, apart_98(p)), lambda p: third_98(p, to_start(p))),
    "eq-98@fifth": (lambda p: third_98(p, to_start(p)), lambda p: NONCONVEX["eq-98"][1](p)),
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
    # the sum of (98)-(101) has 12 beta^3 eta~^2 G_{t-1}/gamma of (100)
    "eq-102@lost-term": (
        lambda p: NONCONVEX["eq-102"][0](p), lambda p: eq_102(p) + 12 * p.beta**3 * p.ee**2 / p.gamma * p.Gl),
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
