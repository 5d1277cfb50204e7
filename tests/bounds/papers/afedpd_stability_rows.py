"""A-FedPD's runs on neighbouring data sets and its local steps in plain Python, written from the paper's Appendix B.3."""

from tests.bounds.papers.afedpd_world import (
    C,
    E,
    E_data,
    E_unused,
    K,
    P,
    R,
    S,
    T,
    lam_bar,
    mean,
    norm,
    simple,
    trained,
    twin,
)

__all__ = ["ROWS", "Delta", "bound_11", "bound_appendix", "change", "error_of", "gen", "stability"]


def gen(w):
    return E_data(w.F_pop(w.x_round[T]) - w.objective(w.x_round[T]))


def bound_11(w):
    e = 1 / (1 + w.mu_lr * w.L)
    return 4 * (w.G_lip**2 / w.L) ** e / (C * S) * (w.H_loss * P * T) ** (w.mu_lr * w.L * e)


def bound_appendix(w):
    e = 1 / (1 + w.mu_lr * w.L)
    return 2 / (C * S) * (2 * w.G_lip**2 / w.L) ** e * (w.H_loss * P * T) ** (w.mu_lr * w.L * e)


def stability(w):
    return w.worst_mean_gap(w.x_round[T], w.twin_x_round[T])


def lemma_4(w, a, at):
    signed, distance = w.worst_mean_signed_gap(w.x_round[T], w.twin_x_round[T]), norm(w.x_round[T] - w.twin_x_round[T])
    if "generalisation" in a:
        return gen(w), signed
    distance = E_unused(w.tau0 + ("rounds-upto" in a), distance) if "cond-zeta" in a else E(distance)
    return signed, w.G_lip * distance + w.H_loss * P * w.tau0 / (C * S)


def error_of(w, a):
    """epsilon_G: the generalisation error, which (16) bounds by the stability gap."""
    return stability(w) if "stability" in a else gen(w)


def lemma_5(w, a, at):
    if "quadratic" in a:
        steps = sum((1 - w.eta * (w.rho_prox + w.curvature)) ** k for k in R(K))
        return abs(w.eta * (w.curvature * w.x_1 + w.lam_1) * steps), w.eta * K * w.L * abs(w.x_1) + w.eta * K * abs(w.lam_1)
    return on_updates(w, a, at, 1 - w.differing[at.k], 0)


def lemma_6(w, a, at):
    return on_updates(w, a, at, w.differing[at.k], 2 * w.eta_l[at.r * K] * K * w.G_lip / S)


def on_updates(w, a, at, mask, extra):
    t, i, step = at.r, at.k, w.eta_l[at.r * K]
    when = t * K + (K if {"round-end", "theta-T"} & a else at.j)
    active = 1 if "every-client" in a else w.sampled[t][i]
    update = (w.x_before[when][i] - w.x_round[t]) - (w.twin_x_before[when][i] - w.twin_x_round[t])
    end = T if "theta-T" in a else t
    right = step * K * w.L * norm(w.x_round[end] - w.twin_x_round[end]) + step * K * norm(
        w.server_duals[t][i] - w.twin_server_duals[t][i]) + extra
    return mask * E(active * norm(update)), mask * E(active * right)


def Delta(w, t):
    return E(norm(w.x_round[t] - w.twin_x_round[t]))


def sigma(w, t):
    return mean(lambda i: E(norm(w.server_duals[t][i] - w.twin_server_duals[t][i])))


def delta_next(w, t, inactive):
    return mean(lambda i: E(norm(trained(w, t, i, inactive) - twin(w, t, i, inactive))))


def change(w, t, i, inactive):
    return norm((trained(w, t, i, inactive) - w.x_round[t]) - (twin(w, t, i, inactive) - w.twin_x_round[t]))


def pi_next(w, t, inactive):
    return mean(lambda i: E(change(w, t, i, inactive)))


def rec_delta_global(w, a, at):
    t, inactive = at.r, "virtual" not in a
    far = sum(norm(trained(w, t, i, inactive) - twin(w, t, i, inactive)) for i in R(C) if w.sampled[t][i])
    dual = E(norm(lam_bar(w, t + 1) - mean(lambda i: w.twin_server_duals[t + 1][i]))) / w.rho_prox
    ends = Delta(w, t + 1), E(far) / P + dual, delta_next(w, t, inactive) + sigma(w, t + 1) / w.rho_prox
    return ends[:2] if "first" in a else ends[1:] if "second" in a else ends[::2]


def rec_sigma(w, a, at):
    if "vectors" in a:
        n = w.count
        after = sum(norm(w.lam_gaps[i] + w.rho_prox * w.update_gap[j]) for i in R(n) for j in R(n)) / n**2
        moved = sum(norm(w.update_gap[i]) for i in R(n)) / n / (1 if "virtual" in a else n)
        return after, sum(norm(w.lam_gaps[i]) for i in R(n)) / n + w.rho_prox * moved
    pi = pi_next(w, at.r - ("text" in a), "virtual" not in a)
    return sigma(w, at.r + 1), sigma(w, at.r) + w.rho_prox * pi


def rec_pi(w, a, at):
    t, inactive, step = at.r, "virtual" not in a, w.eta_l[at.r * K]
    if "middle" in a:
        return pi_next(w, t, True), E(sum(change(w, t, i, True) for i in R(C) if w.sampled[t][i])) / C
    if "definition" in a:
        return (pi_next(w, t, True),) * 2
    return pi_next(w, t, inactive), step * K * (w.L * Delta(w, t) + sigma(w, t)) + 2 * step * K * w.G_lip / (C * S)


# local steps --------------------------------------------------------------------------------------------------------
def lemma_4_split(w, a, at):
    left = w.p * abs(w.loss_1 - w.twin_loss_1) + (1 - w.p) * abs(w.loss_2 - w.twin_loss_2)
    return left, w.G_lip * w.distance + w.H_loss * (1 - w.p)


def lemma_4_hitting(w, a, at):
    in_round, H, t0 = P / C * (1 - (1 - 1 / S) ** K), w.H_loss, w.tau0
    right = H * P * t0 / (C * S)
    if "last" in a:
        each = in_round if "K-draws" in a else P / C / S
        return H * each * (t0 + ("rounds-below" not in a)), right
    hit = H * (1 - (1 - in_round) ** (t0 + ("rounds-below" not in a)))
    return (H * in_round * (t0 + 1), hit) if "union" in a else (hit, right)


def after(w, g):
    return norm((1 - w.eta * w.rho_prox) * w.w_gap - w.eta * g - w.eta * w.lam_gap)


def triangle(w):
    return (1 - w.eta * w.rho_prox) * norm(w.w_gap) + w.eta * w.L * norm(w.w_gap + w.x_gap) + w.eta * norm(w.lam_gap)


def contraction(w, a, at):
    right = (1 - w.eta * (w.rho_prox - w.L)) * norm(w.w_gap) + w.eta * w.L * norm(w.x_gap) + w.eta * norm(w.lam_gap)
    return (triangle(w) if "last" in a else after(w, w.g_gap)), right


def different(w, a, at):
    right = (1 - w.eta * w.rho_prox) * norm(w.w_gap) + 2 * w.eta * w.G_lip + w.eta * norm(w.lam_gap)
    return after(w, w.g_one - w.g_two), right


def mixture(w, a, at):
    if "limit" in a:
        return abs((1 - 1 / S) - 1), w.margin
    D = w.eta * w.L * w.D_theta + w.eta * w.D_lambda
    same = (1 - w.eta * (w.rho_prox - w.L)) * w.a_now + D
    other = (1 - w.eta * w.rho_prox) * w.a_now + 2 * w.eta * w.G_lip + w.eta * w.D_lambda
    return (1 - 1 / S) * same + other / S, same + 2 * w.eta * w.G_lip / S


def q_(w):
    return 1 - w.eta * (w.rho_prox - w.L)


def unroll(extra, n, w):
    return sum(w.eta * q_(w) ** (n - 1 - k) for k in R(n)) * (w.L * w.D_theta + w.D_lambda + extra)


def unroll_5(w, a, at):
    n = w.length - 1
    if "start" in a:
        return q_(w) ** n * w.a[0] + unroll(0, n, w), unroll(0, n, w)
    return q_(w) ** n * w.a[0] + unroll(0, n, w), w.a[n]


def on_runs(w, at, mask, end, extra):
    """An active client's update after round t against the closed form, with the models of round ``end``."""
    t, i = at.r, at.k
    update = (w.x_before[(t + 1) * K][i] - w.x_round[t]) - (w.twin_x_before[(t + 1) * K][i] - w.twin_x_round[t])
    form = (1 - (1 - w.eta_l[t * K] * (w.rho_prox - w.L)) ** K) / (w.rho_prox - w.L)
    inner = w.L * norm(w.x_round[end] - w.twin_x_round[end]) + norm(w.server_duals[t][i] - w.twin_server_duals[t][i]) + extra
    return mask * E(w.sampled[t][i] * norm(update)), mask * form * E(w.sampled[t][i] * inner)


def unroll_6(w, a, at):
    if "run" in a:
        return on_runs(w, at, w.differing[at.k], at.r, 2 * w.G_lip / S)
    if "closed" in a:
        form = (1 - q_(w) ** K) / (w.rho_prox - w.L)
        return unroll(2 * w.G_lip / S, K, w), form * (w.L * w.D_theta + w.D_lambda + 2 * w.G_lip / S)
    return unroll(2 * w.G_lip / S, w.length - 1, w), w.a[w.length - 1]


def geometric(w, a, at):
    if "run" in a:
        return on_runs(w, at, 1 - w.differing[at.k], T if {"printed", "theta-T"} & a else at.r, 0)
    n = w.length - 1 if "bound" in a else K
    closed = (1 - q_(w) ** n) / (w.rho_prox - w.L)
    distance = w.D_theta if {"theta-t", "bound"} & a else w.D_last
    return (w.a[n] if "bound" in a else unroll(0, n, w)), closed * (w.L * distance + w.D_lambda)


def bernoulli(w, a, at):
    if "bernoulli-itself" in a:
        x = w.x_plus_1 - 1
        return (1 + x) ** K, 1 + K * x
    return (1 - q_(w) ** K) / (w.rho_prox - w.L), w.eta * K


ROWS = {
    "theorem-2": simple(lambda w, at: gen(w), lambda w, at: bound_11(w)),
    "theorem-2-explicit": lambda w, a, at: (error_of(w, a), bound_appendix(w)), "lemma-4": lemma_4,
    "lemma-5": lemma_5, "lemma-6": lemma_6, "lemma-4-split": lemma_4_split, "lemma-4-hitting": lemma_4_hitting,
    "lemma-5-triangle": simple(lambda w, at: after(w, w.g_gap), lambda w, at: triangle(w)),
    "lemma-5-contraction": contraction, "lemma-5-unroll": unroll_5, "lemma-5-geometric": geometric, "bernoulli": bernoulli,
    "lemma-6-different": different, "lemma-6-mixture": mixture, "lemma-6-unroll": unroll_6,
    "rec-delta-global": rec_delta_global, "rec-sigma": rec_sigma,
    "rec-delta-local": lambda w, a, at: (
        delta_next(w, at.r, "virtual" not in a), pi_next(w, at.r, "virtual" not in a) + Delta(w, at.r)),
    "rec-pi": rec_pi,
}
