"""The hard controls of benchmarks/hard: every false one has a counterexample, and true ones are spared."""

import operator
import tomllib
from math import isclose

import pytest

from benchmarks.hard import KINDS, PAIRS, claims, file_text
from benchmarks.hard import __main__ as hard
from benchmarks.hard.__main__ import Outcome, main, page, table
from benchmarks.hard.long_runs import horizon
from tests.not_empty import not_empty

_BROKEN = {"<=": operator.gt, "<": operator.ge, "==": operator.ne}
_FALSE, _TRUE = "false/on-a-circle-strict", "true/on-a-circle-strict"


def test_there_are_a_hundred_pairs_and_twenty_of_each_kind():
    assert len(PAIRS) >= 100 and min(len(pairs) for pairs in KINDS.values()) >= 20
    assert sum(len(pairs) for pairs in KINDS.values()) == len(PAIRS)  # no name twice
    assert set(claims()) == {f"{truth}/{name}" for truth in ("true", "false") for name in PAIRS}


@pytest.mark.parametrize("name", PAIRS)
def test_a_false_statement_has_a_counterexample(name):
    left, right = PAIRS[name][1].witness()
    assert _BROKEN[PAIRS[name][1].relation](left, right), (left, right)
    assert PAIRS[name][1].relation != "<=" or not isclose(left, right, rel_tol=1e-12), (left, right)  # more than rounding


def test_a_pair_differs_in_one_field():
    tables = {table["id"]: table for table in tomllib.loads(file_text())["claim"]}
    for name in not_empty(PAIRS):
        true, false = tables[f"true/{name}"], tables[f"false/{name}"]
        assert len([field for field in true if field != "id" and true[field] != false[field]]) == 1, name


def test_what_holds_from_some_number_of_rounds_on_is_found():
    assert [horizon(lambda n, first=first: n >= first) for first in (1, 2, 777)] == [1, 2, 777]
    with pytest.raises(ValueError, match="nothing is broken"):
        horizon(lambda n: False, most=10)


@pytest.mark.parametrize("name", [next(iter(pairs)).name for pairs in KINDS.values()])
def test_a_true_statement_is_spared(name, capsys):
    assert main(["--only", f"true/{name}", "--workers", "1"]) == 0
    assert "Wrong verdicts" in capsys.readouterr().out


def _outcome(claim, verdict):
    return Outcome(claim, "quick", 0, verdict, 0.5, 1.0, "")


@pytest.mark.parametrize("claim, verdict, wrong", [
    (_TRUE, "refuted", True), (_TRUE, "ill-posed", True), (_TRUE, "consistent", False), (_TRUE, "undecided", False),
    (_FALSE, "certified", True), (_FALSE, "consistent", False), (_FALSE, "refuted", False)])
def test_what_is_wrong(claim, verdict, wrong):
    assert _outcome(claim, verdict).wrong is wrong


def test_what_a_small_budget_refutes_is_not_searched_again(monkeypatch):
    searched = []

    def decided(job):
        searched.append(job)
        return _outcome(job[0], "refuted")._replace(budget=job[1])
    monkeypatch.setattr(hard, "_decided", decided)
    outcomes = list(hard.measure(["standard", "quick"], [0], [_FALSE, _TRUE]))
    assert searched == [(_FALSE, "quick", 0), (_TRUE, "quick", 0), (_TRUE, "standard", 0)]
    assert {(o.claim, o.budget) for o in outcomes} == {(c, b) for c in (_FALSE, _TRUE) for b in ("quick", "standard")}


def test_the_page_counts_and_names_what_is_missed():
    outcomes = [_outcome(_FALSE, "refuted"), _outcome("false/harmonic-50", "consistent"), _outcome(_TRUE, "refuted")]
    assert "| all | 1 of 2 | 0 of 1 |" in table(outcomes)
    text = page(outcomes, "today")
    missed, wrong = text.split("## True statements")
    assert "false/harmonic-50" in missed and _FALSE not in text and _TRUE in wrong
