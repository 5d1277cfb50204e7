"""Step sizes and other conditions under which FedALIGN's statements are made."""

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.words import L, Max, epsilon, eta_l, iterations, local_steps, mu, step_offset, t, tau
from bounds.papers.fedalign.assumptions import all_steps

__all__ = [
    "SCHED", "SCHED8", "SCHEDULE_VARIABLES", "decaying_step", "doubled_step", "eta_next", "later_schedule",
    "no_matching", "non_increasing_step", "offset_8", "offset_max", "one_round", "schedule_offset", "small_step",
]

offset_max = Condition(step_offset, "==", Max(8 * L / mu, local_steps))
offset_8 = Condition(step_offset, "==", 8 * L / mu)
decaying_step = Condition(eta_l[t], "==", 2 / (mu * (t + step_offset)), (all_steps,))
SCHED = (offset_max, decaying_step)
SCHED8 = (offset_8, decaying_step)
small_step = Condition(eta_l[t], "<=", 1 / (4 * L), (all_steps,))
doubled_step = Condition(eta_l[tau(t)], "<=", 2 * eta_l[t], (all_steps,))
non_increasing_step = Condition(eta_l[t + 1], "<=", eta_l[t], ((t, 0, iterations - 2),))
no_matching = Condition(epsilon[t], "==", 0, (all_steps,))

#: for statements about one aggregation with everything before it given
one_round = Condition(iterations, "==", local_steps)

#: the step of the iteration that follows the last aggregation
eta_next = sp.Symbol("eta_next", positive=True)
rounds_before = sp.Symbol("rounds_before", integer=True, nonnegative=True)


def later_schedule() -> tuple[Condition, ...]:
    """SCHED in the one round that follows ``rounds_before`` others (declare that Variable), with ``eta_next``."""
    first = rounds_before * local_steps
    return (
        offset_max,
        Condition(eta_l[t], "==", 2 / (mu * (first + t + step_offset)), (all_steps,)),
        Condition(eta_next, "==", 2 / (mu * (first + local_steps + step_offset))),
    )


#: for statements about numbers: what determines ``step_offset``
SCHEDULE_VARIABLES = (Variable("L", "positive"), Variable("mu", "positive"), Variable("local_steps", "integer"))
schedule_offset = (Condition(L, ">=", mu), offset_max)
