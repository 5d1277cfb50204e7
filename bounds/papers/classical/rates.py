"""Rates of FedAvg with clients of bounded dissimilarity and of SCAFFOLD, full gradients and everybody in every round.

In the manner of Karimireddy et al. 2020 (Theorems I and III there), with constants derived here. With u = eta L K, s_k the
first step of client k divided by eta, and D the sum of all local models' mean squared distances from the round's start:

1. ``|y_j - x| <= ((1 + eta L)^j - 1) |s_k| / L <= (e - 1) eta j |s_k|`` for u <= 1, and ``(e - 1)^2 <= 3``. As the squares
   0, 1, ..., (K-1)^2 add up to (K-1) K (2K-1) / 6 <= K^3 / 3, ``D <= eta^2 (K-1) K (2K-1) / 2 mean |s_k|^2 <= eta^2 K^3
   mean |s_k|^2``.
2. ``F(x') <= F(x) - eta K / 2 |grad F(x)|^2 + eta L^2 / 2 D``: the descent lemma along the mean of the local gradients.
3. FedAvg: ``mean |s_k|^2 <= G^2 + B^2 |grad F(x)|^2``. With 2 B u <= 1 at least 3/8 of eta K |grad F|^2 is left in 2.
4. SCAFFOLD: let V be the mean of ``|grad F_k(x) - c_k|^2``. The corrections have mean zero, so ``mean |s_k|^2 <= |grad F|^2
   + V``. A new c_k is the mean of the round's gradients of client k, so ``V' <= 2 L^2 |x' - x|^2 + 2 L^2 D / K`` with
   ``|x' - x|^2 <= eta^2 K^2 (2 |grad F|^2 + 2 L^2 D / K)`` and ``L^2 D / K <= u^2 (|grad F|^2 + V)``. With 4 u <= 1 the sum
   F + a eta K V falls by at least 4/9 eta K |grad F|^2 for a = 1/20; for a = 1/16 by 3/8 of it, while V keeps room to shrink
   by 1 - 3/16 too, and ``|grad F|^2 >= 2 mu (F - F*)``.
"""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS
from bounds.language.words import (
    F_star,
    G_sq,
    L,
    Sum,
    client_weight,
    grad,
    i,
    local_steps,
    mu,
    norm2,
    objective,
    r,
    rounds,
    x_round,
)
from bounds.language.words import (
    k as client,
)
from bounds.papers.classical.gradient_descent import ALL_CLIENTS, CONVEX, EXACT, SMOOTH
from bounds.papers.classical.local_sgd import ALL_ROUNDS, ANY_ETA, at_most, round_gradient
from bounds.papers.classical.notation import eta
from bounds.papers.classical.scaffold import client_variate

__all__ = ["BOUNDED_DISSIMILARITY", "CLAIMS", "B", "about_runs", "drift_term", "gap_at_start", "lag_at_start"]

B = sp.Symbol("B", positive=True)
K = local_steps
FEDAVG = {"procedure": Procedure(), "variables": (ANY_ETA, Variable("B", "positive"))}
SCAFFOLD = {"procedure": Procedure("scaffold", options=(("eta_g", 1),), equal_weights=True), "variables": (ANY_ETA,)}
gap, gap_at_start = objective(x_round[rounds]) - F_star, objective(x_round[0]) - F_star
mean_gradient = Sum(round_gradient, ALL_ROUNDS) / rounds

BOUNDED_DISSIMILARITY = (
    Condition(B, ">=", 1),
    Condition(Sum(client_weight[client] * norm2(grad(client, x_round[r])), ALL_CLIENTS) - B**2 * round_gradient, "<=", G_sq,
              (ALL_ROUNDS,)))

DISSIMILAR = (*at_most(1 / (2 * L * K * B)), *BOUNDED_DISSIMILARITY)
drift_term = eta**3 * L**2 * (K - 1) * K * (2 * K - 1) / 4 * G_sq
shrink = 1 - sp.Rational(3, 4) * eta * mu * K
lag_at_start = Sum(client_weight[client] * norm2(grad(client, x_round[0]) - client_variate[0, client]), ALL_CLIENTS)
SMALL = at_most(1 / (4 * L * K))


def about_runs(name: str, number: str, derivation: str, statement: Condition, assumptions, conditions, method, steps=()):
    """A textbook claim about runs of a method, given by its procedure and variables."""
    return Claim(
        f"classical/{name}", number, "control", "run", statement, assumptions, conditions, "as derived",
        derivation=derivation, definitions=DEFINITIONS, steps=steps, **method)


one_round = about_runs(
    "fedavg-dissimilar-round", "One round of FedAvg, clients of bounded dissimilarity",
    "descent with the drift of smooth clients, whose mean squared gradient is at most G^2 + B^2 |grad F|^2",
    Condition(objective(x_round[r + 1]), "<=",
              objective(x_round[r]) - sp.Rational(3, 8) * eta * K * round_gradient + drift_term, (ALL_ROUNDS,)),
    (SMOOTH, EXACT), DISSIMILAR, FEDAVG)

scaffold_nonconvex = about_runs(
    "scaffold-nonconvex", "SCAFFOLD, smooth clients",
    "the objective and eta K / 20 times the mean squared lag of the variates fall together; no heterogeneity is left",
    Condition(mean_gradient, "<=", 9 * gap_at_start / (4 * eta * K * rounds) + 9 * lag_at_start / (80 * rounds)),
    (SMOOTH, EXACT), SMALL, SCAFFOLD)

CLAIMS = (
    one_round,
    about_runs(
        "fedavg-dissimilar-nonconvex", "FedAvg, smooth clients of bounded dissimilarity", "one round, summed",
        Condition(mean_gradient, "<=", 8 * gap_at_start / (3 * eta * K * rounds)
                  + sp.Rational(2, 3) * eta**2 * L**2 * (K - 1) * (2 * K - 1) * G_sq),
        (SMOOTH, EXACT), DISSIMILAR, FEDAVG, steps=(one_round.id,)),
    about_runs(
        "fedavg-dissimilar-convex", "FedAvg, strongly convex clients of bounded dissimilarity",
        "one round with |grad F|^2 >= 2 mu (F - F*), unrolled",
        Condition(gap, "<=", shrink**rounds * gap_at_start + drift_term * Sum(shrink**i, (i, 0, rounds - 1))),
        (SMOOTH, CONVEX, EXACT), DISSIMILAR, FEDAVG, steps=(one_round.id,)),
    scaffold_nonconvex,
    replace(
        scaffold_nonconvex, id="classical/scaffold-convex", number="SCAFFOLD, strongly convex clients",
        assumptions=(SMOOTH, CONVEX, EXACT),
        statement=Condition(gap, "<=", shrink**rounds * (gap_at_start + eta * K / 16 * lag_at_start)),
        derivation="the objective and eta K / 16 times the mean squared lag of the variates shrink together"),
)
