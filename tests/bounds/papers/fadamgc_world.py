"""FAdamGC's formulas in plain Python, written from the paper with its own indices: rounds t, steps k, clients i from 1.

Every name has a random value of its own. ``p.E`` is some function of a number, or nothing where a claim is about every run.
A row gives both sides of a claim at the indices of its statement, from the paper's quantities ``p`` in the claim's reading.
"""

import random
from math import e, sqrt
from types import SimpleNamespace

import numpy as np

from tests.bounds import chance

#: clients, local steps, rounds: different from each other, and such that beta_star is a number
N, K, T = 4, 3, 2
SCALARS = """
    L sigma G sigma_g_max eta eta_g beta1 beta2 eps F0_gap F_star C C_beta C_all factor C_1 f_now f_next error_now
    error_next gradient gap_now total_drop total_change total_gap sgd_step"""
VECTORS = "any_q any_u any_grad any_direction x_star control model own_control"


def world(seed):
    """Random values: numbers, ``name[t]``, ``name[t][k]``; functions grad, objective, objective_grad."""
    rng = random.Random(seed)

    def number():
        return rng.randint(25, 60) / rng.randint(61, 90)

    def vector():
        return np.array([rng.randint(-40, 40) / 20 for _ in range(2)])

    def positive():
        return abs(vector()) + 0.3

    def table(make, *sizes):
        return [table(make, *sizes[1:]) for _ in range(sizes[0])] if sizes else make()

    w = SimpleNamespace(**{n: number() for n in SCALARS.split()}, **{n: vector() for n in VECTORS.split()})
    w.clients, w.local_steps, w.rounds, w.iterations, w.participants, w.trackers, w.euler = N, K, T, K * T, 7, 5, e
    times = (T + 1) * K + 2
    for name in ("x_local", "x_before", "g"):
        setattr(w, name, table(vector, times, N))
    w.x_round, w.server_variate, w.z_x_round = (table(vector, T + 2) for _ in range(3))
    w.client_variate = table(vector, T + 2, N)
    w.client_moment2, w.client_moment2_max = table(positive, T + 2, N), table(positive, T + 2, N)
    w.client_scalar_moment2 = table(number, T + 2, N)
    w.sampled, w.tracked = ([[rng.randint(0, 1) for _ in range(N)] for _ in range(T + 1)] for _ in range(2))
    w.L_client, w.sigma_sq_client = table(number, N), table(number, N)
    w.eta_l = table(number, times)
    w.step_gradient, w.own_controls, w.local_end = table(vector, K), table(vector, N), table(vector, N)
    w.e_value = table(number, K)
    w.beta1 /= 2  # 1 - 2 beta1 stands under a root
    curves, centres = table(number, N), table(vector, N)
    w.grad = lambda k, v: (v - centres[k]) * curves[k]
    w.objective_grad = lambda v: v * 5 + centres[1]
    w.objective = lambda v: 7 * v @ v + v @ centres[0] + 3
    return w


def length(v):
    return sqrt(v @ v)


def sq(v):
    return v @ v if isinstance(v, np.ndarray) else v * v


def total(terms):
    return sum(terms[1:], terms[0]) if terms else 0


def upto(k):
    return range(1, k + 1)


class P:
    """The paper's quantities; ``nt``: FA-NT's; ``flags``: names of the reading."""

    def __init__(self, w, nt, flags):
        self.w, self.nt, self.flags = w, nt, flags
        self.b1, self.b2, self.eps, self.L, self.sigma, self.G = w.beta1, w.beta2, w.eps, w.L, w.sigma, w.G
        self.eta, self.H, self.F, self.B = w.eta, w.eta_g * w.eta, w.F0_gap, w.sigma_g_max
        self.lam = (1 - w.beta1) * w.beta1 / (w.G + w.eps)
        self.Y = w.participants if "all-tracked" in flags else w.trackers
        self.A2 = 6 * (1 - w.beta2) * w.G**6 + 8 * (1 - w.beta1) * (w.sigma**2 + w.G**2)
        self.J = (w.G**2 + w.sigma**2) / w.eps**2
        self.E = (lambda a: a) if "pathwise" in flags else chance.E
        self.bare = self.E if "in-mean" in flags else lambda a: a  # where the print has no expectation
        self.S, self.a = N if "full" in flags else w.participants, w.factor
        self.root = sqrt(w.L * self.F * w.sigma**2 / (N * K * T))

    # models, gradients and states
    def x(self, t):
        return self.w.x_round[t - 1]

    def xl(self, t, k, i):
        return self.w.x_local[(t - 1) * K + k - 1][i - 1]

    def g(self, t, k, i):
        return self.w.g[(t - 1) * K + k - 1][i - 1]

    def y(self, t):
        return self.w.server_variate[t - 1]

    def yi(self, t, i):
        return self.w.client_variate[t - 1][i - 1]

    def f(self, t):
        return self.w.objective(self.x(t))

    def gf(self, t):
        return self.w.objective_grad(self.x(t))

    def grad(self, i, v):
        return self.w.grad(i - 1, v)

    def gfi(self, t, i):
        return self.grad(i, self.x(t))

    def tracked(self, t, i):
        return (self.w.sampled if "all-tracked" in self.flags else self.w.tracked)[t - 1][i - 1]

    # moments
    def c(self, k, q):
        return (1 - self.b1) * self.b1 ** (k - q)

    def ck(self, k):
        return 1 - self.b1**k

    def cavg(self):
        return sum(map(self.ck, upto(K))) / K

    def ghat(self, t, k, i):
        return self.g(t, k, i) if self.nt else self.g(t, k, i) + self.y(t) - self.yi(t, i)

    def m(self, t, k, i):
        return sum((self.c(k, q) * self.ghat(t, q, i) for q in upto(k)), np.zeros(2))

    def v(self, t, k, i):
        scalar = "norm-scalar" in self.flags
        v = (self.w.client_scalar_moment2 if scalar else self.w.client_moment2)[t - 1][i - 1]
        for q in upto(k):
            g = self.ghat(t, q, i)
            v = self.b2 * v + (1 - self.b2) * (g @ g if scalar else g * g)
        return v

    def ws(self, t, k, i):
        """sqrt(vhat)."""
        top = self.v(t, 0, i)
        if "vhat-carry" in self.flags:
            top = np.maximum(top, self.w.client_moment2_max[t - 1][i - 1])
        for q in upto(k):
            top = np.maximum(top, self.v(t, q, i))
        return np.sqrt(top)

    def vbar(self, t):
        return sum(np.sqrt(self.w.client_moment2[t - 1][i - 1]) for i in upto(N)) / N

    def delta(self, t, k, i):
        moved = (self.xl(t, k, i) - self.w.x_before[(t - 1) * K + k][i - 1]) / self.eta
        return moved - self.y(t) + self.yi(t, i) if self.nt else moved

    def gamma(self, t, k, i):
        if t == 1:
            return self.x(1)
        return self.xl(t - 1, k, i) if self.tracked(t - 1, i) else self.gamma(t - 1, k, i)

    def stored_gradient(self, t, k, i):
        """grad f_i(gamma), which is the first y_i while i has not renewed it."""
        if t == 1:
            return self.yi(1, i)
        return self.grad(i, self.xl(t - 1, k, i)) if self.tracked(t - 1, i) else self.stored_gradient(t - 1, k, i)

    def last(self, t, k, i):
        """The direction that a tracker of round t stores."""
        if "alpha-vhat" in self.flags:
            return self.delta(t, k, i)
        return self.m(t, k, i) / (np.sqrt(self.v(t, k, i)) + self.eps)

    def alpha(self, t, k, i):
        if t == 1:
            return self.yi(1, i)
        return self.last(t - 1, k, i) if self.tracked(t - 1, i) else self.alpha(t - 1, k, i)

    def M(self, t, k, i):
        return sum(self.c(k, q) * self.grad(i, self.xl(t, q, i)) for q in upto(k))

    def Q(self, t, k, i):
        stored = [sum(self.stored_gradient(t, q, h) for h in upto(N)) / N - self.stored_gradient(t, q, i) for q in upto(K)]
        return sum(self.c(k, q) for q in upto(k)) * sum(stored) / K

    def mt(self, t, k, i):
        prime = "k-prime" in self.flags
        if self.nt:
            return self.M(t, k, i) if prime else self.ck(k) * self.grad(i, self.xl(t, k, i))
        if prime:
            return self.M(t, k, i) + self.Q(t, k, i)
        shared = sum(self.stored_gradient(t, k, h) for h in upto(N)) / N
        return self.ck(k) * (self.grad(i, self.xl(t, k, i)) - self.stored_gradient(t, k, i) + shared)

    # averages
    @staticmethod
    def ik(term):
        """``sum_ik``."""
        return total([term(k, i) for i in upto(N) for k in upto(K)])

    def Sk(self, t, term):
        """``(1/S) sum_Sk``."""
        return total([self.w.sampled[t - 1][i - 1] * term(k, i) for i in upto(N) for k in upto(K)]) / self.S

    def N2(self, t):
        return self.E(sq(self.gf(t)))

    def Pn(self, t):
        return self.E(length(self.gf(t)))

    def Ef(self, t):
        return self.E(self.f(t))

    def D(self, t):
        return self.Ef(t + 1) - self.Ef(t)

    def bare_D(self, t):
        """E f(x^{t+1}) - f(x^t)."""
        return self.Ef(t + 1) - self.bare(self.f(t))

    def V(self, t):
        return self.E(sq(self.vbar(t + 1) - self.vbar(t)))

    def Xi(self, t):
        return self.ik(lambda k, i: self.E(sq(self.M(t, k, i) - self.ck(k) * self.gfi(t, i)))) / N

    def ED(self, t):
        return self.ik(lambda k, i: self.E(sq(self.mt(t, k, i) - self.ck(k) * self.gfi(t, i)))) / N

    def EB(self, t):
        return self.ik(lambda k, i: self.E(length(self.gamma(t, k, i) - self.x(t)))) / (N * K)

    def Gam(self, t):
        return self.ik(lambda k, i: self.E(sq(self.alpha(t, k, i) - self.gfi(t, i)))) / (N * K)

    def U(self, t):
        return self.Sk(t, lambda k, i: self.delta(t, k, i))

    def u(self, t):
        return self.ik(lambda k, i: self.delta(t, k, i)) / (N * K)

    def ew(self, t, k, i, vector):
        return vector / (self.ws(t, k, i) + self.eps)

    def eb(self, t, vector):
        return vector / (self.vbar(t) + self.eps)

    def Z(self, t, of):
        return self.E(sq(self.ik(lambda k, i: self.ew(t, k, i, of(t, k, i)) - self.eb(t, of(t, k, i))) / (N * K)))

    def W(self, t):
        return self.E(sq(self.ik(lambda k, i: self.eb(t, self.ew(t, k, i, self.ws(t, k, i) - self.vbar(t)))) / (N * K)))

    def cross(self, t, vector):
        return -self.H * self.E(self.gf(t) @ vector)

    def es(self, t, k):
        """``e^{k}`` of (61)."""
        return sum(self.c(k, q) * self.E(sq(self.xl(t, q, i) - self.x(t))) for i in upto(N) for q in upto(k))

    def ss(self, t, k):
        """``s^{k}`` of (69)."""
        return sum(self.c(k, q) * self.E(sq(self.delta(t, q, i))) for i in upto(N) for q in upto(k))

    def tail(self, t, with_RG=True):
        """RV + RG + RS."""
        return (self.H * K * self.G**2 / (self.lam * self.eps**2) * self.V(t)
                + 2 * self.H**2 * (1 - self.eps) ** 2 / self.eps**2 * K**2 * self.L * self.G**2 + self.RS())

    def RS(self):
        return self.H**2 * K * self.L * self.sigma**2 / N

    def CX(self):
        return 2 * self.H / (self.eps**2 * self.lam)
