"""Whether ratios along a geometric sequence of sizes grow without bound, as far as a finite sequence can say."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import namespace, to_numpy
from verify.evaluation.environment import Environment
from verify.evaluation.evaluate import sides
from verify.growth.order import order_of

__all__ = ["OCTAVES", "Fit", "fit", "outgrows_every_term"]

OCTAVES = 4  # doublings of the size over which the growth must be seen
_FACTOR = 16.0  # by which the ratio must have grown in all
_EVEN, _FACTOR_IF_EVEN = 0.95, 4.0  # or by this one, where no exponent is below this share of the largest: a pure power
_LEAST = 0.1  # the exponent's lower bound
_SATURATES = 0.65  # share of the last exponent that is left an octave later where ratios saturate as T / (T + a) does
_LASTS = 0.75  # share of the mean exponent that the last one must have
_CREEPS, _UNCHANGED = 0.02, 0.95  # a small exponent that does not fall is that of a small power of the size
_STEADY = 0.8  # the last exponent must not fall below this share of the largest: a ratio that saturates does


class Fit(NamedTuple):
    """Growth ``ratio ~ size ** slope`` over the last octaves, ``error`` half the range of the slopes between neighbours.

    ``last`` is the last of these slopes. ``rising``: every slope is above the least; ``steady``: besides, the last one has
    not dropped; ``grows``: besides, by
    enough; ``level``: it has stopped growing, or slows down so fast that it soon will; ``infinite``: the
    right side is zero throughout.
    """

    slope: float
    error: float
    rising: bool
    steady: bool
    grows: bool
    level: bool
    infinite: bool = False
    last: float = np.inf

    @property
    def is_sustained(self) -> bool:
        """Whether it rises, and its last exponent is not far below the mean one: less is asked than of steady growth."""
        return self.rising and self.last >= _LASTS * self.slope


def fit(sizes: Sequence[float], ratios: Sequence[float]) -> Fit:
    """The growth of ``ratios`` with ``sizes``, both in the same order; sizes that fall count by their inverses.

    ``grows`` asks for at least four doublings of the size, a ratio that has grown by 16 in all, an exponent above 0.1
    between any two neighbours of the last four octaves, and a last one that has not dropped below 0.8 of the largest. Where
    these exponents are all nearly the same, a ratio that has grown by 4 is enough.
    """
    ratios = np.asarray(ratios, dtype=float)
    if len(ratios) > OCTAVES and np.isinf(ratios[-OCTAVES - 1:]).all():
        return Fit(np.inf, 0.0, True, True, True, False, True)
    if len(ratios) < 3 or not np.isfinite(ratios).all() or (ratios[-3:] <= 0).any():
        return Fit(0.0, 0.0, False, False, False, level=bool(len(ratios) and (ratios[-3:] <= 0).all()))
    x = abs(np.log2(np.asarray(sizes, dtype=float) / sizes[0]))
    last = max(min(np.searchsorted(x, x[-1] - OCTAVES - 1e-9), len(x) - 3), 0)
    if (ratios[last:] <= 0).any():
        return Fit(0.0, 0.0, False, False, False, level=bool(len(ratios) and (ratios[-3:] <= 0).all()))
    slopes = np.diff(np.log2(ratios[last:])) / np.diff(x[last:])
    rising = slopes.min() > _LEAST
    steady = rising and slopes[-1] >= _STEADY * slopes.max()
    first = ratios[ratios > 0][0]
    factor = _FACTOR_IF_EVEN if slopes.min() >= _EVEN * slopes.max() else _FACTOR
    enough = x[-1] - x[0] >= OCTAVES and ratios[-1] >= factor * first
    creeps = slopes.min() > _CREEPS and slopes[-1] >= _UNCHANGED * slopes.max()
    at_rest = slopes[-1] <= _LEAST and slopes.mean() <= 3 * _LEAST and not creeps
    slows = len(slopes) >= OCTAVES and slopes[0] <= 1 and (np.diff(slopes) < 0).all()
    saturating = slows and slopes[-1] <= 3 * _LEAST and (slopes[-2:] <= _SATURATES * slopes[-3:-1]).all()
    wavering = slopes.mean() <= _LEAST and slopes.max() <= 3 * _LEAST and not creeps  # as what is searched at every size
    return Fit(float(slopes.mean()), float(np.ptp(slopes) / 2), bool(rising), bool(steady), bool(steady and enough),
               level=bool(at_rest or saturating or wavering or ratios[-1] * _FACTOR <= ratios.max()),
               last=float(slopes[-1]))


def outgrows_every_term(claim: Claim, sizes: Sequence[float], environments: Sequence[Environment]) -> bool:
    """Whether, on instances of growing sizes, the left side rises against each positive term of what hidden constants
    multiply."""
    order = order_of(claim)
    terms = sp.Add.make_args(sp.expand(order.scale))
    if order.relation != "<=" or len(terms) == 1:
        return True
    for term in terms:
        ratios = [_ratio(Condition(order.measured, "<=", term, order.over), environment) for environment in environments]
        if all(np.isfinite(ratio) for ratio in ratios) and not fit(sizes, ratios).rising:
            return False
    return True


def _ratio(condition: Condition, environment: Environment) -> float:
    """The largest left side over right side of instance 0, infinite where the right one vanishes, NaN where it is negative
    throughout."""
    left, right, mask = sides(condition, environment)
    left, right, mask = (to_numpy(a)[0] for a in namespace(left).broadcast_arrays(left, right, mask))
    pairs = [(float(a), float(b)) for a, b, counts in zip(left.flat, right.flat, mask.flat, strict=True) if counts]
    return max((a / b if b > 0 else np.inf for a, b in pairs if b >= 0), default=np.nan)
