"""What FAdamGC's statements suppose and over what they range, written from the paper; rounds and steps count from 0."""

from math import sqrt

import numpy as np

from tests.bounds.chance import Min
from tests.bounds.papers.fadamgc_world import length
from tests.bounds.rows import Assumed, Relation

__all__ = ["DOMAINS", "METHOD", "SUPPOSED"]

METHOD = "fadamgc"
DOMAINS = {
    **dict.fromkeys(("eta", "eta_g", "L", "sigma", "G", "factor", "eps"), "positive"),
    **dict.fromkeys(("beta1", "beta2"), "nonnegative below 1"),
    **dict.fromkeys(("C", "C_beta", "C_all"), "hidden"),
}


def lam(w):
    return (1 - w.beta1) * w.beta1 / (w.G + w.eps)


def each_round(w):
    return range(w.rounds)


def each_iteration(w):
    return range(w.iterations)


def each_client(w, *_):
    return range(w.clients)


def _step(left, sign, right):
    return Relation(left, sign, right)


def eta(sign, right):
    return Relation(lambda w: w.eta, sign, right)


def both(sign, right):
    """A condition on eta_g eta_l."""
    return Relation(lambda w: w.eta_g * w.eta, sign, right)


def both_is(right):
    """``eta_g eta_l = right``, as the value of eta_g."""
    return Relation(lambda w: w.eta_g, "==", lambda w: right(w) / w.eta)


def _at_clients(left, sign, right):
    return Relation(left, sign, right, (each_client,))


def fourth(w):
    """sqrt(F n)/(lambda sigma sqrt(T K L))."""
    return sqrt(w.F0_gap * w.clients) / (lam(w) * w.sigma * sqrt(w.rounds * w.local_steps * w.L))


def lam_over(w, number):
    return lam(w) / (number * w.L)


def special(w):
    return Min(sqrt(w.F0_gap * w.clients) / sqrt(w.sigma**2 * w.local_steps * w.rounds * w.L), w.F0_gap / w.rounds)


def _three(third):
    """min{lambda/(8KL), lambda/(12TL), third}."""
    return both_is(lambda w: Min(lam_over(w, 8 * w.local_steps), lam_over(w, 12 * w.rounds), third(w)))


def beta_star(w):
    return ((w.local_steps * w.clients - 2 * w.rounds) / (2 * w.local_steps * w.clients)) ** (1 / w.local_steps)


SUPPOSED = {
    # "|grad f_i(x_1) - grad f_i(x_2)| <= L |x_1 - x_2|"
    "assumption-5.1-1": Assumed((_at_clients(lambda w, k: w.L_client[k], "<=", lambda w, k: w.L),)),
    # "E |n_i|^2 <= sigma^2", unbiased, independent
    "assumption-5.1-2": Assumed((_at_clients(lambda w, k: w.sigma_sq_client[k], "<=", lambda w, k: w.sigma**2),)),
    # "|g_i^(t)| <= G" at every local point visited
    "assumption-5.3": Assumed((Relation(
        lambda w, t, k: length(w.g[t][k]), "<=", lambda w, t, k: w.G, (each_iteration, each_client)),)),
    # "|grad f_i(x) - grad f(x)| <= B for all x"
    "assumption-C.1": Assumed((_at_clients(lambda w, k: w.sigma_g_client[k], "<=", lambda w, k: w.sigma_g_max),)),
    # starts: y = 0 or gradients; v = 0
    "y-zero": (_at_clients(lambda w, k: w.client_variate[0][k], "==", lambda w, k: 0),
               Relation(lambda w: w.server_variate[0], "==", lambda w: 0)),
    "y-gradient": (_at_clients(lambda w, k: w.client_variate[0][k], "==", lambda w, k: w.grad(k, w.x_round[0])),
                   Relation(lambda w: w.server_variate[0], "==", lambda w: sum(w.client_variate[0]) / w.clients)),
    "v-zero": _at_clients(lambda w, k: w.client_moment2[0][k], "==", lambda w, k: 0),
    # steps
    "5.4": (_three(fourth), eta("<=", lambda w: lam(w) * w.eps / (40 * w.rounds * w.L))),
    "5.4-appendix": (_three(lambda w: sqrt(w.clients) / (lam(w) * w.sigma * sqrt(w.rounds * w.local_steps * w.L))),
                     eta("<=", lambda w: lam(w) * w.eps / (40 * sqrt(w.rounds) * w.L))),
    "78": (Relation(lambda w: 1 - w.beta1, "<", lambda w: w.eps**2 / (16 * w.local_steps * w.L**2)),
           eta("<=", lambda w: w.eps / (4 * sqrt(1 - w.beta1) * w.local_steps * w.L))),
    "38": both("<=", lambda w: lam_over(w, 8 * w.local_steps)),
    "152": eta("<=", lambda w: w.eps * lam(w) / (30 * w.local_steps * w.L)),
    "C.2": (_three(lambda w: lam(w) * sqrt(w.clients) / (30 * sqrt(w.rounds) * w.L)),
            eta("<=", lambda w: Min(lam(w) * w.eps / (40 * w.rounds**1.5 * w.L),
                                    lam(w) * w.eps / (30 * w.local_steps * w.L)))),
    "C.2-appendix": (_three(fourth), eta("<=", lambda w: lam(w) * w.eps / (12 * w.rounds**1.5 * w.L))),
    "5.2": (both_is(special), eta("<=", lambda w: 1 / w.rounds),
            Relation(lambda w: w.beta1, "==", beta_star)),
    "C.3": (both_is(lambda w: sqrt(w.clients * w.local_steps / w.rounds)), eta("<=", lambda w: 1 / w.rounds),
            Relation(lambda w: w.beta1, "==", beta_star)),
    # 1 - 2 beta_1^K > 0
    "decay": Relation(lambda w: 1 - 2 * w.beta1**w.local_steps, ">", lambda w: 0),
    "two-steps": Relation(lambda w: w.local_steps, ">=", lambda w: 2),
    # "y_i^0 = grad f_i(x^0)/|grad f_i(x^0)|"
    "y-normed": (_at_clients(lambda w, k: w.client_variate[0][k], "==", lambda w, k: (
        w.grad(k, w.x_round[0]) / length(w.grad(k, w.x_round[0])))),
        Relation(lambda w: w.server_variate[0], "==", lambda w: sum(w.client_variate[0]) / w.clients)),
    # "b = Y/(2(n - Y))"
    "chosen-b": Relation(lambda w: w.factor, "==", lambda w: w.trackers / (2 * (w.clients - w.trackers))),
}
