"""Mutants of proofs about numbers: random exact numbers break none that the checker accepts, and notice faults in it."""

import json
from fractions import Fraction

import pytest

from tests.not_empty import not_empty
from tests.verify.attack import numbers
from tests.verify.attack.numbers import attack_numbers, broken, value
from tests.verify.checker.test_number_proofs import HONEST, certificate
from verify.checker import number_formulas, number_proof
from verify.checker.number_facts import KnownFacts

GIVEN = [json.loads(json.dumps(certificate(*HONEST[name]))) for name in HONEST if len(HONEST[name]) < 4]


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(numbers, "certificates_of_numbers", lambda: GIVEN)


def test_no_mutant_that_is_accepted_is_broken():
    table = attack_numbers(250, 1)
    assert not table.faults and table.total("agreed") > 20, table.markdown()


#: what is planted in the checker
FAULTS = {
    "any identity": lambda patch: patch.setattr(number_proof, "vanishes", lambda p: True),
    "any sign": lambda patch: patch.setattr(KnownFacts, "evident_sign", lambda self, p: 2),
    "any divisor": lambda patch: patch.setattr(number_formulas.Reader, "require_or_assume", lambda *_, **__: None),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_the_checker_are_noticed(name, monkeypatch):
    FAULTS[name](monkeypatch)
    assert any("does not agree" in why for seed in range(20) for _, why, _ in attack_numbers(15, seed).faults)


def test_statements_are_worth_what_they_say():
    given = {"x": Fraction(2), "a": [Fraction(1), Fraction(3)], "n": Fraction(2), "v": [Fraction(3), Fraction(4)]}
    sum_of_squares = ["Sum", ["^", ["a", "i"], 2], "i", 0, ["+", -1, "n"]]
    half = ["^", 2, -1]
    for node, wanted in ((sum_of_squares, 10), (["norm", "v"], 5), (["norm2", ["*", "x", "v"]], 100), (["^", 4, half], 2),
                         (["Sum", 1, "i", 1, 0], 0), (["Product", "i", "i", 1, 4], 24), (["Mod", half, 1], Fraction(1, 2))):
        assert value(node, given) == wanted
    for node in (["^", 0, -1], ["a", "n"], ["norm3", "v"]):
        with pytest.raises(numbers.NoValue):
            value(node, given)


def test_every_honest_statement_is_met_and_holds():
    for data in not_empty(GIVEN):
        wrong, met = broken(data, 0)
        assert not wrong and (met or "Exp1" in str(data["statement"])), data["statement"]
