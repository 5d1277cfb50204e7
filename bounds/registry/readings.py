"""Readings of a claim in a file, as rows of fields: its own, values of axes that claims share, and their products."""

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["OWN", "PARTS", "changed", "parts_in", "rows_of"]

OWN = "readings"  #: in ``vary``: the readings that stand under the claim itself
_MERGED = ("let", "options", "variables", "definitions", "constants", "exists", "witness", "compare",
           "monotone")
PARTS = "parts"  #: claims that share the fields of a table, such as the lines of a display, by id
_AS_PRINTED = "as printed"
_IMPLIES = "implies"  # of a value: values of other axes
_MOST_READINGS = 500  # of a claim

Row = dict[str, Any]
Axes = Mapping[str, Mapping[str, Row]]


def parts_in(row: Row) -> Iterator[Row]:
    """The claims of a table: itself, if it has an id or no ``parts``, and each of the parts, with what it gives itself.

    A part takes all other fields from the table, but the readings of a table that is a claim itself are its own.

    Raises:
        ValueError: a part with an id beside its name.
    """
    shared = {field: value for field, value in row.items() if field != PARTS}
    if "id" in row or PARTS not in row:
        yield shared
    own = ("id", OWN, "vary") if "id" in row else ()
    for name, change in row.get(PARTS, {}).items():
        if "id" in change:
            raise ValueError(f"the id of a part is its name, {name!r}; got another, {change['id']!r}")
        yield changed({field: value for field, value in shared.items() if field not in own}, change | {"id": name})


def rows_of(row: Row, axes: Axes) -> Iterator[Row]:
    """A claim's row, then one for each of its other readings, each with all fields, its id and its reading in words.

    ``vary`` lists what varies, each entry by itself: an axis, whose first value is the claim itself, or one value of it; a
    product, ``"indicator * G"``, of which all values are combined; or values together, ``"forced+common"``. ``readings`` is
    the axis of the claim's own readings, and varies if nothing else is said. A reading's id has the values' names behind
    ``@``; its words are those of the values of every axis that varies, then the claim's own. A value that ``implies`` values
    of other axes goes with these, where their axes vary, and does not name them in the id.

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
        values, made = default | {a: v for a, v in _implied(chosen, every) if a in spoken} | dict(chosen), dict(base)
        for axis in [*spoken, *([OWN] if OWN in values else [])]:
            made = changed(made, {f: v for f, v in every[axis][values[axis]].items()
                                  if f != _IMPLIES and (axis == OWN or f != "reading")})
        words = [every[axis][values[axis]].get("reading", "") for axis in spoken]
        if made.get("reading", _AS_PRINTED) != _AS_PRINTED or not any(words):
            words.append(str(made.get("reading", "")))
        if reading := "; ".join(filter(None, words)):
            made["reading"] = reading
        if OWN in values and "id" in every[OWN][values[OWN]]:  # in place of the claim's and of its own name
            names = tuple(name for name in names if name != values[OWN])
        else:
            made["id"] = base["id"]
        if names:
            made["id"] += f"{'+' if '@' in made['id'] else '@'}{'+'.join(names)}"
        yield made


def _combinations(entry: str, every: Axes) -> Iterator[tuple[tuple[str, str], ...]]:
    """The choices of values, as pairs of an axis and its value, that an entry of ``vary`` names."""
    if "+" in entry:
        yield tuple(_value(part.strip(), every) for part in entry.split("+"))
        return
    yield from itertools.product(*(_values(part.strip(), every) for part in entry.split("*")))


def _values(part: str, every: Axes) -> list[tuple[str, str]]:
    """The values of an axis; for the name of a value, that and the first of its axis."""
    if part in every:
        return [(part, value) for value in every[part]]
    if not any(part in values for values in every.values()):
        raise ValueError(f"no axis {part!r}; allowed: {', '.join(every)}")
    axis, value = _value(part, every)
    return [(axis, next(iter(every[axis]))), (axis, value)]


def _value(name: str, every: Axes) -> tuple[str, str]:
    """The axis of a value; a claim's own reading stands before a value of that name."""
    own = every.get(OWN, ())
    found = [(axis, name) for axis, values in every.items() if name in values and (axis == OWN or name not in own)]
    if len(found) != 1:
        raise ValueError(f"{name!r} is a value of {len(found)} axes, {', '.join(axis for axis, _ in found) or 'none'}; "
                         "allowed: a value of one")
    return found[0]


def _implied(chosen: tuple[tuple[str, str], ...], every: Axes) -> Iterator[tuple[str, str]]:
    """Yield the values that the chosen values imply, directly or through others, as pairs of an axis and its value."""
    shared, seen = {axis: values for axis, values in every.items() if axis != OWN}, [*chosen]
    for axis, value in seen:
        more = [_value(name, shared) for name in every[axis][value].get(_IMPLIES, ())]
        yield from more
        seen += [one for one in more if one not in seen]


def changed(row: Row, change: Row) -> Row:
    """A row with the fields of ``change`` in place of its own.

    Tables merge, except limits; ``also`` is added to the conditions, and what is ``undefined`` has no statement.
    """
    made = {field: value for field, value in row.items() if field != "statement" or "undefined" not in change}
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
