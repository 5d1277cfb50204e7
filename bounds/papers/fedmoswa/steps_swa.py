"""Proof steps about runs of FedSWA and of FedSAM: Appendices E and I."""

from functools import partial

import sympy as sp

from bounds.language.claim import Condition
from bounds.language.samples import E_client, G_lip, samples
from bounds.language.words import E, L, Product, Sum, clients, grad, i, j, k, local_steps, norm, r, rounds, x_round
from bounds.papers.fedmoswa.assumptions import A1, A2, A3, A4, C1_TO_4, C1_TO_5, C2_TO_4, C2_TO_5, C5, sigma
from bounds.papers.fedmoswa.lemmas_generalisation import (
    B_E1,
    B_READING,
    FACTOR,
    Phi,
    b_readings,
    deviation,
    extended,
    growth,
    one_minus_b,
    stochastic_norm,
)
from bounds.papers.fedmoswa.main_text import convex_factor
from bounds.papers.fedmoswa.quantities import (
    generalisation_error,
    gradient_norm,
    mean_over_clients,
    model,
    swa_length,
    swa_rate,
    twin_distance,
    twin_model,
    twin_norm,
)
from bounds.papers.fedmoswa.readings import (
    REGION,
    combined,
    fixed_client,
    restated,
    rewritten,
    varied,
    with_region,
    with_right,
)
from bounds.papers.fedmoswa.setting import SAM, SWA, b, c, each_client, each_round, eta, run_claim, steps_before
from bounds.papers.fedmoswa.table_1 import SAM_FACTORS, c_bar
from bounds.papers.fedmoswa.theorems_generalisation import PLAIN_STEP
from bounds.papers.fedmoswa.words import sigma_g

__all__ = [
    "CLAIMS", "IN_THE_MEAN", "ONE_CLIENT", "P", "Q", "coupled_models", "deviation_before", "growing", "local_gap",
    "local_gap_after", "over_rounds", "over_steps", "products", "rate", "server_gap", "shrinking", "start_gap",
    "sum_over_rounds", "unrolled_models",
]

K, T, m, n = local_steps, rounds, clients, samples
step = partial(run_claim, kind="proof step", note="the paper's t is r")
over_steps, over_rounds = (each_round, steps_before, each_client), (each_round, each_client)
over_models = (each_round, (j, 1, K), each_client)


def rate(index):
    """Local rate at step ``index`` of round r."""
    return swa_rate[r * K + index]


def shrinking(index):
    """q_k at this step."""
    return 1 - rate(index) * L * convex_factor


def growing(index):
    """p_k at this step."""
    return 1 + L * rate(index)


Q, P = sp.exp(-swa_length[r] * L * convex_factor), sp.exp(L * swa_length[r])
own_gradient = E(norm(grad(k, x_round[r]))) + sigma


# how far local models move -------------------------------------------------------------------------------------------
def deviation_before(index):
    """E |theta_{i,index} - theta_t| in round r, index < K."""
    return E(norm(model(index) - x_round[r]))


def moves(name, number, factor, rate, assumptions, setup, **more):
    return step(
        id=f"fedmoswa/{name}", number=number, assumptions=assumptions, **setup,
        statement=Condition(deviation(j + 1), "<=", factor * deviation_before(j) + rate * own_gradient, over_steps), **more,
    )


def unrolled(name, number, ratio, rate, assumptions, setup, **more):
    """Deviation after j steps, as a sum over the earlier steps."""
    return step(
        id=f"fedmoswa/{name}", number=number, assumptions=assumptions, **setup,
        statement=Condition(
            deviation(j), "<=", Sum(rate(i) * own_gradient * ratio ** (j - 1 - i), (i, 0, j - 1)), over_models
        ),
        **more,
    )


def gradient_step(name, number, assumptions, setup, **more):
    return step(
        id=f"fedmoswa/{name}", number=number, assumptions=assumptions, **setup,
        statement=Condition(stochastic_norm(j), "<=", Phi(r) + L * deviation_before(j), over_steps), **more,
    )


eq_14 = moves("eq-14", "(14)", shrinking(j), rate(j), C1_TO_4, SWA, steps=("fedmoswa/lemma-d.1-strongly-convex",))
eq_15 = unrolled(
    "eq-15-unroll", "(15)", 1 - b, rate, C1_TO_5, extended(SWA, B_E1), reading=B_READING, steps=("fedmoswa/eq-14",)
)
eq_16 = gradient_step("eq-16", "(16)", (A3, A4, C5), SWA)
eq_23 = moves("eq-23", "(23)", growing(j), rate(j), C2_TO_4, SWA, steps=("fedmoswa/lemma-d.1-smooth",))

eq_24 = unrolled(
    "eq-24@unrolled", "(24)", 1 + c, rate, C2_TO_5, extended(SWA, FACTOR), reading="first inequality",
    steps=("fedmoswa/eq-23",),
)

eq_25 = gradient_step("eq-25", "(25)", (A3, A4, C5), SWA)
SAM_READING = {"reading": "FedSAM, as named"}
eq_103 = moves("eq-103", "(103)", 1 + L * eta, eta, (A2, A3, A4, C5), SAM, **SAM_READING)

eq_104 = unrolled(
    "eq-104@unrolled", "(104)", 1 + c, lambda index: eta, (A2, A3, A4, C5), extended(SAM, SAM_FACTORS[0]),
    reading="first inequality; FedSAM, as named", steps=("fedmoswa/eq-103",),
)

eq_105 = gradient_step("eq-105", "(105)", (A3, A4, C5), SAM, **SAM_READING)

# coupled runs: local steps -------------------------------------------------------------------------------------------
COUPLED = "the replaced sample is client k's; the paper's t is r"


def local_gap(index):
    """delta_k: E |theta_{i,index} - theta'_{i,index}|, the replaced sample being client i's; index < K."""
    return E_client(k, norm(model(index) - twin_model(index)))


def local_gap_after(index):
    """The same after ``index`` > 0 steps."""
    return E_client(k, twin_norm(index))


def coupled_models(name, number, factor, last_term, assumptions, setup, **more):
    """One local step of the coupled runs."""
    base = {"note": COUPLED} | more
    return run_claim(
        id=f"fedmoswa/{name}", number=number, kind="proof step", assumptions=assumptions, **setup,
        statement=Condition(local_gap_after(j + 1), "<=", factor * local_gap(j) + last_term, over_steps), **base,
    )


b_tilde, c_tilde = 1 + one_minus_b * L * swa_length[r], 1 + growth * L * swa_length[r]

eq_19 = coupled_models(
    "eq-19", "(19)", shrinking(j), 2 * rate(j) / n * stochastic_norm(j), (A1, A4), SWA,
    steps=("fedmoswa/eq-17", "fedmoswa/eq-18"),
)

eq_28 = coupled_models(
    "eq-28", "(28)", growing(j), 2 * rate(j) / n * stochastic_norm(j), (A4,), SWA, reading="2 eta_k/n, as its third line",
    steps=("fedmoswa/eq-26", "fedmoswa/eq-27"),
)


def one_sample(claim_rate, factor):
    """The second line of (28) and (108): the rate over n, without a 2."""
    return {
        "second-line": (
            "eta_k/n, as its second line", with_right(factor * local_gap(j) + claim_rate / n * stochastic_norm(j))
        )
    }


eq_28_last = coupled_models(
    "eq-28@last-line", "(28)", growing(j), 2 * rate(j) * c_tilde / n * Phi(r), C2_TO_5, extended(SWA, FACTOR),
    reading="last line, c_tilde equal to its bound", steps=("fedmoswa/eq-28", "fedmoswa/lemma-e.5"),
)

start_gap = E_client(k, twin_distance(r))


def products(factor, other=None):
    """Product of the factors of round r, and the sum of the rates times the factors of later steps."""
    later = Product(factor(j) if other is None else other, (j, i + 1, K - 1))
    return Product(factor(j), (j, 0, K - 1)), Sum(rate(i) * later, (i, 0, K - 1))


def unrolled_models(name, number, right, assumptions, setup, **more):
    """Distance of the local models of the coupled runs after a round."""
    return run_claim(
        id=f"fedmoswa/{name}", number=number, kind="proof step", assumptions=assumptions, **setup,
        statement=Condition(local_gap_after(K), "<=", right, over_rounds), note=COUPLED, **more,
    )


whole, summed = products(shrinking)

eq_20 = unrolled_models(
    "eq-20-unroll", "(20)", whole * start_gap + 2 * b_tilde / n * Phi(r) * summed, C1_TO_5, extended(SWA, B_E1),
    reading=f"{B_READING}; b_tilde equal to its bound", steps=("fedmoswa/eq-19", "fedmoswa/lemma-e.2"),
)

printed_sum = products(shrinking, shrinking(i))[1]

eq_20_readings = b_readings | {
    "printed-index": (
        "the outer index k inside the second product, as printed",
        with_right(whole * start_gap + 2 * b_tilde / n * Phi(r) * printed_sum),
    )
}

eq_29 = unrolled_models(
    "eq-29@gap", "(29)", P * start_gap + 2 * c_tilde / n * swa_length[r] * P * Phi(r), C2_TO_5, extended(SWA, FACTOR),
    reading="the distance after a round, c_tilde equal to its bound", steps=("fedmoswa/eq-28", "fedmoswa/lemma-e.5"),
)

# coupled runs: rounds ------------------------------------------------------------------------------------------------
ONE_CLIENT = {"fixed-client": ("any one client's sample replaced, its heterogeneity on the right", fixed_client)}
heterogeneous = gradient_norm(r) + sigma_g + sigma


def server_gap(name, number, factor, right, assumptions, setup, **more):
    """One round of the coupled runs' server models: ``factor * (Delta_t + right)``."""
    return step(
        id=f"fedmoswa/{name}", number=number, assumptions=assumptions, **setup,
        statement=Condition(E(twin_distance(r + 1)), "<=", factor * E(twin_distance(r)) + right, (each_round,)), **more,
    )


def sum_over_rounds(exponent, inside):
    """Sum over rounds of exp(exponent * lengths of later rounds) times a function of the round."""
    later = Sum(swa_length[j], (j, i + 1, T - 1))
    return Sum(sp.exp(exponent * later) * inside(i), (i, 0, T - 1))


eq_21 = server_gap(
    "eq-21", "(21)", Q, 2 * b_tilde / (m * n) * swa_length[r] * Q * heterogeneous, C1_TO_5, extended(SWA, B_E1),
    reading=f"any client's sample replaced; {B_READING}; b_tilde equal to its bound",
    steps=("fedmoswa/eq-20-unroll", "fedmoswa/eq-20-exp"),
)


def of_round(factor):
    """Length times factor times Phi_t of a round."""
    def inside(index):
        return swa_length[index] * factor(index) * (gradient_norm(index) + sigma_g + sigma)
    return inside


damping = -L * convex_factor
final = E(twin_distance(T))


def damped(index):
    return sp.exp(damping * swa_length[index])


def grown(index):
    return sp.exp(L * swa_length[index])


b_first, c_first = 1 + one_minus_b * L * swa_length[0], 1 + growth * L * swa_length[0]

eq_22 = step(
    id="fedmoswa/eq-22-unroll", number="(22)", assumptions=C1_TO_5, **extended(SWA, B_E1),
    reading=f"growth with beta, as (22) prints; {B_READING}; b_tilde equal to its bound",
    statement=Condition(final, "<=", 2 * b_first / (m * n) * sum_over_rounds(L, of_round(damped))),
    steps=("fedmoswa/eq-21",),
)

eq_22_readings = b_readings | ONE_CLIENT | {
    "as-43": (
        "contraction in place of growth, as in (43)",
        with_right(2 * b_first / (m * n) * sum_over_rounds(damping, of_round(damped))),
    )
}

eq_30 = server_gap(
    "eq-30", "(30)", P, 2 * c_tilde / (m * n) * swa_length[r] * P * heterogeneous, C2_TO_5, extended(SWA, FACTOR),
    reading="any client's sample replaced; sigma_g on the right; c_tilde equal to its bound", steps=("fedmoswa/eq-29",),
)

eq_30_printed = {
    "printed": (
        "sigma_{g,i} on the right, as printed, for every client",
        restated(
            right=P * E(twin_distance(r)) + 2 * c_tilde / (m * n) * swa_length[r] * P * Phi(r), over=over_rounds
        ),
    )
}

eq_31 = step(
    id="fedmoswa/eq-31", number="(31)", assumptions=C2_TO_5, **extended(SWA, FACTOR),
    reading="c_tilde equal to its bound",
    statement=Condition(final, "<=", 2 * c_first / (m * n) * sum_over_rounds(L, of_round(grown))), steps=("fedmoswa/eq-30",),
)

to_generalisation = step(
    id="fedmoswa/stability-to-gen", number="end of the proofs of Theorems E.3, E.6, F.3, F.6, I.3", assumptions=(A2,),
    statement=Condition(generalisation_error, "<=", G_lip * final), procedure=SWA["procedure"],
    variables=SWA["variables"], conditions=SWA["conditions"][:2], note="FedSWA stands for any algorithm",
    steps=("fedmoswa/lemma-4.1-stability",),
)

# FedSAM: (28) to (32) under their assumptions, with one constant rate ------------------------------------------------
SAM_C = extended(SAM, *SAM_FACTORS)
grows, length = 1 + L * eta, K * eta

eq_108 = coupled_models(
    "eq-108", "(108)", grows, 2 * eta / n * stochastic_norm(j), (A4,), SAM, reading="2 eta/n, as its third line",
    steps=("fedmoswa/eq-106", "fedmoswa/eq-107"),
)

eq_108_last = coupled_models(
    "eq-108@last-line", "(108)", grows, 2 * eta * c / n * Phi(r), C2_TO_5, SAM_C,
    reading="last line, with c as printed; FedSAM, as named", steps=("fedmoswa/eq-108", "fedmoswa/lemma-i.2"),
)

#: the sentence after (108) lets c_bar be an upper bound of 1 + (1 + c)^(K - 1) beta eta, which is what (108) bounds by c
UPPER_BOUND = {
    "c-bar": ("with the upper bound of 1 + (1 + c)^(K - 1) beta eta for c, as the sentence after (108) has it",
              lambda claim: rewritten(claim, lambda e: e.xreplace({c: c_bar}))),
}
P_sam = sp.exp(L * length)

eq_109 = unrolled_models(
    "eq-109", "(109)", P_sam * start_gap + 2 * c / n * length * P_sam * Phi(r), C2_TO_5, SAM_C,
    reading="with c as printed; FedSAM, as named", steps=("fedmoswa/eq-108", "fedmoswa/lemma-i.2"),
)

eq_109_product = {
    "products": (
        "first inequality, with products over the steps",
        with_right((1 + L * eta) ** K * start_gap + 2 * c / n * Phi(r) * Sum(
            eta * Product(grows, (j, i + 1, K - 1)), (i, 0, K - 1)))),
}
#: the server's model is the mean of the local ones
IN_THE_MEAN = {
    "first": ("first inequality, the mean over the clients", with_right(mean_over_clients(E(twin_norm(K))))),
}

eq_110 = server_gap(
    "eq-110", "(110)", P_sam, 2 * c / (m * n) * length * P_sam * heterogeneous, C2_TO_5, SAM_C,
    reading="with c as printed; FedSAM, as named", steps=("fedmoswa/eq-109",),
)

still_growing = Sum(
    sp.exp(L * length * (T - 1 - i)) * length * P_sam * (gradient_norm(i) + sigma_g + sigma), (i, 0, T - 1)
)

eq_111 = step(
    id="fedmoswa/eq-111", number="(111)", assumptions=C2_TO_5, **SAM_C,
    reading="c_tilde, as printed, equal to its bound; FedSAM, as named",
    statement=Condition(final, "<=", 2 * c_bar / (m * n) * still_growing),
    note="at a constant step c_tilde and c_bar have one bound; the exponent is a sum of equal lengths; the paper's t is r",
    steps=("fedmoswa/eq-110",),
)

CLAIMS = (
    *with_region(eq_14), *with_region(*varied(eq_15, b_readings)), *with_region(eq_16), eq_19,
    *varied(eq_20, eq_20_readings | REGION), *varied(eq_21, b_readings | ONE_CLIENT | REGION),
    *varied(eq_22, eq_22_readings | REGION),
    *with_region(eq_23), *with_region(eq_24), *with_region(eq_25),
    *varied(eq_28, one_sample(rate(j), growing(j))), eq_28_last, eq_29, *varied(eq_30, eq_30_printed | ONE_CLIENT),
    *varied(eq_31, ONE_CLIENT), to_generalisation, *with_region(*varied(eq_103, PLAIN_STEP)),
    *with_region(*varied(eq_104, PLAIN_STEP)), *with_region(*varied(eq_105, PLAIN_STEP)),
    *varied(eq_108, PLAIN_STEP | one_sample(eta, grows)), *combined(varied(eq_108_last, UPPER_BOUND), PLAIN_STEP),
    *combined(varied(eq_109, eq_109_product | UPPER_BOUND), PLAIN_STEP),
    *varied(eq_110, IN_THE_MEAN | UPPER_BOUND | PLAIN_STEP | ONE_CLIENT),
    *varied(eq_111, PLAIN_STEP | ONE_CLIENT),
)
