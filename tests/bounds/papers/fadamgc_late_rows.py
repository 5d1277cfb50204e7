"""Rows of Appendices B, D and E of FAdamGC, as in ``fadamgc_step_rows``."""

from math import e

import numpy as np

from tests.bounds.chance import E_round
from tests.bounds.papers.fadamgc_step_rows import GC, NT, per_client, row, with_mt
from tests.bounds.papers.fadamgc_world import K, N, T, length, sq, upto

# Appendix B ------------------------------------------------------------------------------------------------------------


@row("app-B-unit")
@row("app-B-unit", table=NT)
def unit(p, r, j, k):
    t, q, i = r + 1, j + 1, k + 1
    scale = p.ws(t, q, i) if "vhat" in p.flags else np.sqrt(p.v(t, q, i))
    if "by-coordinate" in p.flags or {"norm-scalar", "vhat"} <= p.flags:
        return length(p.m(t, q, i) / scale), 1
    return length(p.m(t, q, i)), size(scale)


@row("sec-5-unit-step")
def unit_step(p, r, j, k):
    return length(p.w.x_before[r * K + j + 1][k] - p.w.x_local[r * K + j][k]), p.eta


@row("eq-83")
@row("eq-196", table=NT)
def eq_83(p, r):
    t = r + 1
    if "conditional" in p.flags:
        # (82) prints f(x^t) itself, which is known when the round begins
        return E_round(p.f(t + 1), r) - p.f(t), (
            -K * p.H * E_round(p.gf(t) @ p.u(t), r) + p.H**2 * K**2 * p.L / 2)
    return p.bare_D(t), -K * p.H * p.E(p.gf(t) @ p.u(t)) + p.H**2 * K**2 * p.L / 2


@row("eq-85")
@row("eq-198", table=NT)
def eq_85(p, *at):
    f, u = (p.w.any_grad, p.w.any_u) if not at else (p.gf(at[0] + 1), p.u(at[0] + 1))
    q, E = p.w.any_q, p.E if at else lambda a: a  # of numbers alone nothing is random
    return -K * p.H * E((f - q) @ u) - K * p.H * E(q @ u), (
        K * p.H * (E(length(f - q)) - E(length(q))) + K * p.H * E(length(q) * length(u - q / length(q))))


@row("eq-87")
def eq_87(p, *at):
    if at:
        t = at[0] + 1
        return p.bare_D(t), (
            -K * p.H * (1 - 2 * p.b1**K) * p.Pn(t) + K * p.H * R1(p, t) + p.H**2 * K**2 * p.L / 2)
    f = p.w.any_grad
    q = p.cavg() * f
    return length(f - q) - length(q), -(1 - 2 * p.b1**K) * length(f)


def R1(p, t):
    q = p.cavg() * p.gf(t)
    return p.E(length(q) * length(p.u(t) - q / length(q)))


def lag(p, t, k, i):
    return length(p.m(t, k, i) - p.ck(k) * p.gf(t))


def right_89(p, t):
    q = length(p.cavg() * p.gf(t))
    return p.E(p.ik(lambda k, i: q * length(p.m(t, k, i)) * size((q - p.ws(t, k, i)) / (p.ws(t, k, i) * q))
                    + lag(p, t, k, i)) / (N * K))


def size(number_or_vector):
    v = number_or_vector
    return length(v) if np.ndim(v) else abs(v)


def right_90(p, t):
    q = p.cavg() * p.gf(t)

    def gap(k, i):
        g = p.ghat(t, k, i)
        return abs(length(q) / p.cavg() - length(g)) if "lengths" in p.flags else length(q / p.cavg() - g)

    return p.E(p.ik(lambda k, i: length(q) * gap(k, i) / length(q) + lag(p, t, k, i)) / (N * K))


GC["eq-89"] = lambda p, r: (R1(p, r + 1), right_89(p, r + 1))
GC["eq-90"] = lambda p, r: (right_89(p, r + 1), right_90(p, r + 1))


@row("eq-91")
@row("eq-204", table=NT)
def eq_91(p, r):
    t = r + 1
    if "first" in p.flags:
        return GC["eq-89"](p, r)
    if "second" in p.flags or "lengths" in p.flags:
        return GC["eq-90"](p, r)
    return R1(p, t), p.ik(lambda k, i: away(p, t, k, i) + p.E(lag(p, t, k, i))) / (N * K)


def away(p, t, k, i):
    return p.E(length(p.ghat(t, k, i) - p.gf(t)))


def base(p):
    return p.eta * K * p.L + p.sigma / N


def stored(p, t, k, i):
    return p.E(length(p.gamma(t, k, i) - p.x(t)))


GC["eq-93"] = lambda p, r, j, k: (away(p, r + 1, j + 1, k + 1), base(p) + p.E(length(
    p.y(r + 1) - p.yi(r + 1, k + 1) - p.gf(r + 1) + p.gfi(r + 1, k + 1))))
GC["eq-94"] = lambda p, r, j, k: (away(p, r + 1, j + 1, k + 1), base(p) + 2 * stored(p, r + 1, j + 1, k + 1))


def right_95(p, t, k, i):
    """(95) and (209) print ghat^{t,k} in a sum over k'."""
    prime = {"k-prime", "second-k-prime"} & p.flags
    return sum(p.c(k, q) * away(p, t, q if prime else k, i) for q in upto(k))


GC["eq-95"] = lambda p, r, j, k: (p.E(lag(p, r + 1, j + 1, k + 1)), right_95(p, r + 1, j + 1, k + 1))
GC["eq-96"] = lambda p, r, j, k: (
    p.E(lag(p, r + 1, j + 1, k + 1)), base(p) + 2 * sum(p.c(j + 1, q) * stored(p, r + 1, q, k + 1) for q in upto(j + 1)))


def right_98(p, P, error):
    return (-K * p.H * (1 - 2 * p.b1**K) * P + 2 * K**2 * p.L * p.H * p.eta + K * p.H * p.sigma / N + 4 * K * p.H * error
            + p.H**2 * K**2 * p.L / 2)


GC["eq-98"] = lambda p, r: (p.bare_D(r + 1), right_98(p, p.Pn(r + 1), p.EB(r + 1)))


@row("eq-101")
def eq_101(p, *at):
    w, near = p.w, 8 * p.H * K * (N / p.Y)
    if at:
        t = at[0] + 1
        left, f, error, P = p.Ef(t + 1) + near * p.EB(t + 1), p.Ef(t), p.EB(t), p.Pn(t)
    else:
        left, f, error, P = w.f_next + near * w.error_next, w.f_now, w.error_now, w.gradient
    return left, (f + near * error - K * p.H * (1 - 2 * p.b1**K) * P + 2 * K**2 * p.L * p.H * p.eta + K * p.H * p.sigma / N
                  + p.H**2 * K**2 * p.L / 2 + 16 * N**2 / p.Y**2 * p.H**2 * K**2 + 2 * p.H * p.eta * K**2)


def parts_107(p, r, j, k):
    """The lengths of (107)-(110) for the paper's t = r + 2."""
    t, q, i = r + 2, j + 1, k + 1
    old, local, y = p.gamma(t - 1, q, i), p.xl(t - 1, q, i), p.Y / N
    return y, old, local, p.x(t), p.x(t - 1), stored(p, t, q, i)


def right_107(p, *at):
    y, old, local, new, _, _ = parts_107(p, *at)
    return (1 - y) * p.E(length(old - new)) + y * p.bare(length(local - new))


def right_109(p, *at):
    y, old, local, new, last, _ = parts_107(p, *at)
    moved = p.bare(length(new - last))
    return ((1 - y) * (1 + p.a) * p.bare(length(old - last)) + (1 - y) / p.a * moved + 2 * y * p.bare(length(local - last))
            + 2 * y * moved)


def right_110(p, *at):
    y, old, _, _, last, _ = parts_107(p, *at)
    return ((1 - y) * (1 + p.a) * p.bare(length(old - last)) + (2 * y + (1 - y) / p.a) * p.H * K + 2 * y * p.eta * K)


GC["eq-107"] = lambda p, *at: (parts_107(p, *at)[-1], right_107(p, *at))
GC["eq-109"] = lambda p, *at: (right_107(p, *at), right_109(p, *at))
GC["eq-110"] = lambda p, *at: (right_109(p, *at), right_110(p, *at))


@row("eq-111")
def eq_111(p, *at):
    if "first-coefficient" in p.flags:
        return (1 - p.Y / N) * (1 + p.a), 1 - p.Y / (2 * N)
    if "second-coefficient" in p.flags:
        return 2 * p.Y / N + (1 - p.Y / N) / p.a, 2 * N / p.Y
    _, old, _, _, last, left = parts_107(p, *at)
    return left, (1 - p.Y / (2 * N)) * p.bare(length(old - last)) + 2 * N / p.Y * p.H * K + 2 * p.Y / N * p.eta * K


# Appendix D ------------------------------------------------------------------------------------------------------------
def centred(p, t, k, i):
    return p.ew(t, k, i, p.mt(t, k, i)) - p.eb(t, p.ck(k) * p.gfi(t, i))


def right_132(p, t, gradient):
    return -p.H * K * p.lam * p.N2(t) - p.H * K * p.E(gradient @ (p.ik(lambda k, i: centred(p, t, k, i)) / (N * K)))


def right_130(p, t):
    return p.cross(t, per_client(p, lambda k, i: p.ew(t, k, i, p.mt(t, k, i))))


def printed_gradient(p, r):
    """(132) prints the gradient at x^{t+1}."""
    return p.gf(r + 1 if "at-t" in p.flags else r + 2)


NT["eq-130"] = lambda p, r: (with_mt(p, r + 1), right_130(p, r + 1))
NT["eq-132"] = lambda p, r: (right_130(p, r + 1), right_132(p, r + 1, printed_gradient(p, r)))
NT["eq-134"] = lambda p, r: (right_132(p, r + 1, printed_gradient(p, r)), (
    -(p.H * K / 2) * p.lam * p.N2(r + 1) + p.H / (p.lam * p.eps**2) * p.ED(r + 1)
    + p.H * K / p.lam * p.Z(r + 1, p.mt)))


def right_139(p, t):
    return p.H**2 * p.L * p.E(sq(per_client(p, lambda k, i: p.ew(t, k, i, p.mt(t, k, i))))) + p.RS()


def right_142(p, t):
    squares = p.ik(lambda k, i: p.bare(sq(p.ew(t, k, i, p.mt(t, k, i)) - p.gfi(t, i))))
    return 2 * p.H**2 * K**2 * p.L * p.N2(t) + 2 * p.H**2 * p.L * (K / N) * squares + p.RS()


def right_144(p, t):
    drift = p.ik(lambda k, i: p.bare(sq(p.mt(t, k, i) - p.ck(k) * p.gfi(t, i)))) / N
    return (2 * p.H**2 * K**2 * p.L * p.N2(t) + 4 * p.H**2 * K * p.L / p.eps**2 * drift
            + 4 * p.H**2 * (1 - p.eps) ** 2 / p.eps**2 * K**2 * p.L * p.G**2 + p.RS())


NT["eq-139"] = lambda p, r: (p.H**2 * p.L / 2 * p.E(sq(p.U(r + 1))), right_139(p, r + 1))
NT["eq-142"] = lambda p, r: (right_139(p, r + 1), right_142(p, r + 1))
NT["eq-144"] = lambda p, r: (right_142(p, r + 1), right_144(p, r + 1))


def drifts(p, t):
    """The terms of (151) and (157) after the first."""
    return p.tail(t) + p.CX() * K**3 * p.L**2 * p.eta**2 * (96 * p.Gam(t) + 144 * p.J)


NT["eq-151"] = lambda p, r: (p.D(r + 1), (
    (-(p.H * K / 4) * p.lam + p.CX() * 48 * p.eta**2 * K**3 * p.L**2) * p.N2(r + 1) + drifts(p, r + 1)))
NT["eq-157"] = lambda p, r: (p.H * K / 8 * p.lam * p.N2(r + 1), -p.D(r + 1) + drifts(p, r + 1))


@row("eq-163-division", table=NT)
def eq_163(p):
    w = p.w
    rest = (2 * p.H**2 * (1 - p.eps) ** 2 / p.eps**2 * K**2 * p.L * p.G**2
            + p.CX() * 144 * K**3 * p.L**2 * p.eta**2 * p.J + p.RS())
    summed = (w.total_drop + p.CX() * 96 * K**3 * p.L**2 * p.eta**2 * w.total_gap
              + p.H * K * p.G**2 / (p.lam * p.eps**2) * w.total_change + T * rest)
    return summed / (T * p.H * K * p.lam / 8), (
        12 * w.total_drop / (p.lam * p.H * K * T)
        + 12 / (K * p.eps**2 * p.lam**2) * 96 * K**3 * p.L**2 * p.eta**2 * w.total_gap
        + 12 * K * p.G**2 / (p.lam**2 * p.eps**2 * T) * w.total_change
        + 24 * p.H * (1 - p.eps) ** 2 * K * p.L * p.G**2 / (p.lam * p.eps**2)
        + 12 / (p.eps**2 * p.lam**2) * 144 * K**2 * p.L**2 * p.eta**2 * (p.G**2 + p.sigma**2) / p.eps**2
        + 12 * p.H * p.L * p.sigma**2 / (p.lam * N))


def per_round(p):
    return 7 * N / p.Y * p.G**2 + p.Y / N * p.J


def right_164(p):
    return (sum((1 - p.Y / (2 * N)) ** (T - t) * p.Gam(1) for t in upto(T)) + sum(t * per_round(p) for t in upto(T)))


def all_gaps(p):
    return sum(p.Gam(t) for t in upto(T))


NT["eq-164"] = lambda p: (all_gaps(p), right_164(p))
NT["eq-165"] = lambda p: (
    all_gaps(p) if "both" in p.flags else right_164(p), T**2 * (p.Y / N) * per_round(p))


@row("eq-176", table=NT)
def eq_176(p, r):
    t = r + 1
    inner = p.ik(lambda k, i: p.E(sq(sum(p.c(k, q) * (p.grad(i, p.xl(t, q, i)) - p.gfi(t, i)) for q in upto(k))))) / N
    right = p.L**2 / N * p.ik(lambda k, i: sum(p.c(k, q) * p.E(sq(p.xl(t, q, i) - p.x(t))) for q in upto(k)))
    return (p.ED(t), inner) if "identity" in p.flags else (p.ED(t) if "definition" in p.flags else inner, right)


def spread(p, t, k):
    return sum(p.E(sq(p.xl(t, k, i) - p.x(t))) for i in upto(N)) / N


GROWN = 1 + 1 / (K - 1)


def right_179(p, t, k):
    moves = sum(p.E(sq(p.eta * (p.delta(t, k - 1, i) + p.y(t) - p.yi(t, i)))) for i in upto(N)) / N
    return GROWN * spread(p, t, k - 1) + K * moves


def bare_gap(p, t):
    """Gamma^t, which (181) prints without an expectation."""
    return p.ik(lambda k, i: p.bare(sq(p.alpha(t, k, i) - p.gfi(t, i)))) / (N * K)


NT["eq-179"] = lambda p, r, j: (spread(p, r + 1, j + 1), right_179(p, r + 1, j + 1))
NT["eq-180"] = lambda p, r, j: (right_179(p, r + 1, j + 1), (
    GROWN * spread(p, r + 1, j) + K * p.eta**2 * (3 * p.N2(r + 1) + 3 * p.Gam(r + 1) + 12 * p.J)))
NT["eq-182"] = lambda p, r, j: (spread(p, r + 1, j + 1), sum(GROWN**q for q in upto(j + 1)) * K * p.eta**2 * (
    4 * p.N2(r + 1) + 8 * bare_gap(p, r + 1) + 12 * p.J))
NT["eq-183-exp"] = lambda p, *i: (
    (2 * e, 6) if "second" in p.flags else (GROWN ** i[0], 6 if "both" in p.flags else 2 * e))


def kept(p, t):
    return sq_mean(p, lambda k, i: p.alpha(t - 1, k, i) - p.gfi(t, i))


def sq_mean(p, vector):
    return p.ik(lambda k, i: p.E(sq(vector(k, i)))) / (N * K)


def Q1(p, t):
    return sq_mean(p, lambda k, i: p.last(t - 1, k, i) - p.gfi(t, i))


def right_188(p, t):
    return (1 - p.Y / N) * kept(p, t) + p.Y / N * Q1(p, t)


def right_190(p, t):
    y = p.Y / N
    return (1 - y) * (1 + y / 2) * p.Gam(t - 1) + (1 - y) * (1 + 2 / y) * p.G**2 + y * Q1(p, t)


NT["eq-188"] = lambda p, r: (p.Gam(r + 2), right_188(p, r + 2))
NT["eq-190"] = lambda p, r: (right_188(p, r + 2), right_190(p, r + 2))


@row("eq-191", table=NT)
def eq_191(p, *at):
    y, w = p.Y / N, p.w
    if not at:
        left = ((1 - y) * (1 + y / 2) * w.gap_now + (1 - y) * (1 + 2 / y) * p.G**2
                + y * sq(w.any_direction - w.any_grad))
        return left, (1 - y / 2) * w.gap_now + (5 / y + 2 * y) * p.G**2 + y * sq(w.any_direction)
    t = at[0] + 2
    return right_190(p, t), (1 - y / 2) * p.Gam(t - 1) + (5 / y + 2 * y) * p.G**2 + y * sq_mean(
        p, lambda k, i: p.last(t - 1, k, i))


NT["eq-192"] = lambda p: (5 * N / p.Y + 2 * p.Y / N, 7 * N / p.Y)


@row("eq-194", table=NT)
def eq_194(p, r):
    t = r + 1  # the round before
    left = sq_mean(p, lambda k, i: p.last(t, k, i))
    middle = p.ik(lambda k, i: p.E(sq(p.m(t, k, i)) * sq(1 / (np.sqrt(p.v(t, k, i)) + p.eps)))) / (N * K)
    return (middle if "second" in p.flags else left), (p.J if {"second", "both"} & p.flags else middle)


# Appendix E ------------------------------------------------------------------------------------------------------------
@row("app-E-buffer", table=NT)
def buffer(p, r, *k):
    return length(p.w.server_variate[r] if "server" in p.flags else p.w.client_variate[r][k[0]]), 1


NT["eq-200"] = lambda p, r: (p.bare_D(r + 1), (
    -K * p.H * (1 - 2 * p.b1**K) * p.bare(length(p.gf(r + 1))) + K * p.H * R1(p, r + 1) + p.H**2 * K**2 * p.L / 2))


def right_206(p, t, k, i):
    return p.L * p.E(length(p.xl(t, k, i) - p.x(t))) + p.sigma / N + p.B


def right_207(p, t, i):
    steps = sum(p.E(length(p.delta(t, k, i) + p.y(t) - p.yi(t, i))) for k in upto(K))
    return p.eta * K * p.L / K * steps + p.sigma / N + p.B


NT["eq-206"] = lambda p, r, j, k: (away(p, r + 1, j + 1, k + 1), right_206(p, r + 1, j + 1, k + 1))
NT["eq-207"] = lambda p, r, j, k: (right_206(p, r + 1, j + 1, k + 1), right_207(p, r + 1, k + 1))
NT["eq-208"] = lambda p, r, k: (right_207(p, r + 1, k + 1), 3 * p.eta * K * p.L + p.sigma / N + p.B)


@row("eq-209", table=NT)
def eq_209(p, r, j, k):
    t, q, i = r + 1, j + 1, k + 1
    middle, second = right_95(p, t, q, i), {"second", "second-k-prime"} & p.flags
    return (middle if second else p.E(lag(p, t, q, i))), (
        3 * p.eta * K * p.L + p.sigma / N + p.B if second or "both" in p.flags else middle)


