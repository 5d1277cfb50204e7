"""``key=value`` settings of the command line, given to the problem or the algorithm that knows them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

__all__ = ["parse_numbers", "parse_settings", "share_out", "step_size"]


def parse_settings(texts: Iterable[str]) -> dict[str, Any]:
    """Values by key: numbers, ``true``, ``false``, ``null`` and lists as in JSON, anything else as text.

    Raises:
        ValueError: no ``=``, no key, or a key given twice.

    Example:
        >>> parse_settings(["dim=3", "noise=gaussian", "offsets=[0, 0.5]"])
        {'dim': 3, 'noise': 'gaussian', 'offsets': [0, 0.5]}
    """
    settings: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key:
            raise ValueError(f"--set must be key=value; got {text!r}")
        if key in settings:
            raise ValueError(f"--set gives {key!r} twice")
        try:
            settings[key] = json.loads(value)
        except json.JSONDecodeError:
            settings[key] = value
    return settings


def parse_numbers(texts: Iterable[str]) -> dict[str, Any]:
    """Numbers by name: a number, a list as in JSON, or a range ``first:last[:count][:log]`` (50 values if not said).

    Raises:
        ValueError: as :func:`parse_settings`, or what is no number.

    Example:
        >>> {name: list(map(float, values)) for name, values in parse_numbers(["T=1:100:3:log"]).items()}
        {'T': [1.0, 10.0, 100.0]}
    """
    found = {}
    for name, value in parse_settings(texts).items():
        try:
            found[name] = _range(value) if isinstance(value, str) else np.asarray(value, dtype=float)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be a number, a list, or first:last[:count][:log]; got {value!r}") from None
    return found


def _range(text: str):
    parts = text.split(":")
    logarithmic = parts[-1] == "log"
    first, last, *count = map(float, parts[: -1 if logarithmic else None])
    number = int(count[0]) if count else 50
    return np.geomspace(first, last, number) if logarithmic else np.linspace(first, last, number)


def share_out(settings: Mapping[str, Any], **takers: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Settings by taker (``problem``, ``algorithm``), each to the one that knows its key.

    A key that both know must be written ``problem.key`` or ``algorithm.key``.

    Raises:
        LookupError: nobody knows the key, or more than one does.
    """
    known = {taker: set(keys) for taker, keys in takers.items()}
    shares: dict[str, dict[str, Any]] = {taker: {} for taker in known}
    for key, value in settings.items():
        prefix, dot, bare = key.rpartition(".")
        owners = [taker for taker, keys in known.items() if bare in keys and (not dot or taker == prefix)]
        if len(owners) > 1:
            raise LookupError(f"setting {key!r} is known to {' and '.join(owners)}; write {owners[0]}.{key}=...")
        if not owners:
            everything = sorted(set().union(*known.values()))
            near = get_close_matches(bare, everything, n=1, cutoff=0.5)
            hint = f"; nearest: {near[0]}" if near else ""
            raise LookupError(f"unknown setting {key!r}{hint}; known: {', '.join(everything)}")
        shares[owners[0]][bare] = value
    return shares


def step_size(text: str, federation, local_steps: int):
    """A positive number as it is; ``theory``: 2/(mu (t + max(8 L/mu, local_steps))) with the federation's constants.

    Raises:
        ValueError: neither.
    """
    from fedtheory.schedules import InverseTime
    from synthetic.arrays import to_numpy

    if text == "theory":
        constants = federation.constants
        if "mu" not in constants or not float(to_numpy(constants.value("mu")).min()) > 0:
            raise ValueError(f"--eta 'theory' needs strong convexity, which {federation.name} does not have; give a number")
        L, mu = (float(to_numpy(federation.constants.value(name)).reshape(-1)[0]) for name in ("L", "mu"))
        return InverseTime(mu, max(8 * L / mu, local_steps))
    try:
        eta = float(text)
    except ValueError:
        eta = float("nan")
    if not 0 < eta < float("inf"):
        raise ValueError(f"--eta must be a positive number or 'theory'; got {text!r}")
    return eta
