"""Checks of input: each raises one clear line with the received and the allowed value."""

from collections.abc import Iterable
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite

import numpy as np

__all__ = ["finite", "flag", "nearest", "nonnegative", "number", "one_of", "per_client", "whole"]


def finite(name: str, values) -> np.ndarray:
    """``values`` as float64. Raises ValueError, with the first place, where one is not a finite number."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        got = np.asarray(values, dtype=object).ravel()[:3].tolist()
        raise ValueError(f"{name} must be numbers; got {got}") from None
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        raise ValueError(f"{name} must be finite; got {len(bad)} entries that are not, the first {array[place]} at "
                         f"{list(place)}")
    return array


def whole(name: str, value, low: int = 1, high: int | None = None) -> int:
    """``value`` as an integer. Raises ValueError unless it lies between ``low`` and ``high``."""
    allowed = f"an integer of at least {low}" if high is None else f"an integer between {low} and {high}"
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low or \
            (high is not None and value > high):
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return int(value)


def number(name: str, value, low: float = 0.0, high: float = np.inf, strict: bool = False) -> float | Fraction:
    """``value`` as a finite float, or a fraction if it is one. Raises ValueError unless it lies between ``low`` (excluded
    if ``strict``) and ``high``."""
    allowed = f"{'above' if strict else 'at least'} {low:g}" + ("" if high == np.inf else f" and at most {high:g}")
    inside = isinstance(value, (int, float, Fraction, np.number)) and not isinstance(value, bool) and isfinite(value) and (
        low < value <= high if strict else low <= value <= high)
    if not inside:
        raise ValueError(f"{name} must be {allowed}; got {value!r}")
    return value if isinstance(value, Fraction) else float(value)


def nonnegative(name: str, values):
    """``values``, a number or an array of any backend. Raises ValueError if one is negative."""
    negative = values < 0
    if bool(negative.any() if hasattr(negative, "any") else negative):
        raise ValueError(f"{name} must be at least 0; got {float(values.min() if hasattr(values, 'min') else values):g}")
    return values


def flag(name: str, value) -> bool:
    """``value`` as a truth value. Raises ValueError unless it is True, False, 1 or 0."""
    if not isinstance(value, (bool, int, np.bool_)) or value not in (0, 1):
        raise ValueError(f"{name} must be true or false; got {value!r}")
    return bool(value)


def one_of(name: str, value, allowed: Iterable[str]) -> str:
    """``value``. Raises ValueError, with the list of ``allowed``, unless it is one of them."""
    allowed = tuple(allowed)
    if value not in allowed:
        raise ValueError(f"unknown {name} {value!r}; allowed: {', '.join(allowed)}")
    return value


def nearest(kind: str, name: str, known: Iterable[str]) -> LookupError:
    """The LookupError for an unknown ``name``: suggests the nearest known one and lists all of them."""
    known = sorted(known)
    close = get_close_matches(str(name), known, n=1, cutoff=0.4)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return LookupError(f"unknown {kind} {name!r}{hint} Known: {', '.join(known)}")


def per_client(name: str, values, instances: int, clients: int, low: float = -np.inf) -> np.ndarray:
    """Numbers as (1 | instances, clients): from one number, one per client, or one per instance and client."""
    array = finite(name, values)
    allowed = [(), (clients,), (1, clients), (instances, clients)]
    if array.shape not in allowed:
        raise ValueError(f"{name} must be one number, ({clients},) or ({instances}, {clients}); got shape "
                         f"{array.shape}")
    if array.size and array.min() < low:
        raise ValueError(f"{name} must be at least {low:g}; got {array.min():g}")
    return np.broadcast_to(array, (array.shape[0] if array.ndim == 2 else 1, clients))
