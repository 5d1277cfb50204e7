"""Proof of Lemma A.3 of FedLUAR: how much the objective falls in a round, and over the run."""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Claim, Condition, Variable
from bounds.language.words import (
    E,
    L,
    Sum,
    clients,
    dot,
    g,
    grad,
    iterations,
    k,
    local_steps,
    norm2,
    objective,
    objective_grad,
    participants,
    r,
    rounds,
    sampled,
    sigma_sq,
    x_local,
    x_round,
)
from bounds.papers.fedluar.assumptions import ASSUMPTIONS_1_TO_3, independent_noise
from bounds.papers.fedluar.builders import (
    MASK_AXES,
    SMALL_STEP,
    Reading,
    algebra_claim,
    at_each,
    constant_step,
    in_readings,
    now_at,
    over_rounds,
    round_claim,
)
from bounds.papers.fedluar.quantities import every_client, every_step
from bounds.papers.fedluar.theorems import KAPPA_LITERAL, KAPPA_SMALL, gradient_sum
from bounds.papers.fedluar.words import eta, kappa, sigma_g_sq

__all__ = ["CLAIMS"]

tau, T, m = local_steps, rounds, clients
AXES = (*MASK_AXES, "expectation")
start = x_round[r]
slope = objective_grad(start)
deviation = grad(k, x_local[now_at(), k]) - grad(k, start)
noise_now = g[now_at(), k] - grad(k, x_local[now_at(), k])
spread = norm2(x_local[now_at(), k] - start)


def step(under: Reading, name, number, statement, **fields) -> Claim:
    """A step of the proof, about runs."""
    return round_claim(under, id=f"fedluar/{name}", number=number, kind="proof step", statement=statement,
                       **({"assumptions": ASSUMPTIONS_1_TO_3, "note": "t is r"} | fields))


# the two terms of (15) -----------------------------------------------------------------------------------------------
def update(reading: Reading):
    """The printed Delta_t: the averaged sum of stochastic gradients and n_t."""
    return reading.fresh[r] + reading.noise[r]


def T_1(reading: Reading):
    term = -eta * update(reading) + eta * tau * slope
    return dot(slope, reading.mean(term)) if reading.expectation == "conditional" else reading.mean(dot(slope, term))


def T_2(reading: Reading):
    return eta**2 * reading.mean(norm2(update(reading)))


def W(reading: Reading):
    """W_t over m^2."""
    return reading.mean(norm2(reading.true_mean[r] + reading.noise[r]))


def slope_sq(reading: Reading):
    return reading.known(norm2(slope))


def next_value(reading: Reading):
    return reading.mean(objective(x_round[r + 1]))


def value(reading: Reading):
    return reading.known(objective(start))


def noise_sq(reading: Reading):
    return reading.mean(norm2(reading.noise[r]))


def active(reading: Reading):
    """The number of clients whose mean is taken, which stands for m where it is not the number of clients in all."""
    return m if reading.participation == "full" else participants


def eq_15(reading: Reading) -> Claim:
    return step(reading, "eq-15", "(15)", at_each(
        next_value(reading), "<=", value(reading) - eta * tau * slope_sq(reading) + T_1(reading) + L / 2 * T_2(reading)))


def eq_15_start(reading: Reading) -> Claim:
    move = x_round[r + 1] - start
    inner = reading.mean(dot(slope, move)) if reading.expectation == "total" else dot(slope, reading.mean(move))
    return step(reading, "eq-15@first-line", "before (15)", at_each(
        next_value(reading), "<=", value(reading) + inner + L / 2 * reading.mean(norm2(move))), reading="the first line")


def half_slope(reading: Reading):
    return eta * tau / 2 * slope_sq(reading)


def eq_16(reading: Reading) -> Claim:
    drifted = sp.sqrt(eta) / sp.sqrt(tau) * reading.over_clients(deviation)
    whole = sp.sqrt(eta) / sp.sqrt(tau) * reading.true_mean[r]
    noise = sp.sqrt(eta) / sp.sqrt(tau) * reading.noise[r]
    return step(reading, "eq-16", "(16)", at_each(
        T_1(reading), "==", half_slope(reading) + reading.mean(norm2(drifted + noise)) / 2
        - reading.mean(norm2(whole + noise)) / 2))


def eq_16_squared_out(reading: Reading) -> Claim:
    claim = eq_16(reading)
    right = (half_slope(reading) + eta / (2 * tau) * reading.mean(
        norm2(reading.over_clients(deviation) + reading.noise[r])) - eta / (2 * tau) * W(reading))
    return replace(claim, id="fedluar/eq-16@roots-taken-out", reading="with the factors taken out of the norms",
                   statement=replace(claim.statement, right=right))


def T1_split(reading: Reading) -> Claim:
    return step(reading, "lemma-A.3-T1-split", "after (16)", at_each(
        T_1(reading), "<=", half_slope(reading) + eta / tau * reading.mean(norm2(reading.over_clients(deviation)))
        + eta / tau * noise_sq(reading) - eta / (2 * tau) * W(reading)))


def eq_17(reading: Reading) -> Claim:
    return step(reading, "eq-17", "(17)", at_each(
        T_1(reading), "<=", half_slope(reading) + eta * reading.mean(reading.over_clients(norm2(deviation)))
        + eta / tau * noise_sq(reading) - eta / (2 * tau) * W(reading)))


def eq_18(reading: Reading) -> Claim:
    return step(reading, "eq-18", "(18)", at_each(
        T_1(reading), "<=", half_slope(reading) + eta * L**2 * reading.mean(reading.over_clients(spread))
        + eta / tau * noise_sq(reading) - eta / (2 * tau) * W(reading)))


def T2_split(reading: Reading) -> Claim:
    return step(reading, "lemma-A.3-T2-split", "before (19)", at_each(
        T_2(reading), "<=", 2 * eta**2 * reading.mean(norm2(reading.over_clients(noise_now))) + 2 * eta**2 * W(reading)))


def eq_19(reading: Reading) -> Claim:
    by_client = norm2(Sum(noise_now, every_step))
    if reading.participation == "sampled":
        by_client = sampled[r, k] * by_client
    return step(reading, "eq-19", "(19)", at_each(
        reading.mean(norm2(reading.over_clients(noise_now))), "==",
        Sum(reading.mean(by_client), every_client) / active(reading) ** 2),
        assumptions=(*ASSUMPTIONS_1_TO_3, independent_noise))


def eq_20(reading: Reading) -> Claim:
    return step(reading, "eq-20", "(20)", at_each(
        T_2(reading), "<=", 2 * eta**2 * tau / m * sigma_sq + 2 * eta**2 * W(reading)),
        assumptions=(*ASSUMPTIONS_1_TO_3, independent_noise))


def collect(reading: Reading) -> Claim:
    return step(reading, "lemma-A.3-collect", "before (21)", at_each(
        next_value(reading), "<=", value(reading) - half_slope(reading) + L * eta**2 * tau / m * sigma_sq
        + eta * L**2 * reading.mean(reading.drift[r]) + m**2 * (L * eta**2 / m**2 - eta / (2 * m**2 * tau)) * W(reading)
        + eta / tau * noise_sq(reading)))


w = sp.Symbol("W", nonnegative=True)

omit = algebra_claim(
    id="fedluar/lemma-A.3-omit", number="passage to (21)", kind="proof step",
    variables=(*(Variable(n, "positive") for n in ("L", "eta")), Variable("local_steps", "integer"),
               Variable("clients", "integer"), Variable("W", "nonnegative")),
    conditions=(SMALL_STEP,),
    statement=Condition((L * eta**2 / m**2 - eta / (2 * m**2 * tau)) * w, "<=", 0),
)


def omit_measured(reading: Reading) -> Claim:
    return step(reading, "lemma-A.3-omit@run", "passage to (21)", at_each(
        m**2 * (L * eta**2 / m**2 - eta / (2 * m**2 * tau)) * W(reading), "<=", 0),
        conditions=(SMALL_STEP,), reading="W measured")


def bound_21(reading: Reading):
    return (value(reading) - half_slope(reading) + L * eta**2 * tau / m * sigma_sq + eta / tau * noise_sq(reading)
            + eta * L**2 * reading.mean(reading.over_clients(spread)))


def eq_21(reading: Reading) -> Claim:
    return step(reading, "eq-21", "(21)", at_each(next_value(reading), "<=", bound_21(reading)), conditions=(SMALL_STEP,))


forced = Reading(mask="forced")

any_noise = replace(
    eq_21(forced), id="fedluar/eq-21@any-noise", procedure=replace(forced.procedure, options=(("R0", "all"),)),
    reading="any noise n = P(v - D), for given layers that P keeps and a given vector v, which the round repeats",
    variables=(Variable("eta", "positive"), Variable("masks", "binary", (("r", "rounds"), ("l", "layers"))),
               Variable("initial_update", "vector")),
    conditions=(constant_step, SMALL_STEP, Condition(iterations, "==", local_steps)),
    note="t is r; one round from any start, P a projection onto layers",
)


# printed sums that run too far ---------------------------------------------------------------------------------------
def literal(block: Claim, words, undefined) -> Claim:
    """A display whose sums are read as printed."""
    return replace(block, id=f"{block.block}@literal", reading=words, statement=None, undefined=undefined)


DEFAULT = Reading()
NO_CLIENT = "a sum over i = 0 .. m has a client 0, and the clients are 1 .. m"
NO_STEP = "a sum over j = 0 .. tau has a stochastic gradient at the model after tau local steps, where none is taken"

LITERAL = (
    literal(eq_16(DEFAULT), "the displays that lead to (16) as printed, i = 0 .. m", NO_CLIENT),
    *(literal(block(DEFAULT), "the sums over j as printed, j = 0 .. tau", NO_STEP)
      for block in (T2_split, eq_19, eq_20, collect)),
)


# the run -------------------------------------------------------------------------------------------------------------
def fall(reading: Reading):
    """The sum of F(x_{t+1}) - F(x_t)."""
    differences = objective(x_round[r + 1]) - objective(start)
    return over_rounds(E(differences) if reading.end == "expected" else differences)


def summed(reading: Reading) -> Claim:
    return step(reading, "lemma-A.3-sum", "after (21)", Condition(
        fall(reading), "<=", -eta * tau / 2 * gradient_sum + L * eta**2 * tau * T / m * sigma_sq
        + eta / tau * over_rounds(E(norm2(reading.noise[r]))) + eta * L**2 * over_rounds(E(reading.drift[r]))),
        conditions=(SMALL_STEP,))


def insert_noise(reading: Reading) -> Claim:
    right = ((8 * kappa * tau * eta - eta * tau / 2) * gradient_sum + L * eta**2 * tau * T / m * sigma_sq
             + 4 * eta * tau * T * sigma_sq + 8 * eta * tau * T * sigma_g_sq
             + (8 * eta * L**2 + eta * L**2) * over_rounds(E(reading.drift[r])))
    return step(reading, "lemma-A.3-insert-noise", "after (21)", Condition(fall(reading), "<=", right),
                conditions=(SMALL_STEP, reading.kappa_is))


gradients, drifts, fallen = (sp.Symbol(n, real=True) for n in ("gradients", "drifts", "fallen"))

rearranged = (
    *(Variable(n, "positive") for n in ("L", "eta")),
    *(Variable(n, "integer") for n in ("local_steps", "clients", "rounds")),
    *(Variable(n, "nonnegative") for n in ("sigma_sq", "sigma_g_sq", "kappa", "gradients", "drifts")),
    Variable("fallen", "real"),
)

grouped = ((8 * kappa * tau * eta - eta * tau / 2) * gradients + eta * tau * T * (L * eta / m + 4) * sigma_sq
           + 8 * eta * tau * T * sigma_g_sq + 9 * eta * L**2 * drifts)

regroup = algebra_claim(
    id="fedluar/lemma-A.3-insert-noise@regrouped", number="after (21)", kind="proof step",
    reading="the right side and its regrouped form",
    variables=rearranged[:-1],
    statement=Condition(
        (8 * kappa * tau * eta - eta * tau / 2) * gradients + L * eta**2 * tau * T / m * sigma_sq
        + 4 * eta * tau * T * sigma_sq + 8 * eta * tau * T * sigma_g_sq + (8 * eta * L**2 + eta * L**2) * drifts, "==",
        grouped),
    note="gradients and drifts are the two sums over the run",
)

rearrange = algebra_claim(
    id="fedluar/lemma-A.3-rearrange", number="end of the proof", kind="proof step",
    reading="kappa below 1/16", variables=rearranged,
    conditions=(SMALL_STEP, KAPPA_SMALL, Condition(0, "<=", grouped - fallen)),
    statement=Condition(
        gradients, "<=", -2 / ((1 - 16 * kappa) * eta * tau) * fallen
        + 2 * T / (1 - 16 * kappa) * (L * eta / m + 4) * sigma_sq + 16 * T / (1 - 16 * kappa) * sigma_g_sq
        + 18 * L**2 / ((1 - 16 * kappa) * tau) * drifts),
    note="gradients and drifts are the two sums over the run; fallen is F(x_T) - F(x_0)",
)

rearrange_literal = rearrange.variant(
    "literal-domain", "kappa at most 1, other than 1/16",
    conditions=(SMALL_STEP, *KAPPA_LITERAL, Condition(0, "<=", grouped - fallen)),
)

ROUND_BLOCKS = (eq_15, eq_16, T1_split, eq_17, eq_18, T2_split, eq_19, eq_20, collect, eq_21)

CLAIMS = (
    *(claim for block in ROUND_BLOCKS for claim in in_readings(block, AXES)), *in_readings(eq_15_start, ()),
    *in_readings(eq_16_squared_out, ()), *LITERAL, omit, *in_readings(omit_measured, ()), any_noise,
    *in_readings(summed, (*MASK_AXES, "end")), *in_readings(insert_noise, (*MASK_AXES, "end", "kappa", "hat")), regroup,
    rearrange, rearrange_literal,
)
