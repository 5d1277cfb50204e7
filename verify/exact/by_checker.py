"""Violations whose sides the stand-alone checker computes: by instances of which exact arrays would take too long."""

import json

from bounds.language.claim import Claim
from synthetic.numbers.arrays import EXACT
from synthetic.numbers.balls import Ball
from verify.checker.counterexample import judge_instance
from verify.checker.instance import Instance
from verify.checker.intervals import Interval
from verify.checker.limits import MANY_ROUNDS, WorkLimit
from verify.checker.operators import replayed
from verify.checker.schema import checked
from verify.evaluation.environment import Environment
from verify.exact.certificate import certificate
from verify.exact.statement import free_names
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

__all__ = ["MOST_WORK", "judged_by_checker", "sides_by_checker"]

MOST_WORK = 800_000  # steps of a replay, less than the checker's own limit


def sides_by_checker(claim: Claim, shape: Shape, params: Parameters) -> tuple[Environment, object, object] | str:
    """The environment before a run of an exact instance, and the sides that it breaks, fractions or balls; or a word, as
    :func:`~verify.exact.confirm.confirm_or_why` gives it."""
    environment, accepted, reason, *sides = judged_by_checker(claim, shape, params)
    if accepted:
        return environment, *sides
    words = (word for start, word in (("a hypothesis", "unmet"), ("nothing", "holds")) if reason.startswith(start))
    return next(words, f"uncertain: {reason}")


def judged_by_checker(claim: Claim, shape: Shape, params: Parameters, meter: WorkLimit | None = None) -> tuple:
    """(environment, accepted, reason, left, right): an exact instance before a run, what the checker says of its run, and
    the last sides that it looked at, fractions or balls. ``meter`` counts the steps of the replay."""
    environment = simulate(claim, shape, params, EXACT, runs=False)
    if missing := [name for name in free_names(claim) if name not in environment.bound and name not in environment.sizes]:
        return environment, False, f"the run says what {missing[0]} is", "", ""
    data = json.loads(json.dumps(certificate(claim, environment, 0, 0)))
    reading = {"long": True} if shape.rounds > MANY_ROUNDS else {"listed": 1}
    meter = meter or WorkLimit(MOST_WORK)
    *said, left, right = replayed(
        lambda c: judge_instance(c, Instance(checked(c), meter=meter, **reading), recorded=False), data)
    return environment, *said, *(
        Ball.between(side.low, side.high) if isinstance(side, Interval) else side for side in (left, right))
