"""FedALIGN's proof steps about numbers, vectors and sequences alone."""

from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.words import (
    G_sq,
    L,
    Min,
    Product,
    Sum,
    dot,
    i,
    iterations,
    j,
    k,
    local_steps,
    mu,
    norm2,
    sigma_sq,
    step_offset,
    t,
)
from bounds.papers.fedalign.builders import algebra_claim
from bounds.papers.fedalign.conditions import SCHEDULE_VARIABLES, offset_8, schedule_offset

__all__ = ["CLAIMS", "SEQUENCES", "averaged", "recursion", "sequence_bound"]

step = partial(algebra_claim, kind="proof step")
eight_L_over_mu = (Condition(L, ">=", mu), offset_8)


def number(name, **assumptions):
    return sp.Symbol(name, real=True, **assumptions)


# vectors -------------------------------------------------------------------------------------------------------------
a, omega, terms = sp.IndexedBase("a"), sp.IndexedBase("omega", real=True), number("terms", integer=True, positive=True)
mean = Sum(omega[j] * a[j], (j, 0, terms - 1))
every_term = (k, 0, terms - 1)

T3 = step(
    id="fedalign/step-T3", number="(26)(a)", reading="as used: the same weights on both sides",
    variables=(
        Variable("terms", "integer"), Variable("a", "vector", (("k", "terms"),)),
        Variable("omega", "simplex", (("k", "terms"),)),
    ),
    statement=Condition(
        Sum(omega[k] * norm2(a[k] - mean), every_term), "<=", Sum(omega[k] * norm2(a[k]), every_term)
    ),
)

T3_as_printed = step(
    id="fedalign/step-T3-as-printed", number="(26)(a), displayed", reading="as printed: no weights, any weighted mean",
    variables=T3.variables,
    statement=Condition(Sum(norm2(a[k] - mean), every_term), "<=", Sum(norm2(a[k]), every_term)),
)

z_1, z_2, factor = sp.Symbol("z_1"), sp.Symbol("z_2"), number("factor", positive=True)

T4 = step(
    id="fedalign/step-T4", number="(43)",
    variables=(Variable("z_1", "vector"), Variable("z_2", "vector"), Variable("factor", "positive")),
    statement=Condition(2 * dot(z_1, z_2), "<=", factor**2 * norm2(z_1) + norm2(z_2) / factor**2),
    note="factor is the paper's a; (42) needs z_1 = w_t^k - w_t and a = sqrt(eta_t) on the gradient",
)

# step sizes ----------------------------------------------------------------------------------------------------------
eta = number("eta", positive=True)

T9_core = step(
    id="fedalign/step-T9@core-algebra", number="after (47)", reading="its core: a statement about eta and L alone",
    variables=(Variable("eta", "positive"), Variable("L", "positive")), conditions=(Condition(eta, "<=", 1 / (4 * L)),),
    statement=Condition(2 * eta * (1 - 2 * L * eta) * eta * L + 4 * L * eta**2, "<=", 6 * L * eta**2),
)

length = number("length", integer=True, positive=True)
schedule_and_length = (*SCHEDULE_VARIABLES, Variable("length", "integer"))

T15 = step(
    id="fedalign/step-T15", number="before (33)", reading="SCHED, at every time of every round",
    variables=schedule_and_length, conditions=schedule_offset,
    statement=Condition(
        2 / (mu * (i * local_steps + step_offset)), "<=", 2 * (2 / (mu * (i * local_steps + j + step_offset))),
        ((i, 0, length - 1), (j, 0, local_steps - 1)),
    ),
    note="over any number of rounds, length",
)

T15_shift = step(
    id="fedalign/step-T15-shift", number="before (33)",
    reading="steps at most halve over local_steps iterations; SCHED",
    variables=schedule_and_length, conditions=schedule_offset,
    statement=Condition(
        2 / (mu * (t + step_offset)), "<=", 2 * (2 / (mu * (t + local_steps + step_offset))), ((t, 0, length - 1),)
    ),
    note="over any number of iterations, length",
)

first_step = Condition(2 / (mu * (1 + step_offset)), "<=", Min(1 / (4 * L), 1 / mu))

T15_readings = (
    T15,
    T15.variant("SCHED8", "SCHED8, at every time of every round", conditions=eight_L_over_mu),
    T15_shift,
    T15_shift.variant(
        "SCHED8", "steps at most halve over local_steps iterations; SCHED8", conditions=eight_L_over_mu
    ),
    T15_shift.variant(
        "first-step", "the step at time 1; SCHED", variables=SCHEDULE_VARIABLES, statement=first_step
    ),
    T15_shift.variant(
        "first-step+SCHED8", "the step at time 1; SCHED8", variables=SCHEDULE_VARIABLES, conditions=eight_L_over_mu,
        statement=first_step,
    ),
)

# sequences -----------------------------------------------------------------------------------------------------------
Delta, B, D, slack = (sp.IndexedBase(name, real=True) for name in ("Delta", "B", "D", "slack"))
over_time = (("t", "length"),)

SEQUENCES = (
    Variable("length", "integer", low=2),
    *(Variable(n, "nonnegative", over_time) for n in ("Delta", "B", "D", "slack")),
)

#: the recursion of Lemma A.6 under the decaying step, its inequality written with a non-negative slack
recursion = (
    Condition(
        Delta[t + 1], "==",
        (1 - 2 / (t + step_offset)) * Delta[t] + 4 * B[t] / (mu**2 * (t + step_offset) ** 2)
        + 2 * D[t] / (mu * (t + step_offset)) - slack[t],
        ((t, 0, length - 2),),
    ),
    Condition(Delta[t], ">=", 0, ((t, 0, length - 1),)),
)


def averaged(sequence, start):
    """Average of a sequence from ``start`` to t - 1, as (32) defines it."""
    return Sum(sequence[i], (i, start, t - 1)) / (t + step_offset - 2)


def sequence_bound(noise_average, bias_average, lowest=0):
    """Delta_t <= v_t / (t + gamma) with these averages, from time ``lowest`` on."""
    v = 4 / mu**2 * noise_average + 2 / mu * bias_average * (t + step_offset) + step_offset * Delta[0]
    return Condition(Delta[t], "<=", v / (t + step_offset), ((t, lowest, length - 1),))


T17 = step(
    id="fedalign/step-T17", number="(32)-(34)", reading="averages from i = 1, as printed, with D_i for the printed D_t",
    variables=(*SCHEDULE_VARIABLES, *SEQUENCES), conditions=(*schedule_offset, *recursion),
    statement=sequence_bound(averaged(B, 1), averaged(D, 1)),
    note="slack turns the recursion's <= into an equality",
)

T17_literal = T17.variant(
    "32-literal", "averages from i = 1; the average of D_t has the printed D_t under its sum",
    statement=sequence_bound(averaged(B, 1), Sum(D[t], (i, 1, t - 1)) / (t + step_offset - 2)),
)

start, excess = number("start", integer=True, nonnegative=True), number("excess", positive=True)

T18 = step(
    id="fedalign/step-T18", number="implicit in (34)",
    variables=(
        Variable("start", "integer", low=0), Variable("iterations", "integer"), Variable("excess", "positive"),
    ),
    conditions=(Condition(step_offset, "==", 2 + excess), Condition(start, "<=", iterations - 1)),
    statement=Condition(
        Product(1 - 2 / (j + step_offset), (j, start, iterations - 1)), "==",
        (start + step_offset - 2) * (start + step_offset - 1)
        / ((iterations + step_offset - 2) * (iterations + step_offset - 1)),
    ),
    note="excess > 0 writes step_offset > 2",
)

y = number("y", positive=True)
positive_y = (Variable("y", "positive"),)

T19 = step(
    id="fedalign/step-T19", number="(35), ends", reading="the ends of the chain", variables=positive_y,
    statement=Condition((y - 1) / y**2, "<=", 1 / (y + 1)), note="y = t + gamma",
)

eq_35 = step(
    id="fedalign/step-eq35-as-printed", number="(35)", reading="the equality in the middle, as printed",
    variables=positive_y, conditions=(Condition(y, ">=", 8),),
    statement=Condition((y - 1) / y**2, "==", (y**2 - 1) / (y * (y + 1))),
    note="y = t + gamma, at least 8 under SCHED",
)

T19_readings = (
    T19,
    T19.variant(
        "difference", "the difference of the ends",
        statement=Condition(1 / (y + 1) - (y - 1) / y**2, "==", 1 / (y**2 * (y + 1))),
    ),
    eq_35,
    eq_35.variant(
        "last-inequality", "the last inequality, as printed",
        statement=Condition((y**2 - 1) / (y * (y + 1)), "<=", 1 / (y + 1)),
    ),
    eq_35.variant(
        "first-inequality", "the first inequality, as printed",
        statement=Condition((y - 2) / y**2, "<=", (y - 1) / y**2),
    ),
)

# conclusion ----------------------------------------------------------------------------------------------------------
chi_t, psi_t = sp.IndexedBase("chi", real=True), sp.IndexedBase("psi", real=True)
Gamma, D0_sq = number("Gamma", nonnegative=True), number("D0_sq", nonnegative=True)
from_one = (i, 1, iterations - 1)
last = iterations + step_offset
noise_sum = Sum(8 * (local_steps - 1) ** 2 * G_sq + 6 * L * Gamma * chi_t[i] + sigma_sq, from_one)
v_T = (
    4 / mu**2 * noise_sum / (last - 2) + 2 / mu * Sum(2 * psi_t[i], from_one) / (last - 2) * last + step_offset * D0_sq
)
C_1 = 2 * L / mu**2 * (sigma_sq + 8 * (local_steps - 1) ** 2 * G_sq) + 4 * L**2 / mu * D0_sq
theta_T = Sum(chi_t[i], from_one) / (last - 2)
rho_T = 2 * L / (mu * (last - 2)) * Sum(psi_t[i], from_one)

eq_36 = step(
    id="fedalign/step-eq36", number="(36)", reading="with the missing 1/(T + gamma) restored",
    variables=(
        *SCHEDULE_VARIABLES, Variable("iterations", "integer"),
        *(Variable(n, "nonnegative") for n in ("sigma_sq", "G_sq", "Gamma", "D0_sq")),
        *(Variable(n, "nonnegative", (("i", "iterations"),)) for n in ("chi", "psi")),
    ),
    conditions=(*schedule_offset, Condition(chi_t[i], "<=", 1, ((i, 0, iterations - 1),))),
    statement=Condition(
        L / 2 * v_T / last, "<=", (C_1 + 12 * L**2 / mu**2 * theta_T * Gamma) / last + rho_T
    ),
    note="chi and psi stand for their expectations",
)

CLAIMS = (T3, T3_as_printed, T4, T9_core, *T15_readings, T17, T17_literal, T18, *T19_readings, eq_36)
