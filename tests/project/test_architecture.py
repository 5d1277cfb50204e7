"""The layers of the packages: who may import whom, and that each subpackage and file says what it is for."""

import ast
import sys

from tests import ROOT
from tests.not_empty import not_empty
from tests.project import packages

MAY_IMPORT = {
    "synthetic": {"synthetic"},
    "fedtheory": {"fedtheory", "synthetic"},
    "bounds": {"bounds"},
    "verify": {"verify", "bounds", "fedtheory", "synthetic"},
}
STANDARD_LIBRARY = {"collections", "copy", "fractions", "functools", "importlib", "itertools", "json", "math", "operator",
                    "pathlib", "pkgutil", "re", "sys"}


def top(modules) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_packages_import_downwards():
    wrong = {name: sorted(upwards) for name, path in packages.files().items()
             if (upwards := top(packages.imported(path)) & set(MAY_IMPORT) - MAY_IMPORT[name.partition(".")[0]])}
    assert not wrong


def test_the_facade_is_the_one_arrow_upwards():
    import fedtheory

    assert set(fedtheory.ABOVE.values()) <= set(packages.files())
    assert all(callable(getattr(fedtheory, name)) for name in fedtheory.ABOVE)
    for name, path in packages.files().items():
        package, text = name.partition(".")[0], path.read_text(encoding="utf-8")
        above = {other for other in packages.files()
                 if other.partition(".")[0] not in MAY_IMPORT[package] and f'"{other}"' in text}
        assert name == "fedtheory" or not above - set(MAY_IMPORT), f"{name} names {above} in text"


def test_subpackages_import_in_one_direction():
    assert packages.circle(packages.imports_of_packages()) == []


def test_files_import_in_one_direction():
    assert packages.circle(packages.imports_of_files()) == []


def test_a_circle_is_found():
    graph = {"a": frozenset({"b"}), "b": frozenset({"c"}), "c": frozenset({"a"})}
    assert len(packages.circle(graph)) == 4 and packages.circle({**graph, "c": frozenset()}) == []


def those_that_name_papers(graph) -> set[str]:
    """Modules outside the papers, their controls and their loader that import one."""
    return {name for name, others in graph.items() if any(other.startswith("bounds.papers") for other in others)
            and not name.startswith(("bounds.papers", "bounds.controls")) and name != "bounds.registry.papers"}


def test_machinery_names_no_paper():
    assert those_that_name_papers(packages.imports_of_files()) == set()
    planted = {"verify.claims.needs": frozenset({"bounds.papers.fedmoswa.operators"}),
               "bounds.registry.papers": frozenset({"bounds.papers"}), "verify.results": frozenset({"bounds.language"})}
    assert those_that_name_papers(planted) == {"verify.claims.needs"}


def test_papers_are_text():
    """No Python stands below ``bounds/papers``."""
    assert [path for path in not_empty((ROOT / "bounds" / "papers").rglob("*.*")) if path.suffix == ".py"
            and path.name != "__init__.py"] == []


def test_claims_need_only_sympy():
    for name, path in not_empty(packages.files().items()):
        if name.startswith("bounds"):
            allowed = {"sympy", "bounds"} | {"mathml.py": {"latex2mathml"}}.get(path.name, set())
            assert top(packages.imported(path)) - set(sys.stdlib_module_names) <= allowed, name


def test_the_checker_stands_alone():
    checker = [name for name in packages.files() if name.startswith("verify.checker")]
    assert len(checker) > 10
    for name in checker:
        modules = {module for module in packages.imported(packages.files()[name]) if not module.startswith("verify.checker")}
        assert top(modules) <= STANDARD_LIBRARY, name
    imports = [node for node in ast.walk(ast.parse(packages.files()["verify"].read_text()))
               if isinstance(node, ast.ImportFrom)]
    assert {node.module for node in imports} == {"importlib"}


def test_every_subpackage_and_file_says_what_it_is_for():
    assert [name for name, path in not_empty(packages.files().items())
            if not ast.get_docstring(ast.parse(path.read_text()))] == []


def test_files_fit_in_the_head():
    assert [name for name, path in not_empty(packages.files().items()) if len(path.read_text().splitlines()) > 450] == []


def test_the_picture_is_of_today():
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert f"{packages.BEGIN}\n{packages.picture()}\n{packages.END}" in page, "python -m tests.project.packages writes it"
    assert len(page.splitlines()) <= 120
