"""Piecewise clients of one coordinate through given points: gradients, and as far as possible values."""

from collections.abc import Sequence

import numpy as np

from verify.instances.leaves import Leaves
from verify.instances.piecewise import PiecewiseClients

__all__ = ["through_points"]

_APART = 1e-7  # of the spread of the points; nearer ones are one point
_SHORT = 1e-9  # length of a segment, in the same units, that is left out


def through_points(points: Sequence[np.ndarray], steep: Sequence[float], flat: Sequence[float]) -> tuple[PiecewiseClients, Leaves]:
    """The family, and a batch of one instance of its leaves (tail, center and pieces).

    Between two neighbouring points a client has the curvature ``flat``, but for one interval of curvature ``steep``, which
    lies where the values differ as given. On both sides it goes on with the curvature ``flat`` if that is positive, and
    else ends linear, with opposite slopes.

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
    for (x, _, f), (y, h, e) in zip(kept[:-1], kept[1:], strict=True):
        length, rise = y - x, h - gradient
        part = np.clip((rise - m * length) / (L - m), 0.0, length)  # of curvature L
        extra = e - f - gradient * length - m * length**2 / 2  # the later the interval, the less
        before = length - part - (extra / max((L - m) * part, 1e-300) - part / 2)
        before = np.clip(before, 0.0, length - part) if part > 0 else length
        ends = np.cumsum([x, before, part, length - part - before])
        segments += [*zip(ends[:-1], ends[1:], (m, L, m), strict=True)]
        gradient += m * length + (L - m) * part
    first, last = (kept[0, 0], kept[0, 1]), (kept[-1, 0], gradient)
    if tail == 0:
        segments = _balanced(segments, first, last, L)
    pieces = [((s - tail), (a + b) / 2, (b - a) / 2) for a, b, s in _merged(segments, _SHORT * scale) if s != tail]
    if tail == 0:
        return 0.0, 0.0, pieces
    x, g = first  # what remains of the gradient there is tail (x - c)
    rest = g - sum(s * np.clip(x - d, -w, w) for s, d, w in pieces)
    return tail, x - rest / tail, pieces


def _balanced(segments, first, last, L):
    """With a segment of curvature L at one end, so that the slopes at both ends are opposite and point outwards."""
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
