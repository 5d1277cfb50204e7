"""FedLUAR's proof steps of Lemmas A.1, A.2 and A.3 in plain Python, written from the paper's appendix.

Names and indices are those of ``fedluar_rows``.
"""

from fractions import Fraction as Q

from tests.bounds.chance import E, E_round
from tests.bounds.claim_values import dot, sq
from tests.bounds.papers.fedluar_world import (
    TAU,
    D,
    G,
    G_bar,
    H,
    M,
    R,
    T,
    V,
    common_source,
    dF,
    hat,
    keeps,
    mean_over,
    noise,
    one_age,
    over,
    part,
    risen,
    root,
    source,
    stale,
    stale_H,
    stale_V,
    with_noise,
)

__all__ = ["C_T", "STEPS", "total_noise"]


def moved(w, at, k):
    """|x_{t,k}^i - x_t|^2 after at.j local steps."""
    return E(sq(w.x_before[at.r * TAU + at.j][k] - w.x_round[at.r]))


def moved_before(w, at):
    return E(sq(w.x_local[at.r * TAU + at.j - 1][at.k] - w.x_round[at.r]))


def B(w, gradient):
    return w.eta**2 * w.sigma_sq + 6 * TAU * w.eta**2 * w.sigma_g_sq + 6 * TAU * w.eta**2 * gradient


def three(w, at):
    """The three differences of (9) at step k - 1."""
    model, x, k = w.x_local[at.r * TAU + at.j - 1][at.k], w.x_round[at.r], at.k
    return w.grad(k, model) - w.grad(k, x), w.grad(k, x) - w.objective_grad(x), w.objective_grad(x)


def own_noise(w, at):
    t = at.r * TAU + at.j - 1
    return (w.g[t][at.k] - w.grad(at.k, w.x_local[t][at.k])) * w.eta


def eq_9(w, a, at):
    v = sum(three(w, at), 0)
    inside = w.x_local[at.r * TAU + at.j - 1][at.k] - w.x_round[at.r] - v * w.eta
    return moved(w, at, at.k), E(sq(own_noise(w, at))) + E(sq(inside))


def eq_10(w, a, at):
    return moved(w, at, at.k), (w.eta**2 * w.sigma_sq + (1 + Q(1, 2 * TAU - 1)) * moved_before(w, at)
                                + 2 * TAU * w.eta**2 * E(sq(sum(three(w, at), 0))))


def lemma_A1(w, a, at):
    q = E(sq(dF(w, at.r)))
    right = 5 * w.eta**2 * w.sigma_sq + 30 * TAU * w.eta**2 * w.sigma_g_sq + 30 * TAU * w.eta**2 * q
    if "proof-display" in a:
        right = 5 * TAU * w.eta**2 * w.sigma_sq + 30 * TAU**2 * w.eta**2 * w.sigma_g_sq + 30 * TAU**2 * w.eta**2 * q
    return (moved(w, at, at.k) if "per-client" in a else sum(moved(w, at, k) for k in R(M)) / Q(M)), right


GROWN = 1 + Q(1, TAU - 1)
h = (TAU - 1) * (GROWN**TAU - 1)


def vector_sum(w, a, r, make):
    """2 tau/m sum_ij N[.] of a vector of (s, j, k) under the hat of round r, at s = t - k and at s = t.

    The sum over clients is the one in D_s, over those who were active in round s where they are sampled.
    """
    def now(s):
        return lambda j, k: sq(hat(w, a, r, make(w, s, j, k)))

    if one_age(a):
        then = mean_over(w, a, common_source(w, r), now(common_source(w, r)))
    else:  # layer by layer: a layer's clients are those of its own round
        then = E(sum(over(w, a, source(w, r, layer), lambda j, k, n=layer: sq(part(n, make(w, source(w, r, n), j, k))))
                     for layer in keeps(w, a, r)))
    return [2 * TAU * then, 2 * TAU * mean_over(w, a, r, now(r))]


def stochastic(w, s, j, k):
    return w.g[s * TAU + j][k]


def true(w, s, j, k):
    return w.grad(k, w.x_local[s * TAU + j][k])


def own(w, s, j, k):
    return w.grad(k, w.x_round[s])


def minus(one, two):
    return lambda w, s, j, k: one(w, s, j, k) - two(w, s, j, k)


def whole(w, s, j, k):
    return dF(w, s)


def which(a):
    return 1 if "now" in a else 0


def eq_13(w, a, at):
    left = sum(vector_sum(w, a, at.r, stochastic))
    return left, sum(vector_sum(w, a, at.r, minus(stochastic, true))) + sum(vector_sum(w, a, at.r, true))


def right_of_14(w, a, r):
    return (4 * TAU**2 * w.sigma_sq + 8 * TAU**2 * w.sigma_g_sq, 4 * TAU**2 * (stale_H(w, a, r) + H(w, a, r)),
            4 * TAU * w.L**2 * (stale_V(w, a, r) + V(w, a, r)))


def mean_of(a, r):
    """The expectation of one round: given everything before it, or over everything."""
    return E if "total" in a else lambda v: E_round(v, r)


def n_sq(w, a, r, mean=E):
    return mean(sq(noise(w, a, r)))


def total_noise(w, a):
    return sum(n_sq(w, a, r) for r in R(T))


def C_T(w):
    return 4 * T * TAU**2 * w.sigma_sq + 8 * T * TAU**2 * w.sigma_g_sq


def shift(w, a, at):
    before = [sum(right_of_14(w, a, r)[n] for r in R(T)) for n in (1, 2)]
    after = [8 * TAU**2 * sum(H(w, a, r) for r in R(T)), 8 * TAU * w.L**2 * sum(V(w, a, r) for r in R(T))]
    if "gradient-part" in a:
        return before[0], after[0]
    return (before[1], after[1]) if "drift-part" in a else (sum(before), sum(after))


def T1(w, a, r):
    """<grad F(x_t), E[-eta (D_t + n_t) + eta tau grad F(x_t)]>."""
    change = (D(w, a, r) + noise(w, a, r)) * -w.eta + dF(w, r) * (w.eta * TAU)
    return E(dot(dF(w, r), change)) if "total" in a else dot(dF(w, r), E_round(change, r))


def T2(w, a, r):
    return w.eta**2 * mean_of(a, r)(sq(D(w, a, r) + noise(w, a, r)))


def W(w, a, r, mean):
    """W_t / m^2."""
    return mean(sq(G_bar(w, a, r) + noise(w, a, r)))


def slope(w, a, r):
    """|grad F(x_t)|^2, known before the round."""
    return E(sq(dF(w, r))) if "total" in a else sq(dF(w, r))


def half(w, a, r):
    return w.eta * TAU / 2 * slope(w, a, r)


def deviation(w, a, r):
    return over(w, a, r, lambda j, k: true(w, r, j, k) - own(w, r, j, k))


def own_deviation(w, a, r):
    return mean_over(w, a, r, lambda j, k: sq(true(w, r, j, k) - own(w, r, j, k)), mean_of(a, r))


def g_noise(w, a, r):
    return over(w, a, r, lambda j, k: stochastic(w, r, j, k) - true(w, r, j, k))


def value(w, a, r):
    """F(x_t)."""
    return E(w.objective(w.x_round[r])) if "total" in a else w.objective(w.x_round[r])


def next_value(w, a, r):
    """E F(x_{t+1})."""
    return mean_of(a, r)(w.objective(w.x_round[r + 1]))


def eq_15(w, a, at):
    r, x = at.r, w.x_round
    step = x[r + 1] - x[r]
    if "first-line" in a:
        right = dot(dF(w, r), E_round(step, r)) + w.L / 2 * E_round(sq(step), r)
    else:
        right = -2 * half(w, a, r) + T1(w, a, r) + w.L / 2 * T2(w, a, r)
    return next_value(w, a, r), value(w, a, r) + right


def eq_16(w, a, at):
    r, mean = at.r, mean_of(a, at.r)
    if "gradients" in a:
        return T1(w, a, r), dot(dF(w, r), E_round((deviation(w, a, r) + noise(w, a, r)) * -w.eta, r))
    vectors = [deviation(w, a, r) + noise(w, a, r), G_bar(w, a, r) + noise(w, a, r)]
    f = root(w.eta) / root(Q(TAU))
    first, second = (w.eta / TAU * mean(sq(v)) if "roots-taken-out" in a else mean(sq(v * f)) for v in vectors)
    return T1(w, a, r), half(w, a, r) + first / 2 - second / 2


def T1_bound(w, a, r, drift):
    mean = mean_of(a, r)
    return half(w, a, r) + drift + w.eta / TAU * n_sq(w, a, r, mean) - w.eta / (2 * TAU) * W(w, a, r, mean)


def T2_bound(w, a, r, noise_part):
    return T2(w, a, r), noise_part + 2 * w.eta**2 * W(w, a, r, mean_of(a, r))


def eq_19(w, a, at):
    mean, r, sampled = mean_of(a, at.r), at.r, "sampled" in a
    parts = [sq(sum((stochastic(w, r, j, k) - true(w, r, j, k) for j in R(TAU)), 0)) for k in R(M)]
    if sampled:
        parts = [active * part for active, part in zip(w.sampled[r], parts, strict=True)]
    return mean(sq(g_noise(w, a, r))), sum(map(mean, parts)) / Q(w.participants if sampled else M) ** 2


def mean_of_values(chance, values):
    return sum((v * p for p, v in zip(chance, values, strict=True)), 0)


def centred(chance, values):
    mean = mean_of_values(chance, values)
    return [v - mean for v in values]


def eq_19_reason(w, a, at):
    """"E[|x_1 + x_2|^2] = E[|x_1|^2 + |x_2|^2] if x_i are independent of each other with zero mean"."""
    one, other = centred(w.chance, w.value), centred(w.other_chance, w.other_value)
    both = sum(p * q * sq(x + y) for p, x in zip(w.chance, one, strict=True)
               for q, y in zip(w.other_chance, other, strict=True))
    return both, mean_of_values(w.chance, map(sq, one)) + mean_of_values(w.other_chance, map(sq, other))


def after_18_and_20(w, a, r):
    coefficient, mean = w.L * w.eta**2 / M**2 - w.eta / (2 * M**2 * TAU), mean_of(a, r)
    return (value(w, a, r) - half(w, a, r) + w.L * w.eta**2 * TAU / M * w.sigma_sq + w.eta * w.L**2 * V(w, a, r, mean)
            + coefficient * M**2 * W(w, a, r, mean) + w.eta / TAU * n_sq(w, a, r, mean))


def eq_21(w, a, at):
    r, mean = at.r, mean_of(a, at.r)
    return next_value(w, a, r), (
        value(w, a, r) - half(w, a, r) + w.L * w.eta**2 * TAU / M * w.sigma_sq + w.eta / TAU * n_sq(w, a, r, mean)
        + w.eta * w.L**2 * V(w, a, r, mean))


def summed_21(w, a, at):
    return risen(w, a), (-w.eta * TAU / 2 * G(w) + w.L * w.eta**2 * TAU * T / M * w.sigma_sq
                      + w.eta / TAU * total_noise(w, a) + w.eta * w.L**2 * sum(V(w, a, r) for r in R(T)))


def rearranged(w, a, at):
    o = 1 - 16 * w.kappa
    return w.gradients, (2 * w.decrease / (o * w.eta * TAU) + 2 * T / o * (w.L * w.eta / M + 4) * w.sigma_sq
                         + 16 * T * w.sigma_g_sq / o + 18 * w.L**2 / (o * TAU) * w.drifts)


def summed_gradients(w, a):
    return sum(H(w, a, r) for r in R(T))


STEPS = {
    "lemma-A.1": lemma_A1, "eq-9": lambda w, a, at: eq_9(w, a, at) if "index-k" not in a else (
        sq(E(w.g[at.r * TAU + at.j - 1][at.k] - w.grad(at.k, w.x_before[at.r * TAU + at.j][at.k]))), 0),
    "lemma-A.1-variance": lambda w, a, at: (E(sq(own_noise(w, at))), w.eta**2 * w.sigma_sq),
    "lemma-A.1-young": lambda w, a, at: (
        sq(w.first + w.second), (1 + 1 / w.alpha) * sq(w.first) + (1 + w.alpha) * sq(w.second)),
    "eq-10": eq_10,
    "lemma-A.1-split": lambda w, a, at: (
        2 * TAU * w.eta**2 * E(sq(sum(three(w, at), 0))), 6 * TAU * w.eta**2 * sum(E(sq(v)) for v in three(w, at))),
    "lemma-A.1-onestep": lambda w, a, at: (moved(w, at, at.k), (
        1 + Q(1, 2 * TAU - 1) + 6 * TAU * w.eta**2 * w.L**2) * moved_before(w, at) + B(w, E(sq(dF(w, at.r))))),
    "lemma-A.1-coefficient": lambda w, a, at: (1 + Q(1, 2 * TAU - 1) + 6 * TAU * w.eta**2 * w.L**2, 1 + Q(1, TAU - 1)),
    "lemma-A.1-recursion": lambda w, a, at: (
        moved(w, at, at.k), (1 + Q(1, TAU - 1)) * moved_before(w, at) + B(w, E(sq(dF(w, at.r))))),
    "lemma-A.1-unroll": lambda w, a, at: (
        moved(w, at, at.k), sum(GROWN**n for n in R(at.j)) * B(w, E(sq(dF(w, at.r))))),
    "lemma-A.1-geometric": lambda w, a, at: (
        sum(GROWN**n for n in R(at.j)) * w.bracket, (TAU - 1) * (GROWN ** (at.j - 1) - 1) * w.bracket),
    "lemma-A.1-exponent": lambda w, a, at: ((TAU - 1) * (GROWN ** (at.j - 1) - 1) * w.bracket, h * w.bracket),
    "eq-11": lambda w, a, at: (h * B(w, w.gradient_sq), 5 * TAU * w.eta**2 * w.sigma_sq + 30 * TAU**2 * w.eta**2 * (
        w.sigma_g_sq + w.gradient_sq)),
    "eq-11-maximum": lambda w, a, at: (h, Q(19, 4)),
    "lemma-A.2-two-terms": lambda w, a, at: (n_sq(w, a, at.r), 2 * E(sq(stale(w, a, at.r, lambda s: D(w, a, s))))
                                             + 2 * E(sq(hat(w, a, at.r, D(w, a, at.r))))),
    "lemma-A.2-jensen": lambda w, a, at: (sq(sum((v for row in w.a for v in row), 0) / M),
                                          Q(TAU, M) * sum(sq(v) for row in w.a for v in row)),
    "eq-13": eq_13,
    # "E[|x|^2] = E[|x - E[x]|^2] + |E[x]|^2"
    "eq-13-reason": lambda w, a, at: (mean_of_values(w.chance, map(sq, w.value)), mean_of_values(
        w.chance, map(sq, centred(w.chance, w.value))) + sq(mean_of_values(w.chance, w.value))),
    "lemma-A.2-variance": lambda w, a, at: (
        n_sq(w, a, at.r), 4 * TAU**2 * w.sigma_sq + sum(vector_sum(w, a, at.r, true))),
    "lemma-A.2-drift-split": lambda w, a, at: (vector_sum(w, a, at.r, true)[which(a)], 2 * (
        vector_sum(w, a, at.r, minus(true, own))[which(a)] + vector_sum(w, a, at.r, own)[which(a)])),
    "lemma-A.2-smooth": lambda w, a, at: (2 * vector_sum(w, a, at.r, minus(true, own))[which(a)], 4 * TAU * w.L**2 * (
        V(w, a, at.r) if "now" in a else stale_V(w, a, at.r))),
    "lemma-A.2-heterogeneity": lambda w, a, at: (2 * vector_sum(w, a, at.r, own)[which(a)], 2 * (
        vector_sum(w, a, at.r, minus(own, whole))[which(a)] + vector_sum(w, a, at.r, whole)[which(a)])),
    "lemma-A.2-global-variance": lambda w, a, at: (
        2 * vector_sum(w, a, at.r, minus(own, whole))[which(a)], 4 * TAU**2 * w.sigma_g_sq),
    "eq-14": lambda w, a, at: (n_sq(w, a, at.r), sum(right_of_14(w, a, at.r))),
    "eq-14-reason": lambda w, a, at: (
        sum((1 - on if "main" in a else on) * sq(b) for b, on in zip(w.b, w.mask, strict=True)), sum(map(sq, w.b))),
    "lemma-A.2-sum": lambda w, a, at: (total_noise(w, a), sum(sum(right_of_14(w, a, r)) for r in R(T))),
    "lemma-A.2-shift": shift,
    "lemma-A.2-unweighted": lambda w, a, at: (total_noise(w, a), C_T(w) + 8 * TAU**2 * summed_gradients(w, a)
                                              + 8 * TAU * w.L**2 * sum(V(w, a, r) for r in R(T))),
    "lemma-A.2-kappa": lambda w, a, at: (8 * TAU**2 * summed_gradients(w, a), 8 * w.kappa * TAU**2 * G(w)),
    "eq-15": eq_15,
    "eq-16": eq_16,
    # "<x, y> = 1/2 [|x|^2 + |y|^2 - |x - y|^2]"
    "eq-16-reason": lambda w, a, at: (dot(w.first, w.second), (sq(w.first) + sq(w.second) - sq(w.first - w.second)) / 2),
    "lemma-A.3-T1-split": lambda w, a, at: (
        T1(w, a, at.r), T1_bound(w, a, at.r, w.eta / TAU * mean_of(a, at.r)(sq(deviation(w, a, at.r))))),
    "eq-17": lambda w, a, at: (T1(w, a, at.r), T1_bound(w, a, at.r, w.eta * own_deviation(w, a, at.r))),
    "eq-18": lambda w, a, at: (T1(w, a, at.r), T1_bound(w, a, at.r, w.eta * w.L**2 * V(w, a, at.r, mean_of(a, at.r)))),
    "lemma-A.3-T2-split": lambda w, a, at: T2_bound(
        w, a, at.r, 2 * w.eta**2 * mean_of(a, at.r)(sq(g_noise(w, a, at.r)))),
    "eq-19": eq_19, "eq-19-reason": eq_19_reason,
    "eq-20": lambda w, a, at: T2_bound(w, a, at.r, 2 * w.eta**2 * TAU / M * w.sigma_sq),
    "lemma-A.3-collect": lambda w, a, at: (next_value(w, a, at.r), after_18_and_20(w, a, at.r)),
    "lemma-A.3-omit": lambda w, a, at: ((w.L * w.eta**2 / M**2 - w.eta / (2 * M**2 * TAU)) * (
        M**2 * W(w, a, at.r, mean_of(a, at.r)) if "run" in a else w.W), 0),
    "eq-21": eq_21, "lemma-A.3-sum": summed_21,
    "lemma-A.3-insert-noise": lambda w, a, at: (
        (with_noise(w, w.gradients, w.drifts), with_noise(w, w.gradients, w.drifts)) if "regrouped" in a else
        (risen(w, a), with_noise(w, G(w), sum(V(w, a, r) for r in R(T))))),
    "lemma-A.3-rearrange": rearranged,
}
