"""Theorems 1 and A.9 of FedALIGN in every reading, and their informal summary (3)-(4)."""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.definitions import Gamma
from bounds.language.words import E, F_star, G_sq, L, iterations, local_steps, mu, objective, participants, step_offset
from bounds.papers.fedalign.assumptions import (
    G_a_priori,
    G_everywhere,
    G_max,
    G_priority,
    G_priority_own,
    G_priority_sq,
    G_weighted,
    convex_as_printed,
    divisible,
    nonanticipating,
    smooth,
    smooth_as_printed,
    strongly_convex,
    variance,
)
from bounds.papers.fedalign.builders import PARTIAL, all_readings, indicator_readings, run_claim, with_G
from bounds.papers.fedalign.conditions import SCHED, SCHED8, one_round
from bounds.papers.fedalign.quantities import C_2, D0_sq, noise_and_drift, rho_bias, suboptimality, theta, x_eq_56

__all__ = ["CLAIMS", "C", "eq_4", "hidden_C", "theorem_1", "theorem_1_bound", "theorem_A9"]

IMPLICIT = (nonanticipating, divisible)
initial_term = 4 * L**2 / mu * D0_sq
theorem_1_bound = (noise_and_drift + initial_term + C_2 * theta * Gamma) / (iterations + step_offset) + rho_bias


def theorem_A9_bound(sampling_G_sq):
    """Right side of Theorem A.9 with this constant in its sampling term."""
    sampling_noise = 2 * L / mu**2 * (8 * local_steps**2 * sampling_G_sq / participants)
    total = noise_and_drift + sampling_noise + initial_term + C_2 * theta * Gamma
    return total / (iterations + step_offset) + rho_bias


theorem_1 = run_claim(
    id="fedalign/theorem-1",
    number="Theorem 1, (6)-(8); Theorem A.1, (11)-(13)",
    kind="theorem",
    reading="assumptions 1-2 as used in the proofs",
    assumptions=(smooth, strongly_convex, variance, G_weighted, *IMPLICIT),
    conditions=SCHED,
    statement=Condition(suboptimality, "<=", theorem_1_bound),
    steps=("fedalign/lemma-A6", "fedalign/step-T17", "fedalign/step-T20", "fedalign/step-eq36"),
)

G_axis = {
    "G-trajectory-weighted": ("G weighted along the trajectory", with_G(G_weighted)),
    "G-trajectory-max": ("G largest over the clients that count, along the trajectory", with_G(G_max)),
    "G-a-priori": ("G from bounded noise, before the run", with_G(G_a_priori)),
}

theorem_1_as_printed = replace(
    theorem_1,
    id="fedalign/theorem-1@assumptions-as-printed",
    reading="indicator on the broadcast model; G weighted along the trajectory; assumptions 1-2 as printed",
    assumptions=(smooth_as_printed, convex_as_printed, variance, G_weighted, *IMPLICIT),
)

theorem_1_everywhere = replace(
    with_G(G_everywhere)(theorem_1),
    id="fedalign/theorem-1@G-everywhere",
    reading="indicator on the broadcast model; assumption 4 on all of R^dim; assumptions 1-2 as used in the proofs",
)

theorem_A9 = run_claim(
    id="fedalign/theorem-A9",
    number="Theorem A.9, (60)",
    kind="theorem",
    reading=(
        "indicator (55) on the broadcast model; aggregation (56) with I_k; G weighted along the trajectory, and over "
        "all priority clients, drawn or not; assumptions 1-2 as used in the proofs"
    ),
    procedure=PARTIAL,
    assumptions=(smooth, strongly_convex, variance, G_weighted, G_priority, *IMPLICIT),
    conditions=SCHED8,
    statement=Condition(suboptimality, "<=", theorem_A9_bound(G_sq)),
    note="the output is the sampled aggregate; theta and rho use the indicator (55)",
)

theorem_A9_readings = (
    theorem_A9,
    with_G(G_max)(theorem_A9).variant(
        "G-trajectory-max", "as theorem-A9, with G largest over the clients that count, along the trajectory"
    ),
    with_G(G_a_priori)(theorem_A9).variant(
        "G-a-priori", "as theorem-A9, with G from bounded noise, before the run"
    ),
    theorem_A9.variant(
        "G-where-used",
        "as theorem-A9, with two constants: G weighted in the drift term, G over the priority clients in the sampling "
        "term",
        assumptions=(smooth, strongly_convex, variance, G_weighted, G_priority_own, *IMPLICIT),
        statement=Condition(suboptimality, "<=", theorem_A9_bound(G_priority_sq)),
    ),
    theorem_A9.variant(
        "56-literal",
        "as theorem-A9, with aggregation (56) as printed: its second sum has no I_k",
        conditions=(*SCHED8, one_round),
        statement=Condition(E(objective(x_eq_56[iterations])) - F_star, "<=", theorem_A9_bound(G_sq)),
        note="for one round from any start: the aggregation rule acts for the first time at iterations",
    ),
)

C = sp.Symbol("C", positive=True)
hidden_C = (Variable("C", "hidden"),)

eq_4 = run_claim(
    id="fedalign/eq-4",
    number="(4)",
    kind="lemma",
    explicit=False,
    reading="the similarity sign as an upper bound with a constant C that does not depend on T",
    assumptions=(smooth, strongly_convex, variance, G_weighted, *IMPLICIT),
    conditions=SCHED,
    variables=hidden_C,
    statement=Condition(suboptimality, "<=", (C + theta * Gamma) / iterations + rho_bias), limits=((iterations, sp.oo),),
)

eq_3 = eq_4.variant(
    "eq-3",
    "(3), FedAvg on the priority clients: the similarity sign as an upper bound with a constant C that does not "
    "depend on T",
    procedure=Procedure(),
    number="(3)",
    statement=Condition(suboptimality, "<=", (C + Gamma) / iterations),
)

CLAIMS = (
    *all_readings(theorem_1, indicator_readings, G_axis), theorem_1_as_printed, theorem_1_everywhere,
    *theorem_A9_readings, eq_4, eq_3,
)
