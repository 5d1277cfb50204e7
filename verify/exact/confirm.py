"""Whether a violation that float64 found is one in exact arithmetic."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

import numpy as np

from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import BALLS, EXACT, each
from synthetic.numbers.balls import Ball
from synthetic.numbers.roots import Irrational
from verify.claims.existential import excluded_positions, position_of, runs_for_every_value, with_position
from verify.claims.needs import speaks_of_pairs
from verify.claims.normalisations import Normalisation, normalisations
from verify.claims.sizes import once_by_claim
from verify.evaluation.environment import Environment, TooManyTerms, UnboundName
from verify.evaluation.judge import exact_violation, pairs
from verify.exact.balls import MOST_EXACT, violation_on_balls
from verify.exact.by_checker import sides_by_checker
from verify.exact.certificate import certificate
from verify.exact.existential_conditions import existential_conditions
from verify.exact.float_prefilter import is_violated
from verify.exact.subdivision import subdivision
from verify.instances.instance import admissible
from verify.instances.parameters import Parameters, map_params, spec_of
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

__all__ = ["Violation", "confirm", "confirm_or_why", "is_met", "violation_of"]

_FEW = 2  # roundings that are tried where a hypothesis at all pairs of points, or a number that is said to exist, takes long
_SIMPLE = (1, 2, 10, 100)  # denominators of the simpler instances that may meet hypotheses
_DENOMINATORS = (1, 2, 4, 10, 16, 100, 1000, 10**4, 10**6)


class Violation(NamedTuple):
    """An exact instance that meets every hypothesis and violates the claim; ``left`` and ``right`` are fractions, or balls
    that certainly contain both sides."""

    shape: Shape
    params: Parameters
    environment: Environment
    left: Fraction | Ball
    right: Fraction | Ball


def confirm(claim: Claim, shape: Shape, params: Parameters, rounded: bool = True) -> Violation | None:
    """The violation by one instance in exact arithmetic; None if float64 only saw rounding errors.

    The instance is taken exactly as it is first, then ``rounded`` to the smallest denominators that keep the violation.
    """
    found = confirm_or_why(claim, shape, params, rounded)
    return found if isinstance(found, Violation) else None


def confirm_or_why(claim: Claim, shape: Shape, params: Parameters, rounded: bool = True) -> Violation | str:
    """The confirmed violation, or the reason why there is none: ``holds`` or ``unmet`` in exact arithmetic,
    ``inadmissible``, or ``uncertain: ...`` with a reason, where numbers are too large or irrational to tell."""
    exact = "uncertain: no fractions of few digits were found"
    if not shape.many_draws or not rounded:  # with many draws, long fractions take long
        exact = violation_of(claim, shape, map_params(params, lambda name, a: each(a, Fraction)))
        if exact == "holds" or not rounded:
            return exact
    candidates = [map_params(params, lambda name, a, q=q: _round(claim, name, a, q)) for q in _DENOMINATORS]
    tried = 0
    for candidate, promising in zip(candidates, is_violated(claim, shape, candidates), strict=True):
        found = violation_of(claim, shape, candidate) if promising else exact
        if isinstance(found, Violation):
            return found
        tried += promising
        if tried == _FEW and (speaks_of_pairs(claim) or runs_for_every_value(claim)):
            break
    missed = _missed(claim, shape, params) if exact == "unmet" else None
    return exact if missed is None else f"uncertain: no fractions were found that meet {missed}"


def _missed(claim: Claim, shape: Shape, params: Parameters) -> Normalisation | None:
    """The equation of a measured quantity that float64 meets in other units, and the exact instance does not."""
    params = map_params(params, lambda name, a: each(a, Fraction))
    for one in normalisations(claim):
        for backend in (EXACT, BALLS):
            with suppress(ArithmeticError, LookupError, TypeError, ValueError):
                both = pairs(one.condition, simulate(claim, shape, params, backend, most=MOST_EXACT))
                if not all(Ball(side).exact for pair in both for side in pair) or any(a != b for a, b in both):
                    return one
                break
    return None


def is_met(claim: Claim, instances: Sequence[tuple[Shape, Parameters]]) -> bool:
    """Whether exact arithmetic says of any of these instances, or of one with simpler numbers, that it meets the
    inequalities among the hypotheses, or cannot tell. Equations are left out: floats meet few of them exactly."""
    judged = _without_equations(claim)
    simpler = ((shape, map_params(params, lambda name, a, q=q: _round(claim, name, a, q)))
               for q in _SIMPLE for shape, params in instances)
    return any(_violation_of(claim, *instance, judged) not in ("unmet", "inadmissible")
               for instance in chain(instances, simpler))


@once_by_claim
def _without_equations(claim: Claim) -> Claim:
    steps = claim.defining.get("eta_l")  # says which signs they may have, and every instance meets it
    return _with_hypotheses(claim, lambda condition: condition.relation != "==" or condition == steps)


def violation_of(claim: Claim, shape: Shape, params: Parameters) -> Violation | str:
    """The violation by an instance, whose floats are taken as the fractions that they are, or the reason as
    :func:`confirm_or_why` gives it. Where fractions do not suffice, balls decide what is certain. A statement about a number
    that is said to exist must be broken on the whole interval, and the sides are those at its upper end."""
    if claim.exists is None:
        return _violation_of(claim, shape, params)
    claim = with_position(claim)
    found = _violation_of(claim, shape, params | {position_of(claim): each(np.ones(1), Fraction)}, _unconditional(claim))
    if found == "holds" and claim.exists.open_high:
        return "uncertain: the statement holds at the end that the interval leaves out"
    if isinstance(found, str):
        return found
    at = _place_of_the_witness(claim, found.environment)
    there = None if at is None else params | {position_of(claim): each(np.full(1, at), Fraction)}
    if there is not None and _violation_of(claim, shape, there) == "holds":
        return "holds"
    places = subdivision(certificate(claim, *found[2:]))
    return places if isinstance(places, str) else found


@once_by_claim
def _unconditional(claim: Claim) -> Claim:
    """The claim without its conditions on the number that is said to exist, which the upper end need not meet."""
    values = {*existential_conditions(claim).values}
    return _with_hypotheses(claim, lambda condition: condition not in values)


def _with_hypotheses(claim: Claim, keep: Callable[[Condition], bool]) -> Claim:
    """The claim with the conditions that ``keep`` is true for, of its assumptions too."""
    assumptions = tuple(replace(a, conditions=tuple(filter(keep, a.conditions))) for a in claim.assumptions)
    return replace(claim, assumptions=assumptions, conditions=tuple(filter(keep, claim.conditions)))


def _place_of_the_witness(claim: Claim, environment: Environment) -> Fraction | None:
    """The position of the witness in its interval on an instance, rounded if it is irrational; None where it lies
    outside."""
    exists = claim.exists
    if exists.witness is None:
        return None
    try:
        (((low, width),), ((_, value),)) = (pairs(Condition(exists.low, "<=", other), environment) for other in (
            exists.high - exists.low, exists.witness))
        place = (_as_fraction(value) - _as_fraction(low)) / _as_fraction(width)
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None
    return place if 0 <= place <= 1 and place not in excluded_positions(claim) else None


def _as_fraction(value) -> Fraction:
    return Fraction(float(value)) if isinstance(value, Ball) else Fraction(value)


def _violation_of(claim: Claim, shape: Shape, params: Parameters, judged: Claim | None = None) -> Violation | str:
    """The violation by an instance of the claim, by the hypotheses and the statement of another one if it is ``judged``."""
    params = map_params(params, lambda name, a: a if a.dtype == object else each(a, Fraction))
    if not admissible(claim, shape, params):
        return "inadmissible"
    try:
        if shape.many_draws and judged is None:
            found = sides_by_checker(claim, shape, params)
            return found if isinstance(found, str) else Violation(shape, params, *found)
        environment = simulate(claim, shape, params, EXACT, most=MOST_EXACT)
        pair = exact_violation(judged or claim, environment)
        return pair if isinstance(pair, str) else Violation(shape, params, environment, *pair)
    except TooManyTerms as error:
        return f"uncertain: {error}"
    except (Irrational, TypeError, ValueError):  # a root of a quantity, or a method that takes roots
        pass
    except (ArithmeticError, UnboundName):  # a division by zero, a constant that is infinite here
        return _by_the_checker(claim, shape, params) if judged is None else "inadmissible"
    found = violation_on_balls(claim, shape, params, judged=judged)
    if len(found) == 2:
        return ": ".join(part for part in found if part)
    return Violation(shape, params, *found)


def _by_the_checker(claim: Claim, shape: Shape, params: Parameters) -> Violation | str:
    """The violation where arrays have entries without a value: on outcomes of probability zero, and at pairs of indices of
    which the inner one is out of its range. The checker leaves both out."""
    try:
        found = sides_by_checker(claim, shape, params)
    except (ArithmeticError, UnboundName):
        return "inadmissible"
    return found if isinstance(found, str) else Violation(shape, params, *found)


def _round(claim, name, array, q):
    positive = spec_of(claim, name).domain in ("positive", "fraction", "factor", "constant")

    def simple(value):
        rounded = Fraction(value).limit_denominator(q)
        if positive and rounded <= 0 < value:  # a number that float64 has rounded to 0 is none of the instance's
            return Fraction(1, max(1, round(1 / Fraction(value))))
        return rounded

    return each(array, simple)
