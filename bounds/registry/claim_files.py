"""Reads the tables of a user's claim file, TOML or YAML, and checks their shape. Errors name the line."""

import re
import stat
import tomllib
from pathlib import Path
from typing import Any

__all__ = ["LIST_NAME", "SUFFIXES", "Places", "between_commas", "short", "tables", "text_of"]

#: the name of a list of assumptions; no condition is one
LIST_NAME = re.compile(r"[\w-]{1,100}", re.ASCII)
SUFFIXES = (".toml", ".yaml", ".yml")
MOST_CHARACTERS = 300_000  #: of a file
_MOST_PARTS = 20_000  # of a YAML file, each counted wherever an alias repeats it
_MOST_POINTS = 300  # in one line; the time for a key of TOML grows with the square of its parts
_DEEPEST = 100  # brackets that are open at once, those in texts included
_LARGEST = 1e15  # number
_LONGEST_SEARCHED = 2_000  # characters of an entry whose line is looked for

#: the shape of each field; all others are text
_SHAPES = {
    **dict.fromkeys(("number", "reading", "source", "note"), "text or a number"),
    **dict.fromkeys(("assume", "conditions", "steps", "constants_may_use"), "a list of texts"),
    **dict.fromkeys(("options", "variables", "limits", "constants", "definitions", "exists", "witness"), "a table"),
    **dict.fromkeys(("equal_weights", "free_clients"), "true or false"),
}

_CONTROL = re.compile(  # these change what a terminal shows
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_TABLE = re.compile(r"""\s*\[\s*claim\s*\.\s*(["']?)([\w-]+)\1\s*\]""")
_KEY = re.compile(r"""\s*(?:(["']?)([\w-]+)\1)\s*(?:\.[^=<>]*)?=(?!=)""")


def tables(path: Path, text: str) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """The tables under ``claim``, and the lists of conditions under ``assumptions`` by name.

    Raises:
        ValueError: invalid TOML or YAML, tables of another name or shape, fields of another shape, a repeated key. The
            message names the line.
    """
    _check_size(path, text)
    data = _toml(path, text) if path.suffix == ".toml" else _yaml(path, text)
    rows, shared = (data.get("claim"), data.get("assumptions", {})) if isinstance(data, dict) else (None, {})
    if (not isinstance(rows, list) or not rows or not {*data} <= {"claim", "assumptions"}
            or not all(isinstance(row, dict) for row in rows)):
        got = ", ".join(data) if isinstance(data, dict) and data else type(data).__name__ if data else "nothing"
        wanted = "[[claim]] tables" if path.suffix == ".toml" else "a list under 'claim:'"
        raise ValueError(f"{path}: a claim file consists of {wanted}, and perhaps 'assumptions'; got {got[:200]}")
    for name, texts in shared.items() if isinstance(shared, dict) else [("assumptions", shared)]:
        if not _has_shape(texts, "a list of texts") or _CONTROL.search(_texts(texts)):
            raise ValueError(f"{path}: assumptions are lists of conditions, as texts, by name; got {short(name)} = "
                             f"{short(texts)}")
        if not LIST_NAME.fullmatch(str(name)):
            raise ValueError(f"{path}: a list of assumptions is called by letters, digits, _ and -, at most 100; got "
                             f"{short(name)}")
    places = Places(path, text)
    for number, row in enumerate(rows):
        for field, value in row.items():
            shape = _SHAPES.get(field, "text")
            if not _has_shape(value, shape):
                raise ValueError(f"{path}, line {places.line(number, field)}: {short(field)} is {shape}; got {short(value)}")
            if sign := _CONTROL.search(_texts(value)):
                raise ValueError(f"{path}, line {places.line(number, field)}: {short(field)} has the control character "
                                 f"{sign[0]!r}; allowed: text, spaces, tabs and new lines")
    return rows, shared


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        ValueError: it cannot be read, is no ordinary file, has more than ``MOST_CHARACTERS``, or is not UTF-8.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ValueError(f"cannot read {path}: it is no ordinary file")
        with path.open(encoding="utf-8") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"cannot read {path}: a file of claims has at most {MOST_CHARACTERS} characters; split it")
    return text


def short(value: Any) -> str:
    """A value as in Python, its beginning if it is long."""
    if isinstance(value, list) and len(value) > 10:
        return f"a list of {len(value)}"
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested deeply; more digits than Python converts
        return f"a very large {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:60]}... ({len(text)} characters)"


def _texts(value) -> str:
    """All texts in a field or in its entries, one behind the other."""
    entries = (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return "".join(entry for entry in entries if isinstance(entry, str))


def _check_size(path: Path, text: str) -> None:
    """Refuse what the readers of TOML and YAML would take very long for."""
    depth = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if (points := line.count(".")) > _MOST_POINTS:
            raise ValueError(f"{path}, line {number}: a line has at most {_MOST_POINTS} points; got {points}; split it")
        for sign in re.findall(r"[\[\]{}]", line):
            depth = max(depth + (1 if sign in "[{" else -1), 0)
            if depth > _DEEPEST:
                raise ValueError(f"{path}, line {number}: more than {_DEEPEST} brackets [ and {{ are open at once")


class Places:
    """The lines of the parts of a claim file, counted from 1."""

    def __init__(self, path: Path, text: str):
        self.lines = text.splitlines()
        self.spans = _yaml_spans(text) if path.suffix != ".toml" else _toml_spans(self.lines)

    def line(self, claim: int, field: str = "", entry: str = "", symbol: str = "") -> int:
        """The line of a claim (counted from 0), or of a field in it, an entry in the field, a symbol in the entry.

        A part that is not found, or very long, is ignored.
        """
        (first, last), fields = self.spans[claim] if claim < len(self.spans) else ((0, len(self.lines)), {})
        if field in fields:
            first, last = fields[field]
        for part in (part for part in (entry, symbol) if part and len(part) <= _LONGEST_SEARCHED):
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
        ends, end, end_of_table = {}, last, last
        for n in sorted(starts.values(), reverse=True):  # a table ends at the next one, a key at whatever is next
            is_table = lines[n].lstrip().startswith("[")
            ends[n] = end_of_table if is_table else end
            end, end_of_table = n, n if is_table else end_of_table
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
        return isinstance(value, dict)
    if shape == "true or false":
        return isinstance(value, bool)
    return isinstance(value, str) or (shape == "text or a number" and isinstance(value, int | float)
                                      and abs(value) <= _LARGEST)


def _toml(path: Path, text: str) -> dict:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{path}: lists or tables are nested too deeply") from None
    except ValueError as error:  # also of a number with more digits than Python converts
        raise ValueError(f"{path}: {_one_line(error)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def _yaml(path: Path, text: str) -> Any:
    try:
        import yaml
    except ModuleNotFoundError as error:
        raise ValueError(f"{path}: YAML needs PyYAML (pip install 'fedtheory[yaml]'); TOML needs nothing more") from error

    class Loader(yaml.SafeLoader):
        """Refuses keys that are no text or stand twice, and aliases by which little text becomes much data."""

        composed = 0

        def compose_node(self, parent, index):
            self.composed += 1
            return self.counted(super().compose_node(parent, index), self.composed)

        def get_single_node(self):
            node = super().get_single_node()
            return node if node is None else self.counted(node, _parts(node, {}))

        def counted(self, node, parts: int):
            if parts > _MOST_PARTS:
                raise yaml.MarkedYAMLError(problem=f"the file has more than {_MOST_PARTS} parts, aliases included; split it",
                                           problem_mark=node.start_mark)
            return node

    def mapping(loader, node):
        found = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node, deep=True)
            problem = (f"a key is text; got {short(key)}" if not isinstance(key, str)
                       else f"{short(key)} stands twice in one table" if key in found else "")
            if problem:
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key_node.start_mark)
            found[key] = loader.construct_object(value_node, deep=True)
        return found

    Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    try:
        return yaml.load(text, Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else "?"
        raise ValueError(f"{path}, line {line}: {str(error.problem)[:300]}") from error
    except RecursionError:
        raise ValueError(f"{path}: lists or tables are nested too deeply, or contain themselves") from None
    except Exception as error:  # the reader raises almost anything for a value that does not fit its tag
        raise ValueError(f"{path}: a value cannot be read: {_one_line(error)}") from error


def _parts(node, counted: dict) -> int:
    """The number of parts of a YAML node, each counted wherever an alias repeats it.

    Raises:
        RecursionError: the node contains itself.
    """
    if node not in counted:
        inner = node.value if isinstance(node.value, list) else []
        pairs = (pair if isinstance(pair, tuple) else (pair,) for pair in inner)
        counted[node] = 1 + sum(_parts(part, counted) for pair in pairs for part in pair)
    return counted[node]


def between_commas(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts
