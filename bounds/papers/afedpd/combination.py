"""The choice of q and the condition on rho in the proof of Theorem 1 (B.2.2), and its implications between numbers."""

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.words import L, rounds
from bounds.papers.afedpd.optimisation import RHO_APPENDIX
from bounds.papers.afedpd.setting import any_rho, eps_inexact, numbers, q_mult, rho_prox, step, varied

__all__ = ["CLAIMS", "q_value"]

L_and_rho = (*numbers("positive", "L"), any_rho)
L_rho_q = (*L_and_rho, *numbers("positive", "q_mult"))
q_value = rho_prox / (32 * L**2)
decay = 1 - 4 * L**2 / rho_prox**2
kept = q_mult * decay - L / 2 * (1 + L / rho_prox)
carried = q_mult * 32 * L**2 / rho_prox**2
chosen_q = Condition(q_mult, "==", q_value)

# the range of q ------------------------------------------------------------------------------------------------------
coefficient = 1 / (2 * rho_prox) - 4 * q_mult * L**2 / rho_prox**2
small_q = Condition(q_mult, "<", rho_prox / (8 * L**2))

q_range = varied(step(
    id="afedpd/q-range", number="B.2.2, discussion of q, first sentence", reading="q < rho/(8 L^2) suffices",
    variables=L_rho_q, conditions=(small_q,), statement=Condition(coefficient, ">", 0),
), {
    "necessary": ("q < rho/(8 L^2) is needed", {
        "conditions": (Condition(coefficient, ">", 0),), "statement": small_q}),
})

positive_q = Condition(rho_prox**2 - 36 * L**2, ">", 0)
requested = L * (rho_prox**2 + rho_prox * L) / (rho_prox**2 - 36 * L**2)

q_equation = step(
    id="afedpd/q-equation", number="B.2.2, discussion of q, display", variables=L_and_rho,
    conditions=(Condition(q_mult, "==", requested / 2), positive_q),
    statement=Condition(kept, "==", carried),
    note="linear in q: the printed 2q is inserted",
)

# the condition on rho ------------------------------------------------------------------------------------------------
limit = Condition(requested, "<", rho_prox / (4 * L**2))

rho_quadratic = varied(step(
    id="afedpd/rho-quadratic", number="B.2.2, condition on rho", reading="the quadratic condition suffices",
    variables=L_and_rho, conditions=(RHO_APPENDIX,), statement=limit,
), {
    "necessary": ("the quadratic condition is needed, where q is positive", {
        "conditions": (limit, positive_q), "statement": RHO_APPENDIX}),
})

c = sp.Symbol("c", positive=True)

rho_order = varied(step(
    id="afedpd/rho-order", number="B.2.2, after the condition on rho", explicit=False, reading="O(.) as L grows",
    variables=(*L_and_rho, Variable("c", "hidden")), conditions=(Condition(rho_prox, ">", c * L**3),),
    statement=Condition(4 * L**3 * rho_prox + 36 * L**2 + 4 * L**4, "<", rho_prox**2), limits=((L, sp.oo),),
    note="c is the constant of O(L^3)",
), {"small-L": ("O(.) as L falls to 0", {"limits": ((L, 0),)})})

# the choice of q -----------------------------------------------------------------------------------------------------
q_choice = varied(step(
    id="afedpd/q-choice", number="B.2.2, choice of q", variables=L_and_rho, conditions=(chosen_q,),
    statement=Condition(carried, "==", 1 / rho_prox),
), {
    "range": ("the chosen q lies in its range", {"statement": small_q}),
    "relation": ("the chosen q satisfies the relation between the coefficients, as an inequality", {
        "conditions": (RHO_APPENDIX, chosen_q), "statement": Condition(kept, ">=", carried)}),
})

# implications between the numbers of one round -----------------------------------------------------------------------
R_now, R_before, h_sq, f_now, J_now, f_next = (
    sp.Symbol(n, real=True) for n in ("R_now", "R_before", "h_sq", "f_now", "J_now", "f_next"))
round_numbers = (*numbers("nonnegative", "R_now", "R_before", "h_sq"), *numbers("real", "f_now"),
                 *numbers("nonnegative", "eps_inexact"))
any_numbers = "the quantities of a round stand for any numbers that satisfy the inequalities that the step combines"
descent = L / 2 * (1 + L / rho_prox) * R_now - h_sq / (2 * rho_prox)  # of f
lemma_2 = 8 * L**2 / rho_prox**2 * J_now + 4 * L**2 / rho_prox**2 * h_sq + 4 * eps_inexact / rho_prox**2
recursion = 32 * L**2 / rho_prox**2 * R_before + 4 * L**2 / rho_prox**2 * h_sq + 4 * eps_inexact / rho_prox**2
combined = (
    f_now + carried * R_before - coefficient * h_sq + 4 * q_mult * eps_inexact / rho_prox**2  # right side of q-combined
)
s_1, s_2 = (sp.Symbol(n, nonnegative=True) for n in ("s_1", "s_2"))
slacks = numbers("nonnegative", "s_1", "s_2")

r_recursion = step(
    id="afedpd/r-recursion@numbers", number="B.2.2, system, second line", reading=any_numbers,
    variables=(*L_and_rho, *round_numbers[:3], *numbers("nonnegative", "J_now", "eps_inexact")),
    conditions=(Condition(decay * R_now, "<=", lemma_2), Condition(J_now, "<=", 4 * R_before)),
    statement=Condition(decay * R_now, "<=", recursion), steps=("afedpd/lemma-2", "afedpd/lemma-3"),
)

q_combined = step(
    id="afedpd/q-combined@numbers", number="B.2.2, after the system", reading=any_numbers,
    variables=(*L_rho_q, *round_numbers, *slacks[:1]),
    conditions=(Condition(decay * R_now, "<=", recursion), Condition(f_next, "==", f_now + descent - s_1)),
    statement=Condition(f_next + kept * R_now, "<=", combined), steps=("afedpd/descent", "afedpd/r-recursion"),
    note="s_1 is what the descent inequality falls short of equality",
)

one_step = step(
    id="afedpd/one-step-theorem-1@numbers", number="B.2.2, after the choice of q", reading=any_numbers,
    variables=(*L_and_rho, *round_numbers, *slacks[:1]),
    conditions=(RHO_APPENDIX, chosen_q, Condition(f_next, "==", combined - kept * R_now - s_1)),
    statement=Condition(
        f_next + R_now / rho_prox, "<=",
        f_now + R_before / rho_prox - h_sq / rho_prox + eps_inexact / (8 * L**2 * rho_prox),
    ),
    steps=("afedpd/q-combined", "afedpd/q-choice"), note="s_1 is what q-combined falls short of equality",
)

# the last two displays -----------------------------------------------------------------------------------------------
f_first, f_last, f_low, R_0, R_T = (
    sp.Symbol(n, real=True) for n in ("f_first", "f_last", "f_low", "R_start", "R_end"))
error = eps_inexact / (8 * L**2 * rho_prox)
summed = (f_first - f_last) / rounds + (R_0 - R_T) / (rho_prox * rounds) + error

relaxed = step(
    id="afedpd/telescoped-relaxed@numbers", number="B.2.2, after the accumulation, second inequality",
    reading="any numbers with f* below the values of f, and f(theta^{T+1}) no less than it",
    variables=(*L_and_rho, *numbers("real", "f_low"),
               *numbers("nonnegative", "s_1", "s_2", "R_start", "R_end", "eps_inexact"), Variable("rounds", "integer")),
    conditions=(Condition(f_first, "==", f_low + s_1), Condition(f_last, "==", f_low + s_2)),
    statement=Condition(summed, "<=", (rho_prox * (f_first - f_low) + R_0) / rounds + error),
    steps=("afedpd/telescoped",), note="s_1 and s_2 are the gaps of the first and the last value",
)

relaxed_appendix = relaxed.variant(
    "numbers+rho-appendix", f"{relaxed.reading}; rho as the proof needs it", conditions=(*relaxed.conditions, RHO_APPENDIX),
)

H_1, H_2 = (sp.Symbol(n, nonnegative=True) for n in ("h_sq_1", "h_sq_2"))
f_1, f_2, f_3 = (sp.Symbol(f"f_{n}", real=True) for n in "123")
R_1, R_2 = (sp.Symbol(f"R_{n}", nonnegative=True) for n in "12")

telescoped = step(
    id="afedpd/telescoped@numbers", number="B.2.2, after the accumulation, first inequality",
    reading="two rounds, any numbers that satisfy the one-step inequality",
    variables=(*L_and_rho, *numbers("real", "f_1"),
               *numbers("nonnegative", "R_start", "R_1", "R_2", "h_sq_1", "h_sq_2", "s_1", "s_2", "eps_inexact")),
    conditions=(
        Condition(f_2, "==", f_1 + R_0 / rho_prox - R_1 / rho_prox - H_1 / rho_prox + error - s_1),
        Condition(f_3, "==", f_2 + R_1 / rho_prox - R_2 / rho_prox - H_2 / rho_prox + error - s_2),
    ),
    statement=Condition((H_1 + H_2) / 2, "<=", (f_1 - f_3) / 2 + (R_0 - R_2) / (2 * rho_prox) + error),
    steps=("afedpd/one-step-theorem-1",), note="T = 2; s_1 and s_2 are what the inequalities fall short of equality",
)

CLAIMS = (
    *q_range, q_equation, *rho_quadratic, *rho_order, *q_choice, r_recursion, q_combined, one_step, telescoped, relaxed,
    relaxed_appendix,
)
