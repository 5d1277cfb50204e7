"""Appendix D, the proofs of Lemmas D.1 and D.2: (176)-(194)."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.coordinates import reciprocal, root, scaled
from bounds.language.words import (
    E,
    L,
    Max,
    Sum,
    clients,
    g,
    grad,
    i,
    j,
    k,
    local_steps,
    norm2,
    objective_grad,
    r,
    x_local,
    x_round,
)
from bounds.papers.fadamgc import quantities as q
from bounds.papers.fadamgc.assumptions import A51_A53, bounded, smooth
from bounds.papers.fadamgc.builders import (
    ANY_MOMENTS,
    FA_NT,
    algebra_step,
    all_tracked,
    alpha_vhat,
    at_each,
    at_each_but_first,
    before_last,
    carried,
    pathwise,
    readings,
    run_claim,
    started,
)
from bounds.papers.fadamgc.words import G, client_variate, eps, eta, server_variate, sigma, trackers

__all__ = ["CLAIMS"]

n, K, Y = clients, local_steps, trackers
Y_ZERO, WITH_V = "the first y_k are zero", "the first y_k are zero; stored directions with v"
step = partial(run_claim, FA_NT, ANY_MOMENTS, kind="proof step")
J = (G**2 + sigma**2) / eps**2
x, gf, gfi, N = x_round[r], objective_grad(x_round[r]), grad(k, x_round[r]), q.gradient_sq[r]

# Lemma D.1 -----------------------------------------------------------------------------------------------------------
left_175 = Sum(E(norm2(Sum(q.ema(j, i) * (grad(k, x_local[q.at(i), k]) - gfi), (i, 0, j)))), q.each_step, q.every_client) / n
right_176 = L**2 / n * Sum(q.ema(j, i) * E(norm2(x_local[q.at(i), k] - x)), (i, 0, j), q.each_step, q.every_client)
eq_176 = step(id="fadamgc/eq-176", number="(175)-(176)", reading=Y_ZERO, assumptions=(smooth,),
              statement=at_each(left_175, "<=", right_176))
eq_176_defined = eq_176.variant("definition", f"{Y_ZERO}; mtilde of (119) on the left side, as (174) has it",
                                number="(174)-(176)", statement=at_each(q.smoothed_error_nt[r], "<=", right_176))
eq_176_same = eq_176.variant("identity", f"{Y_ZERO}; (174) and (175) are the same", number="(174)-(175)", assumptions=(),
                             statement=at_each(q.smoothed_error_nt[r], "==", left_175))


def spread(j_):
    """``(1/n) sum_i E|x_i^{k'} - x|^2`` for k' = j_ + 1."""
    return Sum(E(norm2(x_local[q.at(j_), k] - x)), q.every_client) / n


two_steps, later = Condition(K, ">=", 2), (j, 1, Max(local_steps - 1, 1))
grown = 1 + 1 / (K - 1)
pieces = q.direction_nt[r, j - 1, k] - gfi + server_variate[r] - client_variate[r, k] + gfi - gf + gf
right_179 = grown * spread(j - 1) + K * Sum(E(norm2(eta * pieces)), q.every_client) / n
eq_179 = step(id="fadamgc/eq-179", number="(177)-(179)", reading=Y_ZERO, conditions=(two_steps,),
              statement=at_each(spread(j), "<=", right_179, later), note="for the second local step and all after it")
right_180 = grown * spread(j - 1) + 3 * K * eta**2 * N + 3 * K * eta**2 * q.Gamma_nt[r] + 12 * K * eta**2 * J
eq_180 = step(id="fadamgc/eq-180", number="(180)", reading=WITH_V, assumptions=A51_A53, conditions=(two_steps,),
              statement=at_each(right_179, "<=", right_180, later))
powers = Sum(grown**i, (i, 1, j + 1))

eq_182 = step(
    id="fadamgc/eq-182", number="(181)-(182)", reading=WITH_V, assumptions=A51_A53, conditions=(two_steps,),
    statement=at_each(
        spread(j), "<=",
        powers * (4 * K * eta**2 * N + 8 * K * eta**2 * q.Gamma_nt[r]) + powers * 12 * K * eta**2 * J, q.each_step),
    steps=("fadamgc/eq-179", "fadamgc/eq-180"), note="(180) prints the factors 3 and 3, (181) prints 4 and 8")

euler = sp.Symbol("euler", positive=True)
near_euler = (Condition(euler, ">=", sp.Rational(2718281828, 10**9)), Condition(euler, "<=", sp.Rational(2718281829, 10**9)))
powers_of = {"variables": (Variable("local_steps", "integer", low=2), Variable("euler", "positive")),
             "conditions": near_euler}

eq_183 = algebra_step(
    id="fadamgc/eq-183-exp", number="(183), the powers", reading="the first inequality", **powers_of,
    statement=Condition(grown**i, "<=", 2 * euler, ((i, 1, K),)),
    note="euler is e to nine decimals, from below and from above")

eq_183_second = eq_183.variant("second", "the second inequality", variables=(Variable("euler", "positive"),),
                                statement=Condition(2 * euler, "<=", 6))
eq_183_both = eq_183.variant("both", "both inequalities together", variables=(Variable("local_steps", "integer", low=2),),
                              conditions=(), note="", statement=Condition(grown**i, "<=", 6, ((i, 1, K),)))

# Lemma D.2 -----------------------------------------------------------------------------------------------------------
stored, stale = q.Gamma_nt, q.alpha[r - 1, j, k]
last_m, last_v = q.moment1_nt[r - 1, j, k], q.second_moment_nt[r - 1, j, k]
last_direction = scaled(last_m, root(last_v), eps)
Q1 = q.average(E(norm2(last_direction - gfi)))
right_188 = (1 - Y / n) * q.average(E(norm2(stale - gfi))) + (Y / n) * Q1
right_190 = (1 - Y / n) * (1 + Y / (2 * n)) * stored[r - 1] + (1 - Y / n) * (1 + 2 * n / Y) * G**2 + (Y / n) * Q1
length_sq = q.average(E(norm2(last_direction)))
right_191 = (1 - Y / (2 * n)) * stored[r - 1] + (5 * n / Y + 2 * Y / n) * G**2 + (Y / n) * length_sq
eq_188 = step(id="fadamgc/eq-188", number="(186)-(188)", reading=WITH_V,
              statement=at_each_but_first(stored[r], "<=", right_188))
eq_190 = step(id="fadamgc/eq-190", number="(189)-(190)", reading=WITH_V, assumptions=(bounded,),
              statement=before_last(at_each_but_first(right_188, "<=", right_190)))
eq_191 = step(id="fadamgc/eq-191", number="(191)", reading=WITH_V, assumptions=(bounded,),
              statement=before_last(at_each_but_first(right_190, "<=", right_191)))
direction, gradient = sp.Symbol("any_direction", real=True), sp.Symbol("any_grad", real=True)
gap_now = sp.Symbol("gap_now", nonnegative=True)

eq_191_vector = algebra_step(
    id="fadamgc/eq-191@one-vector", number="(190)-(191)", reading="for one direction and one gradient of length at most G",
    variables=(Variable("any_direction", "vector"), Variable("any_grad", "vector"), Variable("gap_now", "nonnegative"),
               Variable("clients", "integer"), Variable("trackers", "integer")),
    conditions=(Condition(sp.sqrt(norm2(gradient)), "<=", G), Condition(Y, "<=", n)),
    statement=Condition(
        (1 - Y / n) * (1 + Y / (2 * n)) * gap_now + (1 - Y / n) * (1 + 2 * n / Y) * G**2
        + (Y / n) * norm2(direction - gradient), "<=",
        (1 - Y / (2 * n)) * gap_now + (5 * n / Y + 2 * Y / n) * G**2 + (Y / n) * norm2(direction)),
    note="gap_now is the Gamma of the round before")

eq_192 = algebra_step(
    id="fadamgc/eq-192", number="(192)", variables=(Variable("clients", "integer"), Variable("trackers", "integer")),
    conditions=(Condition(Y, "<=", n),), statement=Condition(5 * n / Y + 2 * Y / n, "<=", 7 * n / Y))
product_194 = q.average(E(
    norm2(Sum(q.ema(j, i) * g[q.at(i, r - 1), k], (i, 0, j))) * norm2(reciprocal(root(last_v), eps))))
eq_194 = step(id="fadamgc/eq-194", number="(193)-(194), first inequality", reading=f"{Y_ZERO}; the first inequality",
              assumptions=A51_A53, statement=at_each_but_first(length_sq, "<=", product_194))
eq_194_second = eq_194.variant("second", f"{Y_ZERO}; the second inequality",
                               statement=at_each_but_first(product_194, "<=", J))
eq_194_both = eq_194.variant("both", f"{Y_ZERO}; both inequalities together",
                             statement=at_each_but_first(length_sq, "<=", J))
y_gradient = started("gradient")


def with_vhat(claim):
    """Stored directions with vhat throughout; the statements speak of the last round as round r (``at_each_but_first``)."""
    printed, measured = last_direction.xreplace({r: r + 1}), q.direction_nt[r, j, k]
    made = alpha_vhat(claim)
    s = made.statement
    return replace(made, statement=Condition(s.left.xreplace({printed: measured}), s.relation,
                                             s.right.xreplace({printed: measured}), s.over))


def of_gamma(claim):
    """Stored directions with v or vhat, any number of trackers or all."""
    return (*readings(claim, with_vhat, all_tracked, carried, y_gradient), all_tracked(with_vhat(claim)))


CLAIMS = (
    *readings(eq_176, pathwise, carried, y_gradient), eq_176_defined, pathwise(eq_176_defined), eq_176_same,
    *readings(eq_179, pathwise, carried, y_gradient), *of_gamma(eq_180), *of_gamma(eq_182),
    eq_183, eq_183_second, eq_183_both,
    *of_gamma(eq_188), *of_gamma(eq_190), *of_gamma(eq_191), eq_191_vector, eq_192,
    *readings(eq_194, carried, y_gradient), *readings(eq_194_second, carried, y_gradient), with_vhat(eq_194_both),
    *readings(eq_194_both, carried, y_gradient),
)
