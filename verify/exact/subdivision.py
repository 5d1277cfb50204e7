"""Pieces of an interval on each of which the stand-alone checker finds a statement surely broken."""

from fractions import Fraction
from typing import Any

from verify.checker import replay as checker
from verify.checker.limits import PIECES, TooLarge

__all__ = ["subdivided", "subdivision"]

_NARROWEST = Fraction(1, 2**30)  # piece, as a share of the interval
_MOST = 4 * PIECES  # pieces that are looked at
CANNOT = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def subdivided(data: dict[str, Any]) -> dict[str, Any]:
    """A certificate about a number that is said to exist, with the ends of pieces that cover the whole interval.

    Raises:
        ArithmeticError: there are no such pieces, or none were found.
    """
    places = subdivision(data)
    if isinstance(places, str):
        raise ArithmeticError(f"no subdivision of the interval is known: {places}")
    return data | {"subdivision": [str(place) for place in places]}


def subdivision(data: dict[str, Any]) -> list[Fraction] | str:
    """Places from 0 to 1 between which the statement of a certificate is surely broken; ``holds`` where the statement is not
    broken somewhere in the interval, or ``uncertain: `` and a reason."""
    ends, open_pieces, looked = [Fraction(0)], [(Fraction(0), Fraction(1))], 0
    data = data | {"subdivision": ["0", "1"]}
    while open_pieces:
        low, high = open_pieces.pop()
        looked += 1
        word = _on_piece(data, low, high)
        if word == "broken":
            ends.append(high)
            continue
        middle = (low + high) / 2
        if _on_piece(data, middle, middle) == "holds":
            return "holds"
        if looked >= _MOST or len(ends) + len(open_pieces) >= PIECES or high - low < _NARROWEST:
            return (f"uncertain: intervals do not decide the statement where the number lies at {float(low):.3g} to "
                    f"{float(high):.3g} of its interval; a finer subdivision, or a value there, would decide")
        open_pieces += [(middle, high), (low, middle)]
    return ends


def _on_piece(data: dict[str, Any], low: Fraction, high: Fraction) -> str:
    """``broken`` for sure, or not; at a single place ``holds`` where nothing breaks the statement."""
    try:
        return checker.on_every_reading(data, (low, high))
    except TooLarge:
        raise
    except CANNOT:
        return "undecided"
