"""The proofs of Lemmas 4, 5 and 6 between numbers and vectors (B.3.1)."""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Claim, Condition, Variable
from bounds.language.samples import G_lip, H_loss, samples
from bounds.language.words import L, Product, Sum, clients, j, k, local_steps, norm, norm2, participants, t
from bounds.papers.afedpd.setting import (
    STABLE,
    any_rho,
    client_counts,
    eta,
    few_clients,
    numbers,
    rho_prox,
    stability,
    stable,
    step,
    tau0,
    varied,
)

__all__ = ["CLAIMS"]


def with_stable(claim: Claim) -> tuple[Claim, ...]:
    """A claim for all steps, and for those of which the text at (10) speaks."""
    return varied(claim, {"stable": (stability(claim), stable)})


def number(name, **signs):
    return sp.Symbol(name, real=True, **signs)


# Lemma 4 -------------------------------------------------------------------------------------------------------------
p = number("p", nonnegative=True)
first, first_twin, second, second_twin, distance = (
    number(n) for n in ("loss_1", "twin_loss_1", "loss_2", "twin_loss_2", "distance"))
LOSSES = ("loss_1", "twin_loss_1", "loss_2", "twin_loss_2")

split = varied(step(
    id="afedpd/lemma-4-split", number="proof of Lemma 4, first display",
    reading="losses between 0 and H; one outcome in each event",
    variables=(*numbers("nonnegative", *LOSSES, "p", "distance"), *numbers("positive", "G_lip", "H_loss")),
    conditions=(
        *(Condition(loss - H_loss, "<=", 0) for loss in (first, first_twin, second, second_twin)), Condition(p - 1, "<=", 0),
        Condition(sp.Abs(first - first_twin) - G_lip * distance, "<=", 0),
    ),
    statement=Condition(
        p * sp.Abs(first - first_twin) + (1 - p) * sp.Abs(second - second_twin), "<=",
        G_lip * distance + H_loss * (1 - p),
    ),
    note="p is the probability of zeta; loss_1, loss_2 are the losses given zeta and given its complement",
), {"sup-only": ("losses at most H, of any sign; one outcome in each event", {
    "variables": (*numbers("real", *LOSSES), *numbers("nonnegative", "p", "distance"),
                  *numbers("positive", "G_lip", "H_loss"))})})

draw = participants / clients * (1 - (1 - 1 / samples) ** local_steps)  # one round uses the differing sample
right = participants * tau0 / (clients * samples)

COUNTS = (
    *numbers("positive", "H_loss"), *client_counts, *(Variable(n, "integer") for n in ("samples", "local_steps")),
    Variable("tau0", "integer", low=0),
)

single = participants / (clients * samples)
TIMES_H = "both sides times H, as Lemma 4 uses them"

hitting = varied(step(
    id="afedpd/lemma-4-hitting", number="proof of Lemma 4, second display, both ends", reading="the rounds t < tau_0",
    variables=COUNTS, conditions=(few_clients,),
    statement=Condition(H_loss * (1 - (1 - draw) ** tau0), "<=", H_loss * right),
    note=f"in a round the client is drawn with probability P/C, its differing sample in at least one of K draws; {TIMES_H}",
), {
    "rounds-upto": ("the rounds t <= tau_0, as in the printed sum", {
        "statement": Condition(H_loss * (1 - (1 - draw) ** (tau0 + 1)), "<=", H_loss * right)}),
    "union": ("union bound: the probability against the printed sum, with P(j*) that of at least one of K draws", {
        "statement": Condition(H_loss * Sum(draw, (t, 0, tau0)), ">=", H_loss * (1 - (1 - draw) ** (tau0 + 1)))}),
    "last": ("last inequality: the printed sum t = 0 .. tau_0 with P(j*) = 1/S", {
        "variables": tuple(v for v in COUNTS if v.name != "local_steps"),
        "statement": Condition(H_loss * Sum(single, (t, 0, tau0)), "<=", H_loss * right),
        "note": f"P(i*) = P/C; {TIMES_H}"}),
    "last+rounds-below": ("last inequality: the sum t = 0 .. tau_0 - 1 with P(j*) = 1/S", {
        "variables": tuple(v for v in COUNTS if v.name != "local_steps"),
        "statement": Condition(H_loss * Sum(single, (t, 0, tau0 - 1)), "<=", H_loss * right),
        "note": f"P(i*) = P/C; {TIMES_H}"}),
    "last+K-draws": ("last inequality: the printed sum with P(j*) that of at least one of K draws", {
        "statement": Condition(H_loss * Sum(draw, (t, 0, tau0)), "<=", H_loss * right)}),
    "last+K-draws+rounds-below": ("last inequality: t = 0 .. tau_0 - 1, with P(j*) that of at least one of K draws", {
        "statement": Condition(H_loss * Sum(draw, (t, 0, tau0 - 1)), "<=", H_loss * right)}),
})

# one local step ------------------------------------------------------------------------------------------------------
w_gap, x_gap, dual_gap, g_gap, g_one, g_two = (
    sp.Symbol(n) for n in ("w_gap", "x_gap", "lam_gap", "g_gap", "g_one", "g_two"))
VECTORS = tuple(Variable(n, "vector") for n in ("w_gap", "x_gap", "lam_gap"))
STEP = (*numbers("positive", "eta", "L"), any_rho)
after = norm((1 - eta * rho_prox) * w_gap - eta * g_gap - eta * dual_gap)
smooth = Condition(norm2(g_gap), "<=", L**2 * norm2(w_gap + x_gap))

gaps = {
    "variables": (*STEP, *VECTORS, Variable("g_gap", "vector")), "conditions": (smooth,),
    "note": "differences of the two runs: w_gap of theta_{i,k} - theta, x_gap of theta, lam_gap of lambda_i, g_gap of g",
}

by_triangle = (1 - eta * rho_prox) * norm(w_gap) + eta * L * norm(w_gap + x_gap) + eta * norm(dual_gap)
contracted = (1 - eta * (rho_prox - L)) * norm(w_gap) + eta * L * norm(x_gap) + eta * norm(dual_gap)

triangle = step(
    id="afedpd/lemma-5-triangle", number="proof of Lemma 5, first display, first inequality",
    statement=Condition(after, "<=", by_triangle), **gaps,
)

contraction = varied(step(
    id="afedpd/lemma-5-contraction", number="proof of Lemma 5, first display, both ends",
    statement=Condition(after, "<=", contracted), steps=("afedpd/lemma-5-triangle",), **gaps,
), {"stable": (STABLE, stable), "last": ("the last inequality alone", {
    "statement": Condition(by_triangle, "<=", contracted), "variables": (*STEP, *VECTORS[:3]), "conditions": ()})})

different = step(
    id="afedpd/lemma-6-different", number="proof of Lemma 6, first display",
    variables=(*STEP[:1], any_rho, *VECTORS[::2], *(Variable(n, "vector") for n in ("g_one", "g_two"))),
    conditions=(Condition(norm(g_one), "<=", G_lip), Condition(norm(g_two), "<=", G_lip)),
    statement=Condition(
        norm((1 - eta * rho_prox) * w_gap - eta * (g_one - g_two) - eta * dual_gap), "<=",
        (1 - eta * rho_prox) * norm(w_gap) + 2 * eta * G_lip + eta * norm(dual_gap),
    ),
    note="g_one and g_two are the gradients at the differing samples; any values",
)

# Assumption 2 as printed bounds the gradient of f alone, the mean over all samples
rest_one, rest_two = sp.Symbol("rest_one"), sp.Symbol("rest_two")
everything = clients * samples
different_global = different.variant(
    "assumption-2", "Assumption 2 as printed: the mean of all C S samples' gradients has norm at most G, in both runs",
    variables=(*different.variables, *(Variable(n, "vector") for n in ("rest_one", "rest_two")),
               Variable("clients", "integer"), Variable("samples", "integer", low=2)),
    conditions=(Condition(norm(g_one + rest_one) / everything, "<=", G_lip),
                Condition(norm(g_two + rest_two) / everything, "<=", G_lip)),
    note="g_one and g_two are the gradients at the differing samples, rest_one and rest_two the sums of all others'")
different_global_stable = replace(
    stable(different_global), id=f"{different_global.id}+stable",
    reading=f"{different_global.reading}; {stability(different_global)}")

# numbers of one round ------------------------------------------------------------------------------------------------
D_theta, D_lambda, D_last = (number(n, nonnegative=True) for n in ("D_theta", "D_lambda", "D_last"))
a_now = number("a_now", nonnegative=True)
rho_L = rho_prox - L
same = (1 - eta * rho_L) * a_now + eta * L * D_theta + eta * D_lambda
other = (1 - eta * rho_prox) * a_now + 2 * eta * G_lip + eta * D_lambda
DISTANCES = numbers("nonnegative", "D_theta", "D_lambda")
K = Variable("local_steps", "integer")

mixture = step(
    id="afedpd/lemma-6-mixture", number="proof of Lemma 6, second display, last inequality",
    variables=(*STEP, *numbers("nonnegative", "a_now", "G_lip"), *DISTANCES, Variable("samples", "integer")),
    statement=Condition(
        (1 - 1 / samples) * same + other / samples, "<=", same + 2 * eta * G_lip / samples),
    note="the printed s is S; the text adds that 1 - 1/S tends to 1; the first inequality is the mean of the two cases",
)

a, slack = sp.IndexedBase("a", real=True), sp.IndexedBase("slack", real=True)
length = number("length", integer=True, positive=True)
steps_made = length - 1  # K

SEQUENCE = (
    Variable("length", "integer", low=2),
    *(Variable(n, "nonnegative", (("j", "length"),)) for n in ("a", "slack")),
)


def recursion(extra):
    """The contraction with what it falls short of equality; every a_k is a mean distance."""
    return (
        Condition(a[j + 1], "==", (1 - eta * rho_L) * a[j] + eta * (L * D_theta + D_lambda + extra) - slack[j],
                  ((j, 0, length - 2),)),
        Condition(a[j], ">=", 0, ((j, 0, length - 1),)),
        Condition(a[0], "<=", 0),
    )


def unrolled(extra, count):
    """The printed sum of products."""
    body = eta * Product(1 - eta * rho_L, (j, k + 1, count - 1)) * (L * D_theta + D_lambda + extra)
    return Sum(body, (k, 0, count - 1))


from_start = Product(1 - eta * rho_L, (k, 0, steps_made - 1)) * a[0]
SHORT = "slack is what the contraction falls short of equality; K is length - 1"

unroll_5 = step(
    id="afedpd/lemma-5-unroll", number="proof of Lemma 5, second display", variables=(*STEP, *DISTANCES, *SEQUENCE),
    conditions=recursion(0)[:2], statement=Condition(from_start + unrolled(0, steps_made), ">=", a[steps_made]), note=SHORT,
    steps=("afedpd/lemma-5-contraction",),
)

unroll_5_start = unroll_5.variant(
    "start", "the last equality: a_0 = 0, as the local model starts at theta",
    number="proof of Lemma 5, second display, last line", conditions=(Condition(a[0], "<=", 0),), note="K is length - 1",
    steps=(),
    statement=Condition(from_start + unrolled(0, steps_made), "==", unrolled(0, steps_made)))

unroll_6 = step(
    id="afedpd/lemma-6-unroll", number="proof of Lemma 6, third display",
    variables=(*STEP, *DISTANCES, *SEQUENCE, *numbers("nonnegative", "G_lip"), Variable("samples", "integer")),
    conditions=recursion(2 * G_lip / samples),
    statement=Condition(unrolled(2 * G_lip / samples, steps_made), ">=", a[steps_made]), note=SHORT,
    steps=("afedpd/lemma-6-mixture",),
)

closed = (1 - (1 - eta * rho_L) ** local_steps) / rho_L

geometric = varied(step(
    id="afedpd/lemma-5-geometric", number="proof of Lemma 5, third display, equality",
    reading="the sum against its closed form, as printed with the difference of the last models",
    variables=(*STEP, *DISTANCES, Variable("D_last", "nonnegative"), K), note="D_last is E|theta^T - hat theta^T|",
    statement=Condition(unrolled(0, local_steps), "==", closed * (L * D_last + D_lambda)), steps=("afedpd/lemma-5-unroll",),
), {
    "theta-t": ("the sum against its closed form, with the difference of the round's models", {
        "variables": (*STEP, *DISTANCES, K), "note": "",
        "statement": Condition(unrolled(0, local_steps), "==", closed * (L * D_theta + D_lambda))}),
    "bound": ("the bound on a_K", {
        "variables": (*STEP, *DISTANCES, *SEQUENCE), "conditions": recursion(0), "note": SHORT,
        "statement": Condition(a[steps_made], "<=", closed.xreplace({local_steps: steps_made}) * (L * D_theta + D_lambda))}),
})

geometric_stable = replace(
    stable(geometric[-1]), id="afedpd/lemma-5-geometric@bound+stable", reading=f"{geometric[-1].reading}; {STABLE}")

with_G = 2 * G_lip / samples
unroll_6_closed = unroll_6.variant(
    "closed", "the sum against its closed form", number="proof of Lemma 6, fourth display, first equality", conditions=(),
    variables=(*STEP, *DISTANCES, K, *numbers("nonnegative", "G_lip"), Variable("samples", "integer")), note="",
    statement=Condition(unrolled(with_G, local_steps), "==", closed * (L * D_theta + D_lambda + with_G)))

bernoulli = varied(step(
    id="afedpd/bernoulli", number="proof of Lemma 5, third display, last inequality",
    reading="without a condition on the step", variables=(*STEP, K), statement=Condition(closed, "<=", eta * local_steps),
), {
    "x-condition": ("where x = -eta rho_L is at least -1", {"conditions": (Condition(eta * rho_L, "<=", 1),)}),
    "stable": (STABLE, stable),
    "bernoulli-itself": ("(1 + x)^K >= 1 + K x for x >= -1", {
        "number": "proof of Lemma 5, last sentence", "variables": (Variable("x_plus_1", "nonnegative"), K),
        "statement": Condition(
            number("x_plus_1", nonnegative=True) ** local_steps, ">=",
            1 + local_steps * (number("x_plus_1", nonnegative=True) - 1)),
        "note": "x_plus_1 is 1 + x"}),
})

# Lemma 5 where LocalTrain can be written out -------------------------------------------------------------------------
curvature, x_1, lam_1 = number("curvature"), number("x_1"), number("lam_1")

lemma_5_quadratic = step(
    id="afedpd/lemma-5@quadratic", number="Lemma 5, (17)", kind="lemma",
    reading="a client whose loss is a parabola with curvature between -L and L, after all K local steps",
    variables=(*STEP, *numbers("real", "curvature", "x_1", "lam_1"), K),
    conditions=(Condition(curvature**2, "<=", L**2),),
    statement=Condition(
        sp.Abs(eta * (curvature * x_1 + lam_1) * Sum((1 - eta * (rho_prox + curvature)) ** k, (k, 0, local_steps - 1))),
        "<=",
        eta * local_steps * L * sp.Abs(x_1) + eta * local_steps * sp.Abs(lam_1),
    ),
    note="x_1 and lam_1 are the differences of theta^t and of lambda_i^t; the local steps are written out",
)

quadratic_stable = replace(
    stable(lemma_5_quadratic), id="afedpd/lemma-5@quadratic+stable", reading=f"{lemma_5_quadratic.reading}; {STABLE}")

CLAIMS = (
    *split, *hitting, *with_stable(triangle), *contraction, *with_stable(different), different_global,
    different_global_stable, mixture, *with_stable(unroll_5), unroll_5_start, *with_stable(unroll_6), unroll_6_closed,
    *geometric, geometric_stable, *bernoulli, lemma_5_quadratic, quadratic_stable,
)
