"""Lemmas of Appendices D, E and F: gradient maps, and the drift and gradients of local models."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.samples import G_lip
from bounds.language.words import E, L, clients, g, grad, iterations, j, k, local_steps, mu, norm, r, rounds, t, x_round
from bounds.papers.fedmoswa.assumptions import C1_TO_4, C1_TO_5, C2_TO_5, C5, f_convex, f_smooth, sigma
from bounds.papers.fedmoswa.main_text import B_TILDE, convex_factor
from bounds.papers.fedmoswa.quantities import after, gradient_norm, swa_length, swa_rate
from bounds.papers.fedmoswa.readings import Change, given, started, varied, with_options, with_region, with_right
from bounds.papers.fedmoswa.setting import (
    FRESH,
    MOSWA_I,
    SWA,
    b,
    c,
    constant_rates,
    each_client,
    each_round,
    eta,
    point_claim,
    rho_decay,
    run_claim,
    steps_after,
    steps_before,
)
from bounds.papers.fedmoswa.words import server_variate, sigma_g_client

__all__ = [
    "B_E1", "B_F1", "B_VALUES", "CLAIMS", "FACTOR", "FRESH_READINGS", "Phi", "b_readings", "bounded_start", "deviation",
    "gradient_map", "growth", "one_minus_b", "stochastic_norm", "with_b",
]

K, T, m = local_steps, rounds, clients
lemma = partial(run_claim, kind="lemma")

# Appendix D ----------------------------------------------------------------------------------------------------------
p1, p2 = sp.Symbol("p1", real=True), sp.Symbol("p2", real=True)  # any two points
POINTS = (Variable("p1", "vector"), Variable("p2", "vector"))


def gradient_map(point):
    """G(v) = v - eta grad f(v), f the loss of client k."""
    return point - eta * grad(k, point)


expansion = norm(gradient_map(p1) - gradient_map(p2))

d_1_smooth = point_claim(
    id="fedmoswa/lemma-d.1-smooth", number="Lemma D.1.1", kind="lemma", assumptions=(f_smooth,),
    variables=(*POINTS, Variable("eta", "nonnegative")),
    statement=Condition(expansion, "<=", (1 + eta * L) * norm(p1 - p2), (each_client,)), steps=(),
)

d_1_convex = point_claim(
    id="fedmoswa/lemma-d.1-strongly-convex", number="Lemma D.1.2", kind="lemma", assumptions=(f_smooth, f_convex),
    variables=(*POINTS, Variable("eta", "positive")), conditions=(Condition(eta, "<=", 2 / (L + mu)),),
    statement=Condition(expansion, "<=", (1 - eta * L * convex_factor) * norm(p1 - p2), (each_client,)),
    steps=("fedmoswa/eq-11", "fedmoswa/eq-12", "fedmoswa/eq-13"),
)

# the factors b and c -------------------------------------------------------------------------------------------------
one_minus_b = (1 - b) ** (K - 1)
growth = (1 + c) ** (K - 1)
B_E1 = Condition(b, "==", 1 - rho_decay * eta * L * convex_factor)
B_F1 = Condition(b, "==", eta * L * convex_factor)

#: c of E.4 and F.4: at least 1 + beta eta_k at every local step
FACTOR = Condition(1 + L * swa_rate[t], "<=", c, ((t, 0, iterations - 1),))


def with_b(value: Condition) -> Change:
    """A change to another b; that of Lemma F.1 belongs to constant rates."""

    def change(claim):
        claim = replace(claim, conditions=tuple(x for x in claim.conditions if x not in (B_E1, B_F1)))
        return given(value)(constant_rates(claim) if value is B_F1 else claim)

    return change


b_readings = {"b-F1": ("b of Lemma F.1, local rates that do not fall", with_b(B_F1))}
B_READING = "b of the proof of Lemma E.1, eta_K the rate to which local rates fall"


def Phi(round):
    """E |grad F(theta_t)| + sigma_{g,i} + sigma."""
    return gradient_norm(round) + sigma_g_client[k] + sigma


def deviation(step):
    """E |theta_{i,step} - theta_t| in round r."""
    return E(norm(after(step) - x_round[r]))


def stochastic_norm(step):
    """E |g_i(theta_{i,step})| in round r."""
    return E(norm(g[r * K + step, k]))


#: values of b_tilde at the largest constant step size, by name
B_VALUES = {
    "b-tilde-main": ("b_tilde at the value of the main text", B_TILDE),
    "b-tilde-E1": (
        "b_tilde at the largest constant step, b of Lemma E.1", 1 + (convex_factor / (K * T)) ** (K - 1) / T),
    "b-tilde-F1": (
        "b_tilde at the largest constant step, b of Lemma F.1", 1 + (1 - convex_factor / (K * T)) ** (K - 1) / T),
}

# Appendix E ----------------------------------------------------------------------------------------------------------
over_models, over_gradients = (each_round, steps_after, each_client), (each_round, steps_before, each_client)


def extended(setup, *conditions):
    return setup | {"conditions": (*setup["conditions"], *conditions)}


e_1 = lemma(
    id="fedmoswa/lemma-e.1", number="Lemma E.1", assumptions=C1_TO_5, **extended(SWA, B_E1), reading=B_READING,
    statement=Condition(deviation(j), "<=", one_minus_b * swa_length[r] * Phi(r), over_models),
    steps=("fedmoswa/eq-14", "fedmoswa/eq-15-unroll", "fedmoswa/eq-15-collect"),
)

e_2 = lemma(
    id="fedmoswa/lemma-e.2", number="Lemma E.2", assumptions=(*C1_TO_4, C5), **extended(SWA, B_E1), reading=B_READING,
    statement=Condition(stochastic_norm(j), "<=", (1 + one_minus_b * L * swa_length[r]) * Phi(r), over_gradients),
    note="Assumptions C.1-C.4 are printed; sigma_{g,i} is the constant of C.5",
    steps=("fedmoswa/eq-16", "fedmoswa/lemma-e.1"),
)

e_2_prefactors = {name: (words, with_right(value * Phi(r))) for name, (words, value) in B_VALUES.items()}

e_4 = lemma(
    id="fedmoswa/lemma-e.4", number="Lemma E.4", assumptions=C2_TO_5, **extended(SWA, FACTOR),
    statement=Condition(deviation(j), "<=", growth * swa_length[r] * Phi(r), over_models),
    note="the step size is printed as at most /(beta K T), read 1/(beta K T)", steps=("fedmoswa/eq-23", "fedmoswa/eq-24"),
)

e_5 = lemma(
    id="fedmoswa/lemma-e.5", number="Lemma E.5", assumptions=C2_TO_5, **extended(SWA, FACTOR),
    statement=Condition(stochastic_norm(j), "<=", (1 + growth * L * swa_length[r]) * Phi(r), over_gradients),
    note="the step size is printed as at most /(beta K T), read 1/(beta K T)",
    steps=("fedmoswa/eq-25", "fedmoswa/lemma-e.4"),
)

# Appendix F ----------------------------------------------------------------------------------------------------------
BOUNDED_START = Condition(norm(server_variate[0]), "<=", G_lip + sigma)


def bounded_start(claim):
    """The claim for a server's variate that starts anywhere with norm at most L + sigma."""
    return given(BOUNDED_START)(started("free")(claim))


FRESH_READINGS = {
    "independent-batch": ("variates on mini-batches of their own", with_options(("batch", "independent"))),
    "bounded-start": ("the server's variate starts anywhere with norm at most L + sigma", bounded_start),
}

#: the lemmas say FedMoSWA, which is the name of Algorithm 1; their proofs renew the variates before the local steps
ALGORITHM_1 = {
    "algorithm-1": (
        "Algorithm 1 with Option I, as Theorem 5.1 has it", lambda claim: replace(claim, procedure=MOSWA_I["procedure"])),
}

FRESH_WORDS = "variates on the mini-batches of the local steps; the server's starts from zero"
total = G_lip + sigma

FRESH_F1 = {
    "procedure": FRESH["procedure"], "variables": tuple(v for v in FRESH["variables"] if v.name != "rho_decay"),
    "conditions": (*(Condition(rho_decay, "==", 1) if x.left == rho_decay else x for x in FRESH["conditions"]), B_F1),
}

f_1 = lemma(
    id="fedmoswa/lemma-f.1", number="Lemma F.1", assumptions=C1_TO_5, **FRESH_F1, reading=FRESH_WORDS,
    statement=Condition(deviation(K), "<=", swa_length[r] * one_minus_b * total, (each_round, each_client)),
    note="b speaks of one rate eta^t, so that local rates do not fall",
    steps=("fedmoswa/eq-33", "fedmoswa/eq-34", "fedmoswa/eq-35"),
)

f_2 = lemma(
    id="fedmoswa/lemma-f.2", number="Lemma F.2", assumptions=C1_TO_5, **FRESH_F1, reading=FRESH_WORDS,
    statement=Condition(
        stochastic_norm(j), "<=", (1 + L * swa_length[r] * (1 + b) ** (K - 1)) * total + sigma_g_client[k], over_gradients
    ),
    note="b speaks of one rate eta^t, so that local rates do not fall", steps=("fedmoswa/eq-36", "fedmoswa/lemma-f.1"),
)

f_2_used = {
    "as-used": (
        "1 - b in place of 1 + b, as (40) uses it",
        with_right((1 + L * swa_length[r] * one_minus_b) * total + sigma_g_client[k]),
    )
}

f_4 = lemma(
    id="fedmoswa/lemma-f.4", number="Lemma F.4", assumptions=C1_TO_5, **extended(FRESH, FACTOR), reading=FRESH_WORDS,
    statement=Condition(deviation(j), "<=", swa_length[r] * (1 + c) ** (j - 1) * total, over_models),
    note="Assumptions C.1-C.5 are printed", steps=("fedmoswa/eq-45", "fedmoswa/eq-34"),
)

f_4_nonconvex = {
    "without-C1": (
        "Assumptions C.2-C.5, as the section's title says", lambda claim: replace(claim, assumptions=C2_TO_5),
    )
}

f_5 = lemma(
    id="fedmoswa/lemma-f.5", number="Lemma F.5", assumptions=C2_TO_5, **extended(FRESH, FACTOR), reading=FRESH_WORDS,
    statement=Condition(
        stochastic_norm(j), "<=", (1 + L * swa_length[r] * growth) * total + sigma_g_client[k], over_gradients
    ),
    steps=("fedmoswa/eq-36@48", "fedmoswa/lemma-f.4"),
)

CLAIMS = (
    d_1_smooth, d_1_convex, *with_region(*varied(e_1, b_readings)),
    *with_region(*varied(e_2, b_readings | e_2_prefactors)), *with_region(e_4), *with_region(e_5),
    *with_region(*varied(f_1, ALGORITHM_1 | FRESH_READINGS)),
    *with_region(*varied(f_2, f_2_used | ALGORITHM_1 | FRESH_READINGS)),
    *with_region(*varied(f_4, f_4_nonconvex | ALGORITHM_1 | FRESH_READINGS)),
    *with_region(*varied(f_5, ALGORITHM_1 | FRESH_READINGS)),
)
