"""Displays of objects: a line in the terminal, a table with a small picture in a notebook.

Whatever stands in a line or a table is text, and is escaped. What is HTML already is :class:`Markup`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from fractions import Fraction
from html import escape
from math import isfinite, log10, nan
from typing import Any

__all__ = ["Markup", "RichDisplay", "bars", "brief", "card", "lines", "table"]

_LONGEST = 80  # characters of a value
_MOST = 6  # entries of a list
_WIDTH, _HEIGHT, _EDGE = 220.0, 70.0, 4.0  # of a picture, in pixels
_BARS, _POINTS = 60, 200  # drawn in it
_COLOURS = "#0072B2", "currentColor", "#D55E00", "#009E73"


class Markup(str):
    """HTML that is written as it is."""

    __slots__ = ()


class RichDisplay:
    """A class says ``_summary`` (text), ``_table`` (name and value each) and ``_svg`` (Markup, or nothing)."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        cls.__repr__ = cls.__repr__  # a dataclass writes its own where it finds none in the class itself

    def _summary(self) -> str:
        return ""

    def _table(self) -> Iterable[tuple[str, Any]]:
        return ()

    def _svg(self) -> str:
        return Markup("")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()})"

    def _repr_html_(self) -> str:
        return card(self._summary() or type(self).__name__, self._table(), self._svg())


def brief(value, exact: bool = False) -> str:
    """A value as a short text: of an array its shape, of a number six digits (or ``exact``, all), of a dataclass what
    differs from its defaults.

    Example:
        >>> brief(1 / 3), brief(Fraction(1, 3)), brief([0.25] * 9)
        ('0.333333', '1/3', '[0.25, 0.25, 0.25, 0.25, 0.25, 0.25, ...]')
    """
    if isinstance(value, str):
        return _cut(value)
    if isinstance(value, bool | int | None):
        return _cut(str(value))
    if isinstance(value, float):
        return repr(float(value)) if exact else f"{value:.6g}"
    if isinstance(value, Fraction):
        return _cut(str(value))
    if getattr(value, "ndim", None) is not None and hasattr(value, "shape"):
        one = value.ndim == 0 or value.shape in ((1,), (1, 1))
        first = value.reshape(-1)[0] if one else None
        return brief(getattr(first, "item", lambda: first)(), exact) if one else f"array {' x '.join(map(str, value.shape))}"
    if isinstance(value, Mapping):
        return _cut(f"{{{_several(f'{brief(key)}: {brief(each)}' for key, each in value.items())}}}")
    if isinstance(value, list | tuple | set | frozenset):
        return _cut(f"[{_several(map(brief, value))}]")
    if isinstance(value, RichDisplay) or type(value).__repr__ is object.__repr__:
        return _cut(repr(value) if isinstance(value, RichDisplay) else type(value).__name__)
    if is_dataclass(value) and not isinstance(value, type):
        return _cut(f"{type(value).__name__}({', '.join(changed(value, exact=exact))})")
    return _cut(getattr(value, "__qualname__", None) or repr(value))


def changed(value, without: Iterable[str] = (), exact: bool = False) -> Iterable[str]:
    """``name=value`` of the fields of a dataclass that are not their defaults."""
    for field in fields(value):
        own = getattr(value, field.name)
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        if field.name not in without and field.repr and brief(own, True) != brief(default, True):
            yield f"{field.name}={brief(own, exact)}"


def _several(texts: Iterable[str]) -> str:
    texts = list(texts)
    return ", ".join([*texts[:_MOST], *["..."] * (len(texts) > _MOST)])


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST - 3]}..."


# HTML ----------------------------------------------------------------------------------------------------------------
def _html(value) -> str:
    return value if isinstance(value, Markup) else escape(value if isinstance(value, str) else brief(value))


def card(title: str, rows: Iterable[tuple[str, Any]], picture: str = "") -> Markup:
    """A title, rows of name and value, and a picture beside them."""
    side = f'<div style="flex:none">{picture}</div>' if isinstance(picture, Markup) and picture else ""
    return Markup(
        '<div class="fedtheory" style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start">'
        f'<div style="min-width:0"><div><b>{_html(title)}</b></div>{table(rows)}</div>{side}</div>')


def table(rows: Iterable[Sequence[Any]], heads: Sequence[str] = ()) -> Markup:
    """Rows whose first cell is a name; values that are no Markup are escaped."""
    left = ' style="text-align:left;vertical-align:top;font-weight:normal"'
    top = "".join(f"<th{left}><b>{_html(head)}</b></th>" for head in heads)
    body = ""
    for name, *values in rows:
        body += f"<tr><th{left}>{_html(name)}</th>{''.join(f'<td{left}>{_html(value)}</td>' for value in values)}</tr>"
    return Markup(f"<table>{f'<tr>{top}</tr>' if top else ''}{body}</table>")


def _svg(inside: str) -> Markup:
    return Markup(f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{_WIDTH:g}" height="{_HEIGHT:g}" '
                  f'viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}">{inside}</svg>')


def lines(*curves: Iterable[float]) -> Markup:
    """Curves over equal steps, the first one in blue; heights are logarithmic if positive values span a factor of ten.

    Values that are not finite, or that a logarithm does not have, are left out; without two values there is no picture.
    """
    curves = [[float(value) for value in curve] for curve in curves]
    curves = [curve[::max(1, len(curve) // _POINTS)] for curve in curves]
    known = [value for curve in curves for value in curve if isfinite(value)]
    positive = [value for value in known if value > 0]
    logarithmic = len(positive) > 1 and max(positive) > 10 * min(positive)
    if len(known) < 2:
        return Markup("")
    heights = [[nan if not isfinite(v) or (logarithmic and v <= 0) else log10(v) if logarithmic else v for v in curve]
               for curve in curves]
    shown = [value for row in heights for value in row if isfinite(value)]
    low, room = min(shown), (max(shown) - min(shown)) or 1.0
    longest = max(map(len, curves)) - 1 or 1

    def place(number: int, value: float) -> str:
        return (f"{_EDGE + number / longest * (_WIDTH - 2 * _EDGE):.1f},"
                f"{_HEIGHT - _EDGE - (value - low) / room * (_HEIGHT - 2 * _EDGE):.1f}")

    drawn = ""
    for number, row in enumerate(heights):
        points = " ".join(place(n, value) for n, value in enumerate(row) if isfinite(value))
        drawn += (f'<polyline points="{points}" fill="none" stroke="{_COLOURS[number % len(_COLOURS)]}" '
                  f'stroke-width="1.6"{" stroke-dasharray=" + chr(34) + "5 3" + chr(34) if number else ""}/>')
    return _svg(drawn)


def bars(values: Iterable[float], weak: Iterable[bool] = ()) -> Markup:
    """A bar for each value, those marked ``weak`` in grey; none where a value is not finite or there are too many."""
    values = [float(value) for value in values]
    weak = [*weak, *[False] * len(values)]
    if not values or len(values) > _BARS or not all(isfinite(value) and value >= 0 for value in values):
        return Markup("")
    highest, width = max(values) or 1.0, (_WIDTH - 2 * _EDGE) / len(values)
    return _svg("".join(
        f'<rect x="{_EDGE + n * width + 0.1 * width:.1f}" y="{_HEIGHT - _EDGE - height:.1f}" width="{0.8 * width:.1f}" '
        f'height="{height:.1f}" fill="{"#767676" if weak[n] else _COLOURS[0]}"/>'
        for n, height in enumerate(value / highest * (_HEIGHT - 2 * _EDGE) for value in values)))
