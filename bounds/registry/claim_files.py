"""Reads the tables of a user's claim file, TOML or YAML, and checks their shape. Errors name the line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

__all__ = ["SUFFIXES", "Places", "tables"]

SUFFIXES = (".toml", ".yaml", ".yml")

#: the shape of each field; all others are text
_SHAPES = {
    **dict.fromkeys(("assume", "conditions", "steps", "constants_may_use"), "a list of texts"),
    **dict.fromkeys(("options", "variables", "limits"), "a table"),
    "equal_weights": "true or false",
}

_TABLE = re.compile(r"""\s*\[\s*claim\s*\.\s*(["']?)([\w-]+)\1\s*\]""")
_KEY = re.compile(r"""\s*(?:(["']?)([\w-]+)\1)\s*(?:\.[^=<>]*)?=(?!=)""")


def tables(path: Path, text: str) -> list[dict[str, Any]]:
    """The tables under ``claim``.

    Raises:
        ValueError: invalid TOML or YAML, tables of another name or shape, fields of another shape, a repeated key. The
            message names the line.
    """
    data = _toml(path, text) if path.suffix == ".toml" else _yaml(path, text)
    rows = data.get("claim") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not rows or set(data) != {"claim"} or not all(isinstance(row, dict) for row in rows):
        got = ", ".join(map(str, data)) if isinstance(data, dict) and data else type(data).__name__ if data else "nothing"
        wanted = "[[claim]] tables" if path.suffix == ".toml" else "a list under 'claim:'"
        raise ValueError(f"{path}: a claim file consists of {wanted}; got {got}")
    places = Places(path, text)
    for number, row in enumerate(rows):
        for field, value in row.items():
            shape = _SHAPES.get(field, "text")
            if not _has_shape(value, shape):
                raise ValueError(f"{path}, line {places.line(number, str(field))}: {field!r} is {shape}; got {value!r}")
    return rows


class Places:
    """The lines of the parts of a claim file, counted from 1."""

    def __init__(self, path: Path, text: str):
        self.lines = text.splitlines()
        self.spans = _yaml_spans(text) if path.suffix != ".toml" else _toml_spans(self.lines)

    def line(self, claim: int, field: str = "", entry: str = "", symbol: str = "") -> int:
        """The line of a claim (counted from 0), or of a field in it, an entry in the field, a symbol in the entry.

        A part that is not found is ignored.
        """
        (first, last), fields = self.spans[claim] if claim < len(self.spans) else ((0, len(self.lines)), {})
        if field in fields:
            first, last = fields[field]
        for part in filter(None, (entry, symbol)):
            edge = r"(?<![\w.])" if re.match(r"\w", part) else ""
            found = re.compile(edge + r"\s+".join(map(re.escape, part.split())) + (r"(?!\w)" if edge else ""))
            text = "\n".join(self.lines[first:last])
            if match := found.search(text) or re.search(re.escape(part), text):
                start = first + text.count("\n", 0, match.start())
                first, last = start, start + match.group().count("\n") + 1
        return first + 1


def _toml_spans(lines: list[str]) -> list:
    """The lines (first, behind the last) of each [[claim]] table, and of each of its fields."""
    heads = [n for n, line in enumerate(lines) if re.match(r"\s*\[\[\s*claim\s*\]\]", line)]
    spans = []
    for first, last in zip(heads, [*heads, len(lines)][1:], strict=True):
        starts = {}
        for n in range(first + 1, last):
            if key := _TABLE.match(lines[n]) or _KEY.match(lines[n]):
                starts.setdefault(key[2], n)
        order = sorted(starts.values())
        in_table = [n for n in order if lines[n].lstrip().startswith("[")]
        ends = {n: next((m for m in order if m > n and (n not in in_table or m in in_table)), last) for n in order}
        spans.append(((first, last), {name: (n, ends[n]) for name, n in starts.items()}))
    return spans


def _yaml_spans(text: str) -> list:
    import yaml

    spans = []
    root = yaml.compose(text, yaml.SafeLoader)
    for key, claims in root.value:
        if key.value == "claim":
            for node in claims.value:
                fields = {name.value: (name.start_mark.line, _behind(value)) for name, value in node.value}
                spans.append(((node.start_mark.line, _behind(node)), fields))
    return spans


def _behind(node) -> int:
    """The line behind the last of a YAML node."""
    return node.end_mark.line + (node.end_mark.column > 0)


def _has_shape(value, shape: str) -> bool:
    if shape == "a list of texts":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if shape == "a table":
        return isinstance(value, dict) and all(isinstance(name, str) for name in value)
    return isinstance(value, bool) if shape == "true or false" else isinstance(value, str | int | float)


def _toml(path: Path, text: str) -> dict:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from error


def _yaml(path: Path, text: str) -> Any:
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise ValueError(f"{path}: YAML needs PyYAML (pip install 'fedtheory[yaml]'); TOML needs nothing more") from error

    class Loader(yaml.SafeLoader):
        """Refuses repeated keys instead of taking the last one."""

    def mapping(loader, node):
        found = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node, deep=True)
            if key in found:
                raise ValueError(f"{path}, line {key_node.start_mark.line + 1}: {key!r} stands twice in one table")
            found[key] = loader.construct_object(value_node, deep=True)
        return found

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        return yaml.load(text, Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise ValueError(f"{path}, line {line}: {error.problem}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {error}") from error
