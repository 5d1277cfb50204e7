"""The floors of the house: who may import whom, that every file is named in docs/architecture.md, and file lengths."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MAY_IMPORT = {
    "synthetic": {"synthetic"},
    "fedtheory": {"fedtheory", "synthetic"},
    "bounds": {"bounds"},
    "verify": {"verify", "bounds", "fedtheory", "synthetic"},
}
FILES = [path for package in MAY_IMPORT for path in sorted((ROOT / package).rglob("*.py"))]


def imported(path: Path) -> set[str]:
    """Top-level names of all modules that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_downwards(path):
    package = path.relative_to(ROOT).parts[0]
    assert not (imported(path) & set(MAY_IMPORT)) - MAY_IMPORT[package]


@pytest.mark.parametrize("path", [p for p in FILES if p.relative_to(ROOT).parts[0] == "bounds"], ids=lambda p: p.name)
def test_claims_need_only_sympy(path):
    for_users_files = {"yaml"} if path.name == "claim_files.py" else set()
    assert imported(path) - set(sys.stdlib_module_names) <= {"sympy", "bounds"} | for_users_files


def test_the_checker_stands_alone():
    paths = [ROOT / "verify" / "checker.py", *(ROOT / "verify").glob("checker_*.py")]
    own = {"verify", *(path.stem for path in paths)}
    library = {"collections", "fractions", "functools", "itertools", "json", "math", "operator", "pathlib", "sys"}
    for path in paths:
        assert imported(path) <= own | library
        of_verify = {node.module for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                     if isinstance(node, ast.ImportFrom) and node.module.startswith("verify")}
        assert of_verify <= {"verify", *(f"verify.{name}" for name in own)}
    assert len(paths[0].read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_file_is_described(path):
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    folders = [f"`{part}/`" for part in path.relative_to(ROOT).parts[1:-1]]
    assert path.name == "__init__.py" or f"`{path.name}`" in text or any(folder in text for folder in folders)
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), "the first line says what the file is"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_files_fit_in_the_head(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 410
