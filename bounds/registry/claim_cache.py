"""Keeps the claims of a paper's files as data, so that they are read once: beside the papers, as Python keeps its own.

A kept file is JSON: formulas as a list of nodes, each with the numbers of its parts, and the claims' fields. Its name has a
digest of the paper's files, of the code that reads them and of sympy's version. Whoever can write it can write the code too.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import sympy as sp

from bounds.language import claim as claims
from bounds.language import functions
from bounds.language.definitions import SHARED
from bounds.registry.known_names import known_names

__all__ = ["FOLDER", "CachedClaims", "cached", "decoded", "digest", "encoded", "store"]

FOLDER = "__kept__"
_CODE = Path(__file__).parents[1]
_PLAIN = {one.__name__: one for one in (sp.Add, sp.Mul, sp.Sum, sp.Product, sp.Indexed, sp.Tuple)}
_EVALUATED = {one.__name__: one for one in (sp.Pow, sp.Max, sp.Min, sp.exp, sp.log, sp.Abs, sp.floor, sp.ceiling, sp.Mod)}
_CONSTANTS = {"Exp1": sp.E, "Pi": sp.pi, "Infinity": sp.oo, "NegativeInfinity": -sp.oo}
_DATA = {one.__name__: one for one in (
    claims.Condition, claims.Assumption, claims.Definition, claims.Choice, claims.Procedure, claims.Variable)}

#: headings of sections, each with the section's claims and the numbers of their tables
Sections = Iterable[tuple[str, Iterable[tuple[int, claims.Claim]]]]


@cache
def _operators() -> dict[str, type]:
    words = {name: word for part in known_names() for name, word in part.items()}
    words |= vars(functions)
    return {word.__name__: word for word in words.values() if isinstance(word, type) and issubclass(word, sp.Function)}


# writing -----------------------------------------------------------------------------------------------------------------
class _Writer:
    def __init__(self):
        self.numbers: dict[Any, int] = {}
        self.nodes: list = []

    def node(self, e: sp.Basic) -> int:
        key = (type(e), e)
        if key not in self.numbers:
            row = self.row(e)
            self.numbers[key] = len(self.nodes)
            self.nodes.append(row)
        return self.numbers[key]

    def row(self, e: sp.Basic) -> list:
        name = type(e).__name__
        if isinstance(e, sp.IndexedBase):
            return ["IndexedBase", str(e.label), sorted(e.label._assumptions_orig.items())]
        if isinstance(e, sp.Symbol):
            return ["Symbol", e.name, sorted(e._assumptions_orig.items())]
        if isinstance(e, sp.Rational):
            return ["Rational", str(e.p), str(e.q)]
        if name in _CONSTANTS:
            return [name]
        if name not in _PLAIN and name not in _EVALUATED and name not in _operators():
            raise TypeError(f"no way to keep a {name}")
        return [name, *map(self.node, e.args)]

    def value(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, sp.Basic):
            return {"node": self.node(value)}
        if is_dataclass(value):
            return {"data": type(value).__name__, "fields": [self.value(getattr(value, f.name)) for f in fields(value)]}
        if isinstance(value, list | tuple):
            return [*map(self.value, value)]
        raise TypeError(f"no way to keep a {type(value).__name__}")


def encoded(quantities: Mapping[str, claims.Definition], sections: Sections) -> str:
    """The definitions of a paper and the claims of its sections as text; TypeError for what has no form."""
    writer, names = _Writer(), [f.name for f in fields(claims.Claim) if f.name != "definitions"]
    common = SHARED | quantities

    def row(number: int, claim: claims.Claim) -> list:
        own = {name: d for name, d in claim.definitions.items() if common.get(name) is not d}
        return [number, [writer.value(getattr(claim, name)) for name in names], bool(claim.definitions),
                [writer.value(d) for d in own.values()]]

    data = {"fields": names, "quantities": [writer.value(d) for d in quantities.values()],
            "sections": [[heading, [row(number, claim) for number, claim in section]] for heading, section in sections]}
    return json.dumps({"nodes": writer.nodes} | data, separators=(",", ":"))


# reading -----------------------------------------------------------------------------------------------------------------
def _build(row: list, nodes: list) -> sp.Basic:
    name, *rest = row
    if name in _PLAIN:
        args = [nodes[number] for number in rest]
        if name in ("Add", "Mul"):
            return _PLAIN[name]._from_args(args)
        if name in ("Sum", "Product"):
            found = sp.Expr.__new__(_PLAIN[name], *args)
            found.is_commutative = True
            return found
        return _PLAIN[name](*args)
    if name in _EVALUATED:
        return _EVALUATED[name](*(nodes[number] for number in rest), evaluate=False)
    if name == "Symbol":
        return sp.Symbol(rest[0], **dict(rest[1]))
    if name == "IndexedBase":
        return sp.IndexedBase(rest[0], **dict(rest[1]))
    if name == "Rational":
        return sp.Rational(int(rest[0]), int(rest[1]))
    if name in _CONSTANTS:
        return _CONSTANTS[name]
    return _operators()[name](*(nodes[number] for number in rest))


class CachedClaims(NamedTuple):
    """The claims that :func:`encoded` wrote."""

    quantities: dict[str, claims.Definition]
    sections: list[tuple[str, list[tuple[int, claims.Claim]]]]


def decoded(text: str) -> CachedClaims:
    """The definitions and the sections that :func:`encoded` wrote."""
    data, nodes = json.loads(text), []
    for row in data["nodes"]:
        nodes.append(_build(row, nodes))

    def value(cached: Any) -> Any:
        if isinstance(cached, list):
            return tuple(map(value, cached))
        if not isinstance(cached, dict):
            return cached
        if "node" in cached:
            return nodes[cached["node"]]
        found = object.__new__(_DATA[cached["data"]])
        for field, one in zip(fields(found), cached["fields"], strict=True):
            object.__setattr__(found, field.name, value(one))
        return found

    quantities = {d.name: d for d in map(value, data["quantities"])}
    common = SHARED | quantities

    def claim(row: list) -> tuple[int, claims.Claim]:
        number, given, has_definitions, own = row
        own = {d.name: d for d in map(value, own)}
        definitions = (common | own if own else common) if has_definitions else {}
        return number, claims.Claim(**dict(zip(data["fields"], map(value, given), strict=True)), definitions=definitions)

    return CachedClaims(quantities, [(heading, [claim(row) for row in section]) for heading, section in data["sections"]])


# files -------------------------------------------------------------------------------------------------------------------
@cache
def _digest_of_code() -> bytes:
    found = hashlib.sha256(sp.__version__.encode())
    for path in sorted(path for path in _CODE.rglob("*.py") if "papers" not in path.parts[len(_CODE.parts):]):
        found.update(path.read_bytes())
    return found.digest()


def digest(texts: Iterable[str]) -> str:
    """The digest of the texts of a paper's files and of the code that reads them."""
    found = hashlib.sha256(_digest_of_code())
    for text in texts:
        found.update(hashlib.sha256(text.encode()).digest())
    return found.hexdigest()[:32]


def cached(folder: Path, paper: str, key: str) -> CachedClaims | None:
    """The claims kept under this key, or None."""
    try:
        return decoded((folder / FOLDER / f"{paper}.{key}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, LookupError, TypeError):  # none, or cut off while it was written
        return None


def store(folder: Path, paper: str, key: str, write: Callable[[], str]) -> None:
    """Keep the claims that ``write`` gives as text, in place of the paper's older ones, where the folder can be written."""
    place = folder / FOLDER
    try:
        place.mkdir(exist_ok=True)
        own = place / f"{paper}.{key}.{os.getpid()}"
        own.write_text(write(), encoding="utf-8")
        own.replace(place / f"{paper}.{key}.json")
        for old in place.glob(f"{paper}.*.json"):
            if old.name != f"{paper}.{key}.json":
                old.unlink(missing_ok=True)
    except (OSError, TypeError):
        return
