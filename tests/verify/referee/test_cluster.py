"""Claims decided on a cluster of dask: the same verdicts and certificates as here, though a worker is killed."""

import os
import signal
from dataclasses import replace

import pytest

from bounds.registry.claims import find_claim
from verify.referee.referee import referee

CLAIMS = ("fedalign/theorem-1", "fedalign/lemma-A2", "classical/gd-convex", "fedalign/step-T4@text-substitution")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # of dask, when a worker is killed


def by_id(verdicts):
    return {verdict.id: replace(verdict, seconds=0.0) for verdict in verdicts}


def test_verdicts_and_certificates_are_those_of_this_process(two_workers, tmp_path):
    claims, killed = [find_claim(name) for name in CLAIMS], []
    here = by_id(referee(claims, workers=1, out=tmp_path / "here"))
    pids, found = two_workers.run(os.getpid), []
    for verdict in referee(claims, cluster=two_workers, out=tmp_path / "there"):
        found.append(verdict)
        if not killed:
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)
    assert by_id(found) == here and killed
    written = [{path.name: path.read_bytes() for path in (tmp_path / place).rglob("*.json")} for place in ("here", "there")]
    assert written[0] == written[1] and written[0]


def test_workers_of_another_version_are_refused(two_workers, monkeypatch):
    monkeypatch.setattr("verify.referee.cluster.code_version", lambda: "another")
    with pytest.raises(RuntimeError, match="another version"):
        list(referee([find_claim(CLAIMS[1])], cluster=two_workers))
