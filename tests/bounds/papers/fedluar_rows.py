"""FedLUAR's formulas in plain Python, written from the paper, on a world of random fractions.

A row gives both sides of a claim from the world ``w``, the names ``a`` of the claim's reading, and indices ``at``. Rounds,
layers, local steps and clients count from 0.
"""

from fractions import Fraction as Q
from types import SimpleNamespace

from tests.bounds.chance import E, E_round, Max, Min
from tests.bounds.claim_values import name_of, sq
from tests.bounds.papers.fedluar_hypotheses import DOMAINS, SUPPOSED, each_layer
from tests.bounds.papers.fedluar_settings import METHOD, setting
from tests.bounds.papers.fedluar_step_rows import C_T, STEPS, total_noise
from tests.bounds.papers.fedluar_world import (
    LAYERS,
    TAU,
    D,
    G,
    M,
    R,
    T,
    V,
    X,
    dF,
    fall,
    hat,
    kappa_t,
    length,
    names_of,
    noise,
    part,
    stale,
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
    "remark-1": "structural small-kappa small-kappa+ratios-exist",
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


ROWS = STEPS | {
    "eq-8": lambda w, a, at: (w.objective(w.v), sum(w.F(i, w.v) for i in R(M)) / Q(M)),
    "eq-1": eq_1, "eq-2": eq_2, "eq-3-5": eq_3_5, "eq-6": eq_6, "def-kappa": def_kappa,
    "lemma-3.1": noise_lemma, "lemma-A.2": noise_lemma, "theorem-3.2": theorem, "theorem-A.4": theorem,
    "lemma-A.3": framework,
    "remark-1": lambda w, a, at: remark_1(w, a, at) if "structural" in a else noise_lemma(w, a, at), "remark-2": remark_2,
    "lemma-A.2-kappa-range": kappa_range,
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
