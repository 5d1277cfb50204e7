"""The power table: counts by kind, what is enough, and the controls on other methods."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from benchmarks import power as module
from benchmarks.power import ROWS, Outcome, enough, main, measure, table
from bounds.controls.fedavg import CONTROLS, kind_of
from bounds.controls.methods import CONTROLS_ON_METHODS
from verify.evaluation.judge import exact_violation
from verify.search.budget import BUDGETS, Budget
from verify.search.search import search

SMALL = Budget(5, 48, 5)
TWINS = {twin.id: twin for row in CONTROLS_ON_METHODS for twin in row.twins.values()}


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setitem(BUDGETS, "quick", SMALL)


@pytest.mark.parametrize("row", CONTROLS_ON_METHODS, ids=lambda row: row.claim.id)
def test_a_true_claim_on_a_method_is_never_refuted(row):
    """5 searches, together at least 100 instances that meet every hypothesis."""
    found = [search(row.claim, SMALL, seed) for seed in range(5)]
    assert all(f.violation is None for f in found) and sum(f.met for f in found) >= 100


def test_false_twins_on_methods_are_refuted():
    """All of them, exactly; 40 when this was written."""
    assert len(TWINS) >= 40
    for claim_id, twin in TWINS.items():
        violation = search(twin, BUDGETS["standard"], 0).violation
        assert violation is not None, claim_id
        assert all(isinstance(v, Fraction) for array in violation.params.values() for v in array.ravel())
        assert exact_violation(twin, violation.environment) == (violation.left, violation.right)


@pytest.mark.parametrize(("label", "kind"), [
    ("/3/2", "constant divided by 1.5"), ("/10", "constant divided by 10"), ("no noise", "term dropped"),
    ("any: step", "condition removed"), ("exponent: of L", "exponent changed"), ("own model", "another statement"),
])
def test_kinds(label, kind):
    assert kind_of(label) == kind


def test_there_are_enough_twins_of_every_kind():
    kinds = [kind_of(label) for row in ROWS.values() for label in row.twins]
    counts = {kind: kinds.count(kind) for kind in kinds}
    assert len(kinds) >= 100 and all(counts[f"constant divided by {f}"] >= 15 for f in ("1.5", "2", "10"))
    assert counts["term dropped"] >= 5 and counts["condition removed"] >= 20 and counts["exponent changed"] >= 4


OUTCOMES = [
    Outcome("control/a", "true", "quick", 0, False, 10),
    Outcome("control/a@/10", "constant divided by 10", "quick", 0, True, 10),
    Outcome("control/a@/2", "constant divided by 2", "quick", 0, True, 10),
]


def test_what_is_enough():
    assert enough(OUTCOMES)
    assert not enough([replace(OUTCOMES[0], refuted=True), *OUTCOMES[1:]])
    assert not enough([OUTCOMES[0], replace(OUTCOMES[1], refuted=False), OUTCOMES[2]])
    many = OUTCOMES + [replace(OUTCOMES[2], claim=f"control/{n}@/2") for n in range(18)]
    assert enough([*many[:-2], *(replace(o, refuted=False) for o in many[-2:])])
    assert not enough([*many[:-3], *(replace(o, refuted=False) for o in many[-3:])])


def test_the_table_counts(small):
    names = ["control/young", "control/fedprox-one-step"]
    outcomes = list(measure(["quick"], range(2), names))
    assert [o.seed for o in outcomes if o.kind == "true"] == [0, 1, 0, 1]
    assert len(outcomes) == 4 + sum(len(ROWS[name].twins) for name in names)
    found = table(outcomes)
    assert list(found.columns[0].cells)[-1] == "true (claims x seeds)" and list(found.columns[1].cells)[-1] == "0 of 4"


def test_the_command(small, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(module, "ROWS", {row.claim.id: row for row in CONTROLS if row.claim.id == "control/young"})
    path = tmp_path / "power.json"
    assert main(["--budget", "quick", "--seeds", "1", "--workers", "1", "--out", str(path)]) == 0
    assert "false: constant divided by 10" in capsys.readouterr().out
    assert {o["kind"] for o in json.loads(path.read_text(encoding="utf-8"))} >= {"true", "constant divided by 2"}
    monkeypatch.setitem(BUDGETS, "quick", Budget(0, 48, 0, small_rows=1, small=0))
    assert main(["--budget", "quick", "--seeds", "1", "--workers", "1"]) == 1
    assert "missed: control/young@/3/2" in capsys.readouterr().out


def test_bad_input(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--seeds", "0"])
    assert stopped.value.code == 2 and "got 0" in capsys.readouterr().err
