"""Stability of SGD on neighbouring data sets (Hardt, Recht, Singer 2016), and of local SGD with several clients.

Every step takes one sample, drawn uniformly; both runs share the draws. With one client, rounds of local steps are SGD.
"""

import sympy as sp

from bounds.language.claim import Assumption, Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS
from bounds.language.samples import (
    E_unused,
    G_lip,
    H_loss,
    differing,
    samples,
    twin_x_before,
    twin_x_local,
    twin_x_round,
    worst_mean_gap,
)
from bounds.language.words import (
    E,
    L,
    Sum,
    clients,
    eta_l,
    iterations,
    k,
    local_steps,
    norm,
    rounds,
    t,
    x_before,
    x_local,
    x_round,
)
from bounds.papers.afedpd.assumptions import A2
from bounds.papers.classical.gradient_descent import ALL_CLIENTS, ALL_STEPS, JUST_CONVEX, SMOOTH

__all__ = ["CLAIMS"]

LIPSCHITZ = Assumption(
    "classical/lipschitz", "the loss of every sample is G-Lipschitz on all of R^dim", everywhere=A2.everywhere, note=A2.note)
BOUNDED = Assumption("classical/bounded", "losses between 0 and H", note="H_loss is the federation's constant")
ONE_CLIENT = Condition(clients, "<=", 1)
SOURCE = "Hardt, Recht, Singer 2016"
NON_EXPANSIVE = Condition(eta_l[t], "<=", 2 / L, (ALL_STEPS,))
start_gap = E(norm(x_local[t, k] - twin_x_local[t, k]))
end_gap = E(norm(x_before[t + 1, k] - twin_x_before[t + 1, k]))
final_gap = norm(x_round[rounds] - twin_x_round[rounds])
loss_gap = worst_mean_gap(x_round[rounds], twin_x_round[rounds])
all_steps = Sum(eta_l[t], ALL_STEPS)
used = differing[k] / samples  # probability that a step of client k takes the sample that differs
c_step = sp.Symbol("c_step", positive=True)
cut = sp.Symbol("cut", integer=True, positive=True)


def _claim(name: str, number: str, derivation: str, statement: Condition, assumptions, *conditions, **others) -> Claim:
    source = SOURCE if not derivation else None
    return Claim(
        f"classical/{name}", number, "control", "run", statement, tuple(assumptions), conditions,
        "as in the source" if source else "as derived", source, derivation,
        procedure=Procedure(equal_weights=True, replaced="any"), definitions=DEFINITIONS, **others)


def over_steps(right) -> Condition:
    return Condition(end_gap, "<=", right, (ALL_STEPS, ALL_CLIENTS))


CLAIMS = (
    _claim("coupled-step-convex", "Lemma 2.5 with Lemma 3.6, 2", "", over_steps(
        start_gap + 2 * eta_l[t] * G_lip * used), (SMOOTH, JUST_CONVEX, LIPSCHITZ), NON_EXPANSIVE),
    _claim("coupled-step-smooth", "Lemma 2.5 with Lemma 3.6, 1", "", over_steps(
        (1 + (1 - used) * eta_l[t] * L) * start_gap + 2 * eta_l[t] * G_lip * used), (SMOOTH, LIPSCHITZ)),
    _claim("sgd-stability-distance", "Theorem 3.8, proof", "", Condition(
        E(final_gap), "<=", 2 * G_lip / samples * all_steps), (SMOOTH, JUST_CONVEX, LIPSCHITZ), NON_EXPANSIVE, ONE_CLIENT,
        steps=("classical/coupled-step-convex",)),
    _claim("sgd-stability-convex", "Theorem 3.8", "", Condition(
        loss_gap, "<=", 2 * G_lip**2 / samples * all_steps), (SMOOTH, JUST_CONVEX, LIPSCHITZ), NON_EXPANSIVE, ONE_CLIENT,
        steps=("classical/sgd-stability-distance",)),
    _claim("local-sgd-stability-distance", "Distance of neighbouring runs, convex clients",
           "only the client with the differing sample gains, and the mean takes 1/m of it", Condition(
               E(final_gap), "<=", 2 * G_lip / (clients * samples) * all_steps),
           (SMOOTH, JUST_CONVEX, LIPSCHITZ), NON_EXPANSIVE, steps=("classical/coupled-step-convex",)),
    _claim("local-sgd-stability-convex", "Stability of local SGD, convex clients",
           "losses are Lipschitz along the distance of neighbouring runs", Condition(
               loss_gap, "<=", 2 * G_lip**2 / (clients * samples) * all_steps),
           (SMOOTH, JUST_CONVEX, LIPSCHITZ), NON_EXPANSIVE, steps=("classical/local-sgd-stability-distance",)),
    _claim("sgd-stability-first-use", "Lemma 3.11", "", Condition(
        loss_gap, "<=", cut * H_loss / samples + G_lip * E_unused(cut, final_gap)), (LIPSCHITZ, BOUNDED), ONE_CLIENT,
        Condition(local_steps, "==", 1), Condition(cut, "<=", rounds), variables=(Variable("cut", "integer"),)),
    _claim("sgd-stability-smooth", "Theorem 3.12, before its t_0 is chosen",
           "as in the source, for every integer t_0; losses up to H instead of 1", Condition(
               loss_gap, "<=", cut * H_loss / samples
               + 2 * G_lip**2 / (L * (samples - 1)) * (iterations / cut) ** (c_step * L)),
           (SMOOTH, LIPSCHITZ, BOUNDED), ONE_CLIENT, Condition(samples, ">=", 2), Condition(cut, "<=", iterations),
           Condition(eta_l[t] * (t + 1), "<=", c_step, (ALL_STEPS,)), variables=(Variable("cut", "integer"),),
           steps=("classical/coupled-step-smooth", "classical/sgd-stability-first-use")),
)
