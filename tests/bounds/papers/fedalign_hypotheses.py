"""Hypotheses of FedALIGN and of Li et al. 2020 in plain Python, written from FedALIGN's Section 2 and appendix."""

from fractions import Fraction

from tests.bounds.arithmetic import ALL, P
from tests.bounds.chance import E, Max
from tests.bounds.claim_values import dot, norm, sq, total
from tests.bounds.rows import Assumed, Relation

__all__ = ["ASSUMED", "SCHEDULE", "SUPPOSED", "each_client", "each_step"]


def each_step(w):
    """t = 0, ..., T - 1."""
    return range(w.iterations)


def each_client(w, *_):
    return range(w.clients)


def mean_squared_gradient(w, t, who, weight):
    return E(sum(weight[k] * sq(w.g[t][k]) for k in who))


def _at_every_client(left, sign, right):
    return Assumed((Relation(left, sign, right, (each_client,)),))


ASSUMED = {
    # "for all u and v, f(v) <= f(u) + (u - v)^T grad f(v) + L/2 |u - v|^2", for each f in {F_1, ..., F_N}
    "assumption-1": Assumed(for_all_functions=Relation(
        lambda w: w.f(w.v), "<=", lambda w: w.f(w.u) + dot(w.u - w.v, w.f_grad(w.v)) + w.L / 2 * sq(w.u - w.v))),
    "assumption-2": Assumed(for_all_functions=Relation(
        lambda w: w.f(w.v), ">=", lambda w: w.f(w.u) + dot(w.u - w.v, w.f_grad(w.v)) + w.mu / 2 * sq(w.u - w.v))),
    # every F_k is L-smooth and mu-strongly convex
    "assumption-1@as-used": _at_every_client(lambda w, k: w.L_client[k], "<=", lambda w, k: w.L),
    "assumption-2@as-used": _at_every_client(lambda w, k: w.mu_client[k], ">=", lambda w, k: w.mu),
    # "E |grad F_k(w_k, xi_k) - grad F_k(w_k)|^2 <= sigma^2, k = 1..N"
    "assumption-3": _at_every_client(lambda w, k: w.sigma_sq_client[k], "<=", lambda w, k: w.sigma_sq),
    # "E |grad F_k(w_k, xi_k)|^2 <= G^2, k = 1..N", which does not say at which points
    "assumption-4": Assumed(everywhere=Relation(lambda w: sq(w.f_grad(w.u)), "<=", lambda w: w.G_sq)),
    "assumption-4@G-trajectory-weighted": Assumed((Relation(
        lambda w, t: mean_squared_gradient(w, t, ALL, w.aggregate_weight[t]), "<=", lambda w, t: w.G_sq, (each_step,)),)),
    "assumption-4@G-priority": Assumed((Relation(
        lambda w, t: mean_squared_gradient(w, t, P, w.client_weight), "<=", lambda w, t: w.G_sq, (each_step,)),)),
    "assumption-4@G-where-used": Assumed((Relation(
        lambda w, t: mean_squared_gradient(w, t, P, w.client_weight), "<=", lambda w, t: w.G_priority_sq, (each_step,)),)),
    # over the clients that are active
    "assumption-4@G-trajectory-max": Assumed((Relation(
        lambda w, t, k: E(w.included[t][k] * sq(w.g[t][k])), "<=", lambda w, t, k: w.G_sq, (each_step, each_client)),)),
    # k = 1..N
    "assumption-4@G-trajectory-all": Assumed((Relation(
        lambda w, t, k: E(sq(w.g[t][k])), "<=", lambda w, t, k: w.G_sq, (each_step, each_client)),)),
    # "|xi| <= s_0 surely", "eta_t <= 2/(L+mu)", "r = max{|w_0 - w*|, (max_k |grad F_k(w*)| + s_0)/mu}", "G = max_k |grad
    # F_k(w*)| + L r + s_0"
    "assumption-4@G-a-priori": Assumed((
        Relation(lambda w, t, k: norm(w.g[t][k] - w.grad(k, w.x_local[t][k])), "<=", lambda w, t, k: w.noise_bound,
                 (each_step, each_client)),
        Relation(lambda w, k: norm(w.grad(k, w.x_star)), "<=", lambda w, k: w.optimum_gradient_bound, (each_client,)),
        Relation(lambda w: w.ball_radius, "==", lambda w: Max(
            norm(w.x_sampled[0] - w.x_star), (w.optimum_gradient_bound + w.noise_bound) / w.mu)),
        Relation(lambda w: w.G_sq, "==", lambda w: (w.optimum_gradient_bound + w.L * w.ball_radius + w.noise_bound) ** 2),
        Relation(lambda w, t: w.eta_l[t], "<=", lambda w, t: 2 / (w.L + w.mu), (each_step,)))),
    "implicit-nonanticipating": Assumed(), "implicit-independence": Assumed(), "implicit-divisible": Assumed(),
    "largest-gap": _at_every_client(
        lambda w, k: (k not in P) * w.Gamma_client[k], "<=", lambda w, k: w.Gamma_max),
}



# steps ---------------------------------------------------------------------------------------------------------------
def _schedule(offset):
    """eta_t = 2 / (mu (t + gamma)) with this gamma."""
    return (offset, Relation(lambda w, t: w.eta_l[t], "==", lambda w, t: 2 / (w.mu * (t + w.step_offset)), (each_step,)))


def _offset(right):
    return Relation(lambda w: w.step_offset, "==", right)


def _no_matching(times):
    """epsilon_t = 0 at these times."""
    return Relation(lambda w, t: w.epsilon[t], "==", lambda w, t: 0, (times,))


def _later_step(w, t):
    """The step at time t of the round that comes after others."""
    return 2 / (w.mu * (w.rounds_before * w.local_steps + t + w.step_offset))


#: "gamma = max{8 L/mu, E}" of Theorem 1, and "gamma = 8 L/mu" of Theorem A.9
OFFSET = _offset(lambda w: Max(8 * w.L / w.mu, w.local_steps))
OFFSET_8 = _offset(lambda w: 8 * w.L / w.mu)
SCHEDULE = {
    "offset": OFFSET, "offset-8": OFFSET_8, "schedule": _schedule(OFFSET), "schedule-8": _schedule(OFFSET_8),
    # of a single round of T steps
    "offset-T": _offset(lambda w: Max(8 * w.L / w.mu, w.iterations)),
    # "eta_t <= 1/(4L)"
    "small-step": Relation(lambda w, t: w.eta_l[t], "<=", lambda w, t: 1 / (4 * w.L), (each_step,)),
    # "eta_{tau(t)} <= 2 eta_t"
    "halving-in-a-round": Relation(
        lambda w, t: w.eta_l[t // w.local_steps * w.local_steps], "<=", lambda w, t: 2 * w.eta_l[t], (each_step,)),
    # steps do not increase, as the proof of A.4 uses
    "non-increasing": Relation(
        lambda w, t: w.eta_l[t + 1], "<=", lambda w, t: w.eta_l[t], (lambda w: range(w.iterations - 1),)),
    # one round, with everything before it given; on the schedule of Theorem 1 after other rounds, and the step after it
    "one-round": Relation(lambda w: w.iterations, "==", lambda w: w.local_steps),
    "later-round": (
        OFFSET, Relation(lambda w, t: w.eta_l[t], "==", _later_step, (each_step,)),
        Relation(lambda w: w.eta_next, "==", lambda w: _later_step(w, w.local_steps))),
    # "epsilon_t = 0": always, in the first round, from the time T_0 on
    "no-matching": _no_matching(each_step),
    "warm-up": _no_matching(lambda w: range(w.local_steps)),
    "matching-stops": _no_matching(lambda w: range(w.rounds_open * w.local_steps, w.iterations)),
}
#: of statements about numbers: 0 < mu <= L
NUMBERS = {
    "mu-to-L": Relation(lambda w: w.L, ">=", lambda w: w.mu),
    "eta-to-1/4L": Relation(lambda w: w.eta, "<=", lambda w: 1 / (4 * w.L)),
    # Delta_{t+1} <= (1 - 2/(t+gamma)) Delta_t + 4 B_t / (mu^2 (t+gamma)^2) + 2 D_t / (mu (t+gamma)), with its slack
    "recursion": (
        Relation(lambda w, t: w.Delta[t + 1], "==", lambda w, t: (1 - 2 / (t + w.step_offset)) * w.Delta[t]
                 + 4 * w.B[t] / (w.mu * (t + w.step_offset)) ** 2 + 2 * w.D[t] / (w.mu * (t + w.step_offset)) - w.slack[t],
                 (lambda w: range(w.length - 1),)),
        Relation(lambda w, t: w.Delta[t], ">=", lambda w, t: 0, (lambda w: range(w.length),))),
    "offset-from-2": Relation(lambda w: w.step_offset, ">=", lambda w: 2),
    # gamma > 2, and the first factor at most the last
    "excess": (Relation(lambda w: w.step_offset, "==", lambda w: 2 + w.excess),
               Relation(lambda w: w.start, "<=", lambda w: w.iterations - 1)),
    # x = t + gamma with gamma >= 8
    "y-from-8": Relation(lambda w: w.y, ">=", lambda w: 8),
    "shares-to-1": Relation(lambda w, i: w.chi[i], "<=", lambda w, i: 1, (each_step,)),
    # derived: E >= 8 L/mu and G >= mu |w_0 - w*|
    "many-steps": Relation(lambda w: w.local_steps, ">=", lambda w: 8 * w.L / w.mu),
    "gradient-at-start": Relation(lambda w: w.G_sq, ">=", lambda w: w.mu**2 * sq(w.x_sampled[0] - w.x_star)),
    "gradient-at-start-number": Relation(lambda w: w.G_sq, ">=", lambda w: w.mu**2 * w.D0_sq),
    # without replacement: equal weights of two priority clients or more
    "equal-weights-on-P": (
        Relation(lambda w: w.priority_clients, ">=", lambda w: 2),
        Relation(lambda w, k: w.priority[k] * w.client_weight[k], "==",
                 lambda w, k: w.priority[k] / Fraction(w.priority_clients), (each_client,))),
    # x_mixture minimises F + sum of p_k I_k F_k over the free clients
    "mixture": Relation(lambda w, t: sq(total([w.aggregate_weight[t][k] * w.grad(k, w.x_mixture) for k in ALL])), "==",
                        lambda w, t: 0, (each_step,)),
    "gaps-around-threshold": (
        Relation(lambda w, k: w.gap_below[k], "<=", lambda w, k: 3 * w.L * w.Gamma * w.eta, (lambda w: range(w.below),)),
        Relation(lambda w, k: w.gap_above[k], ">=", lambda w, k: 3 * w.L * w.Gamma * w.eta, (lambda w: range(w.above),))),
    "smaller-gap-out": Relation(lambda w: w.gap_out, "<=", lambda w: w.gap_in),
}


# two rounds of one local step on quadratics of one dimension, run under both thresholds --------------------------------
def _free(w, *_):
    return range(w.free_clients)


def _step_at_start(w):
    """eta_0 = 2 / (mu gamma)."""
    return 2 / (w.mu * w.step_offset)


def _matched(loss_gap, threshold):
    """1 where |F_k - F| < epsilon, else 0."""
    left = threshold - abs(loss_gap)
    return Max(0, left) / left


def _next_model(w, matched):
    """The average of the models after a step: the priority client's, with its minimum at 0, and those that match."""
    step, start = _step_at_start(w), w.w_start
    own = start - step * w.own_curvature * start
    others = [(w.p(k) * matched(k), start - step * w.free_curvature(k) * (start - w.free_center(k))) for k in _free(w)]
    return (own + sum(weight * model for weight, model in others)) / (1 + sum(weight for weight, _ in others))


def _next_gap(w, k, model):
    """F_k - F at the next model, from that at the first: both are quadratics."""
    free = w.free_curvature(k) / 2 * ((model - w.free_center(k)) ** 2 - (w.w_start - w.free_center(k)) ** 2)
    return w.loss_gap(k) + free - w.own_curvature / 2 * (model**2 - w.w_start**2)


def _run(end, threshold):
    """What a run under this threshold is."""
    return (
        Relation(lambda w, k: getattr(w, f"matched_first{end}")(k), "==",
                 lambda w, k: _matched(w.loss_gap(k), getattr(w, threshold)), (_free,)),
        Relation(lambda w: getattr(w, f"w_next{end}"), "==", lambda w: _next_model(w, getattr(w, f"matched_first{end}"))),
        Relation(lambda w, k: getattr(w, f"loss_gap_next{end}")(k), "==",
                 lambda w, k: _next_gap(w, k, getattr(w, f"w_next{end}")), (_free,)),
        Relation(lambda w, k: getattr(w, f"matched_next{end}")(k), "==",
                 lambda w, k: _matched(getattr(w, f"loss_gap_next{end}")(k), getattr(w, threshold)), (_free,)))


NUMBERS["two-thresholds"] = (
    OFFSET_8,
    Relation(lambda w: w.own_curvature, "<=", lambda w: w.L), Relation(lambda w: w.own_curvature, ">=", lambda w: w.mu),
    Relation(lambda w, k: w.free_curvature(k), "<=", lambda w, k: w.L, (_free,)),
    Relation(lambda w, k: w.free_curvature(k), ">=", lambda w, k: w.mu, (_free,)),
    Relation(lambda w: w.threshold, "<=", lambda w: w.threshold_larger),
    *_run("", "threshold"), *_run("_larger", "threshold_larger"))
SUPPOSED = ASSUMED | SCHEDULE | NUMBERS
