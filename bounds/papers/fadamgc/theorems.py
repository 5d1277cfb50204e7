"""Theorems 5.2 and 5.4: FAdamGC."""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Condition
from bounds.language.words import L, Min, clients, local_steps, rounds
from bounds.papers.fadamgc.assumptions import A51, A51_A53, lam, product, product_is, proof_38, proof_78
from bounds.papers.fadamgc.builders import (
    FADAMGC,
    POSITIVE_BETA2,
    SPECIAL,
    all_tracked,
    average_norm,
    average_sq,
    carried,
    free_constants,
    last_gap,
    order_claim,
    powers_of_beta1,
    put,
    readings,
    run_claim,
    started,
    v_started,
    with_condition,
    with_norms,
)
from bounds.papers.fadamgc.quantities import F0_gap
from bounds.papers.fadamgc.words import G, beta1, beta2, eps, eta, sigma, trackers

__all__ = ["A2", "CLAIMS", "beta_star", "leading", "special_steps"]

n, K, T, F, Y, sqrt = clients, local_steps, rounds, F0_gap, trackers, sp.sqrt
A2 = 6 * (1 - beta2) * G**6 + 8 * (1 - beta1) * (sigma**2 + G**2)
leading = sqrt(L * F * sigma**2 / (n * K * T))
beta_star = Condition(beta1, "==", ((K * n - 2 * T) / (2 * K * n)) ** (1 / K))
BOUNDED_BETA = "the print's beta is beta1, its N the number of clients"
short_step = Condition(eta, "<=", 1 / T)
special_steps = product_is(Min(sqrt(F * n) / sqrt(sigma**2 * K * T * L), F / T))


def without_beta1(moments):
    """The same where a condition gives beta1."""
    return moments | {"variables": tuple(v for v in moments["variables"] if v.name != "beta1"),
                      "conditions": tuple(c for c in moments["conditions"] if c.left != beta1)}


# Theorem 5.2 ---------------------------------------------------------------------------------------------------------
FROM_GRADIENTS = put(run_claim(FADAMGC, SPECIAL, id="fadamgc/none", number="", kind="theorem",
                               statement=Condition(0, "<=", 0)), y_init="gradient").procedure

theorem_52 = order_claim(run_claim(
    FROM_GRADIENTS, without_beta1(SPECIAL), id="fadamgc/theorem-5.2", number="Theorem 5.2, (5)", kind="theorem",
    reading="the first y_k are gradients; second moments by coordinate", assumptions=A51,
    conditions=(beta_star, special_steps, short_step),
    statement=Condition(average_norm, "<=", leading + L * F / T + L * K / T + K * sigma / T),
    note=BOUNDED_BETA, steps=("fadamgc/theorem-5.2/eq-104",),
))

eq_104 = order_claim(run_claim(
    FROM_GRADIENTS, without_beta1(SPECIAL), id="fadamgc/theorem-5.2/eq-104", number="(104)", kind="theorem",
    reading="the first y_k are gradients; second moments by coordinate", assumptions=A51,
    conditions=(beta_star, special_steps, short_step),
    statement=Condition(
        average_norm, "<=",
        sqrt(L * F * sigma / ((1 - 2 * beta1) ** 2 * n * K * T)) + L * F / ((1 - 2 * beta1) * T)
        + L * K / ((1 - 2 * beta1) * T) + K * sigma / T),
    note=f"{BOUNDED_BETA}; sigma without a square, as printed", steps=("fadamgc/theorem-5.2/eq-102-103",),
))

gap = 1 - 2 * beta1**K

eq_102 = run_claim(
    FROM_GRADIENTS, SPECIAL, id="fadamgc/theorem-5.2/eq-102-103", number="(102)-(103)", kind="theorem",
    reading="the first y_k are gradients; second moments by coordinate", assumptions=A51,
    conditions=(Condition(2 * beta1**K, "<", 1),),
    statement=Condition(
        average_norm, "<=",
        F / (K * product * gap * T) + product * K * L / (2 * (1 - beta1**K))
        + 16 * n**2 * product * K / (Y**2 * (1 - beta1**K)) + 2 * K * (1 + L) * eta / gap + sigma / (n * gap)),
    note="1 - 2 beta1^K > 0, as the division needs", steps=("fadamgc/eq-101",),
)

# Theorem 5.4 ---------------------------------------------------------------------------------------------------------
step_54 = product_is(Min(lam / (8 * K * L), lam / (12 * T * L), sqrt(F * n) / (lam * sigma * sqrt(T * K * L))))
step_53 = product_is(Min(lam / (8 * K * L), lam / (12 * T * L), sqrt(n) / (lam * sigma * sqrt(T * K * L))))
STATEMENT = (step_54, Condition(eta, "<=", lam * eps / (40 * T * L)))
APPENDIX = (step_53, Condition(eta, "<=", lam * eps / (40 * sqrt(T) * L)))


def appendix(claim):
    """Under the conditions of the appendix, (53)."""
    kept = tuple(c for c in claim.conditions if c not in STATEMENT)
    _, _, before = claim.id.partition("@")
    return claim.variant(f"{before}+appendix" if before else "appendix",
                         claim.reading + "; the appendix's conditions on the steps, (53)", conditions=(*kept, *APPENDIX))


Y_ZERO = "the first y_k are zero"

theorem_54 = order_claim(run_claim(
    FADAMGC, POSITIVE_BETA2, id="fadamgc/theorem-5.4", number="Theorem 5.4, (6)-(7), (58)", kind="theorem", reading=Y_ZERO,
    assumptions=A51_A53, conditions=STATEMENT,
    statement=Condition(
        average_sq, "<=",
        leading + L * F / T + K * G**6 / (eps**2 * T) + K * (sigma**2 + (1 + eps**2) * G**2) / (eps**2 * T)),
    steps=("fadamgc/theorem-5.4/eq-54-57",),
))

eq_48 = run_claim(
    FADAMGC, POSITIVE_BETA2, id="fadamgc/theorem-5.4/eq-48-51", number="(48)-(51)", kind="theorem", reading=Y_ZERO,
    assumptions=A51_A53, conditions=proof_38,
    statement=Condition(
        average_sq, "<=",
        4 * last_gap / (lam * product * K * T) + 6 * eta**2 * K * L**2 / (lam**2 * eps**4) * (A2 + G**2)
        + G**4 / (lam**2 * eps**2 * T) + 8 * product / (lam * eps**2) * L * (K * G**2 + sigma**2)),
    steps=("fadamgc/eq-42", "fadamgc/eq-51-division"),
)

eq_54 = run_claim(
    FADAMGC, POSITIVE_BETA2, id="fadamgc/theorem-5.4/eq-54-57", number="(54)-(57)", kind="theorem", reading=Y_ZERO,
    assumptions=A51_A53, conditions=STATEMENT,
    statement=Condition(
        average_sq, "<=",
        L * F / T + 2 * leading
        + (2 / ((1 - beta1) ** 2 * beta1**2) + K * (1 - beta2)) * G**6 / (eps**2 * T)
        + K * (1 - beta1) * (sigma**2 + G**2) / (eps**2 * T)),
    steps=("fadamgc/theorem-5.4/eq-48-51",),
)

under_78 = replace(eq_48, id="fadamgc/theorem-5.4/eq-48-51@condition-78",
                   reading=f"{Y_ZERO}; with the conditions before (78)", conditions=(*eq_48.conditions, *proof_78))
y_gradient = started("gradient")
under_proof = with_condition("condition-78", "with the conditions before (78)", *proof_78)

CLAIMS = (
    *readings(theorem_52, with_norms, carried, v_started), *free_constants(theorem_52),
    *readings(eq_104, with_norms, carried, powers_of_beta1), *free_constants(eq_104),
    *readings(eq_102, all_tracked, with_norms, carried, v_started), with_norms(all_tracked(eq_102)),
    *readings(theorem_54, y_gradient, carried, appendix, under_proof, v_started), under_proof(appendix(theorem_54)),
    *free_constants(theorem_54), *free_constants(appendix(theorem_54)),
    *readings(eq_48, y_gradient, carried, v_started), under_78,
    *readings(eq_54, y_gradient, carried, appendix, under_proof), under_proof(appendix(eq_54)),
)
