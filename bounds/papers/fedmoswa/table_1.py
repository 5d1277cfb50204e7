"""Table 1: orders of generalisation and optimisation errors, and the constants of its caption."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.samples import G_lip, samples
from bounds.language.words import L, clients, local_steps, participants, rounds, sigma_sq
from bounds.papers.fedmoswa.assumptions import A2_TO_5, G2, G3, G4, sigma
from bounds.papers.fedmoswa.main_text import (
    C_TILDE,
    SOME_STEP,
    C,
    F0_gap,
    hidden_C,
    mean_gradient,
    noise_factor,
    nonconvex_growth,
    two_thirds,
)
from bounds.papers.fedmoswa.quantities import generalisation_error
from bounds.papers.fedmoswa.readings import given, some_step, varied, with_right
from bounds.papers.fedmoswa.setting import (
    ANY_STEP,
    MOSWA,
    MOSWA_I,
    OVER_DATA,
    SAM,
    SWA,
    absolute_order,
    algebra_claim,
    c,
    eta,
    eta_eff,
    eta_g,
    initial_rate,
    run_claim,
)
from bounds.papers.fedmoswa.words import sigma_g, sigma_g_2

__all__ = ["CLAIMS", "c_bar"]

K, T, m, s, n = local_steps, rounds, clients, participants, samples
entry = partial(run_claim, kind="table entry", number="Table 1", explicit=False)

# generalisation ------------------------------------------------------------------------------------------------------
c_bar = sp.Symbol("c_bar", positive=True)
prefactor = G_lip / (m * n * L) * nonconvex_growth

#: c is the least factor that the local steps of a constant schedule admit
SAM_FACTORS = (
    Condition(1 + L * eta, "<=", c), Condition(c_bar, "==", 1 + (1 + c) ** (K - 1) * L * K * eta),
)


def generalisation(name, algorithm, factor, heterogeneity, more=()):
    return entry(
        id=f"fedmoswa/table-1-gen-{name}", assumptions=A2_TO_5, procedure=algorithm["procedure"],
        variables=(*algorithm["variables"], hidden_C), conditions=(*algorithm["conditions"], *more),
        statement=Condition(
            generalisation_error, "<=", C * prefactor * (factor * G_lip + heterogeneity * sigma_g + factor * sigma)
        ),
        note="all clients take part; the step sizes of Theorem 5.1 and Appendix I",
    )


momentum = sp.Symbol("beta", positive=True)

#: the share of the new gradient in a local step is at most 1; no range is printed
MOMENTUM = Condition(momentum, "<=", 1)

MOFEDSAM = {
    "procedure": Procedure("mofedsam", **OVER_DATA),
    "variables": (*SAM["variables"], Variable("beta", "positive")), "conditions": (*SAM["conditions"], MOMENTUM),
}

generalisation_entries = (
    generalisation("fedsam", SAM, c_bar, c_bar, SAM_FACTORS),
    generalisation("mofedsam", MOFEDSAM, c_bar, c_bar, SAM_FACTORS),
    generalisation("fedswa", SWA, C_TILDE, C_TILDE),
    generalisation("fedmoswa", MOSWA_I, C_TILDE, 1),
)

# optimisation --------------------------------------------------------------------------------------------------------
PARTIAL = {"sampling": "without-replacement"} | OVER_DATA
THEOREM_STEP = Condition(eta_eff, "<=", (s / m) ** two_thirds / L)
noise, F = sp.sqrt(sigma_sq), F0_gap
drawn = sp.sqrt(T * K * s)


def optimisation(name, procedure, right, variables, conditions=(initial_rate,), **more):
    return entry(
        id=f"fedmoswa/{name}", procedure=procedure, assumptions=(G2, G3, G4), conditions=conditions,
        variables=(*variables, hidden_C), statement=Condition(mean_gradient, "<=", C * right), **more
    )


any_eta = (Variable("eta", "positive"),)


def fedsam_order(constant, heterogeneity):
    """The entry of FedSAM with these constants in the place of its L and sigma_g."""
    return (
        L * F / drawn + sp.sqrt(K) * heterogeneity**2 / sp.sqrt(T * s)
        + constant**2 * sigma_sq / (T**sp.Rational(3, 2) * K) + constant**2 / T**2
    )


def mofedsam_order(constant, heterogeneity):
    """The entry of MoFedSAM with these constants in the place of its L and sigma_g."""
    return (
        L * constant * F / drawn + L * sp.sqrt(K) * heterogeneity**2 / sp.sqrt(T * s)
        + constant**2 * sigma_sq / (T**sp.Rational(3, 2) * K)
        + sp.sqrt(K) * constant**2 / (T**sp.Rational(3, 2) * sp.sqrt(s))
    )


def lipschitz(order):
    """The entry in the letters of the caption, those of Assumptions 2-5."""
    def change(claim):
        return replace(with_right(C * order(G_lip, sigma_g))(claim), assumptions=A2_TO_5)

    return {"Lipschitz": ("L is the Lipschitz constant and sigma_g that of Assumption 5, as in the caption", change)}


SMOOTHNESS = "L is the smoothness and sigma_g the mean square, the letters' meaning in the FedSAM paper"
rest = L * F / T * (m / s) ** two_thirds

opt_fedsam = optimisation(
    "table-1-opt-fedsam", Procedure("fedsam", **PARTIAL), fedsam_order(L, sigma_g_2), SAM["variables"], reading=SMOOTHNESS,
    note="attributed in the caption to Patel et al. 2022",
)

opt_mofedsam = optimisation(
    "table-1-opt-mofedsam", Procedure("mofedsam", **PARTIAL), mofedsam_order(L, sigma_g_2), MOFEDSAM["variables"],
    reading=SMOOTHNESS,
    conditions=(initial_rate, MOMENTUM),
    note="attributed in the caption to Patel et al. 2022",
)

opt_fedswa = optimisation(
    "table-1-opt-fedswa", Procedure("fedswa", **PARTIAL),
    L * (noise + sp.sqrt(K) * sigma_g_2) * sp.sqrt(F) / drawn
    + F**two_thirds * (L * sigma_g_2**2) ** sp.Rational(1, 3) / T**two_thirds + L * F / T,
    (*SWA["variables"], Variable("eta_g", "positive")), conditions=SWA["conditions"][:2],
    note="no numbered theorem states it; no step size is printed for it",
)

opt_fedmoswa = optimisation(
    "table-1-opt-fedmoswa", MOSWA["procedure"], noise * sp.sqrt(F) / drawn * sp.sqrt(noise_factor) + rest,
    MOSWA["variables"], conditions=(*ANY_STEP, THEOREM_STEP), steps=("fedmoswa/theorem-5.2-nonconvex",),
    reading="the step sizes of Theorem 5.2, which the entry sums up",
)

#: the largest steps that a statement of this paper admits
largest_local, largest_both = 1 / (K * L), 1 / (K * L * eta_g)


def some(step, largest, words):
    return {"some-step": (f"{SOME_STEP}, of {words}", some_step(step, largest))}


any_step = {
    "any-step": ("every step size, since the table prints none", lambda claim: replace(
        claim, conditions=tuple(x for x in claim.conditions if x != THEOREM_STEP))),
}

small_steps = {
    name: some(eta, largest, f"those with {words} at most 1/beta") | {
        "small-steps": (f"step sizes with {words} at most 1/beta, as in Theorem 5.2 with all clients",
                        given(Condition(K * step, "<=", 1 / L)))}
    for name, words, step, largest in (
        ("local", "K eta_l", eta, largest_local), ("both", "K eta_l alpha", eta * eta_g, largest_both))
}

opt_scaffold = optimisation(
    "text-opt-scaffold", Procedure("scaffold", **PARTIAL), noise * sp.sqrt(F) / drawn * sp.sqrt(1 + m) + rest,
    (*any_eta, Variable("eta_g", "positive")),
)

# caption -------------------------------------------------------------------------------------------------------------
sizes = (Variable("L", "positive"), Variable("local_steps", "integer"), Variable("rounds", "integer"))

constants = algebra_claim(
    id="fedmoswa/table-1-constants", number="Table 1, caption", kind="table entry",
    reading="c_bar at the largest step size of Appendix I", variables=sizes,
    conditions=(Condition(eta, "==", 1 / (L * K * T)), *SAM_FACTORS), statement=Condition(c_bar, ">", C_TILDE),
)

at_least = constants.variant(
    "at-least", "c_bar may equal c_tilde, c_bar at the largest step size of Appendix I",
    statement=Condition(c_bar, ">=", C_TILDE), note="printed with a strict sign",
)

far_above_one = constants.variant(
    "far-above-one", "c_tilde is far above one, read as above ten", variables=sizes[1:], conditions=(),
    statement=Condition(C_TILDE, ">", 10),
)

orders = (
    *generalisation_entries, *varied(opt_fedsam, lipschitz(fedsam_order) | small_steps["local"]),
    *varied(opt_mofedsam, lipschitz(mofedsam_order) | small_steps["local"]), *varied(opt_fedswa, small_steps["both"]),
    
    *varied(opt_fedmoswa, any_step | some(eta_eff, (s / m) ** two_thirds / L, "those of Theorem 5.2")),
    *varied(opt_scaffold, small_steps["both"]),
)

CLAIMS = (*map(absolute_order, orders), constants, at_least, far_above_one)
