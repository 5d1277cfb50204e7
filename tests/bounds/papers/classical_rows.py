"""The textbooks' statements in plain Python, written from the books."""

import math
from fractions import Fraction as Q

from tests.bounds import arithmetic
from tests.bounds.arithmetic import ALL, sides_of, values, worst_mean_gap
from tests.bounds.chance import E, E_unused, Max
from tests.bounds.claim_values import norm, sq, total
from tests.bounds.papers.classical_hypotheses import DOMAINS, SUPPOSED, each_client, each_round, each_step, steps_of
from tests.bounds.rows import Row

__all__ = ["DOMAINS", "METHOD", "ROWS", "SUPPOSED", "sides", "values", "world"]

METHOD = "fedavg"


def world(seed, reading=frozenset()):
    """Random values, with B a number, and c so small that a power of it is of the size of the rest."""
    w = arithmetic.world(seed, reading)
    w.B, w.c_step = 1 + w.C, w.c_step / 60
    return w


def gap(w, x):
    return w.objective(x) - w.F_star


def mean_gap(w, x):
    return E(w.objective(x)) - w.F_star


def rate(w, t):
    """rho(gamma)^2 of Taylor, Hendrickx and Glineur."""
    return Max(1 - w.eta_l[t] * w.mu, w.L * w.eta_l[t] - 1) ** 2


def slope(w, t):
    return sq(w.objective_grad(w.x_sampled[t]))


def moved_apart(w, k):
    """|G(v) - G(w)|^2 for G the gradient step of client k, at the models of clients k and 0."""
    one, two = (w.x_local[0][c] - w.grad(k, w.x_local[0][c]) * w.eta_l[0] for c in (k, 0))
    return sq(one - two)


def apart(w, k):
    return sq(w.x_local[0][k] - w.x_local[0][0])


def distance(w, t):
    return sq(w.x_sampled[t] - w.x_star)


def contraction(w):
    return 1 - w.eta_l[0] * w.L * w.mu / (w.L + w.mu)


# the world has three steps in each of two rounds, four clients and five samples
def first(t):
    return t // 3 * 3


def of_round(w, r, term):
    return total([term(i) for i in range(3 * r, 3 * r + 3)])


def weighted(w, term):
    return sum(w.client_weight[c] * term(c) for c in ALL)


def noise(w):
    return sum(w.client_weight[c] ** 2 * w.sigma_sq_client[c] for c in ALL)


def first_slope(w, t, k):
    return sq(w.grad(k, w.x_sampled[first(t)]))


def corrected(w, r, k):
    return sq(w.grad(k, w.x_round[r]) - w.client_variate[r][k] + w.server_variate[r])


def local_drift(w, r):
    return weighted(w, lambda c: of_round(w, r, lambda i: sq(w.x_local[i][c] - w.x_round[r])))


def descended(w, r, E=lambda a: a):
    """Loss before a round, less half of 3 steps' squared gradient, plus what the local models' drift costs."""
    lost = Q(3, 2) * w.eta * E(sq(w.objective_grad(w.x_round[r])))
    return E(w.objective(w.x_round[r])) - lost + w.L**2 * w.eta / 2 * E(local_drift(w, r))


def apart_now(w, t, k):
    return E(norm(w.x_local[t][k] - w.twin_x_local[t][k]))


def apart_after(w, t, k):
    return E(norm(w.x_before[t + 1][k] - w.twin_x_before[t + 1][k]))


def apart_at_the_end(w):
    return norm(w.x_round[2] - w.twin_x_round[2])


def total_step(w):
    return sum(w.eta_l[t] for t in range(6))


def left_over(w):
    """What dissimilar clients add to a round: eta^3 L^2 G^2 / 4 (K-1) K (2K-1), at K = 3."""
    return w.eta * (w.eta * w.L) ** 2 * w.G_sq * 30 / 4


def mean_slope(w, E=lambda a: a):
    return (E(sq(w.objective_grad(w.x_round[0]))) + E(sq(w.objective_grad(w.x_round[1])))) / 2


def contracted(w):
    return 1 - 9 * w.mu * w.eta / 4


def lag(w):
    return weighted(w, lambda c: sq(w.grad(c, w.x_round[0]) - w.client_variate[0][c]))


def drawn(w):
    """What sampled clients and noise add to a round of 3 steps, divided by 3 eta."""
    short = 3 * w.eta * w.L
    return (w.G_sq + w.sigma_sq / 3) * Q(45, 32) * short**2 + (2 * w.G_sq + w.sigma_sq / 3) * short / w.participants


#: hypotheses
SMOOTH = "smooth full-gradients"
CONVEX = "smooth convex full-gradients"
STRONG = "smooth strongly-convex full-gradients"
NOISY, NOISY_CONVEX, NOISY_STRONG = (text.replace("full-gradients", "bounded-variance") for text in (SMOOTH, CONVEX, STRONG))
DISSIMILAR = "constant-step step-to-1/2LKB dissimilar"
SAMPLED = "constant-step step-to-1/16LKBB dissimilar"
#: gradient descent is FedAvg with one local step
ONE = "local_steps: integer from 1 to 1"
SCAFFOLD = "scaffold equal_weights"
SAMPLED_SCAFFOLD = "scaffold sampling=without-replacement equal_weights"
SAMPLED_FEDAVG = "fedavg sampling=without-replacement equal_weights"
TWINS = "fedavg equal_weights replaced=any"


def descent(given, left, right, over=(each_step,)):
    return Row(left, right, over=over, given=given, variables=ONE)


def map_of(given, right):
    """G(v) = v - eta grad f(v), of Hardt, Recht and Singer; at two points, which are models of clients."""
    return Row(lambda w, t, k: moved_apart(w, k), right, over=(each_client,), given=given, method="point")


def scaffold(left, right=lambda w, r, k: 0, given="", over=(each_round,), variables="eta; eta_g", method=SCAFFOLD):
    return Row(left, right, over=over, given=given, variables=variables, method=method)


def local(given, left, right, over=(each_step,), variables="eta", **others):
    return Row(left, right, over=over, given=given, variables=variables, **others)


def stable(given, left, right, over=(), variables=""):
    return Row(left, right, over=over, given=given, variables=variables, method=TWINS)


IN_ROUNDS = (each_round, lambda w, r: steps_of(w, r), lambda w, r, t: each_client(w))
STABLE = "smooth convex lipschitz step-to-2/L"
#: claim ids -> both sides as functions of (world, t or r, k), and what is supposed
ROWS = {
    "gd-convex": descent(
        f"{CONVEX} unit-step", lambda w, t, k: gap(w, w.x_sampled[w.iterations]),
        lambda w, t, k: w.L / 2 * distance(w, 0) / (2 * w.iterations + 1), over=()),
    "gd-distance": descent(
        f"{STRONG} step-to-2/L", lambda w, t, k: distance(w, t + 1), lambda w, t, k: rate(w, t) * distance(w, t)),
    "gd-value": descent(
        f"{STRONG} step-to-2/L", lambda w, t, k: gap(w, w.x_sampled[t + 1]),
        lambda w, t, k: rate(w, t) * gap(w, w.x_sampled[t])),
    "gd-gradient": descent(
        f"{STRONG} step-to-2/L", lambda w, t, k: slope(w, t + 1), lambda w, t, k: rate(w, t) * slope(w, t)),
    "gd-nonconvex": descent(
        f"{SMOOTH} unit-step", lambda w, t, k: sum(slope(w, i) for i in range(w.iterations)),
        lambda w, t, k: gap(w, w.x_sampled[0]) * 2 * w.L, over=()),
    "gd-descent": descent(
        SMOOTH, lambda w, t, k: w.objective(w.x_sampled[t + 1]),
        lambda w, t, k: w.objective(w.x_sampled[t]) - w.eta_l[t] * slope(w, t) + w.L / 2 * w.eta_l[t] ** 2 * slope(w, t)),
    "sgd-distance": descent(
        f"{NOISY_STRONG} step-to-1/L", lambda w, t, k: E(distance(w, t + 1)),
        lambda w, t, k: (1 - w.mu * w.eta_l[t]) * E(distance(w, t)) + w.eta_l[t] ** 2 * w.sigma_sq),
    "sgd-value": descent(
        f"{NOISY_STRONG} step-to-1/L", lambda w, t, k: mean_gap(w, w.x_sampled[t + 1]),
        lambda w, t, k: mean_gap(w, w.x_sampled[t]) * (1 - w.mu * w.eta_l[t]) + w.eta_l[t] ** 2 * w.L * w.sigma_sq / 2),
    "sgd-nonconvex": descent(
        f"{NOISY} step-to-1/L", lambda w, t, k: E(w.objective(w.x_sampled[t + 1])),
        lambda w, t, k: E(w.objective(w.x_sampled[t])) - E(slope(w, t)) * w.eta_l[t] / 2
        + w.eta_l[t] ** 2 * w.L * w.sigma_sq / 2),
    "sgd-expansive": map_of("smooth", lambda w, t, k: apart(w, k) * (1 + w.eta_l[0] * w.L) ** 2),
    "sgd-nonexpansive": map_of("smooth convex one-step-to-2/L", lambda w, t, k: apart(w, k)),
    "sgd-contractive": map_of(
        "smooth strongly-convex one-step-to-2/(L+mu)", lambda w, t, k: apart(w, k) * contraction(w) * contraction(w)),
    "scaffold-mean-variate": scaffold(
        lambda w, r, k: sq(total([w.client_variate[r][c] * w.client_weight[c] for c in ALL]) - w.server_variate[r]),
        over=(lambda w: range(w.rounds + 1),), variables="eta_g", method=SAMPLED_SCAFFOLD),
    "scaffold-one-step": scaffold(
        lambda w, r, k: sq(w.x_round[r + 1] - (w.x_round[r] - w.objective_grad(w.x_round[r]) * (w.eta_g * w.eta_l[r]))),
        given="no-noise", variables=f"eta_g; {ONE}"),
    "scaffold-new-variate": scaffold(
        lambda w, r, k: w.sampled[r][k] * sq(w.client_variate[r + 1][k] - of_round(w, r, lambda i: w.g[i][k]) * Q(1, 3)),
        given="constant-step", over=(each_round, each_client), method=SAMPLED_SCAFFOLD),
    "scaffold-old-variate": scaffold(
        lambda w, r, k: (1 - w.sampled[r][k]) * sq(w.client_variate[r + 1][k] - w.client_variate[r][k]),
        over=(each_round, each_client), variables="eta_g", method=SAMPLED_SCAFFOLD),
    "scaffold-variate-lag": scaffold(
        lambda w, r, k: w.sampled[r][k] * sq(w.client_variate[r + 1][k] - w.grad(k, w.x_star)),
        lambda w, r, k: w.L * w.L / 3 * of_round(w, r, lambda i: sq(w.x_local[i][k] - w.x_star)),
        f"{SMOOTH} constant-step", (each_round, each_client), method=SAMPLED_SCAFFOLD),
    "scaffold-mean-step": scaffold(
        lambda w, r, k: sq(w.x_round[r + 1] - w.x_round[r] + total([
            of_round(w, r, lambda i, c=c: w.g[i][c]) * w.client_weight[c] for c in ALL]) * (w.eta * w.eta_g)),
        given="constant-step"),
    "scaffold-drift-smooth": scaffold(
        lambda w, t, k: w.L**2 * sq(w.x_before[t + 1][k] - w.x_sampled[first(t)]),
        lambda w, t, k: ((1 + w.eta * w.L) ** (t - first(t) + 1) - 1) ** 2 * corrected(w, t // 3, k),
        f"{SMOOTH} constant-step", IN_ROUNDS),
    "scaffold-drift-convex": scaffold(
        lambda w, t, k: sq(w.x_before[t + 1][k] - w.x_sampled[first(t)]),
        lambda w, t, k: (w.eta * (1 + t - first(t))) ** 2 * corrected(w, t // 3, k),
        f"{CONVEX} constant-step eta-to-2/L", IN_ROUNDS),
    "scaffold-equal-curvature": scaffold(
        lambda w, r, k: sq(w.x_round[r + 1] - w.x_star - (w.x_round[r] - w.x_star) * (
            1 - w.eta_g + w.eta_g * (1 - w.L * w.eta) ** 3)),
        given=f"{SMOOTH} constant-step curvature-L"),
    "fedavg-dissimilar-round": local(
        f"{SMOOTH} {DISSIMILAR}", lambda w, r, k: w.objective(w.x_round[r + 1]),
        lambda w, r, k: w.objective(w.x_round[r]) - 9 * w.eta / 8 * sq(w.objective_grad(w.x_round[r])) + left_over(w),
        (each_round,), "eta; B"),
    "fedavg-dissimilar-nonconvex": local(
        f"{SMOOTH} {DISSIMILAR}", lambda w, r, k: mean_slope(w),
        lambda w, r, k: 4 * gap(w, w.x_round[0]) / (9 * w.eta) + Q(20, 3) * (w.eta * w.L) ** 2 * w.G_sq, (), "eta; B"),
    "fedavg-dissimilar-convex": local(
        f"{STRONG} {DISSIMILAR}", lambda w, r, k: gap(w, w.x_round[2]),
        lambda w, r, k: contracted(w) ** 2 * gap(w, w.x_round[0]) + left_over(w) * (1 + contracted(w)), (), "eta; B"),
    "scaffold-nonconvex": scaffold(
        lambda w, r, k: mean_slope(w), lambda w, r, k: 3 * gap(w, w.x_round[0]) / (8 * w.eta) + 9 * lag(w) / 160,
        f"{SMOOTH} constant-step step-to-1/4LK", (), "eta", f"{SCAFFOLD} eta_g=1"),
    "scaffold-convex": scaffold(
        lambda w, r, k: gap(w, w.x_round[2]),
        lambda w, r, k: contracted(w) ** 2 * (gap(w, w.x_round[0]) + 3 * w.eta / 16 * lag(w)),
        f"{STRONG} constant-step step-to-1/4LK", (), "eta", f"{SCAFFOLD} eta_g=1"),
    "fedavg-sampled-round": local(
        f"{NOISY} {SAMPLED}", lambda w, r, k: E(w.objective(w.x_round[r + 1])),
        lambda w, r, k: E(w.objective(w.x_round[r])) - w.eta * E(sq(w.objective_grad(w.x_round[r]))) + drawn(w) * w.eta * 3,
        (each_round,), "eta; B", method=SAMPLED_FEDAVG),
    "fedavg-sampled-nonconvex": local(
        f"{NOISY} {SAMPLED}", lambda w, r, k: mean_slope(w, E),
        lambda w, r, k: gap(w, w.x_round[0]) / (2 * w.eta) + 3 * drawn(w), (), "eta; B", method=SAMPLED_FEDAVG),
    "fedavg-sampled-strongly-convex": local(
        f"{NOISY_STRONG} {SAMPLED}", lambda w, r, k: mean_gap(w, w.x_round[2]),
        lambda w, r, k: (1 - 2 * w.mu * w.eta) ** 2 * gap(w, w.x_round[0]) + drawn(w) * w.eta * 3 * (2 - 2 * w.mu * w.eta),
        (), "eta; B", method=SAMPLED_FEDAVG),
    "fedavg-sampled-convex": local(
        f"{NOISY_CONVEX} {SAMPLED}", lambda w, r, k: (mean_gap(w, w.x_round[0]) + mean_gap(w, w.x_round[1])) / 2,
        lambda w, r, k: (
            sq(w.x_round[0] - w.x_star) / (6 * w.eta)
            + w.G_sq * (12 * w.eta / w.participants + Q(243, 8) * w.L * w.eta**2)
            + w.sigma_sq * (2 * w.eta / w.participants + Q(81, 8) * w.L * w.eta**2)) * 10 / 9,
        (), "eta; B", method=SAMPLED_FEDAVG),
    "scaffold-sampled-nonconvex": scaffold(
        lambda w, r, k: mean_slope(w, E),
        lambda w, r, k: gap(w, w.x_round[0]) * 5 / (12 * w.eta)
        + Q(75, 4) * w.eta * w.L * w.clients * lag(w) / w.participants
        + Q(5, 2) * w.L * w.eta * w.sigma_sq * (16 + Q(1, w.participants)),
        f"{NOISY} constant-step step-to-s/24LKm", (), "eta", f"{SAMPLED_SCAFFOLD} eta_g=1"),
    "scaffold-merely-convex": scaffold(
        lambda w, r, k: (gap(w, w.x_round[0]) + gap(w, w.x_round[1])) / 2,
        lambda w, r, k: sq(w.x_round[0] - w.x_star) / (4 * w.eta) + 3 * lag(w) / (32 * w.L),
        f"{CONVEX} constant-step step-to-1/4LK", (), "eta", f"{SCAFFOLD} eta_g=1"),
    "drift-smooth": local(
        f"{SMOOTH} constant-step", lambda w, t, k: w.L**2 * sq(w.x_before[t + 1][k] - w.x_sampled[first(t)]),
        lambda w, t, k: ((1 + w.eta * w.L) ** (t - first(t) + 1) - 1) ** 2 * first_slope(w, t, k), (each_step, each_client)),
    "drift-convex": local(
        f"{CONVEX} constant-step eta-to-2/L", lambda w, t, k: sq(w.x_before[t + 1][k] - w.x_sampled[first(t)]),
        lambda w, t, k: (w.eta * (1 + t - first(t))) ** 2 * first_slope(w, t, k), (each_step, each_client)),
    "local-sgd-step": local(
        "smooth strongly-convex", lambda w, t, k: E(distance(w, t + 1)),
        lambda w, t, k: E(distance(w, t)) * (1 - w.mu * w.eta_l[t]) - w.eta_l[t] * 2 * E(gap(w, w.x_sampled[t]))
        + 4 * w.L * w.eta_l[t] ** 2 * E(gap(w, w.x_sampled[t]))
        + (w.L * w.eta_l[t] + 2 * (w.L * w.eta_l[t]) ** 2) * E(weighted(w, lambda c: sq(w.x_local[t][c] - w.x_sampled[t])))
        + w.eta_l[t] ** 2 * noise(w), variables=""),
    "local-gd-spread": local(
        f"{CONVEX} constant-step eta-to-2/L",
        lambda w, t, k: weighted(w, lambda c: sq(w.x_local[t][c] - w.x_sampled[t])),
        lambda w, t, k: (w.eta * (t - first(t))) ** 2 * weighted(w, lambda c: first_slope(w, t, c))),
    "local-gd-step": local(
        f"{STRONG} constant-step eta-to-2/L", lambda w, t, k: distance(w, t + 1),
        lambda w, t, k: distance(w, t) * (1 - w.mu * w.eta) - (2 * w.eta - 4 * w.L * w.eta**2) * gap(w, w.x_sampled[t])
        + (w.L * w.eta + 2 * w.L**2 * w.eta**2) * (w.eta * (t - first(t))) ** 2
        * weighted(w, lambda c: first_slope(w, t, c))),
    "local-sgd-one-optimum": local(
        f"{NOISY_STRONG} constant-step eta-to-2/(L+mu) one-optimum", lambda w, t, k: E(distance(w, 6)),
        lambda w, t, k: (1 - w.mu * w.eta) ** 12 * distance(w, 0)
        + sum((w.eta * (1 - w.mu * w.eta) ** i) ** 2 for i in range(6)) * w.sigma_sq, ()),
    "fedavg-round": local(
        f"{SMOOTH} constant-step step-to-1/LK", lambda w, r, k: w.objective(w.x_round[r + 1]),
        lambda w, r, k: descended(w, r), (each_round,)),
    "fedavg-round-noise": local(
        "smooth constant-step step-to-1/2LK", lambda w, r, k: E(w.objective(w.x_round[r + 1])),
        lambda w, r, k: descended(w, r, E) + 3 * w.eta**2 * w.L * noise(w), (each_round,)),
    "fedavg-round-dissimilar": local(
        f"{CONVEX} constant-step step-to-1/LK bounded-gradients", lambda w, r, k: w.objective(w.x_round[r + 1]),
        lambda w, r, k: w.objective(w.x_round[r]) - Q(3, 2) * w.eta * sq(w.objective_grad(w.x_round[r]))
        + w.L**2 * w.eta / 2 * (0 + 1 + 4) * w.eta**2 * w.G_sq, (each_round,)),
    "fedavg-equal-curvature": local(
        f"{SMOOTH} constant-step curvature-L",
        lambda w, r, k: sq(w.x_round[r + 1] - w.x_star - (w.x_round[r] - w.x_star) * (1 - w.L * w.eta) ** 3),
        lambda w, r, k: 0, (each_round,)),
    "sampling-variance": local(
        "one-round", lambda w, t, k: w.participants * (w.clients - 1) * E(sq(w.x_sampled[6] - w.x[6]), "sampling"),
        lambda w, t, k: (1 - Q(w.participants, w.clients)) * sum(sq(w.x_before[6][c] - w.x[6]) for c in ALL),
        (lambda w: [w.iterations],), "", sign="==", method=SAMPLED_FEDAVG),
    "coupled-step-convex": stable(
        STABLE, lambda w, t, k: apart_after(w, t, k), lambda w, t, k: apart_now(w, t, k) + (
            2 * w.G_lip * w.eta_l[t] / 5 if k == 1 else 0), (each_step, each_client)),
    "coupled-step-smooth": stable(
        "smooth lipschitz", lambda w, t, k: apart_after(w, t, k), lambda w, t, k: apart_now(w, t, k) * (
            1 + w.L * w.eta_l[t] * (Q(4, 5) if k == 1 else 1)) + (2 * w.G_lip * w.eta_l[t] / 5 if k == 1 else 0),
        (each_step, each_client)),
    "sgd-stability-distance": stable(
        f"{STABLE} one-client", lambda w, t, k: E(apart_at_the_end(w)), lambda w, t, k: total_step(w) * w.G_lip * 2 / 5),
    "local-sgd-stability-distance": stable(
        STABLE, lambda w, t, k: E(apart_at_the_end(w)), lambda w, t, k: total_step(w) * w.G_lip * 2 / 20),
    "sgd-stability-convex": stable(
        f"{STABLE} one-client", lambda w, t, k: worst_mean_gap(w.x_round[2], w.twin_x_round[2]),
        lambda w, t, k: total_step(w) * w.G_lip**2 * 2 / 5),
    "local-sgd-stability-convex": stable(
        STABLE, lambda w, t, k: worst_mean_gap(w.x_round[2], w.twin_x_round[2]),
        lambda w, t, k: total_step(w) * w.G_lip**2 * 2 / 20),
    "sgd-stability-first-use": stable(
        "lipschitz bounded one-client sgd t0-to-rounds", lambda w, t, k: worst_mean_gap(w.x_round[2], w.twin_x_round[2]),
        lambda w, t, k: w.H_loss * 2 / 5 + w.G_lip * E_unused(2, apart_at_the_end(w)), variables="cut"),
    "sgd-stability-smooth": stable(
        "smooth lipschitz bounded one-client two-samples t0-to-steps falling-steps",
        lambda w, t, k: worst_mean_gap(w.x_round[2], w.twin_x_round[2]),
        lambda w, t, k: w.H_loss * Q(2, 5) + w.G_lip**2 / (2 * w.L) * math.pow(3, w.c_step * w.L), variables="cut"),
}
sides = sides_of(ROWS)
