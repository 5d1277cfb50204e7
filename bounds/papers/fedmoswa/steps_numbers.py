"""Proof steps about numbers alone: sums of local rates, growth over rounds, and the weights of Appendix G."""

from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.samples import samples
from bounds.language.words import (
    L,
    Product,
    Sum,
    clients,
    dot,
    i,
    j,
    k,
    local_steps,
    mu,
    norm2,
    participants,
    rounds,
    sigma_sq,
)
from bounds.papers.fedmoswa.main_text import convex_factor, convex_growth, nonconvex_growth, two_thirds
from bounds.papers.fedmoswa.setting import algebra_claim, b, c, eta, eta_eff, eta_g, gamma

__all__ = ["CLAIMS"]

step = partial(algebra_claim, kind="proof step")
K, T, m, s, n = local_steps, rounds, clients, participants, samples
any_L, any_mu, any_K, any_T = (
    Variable("L", "positive"), Variable("mu", "positive"), Variable("local_steps", "integer"), Variable("rounds", "integer"),
)
mu_below_L = Condition(mu, "<=", L)
nonnegative = partial(sp.Symbol, nonnegative=True)

# local rates of a round ----------------------------------------------------------------------------------------------
rates, excess = sp.IndexedBase("rates", real=True), sp.IndexedBase("excess", real=True)
last_rate, last_excess = nonnegative("last_rate"), nonnegative("last_excess")
every_step, earlier, after_j = (i, 0, K - 1), (i, 0, j - 1), (j, 1, K)
RATES = (any_L, any_K, any_T, Variable("excess", "nonnegative", (("i", "local_steps"),)))
RATES_NOTE = "excess writes how far a rate is below 1/(beta K T)"

#: eta_0, ..., eta_{K-1}, all positive and at most 1/(beta K T)
some_rates = Condition(rates[i], "==", 1 / (L * K * T * (1 + excess[i])), (every_step,))
length = Sum(rates[i], every_step)

eq_13 = step(
    id="fedmoswa/eq-13", number="(13), second inequality", variables=(any_L, any_mu, Variable("eta", "positive")),
    conditions=(mu_below_L, Condition(eta, "<=", 2 / (L + mu))),
    statement=Condition(sp.sqrt(1 - 2 * eta * L * convex_factor), "<=", 1 - eta * L * convex_factor),
)


def geometric(ratio):
    """Sum of the rates before step j times powers of the ratio."""
    return Sum(rates[i] * ratio ** (j - 1 - i), earlier)


eq_15_collect = step(
    id="fedmoswa/eq-15-collect", number="(15)", reading="b of the proof of Lemma E.1, with the rate eta_K",
    variables=(any_L, any_mu, *RATES[1:], Variable("last_excess", "nonnegative")),
    conditions=(
        mu_below_L, some_rates, Condition(last_rate, "==", 1 / (L * K * T * (1 + last_excess))),
        Condition(b, "==", 1 - last_rate * L * convex_factor),
    ),
    statement=Condition(geometric(1 - b), "<=", (1 - b) ** (K - 1) * length, (after_j,)), note=RATES_NOTE,
)

ONE_RATE = (any_L, any_mu, any_K, any_T, Variable("eta", "positive"))

one_rate = (
    mu_below_L, Condition(eta, "<=", 1 / (L * K * T)), Condition(rates[i], "==", eta, (every_step,)),
    Condition(b, "==", eta * L * convex_factor),
)

eq_15_b_F1 = eq_15_collect.variant(
    "b-F1", "b of Lemma F.1, one rate at all steps", variables=ONE_RATE, conditions=one_rate, note=""
)
G_lip, sigma = nonnegative("G_lip"), nonnegative("sigma")
total = G_lip + sigma

eq_35 = step(
    id="fedmoswa/eq-35", number="(35), last inequality",
    reading="its last inequality; b of Lemma F.1, one rate at all steps",
    variables=(*ONE_RATE, Variable("G_lip", "nonnegative"), Variable("sigma", "nonnegative")), conditions=one_rate,
    statement=Condition(
        Sum(rates[i] * total * (1 - b) ** (K - 1 - i), every_step), "<=", length * (1 - b) ** (K - 1) * total
    ),
)

growing = (some_rates, Condition(1 + L * rates[i], "<=", c, (every_step,)))

eq_24 = step(
    id="fedmoswa/eq-24", number="(24)", reading="the sum of the rates", variables=RATES, conditions=growing,
    statement=Condition(geometric(1 + c), "<=", (1 + c) ** (K - 1) * length, (after_j,)), note=RATES_NOTE,
)

eq_104 = step(
    id="fedmoswa/eq-104", number="(104)", reading="the sum of the rates", variables=(any_L, any_K, any_T, ONE_RATE[-1]),
    conditions=(*one_rate[1:3], Condition(1 + L * eta, "<=", c)),
    statement=Condition(geometric(1 + c), "<=", (1 + c) ** (K - 1) * K * eta, (after_j,)),
)

later = (j, i + 1, K - 1)
q, p = 1 - rates[j] * L * convex_factor, 1 + L * rates[j]
Q, P = sp.exp(-length * L * convex_factor), sp.exp(L * length)


def product_and_sum(name, number, factor, limit, variables, conditions):
    """The product of the factors of all steps, and the sum of the rates times the factors of later steps."""
    first = step(
        id=f"fedmoswa/{name}", number=number, reading="the product", variables=variables, conditions=conditions,
        statement=Condition(Product(factor, (j, 0, K - 1)), "<=", limit), note=RATES_NOTE,
    )
    return first, first.variant(
        "sum", "the sum", statement=Condition(Sum(rates[i] * Product(factor, later), every_step), "<=", length * limit)
    )


eq_20_exp = product_and_sum(
    "eq-20-exp", "(20), second inequality", q, Q, (any_L, any_mu, *RATES[1:]), (mu_below_L, some_rates)
)
eq_29 = product_and_sum("eq-29", "(29), second inequality", p, P, RATES, (some_rates,))

# growth over rounds --------------------------------------------------------------------------------------------------
lengths = sp.IndexedBase("lengths", real=True)
every_round = (i, 0, T - 1)
LENGTHS = (any_T, Variable("excess", "nonnegative", (("i", "rounds"),)))
LENGTHS_NOTE = "excess writes how far the length of a round is below 1/(beta T)"
some_lengths = Condition(lengths[i], "==", 1 / (L * T * (1 + excess[i])), (every_round,))
still_to_come = Sum(lengths[j], (j, i + 1, T - 1))


def growth_sum(rate, factor):
    return Sum(sp.exp(rate * still_to_come) * lengths[i] * sp.exp(factor * lengths[i]), every_round)


damping = -L * convex_factor

eq_22_sum = step(
    id="fedmoswa/eq-22-sum", number="(22), second inequality", reading="growth with beta, as (22) prints",
    variables=(any_L, any_mu, *LENGTHS), conditions=(mu_below_L, some_lengths),
    statement=Condition(growth_sum(L, damping), "<=", convex_growth / L), note=LENGTHS_NOTE,
)

eq_22_sum_43 = eq_22_sum.variant(
    "as-43", "contraction in place of growth, as in (43)",
    statement=Condition(growth_sum(damping, damping), "<=", convex_growth / L),
)

Phi, largest_Phi = sp.IndexedBase("Phi", real=True), nonnegative("largest_Phi")


def end_of_growth(number, name):
    """(32) or (112): from the sum over rounds to the theorem, with this constant."""
    constant = sp.Symbol(name, positive=True)
    scale = 2 * constant / (m * n)
    sizes = (Variable("clients", "integer"), Variable("samples", "integer"), Variable(name, "positive"))
    summed = growth_sum(L, L)
    first = step(
        id=f"fedmoswa/eq-{number}", number=f"({number}), first inequality",
        reading="first inequality; free t: the largest over the rounds",
        variables=(any_L, *LENGTHS, *sizes, Variable("Phi", "nonnegative", (("i", "rounds"),))),
        conditions=(some_lengths, Condition(Phi[i], "<=", largest_Phi, (every_round,))),
        statement=Condition(
            scale * Sum(summed.function * Phi[i], every_round), "<=", scale / L * nonconvex_growth * largest_Phi
        ),
        note=f"{LENGTHS_NOTE}; Phi is E |grad F(theta_t)| + sigma_g + sigma in round t",
    )
    gradient, heterogeneity = nonnegative("largest_gradient"), nonnegative("sigma_g")
    second = first.variant(
        "second-inequality", "second inequality: the gradient is at most L",
        variables=(
            any_L, any_T, *sizes, Variable("largest_gradient", "nonnegative"), Variable("G_lip", "nonnegative"),
            Variable("sigma_g", "nonnegative"), Variable("sigma", "nonnegative"),
        ),
        conditions=(Condition(gradient, "<=", G_lip),),
        statement=Condition(
            scale / L * nonconvex_growth * (gradient + heterogeneity + sigma), "<=",
            scale / L * nonconvex_growth * (G_lip + heterogeneity + sigma),
        ),
        note="",
    )
    return first, second


# Appendix G.2 --------------------------------------------------------------------------------------------------------
two_or_more = Variable("local_steps", "integer", low=2)
left_76 = (K - 1) * ((1 + 1 / (K - 1)) ** K - 1)

eq_76 = step(
    id="fedmoswa/eq-76", number="before (76)", reading="for K of at least 2", variables=(two_or_more,),
    statement=Condition(left_76, "<=", 3 * K),
)

four_or_more = (Variable("local_steps", "integer", low=4),)
middle, right = K * (sp.exp(K / (K - 1)) - 1), K * (sp.exp(sp.Rational(4, 3)) - 1)

eq_76_chain = (
    eq_76.variant("first", "first inequality of (76), K at least 4", number="(76)", variables=four_or_more,
                  statement=Condition(left_76, "<", middle)),
    eq_76.variant("second", "second inequality of (76), K at least 4", number="(76)", variables=four_or_more,
                  statement=Condition(middle, "<=", right)),
    eq_76.variant("third", "third inequality of (76), K at least 4", number="(76)", variables=four_or_more,
                  statement=Condition(right, "<", 3 * K)),
)

any_step = Variable("eta_eff", "positive")
sizes = (Variable("clients", "integer"), Variable("participants", "integer"))
fewer = Condition(s, "<=", m)

g13 = step(
    id="fedmoswa/g13-step-size", number="end of the proof of Lemma G.13",
    reading="coefficient of the gap, with the powers that (85) needs",
    variables=(any_L, any_step), conditions=(Condition(eta_eff, "<=", 1 / (81 * L)),),
    statement=Condition(44 * L * eta_eff**2, "<=", sp.Rational(24, 25) * eta_eff),
)

g13_readings = (
    g13.variant(
        "printed", "coefficient of the gap, as printed", statement=None, variables=(), conditions=(),
        undefined="beta with a tilde in 44 beta^2 eta^2 <= (24/25) beta-tilde is defined nowhere",
    ),
    g13.variant(
        "lag", "coefficient of the control lag", variables=(any_mu, *sizes, any_step),
        conditions=(fewer, Condition(eta_eff, "<=", s / (15 * mu * m))),
        statement=Condition(9 * mu * eta_eff * m / (2 * s), "<=", sp.Rational(1, 3)),
    ),
)

gap, lag, server_gap = nonnegative("gap"), nonnegative("lag"), nonnegative("server_gap")

eq_77_second = step(
    id="fedmoswa/eq-77@second", number="(77), second inequality", reading="second inequality",
    variables=(
        any_L, any_step, any_K, Variable("eta_g", "positive"), Variable("gap", "nonnegative"),
        Variable("lag", "nonnegative"), Variable("server_gap", "nonnegative"), Variable("sigma_sq", "nonnegative"),
    ),
    conditions=(Condition(eta_eff, "<=", 1 / (81 * L)),),
    statement=Condition(
        (54 * L**2 * eta_eff**2 * gap + 27 * L * eta_eff**2 * lag + 27 * L * eta_eff**2 * server_gap
         + 63 * L * eta_eff**2 * sigma_sq / K) / eta_g**2,
        "<=", (gap / 25 + eta_eff * lag / 3 + eta_eff * server_gap / 3 + eta_eff * sigma_sq / K) / eta_g**2,
    ),
    note="gap, lag and server_gap are f_{t-1}, C_{t-1} and D_{t-1}",
)

eq_77_printed = eq_77_second.variant(
    "second-printed", "second inequality, with C twice in the middle as printed",
    statement=Condition(
        (54 * L**2 * eta_eff**2 * gap + 27 * L * eta_eff**2 * lag + 27 * L * eta_eff**2 * lag
         + 63 * L * eta_eff**2 * sigma_sq / K) / eta_g**2,
        "<=", eq_77_second.statement.right,
    ),
)

# Appendix G.3 --------------------------------------------------------------------------------------------------------
chance, change, p1 = sp.IndexedBase("chance", real=True), sp.IndexedBase("change", real=True), sp.Symbol("p1", real=True)
outcomes, factor = sp.Symbol("outcomes", integer=True, positive=True), sp.Symbol("factor", positive=True)


def mean(summand):
    return Sum(chance[k] * summand, (k, 0, outcomes - 1))


moved = mean(norm2(p1 - change[k]))

eq_88 = step(
    id="fedmoswa/eq-88", number="(88), (92)", reading="from the left side to the last line",
    variables=(
        Variable("outcomes", "integer"), Variable("chance", "simplex", (("k", "outcomes"),)),
        Variable("change", "vector", (("k", "outcomes"),)), Variable("p1", "vector"), Variable("factor", "positive"),
    ),
    statement=Condition(
        moved, "<=", (1 + factor) * norm2(p1) + mean(norm2(change[k])) + norm2(mean(change[k])) / factor
    ),
    note="p1 is the lag point minus theta^{t-1}, change[k] the change of theta in outcome k; factor is the paper's b",
)

eq_88_first = eq_88.variant(
    "first-line", "the first line, with the printed factor 1 before the inner product", variables=eq_88.variables[:-1],
    statement=Condition(
        moved, "==", norm2(p1) + mean(norm2(change[k])) + dot(mean(change[k]), p1)
    ),
)

power = sp.Symbol("power", real=True)
half_to_one = (Condition(power, ">=", sp.Rational(1, 2)), Condition(power, "<=", 1))


def young_factor(name, number, share, variables, conditions):
    """The choice of b = share/(2 (1 - share)) in G.15 and G.16, and what the step size gives."""
    chosen = (*conditions, Condition(b, "==", share / (2 * (1 - share))))
    stepped = (*conditions, *half_to_one, Condition(eta_eff, "<=", share**power / (24 * L)))
    with_step = (*variables, any_L, any_step, Variable("power", "positive"))
    first = step(
        id=f"fedmoswa/{name}", number=number, reading="first inequality", variables=variables, conditions=chosen,
        statement=Condition((1 - share) * (1 + b), "<=", 1 - share / 2),
    )
    return (
        first,
        first.variant("inverse", "second inequality", statement=Condition(1 / b, "<=", 2 / share)),
        first.variant("step-size", "third inequality", variables=with_step, conditions=stepped,
                      statement=Condition(16 * L**2 * eta_eff**2, "<=", share ** (2 * power) / 36)),
        first.variant("power", "fourth inequality", variables=(*variables, Variable("power", "positive")),
                      conditions=(*conditions, *half_to_one),
                      statement=Condition(share ** (2 * power) / 36, "<=", share / 36)),
    )


eq_89_b = young_factor(
    "eq-89-b", "after (89)", gamma, (Variable("gamma", "positive"),), (Condition(gamma, "<=", 1),)
)
eq_93_b = young_factor("eq-93-b", "after (93)", s / m, sizes, (fewer,))

eq_95_geometric = step(
    id="fedmoswa/eq-95-geometric", number="(95), last inequality",
    variables=(two_or_more, any_L, any_step, Variable("eta_g", "positive")),
    conditions=(Condition(eta_eff, "<=", 1 / (24 * L)), Condition(eta_g, ">=", 1)),
    statement=Condition(
        Sum((1 + 1 / (K - 1) + 4 * L**2 * eta_eff**2 / (K * eta_g**2)) ** i, earlier), "<=", 3 * K, (after_j,)
    ),
)

spread = (m / s) ** two_thirds

conclusion = {
    "number": "end of the proof of Lemma G.18", "variables": (*sizes, any_L, any_step),
    "conditions": (fewer, Condition(eta_eff, "<=", (s / m) ** two_thirds / (24 * L))),
}

eq_102_conclusion = (
    step(
        id="fedmoswa/eq-102@step-size", reading="what the step size gives, a = 2/3", **conclusion,
        statement=Condition(L * eta_eff * spread, "<=", sp.Rational(1, 24)),
    ),
    step(
        id="fedmoswa/eq-102@gradient", reading="coefficient of the squared gradient, a = 2/3", **conclusion,
        statement=Condition(eta_eff / 2 - 2 * L * eta_eff**2 - L * eta_eff**2 / 4 * spread, ">=", eta_eff / 14),
    ),
    step(
        id="fedmoswa/eq-102@drift", reading="coefficient of the drift, a = 2/3", **conclusion,
        statement=Condition(
            eta_eff / 2 - 5 * eta_eff / 3 + 2 * L * eta_eff**2 + sp.Rational(97, 4) * L * eta_eff**2 * spread, "<=", 0
        ),
    ),
)

CLAIMS = (
    eq_13, eq_15_collect, eq_15_b_F1, eq_35, eq_24, eq_104, *eq_20_exp, *eq_29, eq_22_sum, eq_22_sum_43,
    *end_of_growth(32, "c_tilde"), *end_of_growth(112, "c_bar"), eq_76, *eq_76_chain, g13, *g13_readings, eq_77_second,
    eq_77_printed, eq_88, eq_88_first, *eq_89_b, *eq_93_b, eq_95_geometric, *eq_102_conclusion,
)
