"""Claims decided by several processes: errors, deaths, time and memory limits cost one claim each."""

import errno
import os
import subprocess
import sys
from dataclasses import replace

import pytest
import sympy as sp

from bounds.controls.fedavg import CONTROLS
from bounds.language.claim import Condition
from bounds.registry.claims import all_claims
from verify.referee import workers
from verify.referee.decide import Settings
from verify.referee.referee import referee
from verify.results.store import is_finished
from verify.results.verdict import Verdict

SOME = list(all_claims())[:3]


def decide(claim):
    return Verdict(claim.id, claim.reading, claim.kind, "consistent", 0.5, f"evidence on {claim.id}")


def test_an_error_in_one_claim_is_its_verdict(monkeypatch):
    claims = [all_claims()[i] for i in SOME]

    def broken(claim, settings, so_far):
        if claim.id == SOME[1]:
            raise RuntimeError("planted")
        return decide(claim)

    monkeypatch.setattr("verify.referee.decide.decide", broken)
    first, second, third = referee(claims, workers=1)
    assert (first.verdict, third.verdict) == ("consistent", "consistent")
    assert second.verdict == "undecided" and "RuntimeError: planted" in second.evidence
    assert "broken" in second.details["where"] and not is_finished(second)


def test_a_disk_error_is_not_a_verdict(monkeypatch):
    def broken(claim, settings, so_far):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("verify.referee.decide.decide", broken)
    with pytest.raises(OSError, match="No space"):
        list(referee([all_claims()[i] for i in SOME], workers=1))


PLANTED = '''
import os, sys, time
from pathlib import Path
import verify.referee.decide as module
from verify.results.verdict import Verdict

def decide(claim, settings, so_far):
    """Dies, hangs, or answers, as the claim's place among the names says."""
    names = os.environ["PLANTED"].split()
    what = names[names.index(claim.id) + 1]
    marker = Path(os.environ["MARKS"]) / claim.id.replace("/", "_")
    tries = len(list(marker.parent.glob(marker.name + ".*")))
    marker.with_name(f"{marker.name}.{tries}").touch()
    if what == "dies" or (what == "dies-once" and tries == 0):
        os._exit(7)
    if what == "hangs":
        so_far("planted so far")
        time.sleep(1000)
    if what == "full":
        raise OSError(28, "No space left on device")
    return Verdict(claim.id, claim.reading, claim.kind, "consistent", 0.5, "planted")

module.decide = decide
'''


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """``planted(what, ...)``: the first claims, and processes that do with each what is said."""
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
    assert "exit code 7" in words[1] and " 4 s; until then, planted so far" in words[4]
    assert {verdicts[claims[n].id].verdict for n in (1, 4)} == {"undecided"}


@pytest.mark.slow
def test_a_full_disk_in_a_worker_ends_the_run(planted):
    with pytest.raises(OSError, match="No space"):
        list(workers.decide_all(planted("full", "lives"), Settings(), 1))


def test_a_place_stays_with_claims_that_assume_the_same_and_leaves_others_theirs():
    claim = CONTROLS[0].claim
    claims = [replace(claim, id=f"control/{name}", conditions=(Condition(sp.Symbol(name[0]), "<=", 1),))
              for name in ("a1", "b1", "a2", "b2", "c1")]
    team = workers._Team(claims, Settings(), 1.0)
    assert [team.take(place).id[-2:] for place in (1, 2, 1, 1, 2)] == ["a1", "b1", "a2", "c1", "b2"]
    assert team.take(1) is None


def test_processes_that_do_not_start_end_the_run(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text("import os, sys\n'spawn_main' in ' '.join(sys.orig_argv) and os._exit(3)\n")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    with pytest.raises(RuntimeError, match="exit code 3"):
        list(workers.decide_all([all_claims()[i] for i in SOME], Settings(), 2))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the memory of a process")
def test_a_process_runs_out_of_memory_before_the_machine_does():
    """Twice the limit is refused, a twentieth is not."""
    text = ("import numpy as np; from verify.referee.workers import _MOST, limit_memory\n"
            "limit_memory(); np.ones(_MOST // 160)\n"
            "try:\n    np.ones(_MOST // 4)\nexcept MemoryError:\n    print('refused')")
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, text=True).stdout == "refused\n"
