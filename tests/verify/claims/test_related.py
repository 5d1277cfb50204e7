"""Related claims: readings of the same block, steps of the proof, and what a claim is a step of."""

from dataclasses import replace

from bounds.registry.claims import all_claims, find_claim
from tests.not_empty import if_any, not_empty
from verify.claims.related import related


def test_related_are_readings_steps_and_what_a_claim_serves():
    for claim in not_empty([*all_claims().values()][::40]):
        if claim.setting != "run" or claim.procedure is None:
            assert related(claim) == ()
            continue
        for other in if_any(related(claim)):
            near = other.block == claim.block or any(
                one.partition("@")[0] == two.block
                for first, two in ((claim, other), (other, claim)) for one in first.steps)
            assert other.procedure.base == claim.procedure.base and other.explicit and other is not claim
            assert near or any(claim.id in c.steps for c in all_claims().values() if c.block == other.block)


def test_steps_and_their_readings_are_found_in_both_directions():
    names = [claim.id for claim in related(find_claim("fadamgc/eq-81"))]
    assert "fadamgc/lemma-A.1" in names and "fadamgc/eq-81@y-gradient" in names


def test_readings_that_differ_least_come_first():
    claim = find_claim("fadamgc/eq-81")
    own = {*claim.id.partition("@")[2].split("+")} - {""}
    apart = [len(own ^ {*other.id.partition("@")[2].split("+")} - {""})
             for other in related(claim) if other.block == claim.block]
    assert len(apart) > 1 and apart == sorted(apart)


def test_a_claim_that_is_not_the_registered_one_has_none():
    assert related(replace(find_claim("fadamgc/eq-81"), number="mine")) == ()
