"""Counterexamples run again in float64, verdicts in plain words, and the lists beside the claims' pages."""

import json
import math
from dataclasses import replace

import pytest

from bounds.controls.fedavg import CONTROLS, TWINS
from bounds.registry.claims import find_claim
from tests.messages import contains_in_order
from verify.exact.check import read
from verify.exact.replay import instance_of, replay, series_of, tight_hypotheses
from verify.referee.decide import Settings, decide
from verify.report import results
from verify.report.explain import explain
from verify.report.html import write_report
from verify.report.sentences import capitalised
from verify.results.store import Store
from verify.results.verdict import VERDICTS, Verdict
from verify.search.budget import BUDGETS, Budget

TRUE = {row.claim.id: row.claim for row in CONTROLS}
FEW = Budget(8, 64, 8)
ABOUT = {"title": "A report", "command": "fedtheory verify", "versions": {}}


def refuted(claim):
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(BUDGETS, "quick", FEW)
        verdict = decide(claim, Settings(federations=False))
    assert verdict.verdict == "refuted"
    return verdict


# replay ------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module", params=["control/descent@/2", "control/young@/10", "control/convexity@/10"])
def counterexample(request):
    claim = TWINS[request.param]
    return claim, refuted(claim)


def test_float64_runs_agree_with_exact_certificates(counterexample):
    claim, verdict = counterexample
    again = replay(verdict.details["instance"], claim)
    assert again.agrees and again.left == pytest.approx(again.exact_left) and again.right == pytest.approx(again.exact_right)


def test_a_changed_certificate_does_not_agree(counterexample):
    claim, verdict = counterexample
    data = json.loads(json.dumps(verdict.details["instance"])) | {"left": "123456", "right": "1"}
    assert not replay(data, claim).agrees


def test_both_sides_are_drawn_over_rounds():
    claim = find_claim("fedalign/theorem-1")
    (series,) = refuted(claim).series
    assert series.x_label == "rounds" and series.x == [float(r) for r in range(1, 13)]
    assert all(left > right for left, right in zip(series.left, series.right, strict=True))


def test_the_instance_is_the_certificates_own():
    data = refuted(find_claim("fedalign/theorem-1")).details["instance"]
    shape, params = instance_of(data)
    assert (shape.clients, shape.rounds, shape.local_steps) == tuple(
        data["sizes"][n] for n in ("clients", "rounds", "local_steps"))
    assert [str(v) for v in params["start_offset"][0]] == data["instance"]["start_offset"]


@pytest.mark.parametrize("claim_id, drawn", [
    ("afedpd/eq-9", 0), ("afedpd/rec-pi@at-most", 0),
    pytest.param("afedpd/lemma-5@theta-T", 3, marks=pytest.mark.slow)])
def test_coupled_runs_on_samples_are_run_again_and_drawn(claim_id, drawn):
    """Losses bounded or not, with any number of pieces; both runs in float64 give the sides of the certificate."""
    claim = find_claim(claim_id)
    data = decide(claim, Settings(budget="standard", federations=False)).details["instance"]
    again = replay(data, claim)
    assert again.agrees and again.left > again.right
    assert sum(len(series.x) for series in again.series) == drawn
    data["left"], data["right"] = data["right"], data["left"]
    assert not replay(data, claim).agrees


def test_what_cannot_be_run_again_is_not_drawn():
    claim = TWINS["control/descent@/2"]
    data = refuted(claim).details["instance"] | {"instance": {}}
    assert series_of(data, claim) == () and tight_hypotheses(data, claim) == []
    with pytest.raises(ValueError, match=r"instance .*control/descent@/2 .*atoms"):
        replay(data, claim)


@pytest.mark.parametrize("planted, status, words", [(False, 0, "agrees"), (True, 1, "NOT agree")])
def test_replay_of_a_stored_certificate(run, tmp_path, planted, status, words, monkeypatch):
    monkeypatch.setitem(BUDGETS, "quick", FEW)
    verdict = decide(find_claim("fedalign/theorem-1"), Settings(federations=False, out=tmp_path))
    path = tmp_path / verdict.certificate
    if planted:
        path.write_text(json.dumps(read(path) | {"left": "5"}))
    found, out, err = run("replay", path, "--out", tmp_path / "drawn")
    assert (found, err) == (status, "") and words in out
    assert ("checker: accepted" in out) == (not planted) and (tmp_path / "drawn.svg").is_file()


def test_replay_of_something_else(run, tmp_path):
    (tmp_path / "x.json").write_text("{}")
    assert run("replay", tmp_path / "x.json")[0] == 2


# explain -----------------------------------------------------------------------------------------------------------
def verdict_of(claim, kind, evidence, ratio=None, **details):
    return Verdict(claim.id, claim.reading, claim.kind, kind, ratio, evidence, details=details, command="fedtheory verify x")


CLAIM = TRUE["control/means"]
ROWS = {
    "refuted": (verdict_of(CLAIM, "refuted", "counterexample: left 2, right 1", 2.0),
                ["`fedtheory repair control/means` looks for a statement that survives."]),
    "ill-posed": (verdict_of(CLAIM, "ill-posed", "no function does", conflict=["assumption-1", "mu > 0"]),
                  ["  assumption-1\n  μ > 0"]),
    "certified": (verdict_of(CLAIM, "certified", "symbolic identity", 1.0), ["Symbolic identity."]),
    "consistent": (verdict_of(CLAIM, "consistent", "no violation", 0.25, instances={"tried": 9, "met": 4}),
                   ["4 of 9 instances", " 0.25 times ", "--budget standard"]),
    "met with equality": (verdict_of(CLAIM, "consistent", "no violation", 1.0), ["equal"]),
    "beyond one": (verdict_of(CLAIM, "consistent", "no violation", math.inf), ["was ∞"]),
    "undecided": (verdict_of(CLAIM, "undecided", "not measured yet: no checker", missing="instance"), ["federations"]),
    "stopped": (verdict_of(CLAIM, "undecided", "a worker died", stopped="a worker died"), ["`fedtheory verify x`"]),
    "unbound": (verdict_of(CLAIM, "undecided", "none met the hypotheses", missing="measurement"), ["measures"]),
    "not replayed": (verdict_of(CLAIM, "undecided", "not measured yet: y", missing="checker"), ["replay"]),
    "without the field": (verdict_of(CLAIM, "undecided", "none met the hypotheses"), []),
}


@pytest.mark.parametrize("row", ROWS)
def test_every_kind_of_verdict_is_explained(row):
    verdict, words = ROWS[row]
    text = explain(CLAIM, verdict, {}, "quick", "report")
    says, because, *others = text.split("\n\n")
    assert says.startswith(f"{CLAIM.id} (") and verdict.verdict in because and verdict.evidence[1:] in because and others
    assert [word for word in words if not contains_in_order(text, word)] == []
    assert "--budget" not in explain(CLAIM, verdict, {}, "thorough", "report")


def test_hidden_constants_and_missing_formulas_are_explained():
    hidden = replace(CLAIM, explicit=False)
    assert "O(.)" in explain(hidden, verdict_of(hidden, "undecided", "hides"), {}, "quick", "r")
    bare = replace(CLAIM, number="none", source="mine.toml", assumptions=(), conditions=())
    text = explain(bare, verdict_of(bare, "certified", "symbolic identity"), {}, "quick", "r")
    assert text.startswith(f'{bare.id} ({bare.kind}, mine.toml) says, without hypotheses, read as "')
    empty = replace(CLAIM, statement=None, undefined="nothing is printed")
    assert "formula: nothing is printed" in explain(empty, ROWS["ill-posed"][0], {}, "quick", "r")


def test_borders_and_other_readings_are_named():
    claim = find_claim("fedalign/theorem-1")
    text = explain(claim, refuted(claim), {"fedalign/theorem-1@x": ("as x", "consistent"),
                                           "fedalign/theorem-1@y": ("as y", None)}, "quick", "report")
    assert "fedalign/theorem-1@x: consistent (another verdict); as x" in text
    assert "1 more is not decided here yet" in text


def test_explain_reads_the_report(run, tmp_path):
    claim = find_claim("fedalign/theorem-1")
    settings = {"budget": "thorough", "seeds": 4, "seed": 0, "device": "cpu"}
    with Store(tmp_path, settings) as kept:
        kept.add_command("fedtheory verify")
        kept.add(verdict_of(claim, "consistent", "planted words", 0.5), "mark")
    status, out, err = run("explain", claim.id, "--out", tmp_path)
    assert (status, err) == (0, "") and "Planted words." in out and ", or a proof" in out
    assert "13 other readings of the statement are not decided here yet" in out
    assert run("explain", "fedalign/theorem-11", "--out", tmp_path)[0] == 2


# letters and figures -----------------------------------------------------------------------------------------------
SHOWN = [verdict_of(CLAIM, kind, f"evidence {n}", ratio)
         for n, (kind, ratio) in enumerate(zip(VERDICTS, (math.inf, None, 1.0, 0.5, None), strict=True))]
SHOWN = [replace(verdict, id=f"demo/lemma-{n}", kind="lemma") for n, verdict in enumerate(SHOWN)] + [
    replace(SHOWN[3], id="other/lemma-9", ratio=0.75)]


def test_a_letter_names_what_fails_and_goes_with_it(tmp_path):
    write_report(SHOWN, tmp_path, **ABOUT, claims={})
    for ending in ("html", "md", "tex"):
        letter = (tmp_path / "errata" / f"demo.{ending}").read_text()
        assert letter.index("vidence 0") < letter.index("vidence 1") and "vidence 2" not in letter
        assert not (tmp_path / "errata" / f"other.{ending}").exists()
    write_report(SHOWN[-1:], tmp_path, **ABOUT, claims={})
    assert list((tmp_path / "errata").iterdir()) == [] and not (tmp_path / "papers" / "demo.html").exists()


def test_a_report_of_many_claims_draws_what_is_wrong_and_what_is_tight(monkeypatch):
    monkeypatch.setattr(results, "MANY", 3)
    monkeypatch.setattr(results, "TIGHTEST", 1)
    series = refuted(find_claim("fedalign/theorem-1")).series
    drawn = results.ids_with_figures([replace(verdict, series=series) for verdict in SHOWN])
    assert drawn == {"demo/lemma-0", "demo/lemma-1", "demo/lemma-2"}


@pytest.mark.parametrize(("text", "sentence"), [
    ("no violation", "No violation"), ("a step", "A step"), ("μ_k ≥ μ holds", "μ_k ≥ μ holds"), ("mu_k is", "mu_k is"),
    ("x is 1", "x is 1"), ("norm2(x) is", "norm2(x) is"), ("Lemma 1", "Lemma 1"), ("", "")])
def test_a_sentence_begins_with_a_capital_unless_it_is_a_symbol(text, sentence):
    assert capitalised(text) == sentence


@pytest.mark.slow
def test_what_explain_finds_is_kept_and_shown_on_the_page(tmp_path, run):
    """The sum of the bias term begins too late; the proof breaks where it is unrolled."""
    name, step = "fedalign/theorem-1", "fedalign/step-T17"
    assert run("verify", name, step, "--out", tmp_path)[0] == 1
    page = tmp_path / "claims" / "fedalign__theorem-1.html"
    before = page.read_text(encoding="utf-8")
    assert "What it needs" not in before
    assert f'<a href="../claims/{step.replace("/", "__")}.html">the step (32)-(34)' in before
    said = run("explain", name, "--out", tmp_path)[1]
    first = "i from 0 to T − 1 in place of i from 1 to T − 1 in ρ_T"
    assert f"1. {first}: consistent" in said
    assert "The proof breaks at the step (32)-(34), which a counterexample of its own refutes" in said
    assert run("verify", name, "--out", tmp_path)[0] == 1
    after = page.read_text(encoding="utf-8")
    assert "or without free clients." in after and f"<li>{first} " in after
    letter = (tmp_path / "errata" / "fedalign.md").read_text(encoding="utf-8")
    assert "the proof breaks at the step \\(32\\)-\\(34\\)" in letter or "the proof breaks at the step (32)-(34)" in letter


def test_hypotheses_in_conflict_are_written_out():
    """The two of FedALIGN's assumption 4 on the whole space and strong convexity, each with its formula."""
    claim = find_claim("fedalign/theorem-1@G-everywhere")
    text = explain(claim, decide(claim, Settings(federations=False)), {}, "quick", "report")
    assert "‖∇f(u)‖² ≤ G²\n  every client is mu-strongly convex: μ_k ≥ μ" in text
    assert "μ_k ≥ μ makes losses strongly convex" in text
