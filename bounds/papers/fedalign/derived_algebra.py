"""Statements about numbers and sequences that we derived around FedALIGN's recursion and its inclusion rule."""

from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.words import G_sq, L, Max, Sum, iterations, k, local_steps, mu, step_offset
from bounds.papers.fedalign.algebra_steps import SEQUENCES, B, D, averaged, recursion, sequence_bound
from bounds.papers.fedalign.builders import algebra_claim
from bounds.papers.fedalign.conditions import SCHEDULE_VARIABLES, schedule_offset

__all__ = ["CLAIMS"]

derived = partial(algebra_claim, kind="derived", source=None)
last = iterations + step_offset
q = (last - 1) * (last - 2)


def number(name, **assumptions):
    return sp.Symbol(name, real=True, **assumptions)


derived_recursion = derived(
    id="fedalign/derived-recursion", number="9.4, step T17 repaired",
    derivation="(34) with the term of i = 0",
    variables=(Variable("mu", "positive"), Variable("step_offset", "positive"), *SEQUENCES),
    conditions=(Condition(step_offset, ">=", 2), *recursion),
    statement=sequence_bound(averaged(B, 0), averaged(D, 0), lowest=1),
    note="slack turns the recursion's <= into an equality; at t = 0 both sides are Delta_0",
)

D0_sq = number("D0_sq", nonnegative=True)

initial_slack = derived(
    id="fedalign/derived-initial-term@slack", number="9.4",
    reading="the slack of the drift term covers what is missing",
    derivation="G >= mu |w_0 - w*| and step_offset = local_steps > 8 L/mu",
    variables=(
        *SCHEDULE_VARIABLES, Variable("iterations", "integer"), Variable("G_sq", "nonnegative"),
        Variable("D0_sq", "nonnegative"),
    ),
    conditions=(
        *schedule_offset, Condition(local_steps, ">=", 8 * L / mu), Condition(G_sq, ">=", mu**2 * D0_sq),
    ),
    statement=Condition(
        L * (step_offset - 1) * (step_offset - 2) / (2 * q) * D0_sq, "<=",
        16 * L / (mu**2 * q) * (local_steps - 1) ** 2 * (step_offset - 3) * G_sq,
    ),
)

# which free clients the bound would include --------------------------------------------------------------------------
eta, Gamma = number("eta", positive=True), number("Gamma", nonnegative=True)
below, above = (number(n, integer=True, positive=True) for n in ("below", "above"))
p_below, p_above, gap_below, gap_above = (
    sp.IndexedBase(n, real=True) for n in ("p_below", "p_above", "gap_below", "gap_above")
)
threshold = 3 * L * Gamma * eta


def step_cost(mass, bias):
    """What one step adds to the bound if free clients of this mass and weighted gap count."""
    return (6 * L * Gamma * eta**2 + 2 * eta * bias) / (1 + mass)


over_below, over_above = (k, 0, below - 1), (k, 0, above - 1)
mass_below, mass_above = Sum(p_below[k], over_below), Sum(p_above[k], over_above)
bias_below, bias_above = Sum(p_below[k] * gap_below[k], over_below), Sum(p_above[k] * gap_above[k], over_above)
problem = (Variable("L", "positive"), Variable("eta", "positive"), Variable("Gamma", "nonnegative"))

inclusion_rule = derived(
    id="fedalign/derived-inclusion-rule", number="9.4",
    reading="threshold: leaving out every client with a gap of 3 L Gamma eta or more costs nothing",
    derivation="the cost is a weighted mean of 6 L Gamma eta^2 and the 2 eta Gamma_k",
    variables=(
        *problem, Variable("below", "integer"), Variable("above", "integer"),
        *(Variable(n, "nonnegative", (("k", "below"),)) for n in ("p_below", "gap_below")),
        *(Variable(n, "nonnegative", (("k", "above"),)) for n in ("p_above", "gap_above")),
    ),
    conditions=(
        Condition(gap_below[k], "<=", threshold, (over_below,)),
        Condition(gap_above[k], ">=", threshold, (over_above,)),
    ),
    statement=Condition(
        step_cost(mass_below, bias_below), "<=", step_cost(mass_below + mass_above, bias_below + bias_above)
    ),
)

mass, bias = number("mass", nonnegative=True), number("bias", nonnegative=True)
p_in, p_out, gap_in, gap_out = (number(n, nonnegative=True) for n in ("p_in", "p_out", "gap_in", "gap_out"))
both_in = step_cost(mass + p_in, bias + p_in * gap_in)

prefix = inclusion_rule.variant(
    "prefix",
    "prefix: with a client counted and one of smaller gap left out, leaving out the one or counting the other costs "
    "nothing",
    variables=(
        *problem,
        *(Variable(n, "nonnegative") for n in ("mass", "bias", "p_in", "p_out", "gap_in", "gap_out")),
    ),
    conditions=(Condition(gap_out, "<=", gap_in),),
    statement=Condition(
        Max(
            both_in - step_cost(mass, bias),
            both_in - step_cost(mass + p_in + p_out, bias + p_in * gap_in + p_out * gap_out),
        ),
        ">=", 0,
    ),
    note="mass and bias are those of the other clients that count",
)


def printed_cost(mass, bias):
    """The terms of theorem-1 that depend on who counts, the same clients at every time."""
    share = (iterations - 1) / (last - 2) / (1 + mass)
    return 12 * L**2 / mu**2 * share * Gamma / last + 2 * L / mu * share * bias


printed_weights = inclusion_rule.variant(
    "printed-bound", "the printed bound with one client at all times against none: its gap decides against 6 L Gamma / "
    "(mu (T + gamma))",
    derivation="difference of the two bounds",
    variables=(
        *SCHEDULE_VARIABLES, Variable("iterations", "integer"),
        *(Variable(n, "nonnegative") for n in ("Gamma", "p_in", "gap_in")),
    ),
    conditions=schedule_offset,
    statement=Condition(
        printed_cost(p_in, p_in * gap_in) - printed_cost(0, 0), "==",
        (iterations - 1) / (last - 2) * p_in / (1 + p_in) * 2 * L / mu * (gap_in - 6 * L * Gamma / (mu * last)),
    ),
)

CLAIMS = (derived_recursion, initial_slack, inclusion_rule, prefix, printed_weights)
