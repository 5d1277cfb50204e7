"""Makes a violating instance exact, and then as small and as simple as it can be while it still violates."""

from __future__ import annotations

from bounds.language.claim import Claim
from synthetic.numbers.balls import Ball
from verify.exact.confirm import Violation, violation_of
from verify.exact.screen import seen_changes, those_seen, with_change
from verify.instances.simpler import simpler

__all__ = ["shrink"]

_LONG = 40  # iterations


def shrink(claim: Claim, violation: Violation, most_trials: int = 400) -> Violation:
    """Greedily take every simplification under which the claim is still violated exactly; on balls and on long runs, which
    are slow, with a quarter of the trials."""
    slow = isinstance(violation.left, Ball) or violation.shape.iterations > _LONG
    most_trials = most_trials // 4 if slow else most_trials
    violation = _simpler_shape(claim, violation, most_trials, screened=slow)
    violation = _simpler_numbers(claim, violation, most_trials)
    return _simpler_shape(claim, violation, most_trials, screened=True)  # noise of size zero, say, can go now


def _simpler_shape(claim, violation, most_trials, screened):
    """The violation on the smallest shape that is found step by step; ``screened``: only where float64 sees it there too."""
    trials, progress = 0, True
    while progress and trials < most_trials:
        progress = False
        candidates = simpler(claim, violation.shape, violation.leaves)
        for shape, leaves in those_seen(claim, candidates) if screened else candidates:
            trials += 1
            found = violation_of(claim, shape, leaves)
            if isinstance(found, Violation):
                violation, progress = found, True
                break
            if trials >= most_trials:
                break
    return violation


def _simpler_numbers(claim, violation, most_trials):
    """The violation with simpler numbers: all changes that float64 sees to do at once, or by halves where exact arithmetic
    refuses them."""
    refused, left = set(), most_trials

    def with_changes(violation, changes):
        nonlocal left
        if not left:
            return violation
        left -= 1
        leaves = violation.leaves
        for change in changes:
            leaves = with_change(leaves, change)
        found = violation_of(claim, violation.shape, leaves)
        if isinstance(found, Violation):
            return found
        if len(changes) == 1:
            refused.add(changes[0])
            return violation
        middle = len(changes) // 2
        return with_changes(with_changes(violation, changes[:middle]), changes[middle:])

    while left:  # one number may become simpler only after another one has
        changes = seen_changes(claim, violation.shape, violation.leaves, refused)
        if not changes:
            break
        violation = with_changes(violation, changes)
    return violation
