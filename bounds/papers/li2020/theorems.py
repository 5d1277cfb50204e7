"""Theorems 1-4 of Li et al. 2020 in each printing."""

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.definitions import D_sq
from bounds.language.words import G_sq, L, Max, eta_l, iterations, local_steps, mu, norm, step_offset, t, x_sampled, x_star
from bounds.papers.fedalign.assumptions import all_steps
from bounds.papers.fedalign.builders import algebra_claim
from bounds.papers.fedalign.conditions import SCHED, offset_max
from bounds.papers.fedalign.quantities import D0_sq, later_bound, older_bound, suboptimality
from bounds.papers.li2020.setting import (
    ASSUMPTIONS_1_TO_4,
    SCHEME_1,
    SCHEME_2,
    base_noise,
    equal_weights,
    li_claim,
    participants_noise,
    two_clients,
)

__all__ = ["CLAIMS"]

kappa = L / mu


def self_consistent_bound(noise):
    """What the induction gives from t = 0, with this B."""
    return L / 2 / (step_offset + iterations) * Max(4 * noise / mu**2, step_offset * D0_sq)


def at_most(bound):
    return Condition(suboptimality, "<=", bound)


#: the clock of the later printing starts at 1: its time is t + 1, its T is iterations + 1, its w_1 the start
clock_from_one = (offset_max, Condition(eta_l[t], "==", 2 / (mu * (t + 1 + step_offset)), (all_steps,)))
LATER = "later printing; its clock starts at 1, where w_1 is the start of the run"

SELF_CONSISTENT = (
    "induction from t = 0 with v = max(4 B/mu^2, gamma Delta_0), then L-smoothness; equals the older printing where "
    "gamma = 8 kappa"
)

theorem_1 = li_claim(
    id="li2020/theorem-1", number="Theorem 1", kind="theorem", reading="older printing",
    assumptions=ASSUMPTIONS_1_TO_4, conditions=SCHED, statement=at_most(older_bound(base_noise)),
)

variances, Gamma, start_sq = (sp.Symbol(n, nonnegative=True) for n in ("variances", "Gamma", "start_sq"))

expanded = algebra_claim(
    id="li2020/theorem-1@expanded", number="Theorem 1", kind="theorem", source="li2020",
    reading="older printing: its two forms agree",
    variables=(
        *(Variable(n, "positive") for n in ("L", "mu", "step_offset")),
        *(Variable(n, "integer") for n in ("iterations", "local_steps")),
        *(Variable(n, "nonnegative") for n in ("G_sq", "variances", "Gamma", "start_sq")),
    ),
    statement=Condition(
        2 * kappa / (step_offset + iterations)
        * ((variances + 6 * L * Gamma + 8 * (local_steps - 1) ** 2 * G_sq) / mu + 2 * L * start_sq),
        "==",
        (
            2 * L / mu**2 * (variances + 8 * (local_steps - 1) ** 2 * G_sq) + 4 * L**2 / mu * start_sq
            + 12 * L**2 / mu**2 * Gamma
        ) / (step_offset + iterations),
    ),
)

theorem_1_later = li_claim(
    id="li2020/theorem-1-later", number="Theorem 1", kind="theorem", reading=LATER, assumptions=ASSUMPTIONS_1_TO_4,
    conditions=clock_from_one, statement=at_most(later_bound(base_noise, iterations + 1, D0_sq)),
)

theorem_1_later_literal = theorem_1_later.variant(
    "start-at-0", "later printing; its formula on the clock from 0, with w_1 the average after the first iteration",
    conditions=SCHED, statement=at_most(later_bound(base_noise, iterations, D_sq[1])),
)

theorem_1_self_consistent = li_claim(
    id="li2020/theorem-1-self-consistent", number="none", kind="theorem", source=None, derivation=SELF_CONSISTENT,
    reading="first inequality, with the maximum", assumptions=ASSUMPTIONS_1_TO_4, conditions=SCHED,
    statement=at_most(self_consistent_bound(base_noise)),
)

theorem_1_self_consistent_sum = theorem_1_self_consistent.variant(
    "second-inequality", "second inequality: the maximum is at most the sum",
    statement=Condition(
        self_consistent_bound(base_noise), "<=",
        kappa / (step_offset + iterations) * (2 * base_noise / mu + mu * step_offset / 2 * D0_sq),
    ),
)


def sampled(number, scheme, conditions, words):
    """Theorem 2 or 3 in the three printings of Theorem 1."""
    noise = base_noise + participants_noise[scheme]
    older = li_claim(
        id=f"li2020/theorem-{number}", number=f"Theorem {number}", kind="theorem",
        reading=f"{words}; older printing of Theorem 1", procedure=scheme, assumptions=ASSUMPTIONS_1_TO_4,
        conditions=(*SCHED, *conditions), statement=at_most(older_bound(noise)),
    )
    later = older.variant(
        "later", f"{words}; {LATER}", conditions=(*clock_from_one, *conditions),
        statement=at_most(later_bound(noise, iterations + 1, D0_sq)),
    )
    consistent = older.variant(
        "self-consistent", f"{words}; the self-consistent form of Theorem 1", source=None,
        derivation=SELF_CONSISTENT, statement=at_most(self_consistent_bound(noise)),
    )
    return older, later, consistent


C = sp.Symbol("C", positive=True)

theorem_4 = li_claim(
    id="li2020/theorem-4", number="Theorem 4", kind="theorem", explicit=False,
    reading="order of the distance with a constant C; constant small steps, full gradients",
    conditions=(Condition(eta_l[t], "==", eta_l[0], (all_steps,)), Condition(local_steps, ">=", 2)),
    variables=(Variable("C", "hidden"),),
    statement=Condition(
        norm(x_sampled[iterations] - x_star), ">=", C * (local_steps - 1) * eta_l[0],
    ),
    note=(
        "claimed for the limit of many rounds on one constructed quadratic, not for every federation; neither the "
        "construction nor the constant is at hand"
    ),
)

CLAIMS = (
    theorem_1, expanded, theorem_1_later, theorem_1_later_literal, theorem_1_self_consistent,
    theorem_1_self_consistent_sum, *sampled(2, SCHEME_1, (), "scheme I"),
    *sampled(3, SCHEME_2, (equal_weights, two_clients), "scheme II"), theorem_4,
)
