"""Proof steps about the clients' losses at any points: gradient maps of coupled runs, smoothness and convexity."""

from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.words import F, F_star, L, clients, dot, grad, j, k, mu, norm, norm2, objective, objective_grad, x_star
from bounds.papers.fedmoswa.assumptions import A1, A4, G1, G2, f_convex, f_smooth
from bounds.papers.fedmoswa.lemmas_generalisation import POINTS, expansion, gradient_map, p1, p2
from bounds.papers.fedmoswa.main_text import convex_factor
from bounds.papers.fedmoswa.quantities import mean_over_clients
from bounds.papers.fedmoswa.readings import CONVEX, varied, with_right
from bounds.papers.fedmoswa.setting import each_client, eta, point_claim, rho_sam

__all__ = ["CLAIMS", "shared_variates"]

step = partial(point_claim, kind="proof step")
other_client = (j, 0, clients - 1)
positive_eta = Variable("eta", "positive")
small = Condition(eta, "<=", 1 / L)
SMALL = "the step is at most 1/beta, the largest that K, T >= 1 admit"
q, p = 1 - eta * L * convex_factor, 1 + eta * L
gap = norm(p1 - p2)
difference = grad(k, p1) - grad(k, p2)

# Appendix D ----------------------------------------------------------------------------------------------------------
eq_11 = step(
    id="fedmoswa/eq-11", number="(11)", assumptions=(f_smooth, f_convex), variables=POINTS,
    statement=Condition(
        dot(difference, p1 - p2), ">=", L * convex_factor * norm2(p1 - p2) + norm2(difference) / (L + mu), (each_client,)
    ),
)

eq_12 = step(
    id="fedmoswa/eq-12", number="(12)", assumptions=(f_smooth, f_convex),
    variables=(*POINTS, Variable("eta", "nonnegative")),
    statement=Condition(
        norm2(gradient_map(p1) - gradient_map(p2)), "<=",
        (1 - 2 * eta * L * convex_factor) * norm2(p1 - p2) - eta * (2 / (L + mu) - eta) * norm2(difference), (each_client,),
    ),
    steps=("fedmoswa/eq-11",),
)

# coupled runs --------------------------------------------------------------------------------------------------------
pair = partial(step, variables=(*POINTS, positive_eta))
SAMPLE = "p1, p2 are the models of the two runs; any client's loss stands for the sample's"
TWO_SAMPLES = "p1, p2 are the models of the two runs; any two clients' losses stand for the two samples'"


def same_sample(factor):
    return Condition(expansion, "<=", factor * gap, (each_client,))


def two_samples(factor, difference):
    """One run steps along the loss of client k, the other along that of client j."""
    apart = norm(p1 - eta * grad(k, p1) - (p2 - eta * grad(j, p2)))
    return Condition(apart, "<=", factor * gap + eta * difference, (each_client, other_client))


across = norm(grad(k, p1) - grad(j, p2))
at_twin = norm(grad(k, p2) - grad(j, p2))
convex, smooth = (A1, A4), (A4,)
lemma_d1 = {"smooth": ("fedmoswa/lemma-d.1-smooth",), "convex": ("fedmoswa/lemma-d.1-strongly-convex",)}

eq_17 = pair(
    id="fedmoswa/eq-17", number="(17)", assumptions=convex, conditions=(small,), statement=same_sample(q),
    note=f"{SAMPLE}; {SMALL}", steps=lemma_d1["convex"],
)

eq_18 = pair(
    id="fedmoswa/eq-18", number="(18)", assumptions=convex, conditions=(small,), statement=two_samples(q, across),
    note=f"{TWO_SAMPLES}; {SMALL}", steps=lemma_d1["convex"],
)

as_27 = {
    "as-27": (
        "both gradients of the last term at the coupled run's model, as in (27)", with_right(two_samples(q, at_twin).right)
    )
}

eq_26 = pair(
    id="fedmoswa/eq-26", number="(26)", assumptions=smooth, statement=same_sample(p), note=SAMPLE, steps=lemma_d1["smooth"]
)

eq_27 = pair(
    id="fedmoswa/eq-27", number="(27)", assumptions=smooth, statement=two_samples(p, at_twin), note=TWO_SAMPLES,
    steps=lemma_d1["smooth"],
)

# steps with variates common to both runs -----------------------------------------------------------------------------
v1, v2 = sp.Symbol("v1", real=True), sp.Symbol("v2", real=True)  # the variates c_i and m
with_variates = partial(step, variables=(*POINTS, positive_eta, Variable("v1", "vector"), Variable("v2", "vector")))
SHARED = "both runs have the same variates; v1 and v2 are c_i and m"


def steered(point, client):
    """theta - eta (g(theta) - c + m)."""
    return point - eta * (grad(client, point) - v1 + v2)


def shared_variates(number, factor, assumptions, conditions, replaced):
    """(38), (39), (49) or (50) with common variates."""
    if replaced:
        statement = Condition(
            norm(steered(p1, k) - steered(p2, j)), "<=", factor * gap + eta * at_twin, (each_client, other_client)
        )
    else:
        statement = Condition(norm(steered(p1, k) - steered(p2, k)), "<=", factor * gap, (each_client,))
    return with_variates(
        id=f"fedmoswa/eq-{number}@shared", number=f"({number})", reading=SHARED, assumptions=assumptions,
        conditions=conditions, statement=statement, note=TWO_SAMPLES if replaced else SAMPLE,
        steps=lemma_d1["convex" if A1 in assumptions else "smooth"],
    )


shared = (
    shared_variates(38, q, convex, (small,), False), shared_variates(39, q, convex, (small,), True),
    shared_variates(49, p, smooth, (), False), shared_variates(50, p, smooth, (), True),
)


# FedSAM --------------------------------------------------------------------------------------------------------------
def sharp(point, client):
    """theta - eta g(theta + rho g(theta)/|g(theta)|)."""
    uphill = grad(client, point) / norm(grad(client, point))
    return point - eta * grad(client, point + rho_sam * uphill)


sam = partial(
    step, assumptions=smooth, variables=(*POINTS, positive_eta, Variable("rho_sam", "nonnegative")),
    reading="FedSAM, as named",
)

eq_106 = sam(
    id="fedmoswa/eq-106", number="(106)", note=SAMPLE,
    statement=Condition(norm(sharp(p1, k) - sharp(p2, k)), "<=", p * gap, (each_client,)),
)

eq_107 = sam(
    id="fedmoswa/eq-107", number="(107)", note=TWO_SAMPLES,
    statement=Condition(
        norm(sharp(p1, k) - sharp(p2, j)), "<=", p * gap + eta * at_twin, (each_client, other_client)
    ),
)

PLAIN_WORDS = "the update written in the proofs, theta - eta g(theta)"

plain = (
    eq_106.variant("plain-step", PLAIN_WORDS, variables=eq_26.variables, statement=eq_26.statement),
    eq_107.variant("plain-step", PLAIN_WORDS, variables=eq_27.variables, statement=eq_27.statement),
)

# Appendix G ----------------------------------------------------------------------------------------------------------
to_optimum = mean_over_clients(norm2(grad(k, p1) - grad(k, x_star)))

smooth_gap = step(
    id="fedmoswa/smooth-gap", number="used in (64), (67), (69), (72)", assumptions=(G1, G2), variables=POINTS[:1],
    statement=Condition(to_optimum, "<=", 2 * L * (objective(p1) - F_star)),
)

eq_71 = step(
    id="fedmoswa/eq-71", number="(71)", assumptions=(G1, G2), variables=(*POINTS, positive_eta), conditions=(small,),
    statement=Condition(
        norm2(p1 - eta * grad(k, p1) + eta * grad(k, p2) - p2), "<=", norm2(p1 - p2), (each_client,)
    ),
    note="p1 and p2 are theta_i and theta",
)

variates = sp.IndexedBase("variates", real=True)

eq_72 = step(
    id="fedmoswa/eq-72", number="(72)", assumptions=(G1, G2),
    variables=(POINTS[0], Variable("v2", "vector"), Variable("variates", "vector", (("k", "clients"),))),
    statement=Condition(
        mean_over_clients(norm2(v2 - variates[k] + grad(k, p1))), "<=",
        3 * norm2(v2) + 3 * mean_over_clients(norm2(variates[k] - grad(k, x_star))) + 6 * L * (objective(p1) - F_star),
    ),
    note="p1 is theta, v2 is m and variates are the c_i", steps=("fedmoswa/smooth-gap", "fedmoswa/lemma-g.7@part-2"),
)

p3 = sp.Symbol("p3", real=True)

perturbed = step(
    id="fedmoswa/perturbed-strong-convexity", number="used in (81)", assumptions=(G1, G2),
    variables=(*POINTS, Variable("p3", "vector")),
    statement=Condition(
        dot(grad(k, p1), p3 - p2), ">=", F(k, p3) - F(k, p2) + mu / 4 * norm2(p2 - p3) - L * norm2(p3 - p1), (each_client,)
    ),
    note="p1, p2, p3 are x, y, z",
)

shift = sp.Symbol("shift", real=True)

eq_96 = step(
    id="fedmoswa/eq-96", number="(96)", assumptions=(G2,), variables=(POINTS[0], Variable("shift", "vector")),
    statement=Condition(
        objective(p1 + shift), "<=", objective(p1) + dot(objective_grad(p1), shift) + L / 2 * norm2(shift)
    ),
    note="p1 is theta and shift its change, in every outcome; the expectation follows",
)

CLAIMS = (
    eq_11, eq_12, eq_17, *varied(eq_18, as_27), eq_26, eq_27, *shared, eq_106, eq_107, *plain, *varied(smooth_gap, CONVEX),
    *varied(eq_71, CONVEX), *varied(eq_72, CONVEX), *varied(perturbed, CONVEX), eq_96,
)
