"""Statements about FedALIGN's runs that we derived: the repaired theorems and what follows from their proofs."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.definitions import Gamma, aggregate_weight, chi, every_client, free_mass, psi
from bounds.language.words import (
    E,
    F_star,
    G_sq,
    L,
    Min,
    Sum,
    client_weight,
    epsilon,
    g,
    grad,
    i,
    included,
    iterations,
    k,
    local_steps,
    mu,
    norm2,
    objective,
    participants,
    priority,
    sampling,
    sigma_sq,
    sigma_sq_client,
    step_offset,
    t,
    tau,
    x,
    x_before,
    x_local,
    x_sampled,
    x_star,
)
from bounds.papers.fedalign.assumptions import (
    G_a_priori,
    G_max,
    G_priority,
    G_weighted,
    Gamma_max,
    all_clients,
    all_steps,
    ball_radius,
    divisible,
    independent_noise,
    largest_gap,
    nonanticipating,
    smooth,
    strongly_convex,
    variance,
)
from bounds.papers.fedalign.builders import PARTIAL, all_readings, point_claim, run_claim, with_G
from bounds.papers.fedalign.conditions import SCHED, one_round
from bounds.papers.fedalign.quantities import (
    C_2,
    D0_sq,
    bias_term,
    noise_and_drift,
    noise_term,
    priority_clients,
    priority_models,
    rho_bias,
    rho_hat,
    suboptimality,
    theta_hat,
    weight,
)
from bounds.papers.fedalign.theorems import initial_term, theorem_1_bound

__all__ = ["CLAIMS"]

derived = partial(run_claim, kind="derived", source=None)
all_four = (smooth, strongly_convex, variance, G_weighted, nonanticipating, divisible)
last = iterations + step_offset
REPAIR = "sums start at i = 0 and L*step_offset/2 replaces 4 L^2/mu"


def repaired_bound(noise, initial=L * step_offset / 2 * D0_sq):
    """The corrected right side, with this noise (drift included) and this initial term."""
    return (noise + initial + C_2 * theta_hat * Gamma) / last + rho_hat


def at_most(bound):
    return Condition(suboptimality, "<=", bound)


# the theorems, repaired ----------------------------------------------------------------------------------------------
derived_theorem_1 = derived(
    id="fedalign/derived-theorem-1", number="9.4, corrected Theorem 1",
    derivation=f"lemma A.6, derived-recursion and step T20: {REPAIR}",
    reading="indicator on the broadcast model; G weighted along the trajectory", assumptions=all_four,
    conditions=SCHED, statement=at_most(repaired_bound(noise_and_drift)),
)

sampling_noise = 2 * L / mu**2 * (4 * local_steps**2 * G_sq / participants)

derived_theorem_A9 = derived(
    id="fedalign/derived-theorem-A9", number="9.4, corrected Theorem A.9",
    derivation=f"derived-theorem-1 with T22 and Lemma A.8: {REPAIR}; the step offset of Theorem 1; 4 for 8",
    reading=(
        "indicator (55) on the broadcast model; aggregation (56) with I_k; G weighted along the trajectory, and over "
        "all priority clients, drawn or not"
    ),
    procedure=PARTIAL, assumptions=(*all_four, G_priority), conditions=SCHED,
    statement=at_most(repaired_bound(noise_and_drift + sampling_noise)),
)

warmup = derived(
    id="fedalign/derived-theorem-1-warmup", number="9.4",
    derivation=(
        "derived-sharp with B_0 = sigma^2 and D_0 = 0; then L*step_offset/2 = 4 L^2/mu for local_steps <= 8 L/mu, and "
        "derived-initial-term beyond, where G >= mu |w_0 - w*| holds at t = 0"
    ),
    reading="no free client in the first round; indicator on the broadcast model", assumptions=all_four,
    conditions=(*SCHED, Condition(epsilon[t], "==", 0, ((t, 0, local_steps - 1),))),
    statement=at_most(theorem_1_bound),
)

warmup_readings = all_readings(
    warmup,
    {
        "G-trajectory-weighted": ("G weighted along the trajectory", with_G(G_weighted)),
        "G-trajectory-max": ("G largest over the clients that count, along the trajectory", with_G(G_max)),
        "G-a-priori": ("G from bounded noise, before the run", with_G(G_a_priori)),
    },
)

# the unrolled recursion ----------------------------------------------------------------------------------------------
q = (last - 1) * (last - 2)


def sharp_bound(noise_of):
    """L/2 times the unrolled recursion with the noise term ``noise_of`` (an expression in ``i``) of each step."""
    initial = (step_offset - 1) * (step_offset - 2) / q * D0_sq
    noise = 4 / (mu**2 * q) * Sum((i + step_offset - 1) / (i + step_offset) * noise_of, (i, 0, iterations - 1))
    bias = 2 / (mu * q) * Sum((i + step_offset - 1) * bias_term[i], (i, 0, iterations - 1))
    return L / 2 * (initial + noise + bias)


heterogeneity = 6 * L * Gamma * E(chi[i])
full_drift = 8 * (local_steps - 1) ** 2 * G_sq
drift_so_far = 8 * (i - tau(i)) ** 2 * G_sq
averaged_variance = E(Sum(weight[i, k] ** 2 * included[i, k] * sigma_sq_client[k], every_client))

sharp = derived(
    id="fedalign/derived-sharp", number="9.4", derivation="lemma A.6 unrolled with step T18, then step T20",
    reading="indicator on the broadcast model; G weighted along the trajectory", assumptions=all_four,
    conditions=SCHED, statement=at_most(sharp_bound(noise_term[i])),
)

refined = replace(
    sharp, id="fedalign/derived-sharp-refined", reading="both refinements",
    derivation="derived-sharp with step T13 and the first inequality of step T14 in place of their bounds",
    assumptions=(*all_four, independent_noise),
    statement=at_most(sharp_bound(drift_so_far + heterogeneity + averaged_variance)),
)

refined_readings = (
    refined,
    refined.variant(
        "variance-only", "the averaged variance alone",
        statement=at_most(sharp_bound(full_drift + heterogeneity + averaged_variance)),
    ),
    refined.variant(
        "drift-only", "the drift so far alone",
        statement=at_most(sharp_bound(drift_so_far + heterogeneity + sigma_sq)),
    ),
)

initial = derived(
    id="fedalign/derived-initial-term", number="9.4",
    derivation="the unrolled form leaves more slack in the drift term than 4 L^2/mu lacks to L*step_offset/2",
    reading="indicator on the broadcast model; G weighted along the trajectory", assumptions=all_four,
    conditions=(*SCHED, Condition(local_steps, ">=", 8 * L / mu), Condition(G_sq, ">=", mu**2 * D0_sq)),
    statement=at_most(repaired_bound(noise_and_drift, initial_term)),
)

# sampling and bias ---------------------------------------------------------------------------------------------------
spread_of_priority = Sum(
    priority[k] * client_weight[k] * norm2(x_before[t, k] - priority_models[t]), every_client
)

sampling_variance = derived(
    id="fedalign/derived-sampling-variance", number="9.4", derivation="variance of a mean of independent draws",
    reading="with replacement", procedure=PARTIAL, conditions=(one_round,),
    statement=Condition(
        E(norm2(x_sampled[t] - x[t]), sampling), "==",
        spread_of_priority / (participants * (1 + free_mass[t - 1]) ** 2), ((t, iterations, iterations),),
    ),
    note="for one round from any start",
)

sampling_variance_II = sampling_variance.variant(
    "without-replacement", "without replacement, priority clients of equal weight",
    derivation="variance of a mean of draws without replacement",
    procedure=replace(PARTIAL, sampling="without-replacement"),
    conditions=(
        one_round, Condition(priority_clients, ">=", 2),
        Condition(priority[k] * client_weight[k], "==", priority[k] / priority_clients, (all_clients,)),
    ),
    statement=replace(
        sampling_variance.statement,
        right=sampling_variance.statement.right * (priority_clients - participants) / (priority_clients - 1),
    ),
)

x_mixture = sp.Symbol("x_mixture", real=True)

static_bias = point_claim(
    id="fedalign/derived-static-bias", number="9.4 (T23)", kind="derived", source=None,
    derivation="the mixture is no larger at its minimiser than at w*; and step T12 at its fixed point as eta -> 0",
    reading="fixed inclusion; x_mixture minimises the aggregate-weighted loss", assumptions=(smooth, strongly_convex),
    variables=(Variable("x_mixture", "vector"),),
    conditions=(
        Condition(
            norm2(Sum(aggregate_weight[t, k] * grad(k, x_mixture), every_client)), "==", 0, (all_steps,)
        ),
    ),
    statement=Condition(
        objective(x_mixture) - F_star, "<=", Min((1 + free_mass[t]) * psi[t], L / mu * psi[t]), (all_steps,)
    ),
)

rounds_open = sp.Symbol("rounds_open", integer=True, nonnegative=True)

stop_inclusion = derived(
    id="fedalign/derived-stop-inclusion", number="9.4", derivation="each psi_i is at most the largest gap",
    reading="no free client from time T_0 = rounds_open * local_steps on",
    assumptions=(smooth, strongly_convex, largest_gap),
    conditions=(*SCHED, Condition(epsilon[t], "==", 0, ((t, rounds_open * local_steps, iterations - 1),))),
    variables=(Variable("rounds_open", "integer", low=0),),
    statement=Condition(rho_bias, "<=", 2 * L / mu * (rounds_open * local_steps) / (last - 2) * Gamma_max),
    note="that the bias in derived-sharp is O(T_0^2 / T^2) has no constant and is not encoded",
)

# bounded gradients ---------------------------------------------------------------------------------------------------
ball = derived(
    id="fedalign/derived-ball", number="section 2, reading 3", reading="all local models stay in the ball",
    derivation="a gradient step of at most 2/(L + mu) contracts towards w* up to its noise and the gradient at w*",
    assumptions=(smooth, strongly_convex, G_a_priori),
    statement=Condition(
        norm2(x_local[t, k] - x_star), "<=", ball_radius**2, ((t, 0, iterations), all_clients)
    ),
)

ball_gradients = ball.variant(
    "gradients", "stochastic gradients are at most G there",
    statement=Condition(norm2(g[t, k]), "<=", G_sq, (all_steps, all_clients)),
)

CLAIMS = (
    derived_theorem_1, derived_theorem_A9, *warmup_readings, sharp, *refined_readings, initial, sampling_variance,
    sampling_variance_II, static_bias, stop_inclusion, ball, ball_gradients,
)
