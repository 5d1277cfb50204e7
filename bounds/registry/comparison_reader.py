"""Reads claims that compare the bounds of other claims of a file, or a bound at two values of a parameter."""

from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from bounds.formulas.comparisons import RightSide, comparison, monotone, right_side
from bounds.language.alternatives import alternatives
from bounds.language.claim import Claim
from bounds.registry.claim_files import short
from bounds.registry.claim_reader import Reader
from bounds.registry.formula_reader import symbol_of
from bounds.registry.readings import PARTS

__all__ = ["compared", "compares"]

_COMPARE = {"left", "right", "put_left", "put_right", "nonnegative", "strict"}
_MONOTONE = {"of", "in", "rises", "put", "tied", "nonnegative"}
_FIELDS = ("number", "reading", "note", "steps")


def compares(row: dict) -> bool:
    """Whether a claim's row compares bounds, or one of its parts or readings does."""
    below = [one for field in (PARTS, "readings") for one in row.get(field, {}).values()]
    return "compare" in row or "monotone" in row or any(map(compares, below))


def compared(reader: Reader, find: Callable[[str], Claim | None]) -> Claim:
    """The claim of a row with ``compare`` or ``monotone``.

    ``compare = {left = ID, right = ID, put_left = {name = formula}, put_right = ..., strict = true}`` says that the right
    side of the first is at most that of the second; ``monotone = {of = ID, in = name, rises = true, tied = {name =
    formula}}`` that a right side does not fall as a parameter grows, or with ``rises = false`` not rise. ``nonnegative``
    lists measured quantities that are at least 0; each is a number of its own, however it is defined.
    """
    row = reader.row
    kind, allowed = ("compare", _COMPARE) if "compare" in row else ("monotone", _MONOTONE)
    entry = row[kind]
    for name in [*sorted(set(entry) - allowed), *(n for n in (("left", "right") if kind == "compare" else ("of", "in"))
                                                   if n not in entry)]:
        reader.locate(kind, name).fail(f"{kind} has the entries {', '.join(sorted(allowed))}; got {', '.join(entry)}")
    nonnegative = entry.get("nonnegative", [])

    def side(field: str, put: str) -> RightSide:
        claim = find(reader.full_id(entry[field]))
        if claim is None or claim.statement is None:
            reader.locate(kind, entry[field]).fail(
                f"{kind} names a claim above it with a statement; got {short(entry[field])}")
        if alternatives(claim.statement):
            reader.locate(kind, entry[field]).fail(
                f"{kind} names a claim with one bound; got {short(entry[field])}, with an or")
        measured = {name: one for name, one in claim.definitions.items() if name not in nonnegative}
        found = right_side(replace(claim, definitions=measured), nonnegative)
        return found.with_values({parameter(found, name): formula(found, text) for name, text in entry.get(put, {}).items()})

    def symbols(found: RightSide) -> dict:
        known = found.formula.free_symbols.union(*(s.free_symbols for c in found.conditions for s in (c.left, c.right)))
        return {s.name: s for s in known if isinstance(s, sp.Symbol)} | own

    def parameter(found: RightSide, name: str):
        known = symbols(found)
        if name not in known:
            reader.locate(kind, name).fail(
                f"the right side has no parameter {short(name)}; allowed: {', '.join(sorted(known))}")
        return known[name]

    def formula(found: RightSide, text: str):
        return reader.locate(kind, text).formula(text, symbols(found))

    own: dict = {}
    for name, domain in reader.domains():
        own[name] = symbol_of(reader.variable(name, domain))
    fields = {"number": "none"} | {name: row[name] for name in _FIELDS if name in row}
    if "steps" in fields:
        fields["steps"] = tuple(map(reader.full_id, row["steps"]))
    claim_id = reader.own_id()
    if kind == "monotone":
        found = side("of", "put")
        tied = {parameter(found, name): formula(found, text) for name, text in entry.get("tied", {}).items()}
        return monotone(claim_id, found, parameter(found, entry["in"]), rises=entry.get("rises", True), tied=tied, **fields)
    left, right = side("left", "put_left"), side("right", "put_right")
    own |= symbols(left) | symbols(right)
    conditions = tuple(reader.locate("conditions", text).condition(text, own) for text, _ in reader.listed("conditions"))
    return comparison(claim_id, left, right, conditions, strict=entry.get("strict", False), **fields)
