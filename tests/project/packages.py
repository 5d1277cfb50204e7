"""Who imports whom: files and subpackages of the four packages, read off the import statements, lazy ones included.

``python -m tests.project.packages`` writes the picture in docs/architecture.md anew.
"""

import ast
from collections.abc import Hashable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests import ROOT

PACKAGES = ("synthetic", "bounds", "fedtheory", "verify")
BEGIN, END = "<!-- written by python -m tests.project.packages -->", "<!-- until here -->"


@cache
def files() -> dict[str, Path]:
    """Every module of the four packages by its full name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(path: Path) -> Iterator[str]:
    """Full names of all modules that a file imports, anywhere in it; of ``from a import b`` both a and a.b."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imports_of_files() -> dict[str, frozenset[str]]:
    """The modules of ours that each of them imports; an empty ``__init__`` on the way to another file does not count."""
    return {name: frozenset({other for other in imported(path) if other in files()} - {name} - _passed(path))
            for name, path in files().items()}


def _passed(path: Path) -> set[str]:
    """Packages of which a file imports a module only."""
    passed, named = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            modules = [f"{node.module}.{alias.name}" in files() for alias in node.names]
            (passed if all(modules) else named).add(node.module)
    return passed - named


def package_of(module: str) -> str:
    """``verify.search`` of ``verify.search.transformations.units``; of a file beside the subpackages, the package. The
    methods are no subpackage of their own: the package that runs them hands them on."""
    parts = module.split(".")
    folder = files().get(".".join(parts[:2]))
    inside = folder is not None and folder.name == "__init__.py" and parts[:2] != ["fedtheory", "algorithms"]
    return ".".join(parts[:2]) if inside else parts[0]


@cache
def imports_of_packages() -> dict[str, frozenset[str]]:
    """Maps each subpackage to those that it imports."""
    found: dict[str, set[str]] = {}
    for module, others in imports_of_files().items():
        found.setdefault(package_of(module), set()).update(map(package_of, others))
    return {name: frozenset(others - {name}) for name, others in found.items()}


def circle(graph: Mapping[Hashable, frozenset]) -> list:
    """A circle of the graph, first node last again; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def below(graph: Mapping[str, frozenset[str]], start: str) -> set[str]:
    """All that ``start`` imports, directly or through others."""
    found, waiting = set(), [start]
    while waiting:
        more = graph.get(waiting.pop(), frozenset()) - found
        found |= more
        waiting += more
    return found


def picture() -> str:
    """The subpackages in Mermaid, without arrows that a longer way implies."""
    graph = imports_of_packages()
    lines = ["```mermaid", "flowchart TD"]
    for package in PACKAGES:
        inside = [name for name in graph if name.partition(".")[0] == package]
        lines += [f"  subgraph {package} package", f"    {' & '.join(inside)}", "  end"]
    for name, others in graph.items():
        direct = {other for other in others if not any(other in below(graph, third) for third in others - {other})}
        if direct:
            lines.append(f"  {name} --> {' & '.join(sorted(direct))}")
    return "\n".join([*lines, "```"])


def main() -> None:
    """Write the picture into docs/architecture.md."""
    page = ROOT / "docs" / "architecture.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{picture()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
