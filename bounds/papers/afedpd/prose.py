"""Statements in the text, equations and remarks of A-FedPD."""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.samples import E_data, F_pop, samples
from bounds.language.words import (
    E,
    E_round,
    L,
    Sum,
    clients,
    eta_l,
    g,
    grad,
    iterations,
    j,
    k,
    local_steps,
    norm,
    norm2,
    objective,
    participants,
    r,
    rounds,
    sampled,
    t,
    x_before,
    x_local,
    x_round,
)
from bounds.papers.afedpd.assumptions import A2, OPTIMISATION, A1_sample, A_bounded, A_neighbours, A_sampling, A_uniform_step
from bounds.papers.afedpd.generalisation import RATES, appendix_bound, multiplier, share, stability_gap
from bounds.papers.afedpd.optimisation import C, gradients, hidden
from bounds.papers.afedpd.quantities import (
    generalisation_gap,
    local_error,
    mean_dual,
    mean_over_sampled,
    trained,
    twin_trained,
    update_of,
)
from bounds.papers.afedpd.setting import (
    EXACT,
    K1,
    all_rounds,
    any_rho,
    each_client,
    each_step,
    eta,
    eta_0,
    mu_lr,
    numbers,
    prose,
    rho_prox,
    step,
    varied,
)
from bounds.papers.afedpd.words import client_dual, server_duals, server_x_bar

__all__ = ["CLAIMS"]

# FedADMM without a regulariser ---------------------------------------------------------------------------------------
at, tbar = sp.Symbol("at_point"), sp.Symbol("sent_mean")

partial_fedpd = (
    step(
        id="afedpd/text-partial-fedpd", number="Section 3.2, after (6)",
        reading="with g = 0 no point has a smaller value of (6)'s server objective than the mean",
        variables=(*(Variable(n, "vector") for n in ("at_point", "sent_mean")), any_rho),
        statement=Condition(0, "<=", norm2(at - tbar) / (2 * rho_prox)), note="the value at the mean itself is 0",
    ),
    prose(
        id="afedpd/text-partial-fedpd@run", number="Section 3.2, after (6)",
        reading="the model of FedADMM, implemented with g = 0, is the mean of what is sent",
        procedure=Procedure("fedadmm", sampling="without-replacement", equal_weights=True), variables=(any_rho,),
        assumptions=(A_sampling,),
        statement=Condition(
            norm2(x_round[r + 1] - mean_over_sampled(trained + client_dual[r + 1, k] / rho_prox)), "==", 0, (all_rounds,)),
    ),
)

# A-FedPD's duals -----------------------------------------------------------------------------------------------------
pulled = rho_prox * (server_x_bar[r + 1] - x_round[r])

through = (
    Sum(server_duals[r, k], each_client) / clients + participants / clients * pulled
    + (clients - participants) / clients * pulled
)

mean_dual_claims = varied(prose(
    id="afedpd/text-mean-dual", number="Section 3.3; B.3.2, display of the mean dual", reading="both ends",
    variables=(any_rho,), assumptions=(A_sampling,),
    statement=Condition(norm2(mean_dual[r + 1] - (mean_dual[r] + pulled)), "==", 0, (all_rounds,)),
), {"through": ("the middle of B.3.2", {
    "statement": Condition(norm2(mean_dual[r + 1] - through), "==", 0, (all_rounds,))})})

unbiased = prose(
    id="afedpd/text-unbiased", number="Section 3.3", reading="w is theta; the left side trained virtually, every client",
    variables=(any_rho,), assumptions=(A_sampling,),
    statement=Condition(
        norm2(E_round(trained, r) - E_round(Sum(sampled[r, j] * x_before[(r + 1) * local_steps, j], (j, 0, clients - 1)), r)
              / participants), "==", 0, (all_rounds, each_client)),
)

# Equations -----------------------------------------------------------------------------------------------------------
uniform = {"assumptions": (A1_sample, A2, A_bounded, A_sampling, A_neighbours), "variables": (any_rho,)}
end = x_round[rounds]

eq_9 = varied(prose(
    id="afedpd/eq-9", number="(9), first inequality", reading="absolute value inside the expectation, as printed",
    statement=Condition(E_data(sp.Abs(F_pop(end) - objective(end))), "<=", stability_gap),
    assumptions=tuple(a for a in uniform["assumptions"] if a is not A_bounded), variables=uniform["variables"],
), {
    "abs-outside": ("absolute value outside the expectation", {
        "statement": Condition(sp.Abs(generalisation_gap), "<=", stability_gap)}),
    "signed": ("without absolute value, as in Theorem 2", {"statement": Condition(generalisation_gap, "<=", stability_gap)}),
    "second": ("second inequality, epsilon by the last display of B.3.2; gamma from the first round's step, eta^0", {
        "number": "(9), second inequality", "assumptions": uniform["assumptions"], "variables": RATES,
        "conditions": multiplier(eta_0),
        "statement": Condition(stability_gap, "<=", appendix_bound),
        "note": "with the step sizes that the display assumes"}),
})

rate = eta_l[r * local_steps]
now, later = x_local[r * local_steps + j, k], x_before[r * local_steps + j + 1, k]
g_now = g[r * local_steps + j, k]
in_round = (all_rounds, (j, 0, local_steps - 1), each_client)
kept = (1 - rate * rho_prox) * (now - x_round[r])
moved, push = later - x_round[r], rate * (g_now + server_duals[r, k])

eq_10 = varied(prose(
    id="afedpd/eq-10", number="(10), second line", reading="as printed in the main text", variables=(any_rho,),
    assumptions=(A_sampling, A_uniform_step), statement=Condition(norm2(moved - (kept + push)), "==", 0, in_round),
), {
    "fedavg": ("first line, FedAvg, as printed in the main text", {
        "number": "(10), first line", "variables": (),
        "procedure": Procedure(sampling="without-replacement", equal_weights=True),
        "statement": Condition(norm2(moved - (now - x_round[r] + rate * g_now)), "==", 0, in_round)}),
    "appendix": ("as printed in the proofs of Lemmas 5 and 6", {
        "number": "proofs of Lemmas 5 and 6, first display",
        "statement": Condition(norm2(moved - (kept - push)), "==", 0, in_round)}),
})

pull = server_duals[r, k] + rho_prox * (now - x_round[r])

eq_13 = varied(prose(
    id="afedpd/eq-13", number="(13), both ends", reading="the local step", variables=(any_rho,),
    assumptions=(A_sampling, A_uniform_step),
    statement=Condition(norm2(later - (now - rate * (g_now + pull))), "==", 0, in_round),
), {
    "full-gradient": ("the equality, with the gradient of f_i in that of the augmented Lagrangian", {
        "statement": Condition(
            norm2(now - rate * (grad(k, now) + pull) - (now - rate * (g_now + pull))), "==", 0, in_round)}),
})

# Remarks -------------------------------------------------------------------------------------------------------------
remark_1_1 = varied(prose(
    id="afedpd/remark-1.1", number="Remark 1.1", explicit=False, reading="exact local solutions; rate 1/T",
    procedure=EXACT, variables=(any_rho, K1, hidden), assumptions=(OPTIMISATION[0], A_sampling),
    statement=Condition(gradients, "<=", C / rounds), limits=((rounds, sp.oo),), note="C does not depend on T",
), {"full": ("exact local solutions; rate 1/T; all clients take part, P = C", {
    "procedure": replace(EXACT, sampling="full")})})

remark_1_2 = varied(prose(
    id="afedpd/remark-1.2", number="Remark 1.2", explicit=False,
    reading="squared local error of order 1/K after K local steps", variables=(any_rho, hidden),
    assumptions=(OPTIMISATION[0], A_sampling, A_uniform_step),
    statement=Condition(E(norm2(local_error[r, k])), "<=", C / local_steps, (all_rounds, each_client)),
    limits=((local_steps, sp.oo),), note="C does not depend on K; the text refers to B.2.2, which prints no formula for K",
), {"samples": ("error of order 1/sqrt(K T) with as many local steps as rounds", {
    "conditions": (Condition(local_steps, "<=", rounds), Condition(rounds, "<=", local_steps)),
    "statement": Condition(gradients, "<=", C / sp.sqrt(iterations)), "limits": ((rounds, sp.oo),)})})

order = {
    "explicit": False, "number": "Remark 2.1", "assumptions": uniform["assumptions"],
    "limits": tuple((size, sp.oo) for size in (rounds, local_steps, clients, samples)),
    "note": "C does not depend on C, S, P, K and T of the paper",
}

family_rate = C * (participants * rounds) ** (mu_lr * L * share) / (clients * samples)
with_steps = {"variables": (*RATES, hidden), "conditions": multiplier(eta_0)}
any_steps = {"variables": (any_rho, *numbers("positive", "mu_lr"), hidden), "conditions": ()}


def of_family(name, method, rate=family_rate, sampling="without-replacement"):
    """The rate for another method of the family, with the steps of Theorem 2 and with any."""
    changes = {"procedure": Procedure(method, sampling=sampling, equal_weights=True),
               "statement": Condition(generalisation_gap, "<=", rate)}
    return {method: (f"{name}; {STEPS}", changes), f"{method}+any-step": (f"{name}; {ANY_STEPS}", changes | any_steps)}


STEPS, ANY_STEPS = "steps and mu as in Theorem 2, gamma from the first round's step", "steps of any size"

remark_2_1 = varied(prose(
    id="afedpd/remark-2.1-rate", reading=f"A-FedPD; {STEPS}", statement=Condition(generalisation_gap, "<=", family_rate),
    **with_steps, **order,
), {
    "any-step": (f"A-FedPD; {ANY_STEPS}", any_steps),
    "gamma-last": ("A-FedPD; steps and mu as in Theorem 2, gamma from the last round's step", {
        "conditions": multiplier(eta_0 / rounds)}),
    **of_family("FedPD, everybody participates", "fedpd", family_rate.xreplace({participants: clients}), "full"),
    **of_family("FedADMM", "fedadmm"), **of_family("FedDyn", "feddyn"),
})

remark_2_1_local = prose(
    id="afedpd/remark-2.1-local", reading="a constant step size; the local differences of the coupled runs",
    variables=(any_rho, *numbers("positive", "eta"), hidden), conditions=(Condition(eta_l[t], "==", eta, (each_step,)),),
    statement=Condition(
        E(norm(update_of(trained, twin_trained))), "<=", C, (all_rounds, each_client)),
    **order | {"limits": ((local_steps, sp.oo),), "note": "C does not depend on K"},
)

CLAIMS = (
    *partial_fedpd, *mean_dual_claims, unbiased, *eq_9, *eq_10, *eq_13, *remark_1_1, *remark_1_2, *remark_2_1,
    remark_2_1_local,
)
