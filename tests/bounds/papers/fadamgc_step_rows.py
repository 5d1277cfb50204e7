"""Both sides of FAdamGC's claims in the paper's words: tables of rows from the quantities of ``fadamgc_world``.

``GC`` has the rows of FAdamGC, ``NT`` those of FA-NT, by block; indices come as in the statements, all from 0.
"""

from math import sqrt

import numpy as np

from tests.bounds.chance import Min
from tests.bounds.papers.fadamgc_world import K, N, T, sq, upto

GC, NT = {}, {}


def row(*names, table=GC):
    def add(function):
        for name in names:
            assert name not in table, name
            table[name] = function
        return function

    return add


def avg(p, of):
    return sum(of(t) for t in upto(T)) / T


# theorems ------------------------------------------------------------------------------------------------------------
def squares(p):
    return avg(p, p.N2)


def lengths(p):
    return avg(p, p.Pn)


def hidden(p):
    betas, rest = "big-o-betas" in p.flags, "big-o-all-but-rounds" in p.flags
    return p.w.C_beta if betas else p.w.C_all if rest else p.w.C


def drop(p):
    return p.Ef(1) - p.Ef(T + 1)


def right_102(p):
    return (p.F / (K * p.H * (1 - 2 * p.b1**K) * T) + p.H * K * p.L / (2 * (1 - p.b1**K))
            + 16 * N**2 * p.H * K / (p.Y**2 * (1 - p.b1**K)) + 2 * K * (1 + p.L) * p.eta / (1 - 2 * p.b1**K)
            + p.sigma / (N * (1 - 2 * p.b1**K)))


def left_52(p):
    """Of Theorem 5.2 and (104), or, where the steps are put into it, the right side of (102)-(103)."""
    return right_102(p) if "substitution" in p.flags else lengths(p)


GC["theorem-5.2"] = lambda p: (left_52(p), hidden(p) * (p.root + p.L * p.F / T + p.L * K / T + K * p.sigma / T))


def beta(p):
    """beta1 on the right side of (104) and (211)."""
    return p.b1**K if "beta1-to-K" in p.flags else p.b1


GC["theorem-5.2/eq-104"] = lambda p: (left_52(p), hidden(p) * (
    sqrt(p.L * p.F * p.sigma / ((1 - 2 * beta(p)) ** 2 * N * K * T)) + p.L * p.F / ((1 - 2 * beta(p)) * T)
    + p.L * K / ((1 - 2 * beta(p)) * T) + K * p.sigma / T))
GC["theorem-5.2/eq-102-103"] = lambda p: (lengths(p), right_102(p))


def rate_54(p, power):
    return p.root + p.L * p.F / T + K * p.G**6 / (p.eps**2 * T) + (
        K**power * (p.sigma**2 + (1 + p.eps**2) * p.G**2) / (p.eps**2 * T))


row("theorem-5.4", "table-1/fadamgc")(lambda p: (squares(p), hidden(p) * rate_54(p, 1)))
GC["theorem-5.4/eq-48-51"] = lambda p: (squares(p), (
    4 * drop(p) / (p.lam * p.H * K * T) + 6 * p.eta**2 * K * p.L**2 / (p.lam**2 * p.eps**4) * (p.A2 + p.G**2)
    + p.G**4 / (p.lam**2 * p.eps**2 * T) + 8 * p.H / (p.lam * p.eps**2) * p.L * (K * p.G**2 + p.sigma**2)))
GC["theorem-5.4/eq-54-57"] = lambda p: (squares(p), (
    p.L * p.F / T + 2 * p.root
    + (2 / ((1 - p.b1) ** 2 * p.b1**2) + K * (1 - p.b2)) * p.G**6 / (p.eps**2 * T)
    + K * (1 - p.b1) * (p.sigma**2 + p.G**2) / (p.eps**2 * T)))
row("theorem-C.2", "table-1/fa-nt", table=NT)(lambda p: (squares(p), hidden(p) * rate_54(p, 2)))


@row("theorem-C.2/eq-158-163", table=NT)
def eq_158(p):
    inner = (T**2 * (p.Y / N) * (7 * N / p.Y * p.G**2 + p.Y / N * p.J) if "gamma-bound" in p.flags
             else sum(p.Gam(t) for t in upto(T)))
    change = p.E(sq(p.vbar(T + 1) - p.vbar(1)))
    return squares(p), (
        12 * drop(p) / (p.lam * p.H * K * T) + 12 / (K * p.eps**2 * p.lam**2) * 96 * K**3 * p.L**2 * p.eta**2 * inner
        + 12 * K * p.G**2 / (p.lam**2 * p.eps**2 * T) * change
        + 24 * p.H * (1 - p.eps) ** 2 * K * p.L * p.G**2 / (p.lam * p.eps**2)
        + 12 / (p.eps**2 * p.lam**2) * 144 * K**2 * p.L**2 * p.eta**2 * (p.G**2 + p.sigma**2) / p.eps**2
        + 12 * p.H * p.L * p.sigma**2 / (p.lam * N))


NT["theorem-C.2/eq-167-171"] = lambda p: (squares(p), hidden(p) * (
    p.L * p.F / T + p.root + K * p.G**6 / ((1 - p.b1) ** 2 * p.b1**2 * p.eps**2 * T)
    + K**2 * (1 + p.Y**2 / N**2) * (p.G**2 + p.eps**2 * p.G**2) / (p.eps**2 * T)
    + K**2 * (1 + p.Y**2 / N**2) * p.sigma**2 / (p.eps**2 * T)))
NT["theorem-C.3"] = lambda p: (lengths(p), hidden(p) * (
    sqrt(p.L * p.F / (N * K * T)) + p.L * p.F / T + p.L * K / T + K * (p.sigma + N * p.B) / T))
NT["theorem-C.3/eq-210"] = lambda p: (lengths(p), (hidden(p) if "big-o" in p.flags else 1) * (
    p.F / (K * p.H * (1 - 2 * p.b1**K) * T) + p.H * K * p.L / (2 * (1 - 2 * p.b1**K))
    + 3 * p.eta * K * p.L / (1 - 2 * p.b1**K) + K * (p.sigma / N + p.B) / (1 - 2 * p.b1**K)))
NT["theorem-C.3/eq-211"] = lambda p: (lengths(p), hidden(p) * (
    sqrt(p.L * p.F / ((1 - 2 * beta(p)) * N * K * T)) + p.L * p.F / ((1 - beta(p)) * T) + p.L * K / ((1 - 2 * beta(p)) * T)
    + K * (p.sigma + N * p.B) / T))
# Table 1: the rates by row; "general O(1/sqrt(nKT))" in its caption
RATES = {
    "fedadam": lambda p: (
        (p.F**2 / (N * K * T)) ** 0.5 + p.L * p.sigma**2 / (p.G**2 * sqrt(N * K * T)) + p.sigma**2 / (p.G * K * T)
        + p.L * p.sigma**2 * sqrt(N) / (p.G**2 * sqrt(K) * T**1.5)),
    "fedams": lambda p: (
        (p.F**2 / (N * K * T)) ** 0.5 + p.L * sqrt(N * K) * p.G**2 / (sqrt(p.eps) * T) + p.L**2 * K * p.sigma**2 / T
        + p.G * p.sigma**2 / (sqrt(p.eps**2 * N * K) * T)),
    "fadamgc-special": lambda p: p.root + p.L * p.F / T + K * (p.sigma + p.L) / T,
    "fa-nt-special": lambda p: p.root + p.L * p.F / T + K * (p.sigma + p.L + N * p.B) / T,
    "fadamgc": lambda p: rate_54(p, 1), "fa-nt": lambda p: rate_54(p, 2),
}
GC["table-1/fedadam"] = lambda p: (squares(p), hidden(p) * RATES["fedadam"](p))
GC["table-1/fedams"] = lambda p: (squares(p), hidden(p) * RATES["fedams"](p))
GC["table-1/fadamgc-special"] = lambda p: (lengths(p), hidden(p) * RATES["fadamgc-special"](p))
NT["table-1/fa-nt-special"] = lambda p: (lengths(p), hidden(p) * RATES["fa-nt-special"](p))


def order(p):
    """O(1/sqrt(nKT)); the constant may depend on n and K, but in the reading ``linear``."""
    return p.w.C_all / sqrt(N * K * T)


for method, rate in RATES.items():
    GC[f"table-1/{method}/order"] = lambda p, rate=rate: (rate(p), order(p))
GC["theorem-5.4/speed-up"] = lambda p: (squares(p), order(p))


# the remark after Theorem 5.4: dominating terms without sigma; step sizes of FA-NT stricter than FAdamGC's
@row("table-1/fedadam/sigma")
def dominating(p):
    first = (p.F**2 / (N * K * T)) ** 0.5
    return first + p.L * p.sigma**2 / (p.G**2 * sqrt(N * K * T)), p.w.C_all * first


GC["theorem-C.2/stricter-steps"] = lambda p: (
    Min(p.lam * p.eps / (40 * T**1.5 * p.L), p.lam * p.eps / (30 * K * p.L)), p.lam * p.eps / (40 * T * p.L))

# lemmas --------------------------------------------------------------------------------------------------------------
GC["lemma-A.1"] = lambda p, r: (p.Xi(r + 1), 6 * p.eta**2 * K**2 * p.L**2 / p.eps**2 * p.A2)
GC["lemma-B.1"] = lambda p, r: (
    p.EB(r + 2), (1 - p.Y / (2 * N)) * p.EB(r + 1) + 2 * (N / p.Y) * p.H * K + 2 * (p.Y / N) * p.eta * K)


@row("lemma-D.1", table=NT)
def lemma_D1(p, r):
    t = r + 1
    left = (p.ik(lambda k, i: p.E(sq(p.m(t, k, i) - p.ck(k) * p.gfi(t, i)))) / N if "left-m" in p.flags else p.ED(t))
    return left, K**3 * p.L**2 * p.eta**2 * (48 * p.N2(t) + 96 * p.Gam(t) + 144 * p.J)


NT["lemma-D.2"] = lambda p, r: (
    p.Gam(r + 2), (1 - p.Y / (2 * N)) * p.Gam(r + 1) + 7 * N / p.Y * p.G**2 + p.Y / N * p.J)

# Appendix A ----------------------------------------------------------------------------------------------------------


@row("eq-12")
@row("eq-124", table=NT)
def update(p, r):
    t = r + 1
    rest = p.x(t + 1) - (p.x(t) - p.H * p.Sk(t, lambda k, i: p.ew(t, k, i, p.m(t, k, i))))
    return sq(rest), 0


@row("eq-13")
@row("eq-126", table=NT)
def smoothness(p, r):
    t = r + 1
    return p.Ef(t + 1), p.Ef(t) + p.cross(t, p.U(t)) + p.H**2 * (p.L / 2) * p.E(sq(p.U(t)))


def with_m(p, t):
    return p.cross(t, p.Sk(t, lambda k, i: p.ew(t, k, i, p.m(t, k, i))))


def with_mt(p, t):
    return p.cross(t, p.Sk(t, lambda k, i: p.ew(t, k, i, p.mt(t, k, i))))


def per_client(p, term):
    return p.ik(term) / N


row("eq-17")(lambda p, r: (with_m(p, r + 1), with_mt(p, r + 1)))
row("eq-129", table=NT)(lambda p, r: (with_m(p, r + 1), with_mt(p, r + 1)))


@row("eq-19")
def eq_19(p, r):
    t = r + 1
    return with_mt(p, t), (p.cross(t, per_client(p, lambda k, i: p.ew(t, k, i, p.M(t, k, i))))
                           + p.cross(t, per_client(p, lambda k, i: p.ew(t, k, i, p.Q(t, k, i)))))


GC["eq-21-zero"] = lambda p, r: (
    p.E(p.gf(r + 1) @ per_client(p, lambda k, i: p.ew(r + 1, k, i, p.Q(r + 1, k, i)))), 0)


@row("eq-21")
def eq_21(p, r):
    t = r + 1
    first = per_client(p, lambda k, i: p.ew(t, k, i, p.M(t, k, i)) - p.eb(t, p.M(t, k, i)))
    return with_m(p, t), p.cross(t, first) + p.cross(t, per_client(p, lambda k, i: p.eb(t, p.M(t, k, i))))


GC["eq-118"] = lambda p, j: (
    sum(p.c(j + 1, q) for q in upto(j + 1)) if "sum" in p.flags else p.ck(j + 1),
    p.ck(j + 1) if "sum" in p.flags else 1)
GC["eq-131a"] = lambda p, j: (
    ((1 - p.b1) * p.b1, p.ck(j + 1)) if "lower" in p.flags else (p.ck(j + 1), p.b1))
GC["eq-23"] = lambda p, r: (
    p.cross(r + 1, per_client(p, lambda k, i: p.eb(r + 1, p.ck(k) * p.gfi(r + 1, i)))), -p.H * K * p.lam * p.N2(r + 1))


@row("eq-28")
def eq_28(p, r):
    t = r + 1
    left = (-p.H * K * p.lam * p.N2(t)
            + p.cross(t, per_client(p, lambda k, i: p.ew(t, k, i, p.M(t, k, i)) - p.eb(t, p.M(t, k, i))))
            + p.cross(t, per_client(p, lambda k, i: p.eb(t, p.M(t, k, i) - p.ck(k) * p.gfi(t, i)))))
    return left, (-(p.H * K / 2) * p.lam * p.N2(t) + p.H / (p.lam * p.eps**2) * p.Xi(t)
                  + p.H * K / p.lam * p.Z(t, p.M))


GC["eq-31"] = lambda p, r: (p.Z(r + 1, p.M), p.G**2 * p.W(r + 1))
GC["eq-34"] = NT["eq-138"] = lambda p, r: (p.W(r + 1), p.V(r + 1) / p.eps**2)
NT["eq-136"] = lambda p, r: (p.Z(r + 1, p.mt), p.G**2 * p.W(r + 1))


@row("eq-37")
def eq_37(p, r):
    t = r + 1
    noise = p.RS() if "noise-over-n" in p.flags else p.H**2 * K * p.L * p.sigma**2
    drift = p.ik(lambda k, i: p.bare(sq(p.M(t, k, i) - p.ck(k) * p.gfi(t, i)))) / N
    return p.H**2 * p.L / 2 * p.E(sq(p.U(t))), (
        2 * p.H**2 * K**2 * p.L * p.N2(t) + 4 * p.H**2 * K * p.L / p.eps**2 * drift
        + 4 * p.H**2 * (1 - p.eps) ** 2 / p.eps**2 * K**2 * p.L * p.G**2 + noise)


GC["eq-39"] = lambda p, r: (
    p.D(r + 1), -(p.H * K / 4) * p.lam * p.N2(r + 1) + p.CX() * p.Xi(r + 1) + p.tail(r + 1))
NT["eq-146"] = lambda p, r: (
    p.D(r + 1), -(p.H * K / 4) * p.lam * p.N2(r + 1) + p.CX() * p.ED(r + 1) + p.tail(r + 1))
GC["eq-42"] = lambda p, r: (
    p.D(r + 1),
    -(p.H * K / 4) * p.lam * p.N2(r + 1) + p.CX() * (6 * p.eta**2 * K**2 * p.L**2 / p.eps**2) * p.A2 + p.tail(r + 1))


@row("eq-51-division")
def eq_51(p):
    w = p.w
    rest = (p.CX() * 6 * p.eta**2 * K**2 * p.L**2 / p.eps**2 * p.A2
            + 2 * p.H**2 * (1 - p.eps) ** 2 / p.eps**2 * K**2 * p.L * p.G**2 + p.RS())
    summed = w.total_drop + T * rest + p.H * K * p.G**2 / (p.lam * p.eps**2) * w.total_change
    return summed / (T * p.H * K * p.lam / 4), (
        4 * w.total_drop / (p.lam * p.H * K * T)
        + 6 * p.eta**2 * K * p.L**2 / (p.lam**2 * p.eps**4) * (p.A2 + p.G**2)
        + p.G**4 / (p.lam**2 * p.eps**2 * T) + 8 * p.H / (p.lam * p.eps**2) * p.L * (K * p.G**2 + p.sigma**2))


# Appendix A, Lemma A.1 -------------------------------------------------------------------------------------------------
def weighted(p, k, term, first=1):
    return sum(p.c(k, q) * p.E(sq(term(q, i))) for i in upto(N) for q in range(first, k + 1))


GC["eq-61"] = lambda p, r: (p.Xi(r + 1), p.L**2 / N * sum(p.es(r + 1, k) for k in upto(K)))
GC["eq-64"] = lambda p, r, j: (p.es(r + 1, j + 1), (
    (1 + p.a) * weighted(p, j + 1, lambda q, i: p.xl(r + 1, q - 1, i) - p.x(r + 1), 2)
    + (1 + 1 / p.a) * p.eta**2 * weighted(p, j + 1, lambda q, i: p.delta(r + 1, q - 1, i), 2)))
GC["eq-65"] = lambda p, j, i: (p.c(j + 1, i + 1), p.c(j, i))
GC["eq-69"] = lambda p, r, j: (
    p.es(r + 1, j + 1), (1 + p.a) * p.es(r + 1, j) + (1 + 1 / p.a) * p.eta**2 * p.ss(r + 1, j))


def faded(p, t, q, i, vector):
    return vector / (sqrt(p.b2) * p.ws(t, q - 1, i) + p.eps)


def right_71(p, t, k):
    return (2 * weighted(p, k, lambda q, i: p.ew(t, q, i, p.m(t, q, i)) - faded(p, t, q, i, p.m(t, q, i)))
            + 2 * weighted(p, k, lambda q, i: faded(p, t, q, i, p.m(t, q, i))))


def right_73(p, t, k):
    ones = np.ones(2)
    return (2 * p.G**2 * weighted(p, k, lambda q, i: p.ew(t, q, i, ones) - faded(p, t, q, i, ones))
            + 2 * weighted(p, k, lambda q, i: faded(
                p, t, q, i, p.b1 * p.m(t, q - 1, i) + (1 - p.b1) * p.ghat(t, q, i))))


GC["eq-71"] = lambda p, r, j: (p.ss(r + 1, j + 1), right_71(p, r + 1, j + 1))
GC["eq-73"] = lambda p, r, j: (right_71(p, r + 1, j + 1), right_73(p, r + 1, j + 1))


@row("eq-75")
def eq_75(p, r, j, *client):  # the last sum is for a client i, over which it does not run
    t, k = r + 1, j + 1
    older = sum(p.c(k - 1, q) * p.E(sq(p.m(t, q, i) / (sqrt(p.b2) * p.ws(t, q, i) + p.eps)))
                for i in upto(N) for q in upto(k - 1))
    who = [client[0] + 1] if client else upto(N)
    last = sum(p.c(k, q) * p.E(sq(p.ghat(t, q, i))) for i in who for q in upto(k))
    return right_73(p, t, k), (2 * (1 - p.b2) * p.G**6 * N / p.eps**2 + 2 * p.b1 * older
                               + 2 * (1 - p.b1) / p.eps**2 * last)


def C1(p):
    return p.A2 * N / p.eps**2


GC["eq-76"] = lambda p, r, j: (
    p.ss(r + 1, j + 1), 8 * p.L**2 / p.eps**2 * (1 - p.b1) * p.es(r + 1, j + 1) + C1(p))


@row("eq-78")
def eq_78(p, r, j):
    one, two = (1 + 1 / (K - 1)) * p.es(r + 1, j), 2 * p.eta**2 * C1(p)
    return p.es(r + 1, j + 1), one * two if "product" in p.flags else one + two


@row("eq-79")
def eq_79(p, *at):
    k = at[-1] + 1
    powers = sum(q * (1 + 1 / (K - 1)) ** q for q in upto(k)) * 2 * p.eta**2
    if "second" in p.flags:
        return powers * p.w.C_1, 6 * K * p.eta**2 * p.w.C_1
    if "both" in p.flags:
        return p.es(at[0] + 1, k), 6 * K * p.eta**2 * C1(p)
    return p.es(at[0] + 1, k), powers * C1(p)


@row("eq-81")
def eq_81(p, *at):
    if at:
        return (p.L**2 / N * sum(p.es(at[0] + 1, k) for k in upto(K)), 6 * p.eta**2 * K**2 * p.L**2 / p.eps**2 * p.A2)
    return p.L**2 / N * sum(p.w.e_value), 6 * p.eta**2 * K**2 * p.L**2 * p.w.C_1 / N


# prose ---------------------------------------------------------------------------------------------------------------
def first_step(p, numerator, squared):
    return p.eta * (1 - p.b1) * numerator / (np.sqrt((1 - p.b2) * squared * squared) + p.eps)


@row("eq-4")
def eq_4(p, k):
    star = p.w.x_star
    return sq(first_step(p, p.grad(k + 1, star) + p.w.objective_grad(star) - p.grad(k + 1, star), p.grad(k + 1, star))), 0


@row("sec-4.1-adam")
def adam(p, k):
    star = p.w.x_star
    if "leaves" in p.flags:
        return sq(first_step(p, p.grad(k + 1, star), p.grad(k + 1, star)) / p.eta), 0
    moved = star - first_step(p, p.grad(k + 1, star), p.grad(k + 1, star))
    return sq(p.w.x_before[1][k] - moved), 0


@row("sec-4.1-fa-nt")
def fa_nt(p, k):
    own, whole = p.grad(k + 1, p.w.x_star), p.w.objective_grad(p.w.x_star)
    adam_step = first_step(p, own, own) / p.eta
    return sq(adam_step + whole / (np.sqrt(whole * whole) + p.eps) - own / (np.sqrt(own * own) + p.eps)), 0


@row("sec-4.1-average", table=NT)
def average_direction(p, r, k):
    t, i = r + 1, k + 1
    mean = sum(p.ew(t, q, i, p.m(t, q, i)) for q in upto(K)) / K
    return p.tracked(t, i) * sq(p.yi(t + 1, i) - mean), 0


@row("sec-4.1-sgd")
def sgd(p):
    # one client with correction y_1, the server's is control
    w, sign = p.w, -1 if "standard" in p.flags else 1
    own, x = w.own_control, w.model
    for g in w.step_gradient:
        x = x - w.sgd_step * (g + sign * (own - w.control))
    return sq(own - w.control + (w.model - x) / (w.sgd_step * K) - sum(w.step_gradient) / K), 0


@row("eq-113-114")
def z_form(p, at):
    if "one-round" not in p.flags:
        return sq(p.w.z_x_round[at] - p.w.x_round[at]), 0
    w = p.w
    y, ends, x = sum(w.own_controls) / N, w.local_end, w.model
    after = x + w.eta_g * (sum(ends) / N - x)  # eta_g may be set to 1 by a condition
    new = [w.own_controls[i] - y + (x - ends[i]) / (K * p.eta) for i in range(N)]
    z = y - w.own_controls[at] + (ends[at] - after) / (K * w.eta_g * p.eta)
    return sq(z - (sum(new) / N - new[at])), 0


GC["app-C-communication"] = lambda p: (2 * p.S / N, 2 * p.S / N)
