"""Assumptions 1-5, C.1-C.5 and G.1-G.4, each in the readings that claims use."""

import sympy as sp

from bounds.language.claim import Assumption, Condition
from bounds.language.functions import f_grad, u
from bounds.language.samples import G_lip
from bounds.language.words import (
    L,
    L_client,
    Sum,
    clients,
    g,
    grad,
    iterations,
    k,
    mu,
    mu_client,
    norm,
    norm2,
    objective_grad,
    r,
    rounds,
    sigma_sq,
    sigma_sq_client,
    t,
    x_round,
)
from bounds.papers.fedmoswa.words import sigma_g, sigma_g_2, sigma_g_client

__all__ = [
    "A1",
    "A1_TO_5",
    "A2",
    "A2_TO_5",
    "A3",
    "A4",
    "A5",
    "ASSUMPTIONS",
    "C1_TO_4",
    "C1_TO_5",
    "C2_TO_4",
    "C2_TO_5",
    "C5",
    "G1",
    "G2",
    "G3",
    "G4",
    "A2_region",
    "A5_region",
    "C5_region",
    "G2_objective",
    "G_lip_sq",
    "L_objective",
    "every_client",
    "f_convex",
    "f_smooth",
    "sigma",
]

every_client, every_step = (k, 0, clients - 1), (t, 0, iterations - 1)
every_server_model = (r, 0, rounds)
G_lip_sq = sp.Symbol("G_lip_sq", nonnegative=True)
sigma = sp.Symbol("sigma", nonnegative=True)
L_objective = sp.Symbol("L_objective", positive=True)
curvature = Condition(mu_client[k], ">=", mu, (every_client,))
smoothness = Condition(L_client[k], "<=", L, (every_client,))
variance = Condition(sigma_sq_client[k], "<=", sigma_sq, (every_client,))

# generalisation ------------------------------------------------------------------------------------------------------
A1 = Assumption(
    "fedmoswa/assumption-1", "the loss of every sample is mu-strongly convex (Assumptions 1, C.1)", (curvature,),
    note="under additive noise every sample's loss has the curvature of its client",
)

A2 = Assumption(
    "fedmoswa/assumption-2", "the loss of every sample is L-Lipschitz on all of R^dim (Assumptions 2, C.2)",
    (Condition(G_lip_sq, "==", G_lip**2),), everywhere=Condition(norm2(f_grad(u)), "<=", G_lip_sq),
)

A2_region = Assumption(
    "fedmoswa/assumption-2@region",
    "the stochastic gradients at all local models of the run, and the gradient at all server models, are at most L",
    (
        Condition(norm2(g[t, k]), "<=", G_lip_sq, (every_step, every_client)),
        Condition(norm2(objective_grad(x_round[r])), "<=", G_lip_sq, (every_server_model,)),
        Condition(G_lip, "==", sp.sqrt(G_lip_sq)),
    ),
    note="what the proofs use of Assumption 2, in every outcome of chance",
)

A3 = Assumption(
    "fedmoswa/assumption-3", "stochastic gradients of variance at most sigma^2 (Assumptions 3, C.3)",
    (variance, Condition(sigma, "==", sp.sqrt(sigma_sq))),
)

A4 = Assumption(
    "fedmoswa/assumption-4", "the loss of every sample is beta-smooth (Assumptions 4, C.4)", (smoothness,),
    note="under additive noise every sample's loss has the smoothness of its client",
)

A5 = Assumption(
    "fedmoswa/assumption-5", "the clients' mean of |grad F_i - grad F| is at most sigma_g on all of R^dim (Assumption 5)",
    (Condition(sigma_g**2, ">=", 0),), note="sigma_g is the federation's constant; there must be one",
)

A5_region = Assumption(
    "fedmoswa/assumption-5@region", "the clients' mean of |grad F_i - grad F| is at most sigma_g at all server models",
    (
        Condition(
            Sum(norm(grad(k, x_round[r]) - objective_grad(x_round[r])), every_client) / clients, "<=", sigma_g,
            (every_server_model,),
        ),
    ),
)

C5 = Assumption(
    "fedmoswa/assumption-c5",
    "|grad F_i - grad F| is at most sigma_{g,i} on all of R^dim, and sigma_g is the mean of these (Assumption C.5)",
    (Condition(sigma_g, "==", Sum(sigma_g_client[k], every_client) / clients),),
    note="sigma_{g,i} are the federation's constants",
)

C5_region = Assumption(
    "fedmoswa/assumption-c5@region",
    "|grad F_i - grad F| is at most sigma_g at all server models, for every client: Assumption C.5 with equal sigma_{g,i}",
    (
        Condition(
            norm(grad(k, x_round[r]) - objective_grad(x_round[r])), "<=", sigma_g, (every_server_model, every_client)
        ),
    ),
)

A1_TO_5, A2_TO_5 = (A1, A2, A3, A4, A5), (A2, A3, A4, A5)
C1_TO_5, C2_TO_5 = (A1, A2, A3, A4, C5), (A2, A3, A4, C5)
C1_TO_4, C2_TO_4 = (A1, A2, A3, A4), (A2, A3, A4)

# one function, Appendix D --------------------------------------------------------------------------------------------
f_smooth = Assumption("fedmoswa/f-smooth", "f is beta-smooth; f is any client's loss", (smoothness,))
f_convex = Assumption("fedmoswa/f-strongly-convex", "f is mu-strongly convex; f is any client's loss", (curvature,))

# optimisation --------------------------------------------------------------------------------------------------------
G1 = Assumption("fedmoswa/assumption-g1", "every F_i is mu-strongly convex, mu = 0 allowed (Assumption G.1)", (curvature,))
G2 = Assumption(
    "fedmoswa/assumption-g2", "every F_i is beta-smooth (Assumption G.2 as Theorem 5.2 words it)", (smoothness,)
)

G2_objective = Assumption(
    "fedmoswa/assumption-g2@objective", "F is beta-smooth (Assumption G.2 as printed)",
    (Condition(L_objective, "<=", L),), note="L_objective, the smoothness of F, is the federation's constant",
)

G3 = Assumption(
    "fedmoswa/assumption-g3", "unbiased stochastic gradients of variance at most sigma^2 (Assumption G.3)", (variance,)
)

G4 = Assumption(
    "fedmoswa/assumption-g4", "the mean of |grad F_i - grad F|^2 is at most sigma_g^2 on all of R^dim (Assumption G.4)",
    (Condition(sigma_g_2**2, ">=", 0),), note=f"{sigma_g_2} is the federation's constant; there must be one",
)

ASSUMPTIONS = {
    a.id: a
    for a in (
        A1, A2, A2_region, A3, A4, A5, A5_region, C5, C5_region, f_smooth, f_convex, G1, G2, G2_objective, G3, G4,
    )
}
