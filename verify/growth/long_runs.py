"""Follows single instances with chance through many rounds, where their state is a power of a matrix
(:mod:`verify.checker.long_run`): all members are exact, sampled clients included."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import sympy as sp

from bounds.language.claim import Claim, Condition
from bounds.language.operators import E, norm2, rounds, x_round, x_star
from synthetic.numbers.arrays import each
from verify.checker.limits import WorkLimit
from verify.exact.by_checker import MOST_WORK
from verify.exact.confirm import Violation
from verify.growth.fit import fit
from verify.growth.growth_search import GrowthCurve, GrowthSearch, Member
from verify.growth.members import MEMBERS, TINY, ExactMember, constant_refuted
from verify.growth.order import order_of, with_constant
from verify.growth.same_instance import tame
from verify.instances.draw import draw_params
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters, map_params, take_rows
from verify.instances.shape import Shape
from verify.instances.shapes import small_shapes
from verify.search.many_rounds import has_long_runs, is_fit, violation_or_ratio

__all__ = ["along_long_runs"]

_SIZES = tuple(128 * 2**i for i in range(MEMBERS))
_ROWS = 4  # instances of a shape
_SOME_WAY = Fraction(1, 16)  # of the squared distance from the start to the optimum
_MORE = 2  # times as large as at the first is the ratio to each term at the last size, at least
_WORK = 8  # times the work of a replay, in all


def along_long_runs(trials: GrowthSearch, claim: Claim) -> Iterator[tuple[GrowthCurve, tuple[ExactMember, ...]]]:
    """Yield tracks along the rounds on which the ratio grows by a power of their number, and their exact members."""
    if claim.statement.relation != "<=" or not has_long_runs(claim):
        return
    meter = WorkLimit(_WORK * MOST_WORK)
    for shape, params in _instances(trials):
        members: list[ExactMember] = []
        for size in _SIZES:
            member = _member(partial(with_constant, claim), shape, params, size, meter)
            if member is None or (members and member.constant <= members[-1].constant):
                break
            members.append(member)
        if len(members) == len(_SIZES) and _shows_growth(claim, shape, params, members, meter):
            curve = GrowthCurve("rounds", tuple(
                Member(m.size, float(m.constant), m.violation.shape, m.violation.params) for m in members))
            yield curve, tuple(members)


def _instances(trials: GrowthSearch) -> Iterator[tuple[Shape, Parameters]]:
    """Tame instances with chance of a few shapes, in fractions."""
    claim, rng, effort = trials.claim, trials.rng, trials.effort
    shapes = [shape for shape in small_shapes(claim, rng, effort.most_outcomes, 8 * effort.shapes)
              if is_fit(shape) and outcomes(replace(shape, rounds=1)) != (1, 1)]
    for shape in [*dict.fromkeys(shapes)][:effort.shapes]:
        params = tame(claim, draw_params(claim, shape, _ROWS, rng), rng)
        for row in range(_ROWS):
            yield shape, map_params(take_rows(params, [row]), lambda name, array: each(array, Fraction))


def _member(stated: Callable[[Fraction], Claim], shape: Shape, params: Parameters, size: int, meter: WorkLimit,
            ) -> ExactMember | None:
    """The instance after so many rounds, with nearly the largest constant with which it refutes what is ``stated``."""
    constant = constant_refuted(violation_or_ratio(stated(TINY), shape, params, size * shape.local_steps, meter))
    if constant is None:
        return None
    found = violation_or_ratio(stated(constant), shape, params, size * shape.local_steps, meter)
    return ExactMember(size, constant, found) if isinstance(found, Violation) else None


def _shows_growth(claim: Claim, shape: Shape, params: Parameters, members: list[ExactMember], meter: WorkLimit) -> bool:
    """Whether the constants grow by a power of the rounds, the left side against each term of the right one, and the run has
    got somewhere."""
    sizes = [m.size for m in members]
    if not fit(sizes, [float(m.constant) for m in members]).grows:
        return False
    order, explicit = order_of(claim), with_constant(claim, 1)
    terms = sp.Add.make_args(sp.expand(order.scale))
    for term in terms if len(terms) > 1 else ():
        def alone(constant: Fraction, term=term) -> Claim:
            return replace(explicit, statement=Condition(order.measured, "<=", sp.Rational(constant) * term, ()))

        ends = [_member(alone, shape, params, size, meter) for size in (sizes[0], sizes[-1])]
        if all(ends) and ends[1].constant <= _MORE * ends[0].constant:
            return False
    way = Condition(E(norm2(x_round[rounds] - x_round[0])), "<=", _SOME_WAY * norm2(x_round[0] - x_star))
    last = sizes[-1] * shape.local_steps
    return isinstance(violation_or_ratio(replace(explicit, statement=way), shape, params, last, meter), Violation)
