"""Unrolling of the stability recursion and the choice of tau_0, between numbers and sequences (B.3.2)."""

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.samples import G_lip, H_loss, samples
from bounds.language.words import L, Product, Sum, clients, i, j, local_steps, participants, rounds, t
from bounds.papers.afedpd.generalisation import appendix_bound, main_bound
from bounds.papers.afedpd.setting import (
    alpha_mult,
    any_rho,
    client_counts,
    eta_0,
    few_clients,
    gamma_mult,
    mu_lr,
    numbers,
    rho_prox,
    step,
    tau0,
    varied,
)

__all__ = ["CLAIMS"]

length = sp.Symbol("length", integer=True, positive=True)
V, slack = sp.IndexedBase("V", real=True), sp.IndexedBase("slack", real=True)
T = tau0 + length - 1
start = Variable("tau0", "integer", low=0)
later_start = Variable("tau0", "integer")

SEQUENCE = (
    Variable("length", "integer", low=2),
    *(Variable(n, "nonnegative", (("t", "length"),)) for n in ("V", "slack")),
)

DATA = (Variable("clients", "integer"), Variable("samples", "integer"))
RATES = (*numbers("positive", "L", "eta_0", "gamma_mult", "G_lip"), Variable("local_steps", "integer"))
c = gamma_mult * eta_0 * local_steps * L
new_sample = 2 * gamma_mult * eta_0 * local_steps * G_lip / (clients * samples)

SHORT = (
    "V_j is Delta^t + alpha_rho sigma^t at t = tau_0 + j, slack what its recursion falls short of equality; T is "
    "tau_0 + length - 1"
)


def recursion(factor, new):
    """V from tau_0, where it is 0, with what it falls short of equality; ``factor`` and ``new`` at the time j + tau_0."""
    return (
        Condition(V[j + 1], "==", factor * V[j] + new - slack[j], ((j, 0, length - 2),)),
        Condition(V[j], ">=", 0, ((j, 0, length - 1),)), Condition(V[0], "<=", 0),
    )


# constant steps ------------------------------------------------------------------------------------------------------
small_step = Condition(eta_0, "<=", 1 / (local_steps * L))
constant_sum = Sum((1 + c) ** t * new_sample, (t, tau0, T - 1))
constant_bound = 2 * G_lip * (1 + gamma_mult) ** T / (L * clients * samples)

unrolled_constant = varied(step(
    id="afedpd/unrolled-constant", number="B.3.2, case (1), first inequality", reading="the sum",
    variables=(*RATES, *DATA, start, *SEQUENCE), conditions=(small_step, *recursion(1 + c, new_sample)),
    statement=Condition(constant_sum, ">=", V[length - 1]), note=SHORT, steps=("afedpd/rec-one-step",),
), {
    "last": ("the last inequality", {
        "number": "B.3.2, case (1), second inequality", "variables": (*RATES, *DATA, start, SEQUENCE[0]),
        "conditions": (small_step,), "note": "T is tau_0 + length - 1",
        "statement": Condition(constant_bound, ">", constant_sum)}),
    "whole": ("both ends", {
        "number": "B.3.2, case (1)", "statement": Condition(V[length - 1], "<", constant_bound)}),
})

# decaying steps ------------------------------------------------------------------------------------------------------
rate = Condition(mu_lr, ">=", gamma_mult * eta_0 * local_steps)  # eta_0 <= mu / (gamma K)
AS_BOUND = "eta_0 <= mu/(gamma K) is written as a lower bound of mu"
printed_product = Product(1 + c / (j + 1), (j, t, T - 1))
decayed_sum = Sum(printed_product * new_sample / (t + 1), (t, tau0, T - 1))
decaying = recursion(1 + c / (tau0 + j + 1), new_sample / (tau0 + j + 1))

unrolled_product = step(
    id="afedpd/unrolled-product", number="B.3.2, case (2), first inequality",
    variables=(*RATES, *DATA, start, *SEQUENCE), conditions=decaying, note=SHORT,
    statement=Condition(decayed_sum, ">=", V[length - 1]),
    steps=("afedpd/rec-one-step",),
)

exponent = sp.Symbol("c", positive=True)
EXPONENT = "c is gamma eta_0 K L"
BEFORE_T = Condition(tau0, "<=", rounds - 1)
number_of_rounds = Variable("rounds", "integer")

product_exp = varied(step(
    id="afedpd/product-exp", number="B.3.2, case (2), second inequality", reading="each product",
    variables=(*numbers("positive", "c"), number_of_rounds),
    statement=Condition(
        (rounds / (t + 1)) ** exponent, ">=", Product(1 + exponent / (j + 1), (j, t, rounds - 1)), ((t, 0, rounds - 1),)),
    note=f"{EXPONENT}; exp(c ln x) is x^c",
), {
    "summed": ("the sum over t with its weights", {
        "variables": (*numbers("positive", "c", "L", "G_lip"), *DATA, later_start, number_of_rounds),
        "conditions": (BEFORE_T,),
        "statement": Condition(
            Sum((rounds / (t + 1)) ** exponent * 2 * exponent * G_lip / (L * clients * samples * (t + 1)),
                (t, tau0, rounds - 1)), ">=",
            Sum(Product(1 + exponent / (j + 1), (j, t, rounds - 1)) * 2 * exponent * G_lip / (
                L * clients * samples * (t + 1)), (t, tau0, rounds - 1)))}),
    "summed+tau0-0": ("the sum over t with its weights, from tau_0 = 0 on", {
        "variables": (*numbers("positive", "c"), number_of_rounds),
        "statement": Condition(
            Sum((rounds / (t + 1)) ** exponent / (t + 1), (t, 0, rounds - 1)), ">=",
            Sum(Product(1 + exponent / (j + 1), (j, t, rounds - 1)) / (t + 1), (t, 0, rounds - 1))),
        "note": f"{EXPONENT}; common factors are left out"}),
})

last_bound = 2 * G_lip / (L * clients * samples) * (rounds / tau0) ** (mu_lr * L)

sum_power = step(
    id="afedpd/sum-power", number="B.3.2, case (2), last inequality",
    variables=(*numbers("positive", "c", "L", "mu_lr", "G_lip"), *DATA, later_start, number_of_rounds),
    conditions=(Condition(exponent, "<=", mu_lr * L), BEFORE_T),
    statement=Condition(
        last_bound, ">",
        2 * exponent * G_lip * rounds**exponent / (L * clients * samples)
        * Sum((1 / (t + 1)) ** (1 + exponent), (t, tau0, rounds - 1))),
    note=EXPONENT,
)

unrolled_decayed = step(
    id="afedpd/unrolled-decayed", number="B.3.2, case (2), both ends",
    reading="from the recursion of Delta + alpha_rho sigma",
    variables=(*RATES, *numbers("positive", "mu_lr"), *DATA, later_start, *SEQUENCE), conditions=(rate, *decaying),
    statement=Condition(V[length - 1], "<", 2 * G_lip / (L * clients * samples) * (T / tau0) ** (mu_lr * L)),
    note=f"{SHORT}; {AS_BOUND}", steps=("afedpd/unrolled-product", "afedpd/sum-power"),
)

# the four lines of the system, rounds one after the other ------------------------------------------------------------
# with equality they say pi^{t+1} = (sigma^{t+1} - sigma^t)/rho and Delta^{t+1} = Delta^t + (2 sigma^{t+1} - sigma^t)/rho
W = sp.IndexedBase("W", real=True)
p_lr = sp.Symbol("p_lr", integer=True, positive=True)
end = length - 1


def Delta_at(index):
    """Delta at round tau_0 + index, from the sequence of sigma/rho, both 0 at tau_0."""
    return 2 * W[index] + Sum(W[i], (i, 1, index - 1))


LINES = (
    Condition(
        W[j + 1], "==",
        W[j] + eta_0 / (tau0 + j + 1) * local_steps * (L * Delta_at(j) + rho_prox * W[j] + 2 * G_lip / (clients * samples)),
        ((j, 0, length - 2),)),
    Condition(W[0], "<=", 0), Condition(gamma_mult, "==", 1 + alpha_mult * rho_prox), Condition(mu_lr, "==", p_lr / L),
    Condition(eta_0, "<=", mu_lr / (gamma_mult * local_steps)),
)


def admissible(eta):
    """The condition on alpha at this step size."""
    x = alpha_mult * rho_prox
    return Condition(L * x**2 - rho_prox * x - (L + rho_prox + 1 / (eta * local_steps)), ">=", 0)


system = unrolled_decayed.variant(
    "system", "the four lines of the system with equality; alpha serves the step of the first round; mu L a whole number",
    variables=(*numbers("positive", "L", "eta_0", "G_lip", "alpha_mult"), any_rho, Variable("local_steps", "integer"),
               Variable("p_lr", "integer"), *DATA, later_start, SEQUENCE[0],
               Variable("W", "nonnegative", (("t", "length"),))),
    conditions=(*LINES, admissible(eta_0)),
    statement=Condition(
        Delta_at(end) + (alpha_mult * rho_prox - 1) * W[end], "<",
        2 * G_lip / (L * clients * samples) * (T / tau0) ** p_lr),
    note="W_j is sigma^t/rho at t = tau_0 + j, and Delta^t follows from it; T is tau_0 + length - 1; p_lr is mu L",
)

system_readings = (
    system,
    system.variant(
        "system+gamma-last",
        "the four lines of the system with equality; alpha serves the step of the last round; mu L a whole number",
        conditions=(*LINES, admissible(eta_0 / T))),
)

# the choice of tau_0 -------------------------------------------------------------------------------------------------
PLAIN = (*numbers("positive", "L", "mu_lr", "G_lip", "H_loss"), *client_counts, Variable("samples", "integer"))
before_choice = 2 * G_lip**2 / (L * clients * samples) * (rounds / tau0) ** (mu_lr * L) + (
    H_loss * participants * tau0 / (clients * samples))
D_T, s_1 = sp.Symbol("Delta", real=True), sp.Symbol("s_1", nonnegative=True)

gap_second = step(
    id="afedpd/gap-before-tau0@numbers", number="B.3.2, from Lemma 4, second inequality",
    reading="any Delta^T that satisfies the inequality before",
    variables=(*PLAIN, later_start, number_of_rounds, *numbers("nonnegative", "Delta")),
    conditions=(few_clients, BEFORE_T, Condition(D_T - last_bound, "<=", 0)),
    statement=Condition(G_lip * D_T + H_loss * participants * tau0 / (clients * samples), "<=", before_choice),
    steps=("afedpd/lemma-4", "afedpd/unrolled-decayed"),
)

tau, other = sp.Symbol("tau_real", positive=True), sp.Symbol("tau_other", positive=True)
root_1, root_2 = sp.Symbol("root_1", positive=True), sp.Symbol("root_2", positive=True)
share = 1 / (1 + mu_lr * L)


def bound_at(start):
    """Right side of gap-before-tau0 at a real tau_0, for mu L = p_lr."""
    return 2 * G_lip**2 / (L * clients * samples) * (rounds / start) ** p_lr + (
        H_loss * participants * start / (clients * samples))


tau0_choice = varied(step(
    id="afedpd/tau0-choice", number="B.3.2, choice of tau_0",
    reading="inserting tau_0 gives the printed value; mu L a whole number",
    variables=(*numbers("positive", "G_lip", "root_1", "root_2"), *client_counts, Variable("samples", "integer"),
               number_of_rounds, Variable("p_lr", "integer")),
    conditions=(
        few_clients, Condition(L, "==", 2 * G_lip**2 / root_1 ** (1 + p_lr)),
        Condition(H_loss, "==", root_2 ** (1 + p_lr) / (participants * rounds)),
        Condition(tau, "==", root_1 * rounds / root_2),
    ),
    statement=Condition(bound_at(tau), "==", 2 / (clients * samples) * root_1 * root_2**p_lr),
    note="p_lr is mu L, root_1 is (2 G^2 / L)^(1/(1 + mu L)), root_2 is (H P T)^(1/(1 + mu L)), so that tau_0 is "
    "root_1 T / root_2; L and H follow from the roots",
), {"minimiser": ("no other positive tau_0 gives less; mu L a whole number", {
    "variables": (*numbers("positive", "G_lip", "root_1", "root_2", "tau_other"), *client_counts,
                  Variable("samples", "integer"), number_of_rounds, Variable("p_lr", "integer")),
    "statement": Condition(bound_at(tau), "<=", bound_at(other))}),
})

theorem_2_constants = varied(step(
    id="afedpd/theorem-2-constants", number="Theorem 2 against the last display of B.3.2",
    reading="the appendix's right side against the main text's", variables=(*PLAIN, number_of_rounds),
    conditions=(few_clients,), statement=Condition(appendix_bound, "<=", main_bound),
), {"factor": ("their constants alone", {
    "variables": numbers("positive", "L", "mu_lr"), "conditions": (), "statement": Condition(2 * 2**share, "<=", 4)})})

CLAIMS = (
    *unrolled_constant, unrolled_product, *product_exp, sum_power, unrolled_decayed, *system_readings, gap_second,
    *tau0_choice, *theorem_2_constants,
)
