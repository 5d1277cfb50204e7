"""Finds names that nobody can guess and docstrings without a subject: ``python -m tests.project.words``.

Names of modules, classes and functions are compared without leading underscores. Keys of certificates and fields of claim
files are formats, not names: the linter does not read them.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests import ROOT

__all__ = ["faults", "files"]

PACKAGES = ("bounds", "synthetic", "fedtheory", "verify")

MODULES = set("""
    accepted admitted amounts at_a_number begun challenge chart choices corners counts course determined every_number
    existing factors free_numbers gaps house judged kept known known_of_all leaves letters longer motion near never_met
    of_runs on_a_line on_the_number pieces powers realise rooms screen setting sharing steps_of_papers timeless
    together told trials uphill waiting within worlds
""".split())  # noqa: SIM905 - lists of words are read as text
CLASSES = set("""
    Alike Amount Chosen Course Duty EachRun Form Gaps Kept Known Leaf Leaves Left Letter Letters Local Meter Moment
    Near Needed Place Row Shown Timeless Told Track Waiting
""".split())  # noqa: SIM905
FUNCTIONS = set("""
    asked at chosen corner corners course drawn duties duty found given held judged kept known lasts leaf letter
    letters made moved near needed nothing_kept of one over placed put said says_the_same seen shown solved taken tells
    told unplaced world worlds written
""".split())  # noqa: SIM905
OPENINGS = set("""
    Also Alone And Any As At Because Before Behind Between Beyond By Else For From How If In Let More Nor Of On Only Or
    Over Same Some Still That Those Through To Under What When Where Which While Who Whose Why With Within Without
""".split())  # noqa: SIM905
PHRASES = ("The same as ", "The same for ", "it is no matter", "In front of the class")

_ASKED = {"module": "name it for what it defines", "class": "name it for what it is",
          "function": "name it by a verb with its object, or by what it returns"}


def files() -> list[Path]:
    """The modules that the linter reads."""
    return [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]


def faults(module: str, text: str) -> Iterator[str]:
    """Yield the faults in the ``text`` of a module of that name, one line each, with their line numbers."""
    tree = ast.parse(text)
    if module.strip("_") in MODULES:
        yield f"1: module {module}: {_ASKED['module']}"
    for node in ast.walk(tree):
        for kind, types, names in (("class", ast.ClassDef, CLASSES),
                                   ("function", (ast.FunctionDef, ast.AsyncFunctionDef), FUNCTIONS)):
            if isinstance(node, types) and node.name.strip("_") in names:
                yield f"{node.lineno}: {kind} {node.name}: {_ASKED[kind]}"
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or "").split("\n")[0]
            if first.split(" ")[0].strip(",.:;") in OPENINGS or any(phrase in first for phrase in PHRASES):
                yield (f"{node.body[0].lineno}: docstring \"{first[:40]}\": begin with a verb, or with a noun for what is "
                       "returned or defined")


def main() -> int:
    """Print the faults of all modules; return 1 if there are any."""
    found = [f"{path.relative_to(ROOT)}:{fault}" for path in files()
             for fault in faults(path.stem, path.read_text(encoding="utf-8"))]
    print("\n".join(found) or "no faults")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
