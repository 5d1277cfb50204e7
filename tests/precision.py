"""Balls computed with as many digits as it takes."""

from collections.abc import Callable
from typing import Any

import flint
import numpy as np

from synthetic.numbers.balls import Undecided

__all__ = ["with_enough_precision"]


def with_enough_precision(compute: Callable[[], Any], radius: float = 1e-15, limit: int = 4096):
    """Calls ``compute``, which returns an array of balls or a Ball, with 64, 128, ... bits of precision.

    Returns the first result for which all comparisons are decided and no ball is wider than ``radius``.

    Raises:
        ArithmeticError: no such result up to ``limit`` bits, with the reason.
    """
    context = flint.ctx
    before, bits, reason = context.prec, 64, ""
    try:
        while bits <= limit:
            context.prec = bits
            try:
                answer = compute()
                widest = max((ball.radius for ball in np.ravel(np.asarray(answer, dtype=object))), default=0.0)
                if widest <= radius:
                    return answer
                reason = f"the widest ball has radius {widest:g}, allowed {radius:g}"
            except Undecided as error:
                reason = str(error)
            bits *= 2
    finally:
        context.prec = before
    raise ArithmeticError(f"not decided with {limit} bits: {reason}")
