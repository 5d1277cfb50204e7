"""Where one bound is below another that is above it elsewhere: along each parameter alone, and on a map of two of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, groupby

import numpy as np

__all__ = ["Map", "intervals", "map_of", "region_text"]

_DECADES, _PER_DECADE = 6, 40  # looked at along one parameter, from a millionth to a million
_COARSE, _FINE, _MARGIN = 25, 160, 1.0  # points along each side of a map, to choose it and to draw it; decades around
_CLEAR = 1e-9  # log ratio beyond which one bound is above the other


@dataclass(frozen=True)
class Map:
    """The logarithm of the first bound over the second where two parameters vary, NaN where a condition fails; all others
    are as in a witness. ``x``, ``y`` name the parameters, ``xs``, ``ys`` are their values, ``ratio`` is (ys, xs)."""

    x: str
    y: str
    xs: np.ndarray
    ys: np.ndarray
    ratio: np.ndarray
    witness: Mapping[str, str]


def intervals(space, witness: Mapping[str, str]) -> dict[str, list[tuple[float | None, float | None]]]:
    """For each parameter in which the order turns, from a witness at which the first bound is below the second: between
    which values of it alone the first is below; None where it is so as far as one looks, or the conditions hold.

    Args:
        space: both bounds (:class:`verify.dominance.Space`).
        witness: numbers by name, as text of fractions.
    """
    found = {}
    for name in space.free:
        values = np.union1d(_along(space, name), [float(Fraction(witness[name]))])
        ratio = space.log_ratio(_moved(space, witness, {name: values}))
        if (ratio > _CLEAR).any() and (ratio < -_CLEAR).any():
            found[name] = list(_below(space, witness, name, values, ratio))
    return found


def region_text(found: Mapping[str, list[tuple[float | None, float | None]]]) -> str:
    """The intervals in words."""
    if not found:
        return "no parameter that moves alone from the first of these turns the order"
    said = [f"{name} {' or '.join(_words(*ends) for ends in parts)}" for name, parts in found.items()]
    return f"where one parameter moves alone from the first of these, it is below for {'; '.join(said)}"


def _words(low, high) -> str:
    if low is None and high is None:  # the other bound is below beyond a gap of the conditions
        return "as far as the conditions hold"
    if low is None:
        return f"up to {high:.4g}"
    return f"from {low:.4g}" + ("" if high is None else f" to {high:.4g}")


def _along(space, name: str) -> np.ndarray:
    values = np.logspace(-_DECADES, _DECADES, 2 * _DECADES * _PER_DECADE + 1)
    return np.unique(np.maximum(1, np.round(values))) if name in space.whole else values


def _moved(space, witness: Mapping[str, str], places: Mapping[str, np.ndarray]) -> np.ndarray:
    """Points (free parameters, points) on the logarithmic scale: the witness, but for the parameters in ``places``."""
    count = len(next(iter(places.values())))
    return np.stack([np.log10(places.get(name, np.full(count, float(Fraction(witness[name]))))) for name in space.free])


def _below(space, witness, name, values, ratio):
    """Ends of the stretches on which the first bound is below: where the other one begins, or a condition ends."""
    signs = np.where(np.isnan(ratio), 0, np.where(ratio < -_CLEAR, -1, 1))
    place = 0
    for sign, run in groupby(signs.tolist()):
        first, place = place, place + len(list(run))
        if sign != -1:
            continue
        low = _turn(space, witness, name, values[first - 1], values[first]) if first and signs[first - 1] else None
        high = _turn(space, witness, name, values[place], values[place - 1]) if place < len(signs) and signs[place] else None
        yield low, high


def _turn(space, witness, name: str, above: float, below: float) -> float:
    """The value nearest to ``above`` at which the first bound is still below."""
    if name in space.whole:
        while abs(above - below) > 1:
            middle = (above + below) // 2
            above, below = (above, middle) if _is_below(space, witness, name, middle) else (middle, below)
        return below
    for _ in range(40):
        middle = np.sqrt(above * below)
        above, below = (above, middle) if _is_below(space, witness, name, middle) else (middle, below)
    return float(below)


def _is_below(space, witness, name: str, value: float) -> bool:
    return bool(space.log_ratio(_moved(space, witness, {name: np.array([value])}))[0] < -_CLEAR)


# maps --------------------------------------------------------------------------------------------------------------------
def map_of(space, below: Mapping[str, str], above: Mapping[str, str], against: str | None = None) -> Map | None:
    """A map, through one of both witnesses, over the two parameters that show most of both sides; ``against`` is one of them
    if it is given, else a run length where that shows a tenth as much. None where no two parameters show both."""
    best, most = None, 0.0
    for pair in combinations(space.free, 2):
        for witness in (below, above):
            seen = _map(space, witness, *pair, _ends(below, above), _COARSE).ratio
            shown = min((seen < -_CLEAR).mean(), (seen > _CLEAR).mean())
            wanted = against in pair if against else bool({"rounds", "iterations"} & {*pair})
            weight = shown * (10.0 if wanted else 0.0 if against else 1.0)
            if weight > most:
                best, most = (witness, *_ordered(pair, against)), weight
    return _map(space, *best, _ends(below, above), _FINE) if best else None


def _ordered(pair, against):
    """The parameter of the horizontal axis first."""
    across = next((name for name in (against, "rounds", "iterations") if name in pair), pair[0])
    return across, next(name for name in pair if name != across)


def _ends(below, above) -> dict[str, tuple[float, float]]:
    """Between which powers of ten each parameter lies on a map."""
    both = {name: sorted(float(np.log10(float(Fraction(one[name])))) for one in (below, above)) for name in below}
    return {name: (low - _MARGIN, high + _MARGIN) for name, (low, high) in both.items()}


def _map(space, witness, x: str, y: str, ends, points: int) -> Map:
    xs, ys = (np.logspace(max(ends[n][0], 0.0) if n in space.whole else ends[n][0], ends[n][1], points) for n in (x, y))
    across, up = (grid.ravel() for grid in np.meshgrid(xs, ys))
    ratio = space.log_ratio(_moved(space, witness, {x: across, y: up})).reshape(points, points)
    return Map(x, y, xs, ys, ratio, witness)
