"""Lemmas A.2-A.8 of FedALIGN in every reading."""

from dataclasses import replace

from bounds.language.claim import Claim, Condition, Variable
from bounds.language.definitions import aggregate_weight, drift, every_client
from bounds.language.words import (
    E,
    F,
    F_star_client,
    G_sq,
    L,
    Sum,
    eta_l,
    grad,
    included,
    iterations,
    k,
    local_steps,
    mu,
    norm2,
    participants,
    sampling,
    sigma_sq,
    sigma_sq_client,
    t,
    x,
    x_local,
    x_sampled,
    x_star,
)
from bounds.papers.fedalign.assumptions import (
    G_priority,
    G_weighted,
    all_clients,
    all_steps,
    divisible,
    independent_noise,
    nonanticipating,
    smooth,
    strongly_convex,
    variance,
)
from bounds.papers.fedalign.builders import PARTIAL, all_readings, point_claim, run_claim
from bounds.papers.fedalign.conditions import (
    doubled_step,
    eta_next,
    later_schedule,
    non_increasing_step,
    one_round,
    small_step,
)
from bounds.papers.fedalign.quantities import (
    average_gradient,
    average_stochastic_gradient,
    bias_term,
    noise_term,
    weight,
    x_eq_56,
)

__all__ = ["CLAIMS", "lemma_A7", "lemma_A8", "one_step_recursion"]

at_the_end = ((t, iterations, iterations),)

lemma_A2 = point_claim(
    id="fedalign/lemma-A2",
    number="Lemma A.2, (21)",
    kind="lemma",
    reading="as printed; one F in its proof lacks its k",
    assumptions=(smooth,),
    statement=Condition(
        norm2(grad(k, x_local[t, k])), "<=", 2 * L * (F(k, x_local[t, k]) - F_star_client[k]),
        (all_steps, all_clients),
    ),
)

lemma_A3 = run_claim(
    id="fedalign/lemma-A3",
    number="Lemma A.3, (23)",
    kind="lemma",
    statement=Condition(
        E(norm2(x[t] - x_star)), "<=",
        E(Sum(aggregate_weight[t, k] * norm2(x_local[t, k] - x_star), every_client)), (all_steps,),
    ),
)

lemma_A4 = run_claim(
    id="fedalign/lemma-A4",
    number="Lemma A.4, (25)",
    kind="lemma",
    reading="schedule: steps do not increase, as the proof uses",
    assumptions=(G_weighted, nonanticipating, divisible),
    conditions=(doubled_step, non_increasing_step),
    statement=Condition(E(drift[t]), "<=", 4 * eta_l[t] ** 2 * (local_steps - 1) ** 2 * G_sq, (all_steps,)),
    note="t - tau(t) <= local_steps - 1 holds at every time",
)

lemma_A4_as_printed = lemma_A4.variant(
    "as-printed", "as printed: steps may grow within a round", conditions=(doubled_step,)
)

lemma_A5 = run_claim(
    id="fedalign/lemma-A5",
    number="Lemma A.5, (27)",
    kind="lemma",
    assumptions=(variance, nonanticipating),
    statement=Condition(
        E(norm2(average_gradient[t] - average_stochastic_gradient[t])), "<=", sigma_sq, (all_steps,)
    ),
)

lemma_A5_per_client = run_claim(
    id="fedalign/lemma-A5-per-client",
    number="(29), remark after Lemma A.5",
    kind="lemma",
    reading="as printed: the sum has no I_k",
    assumptions=(independent_noise, nonanticipating),
    statement=Condition(
        E(norm2(average_gradient[t] - average_stochastic_gradient[t])), "<=",
        E(Sum(weight[t, k] ** 2 * sigma_sq_client[k], every_client)), (all_steps,),
    ),
)

lemma_A5_tight = lemma_A5_per_client.variant(
    "tight", "only clients that count enter the sum",
    statement=replace(
        lemma_A5_per_client.statement,
        right=E(Sum(weight[t, k] ** 2 * included[t, k] * sigma_sq_client[k], every_client)),
    ),
)


def one_step_recursion(right) -> Condition:
    """Mean squared distance of the next virtual average to the optimum, at every time."""
    return Condition(E(norm2(x[t + 1] - x_star)), "<=", right, (all_steps,))


lemma_A6 = run_claim(
    id="fedalign/lemma-A6",
    number="Lemma A.6, (30)-(31), (54)",
    kind="lemma",
    reading="schedule: steps do not increase and at most halve within a round, as Lemma A.4 needs",
    assumptions=(smooth, strongly_convex, variance, G_weighted, nonanticipating, divisible),
    conditions=(small_step, doubled_step, non_increasing_step),
    statement=one_step_recursion(
        (1 - eta_l[t] * mu) * E(norm2(x[t] - x_star)) + eta_l[t] ** 2 * noise_term[t] + eta_l[t] * bias_term[t]
    ),
    note="(54) prints mu_t, which is defined nowhere, for mu",
    steps=("fedalign/step-update-identity", "fedalign/step-cross-term", "fedalign/step-T12", "fedalign/lemma-A3",
           "fedalign/lemma-A4"),
)

lemma_A6_as_printed = lemma_A6.variant(
    "as-printed", "as printed: steps are only bounded by 1/(4L)", conditions=(small_step,)
)

# sampling ------------------------------------------------------------------------------------------------------------
lemma_A7 = run_claim(
    id="fedalign/lemma-A7",
    number="Lemma A.7",
    kind="lemma",
    procedure=PARTIAL,
    reading="aggregation (56) with I_k",
    conditions=(one_round,),
    statement=Condition(norm2(E(x_sampled[t], sampling) - x[t]), "==", 0, at_the_end),
    note="for one round from any start; noise and indicators given",
)

lemma_A7_literal = lemma_A7.variant(
    "56-literal", "aggregation (56) as printed: its second sum has no I_k",
    statement=Condition(norm2(E(x_eq_56[t], sampling) - x[t]), "==", 0, at_the_end),
)

sampling_error = norm2(x_sampled[t] - x[t])

lemma_A8 = run_claim(
    id="fedalign/lemma-A8",
    number="Lemma A.8, (57)",
    kind="lemma",
    procedure=PARTIAL,
    reading="G over all priority clients, drawn or not",
    assumptions=(G_priority, nonanticipating, divisible),
    conditions=(one_round, doubled_step),
    variables=(Variable("eta_next", "positive"),),
    statement=Condition(
        E(sampling_error, sampling), "<=", 4 * eta_next**2 * local_steps**2 * G_sq / participants, at_the_end
    ),
    note="for one round from any start; the hypothesis leaves the step at the aggregation itself free",
)


def _noise_averaged(claim: Claim) -> Claim:
    return replace(claim, statement=replace(claim.statement, left=E(sampling_error)))


def _step_before(claim: Claim) -> Claim:
    right = claim.statement.right.subs(eta_next, eta_l[t - 1])
    return replace(
        claim, statement=replace(claim.statement, right=right), variables=(), note="for one round from any start"
    )


def _on_schedule(claim: Claim) -> Claim:
    return replace(
        claim,
        assumptions=(smooth, strongly_convex, *claim.assumptions),
        conditions=(one_round, *later_schedule()),
        variables=(Variable("rounds_before", "integer", low=0),),
        note="for one round from any start, after any number of earlier rounds",
    )


def _same(claim: Claim) -> Claim:
    return claim


lemma_A8_readings = all_readings(
    lemma_A8,
    {
        "sampling-only": ("expectation over the sampling only, as printed", _same),
        "noise-averaged": ("expectation over sampling and noise", _noise_averaged),
    },
    {
        "at-aggregation": ("step size at the aggregation, as printed", _same),
        "step-before": ("step size of the iteration before the aggregation, as (58) uses it", _step_before),
    },
    {
        "as-printed": ("steps as printed", _same),
        "schedule": ("steps on the schedule of Theorem 1", _on_schedule),
    },
)

CLAIMS = (
    lemma_A2, lemma_A3, lemma_A4, lemma_A4_as_printed, lemma_A5, lemma_A5_per_client, lemma_A5_tight, lemma_A6,
    lemma_A6_as_printed, lemma_A7, lemma_A7_literal, *lemma_A8_readings,
)
