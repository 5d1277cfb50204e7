"""Proof of Lemma A.1 of FedLUAR: how far local models move in a round."""

from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.words import (
    E,
    L,
    Sum,
    g,
    grad,
    i,
    j,
    k,
    local_steps,
    norm2,
    objective_grad,
    r,
    sigma_sq,
    x_before,
    x_local,
    x_round,
)
from bounds.papers.fedluar.assumptions import (
    ASSUMPTIONS_1_TO_3,
    all_clients,
    all_rounds,
    heterogeneity,
    smooth,
    unbiased,
    variance_squared_mean,
)
from bounds.papers.fedluar.builders import FEDAVG, algebra_claim, constant_step, run_claim
from bounds.papers.fedluar.theorems import A1_STEP, SQUARED
from bounds.papers.fedluar.words import eta, sigma_g_sq

__all__ = ["CLAIMS"]

tau = local_steps
at = r * tau + j  # iterations of round r up to its local step j
two_steps = Condition(tau, ">=", 2)
start = x_round[r]
moved = E(norm2(x_before[at, k] - start))
moved_before = E(norm2(x_local[at - 1, k] - start))
full_sq = E(norm2(objective_grad(start)))
differences = (
    grad(k, x_local[at - 1, k]) - grad(k, start), grad(k, start) - objective_grad(start), objective_grad(start),
)
v = differences[0] + differences[1] + differences[2]
noise = eta * (g[at - 1, k] - grad(k, x_local[at - 1, k]))
added = eta**2 * sigma_sq + 6 * tau * eta**2 * sigma_g_sq + 6 * tau * eta**2 * full_sq
grown = 1 + 1 / (tau - 1)
NOTE = "t is r, the paper's k is j"

step = partial(
    run_claim, kind="proof step", procedure=FEDAVG, variables=(Variable("eta", "positive"),),
    assumptions=ASSUMPTIONS_1_TO_3, conditions=(constant_step,), note=NOTE,
)

small_step = partial(step, conditions=(constant_step, A1_STEP, two_steps), note=f"{NOTE}; {SQUARED}; tau at least 2")


def each_step(left, relation, right):
    return Condition(left, relation, right, (all_rounds, (j, 1, tau), all_clients))


eq_9 = step(
    id="fedluar/eq-9", number="(9)",
    statement=each_step(moved, "==", E(norm2(noise)) + E(norm2(x_local[at - 1, k] - start - eta * v))),
)

eq_9_reason = eq_9.variant(
    "index-k", "the reason for (9) as printed: the mean of g at step k - 1 is the gradient at the model after step k",
    statement=each_step(norm2(E(g[at - 1, k] - grad(k, x_before[at, k]))), "==", 0),
)

noise_term = step(
    id="fedluar/lemma-A.1-variance", number="after (9)", statement=each_step(E(norm2(noise)), "<=", eta**2 * sigma_sq),
)

noise_term_squared_mean = noise_term.variant(
    "squared-mean", "sigma_L bounds the mean norm of the noise",
    assumptions=(smooth, unbiased, variance_squared_mean, heterogeneity),
)

first, second = sp.Symbol("first", real=True), sp.Symbol("second", real=True)
alpha = sp.Symbol("alpha", positive=True)

young = algebra_claim(
    id="fedluar/lemma-A.1-young", number="after (10)", kind="proof step",
    variables=(Variable("first", "vector"), Variable("second", "vector"), Variable("alpha", "positive")),
    statement=Condition(
        norm2(first + second), "<=", (1 + 1 / alpha) * norm2(first) + (1 + alpha) * norm2(second)
    ),
)

eq_10 = step(
    id="fedluar/eq-10", number="(10)",
    statement=each_step(
        moved, "<=", eta**2 * sigma_sq + (1 + 1 / (2 * tau - 1)) * moved_before + 2 * tau * eta**2 * E(norm2(v))
    ),
)

split = step(
    id="fedluar/lemma-A.1-split", number="after (10)",
    statement=each_step(
        2 * tau * eta**2 * E(norm2(v)), "<=", 6 * tau * eta**2 * sum(E(norm2(part)) for part in differences)
    ),
)

one_step = step(
    id="fedluar/lemma-A.1-onestep", number="after (10)",
    statement=each_step(
        moved, "<=", (1 + 1 / (2 * tau - 1) + 6 * tau * eta**2 * L**2) * moved_before + added
    ),
)

numbers = (Variable("local_steps", "integer", low=2), Variable("eta", "positive"), Variable("L", "positive"))

coefficient = algebra_claim(
    id="fedluar/lemma-A.1-coefficient", number="before (11)", kind="proof step", variables=numbers, conditions=(A1_STEP,),
    statement=Condition(1 + 1 / (2 * tau - 1) + 6 * tau * eta**2 * L**2, "<=", grown), note=f"{SQUARED}; tau at least 2",
)

recursion = small_step(
    id="fedluar/lemma-A.1-recursion", number="before (11)",
    statement=each_step(moved, "<=", grown * moved_before + added),
)

unroll = small_step(
    id="fedluar/lemma-A.1-unroll", number="before (11)",
    statement=each_step(moved, "<=", Sum(grown**i, (i, 0, j - 1)) * added),
)

B = sp.Symbol("bracket", positive=True)
of_tau = (Variable("local_steps", "integer", low=2), Variable("bracket", "positive"))
TIMES = "bracket is the one of (11), or any positive number; tau at least 2"

geometric = algebra_claim(
    id="fedluar/lemma-A.1-geometric", number="before (11)", kind="proof step", variables=of_tau,
    statement=Condition(
        Sum(grown**i, (i, 0, j - 1)) * B, "<=", (tau - 1) * (grown ** (j - 1) - 1) * B, ((j, 1, tau),)
    ),
    note=f"the paper's k is j; {TIMES}",
)

h = (tau - 1) * (grown**tau - 1)

exponent = algebra_claim(
    id="fedluar/lemma-A.1-exponent", number="before (11)", kind="proof step", variables=of_tau,
    statement=Condition((tau - 1) * (grown ** (j - 1) - 1) * B, "<=", h * B, ((j, 1, tau),)),
    note=f"the paper's k is j; {TIMES}",
)

gradient_sq = sp.Symbol("gradient_sq", nonnegative=True)
bracket_11 = eta**2 * sigma_sq + 6 * tau * eta**2 * sigma_g_sq + 6 * tau * eta**2 * gradient_sq

eq_11 = algebra_claim(
    id="fedluar/eq-11", number="(11)", kind="proof step",
    variables=(*numbers[:2], *(Variable(n, "nonnegative") for n in ("sigma_sq", "sigma_g_sq", "gradient_sq"))),
    statement=Condition(
        h * bracket_11, "<=",
        5 * tau * eta**2 * sigma_sq + 30 * tau**2 * eta**2 * sigma_g_sq + 30 * tau**2 * eta**2 * gradient_sq,
    ),
    note="gradient_sq is the mean squared norm of the gradient at x_t; tau at least 2",
)

maximum = algebra_claim(
    id="fedluar/eq-11-maximum", number="after (11)", kind="proof step", reading="19/4 is the largest value over tau",
    variables=of_tau, statement=Condition(h * B, "<=", sp.Rational(19, 4) * B), note=f"both sides times a bracket; {TIMES}",
)

attained = maximum.variant(
    "attained", "19/4 is the value at tau = 3", variables=(Variable("local_steps", "integer", low=3, high=3), of_tau[1]),
    statement=Condition(h * B, "==", sp.Rational(19, 4) * B),
)

CLAIMS = (
    eq_9, eq_9_reason, noise_term, noise_term_squared_mean, young, eq_10, split, one_step, coefficient, recursion, unroll,
    geometric, exponent, eq_11, maximum, attained,
)
