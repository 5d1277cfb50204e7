"""One round of descent, line by line (B.2.2), and its combination with Lemmas 2 and 3 along runs."""

from itertools import pairwise

from bounds.language.claim import Condition, Variable
from bounds.language.words import E, E_round, L, dot, grad, k, norm2, objective, objective_grad, r, rounds, x_round
from bounds.papers.afedpd.assumptions import OPTIMISATION
from bounds.papers.afedpd.optimisation import RHO_APPENDIX, with_exact
from bounds.papers.afedpd.quantities import (
    R0,
    J_t,
    R_t,
    average_gradient_sq,
    f1_gap,
    local_error,
    mean_dual,
    mean_over_clients,
    trained,
)
from bounds.papers.afedpd.setting import (
    all_rounds,
    any_rho,
    eps_inexact,
    later_rounds,
    previous,
    q_mult,
    rho_prox,
    run_claim,
    two_rounds,
    varied,
)
from bounds.papers.afedpd.words import server_duals, server_x_bar

__all__ = ["CLAIMS", "LINES"]

x_bar, next_bar = server_x_bar[r], server_x_bar[r + 1]
h = objective_grad(x_bar)
at_trained = grad(k, trained)


def given(e):
    """E_t."""
    return E_round(e, r)


gain = given(objective(next_bar)) - objective(x_bar)
A = L / 2 * given(norm2(next_bar - x_bar))
h_sq = given(norm2(h))
N = h_sq / (2 * rho_prox)

#: the right sides in printed order, each with its relation to the one before; the first to the left side of the chain
LINES = {
    1: ("<=", A + given(dot(h, next_bar - x_bar))),
    2: ("==", A + given(dot(h, mean_over_clients(trained) - x_bar))),
    3: ("==", A + given(dot(h, mean_over_clients(trained - x_round[r]) + x_round[r] - x_bar))),
    4: ("==", A - given(dot(
        h, mean_over_clients((at_trained + server_duals[r, k] - local_error[r, k]) / rho_prox) - mean_dual[r] / rho_prox))),
    5: ("==", A - given(dot(h, mean_over_clients(at_trained / rho_prox)))),
    6: ("<=", A + given(norm2(h - mean_over_clients(at_trained))) / (2 * rho_prox) - N),
    7: ("<=", A + mean_over_clients(given(norm2(grad(k, x_bar) - at_trained))) / (2 * rho_prox) - N),
    8: ("<=", A + L**2 / (2 * rho_prox) * mean_over_clients(given(norm2(x_bar - trained))) - N),
    9: ("<=", L / 2 * (1 + L / rho_prox) * mean_over_clients(given(norm2(x_bar - trained))) - N),
}

common = {"kind": "proof step", "variables": (any_rho,), "assumptions": OPTIMISATION}
before = {1: gain} | {later: LINES[earlier][1] for earlier, later in pairwise(LINES)}

lines = tuple(
    claim
    for number, (relation, line) in LINES.items()
    for claim in with_exact(run_claim(
        id=f"afedpd/descent-{number}", number=f"B.2.2, first display, line {number + 1}",
        statement=Condition(before[number], relation, line, (all_rounds,)), **common,
    ))
)

descent = with_exact(run_claim(
    id="afedpd/descent", number="B.2.2, first display, first and last line", reading="the whole chain",
    statement=Condition(gain, "<=", L / 2 * (1 + L / rho_prox) * R_t[r] - N, (all_rounds,)),
    steps=tuple(f"afedpd/descent-{number}" for number in LINES), **common,
))

# combination ---------------------------------------------------------------------------------------------------------
BEFORE = "expectations given what happened before round t - 1"
STATE = "given all that happened before round t, at every state that is reached"


def by_round(claim_id, number, left, right, conditions=(), variables=(), **more):
    """A claim from round 1 on: averaged over the round before, as R_{t-1} is; and at each state (``given-t``)."""
    claim = run_claim(
        id=claim_id, number=number, reading=BEFORE,
        conditions=(*conditions, two_rounds),
        statement=Condition(E_round(left, previous), "<=", E_round(right, previous), (later_rounds,)),
        **common | {"variables": (any_rho, *variables)}, **more,
    )
    at_state = {"statement": Condition(left, "<=", right, (later_rounds,))}
    return with_exact(claim, f"exact local solutions; {BEFORE}", **{"given-t": (STATE, at_state)})


decay = 1 - 4 * L**2 / rho_prox**2
j_by_r = by_round("afedpd/j-by-r", "B.2.2, before the system", J_t[r], 4 * R_t[previous], steps=("afedpd/lemma-3",))

r_recursion = by_round(
    "afedpd/r-recursion", "B.2.2, system, second line", decay * R_t[r],
    32 * L**2 / rho_prox**2 * R_t[previous] + 4 * L**2 / rho_prox**2 * h_sq + 4 * eps_inexact / rho_prox**2,
    steps=("afedpd/lemma-2", "afedpd/lemma-3"),
)

q_combined = by_round(
    "afedpd/q-combined", "B.2.2, after the system",
    given(objective(next_bar)) + (q_mult * decay - L / 2 * (1 + L / rho_prox)) * R_t[r],
    objective(x_bar) + q_mult * 32 * L**2 / rho_prox**2 * R_t[previous]
    - (1 / (2 * rho_prox) - 4 * q_mult * L**2 / rho_prox**2) * h_sq + 4 * q_mult * eps_inexact / rho_prox**2,
    variables=(Variable("q_mult", "positive"),), steps=("afedpd/descent", "afedpd/r-recursion"),
)

one_step = by_round(
    "afedpd/one-step-theorem-1", "B.2.2, after the choice of q",
    given(objective(next_bar)) + R_t[r] / rho_prox,
    objective(x_bar) + R_t[previous] / rho_prox - h_sq / rho_prox + eps_inexact / (8 * L**2 * rho_prox),
    conditions=(RHO_APPENDIX,), steps=("afedpd/q-combined", "afedpd/q-choice"),
)

# summed over rounds --------------------------------------------------------------------------------------------------
last = rounds - 1  # T: the display needs the average after round T, that is T + 1 rounds
gradients = average_gradient_sq(server_x_bar, 1, last)
error = eps_inexact / (8 * L**2 * rho_prox)
summed = {"conditions": (RHO_APPENDIX, two_rounds), "note": "T is rounds - 1"}

sum_of_steps = (
    (E(objective(server_x_bar[1])) - E(objective(server_x_bar[rounds]))) / last + (R0 - E(R_t[last])) / (rho_prox * last)
    + error
)

relaxed = (rho_prox * f1_gap + R0) / last + error

telescoped = with_exact(run_claim(
    id="afedpd/telescoped", number="B.2.2, after the accumulation, first inequality", reading="sum over t = 1 .. T",
    statement=Condition(gradients, "<=", sum_of_steps), steps=("afedpd/one-step-theorem-1",), **common | summed,
))

telescoped_0 = varied(telescoped[0], {
    "from-0": ("sum over t = 0 .. T - 1, as the text says", {
        "statement": Condition(average_gradient_sq(server_x_bar, 0, last - 1), "<=", sum_of_steps)}),
})[1:]

telescoped_relaxed = with_exact(run_claim(
    id="afedpd/telescoped-relaxed", number="B.2.2, after the accumulation, second inequality", reading="along runs",
    statement=Condition(sum_of_steps, "<=", relaxed), steps=("afedpd/telescoped",), **common | summed,
))

CLAIMS = (
    *lines, *descent, *j_by_r, *r_recursion, *q_combined, *one_step, *telescoped, *telescoped_0, *telescoped_relaxed,
)
