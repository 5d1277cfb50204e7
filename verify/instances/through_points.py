"""Piecewise clients of one coordinate through given points: gradients, and as far as possible values."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from verify.instances.parameters import Parameters
from verify.instances.piecewise import PiecewiseClients

__all__ = ["through_points"]

_APART = 1e-7  # of the spread of the points; nearer ones are one point
_MISSED = 1e-4  # of the largest possible value between two points; what is nearer is reached
_SHORT = 1e-9  # length of a segment, in the same units, that is left out


def through_points(points: Sequence[np.ndarray], steep: Sequence[float], flat: Sequence[float],
                   ) -> tuple[PiecewiseClients, Parameters]:
    """The family, and a batch of one instance of its leaves (tail, center and pieces).

    Between two neighbouring points a client has the curvature ``flat``, or one nearer to 0 if that is negative, but for one
    interval of curvature ``steep``, which lies where the values differ as given. On both sides it goes on with the curvature
    ``flat`` if that is positive, and else ends linear, with opposite slopes.

    Args:
        points: of each client (points, 3): where, gradient, value. They are moved to what these curvatures allow.
        steep, flat: the curvatures, by client; ``steep`` is positive and above ``flat``.
    """
    lines = [_client(np.asarray(each, dtype=float), L, m) for each, L, m in zip(points, steep, flat, strict=True)]
    most = max(len(pieces) for _, _, pieces in lines) or 1
    padded = np.array([[*pieces, *[(0.0, 0.0, 1.0)] * (most - len(pieces))] for _, _, pieces in lines])
    slope, center, width = padded.transpose(2, 0, 1)[:, None, :, :, None]
    tail = np.array([[t] for t, _, _ in lines])[None]
    return PiecewiseClients(most), {
        "tail": tail, "center": np.array([[c] for _, c, _ in lines])[None],
        "piece_slope": slope, "piece_center": center, "piece_width": width}


def _client(points: np.ndarray, L: float, m: float) -> tuple[float, float, list[tuple[float, float, float]]]:
    """The curvature beyond all pieces, the center, and the pieces (slope, center, width) of one client."""
    points = points[np.argsort(points[:, 0], kind="stable")]
    scale = max(np.ptp(points[:, 0]), 1e-12)
    kept = points[np.concatenate([[True], np.diff(points[:, 0]) > _APART * scale])]
    tail, segments, gradient = max(m, 0.0), [], kept[0, 1]
    for (x, _, f), (y, h, e) in pairwise(kept):
        between = _between(y - x, h - gradient, e - f - gradient * (y - x), L, m)
        segments += [(x + a, x + b, curvature) for a, b, curvature in between]
        gradient += sum(curvature * (b - a) for a, b, curvature in between)
    first, last = (kept[0, 0], kept[0, 1]), (kept[-1, 0], gradient)
    if tail == 0:
        segments = _balanced(segments, first, last, L)
    pieces = [((s - tail), (a + b) / 2, (b - a) / 2) for a, b, s in _merged(segments, _SHORT * scale) if s != tail]
    if tail == 0:
        return 0.0, 0.0, pieces
    x, g = first  # what remains of the gradient there is tail (x - c)
    rest = g - sum(s * np.clip(x - d, -w, w) for s, d, w in pieces)
    return tail, x - rest / tail, pieces


def _between(length: float, rise: float, area: float, L: float, m: float) -> list[tuple[float, float, float]]:
    """Segments (from, to, curvature) over which the gradient rises by so much, and its excess has this integral: one of
    curvature L amid others of a curvature that is at least m, the nearest to 0 with which that is possible."""
    for flat in (m,) if m >= 0 else (0.0, m / 4, m / 2, m):
        part = np.clip((rise - flat * length) / (L - flat), 0.0, length)  # of curvature L
        extra = area - flat * length**2 / 2  # the later that part, the less
        wanted = length - part - (extra / ((L - flat) * part) - part / 2) if part > _APART * length else length
        before = np.clip(wanted, 0.0, length - part)
        missing = abs((L - flat) * part * (before - wanted)) if part > _APART * length else abs(extra)
        if missing <= _MISSED * L * length**2:
            break
    return [(0.0, before, flat), (before, before + part, L), (before + part, length, flat)]


def _balanced(segments, first, last, L):
    """Add a segment of curvature L at one end, so that the slopes at both ends are opposite and point outwards."""
    (left, low), (right, high) = first, last
    far = max(abs(low), abs(high), 1e-12)
    to_low, to_high = max(low + far, 0.0), max(far - high, 0.0)
    return [(left - to_low / L, left, L), *segments, (right, right + to_high / L, L)]


def _merged(segments, short):
    """Segments that are not too short, neighbours of the same curvature in one."""
    found = []
    for a, b, s in segments:
        if b - a <= short:
            continue
        if found and found[-1][2] == s:
            found[-1] = (found[-1][0], b, s)
        else:
            found.append((a, b, s))
    return found
