"""Random numbers for A-FedPD's letters, and the paper's quantities in them. The paper's t is ``at.r``.

Expectations multiply by a factor of their own, so that one cannot stand for another.
"""

import random
from math import sqrt
from types import SimpleNamespace

import numpy as np

from bounds.language import functions, operators
from bounds.language import samples as on_samples
from tests.bounds.claim_values import Values, entry

#: no two alike, so that none stands for another
C, P, K, T, S = 3, 2, 4, 7, 11
R = range
NUMBERS = [
    "L", "rho_prox", "eps_inexact", "F_star", "constant", "c", "eta", "eta_0", "alpha_mult", "beta_mult", "gamma_mult",
    "q_mult", "mu_lr", "G_lip", "H_loss", "R_now", "R_before", "J_now", "h_sq", "f_now", "f_next", "f_first", "f_last",
    "f_low", "f_1", "f_2", "f_3", "R_start", "R_end", "R_1", "R_2", "h_sq_1", "h_sq_2", "s_1", "s_2", "s_3", "s_4", "D", "p",
    "loss_1", "twin_loss_1", "loss_2", "twin_loss_2", "distance", "a_now", "D_theta", "D_lambda", "D_last", "x_plus_1",
    "curvature", "x_1", "lam_1", "Delta", "sigma_dual", "Delta_next", "sigma_next", "delta_next", "pi_next", "excess", "m",
    "z", "margin", "some_step", "tau_real", "tau_other", "root_1", "root_2",
]


def sq(v):
    return float(v @ v)


def norm(v):
    return sqrt(sq(v))


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
    w.tau0, w.length, w.count, w.p_lr = 5, 6, 9, 10
    w.x_round, w.twin_x_round = table(vector, T + 2), table(vector, T + 2)
    w.server_x_bar, w.twin_server_x_bar = table(vector, T + 2), table(vector, T + 2)
    for name in ("server_duals", "twin_server_duals", "client_dual"):
        setattr(w, name, table(vector, T + 2, C))
    for name in ("x_local", "x_before", "twin_x_before", "g"):
        setattr(w, name, table(vector, (T + 2) * K, C))
    w.sampled = [[int(i != t % C) for i in R(C)] for t in R(1, T + 3)]
    w.differing, w.eta_l, w.L_client = [0, 1, 0], table(number, (T + 1) * K), table(number, C)
    for name in ["a", "slack", "V", "W"]:
        setattr(w, name, table(number, 10))
    w.update_gap, w.lam_gaps = table(vector, w.count + 1), table(vector, w.count + 1)
    for name in ["w_gap", "x_gap", "lam_gap", "g_gap", "rest_gap", "g_one", "g_two", "rest_one", "rest_two", "at_point",
                 "sent_mean"]:
        setattr(w, name, vector())
    steep, centre = table(number, C), table(vector, C)
    w.grad = lambda k, v: (v - centre[k]) * steep[k]
    w.objective = lambda v: 3 * sq(v) + v @ centre[0]
    w.objective_grad = lambda v: 6 * v + centre[0]
    w.u, w.f_grad = vector(), lambda v: 4 * v - centre[2]
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


def error(w, t, i, duals=None):
    return w.grad(i, trained(w, t, i)) + (duals or w.server_duals)[t][i] + w.rho_prox * (trained(w, t, i) - w.x_round[t])


def simple(left, right):
    return lambda w, a, at: (left(w, at), right(w, at))


def values(w, definitions) -> Values:
    """Values in a world; definitions are put in."""
    return Values(lambda name, places: entry(getattr(w, name), places), {
        operators.norm2: sq, operators.norm: norm, operators.dot: lambda u, v: float(u @ v), operators.E: E,
        operators.E_round: E_t,
        operators.grad: lambda k, v: w.grad(int(k), v), operators.tau: lambda t: t - t % K, functions.f_grad: w.f_grad,
        operators.objective: w.objective, operators.objective_grad: w.objective_grad,
        on_samples.E_data: E_data, on_samples.E_unused: E_unused, on_samples.F_pop: w.F_pop,
        on_samples.worst_mean_gap: w.worst_mean_gap, on_samples.worst_mean_signed_gap: w.worst_mean_signed_gap,
    }, definitions=definitions, number=float)
