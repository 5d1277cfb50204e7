"""Appendix A, the drift of FAdamGC's first moments: (61)-(81)."""

from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.coordinates import reciprocal, scaled
from bounds.language.words import E, L, Max, Min, Sum, clients, grad, i, j, k, local_steps, norm2, r, x_local, x_round
from bounds.papers.fadamgc import quantities as q
from bounds.papers.fadamgc.assumptions import A51_A53, bounded, proof_78, smooth
from bounds.papers.fadamgc.builders import (
    FADAMGC,
    POSITIVE_BETA2,
    algebra_step,
    at_each,
    carried,
    pathwise,
    readings,
    run_claim,
    started,
)
from bounds.papers.fadamgc.lemmas import drift_bound
from bounds.papers.fadamgc.theorems import A2
from bounds.papers.fadamgc.words import G, beta1, beta2, eps, eta, factor

__all__ = ["CLAIMS"]

n, K = clients, local_steps
step = partial(run_claim, FADAMGC, POSITIVE_BETA2, kind="proof step", reading="the first y_k are zero")
any_factor = (Variable("factor", "positive"),)
e, s = q.drift_sum, q.step_sum
C1 = A2 * n / eps**2


def at_each_step(left, relation, right, *more):
    """In every round after every local step."""
    return at_each(left, relation, right, q.each_step, *more)


def weighted(term, low=0):
    """``sum_i sum_{k'<=k} c(k, k')`` of a term in i and k."""
    return Sum(q.ema(j, i) * E(norm2(term)), (i, low, j), q.every_client)


eq_61 = step(id="fadamgc/eq-61", number="(60)-(61)", assumptions=(smooth,),
             statement=at_each(q.Xi[r], "<=", L**2 / n * Sum(e[r, j], q.each_step)))

eq_64 = step(
    id="fadamgc/eq-64", number="(62)-(64)", variables=any_factor,
    statement=at_each_step(
        e[r, j], "<=",
        (1 + factor) * weighted(x_local[q.at(i - 1), k] - x_round[r], 1)
        + (1 + 1 / factor) * eta**2 * weighted(q.direction[r, i - 1, k], 1)),
    note="factor is the paper's a, positive; the terms of index 0 are read as 0")

eq_65 = algebra_step(
    id="fadamgc/eq-65", number="(65)", conditions=(Condition(beta1, "<", 1),),
    variables=(Variable("beta1", "nonnegative", below=1), Variable("local_steps", "integer")),
    statement=Condition(q.ema(j, i), "==", sp.Mul(1 - beta1, beta1 ** ((j - 1) - (i - 1))),
                        ((j, 1, Max(K - 1, 1)), (i, 1, j))))

eq_69 = step(
    id="fadamgc/eq-69", number="(66)-(69)", variables=any_factor,
    statement=at_each_step(e[r, j], "<=", (1 + factor) * e[r, j - 1] + (1 + 1 / factor) * eta**2 * s[r, j - 1]),
    note="factor is the paper's a, positive; sums that end at 0 are empty", steps=("fadamgc/eq-64", "fadamgc/eq-65"))

w = q.w_reset
faded = sp.sqrt(beta2) * w[r, i - 1, k]  # the scale of the step before, times sqrt(beta2)
m = q.moment1[r, i, k]
split = 2 * weighted(scaled(m, w[r, i, k], eps) - scaled(m, faded, eps)) + 2 * weighted(scaled(m, faded, eps))
eq_71 = step(id="fadamgc/eq-71", number="(70)-(71)", statement=at_each_step(s[r, j], "<=", split),
             note="printed with the root of beta2 vhat")
before = Min(i, 1) * q.moment1[r, Max(i - 1, 0), k]  # zero at the first step
split_73 = (2 * G**2 * weighted(reciprocal(w[r, i, k], eps) - reciprocal(faded, eps))
            + 2 * weighted(scaled(beta1 * before + (1 - beta1) * q.corrected[r, i, k], faded, eps)))
eq_73 = step(id="fadamgc/eq-73", number="(72)-(73)", assumptions=(bounded,), statement=at_each_step(split, "<=", split_73))
older = 2 * (1 - beta2) * G**6 * n / eps**2 + 2 * beta1 * Sum(
    q.ema(j - 1, i) * E(norm2(scaled(m, sp.sqrt(beta2) * w[r, i, k], eps))), (i, 0, j - 1), q.every_client)
gfi = grad(k, x_round[r])
noise = q.corrected[r, i, k] - grad(k, x_local[q.at(i), k]) + grad(k, x_local[q.at(i), k]) - gfi + gfi

eq_75 = step(
    id="fadamgc/eq-75", number="(74)-(75)", assumptions=A51_A53,
    reading="the first y_k are zero; the last sum over all clients",
    statement=at_each_step(split_73, "<=", older + 2 * (1 - beta1) / eps**2 * weighted(noise)))

eq_75_printed = eq_75.variant(
    "as-printed", "the first y_k are zero; the last sum for any one client, as its index i is not summed over",
    statement=at_each_step(
        split_73, "<=", older + 2 * (1 - beta1) / eps**2 * Sum(q.ema(j, i) * E(norm2(noise)), (i, 0, j)), q.every_client))

eq_76 = step(id="fadamgc/eq-76", number="(76)-(77)", assumptions=A51_A53,
             statement=at_each_step(s[r, j], "<=", 8 * L**2 / eps**2 * (1 - beta1) * e[r, j] + C1),
             note="C_1 is A2 n / eps^2", steps=("fadamgc/eq-71", "fadamgc/eq-73", "fadamgc/eq-75"))
two_steps = Condition(K, ">=", 2)
grown = 1 + 1 / (K - 1)
recursion = {"assumptions": A51_A53, "conditions": (*proof_78, two_steps)}
eq_78 = step(id="fadamgc/eq-78", number="(78)", **recursion, reading="the first y_k are zero; a sum of two terms",
             statement=at_each_step(e[r, j], "<=", grown * e[r, j - 1] + 2 * eta**2 * C1),
             note="no sign is printed between the two terms", steps=("fadamgc/eq-69", "fadamgc/eq-76"))
eq_78_product = eq_78.variant("product", "the first y_k are zero; a product of two terms",
                              statement=at_each_step(e[r, j], "<=", grown * e[r, j - 1] * 2 * eta**2 * C1))
unrolled = Sum(i * grown**i, (i, 1, j + 1)) * 2 * eta**2 * C1
eq_79 = step(id="fadamgc/eq-79", number="(79), first inequality", **recursion,
             statement=at_each_step(unrolled, ">=", e[r, j]), steps=("fadamgc/eq-78",),
             note="printed the other way round, e^k at most the sum")
c_1 = sp.Symbol("C_1", positive=True)

eq_79_second = algebra_step(
    id="fadamgc/eq-79@second", number="(79), second inequality", reading="the second inequality, for any C_1",
    variables=(Variable("eta", "positive"), Variable("C_1", "positive"), Variable("local_steps", "integer", low=2)),
    statement=Condition(Sum(i * grown**i, (i, 1, j + 1)) * 2 * eta**2 * c_1, "<=", 6 * K * eta**2 * c_1, (q.each_step,)))

eq_79_both = eq_79.variant("both", "the first y_k are zero; both inequalities together",
                           statement=at_each_step(e[r, j], "<=", 6 * K * eta**2 * C1))
eq_81 = step(id="fadamgc/eq-81", number="(80)-(81)", **recursion,
             statement=at_each(L**2 / n * Sum(e[r, j], q.each_step), "<=", drift_bound), steps=("fadamgc/eq-79",))

eq_81_numbers = algebra_step(
    id="fadamgc/eq-81@numbers", number="(79) into (80)-(81)", reading="for any numbers e^k that (79) bounds, and any C_1",
    variables=(Variable("eta", "positive"), Variable("L", "positive"), Variable("C_1", "positive"),
               Variable("clients", "integer"),
               Variable("local_steps", "integer", low=2), Variable("e_value", "nonnegative", (("j", "local_steps"),))),
    conditions=(Condition(sp.IndexedBase("e_value", real=True)[j], "<=", 6 * K * eta**2 * c_1, (q.each_step,)),),
    statement=Condition(L**2 / n * Sum(sp.IndexedBase("e_value", real=True)[j], q.each_step), "<=",
                        6 * eta**2 * K**2 * L**2 * c_1 / n),
    note="C_1 = A2 n / eps^2")

y_gradient = started("gradient")

CLAIMS = (
    *readings(eq_61, pathwise, carried, y_gradient),
    *readings(eq_64, pathwise, carried, y_gradient),
    eq_65,
    *readings(eq_69, pathwise, carried, y_gradient),
    *readings(eq_71, pathwise, carried, y_gradient),
    *readings(eq_73, pathwise, carried, y_gradient),
    *readings(eq_75, carried, y_gradient), eq_75_printed,
    *readings(eq_76, carried, y_gradient),
    *readings(eq_78, carried, y_gradient), eq_78_product,
    *readings(eq_79, carried, y_gradient), eq_79_both, eq_79_second,
    *readings(eq_81, carried, y_gradient), eq_81_numbers,
)
