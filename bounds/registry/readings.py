"""Readings of a claim in a file, as rows of fields: its own, values of axes that claims share, and their products."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["OWN", "changed", "rows_of"]

OWN = "readings"  #: in ``vary``: the readings that stand under the claim itself
_MERGED = ("let", "options", "variables", "definitions", "constants", "limits", "exists", "witness")
_AS_PRINTED = "as printed"
_MOST_READINGS = 500  # of a claim

Row = dict[str, Any]
Axes = Mapping[str, Mapping[str, Row]]


def rows_of(row: Row, axes: Axes) -> Iterator[Row]:
    """A claim's row, then one for each of its other readings, each with all fields, its id and its reading in words.

    ``vary`` lists what varies, each entry by itself: an axis, whose first value is the claim itself; a product of axes,
    ``"indicator * G"``, of which all values are combined; or values, ``"forced+common"``. ``readings`` is the axis of the
    claim's own readings, and varies if nothing else is said. A reading's id has the values' names behind ``@``; its words
    are those of the values of every axis that varies, then the claim's own.

    Raises:
        ValueError: an unknown axis or value, or more readings than a claim may have.
    """
    own = {"": {}} | row.get(OWN, {})
    every = {**axes, OWN: own}
    entries = row.get("vary", [OWN] if OWN in row else [])
    base = {field: value for field, value in row.items() if field not in (OWN, "vary")}
    spoken, found = [], [()]
    for entry in entries:
        combined = list(_combinations(entry, every))
        spoken = list(dict.fromkeys([*spoken, *(axis for one in combined for axis, _ in one if axis != OWN)]))
        found += combined
    default = {axis: next(iter(every[axis])) for axis in spoken}
    seen = set()
    for chosen in found:
        names = tuple(value for axis, value in chosen if value != next(iter(every[axis])))
        if names in seen:
            continue
        seen.add(names)
        if len(seen) > _MOST_READINGS:
            raise ValueError(f"a claim has at most {_MOST_READINGS} readings")
        values, made = default | dict(chosen), dict(base)
        for axis in [*spoken, *([OWN] if OWN in values else [])]:
            made = changed(made, {f: v for f, v in every[axis][values[axis]].items() if axis == OWN or f != "reading"})
        words = [every[axis][values[axis]].get("reading", "") for axis in spoken]
        if made.get("reading", _AS_PRINTED) != _AS_PRINTED or not any(words):
            words.append(str(made.get("reading", "")))
        if reading := "; ".join(filter(None, words)):
            made["reading"] = reading
        given = every[OWN][values[OWN]].get("id") if OWN in values else None
        if given is None and names:
            made["id"] = f"{base['id']}{'+' if '@' in base['id'] else '@'}{'+'.join(names)}"
        yield made


def _combinations(entry: str, every: Axes) -> Iterator[tuple[tuple[str, str], ...]]:
    """The choices of values, as pairs of an axis and its value, that an entry of ``vary`` names."""
    if "+" in entry:
        yield tuple(_value(part.strip(), every) for part in entry.split("+"))
        return
    axes = [part.strip() for part in entry.split("*")]
    for axis in axes:
        if axis not in every:
            if len(axes) == 1 and any(axis in values for values in every.values()):
                yield (_value(axis, every),)
                return
            raise ValueError(f"no axis {axis!r}; allowed: {', '.join(every)}")
    yield from itertools.product(*([(axis, value) for value in every[axis]] for axis in axes))


def _value(name: str, every: Axes) -> tuple[str, str]:
    found = [(axis, name) for axis, values in every.items() if name in values]
    if len(found) != 1:
        raise ValueError(f"{name!r} is a value of {len(found)} axes, {', '.join(axis for axis, _ in found) or 'none'}; "
                         "allowed: a value of one")
    return found[0]


def changed(row: Row, change: Row) -> Row:
    """A row with the fields of ``change`` in place of its own; tables merge, and ``also`` is added to the conditions."""
    made = dict(row)
    for field, value in change.items():
        if field in _MERGED and isinstance(value, dict) and isinstance(made.get(field, {}), dict):
            made[field] = made.get(field, {}) | value
        elif field == "variables" and isinstance(value, dict):
            made[field] = [*made[field], *(f"{name}: {domain}" for name, domain in value.items())]
        elif field == "also":
            made["conditions"] = [*made.get("conditions", ()), *value]
        elif field != "id" or value:
            made[field] = value
    return made
