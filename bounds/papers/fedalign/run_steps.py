"""FedALIGN's proof steps about whole runs: update, noise, drift, sampling, and the recursion."""

from dataclasses import replace
from functools import partial

from bounds.language.claim import Condition
from bounds.language.definitions import D_sq, Gamma, chi, drift, every_client
from bounds.language.words import (
    E,
    G_sq,
    L,
    Sum,
    dot,
    eta_l,
    g,
    grad,
    i,
    included,
    iterations,
    k,
    local_steps,
    mu,
    norm2,
    participants,
    sigma_sq,
    sigma_sq_client,
    step_offset,
    t,
    tau,
    x,
    x_local,
    x_sampled,
    x_star,
)
from bounds.papers.fedalign.assumptions import (
    G_priority,
    G_weighted,
    all_steps,
    divisible,
    independent_noise,
    nonanticipating,
    smooth,
    strongly_convex,
    variance,
)
from bounds.papers.fedalign.builders import PARTIAL, all_readings, indicator_readings, run_claim
from bounds.papers.fedalign.conditions import SCHED, doubled_step, non_increasing_step, small_step
from bounds.papers.fedalign.lemmas import lemma_A7, lemma_A8_readings
from bounds.papers.fedalign.quantities import (
    C_2,
    average_gradient,
    average_stochastic_gradient,
    bias_term,
    ending_gradient,
    ending_stochastic_gradient,
    noise_and_drift,
    proof_v,
    rho_bias,
    suboptimality,
    theta,
    weight,
)
from bounds.papers.fedalign.theorems import initial_term

__all__ = ["CLAIMS"]

step = partial(run_claim, kind="proof step")
eta = eta_l[t]
schedule = (small_step, doubled_step, non_increasing_step)
implicit = (nonanticipating, divisible)
all_four = (smooth, strongly_convex, variance, G_weighted, *implicit)


def at_each_time(left, relation, right):
    return Condition(left, relation, right, (all_steps,))


# update and noise ----------------------------------------------------------------------------------------------------
update_identity = step(
    id="fedalign/step-update-identity", number="before (37)", reading="",
    statement=at_each_time(norm2(x[t + 1] - (x[t] - eta * average_stochastic_gradient[t])), "==", 0),
)

cross_term = step(
    id="fedalign/step-cross-term", number="(37)-(38)", reading="", assumptions=(variance, *implicit),
    statement=at_each_time(
        E(2 * dot(x[t] - x_star - eta * average_gradient[t], average_gradient[t] - average_stochastic_gradient[t])),
        "==", 0,
    ),
    note="(38) drops the factor 2",
)

cross_term_broadcast, cross_term_aggregation, cross_term_every_step = all_readings(cross_term, indicator_readings)

cross_terms = (
    cross_term_broadcast,
    replace(
        cross_term_aggregation,
        reading=cross_term_aggregation.reading + "; a round's averages carry the indicator of the aggregation that ends it",
        statement=at_each_time(
            E(2 * dot(x[t] - x_star - eta * ending_gradient[t], ending_gradient[t] - ending_stochastic_gradient[t])),
            "==", 0,
        ),
    ),
    replace(
        cross_term_aggregation, id=cross_term_aggregation.id + "+round-before",
        reading=cross_term_aggregation.reading + "; a round's averages carry the indicator of the aggregation before it",
    ),
    cross_term_every_step,
)

own_variance = Sum(
    weight[t, k] ** 2 * included[t, k] * norm2(g[t, k] - grad(k, x_local[t, k])), every_client
)

T13 = step(
    id="fedalign/step-T13", number="(28)", assumptions=(variance, independent_noise, *implicit),
    reading="first relation, an equality for independent clients",
    statement=at_each_time(
        E(norm2(average_stochastic_gradient[t] - average_gradient[t])), "==", E(own_variance)
    ),
)

T13_bound = T13.variant(
    "second-inequality", "second relation: the weighted variances are at most sigma^2",
    statement=at_each_time(
        E(Sum(weight[t, k] ** 2 * included[t, k] * sigma_sq_client[k], every_client)), "<=", sigma_sq
    ),
)

# drift ---------------------------------------------------------------------------------------------------------------
T14 = step(
    id="fedalign/step-T14", number="(26)(b)-(e)", reading="first inequality, with the number of steps taken so far",
    assumptions=(G_weighted, *implicit), conditions=(doubled_step, non_increasing_step),
    statement=at_each_time(E(drift[t]), "<=", (t - tau(t)) ** 2 * eta_l[tau(t)] ** 2 * G_sq),
    note="the printed proof also omits eta_i, noise and the range of its sum",
)

T14_readings = (
    T14,
    T14.variant(
        "second-inequality", "second inequality",
        statement=at_each_time(
            (t - tau(t)) ** 2 * eta_l[tau(t)] ** 2 * G_sq, "<=", 4 * eta**2 * (local_steps - 1) ** 2 * G_sq
        ),
    ),
    T14.variant(
        "26d-as-printed", "(c) to (d) as printed: a sum of local_steps terms with the factor local_steps - 1",
        number="(26)(d)",
        statement=at_each_time(
            Sum((local_steps - 1) * eta_l[i] ** 2 * G_sq, (i, tau(t), tau(t) + local_steps - 1)), "<=",
            (local_steps - 1) ** 2 * eta_l[tau(t)] ** 2 * G_sq,
        ),
    ),
)

# recursion -----------------------------------------------------------------------------------------------------------
step_terms = (
    8 * eta**2 * (local_steps - 1) ** 2 * G_sq + eta**2 * sigma_sq + 6 * L * eta**2 * E(Gamma * chi[t])
    + eta * bias_term[t]
)

T16 = step(
    id="fedalign/step-T16", number="(54)", reading="schedule, as lemma-A6; mu for the undefined mu_t",
    assumptions=all_four, conditions=schedule,
    statement=at_each_time(D_sq[t + 1], "<=", (1 - mu * eta) * D_sq[t] + step_terms),
)

T16_as_printed = T16.variant(
    "as-printed", "steps only bounded by 1/(4L), as lemma-A6@as-printed; mu for the undefined mu_t",
    conditions=(small_step,),
)

# sampling ------------------------------------------------------------------------------------------------------------
lemma_A8_true_to_schedule = next(c for c in lemma_A8_readings if c.id.endswith("@noise-averaged+schedule"))

T21 = replace(
    lemma_A7, id="fedalign/step-T21", number="Lemmas A.7, A.8", kind="proof step",
    reading="unbiasedness; aggregation (56) with I_k",
)

T21_variance = replace(
    lemma_A8_true_to_schedule, id="fedalign/step-T21@variance", number="Lemmas A.7, A.8", kind="proof step",
    reading="variance: expectation over sampling and noise, step size at the aggregation, steps on the schedule",
)

T22 = step(
    id="fedalign/step-T22", number="(58)", procedure=PARTIAL, reading="in expectation, with the variance itself",
    assumptions=implicit,
    statement=Condition(
        E(norm2(x_sampled[t + 1] - x_star)), "==",
        E(norm2(x[t + 1] - x_star)) + E(norm2(x_sampled[t + 1] - x[t + 1])), (all_steps,),
    ),
)

sampling_noise = eta**2 * local_steps**2 * G_sq / participants

T22_as_printed = T22.variant(
    "58a-as-printed", "(58)(a) as printed: an inequality without expectations, with the bound of Lemma A.8",
    assumptions=(G_priority, *implicit), conditions=(doubled_step, non_increasing_step),
    statement=at_each_time(norm2(x_sampled[t + 1] - x_star), "<=", norm2(x[t + 1] - x_star) + 4 * sampling_noise),
)

eq_59 = step(
    id="fedalign/step-eq59", number="(59), line 1", procedure=PARTIAL,
    reading="line 1 from the sampled aggregate; mu for the undefined mu_t",
    assumptions=(*all_four, G_priority), conditions=schedule,
    statement=at_each_time(D_sq[t + 1], "<=", (1 - mu * eta) * D_sq[t] + step_terms + 4 * sampling_noise),
)

eq_59_readings = (
    eq_59,
    eq_59.variant(
        "line-1-as-printed", "line 1 as printed: from the virtual average w_t; mu for the undefined mu_t",
        statement=at_each_time(
            D_sq[t + 1], "<=", (1 - mu * eta) * E(norm2(x[t] - x_star)) + step_terms + 4 * sampling_noise
        ),
    ),
    eq_59.variant(
        "line-2", "line 2 as printed: from the sampled aggregate, with 8; mu for the undefined mu_t",
        number="(59), line 2",
        statement=at_each_time(D_sq[t + 1], "<=", (1 - mu * eta) * D_sq[t] + step_terms + 8 * sampling_noise),
    ),
)

# conclusion ----------------------------------------------------------------------------------------------------------
eq_36 = step(
    id="fedalign/step-eq36-as-printed", number="(36)", reading="first inequality, at t = T", assumptions=all_four,
    conditions=SCHED,
    statement=Condition(suboptimality, "<=", L / 2 * proof_v[iterations] / (iterations + step_offset)),
)

eq_36_second = eq_36.variant(
    "second-inequality", "second inequality as printed, at t = T: no 1/(T + gamma) on its right side",
    statement=Condition(
        L / 2 * proof_v[iterations] / (iterations + step_offset), "<=",
        noise_and_drift + initial_term + C_2 * theta * Gamma + rho_bias,
    ),
)

CLAIMS = (
    *all_readings(update_identity, indicator_readings), *cross_terms, T13, T13_bound,
    *T14_readings, T16, T16_as_printed, T21, T21_variance, T22, T22_as_printed, *eq_59_readings, eq_36, eq_36_second,
)
