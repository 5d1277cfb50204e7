"""Whether a left side outgrows every term of the right side: one that it does not outgrow ends the growth in time.

``left / (a + b)`` is unbounded only where both ``left / a`` and ``left / b`` are. Against ``1000/T + 1`` a ratio grows for
a thousand rounds, while ``1000/T`` is the larger term.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

from bounds.claim import Claim, Condition
from synthetic.arrays import namespace, to_numpy
from verify.evaluate import Environment, sides
from verify.growth_fit import fit
from verify.hidden import order_of

__all__ = ["outgrows_every_term"]


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
