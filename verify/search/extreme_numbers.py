"""Instances of comparisons: the numbers at which one bound exceeds another most, as ``dominance`` finds them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bounds.language.claim import Claim
from verify.instances.leaves import Leaves
from verify.instances.shape import Shape

__all__ = ["extreme_numbers"]


def extreme_numbers(claim: Claim, rng: np.random.Generator) -> Iterator[tuple[Shape, Leaves]]:
    """One instance of a claim that compares bounds, the left side's logarithm as far above the right side's as found; none
    of other claims, and none where no numbers were found that meet the conditions."""
    if not claim.compares:
        return
    from verify.formulas.bound import bound_of
    from verify.formulas.dominance import Space  # which imports what other claims do not need

    left, right = bound_of(claim, "left"), bound_of(claim, "right")
    space = Space(left, right, sorted(v.name for v in claim.variables), {})
    _, point = space.extremes(rng)
    if not space.met:
        return
    numbers = {name: float(np.ravel(value)[0]) for name, value in space.numbers(point[:, None]).items()}
    whole = {v.name for v in claim.variables if v.domain == "integer"}
    sizes = tuple((name, round(numbers[name])) for name in numbers if name in whole)
    yield Shape(dim=1, sizes=sizes), {n: np.array([v]) for n, v in numbers.items() if n not in whole}
