"""Counterexamples of related claims are looked at too."""

from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import NUMPY
from verify.claims.related import related
from verify.claims.sizes import allowed
from verify.exact.confirm import Violation
from verify.instances.draw import draw_params, draw_shape
from verify.instances.parameters import map_params
from verify.search import search as search_module
from verify.search.archive import Archive
from verify.search.budget import BUDGETS, Budget
from verify.search.related import related as batches_of_related
from verify.search.search import search
from verify.search.stage import State
from verify.search.stages import NAMES

LESS = Budget(0, 16, 0, small=4, most_iterations=1, most_rounds=(1,), before=BUDGETS["quick"])
OTHERS = {*NAMES} - {"related"}


def state_of(claim, violations, budget=LESS):
    return State(claim, budget, Archive(), (), NUMPY, [0, 1], violations)


@pytest.mark.parametrize("claim_id", ["fadamgc/lemma-D.2@all-tracked", "fadamgc/eq-165@both", "fedluar/lemma-3.1@update"])
def test_batches_have_the_sizes_of_the_claim_and_the_numbers_of_the_counterexample(claim_id):
    claim, rng = find_claim(claim_id), np.random.default_rng(0)

    def found(other):
        shape = draw_shape(other, rng, 64, 10)
        params = map_params(draw_params(other, shape, 1, rng), lambda name, array: array.astype(object))
        return Violation(shape, params, None, Q(1), Q(0))

    theirs = [found(other) for other in related(claim)]
    batches = [*batches_of_related(state_of(claim, theirs))]
    batches = [(shape, params) for shape, params in batches if len(params["center"]) == 80]  # the others are local searches
    assert len(batches) >= 2
    for shape, params in batches:
        assert allowed(claim, shape.as_sizes()) and {v.name for v in claim.variables if v.domain != "integer"} <= set(params)
        assert any((shape.clients, shape.rounds) == (v.shape.clients, v.shape.rounds) for v in theirs)
    for _, params in batches:  # first with other numbers where the counterexample has none, then near it
        assert any(v.params["center"].shape == params["center"][:1].shape
                   and (params["center"][:17] == v.params["center"]).all() for v in theirs)
        assert (params["center"][17:] != params["center"][:1]).any()


def test_a_search_with_the_smallest_budget_looks_at_no_other_claims():
    assert [*batches_of_related(state_of(find_claim("fadamgc/eq-81"), iter([1 / 1]), LESS.before))] == []


def test_a_false_statement_is_found_by_the_counterexample_of_a_reading(monkeypatch):
    """All other stages are off; the other reading is said to be broken by what breaks the claim itself."""
    claim = find_claim("fedluar/lemma-3.1")
    own = search(claim, BUDGETS["quick"]).violation
    asked = []

    def found(claims, budget, *rest):
        asked.append((claims, budget))
        yield own

    monkeypatch.setattr(search_module, "_counterexamples", found)
    assert search(claim, LESS.before, related=related(claim), without=OTHERS).violation is None
    assert search(claim, LESS, related=related(claim), without=OTHERS).violation is not None
    assert asked[-1] == (related(claim), LESS.levels[0])
    assert search(claim, LESS, related=related(claim), without=NAMES).violation is None


def test_counterexamples_are_those_of_the_smallest_budget():
    false, true = find_claim("fedluar/lemma-3.1"), find_claim("fedmoswa/eq-65")
    smallest = replace(LESS.before, batches=1, size=64)  # six shapes of 64 rows find a violation at half of the seeds
    alone = search(false, smallest).violation
    assert alone is not None
    found = [*search_module._counterexamples((true, false), smallest, 0, NUMPY, ())]
    assert [(v.shape, v.left, v.right) for v in found] == [(alone.shape, alone.left, alone.right)]


def test_related_claims_that_cannot_be_measured_are_passed_over(monkeypatch):
    def fails(*given, **more):
        raise LookupError("nothing supplies it")

    monkeypatch.setattr(search_module, "search", fails)
    assert [*search_module._counterexamples((find_claim("fedluar/lemma-3.1"),), LESS, 0, NUMPY, ())] == []


PRODUCTS = """
[[claim]]
id = "mine/{name}"
method = "fedavg"
variables = {{a = "positive", b = "positive"}}
statement = "a*b/((3 + a**2)*(3 + b**2)) <= {most}"
"""


@pytest.mark.parametrize("seed", range(3))
def test_a_local_search_may_begin_at_the_counterexample_of_the_step_before(monkeypatch, tmp_path, seed):
    """The largest value of the left side is 1/12, where a**2 = b**2 = 3: the later step is true where the earlier one fails
    at simple numbers, and fails not far from there."""
    (tmp_path / "two.toml").write_text(
        PRODUCTS.format(name="earlier", most="0.06") + PRODUCTS.format(name="later", most="0.082"), encoding="utf-8")
    earlier, later = load_claims(tmp_path / "two.toml")
    theirs = search(earlier, BUDGETS["quick"], seed).violation
    assert theirs is not None
    monkeypatch.setattr(search_module, "_counterexamples", lambda *given: iter([theirs]))
    assert search(later, LESS, seed, without=OTHERS).violation is None
    assert search(later, replace(LESS, cma_steps=40), seed, without=OTHERS).violation is not None
