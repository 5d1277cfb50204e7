"""Exceptions of properties that do not apply or do not hold, and comparisons of arrays."""

import numpy as np

from synthetic.numbers.arrays import to_numpy

__all__ = ["Broken", "NotApplicable", "at_most", "same", "short", "true"]


class NotApplicable(Exception):
    """The property does not apply to this method or case; the message says why."""


class Broken(Exception):
    """The property does not hold: ``what`` differs, ``expected`` and ``got`` in short."""

    def __init__(self, what: str, expected="", got=""):
        super().__init__(what)
        self.what, self.expected, self.got = what, short(expected), short(got)


def short(value) -> str:
    """A short text for a number, an array or a word."""
    if isinstance(value, str):
        return value
    if isinstance(value, (float, np.floating)):
        return f"{value:.8g}"
    array = to_numpy(value) if hasattr(value, "dtype") else np.asarray(value)
    if array.size > 6:
        return f"array of shape {array.shape}"
    numbers = array.astype(float) if array.dtype == object else array
    return np.array2string(np.squeeze(numbers), precision=8, separator=", ").replace("\n", "")


def true(condition, what: str, expected="", got="") -> None:
    """Broken unless ``condition``."""
    if not condition:
        raise Broken(what, expected, got)


def same(expected, got, what: str, tolerance: float = 1e-9, axes=("run", "round", "coordinate")) -> None:
    """Broken unless two arrays agree to ``tolerance`` of their largest entry (0: to the last bit), nan being nan.

    The message names the worst place.
    """
    expected, got = (np.asarray(to_numpy(a), dtype=float) for a in (expected, got))
    if expected.shape != got.shape:
        raise Broken(f"shape of {what}", str(expected.shape), str(got.shape))
    if not expected.size:
        return
    both = np.isfinite(expected) & np.isfinite(got)
    kept = np.where(both, np.abs(expected), 0)
    with np.errstate(invalid="ignore"):
        apart = np.where(both, np.abs(expected - got), np.where(_alike(expected, got), 0.0, np.inf))
    if apart.max() <= tolerance * max(1.0, kept.max()):
        return
    place = np.unravel_index(int(_first_worst(apart, tolerance * max(1.0, kept.max()))), apart.shape)
    where = ", ".join(f"{axis} {index}" for axis, index in zip(axes, place, strict=False)) if apart.ndim else ""
    raise Broken(f"{what}{' at ' + where if where else ''}", float(expected[place]), float(got[place]))


def _alike(a, b):
    return (np.isnan(a) & np.isnan(b)) | (a == b)


def _first_worst(apart, allowed: float) -> int:
    """The first entry, in time, that is too far off; time is the second axis."""
    if apart.ndim < 2:
        return int(np.argmax(apart > allowed))
    early = np.moveaxis(apart > allowed, 1, 0)
    place = np.unravel_index(int(np.argmax(early)), early.shape)
    return int(np.ravel_multi_index((place[1], place[0], *place[2:]), apart.shape))


def at_most(smaller, larger, what: str, tolerance: float = 1e-9) -> None:
    """Broken unless ``smaller`` is nowhere above ``larger`` by more than ``tolerance``."""
    smaller, larger = np.broadcast_arrays(*(np.asarray(to_numpy(a), dtype=float) for a in (smaller, larger)))
    above = ~(smaller <= larger + tolerance)
    if above.any():
        place = np.unravel_index(int(np.argmax(above)), above.shape)
        raise Broken(what, f"at most {larger[place]:.8g}", float(smaller[place]))
