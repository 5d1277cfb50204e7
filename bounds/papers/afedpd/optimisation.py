"""Theorem 1 of A-FedPD and Lemmas 1-3 with their proofs (B.2.1)."""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Claim, Condition, Variable
from bounds.language.words import E_round, L, Sum, k, norm2, objective_grad, participants, r, rounds, sampled, x_round
from bounds.papers.afedpd.assumptions import A1, OPTIMISATION, A_sampling
from bounds.papers.afedpd.quantities import (
    R0,
    J_t,
    R_t,
    average_gradient_sq,
    f1_gap,
    mean_dual,
    mean_over_clients,
    trained,
    trained_inactive,
)
from bounds.papers.afedpd.setting import (
    EXACT,
    K1,
    all_rounds,
    any_rho,
    each_client,
    eps_inexact,
    later_rounds,
    rho_prox,
    run_claim,
    step,
    two_rounds,
    varied,
)
from bounds.papers.afedpd.words import server_x_bar

__all__ = ["CLAIMS", "RHO_APPENDIX", "C", "hidden", "solved_exactly", "with_exact"]

C, hidden = sp.Symbol("C", nonnegative=True), Variable("C", "hidden")  # the constant of O(.)
RHO_APPENDIX = Condition(rho_prox**2 - 4 * L**3 * rho_prox - 36 * L**2 - 4 * L**4, ">", 0)


def solved_exactly(claim: Claim) -> Claim:
    """The claim for exact local solutions: epsilon is 0."""
    without = [a for a in claim.assumptions if a.id != "afedpd/assumption-inexact"]
    put = {eps_inexact: sp.S.Zero}
    s = claim.statement
    return replace(
        claim, procedure=EXACT, assumptions=tuple(without), variables=(*claim.variables, K1),
        statement=replace(s, left=s.left.xreplace(put), right=s.right.xreplace(put)),
    )


def with_exact(claim: Claim, words: str = "exact local solutions", **more) -> tuple[Claim, ...]:
    """A claim with local errors, and its reading with exact local solutions, in ``words``; then further readings."""
    return varied(claim, {"exact": (words, solved_exactly)} | more)


# Theorem 1 -----------------------------------------------------------------------------------------------------------
gradients = average_gradient_sq(server_x_bar)
start = (rho_prox * f1_gap + R0) / rounds

STEPS = tuple(f"afedpd/{name}" for name in (
    "lemma-2", "lemma-3", "descent", "j-by-r", "r-recursion", "q-combined", "q-choice", "one-step-theorem-1", "telescoped",
    "telescoped-relaxed",
))

theorem_1 = run_claim(
    id="afedpd/theorem-1", number="Theorem 1, (8)", kind="theorem", explicit=False,
    reading="any rho > 0; output the average; all clients' local models; E f of the first average",
    assumptions=OPTIMISATION, variables=(any_rho, hidden),
    statement=Condition(gradients, "<=", start + C * eps_inexact), limits=((eps_inexact, 0),), steps=STEPS,
    note="C is the constant of O(epsilon); T is rounds",
)

explicit_part = {
    "explicit": True, "procedure": EXACT, "variables": (any_rho, K1), "assumptions": (A1, A_sampling), "limits": (),
    "statement": Condition(gradients, "<=", start), "note": "O(epsilon) is 0",
}

theorem_1_readings = varied(theorem_1, {
    "exact": ("any rho > 0; exact local solutions", explicit_part),
    "rho-appendix": ("rho as the proof needs it", {"conditions": (RHO_APPENDIX,)}),
    "rho-appendix+exact": (
        "rho as the proof needs it; exact local solutions",
        explicit_part | {"conditions": (RHO_APPENDIX,)}),
})

theorem_1_explicit = with_exact(run_claim(
    id="afedpd/theorem-1-explicit", number="last display of B.2.2", kind="theorem", assumptions=OPTIMISATION,
    conditions=(RHO_APPENDIX,), variables=(any_rho,), steps=STEPS,
    statement=Condition(gradients, "<=", start + eps_inexact / (8 * L**2 * rho_prox)),
))

# Lemmas 1-3 ----------------------------------------------------------------------------------------------------------
x_bar, next_bar = server_x_bar[r], server_x_bar[r + 1]
move_sq = E_round(norm2(next_bar - x_bar), r)
spread_sq = mean_over_clients(E_round(norm2(trained - next_bar), r))
INACTIVE = "clients that are not sampled keep the model that they would receive"
lemma = {"kind": "lemma", "variables": (any_rho,)}


def with_inactive(claim: Claim, left, right) -> tuple[Claim, ...]:
    """A claim about virtual local models, and about those of which only the sampled clients' move."""
    other = replace(claim.statement, left=left, right=right)
    return varied(claim, {"inactive-theta": (INACTIVE, {"statement": other})})


def later_exact(claim: Claim) -> Claim:
    """The claim with exact local solutions, from the second round on."""
    claim = solved_exactly(claim)
    return replace(claim, conditions=(two_rounds,), statement=replace(claim.statement, over=(later_rounds,)))


distance_sq = mean_over_clients(E_round(norm2(trained_inactive - x_bar), r))

lemma_1 = with_inactive(run_claim(
    id="afedpd/lemma-1", number="Lemma 1", reading="all clients' local models", assumptions=(A_sampling,), **lemma,
    statement=Condition(move_sq, "<=", R_t[r], (all_rounds,)), steps=("afedpd/lemma-1-step-1", "afedpd/lemma-1-step-2"),
), move_sq, distance_sq)

lemma_2 = with_exact(run_claim(
    id="afedpd/lemma-2", number="Lemma 2, (14)", reading="all clients' local models", assumptions=OPTIMISATION, **lemma,
    statement=Condition(
        (1 - 4 * L**2 / rho_prox**2) * R_t[r], "<=",
        8 * L**2 / rho_prox**2 * J_t[r] + 4 * L**2 / rho_prox**2 * E_round(norm2(objective_grad(x_bar)), r)
        + 4 * eps_inexact / rho_prox**2,
        (all_rounds,),
    ),
    steps=("afedpd/lemma-2-step-1", "afedpd/lemma-2-step-2", "afedpd/lemma-2-step-3"),
), **{"exact+later": ("exact local solutions; the rounds t >= 1, as the proof of Theorem 1 uses it", later_exact)})

lemma_3 = with_inactive(run_claim(
    id="afedpd/lemma-3", number="Lemma 3, (15)", reading="all clients' local models", assumptions=(A1, A_sampling), **lemma,
    statement=Condition(spread_sq, "<=", 4 * R_t[r], (all_rounds,)),
    steps=("afedpd/lemma-1", "afedpd/lemma-3-step-1", "afedpd/lemma-3-step-2"),
), mean_over_clients(E_round(norm2(trained_inactive - next_bar), r)), 4 * distance_sq)

# their proofs --------------------------------------------------------------------------------------------------------
proof = {"kind": "proof step", "variables": (any_rho,), "assumptions": (A_sampling,)}
of_the_sampled = E_round(Sum(norm2(trained - x_bar) * sampled[r, k], each_client), r) / participants

steps_of_lemmas = (
    run_claim(
        id="afedpd/lemma-1-step-1", number="proof of Lemma 1, to the second line",
        statement=Condition(move_sq, "<=", of_the_sampled, (all_rounds,)), **proof,
    ),
    run_claim(
        id="afedpd/lemma-1-step-2", number="proof of Lemma 1, last inequality",
        statement=Condition(of_the_sampled, "<=", R_t[r], (all_rounds,)), **proof,
    ),
    run_claim(
        id="afedpd/lemma-2-step-1", number="proof of Lemma 2, first equality", **proof,
        statement=Condition(
            R_t[r], "==", mean_over_clients(E_round(norm2(trained - x_round[r] + mean_dual[r] / rho_prox), r)),
            (all_rounds,)),
    ),
    *with_exact(run_claim(
        id="afedpd/lemma-2-step-2", number="proof of Lemma 2, second display", **proof | {"assumptions": OPTIMISATION},
        statement=Condition(
            R_t[r], "<=",
            4 * L**2 / rho_prox**2 * (R_t[r] + 2 * J_t[r] + E_round(norm2(objective_grad(x_bar)), r))
            + 4 * eps_inexact / rho_prox**2,
            (all_rounds,),
        ),
        note="the paper refers to Lemma 11 of Acar et al. 2021a",
    )),
    run_claim(
        id="afedpd/lemma-3-step-1", number="proof of Lemma 3, first inequality", **proof,
        statement=Condition(spread_sq, "<=", 2 * R_t[r] + 2 * E_round(norm2(x_bar - next_bar), r), (all_rounds,)),
    ),
    run_claim(
        id="afedpd/lemma-3-step-2", number="proof of Lemma 3, second inequality", **proof,
        statement=Condition(
            2 * R_t[r] + 2 * E_round(norm2(x_bar - next_bar), r), "<=", 2 * R_t[r] + 2 * R_t[r], (all_rounds,)),
        steps=("afedpd/lemma-1",),
    ),
)

# the last step of Lemma 2, about numbers -----------------------------------------------------------------------------
R, J, h_sq = (sp.Symbol(n, nonnegative=True) for n in ("R_now", "J_now", "h_sq"))
step_2 = 4 * L**2 / rho_prox**2 * (R + 2 * J + h_sq) + 4 * eps_inexact / rho_prox**2

lemma_2_step_3 = step(
    id="afedpd/lemma-2-step-3", number="proof of Lemma 2, last display",
    reading="R_t, J_t and the squared gradient norm stand for any numbers that satisfy the step before",
    variables=(
        Variable("L", "positive"), any_rho,
        *(Variable(n, "nonnegative") for n in ("R_now", "J_now", "h_sq", "eps_inexact")),
    ),
    conditions=(Condition(step_2 - R, ">=", 0),),
    statement=Condition(
        (1 - 4 * L**2 / rho_prox**2) * R, "<=",
        8 * L**2 / rho_prox**2 * J + 4 * L**2 / rho_prox**2 * h_sq + 4 * eps_inexact / rho_prox**2,
    ),
)

CLAIMS = (
    *theorem_1_readings, *theorem_1_explicit, *lemma_1, *lemma_2, *lemma_3, *steps_of_lemmas, lemma_2_step_3,
)
