"""FedSWA's and FedMoSWA's formulas in plain Python, written from the paper, in its letters.

A row gives both sides of a claim from ``p``, the paper's letters in a world (``fedmoswa_world.py``) at given indices.
Rounds, local steps and clients count from 0: the paper's t is r in Appendices E, F, I and r + 1 in Appendix G; clients k.
"""

import math
from fractions import Fraction as Q

from tests.bounds.claim_values import power, sq, total
from tests.bounds.papers.fedmoswa_world import SIZES, World, norm

R, exp = range, math.exp
NUMBERS = {
    "beta": "L", "mu": "mu", "L": "G_lip", "sigma": "sigma", "s2": "sigma_sq", "eta": "eta", "ee": "eta_eff",
    "alpha": "eta_g", "gamma": "gamma", "rho": "rho_decay", "rho_sam": "rho_sam", "b": "b", "c": "c", "cbar": "c_bar",
    "ctilde": "c_tilde", "C": "C", "sg2": "sigma_g_2", "Fstar": "F_star", "top": "largest_gradient", "eps": "stability",
    "lam": "factor", "a": "power", "x": "p1", "y": "p2", "z": "p3", "u": "shift", "ci": "v1", "mm": "v2", "star": "x_star",
}


class P:
    """The paper's letters."""

    m, s, K, T, n = (SIZES[name] for name in ("clients", "participants", "local_steps", "rounds", "samples"))

    def __init__(self, w: World, at):
        self.w, self.at = w, at
        self.r, self.j, self.k, self.t, self.i = (at.get(name) for name in "rjkti")

    def __getattr__(self, name):
        if name in NUMBERS:
            return self.w.value(NUMBERS[name])
        raise AttributeError(name)

    def E(self, a):
        return self.w.E(a)

    def E2(self, a):
        """An expectation of coupled runs."""
        return self.w.E(a, coupled=self.k)

    # a run -----------------------------------------------------------------------------------------------------------
    def th(self, r):
        return self.w.value("x_round", r)

    def loc(self, r, step, k):
        return self.w.value("x_local", r * self.K + step, k)

    def end(self, r, step, k):
        return self.w.value("x_before", r * self.K + step, k)

    def g(self, r, step, k):
        return self.w.value("g", r * self.K + step, k)

    def cv(self, r, k):
        return self.w.value("client_variate", r, k)

    def mv(self, r):
        return self.w.value("server_variate", r)

    def drawn(self, r, k):
        return self.w.value("sampled", r, k)

    def Fi(self, k, v):
        return self.w.F(k, v)

    def dFi(self, k, v):
        return self.w.grad(k, v)

    def dF(self, v):
        return self.w.objective_grad(v)

    def f(self, v):
        return self.w.objective(v)

    # Appendices E, F, I ----------------------------------------------------------------------------------------------
    @property
    def sg(self):
        return self.w.value("sigma_g_client", self.k) if self.w.one_client else self.w.value("sigma_g")

    @property
    def sgi(self):
        return self.w.value("sigma_g_client", self.k)

    @property
    def bmu(self):
        return self.beta * self.mu / (self.beta + self.mu)

    def rate(self, r, step):
        return self.w.value("swa_rate", r * self.K + step)

    def len(self, r):
        return self.w.value("swa_length", r)

    def q(self, step):
        return 1 - self.rate(self.r, step) * self.bmu

    def pk(self, step):
        return 1 + self.rate(self.r, step) * self.beta

    def G(self, r):
        return self.E(norm(self.dF(self.th(r))))

    def Phi(self, r):
        return self.G(r) + self.sgi + self.sigma

    def Phig(self, r):
        return self.G(r) + self.sg + self.sigma

    def dev(self, step):
        return self.E(norm(self.end(self.r, step, self.k) - self.th(self.r)))

    def dev0(self, step):
        return self.E(norm(self.loc(self.r, step, self.k) - self.th(self.r)))

    def gn(self, step):
        return self.E(norm(self.g(self.r, step, self.k)))

    @property
    def ownF(self):
        return self.E(norm(self.dFi(self.k, self.th(self.r)))) + self.sigma

    @property
    def bK(self):
        return (1 - self.b) ** (self.K - 1)

    @property
    def cK(self):
        return (1 + self.c) ** (self.K - 1)

    def bt(self, r):
        return 1 + self.bK * self.beta * self.len(r)

    def ct(self, r):
        return 1 + self.cK * self.beta * self.len(r)

    @property
    def A(self):
        return 2 * self.L / (self.m * self.n * self.beta)

    @property
    def e_sc(self):
        return exp(1 - self.mu / ((self.beta + self.mu) * self.T))

    @property
    def e_nc(self):
        return exp(1 + 1 / self.T)

    @property
    def Bmain(self):
        return 1 + (self.mu / ((self.beta + self.mu) * self.K)) ** (self.K - 1) / self.T

    @property
    def BE1(self):
        return 1 + (self.mu / ((self.beta + self.mu) * self.K * self.T)) ** (self.K - 1) / self.T

    @property
    def BF1(self):
        return 1 + (1 - self.mu / ((self.beta + self.mu) * self.K * self.T)) ** (self.K - 1) / self.T

    @property
    def Cmain(self):
        return 1 + (2 + Q(1, self.K * self.T)) ** (self.K - 1) / self.T

    @property
    def Ls(self):
        return self.L + self.sigma

    # coupled runs
    def tw(self, r):
        return self.w.value("twin_x_round", r)

    @property
    def gap_T(self):
        return self.E2(norm(self.th(self.T) - self.tw(self.T)))

    def Delta(self, r):
        return self.E2(norm(self.th(r) - self.tw(r)))

    def own(self, a):
        return self.w.E_client(self.k, a)

    def dl(self, step):
        t = self.r * self.K + step
        return self.own(norm(self.w.value("x_local", t, self.k) - self.w.value("twin_x_local", t, self.k)))

    def dl_end(self, step):
        t = self.r * self.K + step
        return self.own(norm(self.w.value("x_before", t, self.k) - self.w.value("twin_x_before", t, self.k)))

    @property
    def Dl(self):
        return self.own(norm(self.th(self.r) - self.tw(self.r)))

    def Qt(self, r):
        return exp(-self.len(r) * self.bmu)

    def Pt(self, r):
        return exp(self.beta * self.len(r))

    @property
    def m_t(self):
        """E |m^t|, the variate that round r uses."""
        return self.E(norm(self.mv(self.r + 1)))

    def mom(self, noise, at=None):
        """sum_{l <= t} (1 - gamma)^l (gamma E |grad F(theta_{t-l})| + noise); ``at(l)`` for another point."""
        at = at or (lambda step: self.r - step)
        return total((1 - self.gamma) ** step * (self.gamma * self.G(at(step)) + noise) for step in R(self.r + 1))

    # Appendix G ------------------------------------------------------------------------------------------------------
    def named(self, name, shift=0):
        return self.w.value(name, self.r + shift)

    @property
    def dr(self):
        return self.named("drift_E1")

    @property
    def Cl(self):
        return self.named("variate_lag")

    @property
    def Cn(self):
        return self.named("variate_lag_after")

    @property
    def Ct(self):
        return self.named("variate_lag_total")

    @property
    def Ctn(self):
        return self.named("variate_lag_total", 1)

    @property
    def D(self):
        return self.named("server_lag")

    @property
    def Dn(self):
        return self.named("server_lag", 1)

    @property
    def Xi(self):
        return self.named("point_lag")

    @property
    def Xn(self):
        return self.named("point_lag", 1)

    @property
    def Gl(self):
        return self.named("moving_lag")

    @property
    def Gn(self):
        return self.named("moving_lag", 1)

    def fg(self, r):
        return self.E(self.f(self.th(r))) - self.Fstar

    @property
    def f1(self):
        return self.fg(self.r)

    def grad2(self, r):
        return self.E(sq(self.dF(self.th(r))))

    @property
    def N(self):
        return self.grad2(self.r)

    def dist(self, r):
        return self.E(sq(self.th(r) - self.star))

    @property
    def mv2(self):
        return self.E(sq(self.th(self.r + 1) - self.th(self.r)))

    @property
    def v(self):
        return self.s2 / (self.K * self.s)

    @property
    def nf(self):
        return 1 + self.s / self.alpha**2

    @property
    def el(self):
        return self.ee / (self.K * self.alpha)

    def over_drawn(self, inside):
        """(1/(Ks)) sum over local steps and sampled clients."""
        return total(inside(i, k) * self.drawn(self.r, k) for i in R(self.K) for k in R(self.m)) * Q(1, self.K * self.s)

    def over_all(self, inside):
        return total(inside(i, k) for i in R(self.K) for k in R(self.m)) * Q(1, self.K * self.m)

    def mean(self, inside):
        return total(inside(k) for k in R(self.m)) * Q(1, self.m)

    def sq_steps(self, step, which):
        """(1/m) sum over clients of E |theta_{i,k} - theta|^2."""
        return self.mean(lambda k: self.E(sq(which(self.r, step, k) - self.th(self.r))))


def mean_gap(p, ratio):
    """Weighted mean of the gaps of theta^0, ..., theta^R."""
    weights = [ratio ** (-r) for r in R(p.T + 1)]
    return sum(wt * p.fg(r) for r, wt in enumerate(weights)) / sum(weights)


def mean_gradient(p):
    return sum(p.grad2(r) for r in R(p.T + 1)) / (p.T + 1)


def F0(p):
    return p.f(p.th(0)) - p.Fstar


def gen(p):
    return p.w.value("generalisation_error")


def three(p, a, b, c):
    return a * p.L + b * p.sg + c * p.sigma


def S2(p):
    return math.sqrt(p.s2)


# main text and Table 1 -----------------------------------------------------------------------------------------------
def worst(p):
    return p.w.worst_sample_gap(p.th(p.T), p.tw(p.T))


def in_parameters(p):
    return p.L * p.gap_T


def explicit_convex(p):
    start = sq(p.th(0) - p.star) + 9 * p.m * p.ee**2 / p.s * p.w.value("variate_lag_total", 0)
    return Q(3, 2) * p.mu * (1 - p.mu * p.ee / 2) ** p.T * start + 12 * p.ee * p.s2 / (p.K * p.s) * p.nf


def tuned(p):
    first = 336 * p.beta * F0(p) * power(Q(p.m, p.s), Q(2, 3)) / (p.T + 1)
    return first + 28 * math.sqrt(5) * math.sqrt(p.s2) * math.sqrt(p.beta * F0(p) * p.nf / (p.K * p.s * (p.T + 1)))


def nonconvex_order(p, factor):
    root = S2(p) * math.sqrt(F0(p)) / math.sqrt(p.T * p.K * p.s) * math.sqrt(factor)
    return p.C * (root + p.beta * F0(p) / p.T * power(Q(p.m, p.s), Q(2, 3)))


def convex_order(p):
    first = p.s2 / (p.mu * p.T * p.K * p.s) * (1 + p.s / p.alpha**2)
    return p.C * (first + p.m * p.mu / p.s * p.w.value("start_distance_sq") * exp(-(Q(p.s, p.m) + p.mu / p.beta) * p.T))


def B(p):
    return p.C * p.L / (p.m * p.n * p.beta) * p.e_nc


def fedsam_order(p, L, sg):
    TKs = math.sqrt(p.T * p.K * p.s)
    return p.C * (p.beta * F0(p) / TKs + math.sqrt(p.K) * sg**2 / math.sqrt(p.T * p.s)
                  + L**2 * p.s2 / (p.T**1.5 * p.K) + L**2 / p.T**2)


def mofedsam_order(p, L, sg):
    TKs = math.sqrt(p.T * p.K * p.s)
    return p.C * (p.beta * L * F0(p) / TKs + p.beta * math.sqrt(p.K) * sg**2 / math.sqrt(p.T * p.s)
                  + L**2 * p.s2 / (p.T**1.5 * p.K) + math.sqrt(p.K) * L**2 / (p.T**1.5 * math.sqrt(p.s)))


def fedswa_order(p, sg):
    F = F0(p)
    return p.C * (p.beta * (S2(p) + math.sqrt(p.K) * sg) * math.sqrt(F) / math.sqrt(p.T * p.K * p.s)
                  + float(F) ** (2 / 3) * float(p.beta * sg**2) ** (1 / 3) / p.T ** (2 / 3) + p.beta * F / p.T)


def theorem_5_1(growth, factor, heterogeneity):
    def right(p):
        return p.A * growth(p) * three(p, factor(p), heterogeneity(p), factor(p))

    return {"": (gen, right), "@stability": (worst, right), "@parameters": (in_parameters, right)}


def one(p):
    return 1


def expand(prefix, rows):
    return {f"{prefix}{suffix}": row for suffix, row in rows.items()}


MAIN = {
    "lemma-4.1-stability": (lambda p: abs(gen(p)), lambda p: p.eps),
    **expand("theorem-5.1-strongly-convex-fedswa", theorem_5_1(lambda p: p.e_sc, lambda p: p.Bmain, lambda p: p.Bmain)),
    **expand("theorem-5.1-strongly-convex-fedmoswa", theorem_5_1(lambda p: p.e_sc, lambda p: p.Bmain, one)),
    **expand("theorem-5.1-nonconvex-fedswa", theorem_5_1(lambda p: p.e_nc, lambda p: p.Cmain, lambda p: p.Cmain)),
    **expand("theorem-5.1-nonconvex-fedmoswa", theorem_5_1(lambda p: p.e_nc, lambda p: p.Cmain, one)),
    "theorem-5.2-strongly-convex": (lambda p: mean_gap(p, 1 - p.mu * p.ee / 2), convex_order),
    "theorem-5.2-nonconvex": (mean_gradient, lambda p: nonconvex_order(p, 1 + p.m / p.alpha**2)),
    "theorem-5.2-nonconvex@table-1 table-1-opt-fedmoswa": (mean_gradient, lambda p: nonconvex_order(p, p.nf)),
    "explicit-5.2-strongly-convex": (lambda p: mean_gap(p, 1 - p.mu * p.ee / 2), explicit_convex),
    "explicit-5.2-nonconvex": (
        mean_gradient, lambda p: 14 * F0(p) / (p.ee * (p.T + 1)) + 70 * p.beta * p.ee * p.s2 / (p.K * p.s) * p.nf),
    "explicit-5.2-nonconvex-tuned": (mean_gradient, tuned),
    "table-1-gen-fedsam table-1-gen-mofedsam": (gen, lambda p: B(p) * three(p, p.cbar, p.cbar, p.cbar)),
    "table-1-gen-fedswa": (gen, lambda p: B(p) * three(p, p.Cmain, p.Cmain, p.Cmain)),
    "table-1-gen-fedmoswa": (gen, lambda p: B(p) * three(p, p.Cmain, 1, p.Cmain)),
    "table-1-opt-fedsam": (mean_gradient, lambda p: fedsam_order(p, p.L, p.sg)),
    "table-1-opt-fedsam@of-FedSAM": (mean_gradient, lambda p: fedsam_order(p, p.beta, p.sg2)),
    "table-1-opt-mofedsam": (mean_gradient, lambda p: mofedsam_order(p, p.L, p.sg)),
    "table-1-opt-mofedsam@of-FedSAM": (mean_gradient, lambda p: mofedsam_order(p, p.beta, p.sg2)),
    "table-1-opt-fedswa": (mean_gradient, lambda p: fedswa_order(p, p.sg)),
    "table-1-opt-fedswa@mean-square": (mean_gradient, lambda p: fedswa_order(p, p.sg2)),
    "text-opt-scaffold": (mean_gradient, lambda p: nonconvex_order(p, 1 + p.m)),
    "table-1-constants": (lambda p: p.cbar, lambda p: p.Cmain),
    "table-1-constants@at-least": (lambda p: p.cbar, lambda p: p.Cmain),
    "table-1-constants@far-above-one": (lambda p: p.Cmain, lambda p: 10),
    "claim-constants-large@b-tilde-sigma-g": (lambda p: p.Bmain * p.sg, lambda p: 10 * p.sg),
    "claim-constants-large@c-tilde-sigma-g": (lambda p: p.Cmain * p.sg, lambda p: 10 * p.sg),
    "claim-constants-large": (lambda p: 1 + power(p.mu / ((p.beta + p.mu) * p.K), p.K - 1) / p.T, lambda p: 10),
}


# Appendices D, E, F, I -----------------------------------------------------------------------------------------------
def G_map(p, v, k):
    return v - p.eta * p.dFi(k, v)


def expands(p):
    return norm(G_map(p, p.x, p.k) - G_map(p, p.y, p.k))


def xy(p):
    return norm(p.x - p.y)


def qq(p):
    return 1 - p.eta * p.bmu


def e_3(factor, gradient=lambda p: p.top):
    return lambda p: p.A * factor(p) * p.e_sc * (gradient(p) + p.sg + p.sigma)


def e_6(factor, gradient=lambda p: p.top):
    return lambda p: p.A * factor(p) * p.e_nc * (gradient(p) + p.sg + p.sigma)


def three_ways(right):
    return {"": (gen, right), "@stability": (worst, right), "@parameters": (in_parameters, right)}


def own_L(p):
    return p.L


def b_sum(factor):
    return lambda p: three(p, factor(p), 1, factor(p))


def f_3_gap(factor):
    return (lambda p: p.gap_T,
            lambda p: p.A / p.L * exp(1 - p.mu / (p.beta + p.mu)) * b_sum(factor)(p))


def f_3_gen(factor):
    return lambda p: p.A * p.e_sc * b_sum(factor)(p)


def f_6(factor):
    return lambda p: p.A * p.e_nc * b_sum(factor)(p)


VALUES = {"@b-tilde-main": lambda p: p.Bmain, "@b-tilde-E1": lambda p: p.BE1, "@b-tilde-F1": lambda p: p.BF1}
LEMMAS = {
    "lemma-d.1-smooth": (expands, lambda p: (1 + p.eta * p.beta) * xy(p)),
    "lemma-d.1-strongly-convex eq-17": (expands, lambda p: qq(p) * xy(p)),
    "lemma-e.1": (lambda p: p.dev(p.j), lambda p: p.bK * p.len(p.r) * p.Phi(p.r)),
    "lemma-e.2": (lambda p: p.gn(p.j), lambda p: (1 + p.bK * p.beta * p.len(p.r)) * p.Phi(p.r)),
    **{f"lemma-e.2{name}": (lambda p: p.gn(p.j), lambda p, v=v: v(p) * p.Phi(p.r)) for name, v in VALUES.items()},
    "lemma-e.4": (lambda p: p.dev(p.j), lambda p: p.cK * p.len(p.r) * p.Phi(p.r)),
    "lemma-e.5": (lambda p: p.gn(p.j), lambda p: (1 + p.cK * p.beta * p.len(p.r)) * p.Phi(p.r)),
    "lemma-f.1": (lambda p: p.dev(p.K), lambda p: p.len(p.r) * p.bK * p.Ls),
    "lemma-f.2": (
        lambda p: p.gn(p.j), lambda p: (1 + p.beta * p.len(p.r) * (1 + p.b) ** (p.K - 1)) * p.Ls + p.sgi),
    "lemma-f.2@as-used": (lambda p: p.gn(p.j), lambda p: (1 + p.beta * p.len(p.r) * p.bK) * p.Ls + p.sgi),
    "lemma-f.4": (lambda p: p.dev(p.j), lambda p: p.len(p.r) * (1 + p.c) ** (p.j - 1) * p.Ls),
    "lemma-f.5": (lambda p: p.gn(p.j), lambda p: (1 + p.beta * p.len(p.r) * p.cK) * p.Ls + p.sgi),
    **expand("theorem-e.3", three_ways(e_3(lambda p: p.bt(0)))),
    "theorem-e.3@gradient-L": (gen, e_3(lambda p: p.bt(0), own_L)),
    **{f"theorem-e.3{name}": (gen, e_3(v)) for name, v in VALUES.items()},
    **expand("theorem-e.6", three_ways(e_6(lambda p: p.ct(0)))),
    "theorem-e.6@gradient-L": (gen, e_6(lambda p: p.ct(0), own_L)),
    "theorem-e.6@c-tilde-main": (gen, e_6(lambda p: p.Cmain)),
    "theorem-f.3-gap": f_3_gap(lambda p: p.bt(0)),
    **{f"theorem-f.3-gap{name}": f_3_gap(v) for name, v in VALUES.items()},
    **expand("theorem-f.3-gen", three_ways(f_3_gen(lambda p: p.bt(0)))),
    **{f"theorem-f.3-gen{name}": (gen, f_3_gen(v)) for name, v in VALUES.items()},
    **expand("theorem-f.6", three_ways(f_6(lambda p: p.ct(0)))),
    "theorem-f.6@c-tilde-main": (gen, f_6(lambda p: p.Cmain)),
    "theorem-f.6@c-tilde-with-L": (gen, f_6(lambda p: (1 + p.beta * p.len(0) * p.cK) * p.Ls)),
    "theorem-f.6@c-tilde-proof": (gen, f_6(lambda p: 1 + (1 - p.c) ** (p.K - 1) * p.beta * p.len(0))),
    "lemma-i.1": (lambda p: p.dev(p.j), lambda p: (1 + p.cbar) ** (p.K - 1) * p.K * p.eta * p.Phi(p.r)),
    "lemma-i.1@proof": (lambda p: p.dev(p.j), lambda p: p.cK * p.K * p.eta * p.Phi(p.r)),
    "lemma-i.2": (lambda p: p.gn(p.j), lambda p: (1 + p.cK * p.beta * p.K * p.eta) * p.Phi(p.r)),
    **expand("theorem-i.3", three_ways(e_6(lambda p: p.cbar))),
    "theorem-i.3@gradient-L": (gen, e_6(lambda p: p.cbar, own_L)),
    "theorem-i.3@printed-c": (gen, e_6(lambda p: p.c)),
    "app-i-constants": (
        lambda p: 1 + p.cK * p.beta * sum(p.w.value("rates", i) for i in R(p.K)),
        lambda p: 1 + p.cK * p.beta * p.K * p.eta),
}


# Lemmas G.5-G.8 ------------------------------------------------------------------------------------------------------
def seq(p, name, i):
    return p.w.value(name, i)


def Psi_5(p):
    step, c, mu, R_ = p.w.value("step"), p.w.value("drop"), p.mu, SIZES["length"] - 2
    w = {r: (1 - mu * step) ** (1 - r) for r in R(1, R_ + 2)}
    d = [seq(p, "d", r) for r in R(R_ + 2)]
    inner = sum(w[r] / step * (1 - mu * step) * d[r - 1] - w[r] / step * d[r] + c * step * w[r] for r in w)
    return inner / sum(w.values())


def decreasing(p, factor):
    return 3 * p.mu * seq(p, "d", 0) * factor + p.w.value("drop") * p.w.value("step")


def Psi_6(p):
    step, c1, c2, R_ = (*(p.w.value(n) for n in ("step", "first", "second")), SIZES["length"] - 2)
    parts = (seq(p, "d", r - 1) / step - seq(p, "d", r) / step + c1 * step + c2 * step**2 for r in R(1, R_ + 2))
    return sum(parts) / (R_ + 1)


def g_6(p):
    d0, c1, c2, last = seq(p, "d", 0), p.w.value("first"), p.w.value("second"), SIZES["length"] - 1
    return (d0 / (p.w.value("largest_step") * last) + 2 * math.sqrt(c1 * d0) / math.sqrt(last)
            + 2 * float(d0 / last) ** (2 / 3) * float(c2) ** (1 / 3))


def outcome(p, k, i):
    return p.w.value("outcome", k, i)


def chance(p, inside):
    return total(inside(k) * p.w.value("chance", k) for k in R(SIZES["outcomes"]))


def weights_5(p):
    return [(1 - p.mu * p.w.value("step")) ** (1 - r) for r in R(1, SIZES["length"])]


def own_mean_8(p, i):
    return chance(p, lambda k: outcome(p, k, i))


def deviation_8(p):
    return chance(p, lambda k: sq(total(outcome(p, k, i) - own_mean_8(p, i) for i in TERMS)))


TERMS = R(SIZES["terms"])
ALL_T = R(SIZES["iterations"])


def sum_g(p):
    return total(p.w.value("g", t, p.k) for t in ALL_T)


def sum_grad(p):
    return total(p.dFi(p.k, p.w.value("x_local", t, p.k)) for t in ALL_T)


def exponent_5(p, step):
    return exp(-p.mu * p.w.value(step) * (SIZES["length"] - 2))


TOOLS = {
    "lemma-g.5 lemma-g.5@proof-step lemma-g.5@proof-step+no-logarithms": (
        Psi_5, lambda p: p.C * (p.mu * seq(p, "d", 0) * exponent_5(p, "largest_step")
                                + p.w.value("drop") / (p.mu * (SIZES["length"] - 2)))),
    "lemma-g.5-explicit": (
        Psi_5, lambda p: decreasing(p, (1 - p.mu * p.w.value("step")) ** (SIZES["length"] - 2))),
    "lemma-g.5-explicit@exponential": (
        lambda p: decreasing(p, (1 - p.mu * p.w.value("step")) ** (SIZES["length"] - 2)),
        lambda p: decreasing(p, exponent_5(p, "step"))),
    "lemma-g.5-explicit@telescoped": (
        Psi_5, lambda p: seq(p, "d", 0) / (p.w.value("step") * sum(weights_5(p))) + p.w.value("drop") * p.w.value("step")),
    "lemma-g.5-explicit@weights": (
        lambda p: p.w.value("step") * sum(weights_5(p)),
        lambda p: (1 - p.mu * p.w.value("step")) ** (2 - SIZES["length"]) / (3 * p.mu)),
    "lemma-g.5-explicit@two-thirds": (lambda p: exponent_5(p, "step"), lambda p: Q(2, 3)),
    "lemma-g.6 lemma-g.6@proof-step lemma-g.6@positive-start lemma-g.6@positive-start+proof-step": (Psi_6, g_6),
    "lemma-g.7": (lambda p: sq(p.x + p.y), lambda p: (1 + p.lam) * sq(p.x) + (1 + 1 / p.lam) * sq(p.y)),
    "lemma-g.7@identity": (
        lambda p: sq(p.x + p.y),
        lambda p: (1 + p.lam) * sq(p.x) + (1 + 1 / p.lam) * sq(p.y)
        - sq(p.x * math.sqrt(p.lam) + p.y * (1 / math.sqrt(p.lam)))),
    "lemma-g.7@part-2": (
        lambda p: sq(total(seq(p, "vectors", i) for i in TERMS)),
        lambda p: len(TERMS) * sum(sq(seq(p, "vectors", i)) for i in TERMS)),
    "lemma-g.8-mean": (
        lambda p: chance(p, lambda k: sq(total(outcome(p, k, i) for i in TERMS))),
        lambda p: sq(total(chance(p, lambda k, i=i: outcome(p, k, i)) for i in TERMS)) + len(TERMS) ** 2 * p.s2),
    "lemma-g.8-mean@identity": (
        lambda p: chance(p, lambda k: sq(total(outcome(p, k, i) for i in TERMS))),
        lambda p: sq(total(own_mean_8(p, i) for i in TERMS)) + deviation_8(p)),
    "lemma-g.8-mean@deviation": (lambda p: deviation_8(p), lambda p: len(TERMS) ** 2 * p.s2),
    "lemma-g.8-martingale": (
        lambda p: p.E(sq(sum_g(p))), lambda p: 2 * p.E(sq(sum_grad(p))) + 2 * len(ALL_T) * p.s2),
    "lemma-g.8-martingale@printed": (
        lambda p: p.E(sq(sum_g(p))), lambda p: 2 * sq(sum_grad(p)) + 2 * len(ALL_T) * p.s2),
}


# Lemmas G.9-G.18, Theorem H.1 ----------------------------------------------------------------------------------------
def lag_right(p, share, lag):
    power_of = power(share, 2 * p.a - 1)
    return ((1 - Q(17, 36) * share) * lag + power_of / (48 * p.beta**2) * p.N + Q(97, 48) * power_of * p.dr
            + share / p.beta**2 * p.s2 / (32 * p.K * p.s))


def H(p):
    return (p.ee / (9 * p.beta) * p.Ct + p.ee / (9 * p.beta) * p.D + p.f1 / (75 * p.alpha**2 * p.beta)
            + p.ee / (3 * p.K * p.alpha**2 * p.beta) * p.s2)


def ms(p):
    return Q(p.m, p.s)


def g_10(p, lag):
    return (1 - 1 / ms(p)) * lag + 1 / ms(p) * (4 * p.beta * p.f1 + 2 * p.beta**2 * p.dr)


def g_13_left(p, lag):
    return p.dist(p.r + 1) + 9 * ms(p) * p.ee**2 * lag


def g_13(p, lag):
    return ((1 - p.mu * p.ee / 2) * (p.dist(p.r) + 9 * ms(p) * p.ee**2 * lag) - p.ee * p.f1
            + 12 * p.ee**2 * p.v * p.nf)


ROUNDS = {
    "lemma-g.9": (
        lambda p: p.mv2,
        lambda p: 8 * p.beta * p.ee**2 * p.f1 + 4 * p.ee**2 * (p.Ct + p.D + p.beta**2 * p.dr) + 12 * p.ee**2 * p.v),
    "lemma-g.10": (lambda p: p.Ctn, lambda p: g_10(p, p.Ct)),
    "lemma-g.10@lag-round": (lambda p: p.Cn, lambda p: g_10(p, p.Cl)),
    "lemma-g.11": (
        lambda p: p.Dn, lambda p: (1 - p.gamma) * p.D + p.gamma * (4 * p.beta * p.f1 + 2 * p.beta**2 * p.dr)),
    "lemma-g.12": (
        lambda p: 3 * p.beta * p.ee * p.dr,
        lambda p: p.ee**2 / 3 * (p.Ct + p.D) + p.ee / (25 * p.alpha**2) * p.f1 + p.ee**2 / (p.K * p.alpha**2) * p.s2),
    "lemma-g.13": (lambda p: g_13_left(p, p.Ctn), lambda p: g_13(p, p.Ct)),
    "lemma-g.13@lag-round": (lambda p: g_13_left(p, p.Cn), lambda p: g_13(p, p.Cl)),
    "lemma-g.14-mean": (
        lambda p: p.E(sq(p.w.E_round(p.th(p.r + 1) - p.th(p.r), p.r))),
        lambda p: 2 * p.ee**2 * p.beta**2 * p.dr + 2 * p.ee**2 * p.N),
    "lemma-g.14-second": (
        lambda p: p.mv2,
        lambda p: 4 * p.ee**2 * p.beta**2 * (p.dr + p.Xi + p.Gl) + 4 * p.ee**2 * p.N + 9 * p.ee**2 * p.v),
    "lemma-g.15": (lambda p: p.Gn, lambda p: lag_right(p, p.gamma, p.Gl)),
    "lemma-g.16": (lambda p: p.Xn, lambda p: lag_right(p, 1 / ms(p), p.Xi)),
    "lemma-g.17 eq-101": (
        lambda p: Q(5, 3) * p.beta**2 * p.ee * p.dr,
        lambda p: Q(5, 6) * p.beta**3 * p.ee**2 * (p.Xi + p.Gl) + p.ee / (24 * p.alpha**2) * p.N
        + p.ee**2 * p.beta / (4 * p.K * p.alpha**2) * p.s2),
    "lemma-g.18": (
        lambda p: p.E(p.f(p.th(p.r + 1))) + 12 * p.beta**3 * p.ee**2 * ms(p) * p.Xn,
        lambda p: p.E(p.f(p.th(p.r))) + 12 * p.beta**3 * p.ee**2 * ms(p) * p.Xi + 5 * p.beta * p.ee**2 * p.v * p.nf
        - p.ee / 14 * p.N),
    "theorem-h.1-constant": (lambda p: p.dr, H),
    "theorem-h.1-decay": (lambda p: p.dr, lambda p: H(p) / 3),
}
