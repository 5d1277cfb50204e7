"""Makes an exact counterexample as small and as simple as possible."""

from bounds.language.claim import Claim
from synthetic.numbers.balls import Ball
from verify.exact.confirm import Violation, violation_of
from verify.exact.screen import seen_changes, those_seen, with_change
from verify.instances.simpler import simpler

__all__ = ["shrink"]

_LONG = 40  # iterations


def shrink(claim: Claim, violation: Violation, most_trials: int = 400) -> Violation:
    """Take every simplification under which the claim is still violated exactly. Balls, long runs and whole intervals are
    slow and get a quarter of the trials."""
    slow = isinstance(violation.left, Ball) or violation.shape.iterations > _LONG or claim.exists is not None
    most_trials = most_trials // 4 if slow else most_trials
    violation = _simpler_shape(claim, violation, most_trials, screened=slow)
    violation = _simpler_numbers(claim, violation, most_trials)
    return _simpler_shape(claim, violation, most_trials, screened=True)  # noise of size zero, say, can go now


def _simpler_shape(claim, violation, most_trials, screened):
    """Reduces the shape step by step; ``screened``: only to instances that float64 sees violated."""
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
    """Simplifies the numbers: all changes under which float64 sees the violation at once, or by halves where exact
    arithmetic refuses them."""
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
