"""Theorems E.3, E.6, F.3, F.6 and Appendix I: generalisation errors of FedSWA, FedMoSWA and FedSAM."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.samples import G_lip
from bounds.language.words import E, L, Sum, i, j, local_steps, r, rounds
from bounds.papers.fedmoswa.assumptions import A1, A1_TO_5, A2, A3, A4, C1_TO_5, C2_TO_5, C5, sigma
from bounds.papers.fedmoswa.lemmas_generalisation import (
    B_E1,
    B_READING,
    B_VALUES,
    FACTOR,
    FRESH_F1,
    FRESH_READINGS,
    FRESH_WORDS,
    Phi,
    b_readings,
    deviation,
    extended,
    growth,
    one_minus_b,
    over_gradients,
    over_models,
    stochastic_norm,
)
from bounds.papers.fedmoswa.main_text import C_TILDE, FIXED, MEASURES, convex_factor, convex_growth, nonconvex_growth, scale
from bounds.papers.fedmoswa.quantities import generalisation_error, gradient_norm, swa_length, twin_distance
from bounds.papers.fedmoswa.readings import REGION, fixed_client, varied, with_options, with_region, with_right
from bounds.papers.fedmoswa.setting import FRESH, MOSWA_I, PLAIN, SAM, SWA, algebra_claim, c, eta, run_claim
from bounds.papers.fedmoswa.table_1 import SAM_FACTORS, c_bar
from bounds.papers.fedmoswa.words import sigma_g

__all__ = ["CLAIMS", "GRADIENT", "any_gradient", "largest_gradient", "plain_step"]

K, T = local_steps, rounds
theorem = partial(run_claim, kind="theorem")
GEN = {"left": generalisation_error, "relation": "<="}

# the free index t in E |grad F(theta_t)| on a right side ---------------------------------------------------------------
largest_gradient = sp.Symbol("largest_gradient", nonnegative=True)
GRADIENT = Condition(gradient_norm(r), "<=", largest_gradient, ((r, 0, T - 1),))
FREE_T = "free t: the largest E |grad F(theta_t)| of the run"


def any_gradient(claim):
    """The claim with the Lipschitz constant in place of the largest expected gradient norm."""
    claim = replace(claim, conditions=tuple(x for x in claim.conditions if x != GRADIENT))
    s = claim.statement
    return replace(claim, statement=replace(s, right=s.right.xreplace({largest_gradient: G_lip})))


FREE_T_READINGS = {"gradient-L": ("free t: L in place of E |grad F(theta_t)|", any_gradient)}
Phi_T = largest_gradient + sigma_g + sigma

# Appendix E ----------------------------------------------------------------------------------------------------------
b_tilde, c_tilde = 1 + one_minus_b * L * swa_length[0], 1 + growth * L * swa_length[0]


def e_3_right(factor):
    return scale * factor * convex_growth * Phi_T


e_3 = theorem(
    id="fedmoswa/theorem-e.3", number="Theorem E.3", assumptions=A1_TO_5, **extended(SWA, B_E1, GRADIENT),
    reading=f"{FREE_T}; {B_READING}; b_tilde equal to its bound", statement=Condition(right=e_3_right(b_tilde), **GEN),
    note="the step sizes are named in the proof; both runs start at the same model",
    steps=(
        "fedmoswa/eq-17", "fedmoswa/eq-18", "fedmoswa/eq-19", "fedmoswa/eq-20-unroll", "fedmoswa/eq-20-exp",
        "fedmoswa/eq-21", "fedmoswa/eq-22-unroll", "fedmoswa/eq-22-sum", "fedmoswa/stability-to-gen",
    ),
)

e_3_values = {name: (words, with_right(e_3_right(value))) for name, (words, value) in B_VALUES.items()}

e_6 = theorem(
    id="fedmoswa/theorem-e.6", number="Theorem E.6", assumptions=C2_TO_5, **extended(SWA, FACTOR, GRADIENT),
    reading=f"{FREE_T}; c_tilde equal to its bound",
    statement=Condition(right=scale * c_tilde * nonconvex_growth * Phi_T, **GEN),
    steps=(
        "fedmoswa/eq-26", "fedmoswa/eq-27", "fedmoswa/eq-28", "fedmoswa/eq-29", "fedmoswa/eq-30", "fedmoswa/eq-31",
        "fedmoswa/eq-32", "fedmoswa/stability-to-gen",
    ),
)

e_6_value = {
    "c-tilde-main": ("c_tilde at the value of the main text", with_right(scale * C_TILDE * nonconvex_growth * Phi_T))
}


# Appendix F ----------------------------------------------------------------------------------------------------------
def sum_of(factor):
    """factor L + sigma_g + factor sigma."""
    return factor * G_lip + sigma_g + factor * sigma


ALGORITHM_1 = {"procedure": MOSWA_I["procedure"]}
ALGORITHM_WORDS = "Algorithm 1, as the theorem says, with Option I, as Theorem 5.1 has it"
F_3_WORDS = f"{ALGORITHM_WORDS}; b of Lemma F.1; b_tilde equal to its bound"


def fresh(claim):
    """The claim for the variates that the proofs have."""
    return replace(claim, procedure=FRESH["procedure"])


ALGORITHMS = {
    "option-II": ("Algorithm 1 with Option II", with_options(("option", "II"))),
    "fresh": (f"as the proofs have it: {FRESH_WORDS}", fresh),
} | {
    name: (f"as the proofs have it: {words}", lambda claim, change=change: change(fresh(claim)))
    for name, (words, change) in FRESH_READINGS.items()
}

f_3_gap = theorem(
    id="fedmoswa/theorem-f.3-gap", number="Theorem F.3, first display", assumptions=C1_TO_5, **FRESH_F1 | ALGORITHM_1,
    reading=F_3_WORDS,
    statement=Condition(E(twin_distance(T)), "<=", scale / G_lip * sp.exp(1 - convex_factor) * sum_of(b_tilde)),
    note="the step sizes are named in the proof; both runs start at the same model",
    steps=("fedmoswa/eq-38", "fedmoswa/eq-39", "fedmoswa/eq-40", "fedmoswa/eq-41", "fedmoswa/eq-42", "fedmoswa/eq-43"),
)

f_3_gap_readings = {
    name: (words, with_right(scale / G_lip * sp.exp(1 - convex_factor) * sum_of(value)))
    for name, (words, value) in B_VALUES.items()
}

f_3_gen = theorem(
    id="fedmoswa/theorem-f.3-gen", number="Theorem F.3, second display", assumptions=C1_TO_5, **FRESH_F1 | ALGORITHM_1,
    reading=F_3_WORDS,
    statement=Condition(right=scale * convex_growth * sum_of(b_tilde), **GEN),
    note="the step sizes are named in the proof; both runs start at the same model",
    steps=("fedmoswa/theorem-f.3-gap", "fedmoswa/stability-to-gen"),
)

f_3_gen_readings = {
    name: (words, with_right(scale * convex_growth * sum_of(value))) for name, (words, value) in B_VALUES.items()
}


def f_6_right(factor):
    return scale * nonconvex_growth * sum_of(factor)


f_6 = theorem(
    id="fedmoswa/theorem-f.6", number="Theorem F.6", assumptions=C2_TO_5, **extended(FRESH, FACTOR) | ALGORITHM_1,
    reading=f"{ALGORITHM_WORDS}; c_tilde equal to its bound", statement=Condition(right=f_6_right(c_tilde), **GEN),
    steps=(
        "fedmoswa/eq-49", "fedmoswa/eq-50", "fedmoswa/eq-51", "fedmoswa/eq-52", "fedmoswa/eq-53", "fedmoswa/eq-54",
        "fedmoswa/stability-to-gen",
    ),
)

f_6_readings = {
    "c-tilde-main": ("c_tilde at the value of the main text", with_right(f_6_right(C_TILDE))),
    "c-tilde-with-L": (
        "c_tilde with the factor L + sigma, as printed with the theorem",
        with_right(f_6_right((1 + L * swa_length[0] * growth) * (G_lip + sigma))),
    ),
    "c-tilde-proof": (
        "c_tilde with 1 - c, as printed in the proof", with_right(f_6_right(1 + (1 - c) ** (K - 1) * L * swa_length[0])),
    ),
}

# Appendix I ----------------------------------------------------------------------------------------------------------
lemma = partial(run_claim, kind="lemma")
SAM_C = extended(SAM, *SAM_FACTORS)
length = K * eta
PRINTED = (A1, A2, A3, A4, C5)
SAM_NOTE = "the step size is printed as at most /(beta K T), read 1/(beta K T)"


def plain_step(claim):
    """The claim for the update that the proofs write, theta - eta g(theta), which is FedAvg's."""
    return replace(claim, procedure=PLAIN["procedure"], variables=PLAIN["variables"])


PLAIN_STEP = {"plain-step": ("the update written in the proofs, theta - eta g(theta)", plain_step)}

i_1 = lemma(
    id="fedmoswa/lemma-i.1", number="Lemma I.1", assumptions=(A2, A3, A4, C5), **SAM_C, reading="FedSAM, as named",
    statement=Condition(deviation(j), "<=", (1 + c_bar) ** (K - 1) * length * Phi(r), over_models), note=SAM_NOTE,
    steps=("fedmoswa/eq-103", "fedmoswa/eq-104"),
)

i_1_proof = {"proof": ("c in place of c_bar, as the proof has it", with_right(growth * length * Phi(r)))}


def assumed_by_i_1(claim):
    """The claim under the assumptions of Lemma I.1."""
    return replace(claim, assumptions=(A2, A3, A4, C5))


I_1_WORDS = "under Assumptions 2-5, as Lemma I.1 prints them"

ASSUMED_BY_I_1 = {
    "assumptions-2-to-5": (I_1_WORDS, assumed_by_i_1),
    "plain-step+assumptions-2-to-5": (
        f"{PLAIN_STEP['plain-step'][0]}; {I_1_WORDS}", lambda claim: plain_step(assumed_by_i_1(claim))),
}

i_2 = lemma(
    id="fedmoswa/lemma-i.2", number="Lemma I.2", assumptions=PRINTED, **SAM_C, reading="FedSAM, as named",
    statement=Condition(stochastic_norm(j), "<=", (1 + growth * L * length) * Phi(r), over_gradients),
    note=f"Assumptions 1-3 are printed; beta and sigma_{{g,i}} are the constants of 4 and C.5; {SAM_NOTE}",
    steps=("fedmoswa/eq-105", "fedmoswa/lemma-i.1"),
)

i_3 = theorem(
    id="fedmoswa/theorem-i.3", number="Theorem I.3", assumptions=PRINTED, **extended(SAM_C, GRADIENT),
    reading=f"FedSAM, as named; {FREE_T}; c_bar equal to its bound",
    statement=Condition(right=scale * c_bar * nonconvex_growth * Phi_T, **GEN),
    note="Assumptions 1-3 are printed; the first display prints c for c_bar",
    steps=("fedmoswa/eq-106", "fedmoswa/eq-107", "fedmoswa/eq-108", "fedmoswa/eq-109", "fedmoswa/eq-110",
           "fedmoswa/eq-111", "fedmoswa/eq-112", "fedmoswa/stability-to-gen"),
)

i_3_readings = {
    "printed-c": ("c in place of c_bar, as the first display prints", with_right(scale * c * nonconvex_growth * Phi_T))
}
rates = sp.IndexedBase("rates", real=True)
every_step = (i, 0, K - 1)

constants = algebra_claim(
    id="fedmoswa/app-i-constants", number="Theorem I.3, end of the proof", kind="lemma",
    variables=(
        Variable("local_steps", "integer"), Variable("L", "positive"), Variable("eta", "positive"),
        Variable("c", "positive"), Variable("rates", "nonnegative", (("i", "local_steps"),)),
    ),
    conditions=(Condition(rates[i], "<=", eta, (every_step,)),),
    statement=Condition(
        1 + (1 + c) ** (K - 1) * L * Sum(rates[i], every_step), "<=", 1 + (1 + c) ** (K - 1) * L * K * eta
    ),
    note="c_tilde and c_bar equal to their bounds, with the same c; rates are those of FedSWA's local steps",
)

coupled = MEASURES | FIXED
one_client = {"fixed-client": ("any one client's sample replaced, its heterogeneity on the right", fixed_client)}

CLAIMS = (
    *varied(e_3, coupled | FREE_T_READINGS | b_readings | e_3_values | REGION),
    *varied(e_6, coupled | FREE_T_READINGS | e_6_value | REGION),
    *varied(f_3_gap, one_client | f_3_gap_readings | ALGORITHMS | REGION),
    *varied(f_3_gen, coupled | f_3_gen_readings | ALGORITHMS | REGION),
    *varied(f_6, coupled | f_6_readings | ALGORITHMS | REGION),
    *with_region(*varied(i_1, i_1_proof | PLAIN_STEP)), *with_region(*varied(i_2, PLAIN_STEP | ASSUMED_BY_I_1)),
    *varied(i_3, coupled | FREE_T_READINGS | i_3_readings | PLAIN_STEP | ASSUMED_BY_I_1 | REGION), constants,
)
