"""A later run into a directory damages nothing there: results of other claims, of other versions, and certificates."""

import json
import re

import pytest

from bounds.registry.claims import all_claims, forget_files
from bounds.registry.user_claims import PATHS
from verify.results import store
from verify.results.files import file_name, read_json, write_json
from verify.results.records import load_verdicts
from verify.results.store import EARLIER, FOLDER, KEPT, Store, stored_verdict
from verify.results.verdict import Verdict

A, B, C = list(all_claims())[:3]
MINE = """
[[claim]]
id = "mine/theorem-1"
statement = "norm2(x_round[rounds] - x_star) <= {}*norm2(x_round[0] - x_star)"
"""


@pytest.fixture(autouse=True)
def nothing_else_known(monkeypatch):
    monkeypatch.setenv(PATHS, "")
    yield
    forget_files()


@pytest.fixture
def world(monkeypatch):
    """Replaces the code and the referee: every claim is refuted, with a certificate that names ``world.version``."""

    class World:
        version, stopped = "old", False

    world = World()

    def referee(claims, out, **_):
        for claim in claims:
            path = f"certificates/{file_name(claim.id)}.json"
            write_json(out / path, {"claim": claim.id, "version": world.version})
            details = {"stopped": "planted"} if world.stopped else {}
            yield Verdict(claim.id, claim.reading, claim.kind, "refuted", 2.0, f"by {world.version}", path, details=details)

    monkeypatch.setattr("verify.results.fingerprint.code_version", lambda: world.version)
    monkeypatch.setattr("verify.referee.referee.referee", referee)
    monkeypatch.setattr("verify.referee.stored.objection", lambda *_: "")  # what these certificates show is not looked at
    return world


def verdicts(out):
    return {verdict.id: verdict for verdict in load_verdicts(out)}


def content(out, *folders):
    paths = [path for folder in folders for path in (out / folder).rglob("*.json") if path.name != "about.json"]
    return {path: path.read_bytes() for path in paths}


def certificate(out, verdict):
    return read_json(out / verdict.certificate, "certificate")


def test_results_of_another_version_are_kept_and_marked(run, tmp_path, world):
    run("verify", A, B, "--out", tmp_path)
    before = content(tmp_path, FOLDER, "certificates")
    world.version = "new"
    _, _, err = run("verify", C, "--out", tmp_path)
    found = verdicts(tmp_path)
    assert list(found) == [A, B, C] and [KEPT in v.details for v in found.values()] == [True, True, False]
    assert [v.evidence for v in found.values()] == ["by old", "by old", "by new"]
    assert "note: 2 results " in err
    assert {path: path.read_bytes() for path in before} == before
    sentence = found[A].details[KEPT]
    for page, times in (("index.html", 2), (f"claims/{file_name(A)}.html", 1), (f"claims/{file_name(C)}.html", 0)):
        assert (tmp_path / page).read_text(encoding="utf-8").count(sentence) == times
    assert re.search(rf"<p>2 [a-z ]+{re.escape(sentence)}", (tmp_path / "index.html").read_text(encoding="utf-8"))
    assert all((sentence in run("explain", "--short", name, "--out", tmp_path)[1]) == (name == A) for name in (A, C))


def test_a_new_result_leaves_that_of_another_version_and_its_certificate(run, tmp_path, world):
    run("verify", A, B, "--out", tmp_path)
    before = content(tmp_path, "certificates")
    result = (tmp_path / FOLDER / f"{file_name(A)}.json").read_bytes()
    for world.version in ("new", "newer"):
        run("verify", A, "--out", tmp_path)
    assert {path: path.read_bytes() for path in before} == before
    found = verdicts(tmp_path)
    assert certificate(tmp_path, found[A])["version"] == "newer" and certificate(tmp_path, found[B])["version"] == "old"
    first, second = found[A].details["earlier"]
    assert (tmp_path / first["result"]).read_bytes() == result
    assert [read_json(tmp_path / row["certificate"], "")["version"] for row in (first, second)] == ["old", "new"]
    assert first["result"] in (tmp_path / "claims" / f"{file_name(A)}.html").read_text(encoding="utf-8")


def test_results_of_other_claims_stay_byte_for_byte(run, tmp_path, world):
    run("verify", A, B, "--out", tmp_path)
    before, records = content(tmp_path, FOLDER, "certificates"), verdicts(tmp_path)
    run("verify", C, "--out", tmp_path)
    run("verify", A, "--out", tmp_path)
    assert {path: path.read_bytes() for path in before} == before
    assert {i: verdict for i, verdict in verdicts(tmp_path).items() if i != C} == records


def test_what_was_not_decided_to_the_end_stays_in_the_report_too(run, tmp_path, world):
    world.stopped = True
    run("verify", A, "--out", tmp_path)
    world.stopped = False
    run("verify", B, "--out", tmp_path)
    assert list(verdicts(tmp_path)) == [A, B] and KEPT not in verdicts(tmp_path)[A].details
    world.version = "new"
    run("verify", A, "--out", tmp_path)
    assert "earlier" not in verdicts(tmp_path)[A].details


def test_two_files_with_the_same_id(run, tmp_path, world, monkeypatch):
    for name, factor in (("one", 1), ("two", 2)):
        (tmp_path / f"{name}.toml").write_text(MINE.format(factor))
        world.version = name  # of the certificate; the code is the same
        monkeypatch.setattr("verify.results.fingerprint.code_version", lambda: "same")
        monkeypatch.setenv(PATHS, "")
        assert run("verify", tmp_path / f"{name}.toml", "--out", tmp_path / "report")[0] == 1
    (found,) = load_verdicts(tmp_path / "report")
    (earlier,) = found.details["earlier"]
    assert certificate(tmp_path / "report", found)["version"] == "two" and "two.toml" in found.command
    assert read_json(tmp_path / "report" / earlier["certificate"], "")["version"] == "one"
    assert "one.toml" in read_json(tmp_path / "report" / earlier["result"], "")["record"]["command"]


def test_a_claim_that_the_run_does_not_know_is_kept_with_its_page(run, tmp_path, world, monkeypatch):
    (tmp_path / "mine.toml").write_text(MINE.format(1))
    out = tmp_path / "report"
    run("verify", tmp_path / "mine.toml", "--out", out)
    page, before = out / "claims" / "mine__theorem-1.html", content(out, FOLDER, "certificates")
    shown = page.read_bytes()
    assert b"<math" in shown
    monkeypatch.setenv(PATHS, "")
    forget_files()
    for argv in (["verify", A, "--out", out], ["report", out], ["verify", A, "--out", out]):
        run(*argv)
        found = verdicts(out)
        assert list(found) == [A, "mine/theorem-1"] and KEPT not in found[A].details
        sentence = found["mine/theorem-1"].details[KEPT]
        assert page.read_bytes() == shown and {path: path.read_bytes() for path in before} == before
        assert "know" in sentence and sentence in (out / "index.html").read_text(encoding="utf-8")
    run("verify", tmp_path / "mine.toml", "--out", out)
    assert KEPT not in verdicts(out)["mine/theorem-1"].details


@pytest.mark.parametrize("where", [f"{FOLDER}/{file_name(B)}.json", "verdicts.json"])
def test_a_run_interrupted_between_certificate_and_verdict_loses_nothing(run, tmp_path, world, monkeypatch, where):
    run("verify", A, B, "--out", tmp_path)
    before = content(tmp_path, "certificates")
    world.version = "new"
    interrupted = []

    def interrupt(path, data):
        if path == tmp_path / where:
            interrupted.append(path)
            raise KeyboardInterrupt
        write_json(path, data)

    with monkeypatch.context() as patch:
        patch.setattr("verify.results.store.write_json", interrupt)
        patch.setattr("verify.results.records.write_json", interrupt)
        assert run("verify", A, B, "--out", tmp_path)[0] == 130
    found = verdicts(tmp_path)
    assert interrupted and list(found) == [A, B]
    for verdict in found.values():  # what the report says and what it refers to belong together
        assert certificate(tmp_path, verdict)["version"] == verdict.evidence.removeprefix("by ")
    assert {path: path.read_bytes() for path in before} == before
    assert [certificate(tmp_path, stored_verdict(tmp_path, i))["claim"] for i in (A, B)] == [A, B]
    assert not (tmp_path / FOLDER / "incoming").exists()
    run("verify", A, B, "--out", tmp_path)
    assert [certificate(tmp_path, v)["version"] for v in verdicts(tmp_path).values()] == ["new", "new"]


def test_to_start_over_deletes_results_with_their_certificates_and_no_others(run, tmp_path, world):
    run("verify", A, "--out", tmp_path)
    world.version = "new"
    run("verify", A, "--out", tmp_path)
    write_json(tmp_path / "certificates" / "mine.json", {})
    world.version = "newer"
    run("verify", A, "--out", tmp_path, "--fresh")
    assert sorted(path.name for path in (tmp_path / "certificates").iterdir()) == [f"{file_name(A)}.json", "mine.json"]
    assert list((tmp_path / EARLIER).glob("*")) == [] and "earlier" not in verdicts(tmp_path)[A].details


def test_results_as_they_were_before_certificates_were_in_them_are_read(tmp_path):
    settings = {"budget": "quick"}
    with Store(tmp_path, settings) as kept:
        kept.add(Verdict(A, "", "theorem", "consistent", 0.5, "because"), "mark")
        path = tmp_path / FOLDER / f"{file_name(A)}.json"
        record = json.loads(path.read_text())["record"] | {"certificate": "certificates/x.json"}
        write_json(tmp_path / "certificates" / "x.json", {"growth": 1})
        write_json(path, {"fingerprint": "m", "record": record, "sha256": store.digest(["m", record])})
        assert kept.load({A: "m"})[0][A].certificate == "certificates/x.json" and kept.messages == []
    assert read_json(tmp_path / "certificates" / "x.json", "") == {"growth": 1}


def test_a_certificate_is_written_into_the_directory_of_certificates_only(tmp_path):
    with Store(tmp_path / "report", {"budget": "quick"}) as kept:
        write_json(kept.incoming / "certificates" / "x.json", {"a": 1})
        kept.add(Verdict(A, "", "theorem", "refuted", 0.5, "because", "certificates/x.json"), "mark")
        path = tmp_path / "report" / FOLDER / f"{file_name(A)}.json"
        data = json.loads(path.read_text())
        data["record"]["certificate"] = "../outside.json"
        data["sha256"] = store.digest([data["fingerprint"], data["record"], data["certificate"]])
        write_json(path, data)
        kept.load({A: "mark"})
    assert not (tmp_path / "outside.json").exists()
