"""Theorems C.2 and C.3: FA-NT."""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Condition
from bounds.language.words import E, L, Min, Sum, clients, local_steps, norm2, r, rounds
from bounds.papers.fadamgc.assumptions import A51_A53, A51_AC1, lam, product, product_is, proof_38, proof_152
from bounds.papers.fadamgc.builders import (
    ANY_MOMENTS,
    FA_NT,
    SPECIAL,
    all_tracked,
    alpha_vhat,
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
from bounds.papers.fadamgc.quantities import F0_gap, Gamma_nt, vbar
from bounds.papers.fadamgc.theorems import BOUNDED_BETA, beta_star, leading, short_step, special_steps, without_beta1
from bounds.papers.fadamgc.words import B, G, beta1, eps, eta, sigma, trackers

__all__ = ["CLAIMS", "Gamma_sum_bound"]

n, K, T, F, Y, sqrt = clients, local_steps, rounds, F0_gap, trackers, sp.sqrt
Y_ZERO, Y_UNIT = "the first y_k are zero", "the first y_k are gradients divided by their norms; second moments by coordinate"
J = (G**2 + sigma**2) / eps**2

#: the right side of (165)
Gamma_sum_bound = T**2 * (Y / n) * ((7 * n / Y) * G**2 + (Y / n) * J)

# Theorem C.2 ---------------------------------------------------------------------------------------------------------
STATEMENT = (
    product_is(Min(lam / (8 * K * L), lam / (12 * T * L), lam * sqrt(n) / (30 * sqrt(T) * L))),
    Condition(eta, "<=", Min(lam * eps / (40 * T ** sp.Rational(3, 2) * L), lam * eps / (30 * K * L))),
)

APPENDIX = (
    product_is(Min(lam / (8 * K * L), lam / (12 * T * L), sqrt(F * n) / (lam * sigma * sqrt(T * K * L)))),
    Condition(eta, "<=", lam * eps / (12 * T ** sp.Rational(3, 2) * L)),
)


def appendix(claim):
    """Under the conditions of the appendix, (166)."""
    kept = tuple(c for c in claim.conditions if c not in STATEMENT)
    return claim.variant("appendix", claim.reading + "; the appendix's conditions on the steps, (166)",
                         conditions=(*kept, *APPENDIX))


theorem_C2 = order_claim(run_claim(
    FA_NT, ANY_MOMENTS, id="fadamgc/theorem-C.2", number="Theorem C.2, (115), (172)", kind="theorem", reading=Y_ZERO,
    assumptions=A51_A53, conditions=STATEMENT,
    statement=Condition(
        average_sq, "<=",
        leading + L * F / T + K * G**6 / (eps**2 * T) + K**2 * (sigma**2 + (1 + eps**2) * G**2) / (eps**2 * T)),
    steps=("fadamgc/theorem-C.2/eq-167-171",),
))

eq_167 = order_claim(run_claim(
    FA_NT, ANY_MOMENTS, id="fadamgc/theorem-C.2/eq-167-171", number="(167)-(171)", kind="theorem", reading=Y_ZERO,
    assumptions=A51_A53, conditions=STATEMENT,
    statement=Condition(
        average_sq, "<=",
        L * F / T + leading + K * G**6 / ((1 - beta1) ** 2 * beta1**2 * eps**2 * T)
        + K**2 * (1 + Y**2 / n**2) * (G**2 + eps**2 * G**2) / (eps**2 * T)
        + K**2 * (1 + Y**2 / n**2) * sigma**2 / (eps**2 * T)),
    steps=("fadamgc/theorem-C.2/eq-158-163", "fadamgc/eq-165"),
))


def explicit_form(Gammas):
    return Condition(
        average_sq, "<=",
        12 * last_gap / (lam * product * K * T)
        + 12 / (K * eps**2 * lam**2) * 96 * K**3 * L**2 * eta**2 * Gammas
        + 12 * K * G**2 / (lam**2 * eps**2 * T) * E(norm2(vbar[rounds] - vbar[0]))
        + 24 * product * (1 - eps) ** 2 * K * L * G**2 / (lam * eps**2)
        + 12 / (eps**2 * lam**2) * 144 * K**2 * L**2 * eta**2 * (G**2 + sigma**2) / eps**2
        + 12 * product * L * sigma**2 / (lam * n))


eq_158 = run_claim(
    FA_NT, ANY_MOMENTS, id="fadamgc/theorem-C.2/eq-158-163", number="(158)-(163)", kind="theorem",
    reading=f"{Y_ZERO}; stored directions with v", assumptions=A51_A53,
    conditions=(*proof_38, *proof_152),
    statement=explicit_form(Sum(Gamma_nt[r], (r, 0, rounds - 1))),
    steps=("fadamgc/eq-157", "fadamgc/eq-163-division"),
)

eq_158_bounded = eq_158.variant(
    "gamma-bound", f"{Y_ZERO}; the sum of Gamma replaced by the right side of (165)",
    statement=explicit_form(Gamma_sum_bound))

# Theorem C.3 ---------------------------------------------------------------------------------------------------------
FROM_UNIT = put(replace(eq_158, procedure=FA_NT), y_init="normalised-gradient").procedure
steps_C3 = (product_is(sqrt(n * K / T)),)

theorem_C3 = order_claim(run_claim(
    FROM_UNIT, without_beta1(SPECIAL), id="fadamgc/theorem-C.3", number="Theorem C.3, (116)", kind="theorem", reading=Y_UNIT,
    assumptions=A51_AC1, conditions=(beta_star, *steps_C3, short_step),
    statement=Condition(
        average_norm, "<=", sqrt(L * F / (n * K * T)) + L * F / T + L * K / T + K * (sigma + n * B) / T),
    note=BOUNDED_BETA, steps=("fadamgc/theorem-C.3/eq-211",),
))

theorem_C3_appendix = theorem_C3.variant(
    "appendix", theorem_C3.reading + "; the appendix's conditions on the steps",
    conditions=tuple(special_steps if c in steps_C3 else c for c in theorem_C3.conditions))

eq_211 = order_claim(run_claim(
    FROM_UNIT, without_beta1(SPECIAL), id="fadamgc/theorem-C.3/eq-211", number="(211)", kind="theorem", reading=Y_UNIT,
    assumptions=A51_AC1, conditions=(beta_star, special_steps, short_step),
    statement=Condition(
        average_norm, "<=",
        sqrt(L * F / ((1 - 2 * beta1) * n * K * T)) + L * F / ((1 - beta1) * T) + L * K / ((1 - 2 * beta1) * T)
        + K * (sigma + n * B) / T),
    note=BOUNDED_BETA, steps=("fadamgc/theorem-C.3/eq-210",),
))

gap = 1 - 2 * beta1**K

eq_210 = run_claim(
    FROM_UNIT, SPECIAL, id="fadamgc/theorem-C.3/eq-210", number="(210)", kind="theorem",
    reading=f"{Y_UNIT}; the sign of order as at most", assumptions=A51_AC1, conditions=(Condition(2 * beta1**K, "<", 1),),
    statement=Condition(
        average_norm, "<=",
        F / (K * product * gap * T) + product * K * L / (2 * gap) + 3 * eta * K * L / gap + K * (sigma / n + B) / gap),
    note="1 - 2 beta1^K > 0, as the division needs",
    steps=("fadamgc/eq-200", "fadamgc/eq-208", "fadamgc/eq-209"),
)

eq_210_order = order_claim(eq_210.variant("big-o", Y_UNIT))
y_gradient = started("gradient")
under_proof = with_condition("condition-152", "with the condition (152)", *proof_152)

CLAIMS = (
    *readings(theorem_C2, y_gradient, carried, appendix, v_started), under_proof(appendix(theorem_C2)),
    *free_constants(theorem_C2),
    *readings(eq_167, all_tracked, y_gradient, carried, appendix), under_proof(appendix(eq_167)),
    *free_constants(eq_167),
    *readings(eq_158, all_tracked, alpha_vhat, y_gradient, carried), all_tracked(alpha_vhat(eq_158)), eq_158_bounded,
    all_tracked(eq_158_bounded),
    *readings(theorem_C3, with_norms, carried, v_started), theorem_C3_appendix, *free_constants(theorem_C3),
    *readings(eq_211, with_norms, carried, powers_of_beta1), *free_constants(eq_211),
    *readings(eq_210, with_norms, carried), eq_210_order, *free_constants(eq_210_order),
)
