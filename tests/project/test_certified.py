"""The table of claims about runs that are proven counts what the stage of proofs says."""

import os
import subprocess
import sys

import pytest

from benchmarks.certified import HOW, Result, page, proven, waiting
from tests import ROOT

FOUND = [
    Result("classical/gd-convex", HOW[2], "", 2.0, 2.0), Result("classical/gd-value", HOW[1], "", 3.0, 60.0),
    Result("li2020/theorem-1", "", "li2020/theorem-1 has no worst case of this kind: too large; at most 9", 4.0, 4.0),
    Result("li2020/lemma-1", HOW[0], "no proof of runs is looked for", 0.0, 0.0)]


@pytest.mark.parametrize("line", [
    "Of 4 claims 1 are certified;", "2 others are proven at settings.",
    "| classical | 2 | 0 | 1 | 1 | 0 | 5 |", "| li2020 | 2 | 1 | 0 | 0 | 1 | 4 |",
    "| too large | 1 |", "3 went through the stage: 9 processor seconds, 3.00 a claim, at most",
    "4; by the clock, z3 included, 0.6 minutes in 2 processes."])
def test_a_page_counts(line):
    assert line in page(FOUND, 2)


def test_what_waits_for_a_proof():
    verdicts = {"classical/gd-convex": "consistent", "classical/gd-value": "refuted", "li2020/lemma-1": "certified"}
    done, left = waiting({claim: {"verdict": verdict} for claim, verdict in verdicts.items()})
    assert left == ["classical/gd-convex"] and [(one.claim, one.how) for one in done] == [("li2020/lemma-1", HOW[0])]


@pytest.mark.parametrize("claim, how", [("classical/gd-distance", HOW[1]), ("fedalign/theorem-1", "")])
def test_the_stage_says_how_a_claim_is_proven(claim, how):
    found = proven(claim)
    assert (found.claim, found.how) == (claim, how) and ("free clients" in found.reason) is not bool(how)


def test_processes_that_have_done_enough_are_followed_by_others(tmp_path):
    """One executor of Python 3.11 whose processes end by themselves stands still."""
    file = tmp_path / "some_results.py"
    file.write_text("from benchmarks.power import results\nif __name__ == '__main__':\n"
                    "    print([*results(abs, range(-5, 0), 2, 1, 2)])\n", encoding="utf-8")
    done = subprocess.run([sys.executable, file], env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True, timeout=120,
                          stdout=subprocess.PIPE, check=True)
    assert done.stdout == "[5, 4, 3, 2, 1]\n"
