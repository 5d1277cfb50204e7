"""Lemmas G.9-G.18 and Theorem H.1: one round of FedMoSWA with constant local rates."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.words import (
    E,
    E_round,
    L,
    Min,
    clients,
    eta_l,
    iterations,
    local_steps,
    mu,
    norm2,
    objective,
    participants,
    r,
    rounds,
    sigma_sq,
    t,
    x_round,
)
from bounds.papers.fedmoswa.assumptions import G1, G2, G3
from bounds.papers.fedmoswa.main_text import GIVEN, START_GRADIENT, START_ZERO, noise_factor, two_thirds
from bounds.papers.fedmoswa.quantities import (
    F_gap,
    distance_sq,
    drift_E1,
    gradient_sq,
    move,
    move_sq,
    moving_lag,
    point_lag,
    server_lag,
    variate_lag,
    variate_lag_total,
)
from bounds.papers.fedmoswa.readings import CONVEX, DRIFT, LAG, as_proved, given, one_round, varied, with_options
from bounds.papers.fedmoswa.setting import (
    ANY_STEP,
    MOSWA,
    MOSWA_FROM_GRADIENTS,
    each_round,
    eta_eff,
    eta_g,
    gamma,
    large_server_step,
    run_claim,
    two_steps,
)

__all__ = [
    "CLAIMS", "CONVEX_STEP", "DRIFT_STEP", "FROM_ONE", "GIVEN_WORDS", "NONCONVEX_STEP", "POINTS_WORDS", "ROUND",
    "TOTAL_WORDS", "any_power", "chosen", "noise", "power", "with_power",
]

K, T, m, s = local_steps, rounds, clients, participants
drift, f = drift_E1[r], F_gap(r)
C, D, D_after = variate_lag[r], server_lag[r], server_lag[r + 1]
C_before, C_after = variate_lag_total[r], variate_lag_total[r + 1]
chosen, noise = s / m, sigma_sq / (K * s)
N = gradient_sq(r)
Xi, G = point_lag[r], moving_lag[r]
ROUND = "the paper's t is r + 1"
FROM_ONE = "drift after 1 to K local steps"
GIVEN_WORDS = f"{START_ZERO}; {GIVEN}; {FROM_ONE}"
#: (66) takes the inner expectation over the sampling too; C_t and C_{t-1} are one quantity at two times
TOTAL_WORDS = f"{START_ZERO}; control lag of the variates' expectations over all chance, before and after the round"
convex_lemma = partial(run_claim, kind="lemma", **MOSWA, reading=GIVEN_WORDS, note=ROUND)
POINTS_WORDS = f"{START_GRADIENT}; {FROM_ONE}"
nonconvex_lemma = partial(run_claim, kind="lemma", **MOSWA_FROM_GRADIENTS, reading=POINTS_WORDS, note=ROUND)
CONVEX_STEP = Condition(eta_eff, "<=", 1 / L)
DRIFT_STEP = Condition(eta_eff, "<=", 1 / (81 * L))


def each(left, right):
    return Condition(left, "<=", right, (each_round,))


# convex --------------------------------------------------------------------------------------------------------------
g_9 = convex_lemma(
    id="fedmoswa/lemma-g.9", number="Lemma G.9", assumptions=(G1, G2, G3), conditions=ANY_STEP,
    statement=each(
        move_sq,
        8 * L * eta_eff**2 * f + 4 * eta_eff**2 * C + 4 * eta_eff**2 * D + 4 * eta_eff**2 * L**2 * drift
        + 12 * eta_eff**2 * noise,
    ),
    note=f"no assumption is printed with it; those of its section; {ROUND}",
    steps=("fedmoswa/g9-variances", "fedmoswa/eq-65", "fedmoswa/smooth-gap"),
)

g_10 = convex_lemma(
    id="fedmoswa/lemma-g.10", number="Lemma G.10", assumptions=(G1, G2), conditions=(*ANY_STEP, CONVEX_STEP),
    statement=each(C_after, (1 - chosen) * C_before + chosen * (4 * L * f + 2 * L**2 * drift)),
    reading=f"{TOTAL_WORDS}; {FROM_ONE}",
    note=f"the last line of its proof prints beta^2 for 2 beta^2; {ROUND}", steps=("fedmoswa/eq-66", "fedmoswa/smooth-gap"),
)

g_11 = convex_lemma(
    id="fedmoswa/lemma-g.11", number="Lemma G.11", assumptions=(G1, G2), conditions=(*ANY_STEP, CONVEX_STEP),
    statement=each(D_after, (1 - gamma) * D + gamma * (4 * L * f + 2 * L**2 * drift)),
    note=f"the last line of its proof prints beta^2 for 2 beta^2; {ROUND}",
    steps=("fedmoswa/eq-68", "fedmoswa/eq-69", "fedmoswa/smooth-gap"),
)

drift_bound = (
    eta_eff**2 / 3 * C + eta_eff**2 / 3 * D + eta_eff / (25 * eta_g**2) * f + eta_eff**2 / (K * eta_g**2) * sigma_sq
)

g_12 = convex_lemma(
    id="fedmoswa/lemma-g.12", number="Lemma G.12", assumptions=(G1, G2, G3),
    conditions=(*ANY_STEP, large_server_step, DRIFT_STEP), statement=each(3 * L * eta_eff * drift, drift_bound),
    note=f"the step size is printed for eta_l; sigma is the constant of G.3, which is not printed with it; {ROUND}",
    steps=(
        "fedmoswa/g12-k1", "fedmoswa/eq-71", "fedmoswa/eq-72", "fedmoswa/eq-73", "fedmoswa/eq-74", "fedmoswa/eq-75",
        "fedmoswa/eq-76", "fedmoswa/eq-77",
    ),
)

scaled = 9 * m * eta_eff**2 / s

g_13 = convex_lemma(
    id="fedmoswa/lemma-g.13", number="Lemma G.13", assumptions=(G1, G2, G3),
    conditions=(*ANY_STEP, large_server_step, Condition(eta_eff, "<=", Min(1 / (81 * L), s / (15 * mu * m)))),
    statement=each(
        distance_sq(r + 1) + scaled * C_after,
        (1 - mu * eta_eff / 2) * (distance_sq(r) + scaled * C_before) - eta_eff * f
        + 12 * eta_eff**2 * noise * noise_factor,
    ),
    reading=TOTAL_WORDS,
    note=f"the step size is printed for eta_l; sigma is the constant of G.3, which is not printed with it; {ROUND}",
    steps=(
        "fedmoswa/lemma-g.9", "fedmoswa/lemma-g.10", "fedmoswa/lemma-g.11", "fedmoswa/lemma-g.12", "fedmoswa/mean-update",
        "fedmoswa/perturbed-strong-convexity", "fedmoswa/eq-80", "fedmoswa/eq-81", "fedmoswa/eq-82", "fedmoswa/eq-83",
        "fedmoswa/eq-85", "fedmoswa/g13-step-size",
    ),
)

# non-convex ----------------------------------------------------------------------------------------------------------
conditional_move = norm2(E_round(move, r))

g_14_mean = nonconvex_lemma(
    id="fedmoswa/lemma-g.14-mean", number="Lemma G.14, first display", assumptions=(G2, G3),
    conditions=(*ANY_STEP, CONVEX_STEP),
    statement=each(E(conditional_move), 2 * eta_eff**2 * L**2 * drift + 2 * eta_eff**2 * N),
    steps=("fedmoswa/mean-update",),
)

g_14_second = nonconvex_lemma(
    id="fedmoswa/lemma-g.14-second", number="Lemma G.14, second display", assumptions=(G2, G3),
    conditions=(*ANY_STEP, CONVEX_STEP),
    statement=each(
        move_sq, 4 * eta_eff**2 * L**2 * (drift + Xi + G) + 4 * eta_eff**2 * N + 9 * eta_eff**2 * noise
    ),
    steps=("fedmoswa/g14-variances", "fedmoswa/mean-of-m", "fedmoswa/eq-86"),
)

power = sp.Symbol("power", real=True)
any_power = (Condition(power, ">=", sp.Rational(1, 2)), Condition(power, "<=", 1))
with_power = {"variables": (*MOSWA["variables"], Variable("power", "positive"))}


def lag_lemma(share, lag, lag_after):
    """G.15 and G.16: how a lag whose points are renewed with this probability grows in a round."""
    return {
        "assumptions": (G2, G3),
        "conditions": (*ANY_STEP, *any_power, Condition(eta_eff, "<=", share**power / (24 * L))),
        "statement": each(
            lag_after,
            (1 - sp.Rational(17, 36) * share) * lag + share ** (2 * power - 1) / (48 * L**2) * N
            + sp.Rational(97, 48) * share ** (2 * power - 1) * drift + share / L**2 * sigma_sq / (32 * K * s),
        ),
    }


LAG_NOTE = f"power is the paper's a; the gradient is printed without an expectation; {ROUND}"

g_15 = partial(nonconvex_lemma, **with_power)(
    id="fedmoswa/lemma-g.15", number="Lemma G.15", **lag_lemma(gamma, G, moving_lag[r + 1]), note=LAG_NOTE,
    steps=("fedmoswa/lemma-g.14-second", "fedmoswa/eq-88", "fedmoswa/eq-91", "fedmoswa/eq-89", "fedmoswa/eq-89-b"),
)

g_16 = partial(nonconvex_lemma, **with_power)(
    id="fedmoswa/lemma-g.16", number="Lemma G.16", **lag_lemma(chosen, Xi, point_lag[r + 1]), note=LAG_NOTE,
    steps=("fedmoswa/lemma-g.14-second", "fedmoswa/eq-88", "fedmoswa/eq-91", "fedmoswa/eq-93", "fedmoswa/eq-93-b"),
)

g_17 = nonconvex_lemma(
    id="fedmoswa/lemma-g.17", number="Lemma G.17", assumptions=(G2, G3),
    conditions=(*ANY_STEP, large_server_step, Condition(eta_eff, "<=", 1 / (24 * L))),
    statement=each(
        sp.Rational(5, 3) * L**2 * eta_eff * drift,
        sp.Rational(5, 6) * L**3 * eta_eff**2 * (Xi + G) + eta_eff / (24 * eta_g**2) * N
        + eta_eff**2 * L / (4 * K * eta_g**2) * sigma_sq,
    ),
    note=f"the step size is printed for eta_l; {ROUND}",
    steps=("fedmoswa/eq-94", "fedmoswa/eq-95", "fedmoswa/eq-95-geometric"),
)

NONCONVEX_STEP = Condition(eta_eff, "<=", chosen**two_thirds / (24 * L))
weight = 12 * L**3 * eta_eff**2 * m / s


def loss(round):
    return E(objective(x_round[round]))


g_18 = nonconvex_lemma(
    id="fedmoswa/lemma-g.18", number="Lemma G.18", assumptions=(G2, G3), conditions=(*ANY_STEP, NONCONVEX_STEP),
    reading=START_GRADIENT,
    statement=each(
        loss(r + 1) + weight * point_lag[r + 1],
        loss(r) + weight * Xi + 5 * L * eta_eff**2 * noise * noise_factor - eta_eff / 14 * N,
    ),
    steps=("fedmoswa/eq-96", "fedmoswa/eq-98", "fedmoswa/eq-99", "fedmoswa/eq-100", "fedmoswa/eq-101", "fedmoswa/eq-102"),
)

with_large_server_step = given(large_server_step)
proved_words, proved = as_proved(g_18)["as-proved"]

alpha_above_one = {
    "large-server-step": ("alpha is at least 1, as in Lemma G.17", with_large_server_step),
    "as-proved+large-server-step": (
        f"{proved_words}; alpha is at least 1, as in Lemma G.17", lambda c: with_large_server_step(proved(c))),
}

# Appendix H ----------------------------------------------------------------------------------------------------------
H_NOTE = f"v_i,k are read as local iterates, averages as the drift; no conditions are printed, those of Lemma G.12; {ROUND}"
drift_limit = (
    eta_eff / (9 * L) * C + eta_eff / (9 * L) * D + f / (75 * eta_g**2 * L) + eta_eff / (3 * K * eta_g**2 * L) * sigma_sq
)

h_1_constant = convex_lemma(
    id="fedmoswa/theorem-h.1-constant", number="Theorem H.1, first display", kind="theorem", assumptions=(G1, G2, G3),
    conditions=(*ANY_STEP, large_server_step, DRIFT_STEP), statement=each(drift, drift_limit), note=H_NOTE,
    steps=("fedmoswa/lemma-g.12",),
)

h_1_decay = replace(
    with_options(("rho_decay", None), ("schedule", "geometric-h1"))(h_1_constant), id="fedmoswa/theorem-h.1-decay",
    number="Theorem H.1, second display", reading=f"{h_1_constant.reading}; local rates times eta_l; measured drift",
    variables=(*h_1_constant.variables, Variable("local_steps", "integer", low=2)),
    conditions=(*h_1_constant.conditions, two_steps), statement=each(drift, drift_limit / 3),
)

one_rate = tuple(x for x in h_1_decay.conditions if x not in ANY_STEP[:1])

h_1_printed = {
    "printed-rates": (
        "local rates as printed, without eta_l: the first is 1",
        lambda c: replace(
            c, variables=tuple(v for v in c.variables if v.name != "eta_eff"),
            conditions=(Condition(eta_l[t], "==", 1, ((t, 0, iterations - 1),)), Condition(eta_eff, "==", K * eta_g),
                        *one_rate),
        ),
    )
}

CLAIMS = (
    *one_round(g_9), *one_round(g_10), *one_round(g_11), *one_round(g_12), *one_round(g_13), *one_round(g_14_mean),
    *one_round(g_14_second), *one_round(g_15), *one_round(g_16), *one_round(g_17), *one_round(g_18, **alpha_above_one),
    *varied(h_1_constant, DRIFT | LAG | CONVEX), *varied(h_1_decay, h_1_printed | DRIFT | LAG | CONVEX),
)
