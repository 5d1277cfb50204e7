"""The table of slow tests names tests that there are."""

import ast

import pytest

from tests import ROOT
from tests.slow import MOST, SLOW, is_slow, left_out


@pytest.mark.parametrize("name", SLOW)
def test_a_slow_test_exists(name):
    path, _, function = name.partition("::")
    tree = ast.parse((ROOT / "tests" / path).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_what_is_kept_runs():
    name = next(name for name, kept in SLOW.items() if kept)
    assert is_slow(f"tests/{name}[nothing of it]") and not is_slow(f"tests/{name}[{SLOW[name][0].strip('[]')}]")
    assert not is_slow("tests/project/test_slow.py::test_what_is_kept_runs")


def test_a_test_with_many_parameters_runs_with_some_of_them():
    ids = [f"tests/a.py::test_b[{n}]" for n in range(50)]
    kept = [nodeid for nodeid in ids if nodeid not in left_out(ids)]
    assert len(kept) == MOST and (kept[0], kept[-1]) == (ids[0], ids[-1])
    assert left_out(ids[:MOST]) == set()
