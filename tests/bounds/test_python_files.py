"""Python files of a user's own: as they stand now, and as modules that Python knows."""

import sys
from pathlib import Path

import pytest

from bounds.registry.python_files import module_from
from verify.cli.methods import method_of

NAME = "fedtheory_test_of_a_file"
DATACLASS = """
from dataclasses import dataclass
from fedtheory.algorithms.fedavg import FedAvg

@dataclass
class Setting:
    size: int = 1

class Mine(FedAvg):
    pass
"""


@pytest.fixture
def written(tmp_path):
    def write(text: str) -> Path:
        path = tmp_path / "mine.py"
        path.write_text(text, encoding="utf-8")
        return path

    yield write
    sys.modules.pop(NAME, None)


def test_a_changed_file_is_read_anew(written, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)  # compiled files tell apart neither seconds nor equal lengths
    for value in (1, 2):
        assert module_from(written(f"x = {value}"), NAME).x == value


def test_dataclasses_find_their_module(written):
    module = module_from(written(DATACLASS), NAME)
    assert module.Setting().size == 1 and sys.modules[NAME] is module
    assert method_of(f"{written(DATACLASS)}:Mine").__name__ == "Mine"


def test_a_file_that_fails_leaves_what_was_known(written):
    first = module_from(written("x = 1"), NAME)
    with pytest.raises(ZeroDivisionError):
        module_from(written("x = 1 / 0"), NAME)
    assert sys.modules[NAME] is first
    with pytest.raises(SyntaxError):
        module_from(written("x ="), "fedtheory_test_unknown")
    assert "fedtheory_test_unknown" not in sys.modules
