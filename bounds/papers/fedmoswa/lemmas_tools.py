"""Lemmas G.5-G.8: sequences, sums of squares, and sums of random vectors."""

from functools import partial

import sympy as sp

from bounds.language.claim import Choice, Condition, Procedure, Variable
from bounds.language.witness import witnessed
from bounds.language.words import E, Max, Min, Sum, g, grad, i, iterations, j, k, mu, norm2, sigma_sq, t, x_local
from bounds.papers.fedmoswa.assumptions import G3
from bounds.papers.fedmoswa.readings import varied, with_right
from bounds.papers.fedmoswa.setting import OVER_DATA, absolute_order, algebra_claim, each_client, run_claim

__all__ = ["CLAIMS"]

lemma = partial(algebra_claim, kind="lemma")
positive = partial(sp.Symbol, positive=True)

# sequences -----------------------------------------------------------------------------------------------------------
d = sp.IndexedBase("d", real=True)
length = sp.Symbol("length", integer=True, positive=True)
R = length - 2  # d_0, ..., d_{R+1} are length numbers
step, largest_step, drop = positive("step"), positive("largest_step"), sp.Symbol("drop", nonnegative=True)
every_r = (i, 1, R + 1)
sequence = Variable("d", "nonnegative", (("i", "length"),))


def weighted(summand):
    """Mean over r = 1, ..., R + 1 with the weights (1 - mu step)^(1 - r)."""
    w = (1 - mu * step) ** (1 - i)
    return Sum(w * summand, every_r) / Sum(w, every_r)


Psi = weighted((1 - mu * step) * d[i - 1] / step - d[i] / step + drop * step)

numbers = (
    Variable("length", "integer", low=3), sequence, Variable("mu", "positive"), Variable("step", "positive"),
    Variable("drop", "nonnegative"),
)

C = positive("C")

of_the_proof = {"open_low": True, "reading_id": "proof-step", "reading": "the step of the proof"}

g_5 = lemma(
    id="fedmoswa/lemma-g.5", number="Lemma G.5", explicit=False, exists=Choice(
        "step", 0, largest_step, witness=Min(largest_step, sp.log(Max(1, mu**2 * R * d[0] / drop)) / (mu * R)),
        **of_the_proof),
    variables=(
        numbers[0], sequence, numbers[2], Variable("largest_step", "positive"), numbers[4], Variable("C", "hidden-log"),
    ),
    conditions=(Condition(largest_step, "<=", 1 / mu), Condition(largest_step, ">=", 1 / (2 * mu * R))),
    statement=Condition(Psi, "<=", C * (mu * d[0] * sp.exp(-mu * largest_step * R) + drop / (mu * R))),
    steps=("fedmoswa/lemma-g.5-explicit",),
    note="drop is the paper's c, length is R + 2; the order sign with a tilde hides logarithms too",
)

g_5_step = witnessed(g_5)
g_5_steps = (g_5_step, g_5.variant(
    "proof-step+no-logarithms", "the step of the proof; no logarithms hidden", conditions=g_5_step.conditions,
    variables=(*g_5.variables[:-1], Variable("C", "hidden")), exists=None))

decreasing = 3 * mu * d[0] * (1 - mu * step) ** R + drop * step

g_5_explicit = lemma(
    id="fedmoswa/lemma-g.5-explicit", number="Lemma G.5, proof", variables=numbers, reading="first inequality",
    conditions=(Condition(step, "<=", 1 / mu), Condition(step, ">=", 1 / (2 * mu * R))),
    statement=Condition(Psi, "<=", decreasing), note="drop is the paper's c, length is R + 2",
)

g_5_exponential = g_5_explicit.variant(
    "exponential", "second inequality, for the numbers of the first",
    statement=Condition(decreasing, "<=", 3 * mu * d[0] * sp.exp(-mu * step * R) + drop * step),
)

weights = Sum((1 - mu * step) ** (1 - i), every_r)

g_5_lines = (
    g_5_explicit.variant("telescoped", "the telescoping sum", conditions=g_5_explicit.conditions[:1],
                         statement=Condition(Psi, "<=", d[0] / (step * weights) + drop * step)),
    g_5_explicit.variant("weights", "the sum of the weights",
                         statement=Condition(step * weights, ">=", (1 - mu * step) ** (-R) / (3 * mu))),
    g_5_explicit.variant("two-thirds", "why R of at least 1/(2 mu eta) is enough",
                         statement=Condition(sp.exp(-mu * step * R), "<=", 2 * sp.Rational(1, 3))),
)

first, second = sp.Symbol("first", nonnegative=True), sp.Symbol("second", nonnegative=True)
third = sp.Rational(1, 3)

g_6 = lemma(
    id="fedmoswa/lemma-g.6", number="Lemma G.6", exists=Choice("step", 0, largest_step, witness=Min(
        largest_step, sp.sqrt(d[0] / (first * (R + 1))), (d[0] / (second * (R + 1))) ** third), **of_the_proof),
    variables=(
        Variable("length", "integer", low=2), sequence, Variable("largest_step", "nonnegative"),
        Variable("first", "nonnegative"), Variable("second", "nonnegative"),
    ),
    statement=Condition(
        Sum(d[i - 1] / step - d[i] / step + first * step + second * step**2, every_r) / (R + 1), "<=",
        d[0] / (largest_step * (R + 1)) + 2 * sp.sqrt(first * d[0]) / sp.sqrt(R + 1)
        + 2 * (d[0] / (R + 1)) ** (2 * third) * second**third,
    ),
    note="first and second are the paper's c_1 and c_2, length is R + 2",
)

g_6_positive = g_6.variant("positive-start", "d_0 is positive: for d_0 = 0 and c_1 > 0 the right side vanishes",
                           conditions=(Condition(d[0], ">", 0),))

# sums of squares -----------------------------------------------------------------------------------------------------
p1, p2, factor = sp.Symbol("p1", real=True), sp.Symbol("p2", real=True), positive("factor")
vectors, terms = sp.IndexedBase("vectors", real=True), sp.Symbol("terms", integer=True, positive=True)
every_term = (i, 0, terms - 1)

g_7 = lemma(
    id="fedmoswa/lemma-g.7", number="Lemma G.7", reading="part 1",
    variables=(Variable("p1", "vector"), Variable("p2", "vector"), Variable("factor", "positive")),
    statement=Condition(norm2(p1 + p2), "<=", (1 + factor) * norm2(p1) + (1 + 1 / factor) * norm2(p2)),
    note="factor is the paper's a",
)

g_7_sum = g_7.variant(
    "part-2", "part 2", variables=(Variable("terms", "integer"), Variable("vectors", "vector", (("i", "terms"),))),
    statement=Condition(norm2(Sum(vectors[i], every_term)), "<=", terms * Sum(norm2(vectors[i]), every_term)),
    note="terms is the paper's tau",
)

g_7_identity = g_7.variant(
    "identity", "the identity in the proof of part 1",
    statement=Condition(
        norm2(p1 + p2), "==", (1 + factor) * norm2(p1) + (1 + 1 / factor) * norm2(p2)
        - norm2(sp.sqrt(factor) * p1 + p2 / sp.sqrt(factor))),
)

# sums of random vectors ----------------------------------------------------------------------------------------------
chance, outcome = sp.IndexedBase("chance", real=True), sp.IndexedBase("outcome", real=True)
outcomes = sp.Symbol("outcomes", integer=True, positive=True)
every_outcome = (k, 0, outcomes - 1)

RANDOM = (
    Variable("outcomes", "integer"), Variable("terms", "integer"), Variable("chance", "simplex", (("k", "outcomes"),)),
    Variable("outcome", "vector", (("k", "outcomes"), ("i", "terms"))),
)


def mean(summand):
    """Expectation over finitely many outcomes of an expression in ``k``."""
    return Sum(chance[k] * summand, every_outcome)


own_mean = Sum(chance[j] * outcome[j, i], (j, 0, outcomes - 1))

g_8_mean = lemma(
    id="fedmoswa/lemma-g.8-mean", number="Lemma G.8, part 1", variables=RANDOM,
    reading="random vectors with finitely many joint outcomes",
    conditions=(Condition(mean(norm2(outcome[k, i] - own_mean)), "<=", sigma_sq, (every_term,)),),
    statement=Condition(
        mean(norm2(Sum(outcome[k, i], every_term))), "<=",
        norm2(Sum(mean(outcome[k, i]), every_term)) + terms**2 * sigma_sq,
    ),
    note="outcome[k, i] is the value of the i-th vector in outcome k; terms is the paper's tau",
)

sum_of_means = Sum(mean(outcome[k, i]), every_term)
spread = mean(norm2(Sum(outcome[k, i] - own_mean, every_term)))

g_8_lines = (
    g_8_mean.variant(
        "identity", "the identity in the proof", conditions=(), variables=RANDOM,
        statement=Condition(mean(norm2(Sum(outcome[k, i], every_term))), "==", norm2(sum_of_means) + spread)),
    g_8_mean.variant("deviation", "the inequality after it", statement=Condition(spread, "<=", terms**2 * sigma_sq)),
)

every_iteration = (t, 0, iterations - 1)
drawn, wanted = (Sum(v, every_iteration) for v in (g[t, k], grad(k, x_local[t, k])))

g_8_martingale = run_claim(
    id="fedmoswa/lemma-g.8-martingale", number="Lemma G.8, part 2", kind="lemma", assumptions=(G3,),
    procedure=Procedure(**OVER_DATA),
    reading="with an expectation on the right; stochastic gradients of one client of FedAvg stand for the random vectors",
    statement=Condition(
        E(norm2(drawn)), "<=", 2 * E(norm2(wanted)) + 2 * iterations * sigma_sq, (each_client,)
    ),
    note="given the past, the expectation of a stochastic gradient is the gradient; tau is the number of iterations",
)

g_8_printed = {
    "printed": ("no expectation on the right, in every outcome", with_right(2 * norm2(wanted) + 2 * iterations * sigma_sq))
}
CLAIMS = (
    absolute_order(g_5), *map(absolute_order, g_5_steps), g_5_explicit, g_5_exponential, *g_5_lines, g_6, witnessed(g_6),
    g_6_positive, witnessed(g_6_positive), g_7, g_7_identity, g_7_sum, g_8_mean,
    *g_8_lines, *varied(g_8_martingale, g_8_printed),
)
