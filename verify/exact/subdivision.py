"""Pieces of an interval on each of which the stand-alone checker finds a statement surely broken."""

from fractions import Fraction
from typing import Any

from verify.checker import counterexample as checker
from verify.checker.limits import PIECES, TooLarge, WorkLimit
from verify.checker.operators import SENSELESS, senseless
from verify.claims.existential import PLACES

__all__ = ["subdivided", "subdivision"]

_NARROWEST = Fraction(1, 2**30)  # piece, as a share of the interval


def subdivided(data: dict[str, Any]) -> dict[str, Any]:
    """A certificate about a number that is said to exist, with the ends of pieces that cover the whole interval.

    Raises:
        ArithmeticError: there are no such pieces, or none were found.
    """
    places = subdivision(data)
    if isinstance(places, str):
        raise ArithmeticError(f"no subdivision of the interval is known: {places}")
    return data | {"subdivision": [str(place) for place in _with_one_allowed(data, places)]}


def _with_one_allowed(data: dict[str, Any], places: list[Fraction]) -> list[Fraction]:
    """The places, and one more where none of them meets the conditions on the number."""
    meter = WorkLimit()
    for place in [*places, *(Fraction(str(place)) for place in PLACES)]:
        if checker.allowed(data, place, meter):
            return sorted({*places, place})
    return places


def subdivision(data: dict[str, Any]) -> list[Fraction] | str:
    """Places from 0 to 1 between which the statement of a certificate is surely broken; ``holds`` where the statement is not
    broken somewhere in the interval, or ``uncertain: ...`` with a reason."""
    ends, open_pieces, meter = [Fraction(0)], [(Fraction(0), Fraction(1))], WorkLimit()
    while open_pieces:
        low, high = open_pieces.pop()
        try:
            if _broken(data, (low, high), meter):
                ends.append(high)
                continue
            middle = (low + high) / 2
            if _holds(data, (middle, middle), meter):
                return "holds"
        except TooLarge as limit:
            return f"uncertain: {limit}; {len(ends) - 1} pieces of the interval were decided until then"
        if len(ends) + len(open_pieces) >= PIECES or high - low < _NARROWEST:
            return (f"uncertain: intervals do not decide the statement where the number lies at {float(low):.3g} to "
                    f"{float(high):.3g} of its interval; a finer subdivision, or a value there, would decide")
        open_pieces += [(middle, high), (low, middle)]
    return ends


def _readings(data: dict[str, Any]) -> list[dict[str, Any]]:
    """The certificate, and with the values of its second reading if there is one."""
    population = data["procedure"] | {"gradients": "population"}
    return [data, *([data | data["also"] | {"procedure": population}] if "also" in data else [])]


def _broken(data, piece, meter) -> bool:
    """Whether the checker finds every hypothesis met and the statement surely broken on a piece."""
    try:
        return all(checker.on_piece(one, piece, meter)[0] for one in _readings(data))
    except TooLarge:
        raise
    except SENSELESS as error:
        senseless(error)
        return False


def _holds(data, piece, meter) -> bool:
    """Whether the statement surely holds at one place, in one of the readings."""
    try:
        return any(checker.holds(one, piece, meter) for one in _readings(data))
    except TooLarge:
        raise
    except SENSELESS as error:
        senseless(error)
        return False
