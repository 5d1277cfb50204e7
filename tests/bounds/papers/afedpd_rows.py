"""A-FedPD's formulas in plain Python, written from the paper, on a world of random numbers.

A row gives both sides of a claim from the world ``w``, the names ``a`` of the claim's reading, and indices ``at``.
"""

from math import sqrt
from types import SimpleNamespace

from tests.bounds.claim_values import name_of, reading_of
from tests.bounds.papers import afedpd_descent_rows as descent
from tests.bounds.papers import afedpd_stability_rows as stability
from tests.bounds.papers import afedpd_table_rows as tables
from tests.bounds.papers import afedpd_unrolling_rows as unrolling
from tests.bounds.papers.afedpd_hypotheses import DOMAINS, SUPPOSED
from tests.bounds.papers.afedpd_settings import METHOD, SETTINGS
from tests.bounds.papers.afedpd_stability_rows import bound_appendix, change, gen
from tests.bounds.papers.afedpd_world import (
    R_0,
    C,
    E,
    E_data,
    E_t,
    K,
    P,
    R,
    S,
    T,
    bar,
    error,
    grads,
    lam_bar,
    simple,
    sq,
    trained,
    values,
    world,
)
from tests.bounds.rows import rows_by_id

__all__ = [
    "BLOCKS", "DOMAINS", "METHOD", "READINGS", "ROWS", "SUPPOSED", "WITHOUT_UNIT", "row", "sides", "values", "world"]


#: block ids of the specification's sections 4 and 5
BLOCKS = """
    theorem-1 theorem-1-explicit lemma-1 lemma-2 lemma-3 theorem-2 theorem-2-explicit lemma-4
    lemma-5 lemma-6 remark-1.1 remark-1.2 remark-2.1-rate remark-2.1-local table-7-fedpd
    table-7-fedadmm table-7-feddyn table-7-afedpd text-c-over-p table-9-sgd table-9-mohri table-9-hu
    table-9-wu table-9-fedavg table-9-afedpd text-partial-fedpd text-mean-dual text-unbiased eq-9
    eq-10 eq-13 lemma-1-step-1 lemma-1-step-2 lemma-2-step-1 lemma-2-step-2 lemma-2-step-3
    lemma-3-step-1 lemma-3-step-2 descent-1 descent-2 descent-3 descent-4 descent-5 descent-6
    descent-7 descent-8 descent-9 descent j-by-r r-recursion q-combined q-range q-equation
    rho-quadratic rho-order q-choice one-step-theorem-1 telescoped telescoped-relaxed lemma-4-split
    lemma-4-hitting lemma-5-triangle lemma-5-contraction lemma-5-unroll lemma-5-geometric bernoulli
    lemma-6-different lemma-6-mixture lemma-6-unroll rec-delta-global rec-sigma rec-delta-local rec-pi
    rec-weighted multipliers rec-factored alpha-condition x-plus x-plus-bound alpha-rho-bound
    rec-one-step unrolled-constant unrolled-product product-exp sum-power unrolled-decayed
    gap-before-tau0 tau0-choice theorem-2-constants text-r0 text-decayed
    table-2-fedspeed table-2-heterogeneity table-2-feddyn table-2-afedpd table-2-primal table-2-sam
    table-4-fedavg table-4-factors table-5-factors table-6-factors table-5-time"""
#: readings that the specification lists for a block
READINGS = {
    "theorem-1": "exact rho-appendix rho-appendix+exact", "theorem-1-explicit": "exact", "lemma-1": "inactive-theta",
    "lemma-2": "exact", "lemma-3": "inactive-theta", "theorem-2": "gamma-first",
    "theorem-2-explicit": "gamma-first stability", "lemma-4": "cond-zeta cond-zeta+rounds-upto generalisation",
    "lemma-5": "round-end every-client theta-T stable quadratic+stable", "lemma-6": "round-end every-client stable",
    **dict.fromkeys(("lemma-5-triangle", "lemma-5-contraction"), "stable sample stable+sample"),
    **dict.fromkeys(("lemma-5-unroll", "bernoulli"), "stable"),
    "lemma-6-different": "stable sample sample+stable",
    "lemma-6-unroll": "stable closed run+printed run+round", "lemma-5-geometric": "theta-t bound bound+stable",
    "eq-9": "abs-outside signed second",
    "eq-10": "fedavg appendix", "table-7-fedadmm": "text sent start", "table-7-afedpd": "start",
    "table-7-fedpd": "sent start", "table-7-feddyn": "sent start eq-7", "remark-1.1": "full",
    "remark-2.1-rate": "any-step gamma-first fedpd fedadmm feddyn feddyn-original", "gap-before-tau0": "stability chain",
    **dict.fromkeys(("table-9-fedavg", "table-9-afedpd"), "any-step"), "table-9-sgd": "any-step fedavg",
    "text-mean-dual": "first through", "q-choice": "range relation", "telescoped": "from-0", "telescoped-relaxed": "numbers",
    "lemma-4-split": "nonneg", "lemma-4-hitting": "rounds-below last", "lemma-6-mixture": "limit",
    "rec-delta-global": "virtual", "rec-sigma": "virtual text", "rec-delta-local": "virtual",
    "rec-pi": "virtual stable at-most", "rec-factored": "with-sigma", "remark-1.2": "some-step samples",
    **dict.fromkeys(("j-by-r", "r-recursion", "q-combined", "one-step-theorem-1"), "exact averaged"),
    "table-2-fedspeed": "lenet", "table-2-afedpd": "lenet", "table-2-primal": "fedsam resnet resnet-afedpd",
    "table-2-heterogeneity": "cifar-100",
    "table-4-fedavg": "cifar-100",
    "alpha-condition": "necessary", "rec-one-step": "two", "unrolled-constant": "last whole", "product-exp": "summed",
    "tau0-choice": "minimiser", "unrolled-decayed": "system", "theorem-2-constants": "factor",
}
#: numbers that take any unit, and a constant that O(.) hides
WITHOUT_UNIT = {"constant", "slack", "s_1", "s_2", "s_3", "s_4", "root_1", "root_2", "tau_real", "tau_other"}


# text and tables ----------------------------------------------------------------------------------------------------
def partial_fedpd(w, a, at):
    if not a:
        return 0, sq(w.at_point - w.sent_mean) / (2 * w.rho_prox)
    sent = [trained(w, at.r, i) + w.client_dual[at.r + 1][i] / w.rho_prox for i in R(C) if w.sampled[at.r][i]]
    return sq(w.x_round[at.r + 1] - sum(sent) / P), 0


def mean_dual(w, a, at):
    if "first" in a:  # by clients
        t = at.r
        moved = sum(w.rho_prox * ((trained(w, t, i) if w.sampled[t][i] else bar(w, t + 1)) - w.x_round[t]) for i in R(C)) / C
        return sq(lam_bar(w, t + 1) - lam_bar(w, t) - moved), 0
    return sq(lam_bar(w, at.r + 1) - lam_bar(w, at.r) - w.rho_prox * (bar(w, at.r + 1) - w.x_round[at.r])), 0


def unbiased(w, a, at):
    active = sum(trained(w, at.r, i) for i in R(C) if w.sampled[at.r][i]) / P
    return sq(E_t(trained(w, at.r, at.k) - active, at.r)), 0


def eq_9(w, a, at):
    if "second" in a:
        return stability.stability(w), bound_appendix(w)
    gap = w.F_pop(w.x_round[T]) - w.objective(w.x_round[T])
    return E_data(gap) if "signed" in a else E_data(abs(gap)), stability.stability(w)


def local(w, at):
    t = at.r * K + at.j
    return w.x_local[t][at.k], w.x_before[t + 1][at.k], w.x_round[at.r], w.g[t][at.k], w.eta_l[at.r * K]


def eq_10(w, a, at):
    now, later, sent, g, step = local(w, at)
    lam = w.server_duals[at.r][at.k]
    if "fedavg" in a:
        return sq(later - sent - (now - sent) - step * g), 0
    return sq(later - sent - (1 - step * w.rho_prox) * (now - sent) - (-1 if "appendix" in a else 1) * step * (g + lam)), 0


def eq_13(w, a, at):
    now, later, sent, g, step = local(w, at)
    lam = w.server_duals[at.r][at.k]
    if "full-gradient" in a:
        return step**2 * sq(w.grad(at.k, now) - g), 0
    return sq(later - now + step * (g + lam + w.rho_prox * (now - sent))), 0


def remark_1_2(w, a, at):
    if "samples" in a:
        return grads(w, 1, T), w.constant / sqrt(K * T)
    return E(sq(error(w, at.r, at.k))), w.constant / K


def family(w, a, at):
    p = w.mu_lr * w.L / (1 + w.mu_lr * w.L)
    return gen(w), w.constant * ((C if "fedpd" in a else P) * T) ** p / (C * S)


def table_7(row):
    def sides(w, a, at):
        average = sum(w.sampled[0][i] * w.x_before[K][i] for i in R(C)) / P
        D = w.objective(w.x_round[0]) - w.F_star if "start" in a else E(w.objective(
            w.x_round[1] if "sent" in a else bar(w, 1) if row == "afedpd" else average)) - w.F_star
        models = sum(E(sq(w.objective_grad(w.x_round[t]))) for t in R(1, T + 1)) / T
        if row == "afedpd":
            return grads(w, 1, T), w.constant * (D / T + R_0(w) / T + w.eps_inexact)
        if row == "fedpd":
            return models, w.constant * (D / T + w.eps_inexact)
        if row == "feddyn":
            return models, w.constant * (C * D / (P * T) + R_0(w) / T)
        errors = sum(
            E(sq(w.grad(i, trained(w, t, i)) + w.client_dual[t][i] + w.rho_prox * (trained(w, t, i) - w.x_round[t])))
            for t in R(T) for i in R(C))
        return models, w.constant * (C * D / ((1 if "text" in a else P) * T) + errors / (C * T))

    return sides


def table_9(row):
    def sides(w, a, at):
        p = w.mu_lr * w.L / (1 + w.mu_lr * w.L)
        rate = {"sgd": (K * T) ** p / (C * S), "mohri": T * K / sqrt(C * S), "hu": T * K / sqrt(C * S),
                "wu": sqrt(T) / (C * sqrt(C * S)), "fedavg": (P * K * T) ** p / (C * S), "afedpd": (P * T) ** p / (C * S)}
        return gen(w), w.constant * rate[row]

    return sides


PROSE = {
    "remark-1.1": simple(lambda w, at: grads(w, 1, T), lambda w, at: w.constant / T), "remark-1.2": remark_1_2,
    "remark-2.1-rate": family,
    "remark-2.1-local": simple(lambda w, at: E(change(w, at.r, at.k, False)), lambda w, at: w.constant),
    **{f"table-7-{row}": table_7(row) for row in ["fedpd", "fedadmm", "feddyn", "afedpd"]},
    **{f"table-9-{row}": table_9(row) for row in ["sgd", "mohri", "hu", "wu", "fedavg", "afedpd"]},
    "text-c-over-p": simple(lambda w, at: C * w.D / (P * T), lambda w, at: C / P * w.D / T),
    "text-partial-fedpd": partial_fedpd, "text-mean-dual": mean_dual,
    "text-r0": simple(lambda w, at: sum(E(sq(w.x_before[K][i] - bar(w, 0))) for i in R(C)) / C, lambda w, at: R_0(w)),
    "text-decayed": simple(lambda w, at: E(sqrt(sq(w.x_before[K][at.k] - w.x_round[0]))), lambda w, at: w.constant),
    "text-unbiased": unbiased, "eq-9": eq_9,
    "eq-10": eq_10, "eq-13": eq_13,
}
ROWS = descent.ROWS | stability.ROWS | unrolling.ROWS | tables.ROWS | PROSE
row = rows_by_id(SETTINGS)


def sides(claim, w, at):
    """Both sides from the paper."""
    return ROWS[name_of(claim)](w, reading_of(claim), SimpleNamespace(**at))
