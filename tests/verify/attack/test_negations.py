"""A statement and its strict negation, or a proof and a refutation of one claim, are never both accepted."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from bounds.language.claim import Claim
from bounds.registry.claims import all_claims, find_claim
from tests.verify.attack.certificates import certificates, of_every_method, proofs
from tests.verify.attack.other_kinds import of_other_kinds
from tests.verify.attack.scopes import proofs_of_many
from tests.verify.attack.second_opinion import disproves
from verify.exact.check import check, replay_alone
from verify.growth.certificate import FORMAT as GROWTH
from verify.prove.number_certificates import number_certificate
from verify.referee.decide import Settings, decide
from verify.worst.coordinate_ascent import ERRORS
from verify.worst.worst_case import worst_case

#: relation -> the one that holds just where it does not
NEGATED = {"<=": ">", "<": ">=", ">=": "<", ">": "<="}
#: sizes and numbers of a counterexample at which a proof is looked for
SIZES = ("clients", "rounds", "local_steps", "participants", "layers")
#: refuted claims of a quick test; the slow one has one of every paper, kind and method
FEW = ("fedalign/theorem-1", "afedpd/lemma-2", "fedmoswa/lemma-g.11", "fadamgc/eq-96")


def negated(claim: Claim) -> Claim:
    opposite = replace(claim.statement, relation=NEGATED[claim.statement.relation])
    return replace(claim, id=f"{claim.id}-negated", statement=opposite)


def flipped(data: dict) -> dict:
    """A counterexample, with the same sides, to the strict negation."""
    statement = data["statement"]
    return data | {"statement": statement | {"relation": NEGATED[statement["relation"]]}}


def not_both(data: dict, claim: Claim) -> str:
    """What is accepted beside an accepted counterexample; empty if nothing is."""
    if data["statement"]["relation"] in NEGATED and replay_alone(flipped(data)).accepted:
        return "a counterexample to the negation"
    if claim.setting != "run":
        return "" if number_certificate(claim) is None else "a symbolic proof"
    given = {name: Fraction(data["sizes"][name]) for name in SIZES if name in data["sizes"]}
    numbers = {name: Fraction(value) for name, value in _one_number_each(data["values"]).items()}
    for chosen in (given | numbers, given):
        try:
            found = worst_case(claim, chosen, factors=False).certificate
        except ERRORS:
            continue
        if found is not None and _speaks_of(found, data) and check(json.loads(json.dumps(found)), claim).accepted:
            return f"a proof at {chosen}"
    return ""


def _one_number_each(values: dict) -> dict:
    """The values that are one number, a constant sequence as its entry."""
    return {name: value if isinstance(value, str) else value[0] for name, value in values.items()
            if isinstance(value, str) or (value and isinstance(value[0], str) and len({*value}) == 1)}


def _speaks_of(proof: dict, data: dict) -> bool:
    """Whether a proof has a setting with the numbers of a counterexample."""
    wanted = _one_number_each(data["values"])
    return any(_one_number_each(setting["values"]).items() <= wanted.items() for setting in proof.get("settings", ()))


@pytest.mark.parametrize("name", FEW)
def test_what_is_refuted_is_not_proven_where_it_is_refuted(name):
    claim = find_claim(name)
    data = json.loads(json.dumps(decide(claim, Settings(federations=False)).details["instance"]))
    assert check(data, claim).accepted and not not_both(data, claim)


def test_no_certificate_has_one_of_the_opposite():
    looked_at = 0
    for data, claim in (*certificates(None, 0), *of_every_method(), *of_other_kinds()):
        if data["format"] != GROWTH and claim.exists is None:
            looked_at += 1
            assert not (other := not_both(data, claim)), f"{claim.id}: refuted, and there is {other}"
    assert looked_at > 50


def test_no_federation_breaks_what_is_proven():
    given = [*proofs(), *proofs_of_many()]
    assert given
    for data, claim in given:
        assert not disproves(data, claim, 1), claim.id


def test_no_claim_is_proven_with_its_negation():
    proven = 0
    for claim in all_claims().values():
        if claim.setting == "run" or not claim.explicit or claim.exists is not None or claim.statement is None:
            continue
        if claim.statement.relation in NEGATED and number_certificate(claim) is not None:
            proven += 1
            assert number_certificate(negated(claim)) is None, claim.id
    assert proven > 50


def test_a_checker_that_accepts_everything_is_noticed(monkeypatch):
    claim = find_claim(FEW[0])
    data = json.loads(json.dumps(decide(claim, Settings(federations=False)).details["instance"]))
    assert not not_both(data, claim)
    monkeypatch.setitem(globals(), "replay_alone", lambda data: type("Result", (), {"accepted": True}))
    assert not_both(data, claim) == "a counterexample to the negation"
