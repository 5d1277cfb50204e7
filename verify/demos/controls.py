"""Controls of a notebook, as data: a slider over some values, one of several names, or a line of text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

__all__ = ["Choice", "Slider", "Text", "every_value", "start_values"]


@dataclass(frozen=True)
class Slider:
    """``values`` in increasing order, at first ``start``."""

    label: str
    values: tuple
    start: Any


@dataclass(frozen=True)
class Choice:
    """One of the names ``values``, at first ``start``."""

    label: str
    values: tuple[str, ...]
    start: str


@dataclass(frozen=True)
class Text:
    """Anything that the reader types, at first ``start``."""

    label: str
    start: str


Controls = Mapping[str, Slider | Choice | Text]


def start_values(controls: Controls) -> dict[str, Any]:
    """The values at which a notebook opens."""
    return {name: control.start for name, control in controls.items()}


def every_value(controls: Controls) -> Iterator[dict[str, Any]]:
    """All combinations of values; a text keeps its first one."""
    ranges = [getattr(control, "values", (control.start,)) for control in controls.values()]
    return (dict(zip(controls, values, strict=True)) for values in product(*ranges))
