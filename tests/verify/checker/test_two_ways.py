"""Prover and checker share no code for runs on letters: what is to be proven, and every fact, must be the same in both."""

import json

import pytest

from bounds.registry.claims import find_claim
from tests.not_empty import not_empty
from tests.verify.attack.certificates import proofs
from verify.checker import proof as checked
from verify.checker import rounds as checked_rounds
from verify.checker.class_facts import class_facts
from verify.checker.schema import STATED
from verify.symbolic import proof as proving
from verify.symbolic import rounds as proving_rounds
from verify.worst.every_round import every_round

#: claims that are proven for every number of rounds, by one round and by a potential
EVERY_ROUND = ("classical/gd-distance", "classical/sgd-distance", "classical/fedavg-round", "classical/scaffold-nonconvex")


def duties_of_both(certificate):
    """By setting, what is to be proven: as the checker has it, and as the prover has it."""
    for setting in not_empty(certificate["settings"]):
        whole = {name: certificate[name] for name in STATED} | setting
        numbers, _ = checked.parse_setting(whole)
        if certificate["format"] == checked.FORMAT:
            yield checked.obligations(whole, numbers), proving.obligations(whole, numbers)
        else:
            ours = proving_rounds.obligations(whole, numbers, setting["potential"], setting.get("degree"))
            yield checked_rounds.obligations(whole, numbers), ours


def compare(certificate):
    """Compare all; the number of facts that were compared."""
    compared = 0
    for checkers, provers in not_empty(duties_of_both(certificate)):
        assert len(checkers) == len(provers)
        for one, other in zip(checkers, provers, strict=True):
            assert (one.larger - one.smaller).equals(other.larger - other.smaller)
        pasts = [*dict.fromkeys(obligation.past for obligation in checkers if obligation.run is checkers[0].run)]
        ours = class_facts(checkers[0].run, pasts)
        own = {obligation.past for obligation in provers if obligation.letters is provers[0].letters}
        for past, (inequalities, equalities) in provers[0].letters.facts_by_past(own).items():
            for forms, zero in ((inequalities, False), (equalities, True)):
                for name in forms:
                    form, is_zero = ours[past].fact(name)
                    assert is_zero == zero and form.equals(forms[name]), name
                    compared += 1
    return compared


def test_every_fact_of_proofs_is_the_same():
    assert sum(compare(certificate) for certificate, _ in not_empty(proofs())) > 1000


@pytest.mark.parametrize("name", EVERY_ROUND)
def test_every_fact_of_one_round_is_the_same(name):
    certificate = json.loads(json.dumps(every_round(find_claim(name)).certificate))
    assert compare(certificate) > 10
