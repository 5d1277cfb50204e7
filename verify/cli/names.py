"""Names of methods and problems, read from the text of their files, so that unknown ones are refused before slow imports."""

import re
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path

__all__ = ["check_method", "check_problem", "method_names", "nearest_method", "problem_names"]


def method_names() -> set[str]:
    """The names under which files of ``fedtheory/algorithms`` register methods."""
    files = (_folder("fedtheory") / "algorithms").glob("*.py")
    entered = re.compile(r'\b(?:method\(|register\(\s*\w+,)\s*"([\w-]+)"')
    return {name for file in files for name in entered.findall(file.read_text(encoding="utf-8"))}


def problem_names() -> set[str]:
    """The keys of the table in ``synthetic/registry.py``."""
    text = (_folder("synthetic") / "registry.py").read_text(encoding="utf-8")
    return set(re.findall(r'^    "([\w-]+)": (?:Problem|_loss)\(', text, re.MULTILINE))


def check_method(name: str) -> None:
    """Raises LookupError, with the nearest name, unless a method has that name; specification ids, which have a /, pass."""
    if "/" not in name:
        _check("algorithm", name, method_names())


def check_problem(name: str) -> None:
    """Raises LookupError, with the nearest name, unless a problem has that name."""
    _check("problem", name, problem_names())


def nearest_method(name: str) -> str | None:
    """Returns the method that is meant by a name which is spelt much like its own; None for what is a name itself, of a
    paper too, and for ids and files."""
    known = method_names()
    if "/" in name or "." in name or name in known or (_folder("bounds") / "papers" / name).is_dir():
        return None
    return next(iter(get_close_matches(name, sorted(known), n=1, cutoff=0.75)), None)


def _check(kind: str, name: str, known: set[str]) -> None:
    if name not in known:
        near = get_close_matches(name, sorted(known), n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]!r}?" if near else "."
        raise LookupError(f"unknown {kind} {name!r}{hint} Known: {', '.join(sorted(known))}")


def _folder(package: str) -> Path:
    return Path(find_spec(package).origin).parent
