"""Mutants of proofs that a claim is ill-posed: nothing meets the hypotheses of those that the checker accepts."""

import pytest

from bounds.registry.claims import find_claim
from tests.verify.attack import ill_posed
from tests.verify.attack.ill_posed import attack_ill_posed, certificates_of_ill_posed, is_met
from verify.checker import contradiction, number_proof
from verify.checker.number_facts import KnownFacts
from verify.exact.statement import statement_of

#: what is planted in the checker
FAULTS = {
    "no contradiction": lambda patch: patch.setattr(contradiction, "require", lambda *_: None),
    "any identity": lambda patch: patch.setattr(number_proof, "vanishes", lambda p: True),
    "any sign": lambda patch: patch.setattr(KnownFacts, "evident_sign", lambda self, p: 2),
}


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """The claims about numbers alone, which are decided fast."""
    given = [(data, claim) for data, claim in certificates_of_ill_posed() if data["setting"] == "algebra"]
    assert len(given) >= 7
    monkeypatch.setattr(ill_posed, "certificates_of_ill_posed", lambda: given)


def test_no_mutant_that_is_accepted_says_something():
    table = attack_ill_posed(150, 1)
    assert not table.faults and table.total("agreed") > 10, table.markdown()


@pytest.mark.parametrize("name", FAULTS)
def test_faults_of_the_checker_are_noticed(name, monkeypatch):
    FAULTS[name](monkeypatch)
    assert any("does not agree" in why for seed in range(8) for _, why, _ in attack_ill_posed(40, seed).faults)


@pytest.mark.slow
def test_federations_meet_hypotheses_that_do_not_exclude_each_other():
    """Strong convexity excludes the bound on gradients at all points; without the former some federations are left."""
    for data, claim in certificates_of_ill_posed.__wrapped__():
        if claim.id == "fedmoswa/lemma-f.4":
            assert not is_met(data, claim, 0)
    possible = find_claim("li2020/theorem-1")
    assert is_met({"setting": "run", **statement_of(possible)}, possible, 0)
