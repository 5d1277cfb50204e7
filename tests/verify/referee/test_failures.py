"""An unexpected error in a stage costs what that stage would have found, and nothing else."""

import pytest

from bounds.controls.fedavg import CONTROLS
from bounds.registry.claims import find_claim
from verify.referee import decide as module
from verify.referee.decide import Settings, decide
from verify.results.store import is_finished
from verify.search import search as search_module

TRUE = CONTROLS[1].claim
FALSE = next(iter(CONTROLS[1].twins.values()))
QUICK = Settings(federations=False)


@pytest.fixture
def breaks(monkeypatch):
    """``breaks(module, name)``: that function raises from now on; errors are kept, as they are outside of tests."""
    monkeypatch.delenv("FEDTHEORY_STRICT")

    def broken(*_, **__):
        raise RecursionError("planted")

    return lambda where, name: monkeypatch.setattr(where, name, broken)


def after_batches(claim, shape, params, backend, _judged=search_module.evaluate_first):
    """Judges five batches, and raises at the next one."""
    after_batches.left -= 1
    if after_batches.left < 0:
        raise RecursionError("planted")
    return _judged(claim, shape, params, backend)


def test_an_error_in_a_late_stage_keeps_what_the_search_found(breaks):
    sound = decide(TRUE, QUICK)
    breaks(module, "number_certificate")
    found = decide(TRUE, QUICK)
    assert sound.verdict in ("consistent", "certified") and found.verdict == "consistent"
    assert found.details["instances"]["met"] >= sound.details["instances"]["met"] > 0
    assert found.evidence.startswith(f"no violation in {found.details['instances']['met']} instances")
    assert found.evidence.endswith("the stage of proofs of formulas failed: RecursionError: planted")
    (failed,) = found.details["failed"]
    assert "broken" in failed["where"] and is_finished(found)


def test_an_error_in_a_batch_of_the_search_keeps_the_other_batches(breaks, monkeypatch):
    breaks(module, "number_certificate")
    after_batches.left = 5
    monkeypatch.setattr(search_module, "evaluate_first", after_batches)
    found = decide(TRUE, QUICK)
    assert found.verdict == "consistent" and found.details["instances"]["met"] > 0
    stages = [failed["stage"] for failed in found.details["failed"]]
    assert stages[0] == "small instances" and "random instances" in stages


def test_an_error_before_any_instance_is_no_evidence(breaks):
    breaks(search_module, "evaluate_first")
    found = decide(TRUE, QUICK)
    assert found.verdict == "undecided" and "the stage of search failed: RecursionError: planted" in found.evidence
    assert not is_finished(found)


@pytest.mark.parametrize("name", ["fedmoswa/theorem-5.2-strongly-convex",
                                  pytest.param("fadamgc/theorem-5.2", marks=pytest.mark.slow)])
def test_an_error_in_the_growth_of_a_claim_with_hidden_constants_is_no_error_of_other_stages(breaks, name):
    """No other stage can judge such a claim; one of them tried to draw the hidden constant."""
    breaks(module, "by_witness")
    found = decide(find_claim(name), QUICK)
    assert found.verdict == "undecided" and not is_finished(found)
    assert found.evidence.startswith("no stage reached a verdict; the stage of growth failed: RecursionError: planted")
    assert "ValueError" not in found.evidence


@pytest.mark.parametrize("where, name, lost", [
    (search_module, "shrink", "making the counterexample smaller"),
    (module, "series_of", "drawing the counterexample"),
    (module, "describe_instance", "describing the counterexample"),
])
def test_an_error_after_a_violation_keeps_the_refutation(breaks, where, name, lost):
    assert decide(FALSE, QUICK).verdict == "refuted"
    breaks(where, name)
    found = decide(FALSE, QUICK)
    assert found.verdict == "refuted" and f"the stage of {lost} failed" in found.evidence


def test_an_error_of_the_checker_leaves_the_violation_in_the_evidence(breaks):
    breaks(module, "check")
    found = decide(FALSE, QUICK)
    assert found.verdict == "undecided" and found.details["missing"] == "checker" and not is_finished(found)
    assert found.evidence.startswith("exact arithmetic finds left side") and "the checker failed" in found.evidence


def test_tests_see_errors(monkeypatch):
    def broken(claim):
        raise RecursionError("planted")

    monkeypatch.setattr(module, "number_certificate", broken)
    with pytest.raises(RecursionError, match="planted"):
        decide(TRUE, QUICK)


def test_what_is_found_so_far_is_told_after_every_stage_that_leaves_the_claim_open():
    told = []
    found = decide(TRUE, Settings(federations=False), told.append)
    met = [int(text.partition(" in ")[2].partition(" ")[0]) for text in told]
    assert met and met == sorted(met) and met[-1] == found.details["instances"]["met"]


def test_every_stage_has_a_name():
    assert {*module.STAGES, *module.OF_EXISTENCE} == {*module._NAMES}
