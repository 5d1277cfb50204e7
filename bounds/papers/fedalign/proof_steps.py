"""FedALIGN's proof steps at one fixed time, for any local models and any inclusion."""

from functools import partial

from bounds.language.claim import Condition, Variable
from bounds.language.definitions import Gamma, aggregate_weight, chi, drift, every_client, psi
from bounds.language.words import (
    F,
    F_star,
    F_star_client,
    L,
    Sum,
    dot,
    eta_l,
    grad,
    k,
    mu,
    norm2,
    objective,
    t,
    x,
    x_local,
    x_star,
)
from bounds.papers.fedalign.assumptions import all_clients, all_steps, smooth, strongly_convex
from bounds.papers.fedalign.builders import point_claim
from bounds.papers.fedalign.conditions import small_step
from bounds.papers.fedalign.quantities import (
    average_gradient,
    over_free,
    over_priority,
    proof_A4,
    proof_A5,
    proof_gamma,
    weight,
)

__all__ = ["CLAIMS"]

eta = eta_l[t]
both = (smooth, strongly_convex)
any_L = (Variable("L", "positive"),)
step = partial(point_claim, kind="proof step")
spread = norm2(x_local[t, k] - x[t])
local_gap = F(k, x_local[t, k]) - F_star_client[k]
average_gap = F(k, x[t]) - F_star_client[k]
after_step = norm2(x[t] - eta * average_gradient[t] - x_star)
contracted = (1 - eta * mu) * norm2(x[t] - x_star)


def at_each_time(left, relation, right):
    return Condition(left, relation, right, (all_steps,))


def for_each_client(left, relation, right):
    return Condition(left, relation, right, (all_steps, all_clients))


T1 = step(
    id="fedalign/step-T1", number="(21)", assumptions=(smooth,),
    statement=for_each_client(norm2(grad(k, x_local[t, k])), "<=", 2 * L * local_gap),
)

T2 = step(
    id="fedalign/step-T2", number="(24)",
    statement=at_each_time(
        norm2(x[t] - x_star), "<=", Sum(aggregate_weight[t, k] * norm2(x_local[t, k] - x_star), every_client)
    ),
)

T4_substituted = step(
    id="fedalign/step-T4@text-substitution", number="after (43)",
    reading="(43) with the text's z_1 = w* - w_t, z_2 the gradient of client k and a = sqrt(eta_t)",
    statement=for_each_client(
        2 * dot(x_star - x[t], grad(k, x_local[t, k])), "<=",
        eta * norm2(x_star - x[t]) + norm2(grad(k, x_local[t, k])) / eta,
    ),
)

T5 = step(
    id="fedalign/step-T5", number="(42)", assumptions=(strongly_convex,),
    statement=for_each_client(
        -2 * dot(x[t] - x_star, grad(k, x_local[t, k])), "<=",
        norm2(x[t] - x_local[t, k]) / eta + eta * norm2(grad(k, x_local[t, k]))
        - 2 * (F(k, x_local[t, k]) - F(k, x_star)) - mu * norm2(x_local[t, k] - x_star),
    ),
)

T6 = step(
    id="fedalign/step-T6", number="(40)", assumptions=(smooth,),
    statement=at_each_time(
        eta**2 * norm2(average_gradient[t]), "<=",
        2 * L * eta**2 * Sum(aggregate_weight[t, k] * local_gap, every_client),
    ),
)

T7 = step(
    id="fedalign/step-T7", number="(44)(b)", assumptions=both, reading="intended: the left side starts from w_t",
    statement=at_each_time(after_step, "<=", contracted + drift[t] + proof_A4[t] + proof_A5[t]),
    steps=("fedalign/step-T5", "fedalign/step-T6"),
)

eq_44 = step(
    id="fedalign/step-eq44-as-printed", number="(44)", assumptions=both,
    reading="as printed: the left side starts from w_{t+1} = w_t - eta_t g_t",
    statement=at_each_time(
        norm2((x[t] - eta * average_gradient[t]) - eta * average_gradient[t] - x_star), "<=",
        contracted + drift[t] + proof_A4[t] + proof_A5[t],
    ),
    note="without noise, where g_t is the average gradient",
)

T8 = step(
    id="fedalign/step-T8", number="(45)", variables=any_L, reading="pathwise: without the expectation in E_t",
    statement=at_each_time(
        proof_A4[t], "==",
        -proof_gamma[t] * over_priority(weight[t, k] * (F(k, x_local[t, k]) - F_star))
        + 4 * L * eta**2 * Gamma * chi[t],
    ),
)


def _eq_46(spread_factor):
    left = -over_priority(weight[t, k] * (eta * L * average_gap + spread_factor * spread))
    right = over_priority(weight[t, k] * (F(k, x_local[t, k]) - F_star))
    return at_each_time(left + over_priority(weight[t, k] * (F(k, x[t]) - F_star)), "<=", right)


def _eq_51(spread_factor):
    left = -over_free(aggregate_weight[t, k] * (eta * L * average_gap + spread_factor * spread))
    right = over_free(aggregate_weight[t, k] * local_gap)
    return at_each_time(left + over_free(aggregate_weight[t, k] * average_gap), "<=", right)


eq_46 = step(
    id="fedalign/step-eq46", number="(46)(b)", assumptions=both, reading="as printed: 1/eta_t before the spread",
    statement=_eq_46(1 / eta),
)

eq_46_readings = (
    eq_46,
    eq_46.variant("sharp", "1/(2 eta_t) before the spread, which (47) uses", statement=_eq_46(1 / (2 * eta))),
    eq_46.variant(
        "free-clients", "the free clients' twin (51)(b), as printed", number="(51)(b)", statement=_eq_51(1 / eta)
    ),
    eq_46.variant(
        "free-clients+sharp", "the free clients' twin (51)(b) with 1/(2 eta_t), which (52) uses", number="(51)(b)",
        statement=_eq_51(1 / (2 * eta)),
    ),
)

eq_47 = step(
    id="fedalign/step-eq47-as-printed", number="(47)(b)", conditions=(small_step,), variables=any_L,
    reading="as printed: the left sum runs over all clients",
    statement=at_each_time(
        proof_gamma[t] / (2 * eta) * Sum(weight[t, k] * spread, every_client), "<=",
        over_priority(weight[t, k] * spread),
    ),
    note="the added term with E_t is the same on both sides; (47) prints F for F_k, the same once summed",
)

eq_47_intended = eq_47.variant(
    "intended", "the left sum runs over the priority clients",
    statement=at_each_time(
        proof_gamma[t] / (2 * eta) * over_priority(weight[t, k] * spread), "<=", over_priority(weight[t, k] * spread)
    ),
)

T9 = step(
    id="fedalign/step-T9", number="(48)", assumptions=both, conditions=(small_step,),
    reading="pathwise: without the expectation in E_t",
    statement=at_each_time(
        proof_A4[t], "<=", over_priority(weight[t, k] * spread) + 6 * L * Gamma * eta**2 * chi[t]
    ),
    steps=("fedalign/step-T8", "fedalign/step-eq46"),
)

T10 = step(
    id="fedalign/step-T10", number="(49)", variables=any_L, reading="pathwise: without the expectation in D_t",
    statement=at_each_time(
        proof_A5[t], "==", -proof_gamma[t] * over_free(aggregate_weight[t, k] * local_gap) + 2 * eta * psi[t]
    ),
)

T11 = step(
    id="fedalign/step-T11", number="(51)-(53)", assumptions=both, conditions=(small_step,),
    reading="pathwise: without the expectation in D_t",
    statement=at_each_time(
        proof_A5[t], "<=", over_free(aggregate_weight[t, k] * spread) + 2 * eta * psi[t]
    ),
    steps=("fedalign/step-T10",),
)

T12 = step(
    id="fedalign/step-T12", number="(39)-(53)", assumptions=both, conditions=(small_step,),
    reading="pathwise: the deterministic core of Lemma A.6",
    statement=at_each_time(
        after_step, "<=", contracted + 2 * drift[t] + 6 * L * Gamma * eta**2 * chi[t] + 2 * eta * psi[t]
    ),
    steps=("fedalign/step-T7", "fedalign/step-T9", "fedalign/step-T11"),
)

T20 = step(
    id="fedalign/step-T20", number="used in (36)", assumptions=(smooth,),
    statement=at_each_time(objective(x[t]) - F_star, "<=", L / 2 * norm2(x[t] - x_star)),
)

CLAIMS = (
    T1, T2, T4_substituted, T5, T6, T7, eq_44, T8, *eq_46_readings, eq_47, eq_47_intended, T9, T10, T11, T12, T20,
)
