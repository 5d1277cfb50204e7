"""Edited results with their checksums made anew: none is resumed or reported as current unless its certificate shows it."""

import json
import shutil

import pytest

from bounds.registry.claims import find_claim, forget_files
from bounds.registry.user_claims import PATHS
from tests.messages import contains_in_order
from verify.cli import main as cli
from verify.exact.check import proof_scope
from verify.referee.stored import objection, replayed
from verify.results.files import file_name, read_json, write_json
from verify.results.fingerprint import digest
from verify.results.records import load_verdicts
from verify.results.store import FOLDER, KEPT
from verify.results.verdict import Verdict
from verify.worst.proven import TEMPLATES
from verify.worst.worst_case import worst_case

CLAIMS = """
[[claim]]
id = "mine/false"
statement = "norm2(x_round[rounds] - x_star) <= norm2(x_round[0] - x_star)/1000"

[[claim]]
id = "mine/also-false"
statement = "norm2(x_round[rounds] - x_star) <= norm2(x_round[0] - x_star)/2000"

[[claim]]
id = "mine/true"
setting = "algebra"
variables = {a = "positive", b = "positive"}
statement = "2*a*b <= a**2 + b**2"

[[claim]]
id = "mine/impossible"
setting = "algebra"
variables = {a = "positive", b = "positive"}
conditions = ["a >= 2*b", "b >= a"]
statement = "a <= b"

[[claim]]
id = "mine/gap"
setting = "algebra"
variables = {n = "integer"}
conditions = ["n >= 3.2", "n <= 3.8"]
statement = "n <= 3"

[[claim]]
id = "mine/open"
setting = "algebra"
variables = {a = "positive"}
statement = "69/100 <= a**a"
"""
HONEST = {"mine/false": "refuted", "mine/also-false": "refuted", "mine/true": "certified", "mine/impossible": "ill-posed",
          "mine/gap": "ill-posed", "mine/open": "consistent"}


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """A report of six claims, as a run leaves it."""
    folder = tmp_path_factory.mktemp("stored")
    (folder / "mine.toml").write_text(CLAIMS, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PATHS, "")
        assert cli.main(["verify", str(folder / "mine.toml"), "--out", str(folder / "report")]) == 1
    forget_files()
    assert {v.id: v.verdict for v in load_verdicts(folder / "report")} == HONEST
    return folder


@pytest.fixture
def report(honest, tmp_path, monkeypatch):
    shutil.copytree(honest, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv(PATHS, str(tmp_path / "mine.toml"))
    forget_files()
    return tmp_path / "report"


def forge(out, claim_id, change):
    """Edit a stored result, make its checksum anew, and write what it says into ``verdicts.json``."""
    path = out / FOLDER / f"{file_name(claim_id)}.json"
    data = read_json(path, "result")
    change(data)
    parts = [data[name] for name in ("fingerprint", "record", "certificate") if name in data]
    write_json(path, data | {"sha256": digest(parts)})
    records = read_json(out / "verdicts.json", "")
    write_json(out / "verdicts.json", [data["record"] if record["id"] == claim_id else record for record in records])
    if "certificate" in data:
        write_json(out / data["record"]["certificate"], data["certificate"])


def says(**fields):
    return lambda data: data["record"].update(fields)


def without_certificate(data):
    data.pop("certificate")
    data["record"]["certificate"] = None


def another(data):
    """A counterexample of another claim, under the name of this one."""
    data["certificate"]["statement"]["right"] = ["*", "1/2000", ["norm2", ["-", ["x_round", 0], "x_star"]]]


def worse(data):
    data["certificate"]["left"] = "12345"


def other_instance(data):
    data["record"]["details"]["instance"]["left"] = "12345"


def certificate_of(name, verdict="refuted"):
    def change(data, out):
        other = read_json(out / FOLDER / f"{file_name(name)}.json", "")
        data["certificate"] = other["certificate"]
        data["record"] |= {"verdict": verdict, "ratio": other["record"]["ratio"],
                           "certificate": f"certificates/{file_name(data['record']['id'])}.json"}
        data["record"]["details"] = {"instance": other["certificate"]}
    return change


FORGED = {
    "a counterexample said to be a proof": ("mine/false", says(verdict="certified"), "cannot show that it is certified"),
    "a counterexample that decides nothing": ("mine/false", says(verdict="consistent"), "cannot show that it is consistent"),
    "a refutation without a certificate": ("mine/false", without_certificate, "no certificate shows it"),
    "a certificate that states something else": ("mine/false", another, "rejected: …statement"),
    "a certificate with another side": ("mine/false", worse, "rejected: "),
    "another ratio": ("mine/false", says(ratio=3.5), "its ratio is 3.5"),
    "another instance on the page": ("mine/false", other_instance, "another instance"),
    "the certificate of another claim": ("mine/open", certificate_of("mine/false"), "rejected: …mine/open"),
    "the certificate of a neighbour": ("mine/also-false", certificate_of("mine/false"), "rejected: …mine/also-false"),
    "a refutation of what is true": ("mine/true", says(verdict="refuted"), "cannot show that it is refuted"),
    "a proof of what has none": ("mine/open", says(verdict="certified"), "no certificate shows it"),
    "a conflict of what has none": ("mine/open", says(verdict="ill-posed"), "no certificate shows it"),
    "another proof": ("mine/true", says(evidence="as one sees"), "names other numbers"),
    "another conflict": ("mine/impossible", says(evidence="as one sees"), "another conflict"),
    "another conflict, beside solvers": ("mine/gap", says(evidence="as one sees"), "another conflict"),
    "a conflict said to be a proof": ("mine/impossible", says(verdict="certified"), "cannot show that it is certified"),
    "the conflict of another claim": ("mine/open", certificate_of("mine/impossible", "ill-posed"), "rejected: …mine/open"),
}


def changed(report, row):
    claim_id, change, reason = FORGED[row]
    before = read_json(report / "verdicts.json", "")
    forge(report, claim_id, lambda data: change(data, report) if change.__code__.co_argcount == 2 else change(data))
    assert read_json(report / "verdicts.json", "") != before or row.startswith("a certificate with") or "states" in row
    return claim_id, reason


@pytest.mark.parametrize("row", FORGED)
def test_an_edited_result_is_decided_again(run, report, row):
    claim_id, reason = changed(report, row)
    status, _, error = run("verify", report.parent / "mine.toml", "--out", report)
    assert status == 1 and contains_in_order(error, f"{claim_id}: …{reason}") and "decided again" in error, error
    found = {v.id: v for v in load_verdicts(report)}
    assert {i: v.verdict for i, v in found.items()} == HONEST and not any(KEPT in v.details for v in found.values())
    assert run("verify", report.parent / "mine.toml", "--out", report)[2].count("again") == 0


@pytest.mark.parametrize("row", FORGED)
def test_an_edited_result_is_not_reported_as_current(run, report, row):
    claim_id, reason = changed(report, row)
    found = {v.id: v for v in replayed(load_verdicts(report), report)}
    assert [i for i, v in found.items() if KEPT in v.details] == [claim_id]
    assert contains_in_order(found[claim_id].details[KEPT], reason), found[claim_id].details[KEPT]


def test_a_proof_at_some_numbers_certifies_nothing_and_says_for_which():
    claim = find_claim("classical/gd-convex")
    data = json.loads(json.dumps(worst_case(claim, {}, TEMPLATES[1], factors=False).certificate))
    scope, complete = proof_scope(data)
    assert not complete

    def reason_of(**fields):
        known = {"verdict": "consistent", "evidence": f"proven for {scope}; and more", "details": {"scope": scope}}
        return objection(Verdict(claim.id, "", "theorem", ratio=0.5, **known | fields), claim, data)

    assert reason_of() == ""
    assert contains_in_order(reason_of(verdict="certified"), "its certificate proves it for …alone")
    wider = f"every number of rounds; {scope}"
    for fields in ({"details": {"scope": wider}}, {"evidence": "proven for all"}, {"details": {}}):
        assert contains_in_order(reason_of(**fields), "names other numbers …"), fields
    assert contains_in_order(reason_of(verdict="refuted"), "cannot show that it is refuted")


def test_pages_and_words_say_so(run, report):
    claim_id, reason = changed(report, "another ratio")
    assert run("report", report)[0] == 0
    assert reason in (report / "index.html").read_text(encoding="utf-8")
    assert reason in (report / "claims" / f"{file_name(claim_id)}.html").read_text(encoding="utf-8")
    assert reason in run("explain", claim_id, "--out", report)[1]
    assert KEPT not in read_json(report / "verdicts.json", "")[2].get("details", {})


def test_a_list_of_verdicts_says_what_the_results_beside_it_say(report):
    records = read_json(report / "verdicts.json", "")
    records[-1]["verdict"] = "undecided"
    write_json(report / "verdicts.json", records)
    (*_, last) = replayed(load_verdicts(report), report)
    assert contains_in_order(last.details[KEPT], "verdict …result beside it")


def test_a_run_on_other_claims_marks_what_is_not_shown(run, report):
    changed(report, "another ratio")
    _, _, error = run("verify", f"{report.parent / 'mine.toml'}:mine/true", "--out", report)
    assert contains_in_order(error, "mine/false: …ratio is 3.5")
    found = {v.id: KEPT in v.details for v in load_verdicts(report)}
    assert found == {name: name == "mine/false" for name in HONEST}


def test_several_processes_say_the_same(report, monkeypatch):
    changed(report, "another ratio")
    alone = replayed(load_verdicts(report), report)
    monkeypatch.setattr("verify.referee.stored._FEWEST", 1)
    assert replayed(load_verdicts(report), report, workers=2) == alone
    assert json.dumps([v.details.get(KEPT, "") for v in alone]).count("ratio") == 1
