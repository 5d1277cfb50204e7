"""A short random attack: no mutant is accepted against the engine's opinion, none raises or takes long; proofs likewise."""

import json
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bounds.registry.claims import find_claim
from tests.verify.attack import attack as attacking
from tests.verify.attack import every_round
from tests.verify.attack.attack import attack, proofs
from tests.verify.attack.every_round import attack_rounds
from tests.verify.attack.mutants import mutant
from tests.verify.attack.second_opinion import disproves, refutes, restated
from verify.checker import proof as checker
from verify.exact.check import CheckResult
from verify.exact.statement import statement_of
from verify.referee.decide import Settings, decide
from verify.worst.every_round import at

#: refuted claims: a run with chance, a point, plain numbers, samples, a method with roots
CLAIMS = ("fedalign/theorem-1", "fedalign/step-eq47-as-printed", "fedmoswa/lemma-g.11", "afedpd/lemma-2", "fadamgc/eq-96",
          "fedluar/lemma-A.2-shift@forced")


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    found = []
    for name in CLAIMS:
        folder = tmp_path_factory.mktemp("report")
        verdict = decide(find_claim(name), Settings(federations=False, out=folder))
        found.append((json.loads((folder / verdict.certificate).read_text(encoding="utf-8")), find_claim(name)))
    return found


def test_mutants_are_refused_or_refute(given):
    outcome = attack(given, 150, seed=0)
    assert not outcome.wrong, outcome.wrong[:3]
    assert outcome["accepted"] > 5, "else nothing was confirmed"


def test_the_attack_notices_a_checker_that_accepts_everything(given, monkeypatch):
    monkeypatch.setattr(attacking, "_checked", lambda data, claim: CheckResult(True, "yes"))
    outcome = attack(given, 60, seed=0)
    assert outcome.wrong


def test_the_engine_agrees_with_certificates_and_not_with_others(given):
    for data, claim in given:
        assert refutes(data, claim)
    data, claim = given[0]
    data = json.loads(json.dumps(data))
    data["values"]["L"] = "1/1000"
    assert not refutes(data, claim)


def test_mutants_differ(given):
    rng = random.Random(1)
    changed = [mutant(given[0][0], rng) != given[0][0] for _ in range(50)]
    assert sum(changed) > 35


# proofs ------------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def proven():
    return [*proofs()]


def test_mutants_of_proofs_are_refused_or_hold(proven):
    outcome = attack(proven, 120, seed=2)
    assert not outcome.wrong, outcome.wrong[:3]
    assert outcome["confirmed"] > 3, "else nothing was confirmed"


def test_the_attack_notices_a_checker_to_which_everything_is_a_square(proven, monkeypatch):
    monkeypatch.setattr(checker, "nonnegative", lambda *slack: True)
    assert attack(proven, 60, seed=0).wrong


def test_random_federations_break_what_is_a_tenth_too_strong_and_nothing_that_is_proven(proven):
    broken = 0
    for data, claim in proven:
        assert restated(data, claim).statement == claim.statement and not disproves(data, claim, 1)
        said = claim.statement
        larger = "left" if said.relation == ">=" else "right"
        broken += disproves(data, replace(claim, statement=replace(said, **{larger: getattr(said, larger) * 9 / 10})), 1)
    assert broken >= len(proven) // 2


def test_what_is_proven_for_every_number_of_rounds_holds_over_several():
    judged, wrong = attack_rounds(12, seed=1)
    assert not wrong and judged["proven"] > 2, "else nothing was looked at"


def test_the_attack_notices_an_induction_that_proves_everything(monkeypatch):
    monkeypatch.setattr(every_round, "at", lambda claim, given, place: SimpleNamespace(certificate=proven_at(claim, place)))
    monkeypatch.setattr(every_round, "replay_alone", lambda data: CheckResult(True, "yes"))
    assert attack_rounds(12, seed=1)[1]


def proven_at(claim, place):
    """The proof of the registered claim, with what another one states."""
    return at(find_claim(claim.id), {}, place).certificate | statement_of(claim)
