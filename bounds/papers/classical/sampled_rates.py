"""Rates with gradient noise and sampled clients: FedAvg with clients of bounded dissimilarity, SCAFFOLD; convex SCAFFOLD.

In the manner of Karimireddy et al. 2020, with constants derived here. s of m clients take part, drawn without replacement
and independent of the noise, so that all clients may be thought to run. With u = eta L K, q = s/m, G_k the sum of the
gradients at the local models of client k, G their mean, N_k the sum of the noise, s_k the direction of a client's first step
without its noise, and D the sum over the local steps of the clients' mean squared distances from the round's start:

1. ``E |y_{j+1} - x|^2 <= ((1 + eta L) |y_j - x| + eta |s_k|)^2 + eta^2 sigma^2``, in which the square is at most (1 + 1/K)
   and (1 + K) times those of its terms. With u <= 1/16, ``D <= 9/4 eta^2 K^3 mean |s_k|^2 + 9/4 eta^2 K^2 sigma^2``, since
   ``(1 + 1/K)^K (1 + u/K)^(2K) <= e^(9/8)``.
2. ``E |1/s sum (G_k + N_k)|^2 <= 2 |G|^2 + 2/s mean |G_k|^2 + 2 K sigma^2 / s`` over the drawn clients; ``|G_k|^2 <= 2 K^2
   |s_k|^2`` plus 2 K L^2 times the client's part of D; ``|G - K grad F|^2 <= K L^2 D``.
3. Descent: ``E F(x') <= F - eta K/2 |grad F|^2 + eta L^2 D (1/2 + 2 u/s) + 2 u eta K/s mean |s_k|^2 + u eta sigma^2 / s``,
   in which |G|^2 has dropped out. FedAvg: ``mean |s_k|^2 <= G^2 + B^2 |grad F|^2``; with 16 B^2 u <= 1 a third of
   eta K |grad F|^2 is left.
4. FedAvg, convex: ``|x' - x*|^2`` falls by twice eta K (F - F*) but for ``eta L D (1 + 8 u)`` and the rest of 2, of which
   ``|grad F|^2 <= 2 L (F - F*)`` leaves 9/10.
5. SCAFFOLD: with V the mean of ``|c_k - grad F_k(x)|^2``, ``mean |s_k|^2 <= |grad F|^2 + V =: w``. Who is not drawn keeps
   c_k, who is has the mean of its gradients: ``E V' <= (1 - q/2) V + 3/q L^2 E |x' - x|^2 + 3 q (L^2 D / K + sigma^2 / K)``.
   By 1 and 2, ``L^2 E |x' - x|^2 <= u^2 (9 w + 3 sigma^2 / K)``. With 24 u <= q the sum F + 5 u/q eta K V falls by at least
   2/5 eta K |grad F|^2 but for eta u sigma^2 (16 + 1/s).
6. SCAFFOLD, convex, full gradients, everybody: as in 4 with D as in ``rates`` and V as there, ``|x - x*|^2 + eta K V / (8
   L)`` falls by 2/3 eta K (F - F*) for 4 u <= 1.
"""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.words import (
    E,
    F_star,
    G_sq,
    L,
    Sum,
    clients,
    i,
    local_steps,
    mu,
    norm2,
    objective,
    participants,
    r,
    rounds,
    sigma_sq,
    x_round,
    x_star,
)
from bounds.papers.classical.gradient_descent import CONVEX, EXACT, JUST_CONVEX, NOISE, SMOOTH
from bounds.papers.classical.local_sgd import ALL_ROUNDS, ANY_ETA, at_most, round_gradient
from bounds.papers.classical.notation import eta
from bounds.papers.classical.rates import BOUNDED_DISSIMILARITY, B, about_runs, gap_at_start, lag_at_start

__all__ = ["CLAIMS", "distance_at_start"]

K, s, u = local_steps, participants, eta * L * local_steps
SAMPLED = "without-replacement"
FEDAVG = {"procedure": Procedure(sampling=SAMPLED, equal_weights=True),
          "variables": (ANY_ETA, Variable("B", "positive"))}
SCAFFOLD = {"procedure": Procedure("scaffold", sampling=SAMPLED, options=(("eta_g", 1),), equal_weights=True),
            "variables": (ANY_ETA,)}
SMALL = (*at_most(1 / (16 * L * K * B**2)), *BOUNDED_DISSIMILARITY)
mean_gradient = Sum(E(round_gradient), ALL_ROUNDS) / rounds
mean_gap = Sum(E(objective(x_round[r])) - F_star, ALL_ROUNDS) / rounds
distance_at_start = norm2(x_round[0] - x_star)
spread_of_clients = G_sq * (2 * u / s + sp.Rational(45, 32) * u**2)
spread_of_noise = sigma_sq / K * (u / s + sp.Rational(45, 32) * u**2)
shrink = 1 - sp.Rational(2, 3) * eta * mu * K

one_round = about_runs(
    "fedavg-sampled-round", "One round of FedAvg, noise, sampled clients of bounded dissimilarity",
    "descent with the drift of smooth clients and the second moment of the drawn clients' mean",
    Condition(E(objective(x_round[r + 1])), "<=", E(objective(x_round[r])) - eta * K * E(round_gradient) / 3
              + eta * K * (spread_of_clients + spread_of_noise), (ALL_ROUNDS,)),
    (SMOOTH, NOISE), SMALL, FEDAVG)

scaffold_sampled = about_runs(
    "scaffold-sampled-nonconvex", "SCAFFOLD, noise, sampled smooth clients",
    "the objective and 5 eta^2 K^2 L m/s times the mean squared lag of the variates fall together",
    Condition(mean_gradient, "<=", 5 * gap_at_start / (2 * eta * K * rounds)
              + sp.Rational(25, 2) * u * clients / s * lag_at_start / rounds
              + sp.Rational(5, 2) * eta * L * sigma_sq * (16 + 1 / s)),
    (SMOOTH, NOISE), at_most(s / (24 * L * K * clients)), SCAFFOLD)

CLAIMS = (
    one_round,
    about_runs(
        "fedavg-sampled-nonconvex", "FedAvg, noise, sampled smooth clients of bounded dissimilarity", "one round, summed",
        Condition(mean_gradient, "<=", 3 * gap_at_start / (eta * K * rounds) + 3 * spread_of_clients + 3 * spread_of_noise),
        (SMOOTH, NOISE), SMALL, FEDAVG, steps=(one_round.id,)),
    about_runs(
        "fedavg-sampled-strongly-convex", "FedAvg, noise, sampled strongly convex clients of bounded dissimilarity",
        "one round with |grad F|^2 >= 2 mu (F - F*), unrolled",
        Condition(E(objective(x_round[rounds])) - F_star, "<=", shrink**rounds * gap_at_start
                  + eta * K * (spread_of_clients + spread_of_noise) * Sum(shrink**i, (i, 0, rounds - 1))),
        (SMOOTH, CONVEX, NOISE), SMALL, FEDAVG, steps=(one_round.id,)),
    about_runs(
        "fedavg-sampled-convex", "FedAvg, noise, sampled convex clients of bounded dissimilarity",
        "the squared distance to the optimum falls by the gap, up to the drift and the second moment of the drawn mean",
        Condition(mean_gap, "<=", sp.Rational(10, 9) * (
            distance_at_start / (eta * K * rounds) + G_sq * (4 * eta * K / s + sp.Rational(27, 8) * u**2 / L)
            + sigma_sq * (2 * eta / s + sp.Rational(27, 8) * u**2 / (L * K)))),
        (SMOOTH, JUST_CONVEX, NOISE), SMALL, FEDAVG),
    scaffold_sampled,
    replace(
        scaffold_sampled, id="classical/scaffold-merely-convex", number="SCAFFOLD, convex clients",
        assumptions=(SMOOTH, JUST_CONVEX, EXACT), conditions=at_most(1 / (4 * L * K)),
        procedure=replace(SCAFFOLD["procedure"], sampling="full"),
        statement=Condition(Sum(objective(x_round[r]) - F_star, ALL_ROUNDS) / rounds, "<=",
                            3 * distance_at_start / (2 * eta * K * rounds) + 3 * lag_at_start / (16 * L * rounds)),
        derivation="the squared distance to the optimum and eta K / (8 L) times the mean squared lag fall together"),
)
