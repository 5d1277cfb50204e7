"""Counterexamples of every kind are run again: free starts, layers, numbers alone, growth; files alone check them."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import EXACT, NUMPY, TORCH
from tests import ROOT
from verify.claims.open_constants import possible
from verify.cli.main import main
from verify.exact import replay as replay_module
from verify.exact.certificate import certificate
from verify.exact.check import replay_alone as check
from verify.exact.replay import replay
from verify.growth.certificate import growth_certificate
from verify.growth.check import check_file, largest_member
from verify.growth.members import ExactMember
from verify.growth.order import vanishing
from verify.report.explain import explain
from verify.results.verdict import Verdict
from verify.search.budget import BUDGETS
from verify.search.search import search

CHECKER = ROOT / "verify" / "checker"


def refutation(claim):
    found = search(claim, BUDGETS["quick"]).violation
    return found, json.loads(json.dumps(
        certificate(claim, found.environment, found.left, found.right)))


@pytest.mark.parametrize("claim_id", [
    "fedalign/claim-opposite@bias",  # a size that the claim itself declares
    "fedluar/eq-2@priority",
    "fedluar/lemma-A.2-shift@drift-part+sampled",  # layers that are not sent
    "fedmoswa/lemma-g.11@any-state",  # states that start anywhere
])
def test_what_the_checker_accepts_is_run_again(claim_id):
    claim = find_claim(claim_id)
    _, data = refutation(claim)
    assert check(data).accepted and replay(data, claim).agrees


def test_sides_whose_terms_nearly_cancel_agree_up_to_their_rounding(monkeypatch):
    """Losses before and after a tiny step differ in their last digits; another number still disagrees."""
    claim = find_claim("fadamgc/eq-151@all-tracked")
    data = json.loads(Path(__file__).with_name("nearly_cancelling.json").read_text(encoding="utf-8"))
    assert check(data).accepted and replay(data, claim).agrees
    ends = [2 * float(end) for end in data["left"].split(" to ")]
    assert not replay(data | {"left": f"{ends[0]} to {ends[1]}"}, claim).agrees
    monkeypatch.setattr(replay_module, "_ROUNDING", 0.0)
    assert not replay(data, claim).agrees, "else it shows nothing"


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A growth certificate of one member, whose right side vanishes."""
    claim = find_claim("fedmoswa/theorem-5.2-nonconvex@every-step")
    found, _ = refutation(vanishing(claim))
    path = tmp_path_factory.mktemp("grown") / "certificate.json"
    path.write_text(json.dumps(growth_certificate(claim, "vanishing right side", (ExactMember(1, None, found),))))
    return path


def test_of_growth_the_largest_member_is_run_again(grown, tmp_path, capsys):
    data, claim = largest_member(grown)
    assert data["right"].startswith("0") and claim.explicit
    assert main(["replay", str(grown), "--out", str(tmp_path / "drawn")]) == 0
    assert "agrees" in capsys.readouterr().out


@pytest.mark.parametrize("change, words", [
    (lambda data: data, "1 members, .*counterexample"),
    (lambda data: data["members"][0]["certificate"].update(left="7"), "nothing violates"),
    (lambda data: data["members"][0]["certificate"].update(format="x"), "size 1: .*fedtheory certificate"),
    (lambda data: data.update(members=[]), " 1 .*64 members"),
    (lambda data: data.update(constants_may_use=["L"]), "^[^:]*5.2-nonconvex@every-step [^:]*$"),
    (lambda data: data["members"][0].update(constant="1"), "size 1: .*5.2-nonconvex@every-step .*statement"),
])
def test_growth_is_checked_against_its_claim(grown, tmp_path, change, words):
    data = json.loads(grown.read_text())
    change(data)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(data))
    result = check_file(path)
    assert re.search(words, result.reason) and result.accepted == ("counterexample" in words)
    done = subprocess.run([sys.executable, "-I", "-S", str(CHECKER), str(path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "")  # it knows no claims


@pytest.mark.parametrize("backend", [NUMPY, TORCH, EXACT], ids=str)
def test_possible_values_are_possible_on_every_backend(backend):
    claim = find_claim("fedmoswa/theorem-5.2-nonconvex@every-step")
    assert [float(value) for value in possible(claim, "gamma", backend.array([-1, 2]), backend)] == [1.0, 1.0]


def test_an_order_that_holds_is_explained_by_its_constant():
    claim = find_claim("fedalign/eq-4")
    text = explain(claim, Verdict(claim.id, "as printed", "lemma", "consistent", 14.6, "no growth"), {}, "quick", "report")
    assert "14.6" in text
    assert "loating point" not in text


def test_lengths_with_too_many_outcomes_of_chance_are_not_drawn(monkeypatch):
    """A counterexample whose layers are drawn: longer runs have 6, 36, 216 ... outcomes."""
    claim = find_claim("fedluar/lemma-3.1")
    _, data = refutation(claim)
    monkeypatch.setattr(replay_module, "_MOST_OUTCOMES", 0)
    with pytest.raises(ValueError, match=r" 0 outcomes .*; 7 rounds"):
        replay_module.rerun(data, claim, rounds=7)
    left, _ = replay_module._after(data, claim, 7, TORCH)
    assert np.isnan(left).all()
