"""The step at which a proof breaks, found on the counterexample of what it should prove."""

import pytest

from bounds.registry.claims import find_claim
from tests.not_empty import not_empty
from verify.claims.related import conclusions_of, repaired_forms
from verify.proofs.steps_there import proof_order
from verify.referee.decide import Settings, decide
from verify.report.broken_step import broken_step

#: refuted claims, the first step of the proof that fails on their counterexample, or the first one that is refuted by itself
BROKEN = [
    ("fedluar/lemma-3.1", "fedluar/lemma-A.2-shift", ""),
    ("afedpd/lemma-3@inactive-theta", "afedpd/lemma-1@inactive-theta", ""),
    ("fedalign/theorem-1", "", "fedalign/step-T17"),
]


@pytest.fixture(scope="module", params=BROKEN, ids=lambda row: row[0])
def broken(request):
    name, failing, alone = request.param
    return find_claim(name), decide(find_claim(name), Settings(federations=False)), failing, alone


def test_the_first_step_that_fails_is_named(broken):
    _, verdict, failing, alone = broken
    steps = verdict.details["steps"]
    assert steps.get("failing", "") == failing and (alone or None) in (None, *steps["unmeasured"])
    found = broken_step(steps, lambda step: step == alone)
    assert found.step.id == failing + alone and found.there == bool(failing)
    how = "fails on this counterexample too, with the left side" if failing else "a counterexample of its own refutes"
    assert how in found.words
    if failing:  # it has a counterexample of its own
        assert decide(found.step, Settings(federations=False)).verdict == "refuted"


def test_steps_stand_before_what_rests_on_them(broken):
    order = [step.id for step in proof_order(broken[0])]
    assert len(order) == len(set(order)) and broken[0].id not in order
    for step in not_empty(order):
        before = order[: order.index(step)]
        assert all(one.block in {other.partition("@")[0] for other in before} for one in proof_order(find_claim(step)))


def test_steps_about_something_else_are_not_measured():
    """Numbers of a run are no numbers of a step that is about numbers alone, whose ranges they may leave."""
    claim = find_claim("fedmoswa/eq-75@second")
    verdict = decide(claim, Settings(federations=False))
    assert verdict.verdict == "refuted" and "fedmoswa/eq-76@second" in verdict.details["steps"]["unmeasured"]


def test_what_rests_on_a_step_is_found():
    names = {one.id for one in conclusions_of(find_claim("fedalign/step-T17"))}
    assert {"fedalign/theorem-1", "fedalign/theorem-A9"} <= names and "fedalign/step-T17" not in names
    own = {one.id for one in conclusions_of(find_claim("afedpd/one-step-theorem-1@exact"))}
    assert "afedpd/telescoped@exact" in own and "afedpd/telescoped" not in own  # in its own reading
    assert not conclusions_of(find_claim("fedalign/theorem-1"))


def test_a_repaired_form_is_found_by_its_number():
    assert [c.id for c in repaired_forms(find_claim("fedalign/theorem-1@G-everywhere"))] == ["fedalign/derived-theorem-1"]
    assert [c.id for c in repaired_forms(find_claim("fedalign/step-T17"))] == ["fedalign/derived-recursion"]
    assert not any(repaired_forms(find_claim(f"fedalign/{name}")) for name in ("derived-theorem-1", "lemma-A6"))
