"""FedSWA's and FedMoSWA's assumptions and conditions in plain Python, written from the paper's Section 5 and appendices."""

import math
from fractions import Fraction as Q

from tests.bounds.chance import Max, Min
from tests.bounds.claim_values import power, sq
from tests.bounds.papers.fedmoswa_theorem_rows import P, R, chance, outcome, own_mean_8, seq
from tests.bounds.papers.fedmoswa_world import SIZES, norm
from tests.bounds.rows import Assumed, Relation

__all__ = [
    "DOMAINS", "SUPPOSED", "each_client", "each_iteration", "each_round", "each_term", "from_0_to_K", "from_step_1",
    "to_step_K",
]


def each_round(w):
    """t = 0, ..., T - 1, of Appendix G t = 1, ..., T."""
    return R(P.T)


def each_iteration(w):
    return R(P.T * P.K)


def each_client(w, *_):
    return R(P.m)


def each_term(w):
    return R(SIZES["terms"])


def from_step_1(w, *_):
    """k = 1, ..., K."""
    return R(1, P.K + 1)


def from_0_to_K(w, *_):
    """k = 0, ..., K."""
    return R(P.K + 1)


def to_step_K(w, *_):
    """k = 0, ..., K - 1."""
    return R(P.K)


def relation(left, sign, right, *over):
    """A relation of the paper's letters."""
    return Relation(lambda w, *at: left(P(w, {}), *at), sign, lambda w, *at: right(P(w, {}), *at), over)


def at_clients(name, sign, right):
    return relation(lambda p, k: p.w.value(name, k), sign, lambda p, k: right(p), each_client)


def bound(right, gradient, *ranges):
    """|gradient|^2 <= L^2 at the points of these ranges."""
    return relation(lambda p, *at: sq(gradient(p, *at)), "<=", lambda p, *at: right(p), *ranges)


def G_lip_sq(p):
    return p.w.value("G_lip_sq")


def recorded(name):
    return lambda p, *at: p.w.value(name, *at)


def dF_at(name):
    return lambda p, r: p.dF(p.w.value(name, r))


def to_R(w):
    """t = 0, ..., T: every model of the server."""
    return R(P.T + 1)


def lipschitz(*ends):
    """Assumption 2 at the local models, and C.2's note E |grad F(theta_t)| <= L at the server's."""
    return tuple(relation_ for end in ends for relation_ in (
        bound(G_lip_sq, recorded(f"{end}g"), each_iteration, each_client),
        bound(G_lip_sq, dF_at(f"{end}x_round"), to_R)))


def apart(p, k, v):
    return norm(p.dFi(k, v) - p.dF(v))


def heterogeneity(*ends):
    """Assumption 5 at all server and local models."""
    return tuple(relation_ for end in ends for relation_ in (
        relation(lambda p, r, end=end: p.mean(lambda k: apart(p, k, p.w.value(f"{end}x_round", r))), "<=",
                 lambda p, r: p.w.value("sigma_g"), to_R),
        relation(lambda p, t, i, end=end: p.mean(lambda k: apart(p, k, p.w.value(f"{end}x_local", t, i))), "<=",
                 lambda p, t, i: p.w.value("sigma_g"), each_iteration, each_client)))


def own_heterogeneity(*ends):
    """Assumption C.5 there, with equal sigma_{g,i}."""
    return tuple(relation_ for end in ends for relation_ in (
        relation(lambda p, r, k, end=end: apart(p, k, p.w.value(f"{end}x_round", r)), "<=",
                 lambda p, *at: p.w.value("sigma_g"), to_R, each_client),
        relation(lambda p, t, i, k, end=end: apart(p, k, p.w.value(f"{end}x_local", t, i)), "<=",
                 lambda p, *at: p.w.value("sigma_g"), each_iteration, each_client, each_client)))


L_FROM_SQUARE = relation(lambda p: p.L, "==", lambda p: math.sqrt(G_lip_sq(p)))
CONVEX = Assumed((at_clients("mu_client", ">=", lambda p: p.mu),))
SMOOTH = Assumed((at_clients("L_client", "<=", lambda p: p.beta),))
NOISE = at_clients("sigma_sq_client", "<=", lambda p: p.s2)
ASSUMED = {
    # D.1: "Assume that f is beta-smooth", "in addition that f is mu-strongly convex"
    "f-smooth": SMOOTH, "f-strongly-convex": CONVEX,
    # 1, C.1: "l(theta; z) >= l(theta'; z) + <grad l(theta'; z), theta - theta'> + mu/2 |theta - theta'|^2"
    "assumption-1": CONVEX,
    # 2, C.2: "|l(theta; z) - l(theta'; z)| <= L |theta - theta'|, for any z, theta, theta'"
    "assumption-2": Assumed((relation(G_lip_sq, "==", lambda p: p.L**2),), everywhere=Relation(
        lambda w: sq(w.f_grad(w.value("u"))), "<=", lambda w: w.value("G_lip_sq"))),
    "assumption-2@region": Assumed((*lipschitz(""), L_FROM_SQUARE)),
    # and C.2's note "E |l(theta_T; z) - l(theta'_T; z)| <= L E |theta_T - theta'_T|"
    "assumption-2@region-coupled": Assumed((*lipschitz("", "twin_"), L_FROM_SQUARE, relation(
        lambda p: p.w.worst_sample_gap(p.th(p.T), p.tw(p.T)), "<=",
        lambda p: p.L * p.E(norm(p.th(p.T) - p.tw(p.T)))))),
    # 3, C.3: "E |grad l(theta; z_i) - grad F_i(theta)|^2 <= sigma^2"
    "assumption-3": Assumed((NOISE, relation(lambda p: p.sigma, "==", lambda p: math.sqrt(p.s2)))),
    # 4, C.4: "|grad l(theta; z) - grad l(theta'; z)| <= beta |theta - theta'|"
    "assumption-4": SMOOTH,
    # 5: "1/m sum_i |grad F_i(theta) - grad F(theta)| <= sigma_g, for any theta", of which sigma_g is the least
    "assumption-5": Assumed((relation(lambda p: p.w.value("sigma_g") ** 2, ">=", lambda p: 0),)),
    "assumption-5@region-coupled": Assumed(heterogeneity("", "twin_")),
    # C.5: "|grad F_i(theta) - grad F(theta)| <= sigma_{g,i}", "1/m sum_i sigma_{g,i} = sigma_g"
    "assumption-c5": Assumed((relation(
        lambda p: p.w.value("sigma_g"), "==", lambda p: p.mean(lambda k: p.w.value("sigma_g_client", k))),)),
    "assumption-c5@region": Assumed(own_heterogeneity("")),
    "assumption-c5@region-coupled": Assumed(own_heterogeneity("", "twin_")),
    # G.1: each F_i is mu-strongly convex, "We allow mu = 0"
    "assumption-g1": CONVEX, "assumption-g1@convex": Assumed((at_clients("mu_client", ">=", lambda p: 0),)),
    # G.2: "|grad F(theta_1) - grad F(theta_2)| <= beta |theta_1 - theta_2|": of every F_i (Theorem 5.2); as printed, of F
    "assumption-g2": SMOOTH, "assumption-g2@objective": Assumed((relation(
        lambda p: p.w.value("L_objective"), "<=", lambda p: p.beta),)),
    # G.3: "E |grad F_i(theta; zeta_i) - grad F_i(theta)|^2 <= sigma^2", unbiased
    "assumption-g3": Assumed((NOISE,)),
    # G.4: "1/m sum_i |grad F_i(theta) - grad F(theta)|^2 <= sigma_g^2", of which sigma_g is the least
    "assumption-g4": Assumed((relation(lambda p: p.sg2**2, ">=", lambda p: 0),)),
}
LENGTH = SIZES["length"]


def excess(p, i):
    return 1 + seq(p, "excess", i)


def in_G_6(p, name, root):
    """The root of d_0/(c (R + 1))."""
    return root(seq(p, "d", 0) / (p.w.value(name) * (LENGTH - 1)))


def largest(p):
    return p.w.value("largest_step")


def threshold(p):
    """log(max(1, mu^2 R d_0/c))/(mu R)."""
    last = LENGTH - 2
    return math.log(Max(1, p.mu**2 * last * seq(p, "d", 0) / p.w.value("drop"))) / (p.mu * last)


def tuned_step(p):
    """The step of G.6 with d_0 = 14 F, c_1 = 70 beta sigma^2/(Ks) (1 + s/alpha^2) and eta_max = (s/m)^(2/3)/(24 beta)."""
    inverse = math.sqrt(70 * p.beta * p.s2 * p.nf * (p.T + 1) / (p.K * p.s * 14 * (p.f(p.th(0)) - p.Fstar)))
    return 1 / Max(24 * p.beta * power(Q(p.m, p.s), Q(2, 3)), inverse)


CONDITIONS = {
    # (3): "0 <= rho <= 1"; gamma in (0, 1]; MoFedSAM's share of the new gradient
    "rho-to-1": relation(lambda p: p.rho, "<=", lambda p: 1), "rho-1": relation(lambda p: p.rho, "==", lambda p: 1),
    "gamma-to-1": relation(lambda p: p.gamma, "<=", lambda p: 1),
    "share-to-1": relation(lambda p: p.w.value("beta"), "<=", lambda p: 1),
    # one eta_l in all rounds; the rates of one round
    "steps": relation(lambda p, t: p.w.value("eta_l", t), "==", lambda p, t: p.eta, each_iteration),
    "unit-steps": (relation(lambda p, t: p.w.value("eta_l", t), "==", lambda p, t: 1, each_iteration),
                   relation(lambda p: p.ee, "==", lambda p: p.K * p.alpha)),
    "rates-to-eta": relation(lambda p, i: seq(p, "rates", i), "<=", lambda p, i: p.eta, to_step_K),
    "constant-rates": relation(lambda p, i: seq(p, "rates", i), "==", lambda p, i: p.eta, to_step_K),
    # "eta_k^t <= 1/(beta K T)", of the largest rate, eta_l; of any rates of a round, or their sum; at the bound
    "small-step": relation(lambda p: p.eta, "<=", lambda p: 1 / (p.beta * p.K * p.T)),
    "rates": relation(
        lambda p, i: seq(p, "rates", i), "==", lambda p, i: 1 / (p.beta * p.K * p.T * excess(p, i)), to_step_K),
    "last-rate": relation(lambda p: p.w.value("last_rate"), "==",
                          lambda p: 1 / (p.beta * p.K * p.T * (1 + p.w.value("last_excess")))),
    "lengths": relation(lambda p, i: seq(p, "lengths", i), "==", lambda p, i: 1 / (p.beta * p.T * excess(p, i)), each_round),
    "step-at-bound": relation(lambda p: p.eta, "==", lambda p: 1 / (p.beta * p.K * p.T)),
    "small-round": relation(lambda p: p.eta, "<=", lambda p: 1 / (p.beta * p.K)),
    "small-round-alpha": relation(lambda p: p.eta, "<=", lambda p: 1 / (p.beta * p.K * p.alpha)),
    "radius-0": relation(lambda p: p.rho_sam, "==", lambda p: 0),
    # proof of E.1: "b = 1 - eta_K^t beta mu / (beta + mu)"; F.1: "b = eta^t beta mu / (beta + mu)"
    "b": relation(lambda p: p.b, "==", lambda p: 1 - p.rho * p.eta * p.bmu),
    "b-last": relation(lambda p: p.b, "==", lambda p: 1 - p.w.value("last_rate") * p.bmu),
    "b-F1": relation(lambda p: p.b, "==", lambda p: p.eta * p.bmu),
    # "1 + beta eta_k^t <= c": of FedSWA's rates, of any, of a constant one
    "c": relation(lambda p, t: 1 + p.beta * p.w.value("swa_rate", t), "<=", lambda p, t: p.c, each_iteration),
    "c-rates": relation(lambda p, i: 1 + p.beta * seq(p, "rates", i), "<=", lambda p, i: p.c, to_step_K),
    "c-SAM": relation(lambda p: 1 + p.beta * p.eta, "<=", lambda p: p.c),
    # "an upper bound of 1 + (1 + c)^(K-1) beta eta~", read equal
    "c-bar": relation(lambda p: p.cbar, "==", lambda p: 1 + p.cK * p.beta * p.K * p.eta),
    # "E |grad F(theta_t)|" with a free t: the largest of the rounds; at most L; of Phi_t
    "largest-gradient": relation(lambda p, r: p.G(r), "<=", lambda p, r: p.top, each_round),
    "gradient-to-L": relation(lambda p: p.top, "<=", lambda p: p.L),
    "largest-Phi": relation(lambda p, i: seq(p, "Phi", i), "<=", lambda p, i: p.w.value("largest_Phi"), each_round),
    # (34): |m^{-1}| <= L + sigma
    "bounded-start": relation(lambda p: norm(p.mv(0)), "<=", lambda p: p.Ls),
    # epsilon-stable: for all data sets that differ in at most one sample
    "stable": relation(lambda p: p.w.worst_pair_gap(p.th(p.T), p.tw(p.T)), "<=", lambda p: p.eps),
    # "eta <= 2/(beta + mu)", "eta <= 1/beta", 0 < mu <= beta
    "step-D.1": relation(lambda p: p.eta, "<=", lambda p: 2 / (p.beta + p.mu)),
    "step-1/beta": relation(lambda p: p.eta, "<=", lambda p: 1 / p.beta),
    "mu-to-beta": relation(lambda p: p.mu, "<=", lambda p: p.beta),
    "sigma_g-above-0": relation(lambda p: p.w.value("sigma_g"), ">", lambda p: 0),
    # Appendix G: "eta~ := K eta_l alpha", "alpha >= 1", "eta~ in [0, 1/beta]", "eta_l <= 1/beta"
    "effective-steps": relation(
        lambda p, t: p.w.value("eta_l", t), "==", lambda p, t: p.ee / (p.K * p.alpha), each_iteration),
    "alpha-from-1": relation(lambda p: p.alpha, ">=", lambda p: 1),
    "eta-to-1/beta": relation(lambda p: p.ee, "<=", lambda p: 1 / p.beta),
    "eta_l-to-1/beta": relation(lambda p: p.ee, "<=", lambda p: p.K * p.alpha / p.beta),
    # "eta_l <= 1/(81 beta K alpha)", "s/(15 mu m K alpha)", their least; "1/(24 beta K alpha)"
    "step-81": relation(lambda p: p.ee, "<=", lambda p: 1 / (81 * p.beta)),
    "step-15": relation(lambda p: p.ee, "<=", lambda p: p.s / (15 * p.mu * p.m)),
    "step-81-15": relation(lambda p: p.ee, "<=", lambda p: Min(1 / (81 * p.beta), p.s / (15 * p.mu * p.m))),
    "step-24": relation(lambda p: p.ee, "<=", lambda p: 1 / (24 * p.beta)),
    # "eta~ <= gamma^a / (24 beta), a in [1/2, 1]"; "(s/m)^a"; "(s/m)^(2/3)"
    "a-from-1/2": relation(lambda p: p.a, ">=", lambda p: Q(1, 2)), "a-to-1": relation(lambda p: p.a, "<=", lambda p: 1),
    "step-gamma": relation(lambda p: p.ee, "<=", lambda p: power(p.gamma, p.a) / (24 * p.beta)),
    "step-share": relation(lambda p: p.ee, "<=", lambda p: power(Q(p.s, p.m), p.a) / (24 * p.beta)),
    "step-2/3": relation(lambda p: p.ee, "<=", lambda p: power(Q(p.s, p.m), Q(2, 3)) / (24 * p.beta)),
    "step-tuned": relation(lambda p: p.ee, "==", tuned_step),
    # Theorem 5.2: "eta_k^t <= min(1/(beta K alpha), s/(mu m K alpha)), T >= max(beta/mu, m/s)"; "(s/m)^(2/3)/(K alpha beta)"
    "step-5.2": relation(lambda p: p.ee, "<=", lambda p: Min(1 / p.beta, p.s / (p.mu * p.m))),
    "rounds-5.2": relation(lambda p: p.T, ">=", lambda p: Max(p.beta / p.mu, Q(p.m, p.s))),
    "step-5.2-nonconvex": relation(lambda p: p.ee, "<=", lambda p: power(Q(p.s, p.m), Q(2, 3)) / p.beta),
    # G.13 with G.5: "R >= 1/(2 mu eta)" with mu/2
    "rounds-13": relation(lambda p: p.T, ">=", lambda p: 1 / (p.mu * p.ee)),
    "some-clients": relation(lambda p: p.s, "<=", lambda p: p.m - 1), "s-to-m": relation(lambda p: p.s, "<=", lambda p: p.m),
    # "For K > 1", "if K = 1"
    "two-steps": relation(lambda p: p.K, ">=", lambda p: 2), "one-step": relation(lambda p: p.K, "==", lambda p: 1),
    # (89): "b = gamma/(2 (1 - gamma))"; (93): "b = s/(2 (m - s))"
    "b-89": relation(lambda p: p.b, "==", lambda p: p.gamma / (2 * (1 - p.gamma))),
    "b-93": relation(lambda p: p.b, "==", lambda p: Q(p.s, 2 * (p.m - p.s))),
    # G.5: "eta_max in (0, 1/mu], R >= 1/(2 eta_max mu)"; in the proof with eta, and its step
    "G.5-largest": relation(lambda p: p.w.value("largest_step"), "<=", lambda p: 1 / p.mu),
    "G.5-rounds": relation(lambda p: p.w.value("largest_step"), ">=", lambda p: 1 / (2 * p.mu * (LENGTH - 2))),
    "step-1/mu": relation(lambda p: p.w.value("step"), "<=", lambda p: 1 / p.mu),
    "G.5-rounds-eta": relation(lambda p: p.w.value("step"), ">=", lambda p: 1 / (2 * p.mu * (LENGTH - 2))),
    "G.5-step": relation(lambda p: p.w.value("step"), "==", lambda p: Min(p.w.value("largest_step"), math.log(
        Max(1, p.mu**2 * (LENGTH - 2) * seq(p, "d", 0) / p.w.value("drop"))) / (p.mu * (LENGTH - 2)))),
    # G.6: "eta = min{eta_max, sqrt(d_0/(c_1 (R+1))), cbrt(d_0/(c_2 (R+1)))}"
    "G.6-step": relation(lambda p: p.w.value("step"), "==", lambda p: Min(
        p.w.value("largest_step"), in_G_6(p, "first", math.sqrt), in_G_6(p, "second", lambda x: float(x) ** (1 / 3)))),
    # its cases: "eta_max <= log(max(1, mu^2 R d_0/c))/(mu R)", "eta_max >"; (61): "R + 1 <= d_0/(c_1 eta_max^2)" and
    # "<= d_0/(c_2 eta_max^3)"; otherwise "eta_max^2 >= d_0/(c_1 (R+1)) or eta_max^3 >= d_0/(c_2 (R+1))"
    "G.5-case-1": relation(largest, "<=", threshold), "G.5-case-2": relation(largest, ">", threshold),
    "G.6-case-1": (relation(lambda p: LENGTH - 1, "<=", lambda p: seq(p, "d", 0) / (p.w.value("first") * largest(p) ** 2)),
                   relation(lambda p: LENGTH - 1, "<=", lambda p: seq(p, "d", 0) / (p.w.value("second") * largest(p) ** 3))),
    "G.6-case-2": relation(lambda p: Min(in_G_6(p, "first", math.sqrt), in_G_6(p, "second", lambda x: float(x) ** (1 / 3))),
                           "<=", largest),
    "G.6-start": relation(lambda p: seq(p, "d", 0), ">", lambda p: 0),
    # G.8: "E |Xi_i - xi_i|^2 <= sigma^2"
    "G.8": relation(lambda p, i: chance(p, lambda k: sq(outcome(p, k, i) - own_mean_8(p, i))), "<=", lambda p, i: p.s2,
                    each_term),
}
DOMAINS = {
    **dict.fromkeys(("eta", "eta_eff", "eta_g", "gamma", "beta", "c", "factor", "L", "mu", "largest_step", "step", "power",
                     "c_tilde", "c_bar"), "positive"),
    **dict.fromkeys(("rho_decay", "rho_sam", "drop", "first", "second", "sigma", "sigma_g", "sigma_sq", "G_lip", "gap",
                     "lag", "server_gap", "largest_gradient"), "nonnegative"),
    **dict.fromkeys(("clients", "participants", "local_steps", "rounds", "samples", "terms", "outcomes"), "integer from 1"),
    **dict.fromkeys(("p1", "p2", "p3", "shift", "v1", "v2"), "vector"), "C": "hidden", "d": "nonnegative [length]",
    "variates": "vector [clients]", "vectors": "vector [terms]", "outcome": "vector [outcomes, terms]",
    "chance": "simplex [outcomes]", "rates": "nonnegative [local_steps]",
}
SUPPOSED = ASSUMED | CONDITIONS
