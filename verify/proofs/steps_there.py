"""Evaluates the steps of a claim's proof on the claim's own counterexample, to find where the proof breaks."""

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import BALLS, EXACT, NUMPY
from synthetic.numbers.roots import Irrational
from verify.evaluation.judge import exact_violation, judge
from verify.exact.balls import MOST_EXACT, certain_violation
from verify.exact.certificate import certificate
from verify.exact.check import check
from verify.exact.replay import CANNOT, instance_of, rerun
from verify.exact.statement import free_names
from verify.instances.instance import outcomes
from verify.proofs.follows import premises_of

__all__ = ["proof_order", "steps_there"]

_SEEN = 1e-6  # score from which on exact arithmetic is asked
_LARGEST_RUN = 2**16  # numbers of a run


def proof_order(claim: Claim) -> list[Claim]:
    """Collect the steps of a claim's proof and the steps of these, premises before what rests on them, each once.

    Raises:
        LookupError: a step that nobody has registered.
    """
    found: dict[str, Claim] = {claim.id: claim}
    order: list[Claim] = []

    def visit(one: Claim) -> None:
        for step in premises_of(one):
            if step.id not in found:
                found[step.id] = step
                visit(step)
                order.append(step)

    visit(claim)
    return order


def steps_there(claim: Claim, data: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate the steps of the proof on the instance of the claim's counterexample, in proof order, until one fails.

    Args:
        data: the counterexample's certificate.

    Returns:
        ``failing``: id of the first step whose hypotheses the instance meets and whose statement it violates, as the checker
        confirms, with ``left`` and ``right``, its sides in floats; absent if there is none. ``holding``: ids of the steps
        before it that hold there. ``unmeasured``: ids of those that are about something else, such as numbers alone, or ask
        for more than the instance meets. All of them are empty for a claim that lists no steps.
    """
    found: dict[str, Any] = {"holding": [], "unmeasured": []}
    for step, outcome in _outcomes(claim, data):
        if isinstance(outcome, tuple):
            left, right = map(float, outcome)
            return found | {"failing": step.id, "left": left, "right": right}
        found["holding" if outcome == "holds" else "unmeasured"].append(step.id)
    return found


def _outcomes(claim: Claim, data: Mapping[str, Any]) -> Iterator[tuple[Claim, Any]]:
    try:
        steps = proof_order(claim)
        shape, _ = instance_of(data)
    except CANNOT:
        return
    small = claim.setting != "run" or prod(outcomes(shape)) * shape.iterations * shape.clients * shape.dim <= _LARGEST_RUN
    for step in steps:
        measured = small and step.setting == claim.setting and step.statement is not None and step.explicit
        yield step, _outcome(step, data) if measured else ""


def _outcome(step: Claim, data: Mapping[str, Any]) -> tuple | str:
    """Both sides where the step is violated, with a certificate that the checker accepts; else ``holds``, or another word
    where nobody knows."""
    free = free_names(step)
    data = {**data, "values": {name: value for name, value in data["values"].items() if name in free}}
    try:
        with np.errstate(all="ignore"):
            seen = judge(step, rerun(data, step, NUMPY))
        if not seen.met[0]:
            return "unmet"
        if seen.score[0] <= _SEEN:
            return "holds"
        environment, left, right = _violation(step, data)
        accepted = check(json.loads(json.dumps(certificate(step, environment, left, right))), step).accepted
    except CANNOT:
        return "unmeasured"
    return (left, right) if accepted else "unmeasured"


def _violation(step: Claim, data: Mapping[str, Any]) -> tuple:
    """The environment and both sides, in fractions, or on balls where there are roots. Raises ValueError if neither is
    certain that the step is violated."""
    with suppress(Irrational, *CANNOT):
        environment = rerun(data, step, EXACT, most=MOST_EXACT)
        sides = exact_violation(step, environment)
        if not isinstance(sides, str):
            return environment, *sides
    found = certain_violation(step, lambda: rerun(data, step, BALLS, most=MOST_EXACT), instance_of(data)[0].iterations)
    if len(found) != 3:
        raise ValueError(f"not certainly violated: {found[0]}")
    return found
