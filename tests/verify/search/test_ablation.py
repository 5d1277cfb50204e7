"""The ablation table: which statements are lost without a stage or corner, and that interrupted runs go on."""

import json

import pytest

from benchmarks import ablation
from benchmarks.ablation import ALL, OTHER_SEED, PARTS, main, table
from verify.search.budget import BUDGETS, Budget
from verify.search.stages import NAMES

YOUNG = {name: claim for name, claim in ablation.FALSE.items() if name.startswith("control/young@")}


@pytest.fixture
def few(monkeypatch, tmp_path):
    """Few statements, a small budget, and a file for the results."""
    monkeypatch.setattr(ablation, "FALSE", YOUNG)
    monkeypatch.setitem(BUDGETS, "quick", Budget(5, 48, 5))
    monkeypatch.setattr(ablation, "code_version", lambda: "this")
    return tmp_path / "ablation.json"


def run(out, *more) -> int:
    return main(["--workers", "1", "--out", str(out), *more])


def test_statements_are_lost_gained_or_neither_and_time_is_of_those_searched_both_ways():
    runs = {ALL: {"a": (True, 1.0, "small"), "b": (False, 2.0, ""), "c": (True, 1.0, "small"), "d": (True, 9.0, "random")},
            "small": {"a": (False, 1.0, ""), "b": (True, 1.0, "random"), "c": (True, 1.0, "random")}}
    lines = table(runs).splitlines()
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]] == ["small", "2", "3", "2", "1", "1", "25%"]
    assert [line.split()[-1] for line in lines[5:]] == ["a", "b"]


def test_stages_are_listed_with_what_they_refute_and_their_seconds():
    searched = {"a": (True, 3.0, "small", "small", {"small": 3.0}),
                "b": (True, 3.0, "", "random", {"small": 1.0, "random": 2.0}),
                "c": (False, 9.0, "", "", {"small": 5.0, "random": 4.0, "seldom": 0.2})}
    assert ablation.stages_table(searched).splitlines()[2:] == [
        "| small | 1 | 9 | 9.00 |", "| random | 1 | 6 | 6.00 |", "| seldom | 0 | 0 | - |"]


def test_what_a_stage_alone_finds_is_lost_without_it(few, capsys):
    """Of numbers alone there are no fixed shapes: with the random ones and the mutations off nothing is left."""
    assert run(few, "--only", "random", "--only", "evolved", "--only", "small") == 0
    runs = json.loads(few.read_text(encoding="utf-8"))["runs"]
    assert list(runs) == [ALL, "random", "evolved", "small"] and all(runs[part].keys() == YOUNG.keys() for part in runs)
    assert all(refuted for refuted, *_ in runs["small"].values())
    assert "| random |" in capsys.readouterr().out


def test_an_interrupted_run_goes_on_where_it_stopped(few, monkeypatch):
    asked, known = [], ablation._search

    def stops(job):
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(job[:2])
        return known(job)

    monkeypatch.setattr(ablation, "_search", stops)
    with pytest.raises(KeyboardInterrupt):
        run(few, "--only", "small")
    monkeypatch.setattr(ablation, "_search", lambda job: asked.append(job[:2]) or known(job))
    assert run(few, "--only", "small") == 0
    assert len(asked) == len({*asked}) == 2 * len(YOUNG)


def test_only_refuted_statements_are_searched_again_where_asked_for(few, monkeypatch):
    monkeypatch.setattr(ablation, "_search", lambda job: (job[0], job[1], job[1].endswith("/10"), 1.0, "", "", {}))
    assert run(few, "--refuted") == 0
    runs = json.loads(few.read_text(encoding="utf-8"))["runs"]
    assert {*runs} == {*PARTS} == {ALL, OTHER_SEED, *NAMES}
    assert [*runs["small"]] == ["control/young@/10"] and len(runs[ALL]) == len(YOUNG)


def test_a_search_that_ends_before_a_stage_is_not_repeated_without_it(few, monkeypatch):
    asked = []
    found = True, 1.0, "random", "random", {}
    monkeypatch.setattr(ablation, "_search", lambda job: asked.append(job[:2]) or (*job[:2], *found))
    assert run(few, "--only", "small", "--only", "random", "--only", "evolved", "--only", "units") == 0
    assert {part for part, _ in asked} == {ALL, "small", "random", "units"} and len(asked) == 4 * len(YOUNG)
    runs = json.loads(few.read_text(encoding="utf-8"))["runs"]
    assert runs["evolved"] == runs[ALL]


def test_claims_are_ids_or_verdicts_that_a_search_can_refute(few, monkeypatch, tmp_path):
    monkeypatch.setattr(ablation, "_search", lambda job: (job[0], job[1], True, 1.0, "", "", {}))
    path = tmp_path / "ids.json"
    path.write_text(json.dumps(["fedalign/theorem-1", {"id": "fedalign/lemma-A3"}]), encoding="utf-8")
    assert run(few, "--claims", str(path), "--only", "small") == 0
    runs = json.loads(few.read_text(encoding="utf-8"))["runs"]
    assert [*runs["small"]] == ["fedalign/theorem-1", "fedalign/lemma-A3"]


def test_results_of_other_settings_or_code_are_not_mixed(few, monkeypatch, capsys):
    monkeypatch.setattr(ablation, "_search", lambda job: (job[0], job[1], True, 1.0, "", "", {}))
    assert run(few, "--only", "small") == 0
    for change in (lambda: ["--seed", "1"], lambda: monkeypatch.setattr(ablation, "code_version", lambda: "other") or []):
        with pytest.raises(SystemExit) as stopped:
            run(few, "--only", "small", *change())
        assert stopped.value.code == 2 and str(few) in capsys.readouterr().err
