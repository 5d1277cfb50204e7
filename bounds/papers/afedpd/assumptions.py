"""Assumptions 1 and 2, inexact local solutions, and what the generalisation part assumes, in the readings of claims."""

from bounds.language.claim import Assumption, Condition
from bounds.language.functions import f_grad, u
from bounds.language.samples import G_lip
from bounds.language.words import L, L_client, eta_l, k, norm2, r, t, tau
from bounds.papers.afedpd.quantities import local_error
from bounds.papers.afedpd.setting import all_rounds, each_client, each_step, eps_inexact

__all__ = [
    "A1",
    "A2",
    "ASSUMPTIONS",
    "OPTIMISATION",
    "STABILITY",
    "A1_sample",
    "A2_global",
    "A_bounded",
    "A_inexact",
    "A_neighbours",
    "A_sampling",
    "A_sup_only",
    "A_uniform_step",
]

_smooth = Condition(L_client[k], "<=", L, (each_client,))
_lipschitz = Condition(norm2(f_grad(u)), "<=", G_lip**2)
A1 = Assumption("afedpd/assumption-1", "every f_i is L-smooth (Assumption 1 as printed)", (_smooth,))

A1_sample = Assumption(
    "afedpd/assumption-1@sample", "the loss of every sample is L-smooth (Assumption 1 as Lemmas 5 and 6 use it)", (_smooth,),
    note="under additive noise every sample's loss has the smoothness of its client",
)

A2_global = Assumption(
    "afedpd/assumption-2", "f is G-Lipschitz (Assumption 2 as printed)", everywhere=_lipschitz,
    note="G_lip is the federation's constant",
)

A2 = Assumption(
    "afedpd/assumption-2@sample", "the loss of every sample is G-Lipschitz (Assumption 2 as Lemmas 4 and 6 use it)",
    everywhere=_lipschitz, note="G_lip is the federation's constant",
)

A_inexact = Assumption(
    "afedpd/assumption-inexact",
    "the gradient of every local augmented Lagrangian after training, e_i^{t+1}, has squared norm at most epsilon",
    (Condition(norm2(local_error[r, k]), "<=", eps_inexact, (all_rounds, each_client)),),
    note="one e per client and round, of clients that are not sampled too; full gradients of f_i",
)

A_sampling = Assumption(
    "afedpd/assumption-sampling", "P of the C clients without replacement, independently in every round",
)
A_bounded = Assumption(
    "afedpd/assumption-bounded", "0 <= f(theta, xi) <= H", note="H_loss is the federation's constant",
)
A_sup_only = Assumption(
    "afedpd/assumption-bounded@sup-only", "f(theta, xi) <= H", note="H_loss is the federation's constant",
)

A_neighbours = Assumption(
    "afedpd/assumption-neighbours",
    "two data sets that differ in one sample; both runs share start, sampled clients and sample indices",
)

A_uniform_step = Assumption(
    "afedpd/step-constant-in-round", "the local step size is constant within a round",
    (Condition(eta_l[t] - eta_l[tau(t)], "==", 0, (each_step,)),),
)

OPTIMISATION = (A1, A_inexact, A_sampling)
STABILITY = (A1_sample, A2, A_sampling, A_neighbours, A_uniform_step)

ASSUMPTIONS = {
    a.id: a
    for a in (A1, A1_sample, A2_global, A2, A_inexact, A_sampling, A_bounded, A_sup_only, A_neighbours, A_uniform_step)
}
