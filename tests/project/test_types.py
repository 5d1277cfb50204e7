"""The types of the package fedtheory ship with it; `make lint` checks them."""

import tomllib

from tests import ROOT


def test_the_package_ships_its_types_and_lint_checks_them():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert (ROOT / "fedtheory" / "py.typed").exists()
    assert "py.typed" in project["tool"]["setuptools"]["package-data"]["fedtheory"]
    assert project["tool"]["mypy"]["files"] == ["fedtheory"]
    assert "$(BIN)/mypy" in (ROOT / "Makefile").read_text()
