"""The demos by name, read off the text of their notebooks: nothing heavy loads to list them."""

import ast
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

__all__ = ["Demo", "demos", "find_demo", "module_of"]

NOTEBOOKS = Path(__file__).resolve().parent / "notebooks"


class Demo(NamedTuple):
    """A notebook: its name on the command line, its one idea, its file."""

    name: str
    idea: str
    path: Path


def demos() -> dict[str, Demo]:
    """All demos by name, in the order of the alphabet."""
    found = {}
    for path in sorted(NOTEBOOKS.glob("[!_]*.py")):
        name, said = path.stem.replace("_", "-"), ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[name] = Demo(name, " ".join(said.partition("\n\n")[0].split()), path)
    return found


def find_demo(name: str) -> Demo:
    """The demo of a name; LookupError with the nearest names if there is none."""
    known = demos()
    if name not in known:
        near = get_close_matches(name, known, n=3, cutoff=0.3)
        raise LookupError(f"unknown demo {name!r}; " + (f"nearest: {', '.join(near)}; " if near else "")
                          + f"allowed: {', '.join(known)}")
    return known[name]


def module_of(demo: Demo) -> ModuleType:
    """The module behind the notebook, with ``CONTROLS``, ``numbers``, ``picture`` and ``said``."""
    return import_module(f"verify.demos.pictures.{demo.path.stem}")
