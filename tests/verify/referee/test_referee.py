"""From a claim to its verdict: every kind of verdict, certificates, workers, settings."""

import json
import math
import sys
from dataclasses import fields, replace
from fractions import Fraction

import pytest
import sympy as sp

from bounds.controls.fedavg import ALL_STEPS, CONTROLS, TWINS, control
from bounds.language.claim import Claim, Condition, Variable
from bounds.language.operators import E, L, eta_l, iterations, norm2, t, x_sampled, x_star
from bounds.registry.claims import find_claim
from verify.exact.check import replay_alone as check
from verify.growth.check import check_file
from verify.referee import decide as module
from verify.referee.decide import Settings, decide
from verify.referee.referee import referee
from verify.report.explain import explain
from verify.report.html import write_report
from verify.report.results import MISSING
from verify.results.records import as_record, from_record
from verify.results.verdict import VERDICTS, Series, Verdict, ratio
from verify.search.budget import BUDGETS, Budget
from verify.search.search import Found

TRUE = {row.claim.id: row.claim for row in CONTROLS}
REAL = BUDGETS["quick"]
FEW = Settings(federations=False)
QUICK = ["fedalign/theorem-1", "fedalign/step-T3-as-printed", "fedalign/step-T19@difference",
         "fedalign/theorem-1@assumptions-as-printed", "fedalign/claim-without-replacement"]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """The quick budget cut down: what is tested here is what is made of the search's outcome."""
    monkeypatch.setitem(BUDGETS, "quick", Budget(8, 64, 8))


distance = E(norm2(x_sampled[iterations] - x_star))


def impossible_steps():
    impossible = Condition(eta_l[t], ">=", 2 / L, (ALL_STEPS,))
    return control("impossible", "run", Condition(distance, "<=", 0), conditions=(
        Condition(eta_l[t], "<=", 1 / L, (ALL_STEPS,)), impossible))


#: claim -> its verdict, and words of the evidence, or what is missing where it is undecided; only controls of which the
#: answer is known
ROWS = {
    "refuted": (TWINS["control/descent@/2"], "refuted", "counterexample: left side"),
    "refuted, numbers": (TWINS["control/young@/10"], "refuted", "certificate"),
    "certified": (replace(TRUE["control/means"], statement=Condition(0, "<=", TRUE["control/means"].statement.right)),
                  "certified", "every number"),
    "certified, on real numbers": (TRUE["control/means"], "certified", "every number"),
    "consistent, a run": (TRUE["control/smooth-gap"], "consistent", "no violation"),
    "steps that exclude each other": (impossible_steps(), "ill-posed", "nothing meets these conditions together"),
    "not measured": (replace(TRUE["control/smooth-gap"], statement=Condition(sp.Symbol("other"), "<=", 1)), "undecided",
                     "measurement"),
    "hidden constants": (replace(TRUE["control/means"], explicit=False), "undecided", "limit"),
    "undefined": (Claim("control/none", "none", "control", "run", None, derivation="none", undefined="nothing is printed"),
                  "undecided", "statement"),
}


@pytest.mark.parametrize("row", ROWS)
def test_verdicts(row):
    claim, kind, words = ROWS[row]
    verdict = decide(claim, FEW)
    assert (verdict.id, verdict.kind, verdict.verdict) == (claim.id, "control", kind)
    assert verdict.details["missing"] == words in MISSING if kind == "undecided" else words in verdict.evidence
    assert verdict.certificate is None and verdict.seed == 0 and verdict.seconds >= 0
    assert verdict.command == f"fedtheory verify {claim.id} --budget quick --seed 0"
    assert (verdict.ratio is None) == (kind in ("ill-posed", "undecided"))
    assert from_record(json.loads(json.dumps(as_record(verdict), allow_nan=False))) == verdict


def test_what_a_refutation_shows():
    verdict = decide(TWINS["control/convexity@/10"], FEW)
    data = verdict.details["instance"]
    left, right = (float(Fraction(data[side])) for side in ("left", "right"))
    assert check(data).accepted and verdict.details["instances"]["met"] > 0
    assert data["left"] in verdict.evidence and verdict.ratio == ratio(left, right, ">=") > 1


@pytest.mark.parametrize("claim_id", ["fedalign/theorem-1", "fedalign/step-eq47-as-printed"])
def test_certificates_are_written_and_accepted(claim_id, tmp_path):
    verdict = decide(find_claim(claim_id), Settings(out=tmp_path, federations=False))
    assert verdict.verdict == "refuted" and verdict.certificate == f"certificates/{claim_id.replace('/', '__')}.json"
    assert check_file(tmp_path / verdict.certificate).accepted
    assert json.loads((tmp_path / verdict.certificate).read_text(encoding="utf-8")) == verdict.details["instance"]


def test_given_federations_and_sampled_runs_count():
    verdict = decide(TRUE["control/smooth-gap"], Settings(seeds=4))
    assert verdict.verdict == "consistent" and "1 data federation" in verdict.evidence
    assert all(row["met"] and not row["violated"] for row in verdict.details["federations"])
    assert verdict.ratio >= max(row["ratio"] for row in verdict.details["federations"])


@pytest.fixture()
def proofs(monkeypatch):
    """Settings of the quick budget, with proofs for every function of a class."""
    monkeypatch.setitem(BUDGETS, "quick", replace(BUDGETS["quick"], proofs=True))
    return Settings(federations=False)


def test_a_claim_is_proven_for_every_function_of_its_class_at_some_numbers(proofs, tmp_path):
    claim = find_claim("classical/scaffold-drift-smooth")
    verdict = decide(claim, replace(proofs, out=tmp_path))
    assert verdict.verdict == "consistent" and verdict.evidence.startswith(f"proven for {verdict.details['scope']}")
    assert "every function that the hypotheses admit" in verdict.evidence and "settings; L = " in verdict.evidence
    assert verdict.ratio is not None and verdict.details["instances"]["met"] > 0
    assert check_file(tmp_path / verdict.certificate).accepted
    assert "fedtheory check" in explain(claim, verdict, {}, "quick", str(tmp_path))


def test_what_held_is_shown_beside_its_worst_case(proofs, tmp_path):
    claim = find_claim("classical/gd-value")
    verdict = decide(claim, proofs)
    shown = verdict.series[-1]
    assert shown.x == [1, 2, 3, 4] and shown.right == [1] * 4 and shown.exact == pytest.approx([1] * 4, rel=1e-5)
    assert all(0 < middle <= found <= exact * (1 + 1e-6)
               for middle, found, exact in zip(shown.middle, shown.left, shown.exact, strict=True))
    write_report([verdict], tmp_path, title="", command="", versions={})
    assert "exact worst case" in (tmp_path / "claims" / "classical__gd-value.html").read_text(encoding="utf-8")
    assert len([*(tmp_path / "figures").glob("classical__gd-value-*.svg")]) == 1


@pytest.mark.parametrize("planted", ["no solver", "refused", "above one"])
def test_without_an_accepted_proof_nothing_is_certified(proofs, planted, monkeypatch):
    if planted == "no solver":
        monkeypatch.setitem(sys.modules, "clarabel", None)
    elif planted == "refused":
        monkeypatch.setattr(module, "check", lambda data, claim: type("No", (), {"accepted": False, "reason": "planted"})())
    else:
        monkeypatch.setattr(module, "_ROUNDING", -1.0)
    verdict = decide(find_claim("classical/scaffold-drift-smooth"), proofs)
    assert verdict.verdict == "consistent" and verdict.certificate is None and "scope" not in verdict.details
    assert ("clarabel" in verdict.evidence) == (planted == "no solver")
    assert ("not proven" in verdict.details) == (planted == "refused")


# what must never happen --------------------------------------------------------------------------------------------------
def test_a_counterexample_that_the_checker_rejects_is_no_verdict(monkeypatch, caplog):
    monkeypatch.setattr(module, "check", lambda data, claim: type("No", (), {"accepted": False, "reason": "planted"})())
    verdict = decide(TWINS["control/descent@/2"], FEW)
    assert verdict.verdict == "undecided" and verdict.ratio is None and verdict.certificate is None
    assert (verdict.details["disagreement"], verdict.details["missing"]) == ("planted", "checker")
    assert "planted" in verdict.evidence
    assert [record.levelname for record in caplog.records] == ["ERROR"] and "control/descent@/2" in caplog.text


def test_a_number_named_like_a_word_of_the_language_is_said_to_be_one():
    share = sp.Symbol("share", positive=True)
    claim = control("word", "algebra", Condition(share, "<=", 1), variables=(Variable("share", "positive"),))
    verdict = decide(claim, FEW)
    assert verdict.verdict == "undecided" and "language (share; " in verdict.evidence


def test_a_violation_only_seen_in_floats_refutes_nothing(monkeypatch):
    monkeypatch.setattr(module, "search", lambda *_: Found(tried=10, met=10, ratio=1.5, unconfirmed=3))
    verdict = decide(TRUE["control/smooth-gap"], FEW)
    assert verdict.verdict == "consistent" and verdict.details["unconfirmed"] == 3


def test_a_violation_on_real_data_refutes_nothing():
    """float64 sees it, no exact replay does: only the search's own counterexample would refute."""
    far = E(norm2(x_sampled[iterations] - x_star))
    true = TRUE["control/smooth-gap"]
    false = replace(true, statement=Condition(true.statement.left, "<=", far / 10**9))
    nothing = Found(tried=10, met=10, ratio=0.5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "search", lambda *_: nothing)
        verdict = decide(false, Settings(seeds=2))
    assert verdict.verdict == "undecided" and verdict.details["missing"] == "replay"
    assert verdict.certificate is None


# many claims -------------------------------------------------------------------------------------------------------------
def _comparable(verdict):
    return replace(verdict, seconds=0.0)


def test_workers_and_order_do_not_matter():
    """In processes of their own, where the budget is the real one: as alone, whatever the order."""
    claims = [find_claim(i) for i in QUICK]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BUDGETS, "quick", REAL)
        alone = {v.id: _comparable(v) for v in referee(claims, workers=1, federations=False)}
        together = {v.id: _comparable(v) for v in referee(claims[::-1], workers=2, federations=False)}
    assert list(alone) == QUICK and alone == together


def test_one_worker_keeps_the_order_and_the_seed():
    claims = [find_claim(i) for i in QUICK]
    first, again = ([_comparable(v) for v in referee(claims, workers=1, federations=False, seed=5)] for _ in range(2))
    backward = [_comparable(v) for v in referee(claims[::-1], workers=1, federations=False, seed=5)]
    assert [v.id for v in first] == QUICK and first == again == backward[::-1]
    assert {v.seed for v in first} == {5} and all(v.verdict in VERDICTS for v in first)


def test_nothing_to_judge():
    assert list(referee([])) == []


# settings and verdicts ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("wrong, words", [
    ({"budget": "endless"}, "unknown budget 'endless'; allowed: quick, standard, thorough"),
    ({"seeds": 1}, "seeds .* 2; got 1"),
])
def test_wrong_settings(wrong, words):
    with pytest.raises(ValueError, match=words):
        Settings(**wrong)
    with pytest.raises(ValueError, match=words):
        list(referee([TRUE["control/means"]], **wrong))


def test_a_device_that_is_not_there_is_one_clear_error():
    with pytest.raises(ValueError, match="device 'abacus'"):
        decide(TRUE["control/means"], Settings(device="abacus"))


def test_verdicts_are_of_the_table():
    with pytest.raises(ValueError, match="unknown verdict 'true'; allowed: refuted, ill-posed"):
        Verdict("x", "", "control", "true", None, "")
    verdict = Verdict("x", "", "control", "refuted", math.inf, "", series=(Series("", "", "", [1], [1.0], [0.0]),))
    assert verdict.series[0].worst_ratio == math.inf
    asked = "id reading kind verdict ratio evidence certificate command seed seconds"
    assert [field.name for field in fields(Verdict)][:10] == asked.split()


@pytest.mark.parametrize("left, right, relation, expected", [
    (1, 2, "<=", 0.5), (-1, 2, "<=", 0), (0, 0, "<=", 0), (1, 0, "<=", math.inf), (1, -3, "<=", math.inf),
    (2, 1, ">=", 0.5), (2, -1, ">=", 0), (0, 1, ">=", math.inf), (1, 4, ">=", 4),
    (2, 2, "==", 1), (0, 0, "==", 1), (1, 4, "==", 4), (4, 1, "==", 4), (-2, -4, "==", 2), (1, 0, "==", math.inf),
    (1, -1, "==", math.inf), (0, -0.5, "<=", math.inf), (-1, -3, "<=", math.inf), (-3, -1, "<=", 0),
    (-3, -1, ">=", math.inf),
])
def test_looseness(left, right, relation, expected):
    assert ratio(left, right, relation) == expected


@pytest.mark.parametrize("value, text", [
    (Fraction(1, 3), "1/3"), (Fraction(10**12 + 1, 10**9), "1000000000001/1000000000"), (Fraction(2**90, 3**50), "1724.4"),
    (Fraction(3**20_000, 2**31_700), "0.59461"), (Fraction(15133, 13362435216), "1.1325e-06"),
])
def test_sides_are_told_in_few_digits_however_long_their_fractions(value, text):
    assert module.short_number(value) == text
