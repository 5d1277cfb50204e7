"""Names can be guessed, and docstrings begin with a verb or a noun."""

import pytest

from tests import ROOT
from tests.not_empty import not_empty
from tests.project.words import faults, files


@pytest.mark.parametrize("module, text, fault", [
    ("kept", "", "1: module kept"),
    ("runs", "class _Letters: pass", "1: class _Letters"),
    ("runs", "def said(): pass", "1: function said"),
    ("runs", "class Runs:\n    def _of(self): pass", "2: function _of"),
    ("runs", "def run():\n    async def at(): pass", "2: function at"),
    ("runs", '"""Of each run its end."""', "1: docstring"),
    ("runs", '\ndef ends():\n    """What is left, in the end."""', "3: docstring"),
    ("runs", 'class Runs:\n    """In front of the class of runs."""', "2: docstring"),
    ("runs", 'def ends():\n    """The same for all runs."""', "2: docstring"),
])
def test_planted_faults_are_found(module, text, fault):
    (found,) = faults(module, text)
    assert found.startswith(fault)


@pytest.mark.parametrize("module, text", [
    ("memo", '"""Memoises values."""\n\ndef value_at(x):\n    """Evaluates the formula at x, or on the way."""'),
    ("runs", "class MomentEstimate: pass\n\ndef kept_rows(): said = 1"),
])
def test_names_and_sentences_that_are_fine(module, text):
    assert not [*faults(module, text)]


def test_words():
    assert not [f"{path.relative_to(ROOT)}:{fault}" for path in not_empty(files())
                for fault in faults(path.stem, path.read_text(encoding="utf-8"))]
