"""Theorem 2 of A-FedPD, Lemmas 4-6 and the stability recursion along coupled runs (Sections 4.2, B.3)."""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.samples import (
    E_unused,
    G_lip,
    H_loss,
    differing,
    samples,
    twin_x_before,
    twin_x_round,
    worst_mean_gap,
    worst_mean_signed_gap,
)
from bounds.language.words import (
    E,
    L,
    Sum,
    clients,
    eta_l,
    j,
    k,
    local_steps,
    norm,
    participants,
    r,
    rounds,
    sampled,
    t,
    tau,
    x_before,
    x_round,
)
from bounds.papers.afedpd.assumptions import A2, STABILITY, A1_sample, A_bounded, A_neighbours, A_sampling, A_sup_only
from bounds.papers.afedpd.quantities import (
    GAPS,
    GAPS_INACTIVE,
    gap_dual,
    gap_x,
    generalisation_gap,
    mean_dual,
    mean_over_clients,
    trained,
    trained_inactive,
    twin_trained,
    twin_trained_inactive,
    update_of,
)
from bounds.papers.afedpd.setting import (
    STABLE,
    all_rounds,
    alpha_mult,
    any_rho,
    each_client,
    each_step,
    eta_0,
    gamma_mult,
    later_rounds,
    mu_lr,
    numbers,
    previous,
    rho_prox,
    run_claim,
    stable,
    tau0,
    two_rounds,
    varied,
)
from bounds.papers.afedpd.words import server_duals, twin_server_duals

__all__ = ["CLAIMS", "GENERAL", "RATES", "appendix_bound", "main_bound", "multiplier", "x_plus"]


def x_plus(step):
    """Larger zero of L x^2 - rho x - (L + rho + 1/(step K)), first printed form."""
    return (rho_prox + sp.sqrt(rho_prox**2 + 4 * L * (L + rho_prox + 1 / (step * local_steps)))) / (2 * L)


# Theorem 2 -----------------------------------------------------------------------------------------------------------
share = 1 / (1 + mu_lr * L)
horizon = (H_loss * participants * rounds) ** (mu_lr * L * share)
main_bound = 4 * (G_lip**2 / L) ** share / (clients * samples) * horizon
appendix_bound = 2 / (clients * samples) * (2 * G_lip**2 / L) ** share * horizon

DECAYING = (
    Condition(eta_l[t], "==", eta_0 / (tau(t) / local_steps + 1), (each_step,)),
    Condition(eta_0, "<=", mu_lr / (gamma_mult * local_steps)),
    Condition(gamma_mult, "==", 1 + alpha_mult * rho_prox),
)

RATES = (*numbers("positive", "eta_0", "mu_lr", "alpha_mult"), any_rho)
GENERAL = (A1_sample, A2, A_bounded, A_sampling, A_neighbours)
STEPS = tuple(f"afedpd/{name}" for name in (
    "lemma-4", "lemma-5", "lemma-6", "rec-one-step", "unrolled-decayed", "gap-before-tau0", "tau0-choice",
))


def multiplier(step, over=()):
    """alpha rho >= x^+ for these steps."""
    return (*DECAYING, Condition(alpha_mult * rho_prox, ">=", x_plus(step), over))


GAMMA = {
    "gamma-first-eta1": ("gamma from the second round's step, eta^1", {"conditions": multiplier(eta_0 / 2)}),
    "gamma-last": ("gamma from the last round's step", {"conditions": multiplier(eta_0 / rounds)}),
    "gamma-all": ("any gamma that serves the steps of all rounds", {
        "conditions": multiplier(eta_0 / (r + 1), (all_rounds,))}),
}

FIRST = "gamma from the first round's step, eta^0"

theorem = {
    "kind": "theorem", "reading": FIRST, "assumptions": GENERAL, "conditions": multiplier(eta_0), "variables": RATES,
    "steps": STEPS,
}

theorem_2 = varied(run_claim(
    id="afedpd/theorem-2", number="Theorem 2, (11)", **theorem,
    statement=Condition(generalisation_gap, "<=", main_bound),
    note="output the model that is sent; the conditions on the step sizes are those of the appendix",
), GAMMA)

stability_gap = worst_mean_gap(x_round[rounds], twin_x_round[rounds])

theorem_2_explicit = varied(run_claim(
    id="afedpd/theorem-2-explicit", number="last display of B.3.2", **theorem,
    statement=Condition(stability_gap, "<=", appendix_bound), note="the left side is the stability gap",
), GAMMA)

# uniform stability ---------------------------------------------------------------------------------------------------
end_distance = norm(x_round[rounds] - twin_x_round[rounds])
hit = H_loss * participants * tau0 / (clients * samples)
signed_gap = worst_mean_signed_gap(x_round[rounds], twin_x_round[rounds])

lemma_4 = varied(run_claim(
    id="afedpd/lemma-4", number="Lemma 4, (16), second inequality", kind="lemma",
    reading="the plain expectation, as printed", assumptions=GENERAL,
    variables=(any_rho, Variable("tau0", "integer", low=0)),
    conditions=(Condition(tau0, "<=", rounds),), statement=Condition(signed_gap, "<=", G_lip * E(end_distance) + hit),
    steps=("afedpd/lemma-4-split", "afedpd/lemma-4-hitting"),
    note="Lipschitz losses give it without the last term, for every tau_0",
), {
    "sup-only": ("the plain expectation; losses bounded from above only", {
        "assumptions": (A1_sample, A2, A_sup_only, A_sampling, A_neighbours)}),
    "cond-zeta": ("given that the differing sample is not used in the rounds t < tau_0, as in the proof", {
        "note": "", "statement": Condition(signed_gap, "<=", G_lip * E_unused(tau0, end_distance) + hit)}),
    "cond-zeta+rounds-upto": ("given that the differing sample is not used in the rounds t <= tau_0", {
        "note": "", "statement": Condition(signed_gap, "<=", G_lip * E_unused(tau0 + 1, end_distance) + hit)}),
    "generalisation": ("first inequality", {
        "number": "Lemma 4, (16), first inequality", "note": "", "conditions": (), "variables": (any_rho,),
        "statement": Condition(generalisation_gap, "<=", signed_gap)}),
})

# Lemmas 5 and 6 ------------------------------------------------------------------------------------------------------
rate = eta_l[r * local_steps]
inherited = rate * local_steps * L * E(norm(x_round[r] - twin_x_round[r])) + rate * local_steps * E(
    norm(server_duals[r, k] - twin_server_duals[r, k]))
new_sample = 2 * rate * local_steps * G_lip / samples
round_end = E(norm(update_of(trained, twin_trained)))
at_step = x_before[r * local_steps + j, k], twin_x_before[r * local_steps + j, k]
every_step = E(norm(update_of(*at_step)))


def lemma_on_updates(claim_id, number, holds, right, assumptions, steps):
    """A statement on the clients for which ``holds`` is 1, after the round and after every local step."""
    base = run_claim(
        id=claim_id, number=number, kind="lemma", reading="after all K local steps", assumptions=assumptions,
        variables=(any_rho,), statement=Condition(holds * round_end, "<=", holds * right, (all_rounds, each_client)),
        steps=steps, note="both sides are multiplied by whether the client has the differing sample, or has not",
    )
    over = (all_rounds, (j, 1, local_steps), each_client)
    every = {"statement": Condition(holds * every_step, "<=", holds * right, over)}
    words = f"{base.reading}; {STABLE}"
    return varied(base, {"every-step": ("after every local step", every), "stable": (words, stable)})


lemma_5 = lemma_on_updates(
    "afedpd/lemma-5", "Lemma 5, (17)", 1 - differing[k], inherited, tuple(a for a in STABILITY if a is not A2),
    ("afedpd/lemma-5-triangle", "afedpd/lemma-5-contraction", "afedpd/lemma-5-unroll", "afedpd/lemma-5-geometric",
     "afedpd/bernoulli"))

lemma_5_last = varied(lemma_5[0], {
    "theta-T": ("after all K local steps, with the difference of the last models, as in the proof's last display", {
        "statement": replace(lemma_5[0].statement, right=(1 - differing[k]) * rate * local_steps * (
            L * E(end_distance) + E(norm(server_duals[r, k] - twin_server_duals[r, k]))))}),
})[1:]

lemma_6 = lemma_on_updates(
    "afedpd/lemma-6", "Lemma 6, (18)", differing[k], inherited + new_sample, STABILITY,
    ("afedpd/lemma-6-different", "afedpd/lemma-6-mixture", "afedpd/lemma-6-unroll", "afedpd/bernoulli"))

# their closed forms, where the print of Lemma 5 has the last models in place of the round's
in_closed_form = (1 - (1 - rate * (rho_prox - L)) ** local_steps) / (rho_prox - L)
round_gap = norm(x_round[r] - twin_x_round[r])
PRINTED, LAST, ROUND = (
    f"along runs, {how}" for how in ("with equality, as printed", "as a bound, with the difference of the last models",
                                     "as a bound, with the difference of the round's models"))


def closed(holds, relation, distance, extra=0):
    """The clients for which ``holds`` is 1 after the round, against the closed form with a distance of models."""
    apart = E(norm(server_duals[r, k] - twin_server_duals[r, k]))
    right = in_closed_form * (L * E(distance) + apart + extra)
    return {"statement": Condition(holds * round_end, relation, holds * right, (all_rounds, each_client))}


def closed_forms(base, claim_id, number, steps, readings):
    """Of the claim of a lemma: (name, words, what ``closed`` takes)."""
    base = replace(base, id=claim_id, number=number, kind="proof step", steps=steps)
    found = {f"run+{name}": (words, closed(*sides)) for name, words, *sides in readings}
    _, words, *sides = readings[-1]
    found |= {"run+stable": (f"{words}; {STABLE}", lambda claim: replace(stable(claim), **closed(*sides)))}
    return varied(base, found)[1:]


same, other = 1 - differing[k], differing[k]
closed_5 = closed_forms(
    lemma_5[0], "afedpd/lemma-5-geometric", "proof of Lemma 5, third display, first equality", ("afedpd/lemma-5-unroll",), (
        ("printed", PRINTED, same, "==", end_distance), ("theta-T", LAST, same, "<=", end_distance),
        ("round", ROUND, same, "<=", round_gap)))
closed_6 = closed_forms(
    lemma_6[0], "afedpd/lemma-6-unroll", "proof of Lemma 6, fourth display, first equality", ("afedpd/lemma-6-mixture",), (
        ("printed", PRINTED, other, "==", round_gap, 2 * G_lip / samples), ("round", ROUND, other, "<=", round_gap,
                                                                           2 * G_lip / samples)))

# the recursion -------------------------------------------------------------------------------------------------------
INACTIVE = "clients that are not sampled keep the model that they would receive, as in B.3.2"
VIRTUAL = "clients that are not sampled train virtually"
(local, update), (local_inactive, update_inactive) = GAPS, GAPS_INACTIVE
c_1, c_2, c_3 = rate * local_steps * L, rate * local_steps, 2 * rate * local_steps * G_lip / (clients * samples)
common = {"kind": "proof step", "assumptions": STABILITY, "variables": (any_rho,)}


def two_readings(claim_id, number, inactive, virtual, more=(), of_local_steps=False, **changes):
    """A step with both meanings of theta_i^{t+1} for clients that are not sampled; ``more``: named statements besides."""
    base = run_claim(
        id=claim_id, number=number, reading=INACTIVE, statement=Condition(*inactive, (all_rounds,)), **common | changes)
    return varied(base, {
        "virtual": (VIRTUAL, {"statement": Condition(*virtual, (all_rounds,))}),
        **({"stable": (f"{INACTIVE}; {STABLE}", stable)} if of_local_steps else {}),
        **{name: (words, {"statement": Condition(*sides)}) for name, words, *sides in more},
    })


dual_part = E(norm(mean_dual[r + 1] - Sum(twin_server_duals[r + 1, k], each_client) / clients)) / rho_prox


def of_active(model, twin):
    return E(Sum(norm(model - twin) * sampled[r, k], each_client)) / participants + dual_part


active, active_inactive = of_active(trained, twin_trained), of_active(trained_inactive, twin_trained_inactive)

rec_delta_global = two_readings(
    "afedpd/rec-delta-global", "B.3.2, first display, both ends",
    (gap_x[r + 1], "<=", local_inactive + gap_dual[r + 1] / rho_prox),
    (gap_x[r + 1], "<=", local + gap_dual[r + 1] / rho_prox),
    more=(
        ("first", "first inequality", gap_x[r + 1], "<=", active_inactive, (all_rounds,)),
        ("second", f"later inequalities; {INACTIVE}", active_inactive, "<=", local_inactive + gap_dual[r + 1] / rho_prox,
         (all_rounds,)),
        ("second+virtual", f"later inequalities; {VIRTUAL}", active, "<=", local + gap_dual[r + 1] / rho_prox,
         (all_rounds,)),
    ))

rec_sigma = two_readings(
    "afedpd/rec-sigma", "B.3.2, system, second line", (gap_dual[r + 1], "<=", gap_dual[r] + rho_prox * update_inactive),
    (gap_dual[r + 1], "<=", gap_dual[r] + rho_prox * update),
    more=(
        ("text", f"pi^t, as the running text prints; {INACTIVE}",
         gap_dual[r + 1], "<=", gap_dual[r] + rho_prox * update_inactive.xreplace({r: previous}), (later_rounds,)),
        ("text+virtual", f"pi^t, as the running text prints; {VIRTUAL}",
         gap_dual[r + 1], "<=", gap_dual[r] + rho_prox * update.xreplace({r: previous}), (later_rounds,)),
    ))

rec_sigma = tuple(replace(claim, conditions=(two_rounds,)) if "@text" in claim.id else claim for claim in rec_sigma)
rec_delta_local = two_readings(
    "afedpd/rec-delta-local", "B.3.2, display for delta", (local_inactive, "<=", update_inactive + gap_x[r]),
    (local, "<=", update + gap_x[r]))
linear = c_1 * gap_x[r] + c_2 * gap_dual[r] + c_3


def over_sampled(model, twin):
    return E(Sum(norm(update_of(model, twin)) * sampled[r, k], each_client)) / clients


rec_pi = two_readings(
    "afedpd/rec-pi", "B.3.2, display for pi, both ends", (update_inactive, "<", linear), (update, "<", linear),
    more=(("middle", f"the sum over the sampled clients; {INACTIVE}",
           update_inactive, "==", over_sampled(trained_inactive, twin_trained_inactive), (all_rounds,)),
          ("definition", f"the mean over all clients; {INACTIVE}", update_inactive, "==",
           mean_over_clients(E(norm(update_of(trained_inactive, twin_trained_inactive)))), (all_rounds,)),
          ("at-most", f"the sign of the system that follows; {INACTIVE}", update_inactive, "<=", linear, (all_rounds,)),
          ("at-most+virtual", f"the sign of the system that follows; {VIRTUAL}", update, "<=", linear, (all_rounds,))),
    of_local_steps=True)

rec_pi = (*rec_pi, *(claim.variant(
    "at-most+stable", f"the sign of the system that follows; {claim.reading}",
    statement=replace(claim.statement, strict=False)) for claim in rec_pi if claim.id.endswith("@stable")))

gap_before_tau0 = run_claim(
    id="afedpd/gap-before-tau0", number="B.3.2, from Lemma 4, first inequality", kind="proof step", assumptions=GENERAL,
    variables=(any_rho, Variable("tau0", "integer", low=0)), conditions=(Condition(tau0, "<=", rounds),),
    statement=Condition(stability_gap, "<=", G_lip * gap_x[rounds] + hit), steps=("afedpd/lemma-4",),
    note="Lipschitz losses give it without the last term, for every tau_0",
)

CLAIMS = (
    *theorem_2, *theorem_2_explicit, *lemma_4, *lemma_5, *lemma_5_last, *lemma_6, *closed_5, *closed_6, *rec_delta_global,
    *rec_sigma, *rec_delta_local, *rec_pi, gap_before_tau0,
)
