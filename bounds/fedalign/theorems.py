"""Theorems 1 and A.9 of FedALIGN, and the corrected forms derived from their proofs."""

from __future__ import annotations

from bounds.claim import Claim, Condition, Procedure
from bounds.definitions import DEFINITIONS, Gamma, chi, define, psi
from bounds.fedalign.assumptions import G_weighted, all_steps, smooth, strongly_convex, variance
from bounds.language import (
    E, F_star, G_sq, L, Max, Sum, eta_l, i, iterations, local_steps, mu, norm2, objective, sigma_sq, step_offset, t,
    x_sampled, x_star,
)

theta = define(
    "theta", [], Sum(E(chi[i]), (i, 1, iterations - 1)) / (iterations + step_offset - 2), r"\theta_T", "1",
    "alignment", "eq. (7)",
)
rho_bias = define(
    "rho_bias", [], 2 * L / (mu * (iterations + step_offset - 2)) * Sum(E(psi[i]), (i, 1, iterations - 1)), r"\rho_T",
    "loss", "tunable bias", "eq. (8)",
)
theta_hat = define(
    "theta_hat", [], Sum(E(chi[i]), (i, 0, iterations - 1)) / (iterations + step_offset - 2), r"\hat\theta_T", "1",
    "alignment with the first step counted",
)
rho_hat = define(
    "rho_hat", [], 2 * L / (mu * (iterations + step_offset - 2)) * Sum(E(psi[i]), (i, 0, iterations - 1)),
    r"\hat\rho_T", "loss", "tunable bias with the first step counted",
)

decaying_step = Condition(eta_l[t], "==", 2 / (mu * (t + step_offset)), (all_steps,))
SCHED = (Condition(step_offset, "==", Max(8 * L / mu, local_steps)), decaying_step)
D0_sq = norm2(x_sampled[0] - x_star)
suboptimality = E(objective(x_sampled[iterations])) - F_star
noise_and_drift = 2 * L / mu**2 * (sigma_sq + 8 * (local_steps - 1) ** 2 * G_sq)
C_2 = 12 * L**2 / mu**2

theorem_1 = Claim(
    id="fedalign/theorem-1",
    number="Theorem 1, (6)-(8); Theorem A.1, (11)-(13)",
    kind="theorem",
    setting="run",
    source="fedalign",
    reading="indicator on the broadcast model; G weighted along the trajectory; assumptions 1-2 as used in the proofs",
    procedure=Procedure(free_clients=True),
    assumptions=(smooth, strongly_convex, variance, G_weighted),
    conditions=SCHED,
    statement=Condition(
        suboptimality, "<=",
        (noise_and_drift + 4 * L**2 / mu * D0_sq + C_2 * theta * Gamma) / (iterations + step_offset) + rho_bias,
    ),
    definitions=DEFINITIONS,
)
derived_theorem_1 = Claim(
    id="fedalign/derived-theorem-1",
    number="9.4, corrected Theorem 1",
    kind="derived",
    setting="run",
    derivation="lemma A.6, derived-recursion and step T20: sums start at i = 0, and L*step_offset/2 replaces 4 L^2/mu",
    procedure=Procedure(free_clients=True),
    assumptions=(smooth, strongly_convex, variance, G_weighted),
    conditions=SCHED,
    statement=Condition(
        suboptimality, "<=",
        (noise_and_drift + L * step_offset / 2 * D0_sq + C_2 * theta_hat * Gamma) / (iterations + step_offset)
        + rho_hat,
    ),
    definitions=DEFINITIONS,
)

CLAIMS = (theorem_1, derived_theorem_1)
