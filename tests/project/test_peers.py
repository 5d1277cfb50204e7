"""The page on other implementations, and the adapter that puts them through the conformance suite, on peers of our own."""

import json

import numpy as np
import pytest

from benchmarks.peers import HERE, PEERS, ROOT
from benchmarks.peers.cases import expected
from benchmarks.peers.conformance import Answers, maker
from benchmarks.peers.report import page
from benchmarks.peers.suite import Row, check, rounded, rows_of
from fedtheory.testing import properties_symmetry as symmetry
from fedtheory.testing.outcome import Broken
from tests.not_empty import if_any, not_empty

RECORD = json.loads((HERE / "results.json").read_text(encoding="utf-8"))
METHODS = ["FedAvg", "FedProx", "SCAFFOLD", "FedDyn"]


def right(jobs):
    """A peer whose methods are the reference's."""
    return [expected(job) for job in jobs]


def shifted(jobs):
    """One whose models come out larger by a tenth in every round."""
    found = right(jobs)
    return [{**result, "x": result["x"] * 1.1 ** np.arange(len(result["x"]))[:, None]} for result in found]


def negated(jobs):
    """One that shows the clients' control state with the opposite sign."""
    return [{n: -v if n.startswith("client") else v for n, v in result.items()} for result in right(jobs)]


def test_the_page_is_written_from_the_results():
    assert (ROOT / "docs" / "peers.md").read_text(encoding="utf-8") == page(RECORD)


def test_every_row_is_recorded():
    for name, peer in not_empty(PEERS.items()):
        recorded = [(r["method"], r["arguments"], tuple(r["corrections"])) for r in RECORD["conformance"][name]]
        assert recorded == [(r.method, r.arguments, r.corrections) for r in rows_of(peer)]


def test_corrections_leave_nothing_that_fails():
    for name, rows in not_empty(RECORD["conformance"].items()):
        for row in if_any(r for r in rows if r["failed"]):
            same = [r for r in rows if (r["method"], r["arguments"]) == (row["method"], row["arguments"])]
            assert not max(same, key=lambda r: len(r["corrections"]))["failed"], (name, row["method"])


@pytest.mark.parametrize("method", METHODS)
def test_a_right_peer_passes(method):
    report = check(Answers(right), PEERS["flgo"], Row("flgo", method)).raise_if_failed()
    assert len(report.those("passed")) >= 17


@pytest.mark.parametrize(("peer", "noticed"), [
    (shifted, {"common optimum", "translation", "no step, no move", "always: fedavg"}),
    (lambda jobs: ["Traceback\nValueError: none"] * len(jobs), {"stays finite", "always: fedavg"}),
])
def test_a_planted_fault_is_reported(peer, noticed):
    report = check(Answers(peer), PEERS["flgo"], Row("flgo", "FedAvg"), only=noticed, quick=True)
    assert {result.name for result in report.failed} == noticed


def test_control_state_is_looked_at():
    law = "law: the server's variate is the clients' mean"
    report = check(Answers(negated), PEERS["flgo"], Row("flgo", "SCAFFOLD"), only=[law])
    assert report[law].outcome == "failed"


def test_a_run_is_asked_for_once():
    asked = []
    answers = Answers(lambda jobs: asked.extend(jobs) or right(jobs))
    check(answers, PEERS["flgo"], Row("flgo", "FedAvg"), only=["translation"], quick=True)
    assert answers.runs == len(asked) == len({json.dumps(job) for job in asked})
    forced = [job["participants"] for job in asked if job["participants"] is not None]
    assert forced and all(len(row) == 2 for rows in forced for row in rows)


def test_earlier_rounds_must_not_depend_on_later_ones():
    def unsteady(jobs):
        return [{"x": np.full((job["rounds"] + 1, 1), float(job["rounds"]))} for job in jobs]

    answers, job = Answers(unsteady), {"participants": None}
    answers([{**job, "rounds": 1}])
    with pytest.raises(RuntimeError, match=r"^x .*rounds"):
        answers([{**job, "rounds": 6}])


def test_arguments_are_plain_and_single_precision_is_allowed_for():
    make = maker(None, "SCAFFOLD", {"eta_g": 1.0})
    assert make(eta_l=0.2, eta_g=0.5).hyper == {"eta_g": 0.5}
    with rounded(1e-5):
        symmetry.same(np.ones(1), np.ones(1) + 1e-6, "x")
    with pytest.raises(Broken):
        symmetry.same(np.ones(1), np.ones(1) + 1e-6, "x")
