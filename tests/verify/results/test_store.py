"""Results that survive: faults of the disk, of the process and of its workers, and what the next run makes of them."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from bounds.controls.fedavg import CONTROLS, TWINS
from bounds.registry.claims import all_claims
from verify.referee import workers
from verify.referee.decide import Settings
from verify.referee.referee import referee
from verify.results import files, store
from verify.results.fingerprint import claim_as_text, code_version, fingerprint
from verify.results.records import as_record, load_verdicts
from verify.results.store import FOLDER, Lock, Store, stored_verdict
from verify.results.verdict import Series, Verdict

SETTINGS = {"budget": "quick", "seeds": 4, "seed": 0, "device": "cpu"}
SOME = list(all_claims())[:3]
CERTIFICATE = {"format": "demo", "left": "1/2"}
SERIES = Series("a run", "t", "loss", [1.0, 2.0], [0.5, float("inf")], [1.0, 2.0])
REFUTED = Verdict("demo/theorem-1", "as printed", "theorem", "refuted", float("inf"), "because",
                  "certificates/demo__theorem-1.json", details={"instance": CERTIFICATE}, series=(SERIES,))


def decide(claim, kind="consistent"):
    return Verdict(claim.id, claim.reading, claim.kind, kind, 0.5, f"evidence on {claim.id}")


@pytest.fixture
def asked(monkeypatch):
    """Replaces the referee; the ids that it was asked for, in order. ``asked.fault`` is raised after two verdicts."""

    class Asked(list):
        fault = None

    asked = Asked()

    def referee(claims, **_):
        for number, claim in enumerate(claims):
            if asked.fault and number == 2:
                raise asked.fault
            asked.append(claim.id)
            yield decide(claim)

    monkeypatch.setattr("verify.referee.referee.referee", referee)
    return asked


def result_files(out):
    return sorted(p for p in (out / FOLDER).glob("*.json") if p.name != "about.json")


# one result -----------------------------------------------------------------------------------------------------------
def test_a_result_reads_back_as_it_was_written(tmp_path):
    with Store(tmp_path, SETTINGS) as kept:
        again = kept.add(REFUTED, "mark")
        assert as_record(kept.load({REFUTED.id: "mark"})[REFUTED.id]) == as_record(again) == as_record(REFUTED)
    assert as_record(stored_verdict(tmp_path, REFUTED.id)) == as_record(REFUTED)
    assert stored_verdict(tmp_path, "demo/theorem-2") is None


DAMAGES = {
    "empty": lambda text: "",
    "cut off": lambda text: text[: len(text) // 2],
    "a digit changed": lambda text: text.replace('"ratio": "inf"', '"ratio": 1.5'),
    "another verdict": lambda text: text.replace('"refuted"', '"consistent"'),
    "another mark": lambda text: text.replace('"mark"', '"mork"'),
    "not an object": lambda text: "[1, 2]",
    "null bytes": lambda text: "\x00" * len(text),
    "of another claim": lambda text: json.dumps(_about_another(json.loads(text))),
}


def _about_another(data):
    record = data["record"] | {"id": "demo/other"}
    return data | {"record": record, "sha256": store.digest([data["fingerprint"], record])}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_result_is_set_aside_and_said(tmp_path, damage):
    with Store(tmp_path, SETTINGS) as kept:
        kept.add(REFUTED, "mark")
        (path,) = result_files(tmp_path)
        damaged = DAMAGES[damage](path.read_text())
        path.write_text(damaged)
        assert kept.load({REFUTED.id: "mark"}) == {}
        assert "set aside" in kept.messages[0] and "decided again" in kept.messages[0]
    assert result_files(tmp_path) == [] and (tmp_path / FOLDER / "set-aside" / path.name).read_text() == damaged


@pytest.mark.parametrize("change", ["missing", "damaged", "same"])
def test_a_certificate_that_is_gone_is_written_again(tmp_path, change):
    path = tmp_path / REFUTED.certificate
    with Store(tmp_path, SETTINGS) as kept:
        kept.add(REFUTED, "mark")
        if change != "missing":
            files.write_json(path, CERTIFICATE if change == "same" else {"format": "demo"})
        kept.load({REFUTED.id: "mark"})
        assert json.loads(path.read_text()) == CERTIFICATE and bool(kept.messages) == (change != "same")


def test_what_was_not_decided_to_the_end_is_tried_again(tmp_path):
    with Store(tmp_path, SETTINGS) as kept:
        kept.add(replace(REFUTED, verdict="undecided", details={"stopped": "it died"}), "mark")
        assert kept.load({REFUTED.id: "mark"}) == {} and kept.messages == []


# what a result rests on -----------------------------------------------------------------------------------------------
def test_fingerprints_tell_claims_settings_and_code_apart(monkeypatch):
    claim = CONTROLS[0].claim
    changed = {
        "itself": (claim, SETTINGS), "its twin": (next(iter(TWINS.values())), SETTINGS),
        "a hypothesis more": (replace(claim, conditions=(*claim.conditions, claim.statement)), SETTINGS),
        "reading": (replace(claim, reading="another"), SETTINGS), "budget": (claim, SETTINGS | {"budget": "standard"}),
        "seed": (claim, SETTINGS | {"seed": 1}),
    }
    marks = {name: fingerprint(*pair) for name, pair in changed.items()}
    assert len(set(marks.values())) == len(changed) and marks["itself"] == fingerprint(claim, dict(SETTINGS))
    monkeypatch.setattr("verify.results.fingerprint.code_version", lambda: "other")
    assert fingerprint(claim, SETTINGS) != marks["itself"]


def test_a_fingerprint_is_the_same_in_every_process():
    code = ("from verify.fingerprint import *; from bounds.controls import CONTROLS;"
            f"print(fingerprint(CONTROLS[0].claim, {SETTINGS}))")
    here = fingerprint(CONTROLS[0].claim, SETTINGS)
    there = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                           env=os.environ | {"PYTHONHASHSEED": "7"}).stdout.strip()
    assert there == here and len(code_version()) == 64


def test_every_part_of_a_claim_that_is_evidence_is_in_its_text():
    assert set(claim_as_text(CONTROLS[0].claim)) == {
        "id", "reading", "kind", "setting", "statement", "undefined", "assumptions", "conditions", "definitions",
        "procedure", "variables", "explicit", "limits"}


# two runs, other settings ---------------------------------------------------------------------------------------------
def test_a_second_run_into_the_directory_is_refused(run, tmp_path, asked):
    with Store(tmp_path, SETTINGS):
        status, _, err = run("verify", SOME[0], "--out", tmp_path)
    assert status == 2 and f"process {os.getpid()}" in err and "choose another --out" in err
    assert run("verify", SOME[0], "--out", tmp_path)[0] == 0 and asked == SOME[:1]


@pytest.mark.parametrize("content", ["", "{", '{"pid": 999999, "since": "2026-01-01"}'])
def test_the_lock_of_a_dead_process_is_taken_over(tmp_path, content):
    path = tmp_path / "lock"
    path.write_text(content)
    with Lock(path):
        assert json.loads(path.read_text())["pid"] == os.getpid()
    assert not path.exists()


def test_a_lock_of_another_machine_is_respected(tmp_path):
    path = tmp_path / "lock"
    path.write_text('{"pid": 1, "host": "elsewhere", "since": "noon"}')
    with pytest.raises(ValueError, match=r"process 1 on elsewhere .* since noon.* remove .*lock"), Lock(path):
        pass
    assert path.exists()


def test_other_settings_are_not_mixed(run, tmp_path, asked):
    run("verify", *SOME, "--out", tmp_path)
    status, out, err = run("verify", *SOME, "--out", tmp_path, "--seed", 3)
    assert (status, out) == (2, "") and "seed 0" in err and "seed 3" in err and "--fresh" in err
    assert [v.seed for v in load_verdicts(tmp_path)] == [0, 0, 0] and len(asked) == 3
    assert run("verify", *SOME, "--out", tmp_path, "--seed", 3, "--fresh")[0] == 0 and len(asked) == 6


# going on -------------------------------------------------------------------------------------------------------------
def test_the_same_command_decides_only_what_is_missing(run, tmp_path, asked):
    run("verify", *SOME[:2], "--out", tmp_path)
    run("verify", *SOME, "--out", tmp_path)
    run("verify", *SOME, "--out", tmp_path)
    assert asked == SOME and [v.id for v in load_verdicts(tmp_path)] == SOME
    run("verify", SOME[1], "--out", tmp_path)
    assert len(load_verdicts(tmp_path)) == 3, "one claim looked up again does not shorten the report"


def test_results_of_other_code_are_decided_again(run, tmp_path, asked, monkeypatch):
    run("verify", *SOME, "--out", tmp_path)
    monkeypatch.setattr("verify.results.fingerprint.code_version", lambda: "newer")
    _, _, err = run("verify", *SOME, "--out", tmp_path)
    assert asked == SOME * 2 and "3 results are of another version of the claim or of the code" in err


def test_names_and_all_exclude_each_other(run, tmp_path):
    status, _, err = run("verify", SOME[0], "--all", "--out", tmp_path)
    assert status == 2 and "--all takes no names" in err


@pytest.mark.parametrize("argv, kept", [
    (["--kind", "theorem"], lambda c: c.kind == "theorem"),
    (["--algorithm", "fedluar"], lambda c: c.procedure is not None and c.procedure.base == "fedluar"),
    (["--explicit", "--paper", "fedalign"], lambda c: c.explicit and c.paper == "fedalign"),
])
def test_filters(run, tmp_path, asked, argv, kept, monkeypatch):
    monkeypatch.setattr("verify.cli.verify._write_pages", lambda *_, **__: None)
    assert run("verify", "--all", *argv, "--out", tmp_path)[0] == 0
    assert asked == [c.id for c in all_claims().values() if kept(c)] != []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_keeps_what_is_there(run, tmp_path, asked, monkeypatch, code):
    run("verify", SOME[0], "--out", tmp_path)
    write = Path.write_text

    def full(path, text, **options):
        if path.parent.name == FOLDER and path.name.startswith(f".{files.file_name(SOME[2])}.json"):
            write(path, text[:10], **options)
            raise OSError(code, os.strerror(code))
        return write(path, text, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_text", full)
        status, _, err = run("verify", *SOME, "--out", tmp_path)
    last = err.splitlines()[-1]
    assert status == 3 and os.strerror(code) in last and "make room and run the same command again" in last
    assert "2 of 3 claims are kept" in last and len(result_files(tmp_path)) == 2
    assert [p for p in tmp_path.rglob("*.partial")] == []
    assert run("verify", *SOME, "--out", tmp_path)[0] == 0 and [v.id for v in load_verdicts(tmp_path)] == SOME
    assert asked.count(SOME[0]) == asked.count(SOME[1]) == 1


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_is_full_while_pages_are_written_costs_no_verdict(run, tmp_path, asked, monkeypatch, code):
    def full(*_, **__):
        raise OSError(code, os.strerror(code), "figures/x.png")

    with monkeypatch.context() as patch:
        patch.setattr("verify.cli.verify._write_pages", full)
        status, _, err = run("verify", *SOME, "--out", tmp_path)
    last = err.splitlines()[-1]
    assert status == 3 and "figures/x.png" in last and "make room and run the same command again" in last
    assert run("verify", *SOME, "--out", tmp_path)[0] == 0 and sorted(asked) == sorted(SOME)


def test_ctrl_c_then_on(run, tmp_path, asked):
    asked.fault = KeyboardInterrupt()
    assert run("verify", *SOME, "--out", tmp_path)[0] == 130
    asked.fault = None
    assert run("verify", *SOME, "--out", tmp_path)[0] == 0 and asked == SOME


# workers --------------------------------------------------------------------------------------------------------------
def test_an_error_in_one_claim_is_its_verdict(monkeypatch):
    claims = [all_claims()[i] for i in SOME]

    def broken(claim, settings):
        if claim.id == SOME[1]:
            raise RuntimeError("planted")
        return decide(claim)

    monkeypatch.setattr("verify.referee.decide.decide", broken)
    first, second, third = referee(claims, workers=1)
    assert (first.verdict, third.verdict) == ("consistent", "consistent")
    assert second.verdict == "undecided" and "RuntimeError: planted" in second.evidence
    assert "broken" in second.details["where"] and not store.is_finished(second)


def test_a_disk_error_is_not_a_verdict(monkeypatch):
    def broken(claim, settings):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("verify.referee.decide.decide", broken)
    with pytest.raises(OSError, match="No space"):
        list(referee([all_claims()[i] for i in SOME], workers=1))


PLANTED = '''
import os, sys, time
from pathlib import Path
import verify.referee
from verify.verdict import Verdict

def decide(claim, settings):
    """Dies, hangs, or answers, as the claim's place among the names says."""
    names = os.environ["PLANTED"].split()
    what = names[names.index(claim.id) + 1]
    marker = Path(os.environ["MARKS"]) / claim.id.replace("/", "_")
    tries = len(list(marker.parent.glob(marker.name + ".*")))
    marker.with_name(f"{marker.name}.{tries}").touch()
    if what == "dies" or (what == "dies-once" and tries == 0):
        os._exit(7)
    if what == "hangs":
        time.sleep(1000)
    if what == "full":
        raise OSError(28, "No space left on device")
    return Verdict(claim.id, claim.reading, claim.kind, "consistent", 0.5, "planted")

verify.referee.decide = decide
'''


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Workers of which each claim's is told what to do: ``planted(what, ...)`` returns the claims."""
    place = tmp_path / "planted"
    place.mkdir()
    (place / "sitecustomize.py").write_text(PLANTED)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(place), *sys.path]))
    monkeypatch.setenv("MARKS", str(place))

    def told(*what):
        names = list(all_claims())[: len(what)]
        monkeypatch.setenv("PLANTED", " ".join(word for pair in zip(names, what, strict=True) for word in pair))
        return [all_claims()[name] for name in names]

    return told


@pytest.mark.slow
def test_a_dying_worker_costs_only_its_claim(planted):
    claims = planted("lives", "dies", "lives", "dies-once", "hangs", "lives")
    verdicts = {v.id: v for v in workers.decide_all(claims, Settings(), 2, patience=4.0)}
    assert set(verdicts) == {c.id for c in claims}
    words = [verdicts[c.id].evidence for c in claims]
    assert [w == "planted" for w in words] == [True, False, True, True, False, True]
    assert "died twice (exit code 7" in words[1] and "took more than 4 s" in words[4]
    assert {verdicts[claims[n].id].verdict for n in (1, 4)} == {"undecided"}


@pytest.mark.slow
def test_a_full_disk_in_a_worker_ends_the_run(planted):
    with pytest.raises(OSError, match="No space"):
        list(workers.decide_all(planted("full", "lives"), Settings(), 1))


# kill -9 --------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_killed_in_the_middle_then_on_gives_the_same_verdicts(tmp_path):
    names = [c.id for c in all_claims().values() if c.setting == "algebra" and c.explicit][:10]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}

    def start(out):
        command = [sys.executable, "-c", "import sys; from verify.cli import main; sys.exit(main(sys.argv[1:]))", "verify",
                   *names, "--out", "report", "--seeds", "2"]
        out.mkdir()
        return command, {"env": environment, "cwd": out, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

    command, options = start(tmp_path / "killed")
    process = subprocess.Popen(command, **options)
    report = tmp_path / "killed" / "report"
    while len(result_files(report)) < 2:
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = {path: path.stat().st_mtime_ns for path in result_files(report)}
    subprocess.run(command, **options, check=False)
    assert 2 <= len(before) < len(names) == len(result_files(report))
    assert {path: path.stat().st_mtime_ns for path in before} == before, "what was finished was not decided again"

    command, options = start(tmp_path / "whole")
    subprocess.run(command, **options, check=False)
    assert _timeless(report) == _timeless(tmp_path / "whole" / "report")


def _timeless(report):
    return [record | {"seconds": 0} for record in json.loads((report / "verdicts.json").read_text())]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_a_process_runs_out_of_memory_before_the_machine_does():
    """Twice the limit is refused, a twentieth is not."""
    text = ("import numpy as np; from verify.workers import _MOST, limit_memory; limit_memory(); np.ones(_MOST // 160)\n"
            "try:\n    np.ones(_MOST // 4)\nexcept MemoryError:\n    print('refused')")
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout == "refused\n"
