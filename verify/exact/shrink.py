"""Makes an exact counterexample as small and as simple as possible."""

from fractions import Fraction

from bounds.language.claim import Claim
from synthetic.numbers.balls import Ball
from verify.checker.limits import MANY_ROUNDS
from verify.exact.confirm import Violation, violation_of
from verify.exact.float_prefilter import cost, violated_instances, violating_changes, with_change
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.instances.simpler import simpler
from verify.instances.units import in_other_units, unit_of

__all__ = ["shrink"]

_LONG = 40  # iterations
_PLAIN = 500  # numbers of an instance, times iterations, that one trial may have
_STEPS = 300  # of a run of many rounds, that take as long as a trial of a small instance
_MOST_UNITS = 4  # other units that are looked at
_LONG_NUMBER = 24  # cost of a number that another unit may well shorten
_SHORTER = 0.9  # times as long as before, numbers in other units are worth the change
_FEW = 50  # numbers that are looked at in float64 for one trial, or terms of a sum in exact arithmetic


def shrink(claim: Claim, violation: Violation, most_trials: int = 400) -> Violation:
    """Take every simplification under which the claim is still violated exactly. Balls, long runs and whole intervals are
    slow and get a quarter of the trials; an instance of many numbers, as one of many pieces has, counts as several."""
    longest = max([violation.shape.iterations, *(size for _, size in violation.shape.sizes)])
    slow = isinstance(violation.left, Ball) or longest > _LONG or claim.exists is not None
    most_trials = most_trials // 4 if slow else most_trials
    violation = _simpler_shape(claim, violation, most_trials, screened=slow)
    violation = _simpler_numbers(claim, violation, most_trials)
    violation = _simpler_units(claim, violation, most_trials)
    return _simpler_shape(claim, violation, most_trials, screened=True)  # noise of size zero, say, can go now


def _cost(shape: Shape, params: Parameters) -> int:
    """The cost of one trial of an instance, in trials of a small one: sums may go up to its own whole numbers."""
    if shape.many_draws and shape.rounds > MANY_ROUNDS:  # a power of a matrix
        return 1 + shape.iterations // _STEPS
    return 1 + _numbers(params) * shape.iterations // _PLAIN + max((size for _, size in shape.sizes), default=0) // _FEW


def _numbers(params: Parameters) -> int:
    return sum(array.size for array in params.values())


def _simpler_shape(claim, violation, most_trials, screened):
    """Reduces the shape step by step; ``screened``: only to instances that float64 sees violated."""
    trials, progress = 0, True
    while progress and trials < most_trials:
        progress = False
        candidates = simpler(claim, violation.shape, violation.params)
        for shape, params in violated_instances(claim, candidates) if screened else candidates:
            trials += _cost(shape, params)
            found = violation_of(claim, shape, params)
            if isinstance(found, Violation):
                violation, progress = found, True
                break
            if trials >= most_trials:
                break
    return violation


def _simpler_units(claim, violation, most_trials):
    """The instance in units in which one of its lengths, and one of its losses or curvatures, is 1, if that makes its
    numbers shorter; where one of them is long, then also if they can become so."""
    candidates = [violation.params]
    for position in (1, 0):  # of length, then of loss, in a unit
        candidates += [changed for params in [*candidates] for changed in _with_a_unit_of_one(claim, params, position)]
    ways = sorted((_length(params), place) for place, params in enumerate(candidates) if place)
    before, long = _length(violation.params), _longest(violation.params) > _LONG_NUMBER
    for length, place in ways[:_MOST_UNITS]:
        if length >= _SHORTER * before and not long:
            break
        found = violation_of(claim, violation.shape, candidates[place])
        found = _simpler_numbers(claim, found, most_trials) if isinstance(found, Violation) else violation
        if _length(found.params) < _SHORTER * before:
            return found
    return violation


def _with_a_unit_of_one(claim, params, position):
    """Yield the instance in other units of length or loss, for each of its numbers that becomes 1 by that."""
    known = {name: unit for name in params if (unit := unit_of(claim, name)) is not None and any(unit)}
    if any(power.denominator != 1 for unit in known.values() for power in map(Fraction, unit)):
        return
    units = {abs(number) ** -int(unit[position])
             for name, unit in known.items() if abs(unit[position]) == 1 and (position == 0 or not unit[0])
             for number in map(Fraction, params[name].flat) if number}
    for unit in sorted(units - {1}, key=cost, reverse=True)[:_MOST_UNITS]:
        yield in_other_units(claim, params, lambda name, powers, unit=unit: unit ** int(powers[position]))


def _longest(params: Parameters) -> int:
    return max((cost(Fraction(number)) for array in params.values() for number in array.flat), default=0)


def _length(params: Parameters) -> int:
    return sum(cost(Fraction(number)) for array in params.values() for number in array.flat)


def _simpler_numbers(claim, violation, most_trials):
    """Simplifies the numbers: all changes under which float64 sees the violation at once, or by halves where exact
    arithmetic refuses them."""
    refused, left = set(), most_trials

    def with_changes(violation, changes):
        nonlocal left
        if left <= 0:
            return violation
        left -= _cost(violation.shape, violation.params)
        params = violation.params
        for change in changes:
            params = with_change(params, change)
        found = violation_of(claim, violation.shape, params)
        if isinstance(found, Violation):
            return found
        if len(changes) == 1:
            refused.add(changes[0])
            return violation
        middle = len(changes) // 2
        return with_changes(with_changes(violation, changes[:middle]), changes[middle:])

    while left > 0:  # one number may become simpler only after another one has
        left -= _numbers(violation.params) // _FEW
        changes = violating_changes(claim, violation.shape, violation.params, refused)
        if not changes:
            break
        violation = with_changes(violation, changes)
    return violation
