"""The table of slow tests names tests that there are."""

import ast

import pytest

from tests import ROOT
from tests.slow import SLOW, is_slow


@pytest.mark.parametrize("name", SLOW)
def test_a_slow_test_exists(name):
    path, _, function = name.partition("::")
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_what_is_kept_runs():
    name = next(name for name, kept in SLOW.items() if kept)
    assert is_slow(f"tests/{name}[nothing of it]") and not is_slow(f"tests/{name}[{SLOW[name][0].strip('[]')}]")
    assert not is_slow("tests/project/test_slow.py::test_what_is_kept_runs")
