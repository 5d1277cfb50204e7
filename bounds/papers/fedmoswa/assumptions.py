"""Assumptions 1-5, C.1-C.5 and G.1-G.4, each in the readings that claims use."""

import sympy as sp

from bounds.language.claim import Assumption, Condition
from bounds.language.functions import f_grad, u
from bounds.language.samples import G_lip, twin_g, twin_x_local, twin_x_round, worst_sample_gap
from bounds.language.words import (
    E,
    L,
    L_client,
    Sum,
    clients,
    g,
    grad,
    i,
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
    x_local,
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
    "A2_region_coupled",
    "A5_region",
    "A5_region_coupled",
    "C5_region",
    "C5_region_coupled",
    "G1_convex",
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


def bounded_gradients(stochastic, server):
    """|g_i| at all local models of a run, and |grad F| at all of its server models, are at most L."""
    return (
        Condition(norm2(stochastic[t, k]), "<=", G_lip_sq, (every_step, every_client)),
        Condition(norm2(objective_grad(server[r])), "<=", G_lip_sq, (every_server_model,)),
    )


A2_region = Assumption(
    "fedmoswa/assumption-2@region",
    "the stochastic gradients at all local models of the run, and the gradient at all server models, are at most L",
    (*bounded_gradients(g, x_round), Condition(G_lip, "==", sp.sqrt(G_lip_sq))),
    note="what the proofs use of Assumption 2, in every outcome of chance",
)

A2_region_coupled = Assumption(
    "fedmoswa/assumption-2@region-coupled",
    "the same for both of the coupled runs, and every sample's loss is L-Lipschitz in mean between their last models",
    (
        *bounded_gradients(g, x_round), *bounded_gradients(twin_g, twin_x_round),
        Condition(G_lip, "==", sp.sqrt(G_lip_sq)),
        Condition(worst_sample_gap(x_round[rounds], twin_x_round[rounds]), "<=",
                  G_lip * E(norm(x_round[rounds] - twin_x_round[rounds]))),
    ),
    note="the last as Assumption C.2 notes it, E |l(theta_T; z) - l(theta'_T; z)| <= L E |theta_T - theta'_T|",
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


def mean_deviation(model, *over):
    """The clients' mean of |grad F_i - grad F| at a model is at most sigma_g."""
    return Condition(Sum(norm(grad(k, model) - objective_grad(model)), every_client) / clients, "<=", sigma_g, over)


def own_deviation(model, *over):
    """|grad F_i - grad F| at a model is at most sigma_g for every client."""
    return Condition(norm(grad(k, model) - objective_grad(model)), "<=", sigma_g, (*over, every_client))


def at_models(deviation):
    """At all server models and all local models of the run."""
    return deviation(x_round[r], every_server_model), deviation(x_local[t, i], every_step, (i, 0, clients - 1))


def at_coupled_models(deviation):
    """The same for both of the coupled runs."""
    return (*at_models(deviation), deviation(twin_x_round[r], every_server_model),
            deviation(twin_x_local[t, i], every_step, (i, 0, clients - 1)))


A5_region, A5_region_coupled = (
    Assumption(f"fedmoswa/assumption-5@{name}",
               f"the clients' mean of |grad F_i - grad F| is at most sigma_g at all models of {runs}", where(mean_deviation))
    for name, runs, where in (("region", "the run", at_models), ("region-coupled", "the coupled runs", at_coupled_models))
)

C5 = Assumption(
    "fedmoswa/assumption-c5",
    "|grad F_i - grad F| is at most sigma_{g,i} on all of R^dim, and sigma_g is the mean of these (Assumption C.5)",
    (Condition(sigma_g, "==", Sum(sigma_g_client[k], every_client) / clients),),
    note="sigma_{g,i} are the federation's constants",
)

C5_region, C5_region_coupled = (
    Assumption(f"fedmoswa/assumption-c5@{name}",
               f"|grad F_i - grad F| is at most sigma_g at all models of {runs}, for every client: Assumption C.5 with "
               "equal sigma_{g,i}", where(own_deviation))
    for name, runs, where in (("region", "the run", at_models), ("region-coupled", "the coupled runs", at_coupled_models))
)

A1_TO_5, A2_TO_5 = (A1, A2, A3, A4, A5), (A2, A3, A4, A5)
C1_TO_5, C2_TO_5 = (A1, A2, A3, A4, C5), (A2, A3, A4, C5)
C1_TO_4, C2_TO_4 = (A1, A2, A3, A4), (A2, A3, A4)

# one function, Appendix D --------------------------------------------------------------------------------------------
f_smooth = Assumption("fedmoswa/f-smooth", "f is beta-smooth; f is any client's loss", (smoothness,))
f_convex = Assumption("fedmoswa/f-strongly-convex", "f is mu-strongly convex; f is any client's loss", (curvature,))

# optimisation --------------------------------------------------------------------------------------------------------
G1 = Assumption("fedmoswa/assumption-g1", "every F_i is mu-strongly convex, mu = 0 allowed (Assumption G.1)", (curvature,))
G1_convex = Assumption(
    "fedmoswa/assumption-g1@convex", "every F_i is convex: Assumption G.1 with mu = 0",
    (Condition(mu_client[k], ">=", 0, (every_client,)),),
)
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
        A1, A2, A2_region, A2_region_coupled, A3, A4, A5, A5_region, A5_region_coupled, C5, C5_region, C5_region_coupled,
        f_smooth, f_convex, G1, G1_convex, G2, G2_objective, G3, G4,
    )
}
