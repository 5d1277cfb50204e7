"""Proof of Theorem A.4 of FedLUAR: Lemma A.1 put into Lemma A.3."""

import sympy as sp

from bounds.language.claim import Claim, Condition, Variable
from bounds.language.words import E, L, Sum, clients, local_steps, norm2, objective_grad, r, rounds, sigma_sq, x_round
from bounds.papers.fedluar.assumptions import ASSUMPTIONS_1_TO_3, all_rounds
from bounds.papers.fedluar.builders import Reading, algebra_claim, in_readings, round_claim
from bounds.papers.fedluar.quantities import every_step
from bounds.papers.fedluar.theorems import KAPPA_SMALL, SQUARED, THEOREM_STEP, gradient_sum
from bounds.papers.fedluar.words import eta, kappa, sigma_g_sq

__all__ = ["CLAIMS"]

tau, T, m = local_steps, rounds, clients
omega = 1 - 16 * kappa
END = ("mask", "participation", "kappa", "hat", "end")


def inserted(decrease, drifts):
    """Right side of the first display, with this F(x_0) - F(x_T) and this double sum."""
    return (2 / (omega * eta * tau) * decrease + 2 * T / omega * (L * eta / m + 4) * sigma_sq + 16 * T / omega * sigma_g_sq
            + 18 * L**2 / (omega * tau) * drifts)


def simplified(decrease):
    """X."""
    return (2 / (omega * eta * tau) * decrease + 2 * T / omega * (L * eta / m + 4 + 9 * L**2) * sigma_sq
            + 540 * T * L**2 * eta**2 * tau**2 / omega * sigma_g_sq)


def of_one_step(gradient_sq):
    return 5 * eta**2 * tau * sigma_sq + 30 * eta**2 * tau**2 * sigma_g_sq + 30 * eta**2 * tau**2 * gradient_sq


def step(under: Reading, name, number, right) -> Claim:
    return round_claim(
        under, id=f"fedluar/{name}", number=number, kind="proof step", assumptions=ASSUMPTIONS_1_TO_3,
        conditions=(under.kappa_is, KAPPA_SMALL, THEOREM_STEP), statement=Condition(gradient_sum, "<=", right),
        note=f"t is r; {SQUARED}")


def insert_drift(reading: Reading) -> Claim:
    drifts = Sum(of_one_step(E(norm2(objective_grad(x_round[r])))), every_step, all_rounds)
    return step(reading, "theorem-A.4-insert-drift", "before (22)", inserted(reading.start() - reading.final(), drifts))


def eq_22(reading: Reading) -> Claim:
    return step(reading, "eq-22", "(22)", simplified(reading.start() - reading.final()) + gradient_sum / 2)


# numbers -------------------------------------------------------------------------------------------------------------
gradients, decrease = sp.Symbol("gradients", nonnegative=True), sp.Symbol("decrease", real=True)
lengths = tuple(Variable(n, "integer") for n in ("local_steps", "rounds", "clients"))

constants = (
    *(Variable(n, "positive") for n in ("L", "eta")), *lengths,
    *(Variable(n, "nonnegative") for n in ("sigma_sq", "sigma_g_sq", "kappa")),
)

sums = (Variable("gradients", "nonnegative"), Variable("decrease", "real"))
NOTE = f"gradients is the sum over the run, decrease is F(x_0) - F(x_T); {SQUARED}"
last_factor = 540 * L**2 * eta**2 * tau**2 / omega

simplify = algebra_claim(
    id="fedluar/theorem-A.4-simplify", number="before (22)", kind="proof step", variables=(*constants, *sums),
    conditions=(KAPPA_SMALL, THEOREM_STEP),
    statement=Condition(
        inserted(decrease, tau * T * (5 * eta**2 * tau * sigma_sq + 30 * eta**2 * tau**2 * sigma_g_sq)
                 + tau * 30 * eta**2 * tau**2 * gradients), "<=", simplified(decrease) + last_factor * gradients),
    note=f"{NOTE}; the double sum is taken",
)

coefficient = algebra_claim(
    id="fedluar/theorem-A.4-coefficient", number="(22)", kind="proof step",
    variables=(*constants[:2], lengths[0], Variable("kappa", "nonnegative")), conditions=(KAPPA_SMALL, THEOREM_STEP),
    statement=Condition(last_factor, "<=", sp.Rational(1, 2)), note=SQUARED,
)

last = algebra_claim(
    id="fedluar/eq-22@last-step", number="after (22)", kind="proof step",
    reading="G at most X + G/2 gives G at most 2 X, which is the right side of Theorem A.4",
    variables=(*constants, *sums),
    conditions=(KAPPA_SMALL, THEOREM_STEP, Condition(0, "<=", simplified(decrease) - gradients / 2)),
    statement=Condition(
        gradients, "<=", 4 / (omega * eta * tau) * decrease + 4 * T / omega * (L * eta / m + 4 + 9 * L**2) * sigma_sq
        + 1080 * T * L**2 * eta**2 * tau**2 / omega * sigma_g_sq),
    note=NOTE,
)

CLAIMS = (*in_readings(insert_drift, END), simplify, coefficient, *in_readings(eq_22, END), last)
