"""Counterexamples of a claim's kin are looked at too, and leave no trace in what claims share."""

from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest

from bounds.registry.claims import all_claims, find_claim
from synthetic.numbers.arrays import NUMPY
from verify.claims.sizes import allowed
from verify.exact.confirm import Violation
from verify.instances.draw import draw_leaves, draw_shape
from verify.instances.leaves import map_leaves
from verify.search import kin as kin_module
from verify.search import search as search_module
from verify.search.budget import BUDGETS, Budget
from verify.search.kin import handed_over, kin
from verify.search.search import search
from verify.search.sharing import RUNS

LESS = Budget(0, 16, 0, small=4, most_iterations=1, most_rounds=(1,), before=BUDGETS["quick"])


def test_kin_are_readings_steps_and_what_they_serve():
    for claim in [*all_claims().values()][::40]:
        if claim.setting != "run" or claim.procedure is None:
            assert kin(claim.id) == ()
            continue
        for name in kin(claim.id):
            other = find_claim(name)
            near = other.block == claim.block or any(
                one.partition("@")[0] == two.block
                for first, two in ((claim, other), (other, claim)) for one in first.steps) or name in {
                    c.id for c in all_claims().values() if c.block in {s.partition("@")[0] for s in claim.steps}}
            assert other.procedure.base == claim.procedure.base and other.explicit and name != claim.id
            assert near or any(claim.id in find_claim(c).steps for c in all_claims() if find_claim(c).block == other.block)
    assert "fadamgc/lemma-A.1" in kin("fadamgc/eq-81") and "fadamgc/eq-81@y-gradient" in kin("fadamgc/eq-81")


@pytest.mark.parametrize("claim_id", ["fadamgc/lemma-D.2@all-tracked", "fadamgc/eq-165@both", "fedluar/lemma-3.1@update"])
def test_batches_of_kin_have_the_sizes_and_numbers_of_the_claim(claim_id):
    claim, rng = find_claim(claim_id), np.random.default_rng(0)

    def found(other):
        shape = draw_shape(other, rng, 64, 10)
        leaves = map_leaves(draw_leaves(other, shape, 1, rng), lambda name, array: array.astype(object))
        return Violation(shape, leaves, None, Q(1), Q(0))

    theirs = [found(find_claim(name)) for name in kin(claim_id)]
    answers = iter(theirs)
    batches = [*handed_over(claim, lambda other: next(answers), rng, 64)]
    assert len(batches) >= 2
    for shape, leaves in batches:
        assert allowed(claim, shape.as_sizes()) and {v.name for v in claim.variables if v.domain != "integer"} <= set(leaves)
        assert any((shape.clients, shape.rounds) == (v.shape.clients, v.shape.rounds) for v in theirs)
    for _, leaves in batches:  # first with other numbers where the counterexample has none, then near it
        assert any(v.leaves["center"].shape == leaves["center"][:1].shape
                   and (leaves["center"][:17] == v.leaves["center"]).all() for v in theirs)
        assert (leaves["center"][17:] != leaves["center"][:1]).any()


def test_a_claim_that_is_not_the_registered_one_has_no_kin():
    claim = replace(find_claim("fadamgc/eq-81"), number="mine")
    assert [*handed_over(claim, lambda other: 1 / 0, np.random.default_rng(0), 64)] == []


def test_a_false_statement_is_found_by_the_counterexample_of_a_reading(monkeypatch):
    """The search's own batches are taken away; each of the kin is said to be broken by what breaks the claim itself."""
    claim = find_claim("fedluar/lemma-3.1")
    own = search(claim, BUDGETS["quick"]).violation
    monkeypatch.setattr(search_module, "_instances", lambda *given: iter(()))
    asked = []
    monkeypatch.setattr(search_module, "remembered", lambda other, circumstances, find: asked.append(circumstances) or own)
    assert search(claim, LESS.before).violation is None
    assert search(claim, LESS).violation is not None
    assert asked and all(smallest == LESS.stages[0] for smallest, *_ in asked)


def test_a_climb_may_begin_at_the_counterexample_of_the_step_before(monkeypatch):
    """Of a chain's steps the later one is loose where the earlier one fails, and fails not far from there."""
    later, earlier = find_claim("fadamgc/eq-157"), find_claim("fadamgc/eq-151")
    theirs = search(earlier, BUDGETS["quick"]).violation
    assert theirs is not None
    monkeypatch.setattr(search_module, "_instances", lambda *given: iter(()))
    monkeypatch.setattr(search_module, "remembered",
                        lambda other, circumstances, find: theirs if other is earlier else None)
    assert search(later, LESS).violation is None
    assert search(later, replace(LESS, climbs=40)).violation is not None


@pytest.mark.parametrize("claim_id", ["fedluar/lemma-3.1", "fedmoswa/eq-65"])  # a false one, and one that no search refutes
def test_a_larger_search_keeps_for_its_kin_what_the_smallest_finds(claim_id, monkeypatch):
    monkeypatch.setattr(kin_module, "_FOUND", {})
    claim, smallest = find_claim(claim_id), replace(LESS.before, batches=1, size=64, small=6, small_rows=64)
    alone = search(claim, smallest).violation
    monkeypatch.setattr(kin_module, "_FOUND", {})
    search(claim, replace(LESS, before=smallest))
    kept = kin_module.remembered(claim, (smallest, 0, NUMPY), lambda other: 1 / 0)
    assert (alone is None) == (kept is None) == (claim_id != "fedluar/lemma-3.1")
    assert kept is None or (kept.shape, kept.left, kept.right) == (alone.shape, alone.left, alone.right)
    other = replace(claim, number="mine")
    kin_module.remember(other, ("mine",), alone)
    assert (claim_id, "mine") not in kin_module._FOUND


def test_what_claims_share_is_as_it_was_after_a_look_aside():
    RUNS.forget()
    claim, other = find_claim("fedluar/lemma-3.1"), find_claim("fedmoswa/lemma-g.9")
    search(claim, LESS)
    kept, leader = dict(RUNS.kept), RUNS.leader
    assert leader is claim and kept
    with RUNS.aside():
        assert RUNS.leader is None and not RUNS.kept
        search(other, Budget(0, 16, 0, small=2, most_iterations=1, most_rounds=(1,)))
        assert RUNS.leader is other
    assert RUNS.leader is claim and RUNS.kept == kept and all(environment.bound for environment in kept.values())
    with pytest.raises(ZeroDivisionError), RUNS.aside():
        Q(1) / 0
    assert RUNS.leader is claim
    RUNS.forget()
