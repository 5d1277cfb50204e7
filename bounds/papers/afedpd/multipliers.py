"""The stability recursion and its multipliers, between numbers and vectors (B.3.2)."""

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.samples import G_lip, samples
from bounds.language.words import L, Sum, clients, j, k, local_steps, norm
from bounds.papers.afedpd.generalisation import x_plus
from bounds.papers.afedpd.setting import alpha_mult, any_rho, beta_mult, eta, gamma_mult, numbers, rho_prox, step, varied

__all__ = ["CLAIMS", "alpha_quadratic"]

L_rho = (*numbers("positive", "L"), any_rho)
ROUND = (*L_rho, *numbers("positive", "eta"), Variable("local_steps", "integer"))
DATA = (Variable("clients", "integer"), Variable("samples", "integer"), *numbers("nonnegative", "G_lip"))
NOW = numbers("nonnegative", "Delta", "sigma_dual")
SHORT = numbers("nonnegative", "s_1", "s_2", "s_3", "s_4")
Delta, sigma = (sp.Symbol(n, nonnegative=True) for n in ("Delta", "sigma_dual"))
s_1, s_2, s_3, s_4 = (sp.Symbol(f"s_{n}", nonnegative=True) for n in range(1, 5))
pi_next, delta_next, sigma_next, Delta_next = (
    sp.Symbol(n, real=True) for n in ("pi_next", "delta_next", "sigma_next", "Delta_next"))
c_1, c_2, c_3 = eta * local_steps * L, eta * local_steps, 2 * eta * local_steps * G_lip / (clients * samples)

SYSTEM = (
    Condition(pi_next, "==", c_1 * Delta + c_2 * sigma + c_3 - s_4),
    Condition(delta_next, "==", pi_next + Delta - s_3),
    Condition(sigma_next, "==", sigma + rho_prox * pi_next - s_2),
    Condition(Delta_next, "==", delta_next + sigma_next / rho_prox - s_1),
    *(Condition(-n, "<=", 0) for n in (pi_next, delta_next, sigma_next, Delta_next)),
)

FALLS_SHORT = "s_1 to s_4 are what the four inequalities of the system fall short of equality"
weighted_right = (beta_mult + gamma_mult * c_1) * Delta + (alpha_mult + gamma_mult * c_2) * sigma + gamma_mult * c_3
MULTIPLIERS = numbers("positive", "alpha_mult", "beta_mult", "gamma_mult")

weighted = step(
    id="afedpd/rec-weighted", number="B.3.2, after the system", variables=(*ROUND, *DATA, *NOW, *SHORT, *MULTIPLIERS),
    conditions=SYSTEM, note=FALLS_SHORT,
    statement=Condition(
        Delta_next + (alpha_mult - 1 / rho_prox) * sigma_next + (beta_mult - 1) * delta_next
        + (gamma_mult - alpha_mult * rho_prox - beta_mult) * pi_next, "<=", weighted_right,
    ),
    steps=("afedpd/rec-delta-global", "afedpd/rec-sigma", "afedpd/rec-delta-local", "afedpd/rec-pi"),
)

smallest_gamma = 1 + alpha_mult * rho_prox

multipliers = varied(step(
    id="afedpd/multipliers", number="B.3.2, conditions on the multipliers", reading="no admissible gamma is smaller",
    variables=(*MULTIPLIERS, any_rho),
    conditions=(
        Condition(beta_mult, ">=", 1), Condition(gamma_mult - alpha_mult * rho_prox - beta_mult, ">=", 0)),
    statement=Condition(smallest_gamma, "<=", gamma_mult),
), {
    "feasible": ("beta = 1 and gamma = 1 + alpha rho are admissible", {
        "variables": (*MULTIPLIERS[:1], any_rho),
        "conditions": (Condition(beta_mult, "==", 1), Condition(gamma_mult, "==", smallest_gamma)),
        "statement": Condition(gamma_mult - alpha_mult * rho_prox - beta_mult, ">=", 0)}),
})

CHOSEN = (Condition(beta_mult, "==", 1), Condition(gamma_mult, "==", smallest_gamma))
fraction = (alpha_mult + smallest_gamma * eta * local_steps) / (1 + smallest_gamma * eta * local_steps * L)
factor = 1 + gamma_mult * eta * local_steps * L
new_sample = gamma_mult * eta * local_steps * G_lip / (clients * samples)

factored = varied(step(
    id="afedpd/rec-factored", number="B.3.2, after the choice of multipliers, last inequality",
    reading="the fraction times sigma^t", variables=(*ROUND, *DATA, *NOW, *MULTIPLIERS[:1]), conditions=CHOSEN,
    statement=Condition(weighted_right, "<=", factor * (Delta + fraction * sigma) + 2 * new_sample),
), {"printed": ("as printed, without sigma^t after the fraction", {
    "statement": Condition(weighted_right, "<=", factor * (Delta + fraction) + 2 * new_sample)})})

# the condition on alpha ----------------------------------------------------------------------------------------------
product = alpha_mult * rho_prox
alpha_quadratic = Condition(L * product**2 - rho_prox * product - (L + rho_prox + 1 / (eta * local_steps)), ">=", 0)
alpha_fraction = Condition(alpha_mult - 1 / rho_prox, ">=", fraction)

alpha_condition = varied(step(
    id="afedpd/alpha-condition", number="B.3.2, condition on alpha", reading="the quadratic inequality suffices",
    variables=(*ROUND, *MULTIPLIERS[:1]), conditions=(alpha_quadratic,), statement=alpha_fraction,
), {"necessary": ("the quadratic inequality is needed", {"conditions": (alpha_fraction,), "statement": alpha_quadratic})})

first_form = x_plus(eta)
root = sp.sqrt((rho_prox + 2 * L) ** 2 + 4 * L / (eta * local_steps))
second_form = (rho_prox + root) / (2 * L)
excess = sp.Symbol("excess", nonnegative=True)


def quadratic(x):
    """L x^2 - rho x - (L + rho + 1/(eta K))."""
    return L * x**2 - rho_prox * x - (L + rho_prox + 1 / (eta * local_steps))


#: rho, L and eta K in which both printed roots are rational; every positive rho, L, eta K occurs
m, z = (sp.Symbol(n, positive=True) for n in ("m", "z"))

RATIONAL = {
    "variables": (*numbers("positive", "L", "z"), Variable("m", "positive"), Variable("local_steps", "integer")),
    "conditions": (
        Condition(rho_prox, "==", z * (m - 1 / m) - 2 * L), Condition(eta, "==", L / (local_steps * z**2)),
        Condition(z * (m - 1 / m) - 2 * L, ">", 0),
    ),
    "note": "z is sqrt(L / (eta K)) and z (m + 1/m) the root; every rho, L and eta occurs",
}

x_plus_claims = varied(step(
    id="afedpd/x-plus", number="B.3.2, larger zero", reading="it is a zero", variables=ROUND,
    statement=Condition(quadratic(first_form), "==", 0),
), {
    "forms": ("the two printed forms agree", {"statement": Condition(first_form, "==", second_form)}),
    "larger": ("the other zero is not larger", {
        "statement": Condition((rho_prox - root) / (2 * L), "<=", first_form)}),
    "suffices": ("every alpha rho >= x^+ satisfies the condition on alpha", {
        "variables": (*ROUND, *numbers("nonnegative", "excess")),
        "statement": Condition(quadratic(second_form + excess), ">=", 0), "note": "alpha rho is x^+ + excess"}),
})

bound = 1 + rho_prox / L + 2 * sp.sqrt(L / (eta * local_steps))

x_plus_bound = varied(step(
    id="afedpd/x-plus-bound", number="B.3.2, bound on the larger zero", variables=ROUND,
    statement=Condition(second_form, "<=", bound),
), {"rational-roots": ("parameters in which both roots are rational; z for sqrt(L / (eta K))", {
    **RATIONAL, "statement": Condition(second_form, "<=", 1 + rho_prox / L + 2 * z)})})

alpha_rho_bound = varied(step(
    id="afedpd/alpha-rho-bound", number="B.3.2, alpha_rho, first inequality", variables=(*ROUND, *MULTIPLIERS[:1]),
    conditions=(Condition(product, ">=", second_form),),
    statement=Condition(alpha_mult - 1 / rho_prox, ">=", (second_form - 1) / rho_prox),
), {
    "last": ("the last inequality", {
        "number": "B.3.2, alpha_rho, last inequality", "variables": ROUND, "conditions": (),
        "statement": Condition((second_form - 1) / rho_prox, ">", 1 / L)}),
    "last+rational-roots": ("the last inequality, in parameters in which the root is rational", {
        "number": "B.3.2, alpha_rho, last inequality", **RATIONAL,
        "statement": Condition((second_form - 1) / rho_prox, ">", 1 / L)}),
})

# one step of the recursion -------------------------------------------------------------------------------------------
alpha_rho = alpha_mult - 1 / rho_prox

one_step = varied(step(
    id="afedpd/rec-one-step", number="B.3.2, recursion of Delta + alpha_rho sigma", reading="as this display prints",
    variables=(*ROUND, *DATA, *NOW, *SHORT, *MULTIPLIERS[:1]), note=FALLS_SHORT,
    conditions=(*SYSTEM, Condition(gamma_mult, "==", smallest_gamma), alpha_quadratic),
    statement=Condition(
        Delta_next + alpha_rho * sigma_next, "<=", factor * (Delta + alpha_rho * sigma) + new_sample),
    steps=("afedpd/rec-weighted", "afedpd/rec-factored", "afedpd/alpha-condition"),
), {"two": ("with the factor 2 of the displays before and after", {
    "statement": Condition(
        Delta_next + alpha_rho * sigma_next, "<=", factor * (Delta + alpha_rho * sigma) + 2 * new_sample)})})

# the second line of the system, one participant ----------------------------------------------------------------------
update, dual = sp.IndexedBase("update_gap", real=True), sp.IndexedBase("lam_gaps", real=True)
other = Variable("count", "integer")
count = sp.Symbol("count", integer=True, positive=True)
everyone, drawn = (k, 0, count - 1), (j, 0, count - 1)
after = Sum(norm(dual[k] + rho_prox * update[j]), everyone, drawn) / count**2  # an inactive client's dual moves as the mean
before = Sum(norm(dual[k]), everyone) / count
moved = Sum(norm(update[k]), everyone) / count
ANY = "one participant, differences of duals and of local updates any vectors"

rec_sigma = varied(step(
    id="afedpd/rec-sigma@vectors", number="B.3.2, system, second line",
    reading=f"{ANY}; clients that are not sampled keep the model that they would receive",
    variables=(any_rho, other, *(Variable(n, "vector", (("k", "count"),)) for n in ("update_gap", "lam_gaps"))),
    statement=Condition(after, "<=", before + rho_prox * moved / count),
    note="count is C, P = 1: client j is drawn with probability 1/C, and all duals move by rho times its update",
), {"vectors+virtual": (f"{ANY}; clients that are not sampled train virtually", {
    "statement": Condition(after, "<=", before + rho_prox * moved)})})

CLAIMS = (
    weighted, *multipliers, *factored, *alpha_condition, *x_plus_claims, *x_plus_bound, *alpha_rho_bound, *one_step,
    *rec_sigma,
)
