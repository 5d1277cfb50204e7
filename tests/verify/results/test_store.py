"""Results that survive: faults of the disk, of the process and of its workers, and what the next run makes of them."""

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

from bounds.registry.claims import all_claims
from tests.messages import contains_in_order
from verify.results import files, store
from verify.results.records import as_record, load_verdicts
from verify.results.store import FOLDER, Store, add_details, only_writer, stored_verdict
from verify.results.verdict import Series, Verdict

SETTINGS = {"budget": "quick", "seeds": 4, "seed": 0, "device": "cpu"}
SOME = list(all_claims())[:3]
CERTIFICATE = {"format": "demo", "members": [{"left": "1/2"}]}
SERIES = Series("a run", "t", "loss", [1.0, 2.0], [0.5, float("inf")], [1.0, 2.0],
                exact=[0.75, float("inf")], middle=[0.0, 0.1])
REFUTED = Verdict("demo/theorem-1", "as printed", "theorem", "refuted", float("inf"), "because",
                  "certificates/demo__theorem-1.json", details={"instance": {"left": "1/2"}}, series=(SERIES,))


def decide(claim, kind="consistent"):
    return Verdict(claim.id, claim.reading, claim.kind, kind, 0.5, f"evidence on {claim.id}")


def add(kept, verdict=REFUTED, mark="mark", certificate=CERTIFICATE):
    """Store a verdict with its certificate, as the referee leaves it."""
    files.write_json(kept.incoming / verdict.certificate, certificate)
    return kept.add(verdict, mark)


def current(kept, marks=None):
    return kept.load(marks or {REFUTED.id: "mark"})[0]


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
        again = add(kept)
        assert as_record(current(kept)[REFUTED.id]) == as_record(again) == as_record(REFUTED)
    assert as_record(stored_verdict(tmp_path, REFUTED.id)) == as_record(REFUTED)
    assert stored_verdict(tmp_path, "demo/theorem-2") is None


def test_details_are_added_to_what_is_stored(tmp_path):
    with Store(tmp_path, SETTINGS) as kept:
        add(kept)
    add_details(tmp_path, REFUTED.id, {"needs": "noise"})
    again = stored_verdict(tmp_path, REFUTED.id)
    assert again.details == REFUTED.details | {"needs": "noise"} and again.verdict == "refuted"
    with Store(tmp_path, SETTINGS) as kept:  # its checksum and its certificate are as they should be
        assert current(kept)[REFUTED.id].details["needs"] == "noise"
    with pytest.raises(ValueError, match="demo__theorem-2"):
        add_details(tmp_path, "demo/theorem-2", {"needs": "noise"})


DAMAGES = {
    "empty": lambda text: "",
    "cut off": lambda text: text[: len(text) // 2],
    "a digit changed": lambda text: text.replace('"ratio": "inf"', '"ratio": 1.5'),
    "another verdict": lambda text: text.replace('"refuted"', '"consistent"'),
    "another mark": lambda text: text.replace('"mark"', '"mork"'),
    "not an object": lambda text: "[1, 2]",
    "null bytes": lambda text: "\x00" * len(text),
    "nested": lambda text: "[" * 10**5 + "]" * 10**5,
    "nested, and read by the parser": lambda text: "[" * 700 + "]" * 700,
    "a long integer": lambda text: text.replace('"ratio": "inf"', f'"ratio": {10**5 * "9"}'),
    "another certificate": lambda text: text.replace('"1/2"\n', '"1/3"\n'),
    "another type": lambda text: text.replace('"fingerprint": "mark"', '"fingerprint": 3'),
    "of another claim": lambda text: json.dumps(_about_another(json.loads(text))),
}


def _about_another(data):
    record = data["record"] | {"id": "demo/other"}
    return data | {"record": record, "sha256": store.digest([data["fingerprint"], record, data["certificate"]])}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_result_is_set_aside_and_said(tmp_path, damage):
    with Store(tmp_path, SETTINGS) as kept:
        add(kept)
        (path,) = result_files(tmp_path)
        damaged = DAMAGES[damage](path.read_text())
        assert damaged != path.read_text()
        path.write_text(damaged)
        assert kept.load({REFUTED.id: "mark"}) == ({}, {})
        assert "set aside" in kept.messages[0] and "decided again" in kept.messages[0]
    assert result_files(tmp_path) == [] and (tmp_path / FOLDER / "set-aside" / path.name).read_text() == damaged


@pytest.mark.parametrize("change", ["missing", "damaged", "same"])
def test_a_certificate_that_is_gone_is_written_again(tmp_path, change):
    path = tmp_path / REFUTED.certificate
    with Store(tmp_path, SETTINGS) as kept:
        add(kept)
        if change == "missing":
            path.unlink()
        elif change == "damaged":
            path.write_text("{")
        current(kept)
        assert json.loads(path.read_text()) == CERTIFICATE and bool(kept.messages) == (change != "same")


def test_what_was_not_decided_to_the_end_is_tried_again(tmp_path):
    with Store(tmp_path, SETTINGS) as kept:
        add(kept, replace(REFUTED, verdict="undecided", details={"stopped": "it died"}))
        assert current(kept) == {} and kept.messages == []


# two runs, other settings ---------------------------------------------------------------------------------------------
def test_a_second_run_into_the_directory_is_refused(run, tmp_path, asked):
    with Store(tmp_path, SETTINGS):
        status, _, err = run("verify", SOME[0], "--out", tmp_path)
    assert status == 2 and f"process {os.getpid()}" in err and "choose another --out" in err
    assert run("verify", SOME[0], "--out", tmp_path)[0] == 0 and asked == SOME[:1]


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"pid": 999999, "since": "2026-01-01"}'])
def test_the_lock_of_a_dead_process_is_taken_over(tmp_path, content):
    writer = tmp_path / "writer"
    writer.write_text(content)
    with only_writer(tmp_path):
        assert json.loads(writer.read_text())["pid"] == os.getpid()
    assert not writer.exists()
    with only_writer(tmp_path):
        pass


def test_a_writer_on_another_machine_is_respected(tmp_path):
    writer = tmp_path / "writer"
    writer.write_text('{"pid": 1, "host": "elsewhere", "since": "noon"}')
    for _ in range(2):
        with pytest.raises(ValueError, match=r"process 1 on elsewhere .* remove .*writer"), only_writer(tmp_path):
            pass
    assert writer.exists()


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
    assert asked == SOME * 2 and contains_in_order(err, "note: 3 results …results/earlier")


def test_names_and_all_exclude_each_other(run, tmp_path):
    status, _, err = run("verify", SOME[0], "--all", "--out", tmp_path)
    assert status == 2 and contains_in_order(err, f"--all …; got {SOME[0]}")


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
    assert status == 3 and contains_in_order(last, f": {os.strerror(code)}; …2 of 3 claims …{tmp_path}")
    assert len(result_files(tmp_path)) == 2
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
    assert status == 3 and contains_in_order(last, f"figures/x.png: {os.strerror(code)}; … 3 claims …{tmp_path}")
    assert run("verify", *SOME, "--out", tmp_path)[0] == 0 and sorted(asked) == sorted(SOME)


def test_ctrl_c_then_on(run, tmp_path, asked):
    asked.fault = KeyboardInterrupt()
    assert run("verify", *SOME, "--out", tmp_path)[0] == 130
    asked.fault = None
    assert run("verify", *SOME, "--out", tmp_path)[0] == 0 and asked == SOME


# kill -9 --------------------------------------------------------------------------------------------------------------
@pytest.mark.slow
def test_killed_in_the_middle_then_on_gives_the_same_verdicts(tmp_path):
    names = [c.id for c in all_claims().values() if c.setting == "algebra" and c.explicit][:10]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}

    def start(out):
        program = "import sys; from verify.cli.main import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", program, "verify", *names, "--out", "report", "--seeds", "2"]
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
