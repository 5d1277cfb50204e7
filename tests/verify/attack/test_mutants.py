"""A short random attack: no mutant is accepted against the engine's opinion, none raises or takes long; proofs likewise."""

import json
import random
from dataclasses import replace
from types import SimpleNamespace

import pytest

from bounds.language.operators import clients
from bounds.registry.claims import find_claim
from tests.verify.attack import attack as attacking
from tests.verify.attack import every_round
from tests.verify.attack.attack import attack
from tests.verify.attack.certificates import of_lengths, proofs
from tests.verify.attack.every_round import attack_rounds
from tests.verify.attack.mutants import mutant
from tests.verify.attack.other_kinds import of_other_kinds
from tests.verify.attack.second_opinion import disproves, refutes, restated
from verify.checker import proof as checker
from verify.checker.laurent_polynomials import CLIENTS
from verify.checker.theories import noise
from verify.exact.check import CheckResult, replay_alone
from verify.exact.statement import statement_of
from verify.referee.decide import Settings, decide
from verify.symbolic import exchangeable_facts
from verify.worst.every_round import every_round_at

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
    table = attack(given, 150, seed=0)
    assert not table.faults, table.faults[:3]
    assert table.total("accepted") > 5, "else nothing was confirmed"


def test_mutants_of_other_kinds_are_refused_or_refute():
    kinds = ("last-of-several", "mean-step", "variates-and-their-mean", "least-value", "shifts-vanish", "order-bernoulli")
    table = attack([*of_other_kinds(*kinds)], 120, seed=0)
    assert not table.faults, table.faults[:3]
    assert table.total("agreed") > 5, "else nothing was confirmed"


def test_the_attack_notices_a_checker_that_accepts_whatever_it_can_evaluate(given, monkeypatch):
    honest = attacking._checked

    def accepted(data, claim):
        result = honest(data, claim)
        return replace(result, accepted=result.accepted or result.left != "")

    monkeypatch.setattr(attacking, "_checked", accepted)
    table = attack(given, 60, seed=0)
    assert table.faults


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


def of(proven, every, *names):
    """The proofs for every number of clients, or for some number, of claims or of all."""
    return [one for one in proven if ("degree" in one[0]["settings"][0]) == every and (not names or one[1].id in names)]


@pytest.mark.parametrize("every", [False, True], ids=["some", "every"])
def test_mutants_of_proofs_are_refused_or_hold(proven, every):
    table = attack(of(proven, every), 120, seed=2)
    assert not table.faults, table.faults[:3]
    assert table.total("agreed") > 3, "else nothing was confirmed"


def test_the_attack_notices_a_checker_to_which_everything_is_a_square(proven, monkeypatch):
    monkeypatch.setattr(checker, "nonnegative", lambda *slack: True)
    assert attack(of(proven, False), 60, seed=0).faults


def test_the_attack_notices_noise_of_means_that_is_taken_for_half_of_it(proven, monkeypatch):
    for theory in (exchangeable_facts, noise):  # the prover's, and the checker's
        monkeypatch.setattr(theory, "CLIENTS", 2 * CLIENTS)
    assert attack(of(proven, True, "attacked/noise-of-a-mean"), 60, seed=0).faults


@pytest.mark.parametrize(("factor", "broken"), [
    (1, False), (1 - (clients - 2) * (clients - 3) / 10, True), (1 - (clients - 2) / 10, True)])
def test_what_fails_from_some_number_of_clients_on_is_broken(proven, factor, broken):
    (data, claim), = of(proven, True, "attacked/noise-of-a-mean")
    other = replace(claim, statement=replace(claim.statement, right=factor * claim.statement.right))
    assert disproves(data, other, 1) == broken
    without = {name: value for name, value in data["settings"][0].items() if name != "degree"}
    assert not disproves(data | {"settings": [without]}, other, 1)


@pytest.mark.parametrize("every", [False, True], ids=["some", "every"])
def test_random_federations_break_what_is_a_tenth_too_strong_and_nothing_that_is_proven(proven, every):
    broken, proven = 0, of(proven, every)
    for data, claim in proven:
        assert restated(data, claim).statement == claim.statement and not disproves(data, claim, 1)
        said = claim.statement
        larger = "left" if said.relation == ">=" else "right"
        broken += disproves(data, replace(claim, statement=replace(said, **{larger: getattr(said, larger) * 9 / 10})), 1)
    assert broken >= len(proven) // 2


def test_what_is_proven_for_every_number_of_rounds_holds_over_several():
    table = attack_rounds(12, seed=1)
    assert not table.faults and table.total("agreed") > 2, "else nothing was looked at"


def test_the_attack_notices_an_induction_that_proves_everything(monkeypatch):
    monkeypatch.setattr(every_round, "every_round_at", proven_at)
    monkeypatch.setattr(every_round, "replay_alone", lambda data: CheckResult(True, "yes"))
    assert attack_rounds(12, seed=1).faults


def proven_at(claim, given, place, onwards):
    """The proof of the registered claim, with what another one states."""
    certificate = every_round_at(find_claim(claim.id), given, place, onwards).certificate
    return SimpleNamespace(certificate=certificate | statement_of(claim))


def test_random_federations_have_no_larger_slopes_than_a_proof_says():
    """At G_lip = sigma = 1 an update is no longer than eta sigma, so that the gradient's length is not needed beside it."""
    data, claim = next((data, claim) for data, claim in of_lengths() if claim.id == "fedmoswa/eq-23")
    total, distance, update = data["statement"]["right"]
    assert total == "+" and update[1][0] == "+" and "sigma" in update[1]
    shorter = data | {"statement": data["statement"] | {"right": ["+", distance, ["*", "sigma", *update[2:]]]}}
    assert replay_alone(shorter).accepted and not disproves(shorter, restated(shorter, claim), 0)
    without = data | {"statement": data["statement"] | {"right": distance}}
    assert not replay_alone(without).accepted and disproves(without, restated(without, claim), 0)
