"""What FedALIGN says about its theorem in prose, where it can be checked."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.formulas.comparisons import comparison, right_side
from bounds.language.claim import Claim, Condition, Variable
from bounds.language.definitions import Gamma
from bounds.language.words import (
    G_sq,
    L,
    Max,
    Sum,
    client_weight,
    epsilon,
    i,
    iterations,
    k,
    local_steps,
    mu,
    norm2,
    sigma_sq_client,
    step_offset,
    t,
    x,
    x_before,
)
from bounds.papers.fedalign.assumptions import G_weighted, divisible, nonanticipating, smooth, strongly_convex, variance
from bounds.papers.fedalign.builders import FEDALIGN, algebra_claim, run_claim
from bounds.papers.fedalign.conditions import SCHED, SCHEDULE_VARIABLES, no_matching, schedule_offset
from bounds.papers.fedalign.quantities import (
    C_2,
    D0_sq,
    later_bound,
    noise_and_drift,
    older_bound,
    over_priority,
    rho_bias,
    suboptimality,
    theta,
)
from bounds.papers.fedalign.theorems import C, hidden_C, initial_term, theorem_1, theorem_1_bound
from bounds.papers.fedalign.two_thresholds import THETA_OVER_ROUNDS

__all__ = ["CLAIMS"]

prose = partial(run_claim, kind="prose")
all_four = theorem_1.assumptions
convex = (smooth, strongly_convex)

# range and order of theta --------------------------------------------------------------------------------------------
theta_range = prose(
    id="fedalign/claim-theta-range", number="after (6)", reading="upper end", assumptions=convex, conditions=SCHED,
    statement=Condition(theta, "<=", 1),
)

theta_range_lower = theta_range.variant("lower-end", "lower end", statement=Condition(theta, ">=", 0))
p, gap, kept, fewer, more = (sp.IndexedBase(name, real=True) for name in ("p", "gap", "kept", "fewer", "more"))
free_clients = sp.Symbol("free_clients", integer=True, positive=True)
every_free = (k, 0, free_clients - 1)
last = iterations + step_offset
over_clients, over_both = (("k", "free_clients"),), (("i", "iterations"), ("k", "free_clients"))


def theta_of(included):
    """theta_T of a pattern ``included(i, k)`` of free clients."""
    share = 1 / (1 + Sum(p[k] * included(i, k), every_free))
    return Sum(share, (i, 1, iterations - 1)) / (last - 2)


def rho_of(included):
    """rho_T of a pattern ``included(i, k)`` of free clients."""
    bias = Sum(p[k] * included(i, k) * gap[k], every_free) / (1 + Sum(p[k] * included(i, k), every_free))
    return 2 * L / (mu * (last - 2)) * Sum(bias, (i, 1, iterations - 1))


theta_decreases = algebra_claim(
    id="fedalign/claim-theta-decreases", number="after (9)", kind="prose",
    reading="two patterns of inclusion, at every time the first within the second",
    variables=(
        *SCHEDULE_VARIABLES, Variable("iterations", "integer"), Variable("free_clients", "integer"),
        Variable("p", "nonnegative", over_clients), Variable("more", "binary", over_both),
        Variable("kept", "binary", over_both),
    ),
    conditions=(
        *schedule_offset, Condition(fewer[i, k], "==", more[i, k] * kept[i, k], ((i, 0, iterations - 1), every_free)),
    ),
    statement=Condition(theta_of(lambda i, k: more[i, k]), "<=", theta_of(lambda i, k: fewer[i, k])),
    note="for patterns without chance; then also in expectation",
)

one_round = "one round, where every client that matches at the smaller threshold matches at the larger"
weighted_gap = Sum(p[k] * gap[k], every_free)
theta_rise = theta_of(lambda i, k: more[k]) - theta_of(lambda i, k: fewer[k])
rho_fall = rho_of(lambda i, k: fewer[k]) - rho_of(lambda i, k: more[k])

opposite = algebra_claim(
    id="fedalign/claim-opposite", number="after (10)", kind="prose",
    reading=f"as the threshold grows, theta does not increase and rho does not decrease; {one_round}",
    variables=(
        Variable("L", "positive"), Variable("mu", "positive"), Variable("iterations", "integer"),
        Variable("free_clients", "integer"), Variable("p", "nonnegative", over_clients),
        Variable("gap", "nonnegative", over_clients), Variable("more", "binary", over_clients),
        Variable("kept", "binary", over_clients),
    ),
    conditions=(
        Condition(L, ">=", mu), Condition(step_offset, "==", Max(8 * L / mu, iterations)),
        Condition(fewer[k], "==", more[k] * kept[k], (every_free,)),
    ),
    statement=Condition(Max(theta_rise * weighted_gap, rho_fall), "<=", 0),
    note=(
        "one round, where T is the number of local steps, is a special case in which any nested pair of patterns "
        "occurs: loss offsets choose who matches without changing weights or gaps; theta's rise is multiplied by the sum of "
        "p_k Gamma_k, of rho's unit"
    ),
)

opposite_theta = opposite.variant(
    "theta-one-round", f"theta does not increase with the threshold; {one_round}",
    statement=Condition(theta_of(lambda i, k: more[k]), "<=", theta_of(lambda i, k: fewer[k])),
)

opposite_bias = opposite.variant(
    "bias", f"rho does not decrease with the threshold; {one_round}",
    statement=Condition(rho_of(lambda i, k: fewer[k]), "<=", rho_of(lambda i, k: more[k])),
)

# no matching ---------------------------------------------------------------------------------------------------------
NON_STRICT = replace(FEDALIGN, strict=False)


def both_matchings(claim: Claim) -> tuple[Claim, Claim]:
    """The claim with strict matching, as the paper defines it, and with non-strict matching, as its prose has it."""
    return (
        replace(claim, reading="matching strict: a client counts iff its loss differs by less than epsilon"),
        claim.variant(
            "non-strict", "matching non-strict: a loss that differs by epsilon matches", procedure=NON_STRICT
        ),
    )


zero_epsilon = (
    *both_matchings(
        prose(
            id="fedalign/claim-zero-epsilon-algorithm", number="end of section 3", conditions=(no_matching,),
            statement=Condition(
                norm2(x[t] - over_priority(client_weight[k] * x_before[t, k])), "==", 0, ((t, 0, iterations),)
            ),
            note="every average is that of the priority clients, so that the run is FedAvg's on them",
        )
    ),
    *both_matchings(
        prose(
            id="fedalign/claim-zero-epsilon-theta", number="end of section 3", assumptions=convex,
            conditions=(*SCHED, no_matching), statement=Condition(theta, "==", 1),
        )
    ),
    *both_matchings(
        prose(
            id="fedalign/claim-zero-epsilon-rho", number="end of section 3", assumptions=convex,
            conditions=(*SCHED, no_matching), statement=Condition(rho_bias, "==", 0),
        )
    ),
)

priority_noise = (
    over_priority(client_weight[k] ** 2 * sigma_sq_client[k]) + 6 * L * Gamma + 8 * (local_steps - 1) ** 2 * G_sq
)

recovers = prose(
    id="fedalign/claim-recovers-li2020", number="end of section 3", reading="older printing of li2020/theorem-1",
    assumptions=(smooth, strongly_convex, variance, G_weighted, nonanticipating, divisible),
    conditions=(*SCHED, no_matching), statement=Condition(theorem_1_bound, "==", older_bound(priority_noise)),
    note="the bound of Li et al. on the priority clients, with the same constants L, mu and G",
)

recovers_later = recovers.variant(
    "later", "later printing of li2020/theorem-1, with w_1 the start",
    statement=Condition(theorem_1_bound, "==", later_bound(priority_noise, iterations + 1, D0_sq)),
)

# rates ---------------------------------------------------------------------------------------------------------------
free_weight = sp.Symbol("free_weight", positive=True)  #: P_N, the total weight of the free clients

rate = prose(
    id="fedalign/claim-rate", number="after (9)", explicit=False, assumptions=all_four, conditions=SCHED,
    reading="O(theta_T / T) with a hidden constant C", variables=hidden_C,
    statement=Condition(suboptimality - rho_bias, "<=", C * theta / iterations),
    limits=((iterations, sp.oo), (free_weight, sp.oo)),
    note="C depends neither on T nor on P_N, the total weight of the free clients",
)

rate_explicit = rate.variant(
    "constants-of-theorem-1", "O(theta_T / T) with the constants of theorem-1", explicit=True, variables=(), limits=(),
    note="",
    statement=Condition(
        suboptimality - rho_bias, "<=",
        theta * (noise_and_drift + initial_term + C_2 * Gamma) / (iterations + step_offset),
    ),
)

theta_T = sp.Symbol("theta_T", nonnegative=True)
chi_sum, psi_sum = sp.Symbol("sum_mean_chi", real=True), sp.Symbol("sum_mean_psi", real=True)
whole_sum = iterations + Max(local_steps, 8 * L / mu) - 2
unbiased = right_side(theorem_1, nonnegative=("Gamma", "D0_sq")).with_values({psi_sum: sp.S.Zero})

rate_improves = comparison(
    "fedalign/claim-rate@improves", unbiased.with_values({chi_sum: theta_T * whole_sum}),
    unbiased.with_values({chi_sum: whole_sum}), (Condition(theta_T, "<=", 1),), number="after (9)",
    reading="the bound of theorem-1 without rho_T is at most that with theta_T = 1, for theta_T at most 1",
)

rounds_open = sp.Symbol("rounds_open", integer=True, nonnegative=True)

decay = prose(
    id="fedalign/claim-decay-epsilon", number="after (10)", explicit=False,
    reading="(a) the bias goes: order 1/T with a constant C that does not depend on T", assumptions=convex,
    conditions=(*SCHED, Condition(epsilon[t], "==", 0, ((t, rounds_open * local_steps, iterations - 1),))),
    variables=(*hidden_C, Variable("rounds_open", "integer", low=0)),
    statement=Condition(rho_bias, "<=", C / iterations), limits=((iterations, sp.oo),),
    note="matching stops after rounds_open rounds",
)

# further claims ------------------------------------------------------------------------------------------------------
arbitrary = replace(
    theorem_1, id="fedalign/claim-arbitrary-participation", number="A.4, (55)", kind="prose",
    reading="theorem-1 with the indicator (55) on the broadcast model; G weighted along the trajectory",
    procedure=replace(FEDALIGN, free="arbitrary"),
)

without_replacement = prose(
    id="fedalign/claim-without-replacement", number="opening of A.4", statement=None,
    undefined="sampling without replacement is announced, and neither an algorithm nor a bound is printed for it",
)

CLAIMS = (
    theta_range, theta_range_lower, theta_decreases, *zero_epsilon, recovers, recovers_later, rate, rate_explicit,
    rate_improves, opposite, THETA_OVER_ROUNDS, opposite_theta, opposite_bias, decay, arbitrary, without_replacement,
)
