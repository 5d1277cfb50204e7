"""FedLUAR's formulas in plain Python, written from the paper, on a world of random fractions.

A row gives both sides of a claim from the world ``w``, the names ``a`` of the claim's reading, and indices ``at``. Rounds,
layers, local steps and clients count from 0.
"""

from fractions import Fraction as Q
from types import SimpleNamespace

from tests.bounds.chance import E, E_round, Max, Min
from tests.bounds.claim_values import dot, name_of, sq
from tests.bounds.papers.fedluar_hypotheses import DOMAINS, SUPPOSED, each_layer
from tests.bounds.papers.fedluar_settings import METHOD, setting
from tests.bounds.papers.fedluar_world import (
    LAYERS,
    TAU,
    D,
    G,
    G_bar,
    H,
    M,
    R,
    T,
    V,
    X,
    common_source,
    dF,
    fall,
    hat,
    kappa_t,
    keeps,
    length,
    mean_over,
    names_of,
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
    values,
    with_noise,
    world,
)
from tests.bounds.ranges import each_round
from tests.bounds.rows import Relation

__all__ = [
    "BLOCKS", "DOMAINS", "EVERY_READING", "METHOD", "READINGS", "ROWS", "SUPPOSED", "WITHOUT_UNIT", "row", "sides", "values",
    "world"]

#: block ids of the specification's sections 4 and 5
BLOCKS = """
    eq-8 eq-1 eq-2 eq-3-5 eq-6 def-kappa lemma-3.1 theorem-3.2 remark-1 remark-2 lemma-A.1 lemma-A.2 lemma-A.3 theorem-A.4
    eq-9 lemma-A.1-variance lemma-A.1-young eq-10 lemma-A.1-split lemma-A.1-onestep lemma-A.1-coefficient lemma-A.1-recursion
    lemma-A.1-unroll lemma-A.1-geometric lemma-A.1-exponent eq-11 eq-11-maximum
    lemma-A.2-two-terms lemma-A.2-jensen eq-13 eq-13-reason lemma-A.2-variance lemma-A.2-drift-split lemma-A.2-smooth
    lemma-A.2-heterogeneity lemma-A.2-global-variance eq-14 eq-14-reason lemma-A.2-sum lemma-A.2-shift lemma-A.2-unweighted
    lemma-A.2-kappa lemma-A.2-kappa-range
    eq-15 eq-16 eq-16-reason lemma-A.3-T1-split eq-17 eq-18 lemma-A.3-T2-split eq-19 eq-19-reason eq-20 lemma-A.3-collect
    lemma-A.3-omit eq-21
    lemma-A.3-sum lemma-A.3-insert-noise lemma-A.3-rearrange
    theorem-A.4-insert-drift theorem-A.4-simplify theorem-A.4-coefficient eq-22"""
MASK = "forced exogenous"
NOISE = f"{MASK} common sampled main"
KAPPAS = "sure aggregate update update-squared"
ROUND = f"{MASK} sampled total"
PRODUCTS = "forced+common R0-all delta-0"
#: readings of each block by the axes that the specification names for it
READINGS = {
    "eq-1": "all-layers literal recompute oracle average-all zero-norm",
    "eq-2": "priority inverted inverted+priority law law+any-number law+inverted law+two-layers",
    "eq-6": "common sampled main displacement displacement-as-printed",
    "def-kappa": f"{KAPPAS} main",
    "lemma-3.1": f"{NOISE} {KAPPAS} {PRODUCTS} squared-mean along-run ratios-exist",
    "theorem-3.2": f"{NOISE} {KAPPAS} {PRODUCTS} pathwise squared-mean along-run",
    "remark-1": "structural small-kappa",
    "lemma-A.1": "proof-display per-client proof-display+per-client literal",
    "lemma-A.2": f"{NOISE} {KAPPAS} {PRODUCTS} ratios-exist",
    "lemma-A.3": f"{NOISE} {KAPPAS} {PRODUCTS} pathwise literal-domain ratios-exist",
    "theorem-A.4": f"{NOISE} {KAPPAS} {PRODUCTS} pathwise",
    "eq-9": "index-k",
    **dict.fromkeys(("lemma-A.2-two-terms", "eq-13", "lemma-A.2-variance", "eq-14", "lemma-A.2-sum", "lemma-A.2-unweighted"),
                    NOISE),
    **dict.fromkeys(("lemma-A.2-drift-split", "lemma-A.2-smooth", "lemma-A.2-heterogeneity"), f"{NOISE} now"),
    **dict.fromkeys(("eq-17", "eq-18", "lemma-A.3-T1-split"), ROUND),
    **dict.fromkeys(("eq-19", "eq-20", "lemma-A.3-T2-split", "lemma-A.3-collect"), f"{ROUND} literal"),
    "eq-15": f"{ROUND} first-line",
    "eq-16": f"{ROUND} literal gradients roots-taken-out",
    "eq-21": f"{ROUND} any-noise",
    "lemma-A.3-sum": f"{MASK} sampled pathwise",
    "lemma-A.3-omit": "run",
    "lemma-A.3-rearrange": "literal-domain",
}
#: whether the readings of the blocks in READINGS are all listed
EVERY_READING = True
#: numbers and vectors that take any unit, and a constant that O(.) hides
WITHOUT_UNIT = {"a", "first", "second", "C", "length", "value", "other_value"}

# statements ------------------------------------------------------------------------------------------------------------
def noise_lemma(w, a, at):
    right = 4 * T * TAU**2 * w.sigma_sq + 8 * T * TAU**2 * w.sigma_g_sq + 8 * w.kappa * TAU**2 * G(w)
    return total_noise(w, a), right + 8 * TAU * w.L**2 * sum(V(w, a, r) for r in R(T))


def framework(w, a, at):
    o = 1 - 16 * w.kappa
    right = (2 * fall(w, a) / (o * w.eta * TAU) + 2 * T / o * (w.L * w.eta / M + 4) * w.sigma_sq + 16 * T * w.sigma_g_sq / o
             + 18 * w.L**2 / (o * TAU) * sum(V(w, a, r) for r in R(T)))
    return G(w), right


def theorem(w, a, at, decrease=None):
    o = 1 - 16 * w.kappa
    return G(w), (4 / (o * w.eta * TAU) * (fall(w, a) if decrease is None else decrease)
                  + 4 * T / o * (w.L * w.eta / M + 4 + 9 * w.L**2) * w.sigma_sq
                  + 1080 * T * w.L**2 * w.eta**2 * TAU**2 / o * w.sigma_g_sq)


def inserted(w, decrease, gradients):
    o = 1 - 16 * w.kappa
    inner = [5 * w.eta**2 * TAU * w.sigma_sq + 30 * w.eta**2 * TAU**2 * w.sigma_g_sq + 30 * w.eta**2 * TAU**2 * q
             for q in gradients for _ in R(TAU)]
    return (2 * decrease / (o * w.eta * TAU) + 2 * T / o * (w.L * w.eta / M + 4) * w.sigma_sq + 16 * T / o * w.sigma_g_sq
            + 18 * w.L**2 / (o * TAU) * sum(inner))


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


def remark_1(w, a, at):
    both = C_T(w) + 8 * w.kappa * TAU**2 * w.gradients + 8 * TAU * w.L**2 * w.drifts
    return both, both


def remark_2(w, a, at):
    def rounds(eta):
        fixed = w.length / eta / (w.L * eta * TAU) ** w.excess
        return w.length if "T-fixed" in a else w.length / eta if "etaT-fixed" in a else fixed

    o, per = 1 - 16 * w.kappa, (rounds if "average" in a else lambda eta: 1)
    if "floor" in a:
        return tuple(4 * rounds(e) / o * (4 + 9 * w.L**2) * w.sigma_sq / per(e) for e in (w.eta, w.eta_other))
    n = rounds(w.eta)
    others = (4 * w.decrease / (o * w.eta * TAU) + 4 * n / o * w.L * w.eta / M * w.sigma_sq
              + 1080 * n * w.L**2 * w.eta**2 * TAU**2 / o * w.sigma_g_sq)
    power = Min(1, w.excess) if "etaT-to-infinity" in a else 1
    return others / per(w.eta), w.C * (w.L * w.eta * TAU) ** power


def averaged_change(w, a, r):
    moves = [(w.x_before[(r + 1) * TAU][k] - w.x_round[r]) for k in R(M)]
    if "sampled" in a:
        return sum((v for k, v in enumerate(moves) if w.sampled[r][k]), 0) / w.participants
    return sum(moves, 0) / M


def eq_1(w, a, at):
    r, layer = at.r, at.l

    def ratio(v):
        return length(part(layer, v)) / length(part(layer, w.x_round[r]))

    fresh = ratio(averaged_change(w, a if a & {"average-all", "literal"} else {"sampled"}, r))
    if "zero-norm" in a:
        fresh = Max(fresh, w.score_floor)
    old = ratio(w.server_applied_update[r + 1]) if "recompute" in a else w.server_score[r][layer]
    recycled = w.server_recycle_set[r][layer] and not a & {"oracle", "all-layers", "literal"}
    return w.server_score[r + 1][layer], old if recycled else fresh


def eq_2(w, a, at):
    weights = [s if "inverted" in a else 1 / s for s in (w.server_score[at.r + 1] if "law" in a else w.layer_score)]
    p = [q / sum(weights) for q in weights]
    if "law" in a:  # that layer l is among those drawn after round t
        later = sum(p[m] * p[at.l] / (1 - p[m]) for m in R(LAYERS) if m != at.l)  # the second draw, of the layers left
        chosen = p[at.l] + later if "two-layers" in a else p[at.l]
        return E_round(w.server_recycle_set[at.r + 1][at.l], at.r), E_round(chosen, at.r)
    if "priority" not in a:
        return sum(q / sum(weights) for q in weights), 1
    return (weights[at.l] - weights[at.j]) / sum(weights) * (w.layer_score[at.l] - w.layer_score[at.j]), 0


def eq_3_5(w, a, at):
    fresh = averaged_change(w, a, at.r)
    if "delta-0" in a:
        return sq(w.server_applied_update[at.r + 1] - fresh), 0
    put = sum((part(n, w.server_applied_update[at.r] if w.server_recycle_set[at.r][n] else fresh) for n in R(LAYERS)), 0)
    return sq(w.server_applied_update[at.r + 1] - put), 0


def eq_6(w, a, at):
    r = at.r
    right = stale(w, a, r, lambda s: D(w, a, s)) - hat(w, a, r, D(w, a, r))
    if "displacement" in a or "displacement-as-printed" in a:
        left = w.server_applied_update[r + 1] - averaged_change(w, a, r)
        return sq(left - right * (-w.eta if "displacement" in a else 1)), 0
    return sq(noise(w, a, r) - right), 0


def def_kappa(w, a, at):
    full = sq(dF(w, at.r))
    if a & {"update", "update-squared"} or any(w.server_recycle_set[at.r]):
        return kappa_t(w, a, at.r) * full, w.kappa * full
    return 0, 0


def kappa_range(w, a, at):
    return (1, 0) if a & {"above-0", "below-1"} else (w.kappa, 1)


def summed_gradients(w, a):
    return sum(H(w, a, r) for r in R(T))


ROWS = {
    "eq-8": lambda w, a, at: (w.objective(w.x_local[at.t][at.k]), sum(w.F(i, w.x_local[at.t][at.k]) for i in R(M)) / Q(M)),
    "eq-1": eq_1, "eq-2": eq_2, "eq-3-5": eq_3_5, "eq-6": eq_6, "def-kappa": def_kappa,
    "lemma-3.1": noise_lemma, "lemma-A.2": noise_lemma, "theorem-3.2": theorem, "theorem-A.4": theorem,
    "lemma-A.3": framework,
    "remark-1": lambda w, a, at: remark_1(w, a, at) if "structural" in a else noise_lemma(w, a, at), "remark-2": remark_2,
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
    "lemma-A.2-kappa-range": kappa_range,
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
    "theorem-A.4-insert-drift": lambda w, a, at: (G(w), inserted(w, fall(w, a), [E(sq(dF(w, r))) for r in R(T)])),
    "theorem-A.4-simplify": lambda w, a, at: (
        inserted(w, w.decrease, [w.gradients, *[0] * (T - 1)]),
        X(w, w.decrease) + 540 * w.L**2 * w.eta**2 * TAU**2 / (1 - 16 * w.kappa) * w.gradients),
    "theorem-A.4-coefficient": lambda w, a, at: (540 * w.L**2 * w.eta**2 * TAU**2 / (1 - 16 * w.kappa), Q(1, 2)),
    "eq-22": lambda w, a, at: (w.gradients, theorem(w, a, at, w.decrease)[1]) if "last-step" in a else (
        G(w), X(w, fall(w, a)) + G(w) / 2),
}


def sides(claim, w, at):
    """Both sides from the paper."""
    return ROWS[name_of(claim)](w, names_of(claim), SimpleNamespace(**at))


def row(claim):
    """What the paper states beside both sides."""
    return setting(name_of(claim), names_of(claim))


def _above_floor(*reading):
    """The least score is at most this score, so that it does not count."""
    return Relation(lambda w, r, n: w.score_floor, "<=",
                    lambda w, r, n: eq_1(w, frozenset(reading), SimpleNamespace(r=r, l=n))[1], (each_round, each_layer))


SUPPOSED |= {
    "above-floor@fresh": _above_floor("all-layers"), "above-floor": _above_floor(),
    **{f"above-floor@{name}": _above_floor(name)
       for name in ("all-layers", "literal", "recompute", "oracle", "average-all")},
    # the display after (21) and (22) itself, of numbers
    "noise-inserted": Relation(lambda w: 0, "<=", lambda w: with_noise(w, w.gradients, w.drifts) + w.decrease),
    "half-left": Relation(lambda w: 0, "<=", lambda w: X(w, w.decrease) - w.gradients / 2),
}
