"""The tables of a user's claim file, TOML or YAML, with their shape checked; errors name the line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

__all__ = ["SUFFIXES", "line_of", "tables"]

SUFFIXES = (".toml", ".yaml", ".yml")
#: what each field holds; the others are text
_SHAPES = {
    **dict.fromkeys(("assume", "conditions", "steps", "constants_may_use"), "a list of texts"),
    **dict.fromkeys(("options", "variables", "limits"), "a table"),
    "equal_weights": "true or false",
}


def tables(path: Path, text: str) -> list[dict[str, Any]]:
    """The tables under ``claim``.

    Raises:
        ValueError: what is no TOML or YAML, tables of another name or shape, fields of another shape, a repeated key;
            the message names the line.
    """
    data = _toml(path, text) if path.suffix == ".toml" else _yaml(path, text)
    rows = data.get("claim") if isinstance(data, dict) else None
    if not isinstance(rows, list) or not rows or set(data) != {"claim"} or not all(isinstance(row, dict) for row in rows):
        got = ", ".join(map(str, data)) if isinstance(data, dict) and data else type(data).__name__ if data else "nothing"
        wanted = "[[claim]] tables" if path.suffix == ".toml" else "a list under 'claim:'"
        raise ValueError(f"{path}: a claim file consists of {wanted}; got {got}")
    for row in rows:
        for field, value in row.items():
            shape = _SHAPES.get(field, "text")
            if not _has_shape(value, shape):
                raise ValueError(f"{path}, line {line_of(text, str(field))}: {field!r} is {shape}; got {value!r}")
    return rows


def line_of(text: str, part: str) -> int | str:
    """The line, from 1, on which a part first stands; ``?`` if it does not."""
    position = text.find(part) if part else -1
    return text.count("\n", 0, position) + 1 if position >= 0 else "?"


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
        """Refuses repeated keys, of which the last would count."""

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
