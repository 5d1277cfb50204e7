"""Lemma 4.1 and Theorems 5.1 and 5.2 of the main text, and Theorem 5.2 with its constants."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.samples import G_lip, samples, twin_x_round, worst_pair_gap, worst_sample_gap
from bounds.language.words import (
    E,
    F_star,
    L,
    Max,
    Min,
    Sum,
    clients,
    local_steps,
    mu,
    norm2,
    objective,
    participants,
    r,
    rounds,
    sigma_sq,
    x_round,
    x_star,
)
from bounds.papers.fedmoswa.assumptions import A1_TO_5, A2_TO_5, G1, G2, G3, G4, sigma
from bounds.papers.fedmoswa.quantities import (
    F_gap,
    generalisation_error,
    gradient_sq,
    start_distance_sq,
    twin_distance,
    variate_lag,
)
from bounds.papers.fedmoswa.readings import (
    LAG,
    REGION,
    TAKING_PART,
    UPDATE,
    as_proved,
    fixed_client,
    some_step,
    starts,
    varied,
    with_left,
    with_options,
    with_right,
)
from bounds.papers.fedmoswa.setting import (
    ANY_STEP,
    FRESH,
    MOSWA,
    MOSWA_FROM_GRADIENTS,
    MOSWA_I,
    OVER_DATA,
    SWA,
    absolute_order,
    eta_eff,
    eta_g,
    large_server_step,
    run_claim,
)
from bounds.papers.fedmoswa.words import sigma_g

__all__ = [
    "B_TILDE",
    "CLAIMS",
    "C_TILDE",
    "FIXED",
    "GIVEN",
    "MEASURES",
    "SOME_STEP",
    "START_GRADIENT",
    "START_ZERO",
    "C",
    "F0_gap",
    "convex_factor",
    "convex_growth",
    "hidden_C",
    "mean_gradient",
    "noise_factor",
    "nonconvex_growth",
    "scale",
    "two_thirds",
]

K, T, m, s, n = local_steps, rounds, clients, participants, samples
final_gap = worst_sample_gap(x_round[T], twin_x_round[T])

# Lemma 4.1 -----------------------------------------------------------------------------------------------------------
stability = sp.Symbol("stability", nonnegative=True)

lemma_4_1 = run_claim(
    id="fedmoswa/lemma-4.1-stability", number="Lemma 4.1, (9)", kind="lemma", procedure=Procedure(**OVER_DATA),
    conditions=(Condition(worst_pair_gap(x_round[T], twin_x_round[T]), "<=", stability),),
    statement=Condition(sp.Abs(generalisation_error), "<=", stability),
    note="stated for every randomised algorithm and all pairs of data sets that differ in one sample; FedAvg stands for it",
)

# Theorem 5.1 ---------------------------------------------------------------------------------------------------------
#: 2L/(mn beta)
scale = 2 * G_lip / (m * n * L)
convex_factor = mu / (L + mu)
convex_growth, nonconvex_growth = sp.exp(1 - convex_factor / T), sp.exp(1 + 1 / T)

#: the values of the main text
B_TILDE = 1 + (convex_factor / K) ** (K - 1) / T
C_TILDE = 1 + (2 + 1 / (K * T)) ** (K - 1) / T

#: ways to measure the generalisation error
MEASURES = {
    "stability": ("measured by the worst sample's expected difference between coupled runs", with_left(final_gap)),
    "parameters": (
        "measured by the Lipschitz constant times the distance of coupled runs", with_left(G_lip * E(twin_distance(T))),
    ),
}


def of_stability(claim: Claim) -> Claim:
    """The claim for the distance of coupled runs, any one client's sample replaced."""
    return fixed_client(MEASURES["parameters"][1](claim))


FIXED = {
    "fixed-client": (
        "any one client's sample replaced, its heterogeneity on the right; distance of coupled runs", of_stability),
}

ALPHA = {"any-server-step": ("any server step alpha", lambda c: replace(
    with_options(("eta_g", None))(c), variables=(*c.variables, Variable("eta_g", "positive"))))}


def theorem_5_1(name, algorithm, assumptions, growth, first, heterogeneity, **more):
    base = run_claim(
        id=f"fedmoswa/theorem-5.1-{name}", number="Theorem 5.1", kind="theorem", assumptions=assumptions, **algorithm,
        reading="alpha = 1; population risk minus empirical risk; constants on all of R^dim",
        statement=Condition(
            generalisation_error, "<=", scale * growth * (first * G_lip + heterogeneity * sigma_g + first * sigma)
        ),
        steps=(f"fedmoswa/theorem-{_FROM[name]}",),
    )
    return varied(base, MEASURES | FIXED | ALPHA | REGION | more)


_FROM = {
    "strongly-convex-fedswa": "e.3", "strongly-convex-fedmoswa": "f.3-gen", "nonconvex-fedswa": "e.6",
    "nonconvex-fedmoswa": "f.6",
}

FRESH_VARIANT = {
    "fresh": (
        "variates renewed before the local steps, as in Appendix F", lambda c: replace(c, procedure=FRESH["procedure"])),
}

theorems_5_1 = (
    *theorem_5_1("strongly-convex-fedswa", SWA, A1_TO_5, convex_growth, B_TILDE, B_TILDE),
    *theorem_5_1("strongly-convex-fedmoswa", MOSWA_I, A1_TO_5, convex_growth, B_TILDE, 1, **FRESH_VARIANT),
    *theorem_5_1("nonconvex-fedswa", SWA, A2_TO_5, nonconvex_growth, C_TILDE, C_TILDE),
    *theorem_5_1("nonconvex-fedmoswa", MOSWA_I, A2_TO_5, nonconvex_growth, C_TILDE, 1, **FRESH_VARIANT),
)

# Theorem 5.2 ---------------------------------------------------------------------------------------------------------
C = sp.Symbol("C", positive=True)
hidden_C = Variable("C", "hidden")
F0_gap = objective(x_round[0]) - F_star
noise_factor = 1 + s / eta_g**2
theorem_5_2 = partial(run_claim, kind="theorem", number="Theorem 5.2")
START_ZERO, GIVEN = "update (7); variates start from zero", "control lag with the variates given"
START_GRADIENT = "update (7); variates start as gradients at the start, the server's as their mean"
two_thirds = sp.Rational(2, 3)


def weighted_gap(weight):
    """Mean of the gaps before rounds 0, ..., T with weights in r."""
    return Sum(weight * F_gap(r), (r, 0, T)) / Sum(weight, (r, 0, T))


mean_gradient = Sum(gradient_sq(r), (r, 0, T)) / (T + 1)
geometric = (1 - mu * eta_eff / 2) ** (-r)

order_convex = theorem_5_2(
    id="fedmoswa/theorem-5.2-strongly-convex", assumptions=(G1, G2, G3, G4), explicit=False, reading=START_ZERO,
    procedure=MOSWA["procedure"], variables=(*MOSWA["variables"], hidden_C),
    conditions=(
        *ANY_STEP, Condition(eta_eff, "<=", Min(1 / L, s / (mu * m))), Condition(T, ">=", Max(L / mu, m / s)),
    ),
    statement=Condition(
        weighted_gap(geometric), "<=",
        C * (sigma_sq / (mu * T * K * s) * noise_factor
             + m * mu / s * start_distance_sq * sp.exp(-(s / m + mu / L) * T)),
    ),
    steps=("fedmoswa/lemma-g.13", "fedmoswa/lemma-g.5@proof-step"),
    note="the step size is printed for K eta_l alpha; the output is a weighted mean of gaps; any gamma",
)

order_nonconvex = theorem_5_2(
    id="fedmoswa/theorem-5.2-nonconvex", assumptions=(G2, G3, G4), explicit=False, reading=START_ZERO,
    procedure=MOSWA["procedure"], variables=(*MOSWA["variables"], hidden_C),
    conditions=(*ANY_STEP, Condition(eta_eff, "<=", (s / m) ** two_thirds / L)),
    statement=Condition(
        mean_gradient, "<=",
        C * (sp.sqrt(sigma_sq * F0_gap) / sp.sqrt(T * K * s) * sp.sqrt(1 + m / eta_g**2)
             + L * F0_gap / T * (m / s) ** two_thirds),
    ),
    steps=("fedmoswa/lemma-g.18", "fedmoswa/lemma-g.6@proof-step"),
    note="the output is uniform over the server's models before rounds 0, ..., T",
)

#: as Lemmas G.5 and G.6 choose it
SOME_STEP = "there is such a step size"

TUNED = {"some-step": (f"{START_ZERO}; {SOME_STEP}", some_step(eta_eff, Min(1 / L, s / (mu * m))))}
TABLE_1 = {
    "some-step": (f"{START_ZERO}; {SOME_STEP}", some_step(eta_eff, (s / m) ** two_thirds / L)),
    "table-1": (
        "s/alpha^2 in place of m/alpha^2, as in Table 1",
        with_right(C * (sp.sqrt(sigma_sq * F0_gap) / sp.sqrt(T * K * s) * sp.sqrt(noise_factor)
                        + L * F0_gap / T * (m / s) ** two_thirds)),
    )
}

explicit_convex = theorem_5_2(
    id="fedmoswa/explicit-5.2-strongly-convex", assumptions=(G1, G2, G3), **MOSWA, reading=f"{START_ZERO}; {GIVEN}",
    number="Theorem 5.2; Lemma G.13 with Lemma G.5",
    conditions=(
        *ANY_STEP, large_server_step, Condition(eta_eff, "<=", Min(1 / (81 * L), s / (15 * mu * m))),
        Condition(T, ">=", 1 / (mu * eta_eff)),
    ),
    statement=Condition(
        weighted_gap(geometric), "<=",
        3 * mu / 2 * (1 - mu * eta_eff / 2) ** T * (norm2(x_round[0] - x_star) + 9 * m * eta_eff**2 / s * variate_lag[0])
        + 12 * eta_eff * sigma_sq / (K * s) * noise_factor,
    ),
    note="Lemma G.13 unrolled by Lemma G.5 with mu/2 for mu, both taken as printed; R is the number of rounds",
    steps=("fedmoswa/lemma-g.13", "fedmoswa/lemma-g.5-explicit"),
)

explicit_nonconvex = theorem_5_2(
    id="fedmoswa/explicit-5.2-nonconvex", assumptions=(G2, G3), **MOSWA_FROM_GRADIENTS, reading=START_GRADIENT,
    number="Theorem 5.2; Lemma G.18 summed over rounds",
    conditions=(*ANY_STEP, large_server_step, Condition(eta_eff, "<=", (s / m) ** two_thirds / (24 * L))),
    statement=Condition(
        mean_gradient, "<=",
        14 * F0_gap / (eta_eff * (T + 1)) + 70 * L * eta_eff * sigma_sq / (K * s) * noise_factor,
    ),
    note="Lemma G.18, taken as printed, summed over rounds; its lag is zero at the start; R is the number of rounds",
    steps=("fedmoswa/lemma-g.18",),
)

#: the least of eta_max and sqrt(d_0/(c_1 (R + 1))), of which the second is infinite where c_1 is zero
tuned = Condition(
    eta_eff, "==",
    1 / Max(24 * L * (m / s) ** two_thirds, sp.sqrt(5 * L * sigma_sq * noise_factor * (T + 1) / (F0_gap * K * s))),
)

explicit_tuned = replace(
    explicit_nonconvex, id="fedmoswa/explicit-5.2-nonconvex-tuned", number="Theorem 5.2; Lemma G.18 with Lemma G.6",
    variables=tuple(v for v in explicit_nonconvex.variables if v.name != "eta_eff"),
    conditions=(*ANY_STEP, large_server_step, tuned),
    statement=Condition(
        mean_gradient, "<=",
        336 * L * F0_gap * (m / s) ** two_thirds / (T + 1)
        + 28 * sp.sqrt(5) * sp.sqrt(sigma_sq * L * F0_gap * noise_factor / (K * s * (T + 1))),
    ),
    note="Lemma G.18, taken as printed, with the step of Lemma G.6; R is the number of rounds",
    steps=("fedmoswa/lemma-g.18", "fedmoswa/lemma-g.6@proof-step"),
)


def in_proofs(claim: Claim, more=()) -> tuple[Claim, ...]:
    """The claim with other updates, starts and sampling, one change at a time, and under all that the proofs make."""
    return varied(claim, dict(more) | UPDATE | starts(claim) | TAKING_PART | as_proved(claim))


CLAIMS = (
    lemma_4_1, *theorems_5_1, 
    *map(absolute_order, (*in_proofs(order_convex, TUNED), *in_proofs(order_nonconvex, TABLE_1))),
    *in_proofs(explicit_convex, LAG), *in_proofs(explicit_nonconvex), *in_proofs(explicit_tuned),
)
