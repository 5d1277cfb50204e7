"""Claims that assume the same share their runs, and are judged as each is by itself."""

from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from bounds.language import words
from bounds.language.claim import Claim, Condition
from bounds.registry.papers import claims_of_paper
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.evaluate import Evaluator
from verify.evaluation.scopes import LEAD, Scope, slices
from verify.instances.draw import draw_leaves, draw_shape
from verify.measure.realise import realise
from verify.referee.workers import _groups, _next, _Worker
from verify.search import search as search_module
from verify.search import sharing as shared_runs
from verify.search.budget import Budget
from verify.search.search import search
from verify.search.sharing import SharedRuns, assume_the_same

_LITTLE = Budget(0, 16, 0, small=6, most_iterations=1, most_rounds=(1,))
_PAPERS = ("fedalign", "fedmoswa", "fedluar", "afedpd", "fadamgc")


def _alike(paper: str) -> list[list[Claim]]:
    """Claims of a paper that are alike, several of them, smallest ids first."""
    groups, claims = defaultdict(list), list(claims_of_paper(paper).values())
    numbers = _groups(claims)
    for claim in claims:
        if claim.explicit and claim.statement is not None and claim.setting == "run":
            groups[numbers[claim.id]].append(claim)
    return [group[:2] for group in groups.values() if len(group) > 1 and assume_the_same(*group[:2])]


@pytest.fixture
def runs(monkeypatch):
    """Shared runs of which nothing is kept yet, and how often a batch was realised."""
    fresh, made = SharedRuns(), []
    monkeypatch.setattr(search_module, "RUNS", fresh)
    monkeypatch.setattr(shared_runs, "realise", lambda *a, **k: made.append(a[1]) or realise(*a, **k))
    return fresh, made


@pytest.mark.parametrize("paper", _PAPERS)
def test_a_search_sees_the_same_whether_runs_are_shared_or_not(paper, runs):
    fresh, made = runs
    shared = alone = 0
    for group in _alike(paper)[::40]:
        before = len(made)
        together = [search(claim, _LITTLE) for claim in group]
        shared += len(made) - before
        before = len(made)
        for claim, found in zip(group, together, strict=True):
            fresh.forget()
            single = search(claim, _LITTLE)
            assert (single.tried, single.met, single.ratio, single.unconfirmed) == (
                found.tried, found.met, found.ratio, found.unconfirmed)
            assert (single.violation is None) == (found.violation is None)
        alone += len(made) - before
    assert shared < alone


def _some_claim(left, hypotheses=(), **fields) -> Claim:
    step = Condition(words.eta_l[words.t], "==", sp.Rational(1, 8), ((words.t, 0, words.iterations - 1),))
    return Claim(id="test/some", number="", kind="lemma", setting="run", source="test",
                 statement=Condition(left, "<=", 1), conditions=(step, *hypotheses), **fields)


def test_claims_that_need_other_constants_or_assume_something_else_are_not_alike():
    plain = _some_claim(words.objective(words.x_round[words.rounds]))
    assert assume_the_same(plain, _some_claim(words.norm2(words.x_round[words.rounds])))
    other = {
        "a constant of all points": _some_claim(sp.Symbol("sigma_g", nonnegative=True)),
        "a hypothesis": _some_claim(words.L, (Condition(words.L, "<=", 3),)),
        "a procedure": replace(plain, procedure=next(iter(claims_of_paper("fadamgc").values())).procedure),
        "definitions": replace(plain, definitions={}),
    }
    other["definitions"].definitions["noise"] = None
    assert {name: assume_the_same(plain, claim) for name, claim in other.items()} == dict.fromkeys(other, False)


def test_only_so_many_bytes_are_kept(runs, monkeypatch):
    fresh, _ = runs
    claim = _alike("fedalign")[0][0]
    monkeypatch.setattr(shared_runs, "_MOST_BYTES", 0)
    search(claim, _LITTLE)
    assert len(fresh.kept) <= 1  # the one in use


def test_environments_that_are_not_kept_hold_no_arrays(runs):
    fresh, _ = runs
    claim, rng = _alike("fedalign")[0][0], np.random.default_rng(0)
    shape = draw_shape(claim, rng, 16, 10, 1)
    environment = fresh.realise(claim, shape, draw_leaves(claim, shape, 3, rng), NUMPY, 10**6)
    assert len(environment.bound) > 3
    fresh.forget()
    assert not environment.bound and not environment.known and not fresh.kept


def test_instances_that_differ_in_one_number_have_runs_of_their_own(runs):
    fresh, made = runs
    claim, rng = _alike("fedalign")[0][0], np.random.default_rng(0)
    shape = draw_shape(claim, rng, 16, 10, 1)
    leaves = draw_leaves(claim, shape, 3, rng)
    other = leaves | {"center": leaves["center"] + 1}
    first = fresh.realise(claim, shape, leaves, NUMPY, 10**6)
    assert fresh.realise(claim, shape, leaves, NUMPY, 10**6) is first
    assert fresh.realise(claim, shape, other, NUMPY, 10**6) is not first
    assert len(made) == 2


def _take_slowly(monkeypatch):
    monkeypatch.setattr("verify.evaluation.evaluate.slices", lambda *a: None)


@pytest.mark.parametrize("formula", (
    sp.Sum(words.norm2(words.x_local[words.t, words.k]), (words.k, 0, words.clients - 1), (words.t, 0, words.iterations)),
    sp.Sum((words.t + 1) * words.norm2(words.x_local[words.t, words.k]), (words.t, 0, words.iterations),
           (words.k, 0, words.clients - 1)),
    sp.Sum(words.norm2(words.x_local[words.t + 1, words.k] - words.x_local[words.t, words.k]),
           (words.k, 0, words.clients - 1), (words.t, 0, words.iterations - 1)),
    sp.Sum(words.norm2(words.x_local[words.iterations - words.t, words.k]),
           (words.k, 0, words.clients - 1), (words.t, 0, words.iterations)),
    sp.Sum(words.norm2(words.x_local[words.t, 0]), (words.t, 1, words.iterations)),
    sp.Sum(words.norm2(words.x_local[words.t, words.k]), (words.t, 0, words.k), (words.k, 0, words.clients - 1)),
), ids=str)
def test_slices_take_what_looking_up_every_entry_takes(formula, monkeypatch):
    claim, rng = _some_claim(formula), np.random.default_rng(0)
    shape = draw_shape(claim, rng, 16, 10, 1)
    while shape.iterations < shape.clients:
        shape = draw_shape(claim, rng, 16, 10, 1)
    environment = realise(claim, shape, draw_leaves(claim, shape, 3, rng), NUMPY)
    fast = Evaluator(environment).value(formula, Scope({})).data
    _take_slowly(monkeypatch)
    np.testing.assert_allclose(fast, Evaluator(environment).value(formula, Scope({})).data, rtol=1e-13)


def test_slices_refuse_what_lies_outside():
    scope = Scope({}).deeper("t", np.arange(4), np.ones(4, dtype=bool))
    assert slices("x", (words.t,), scope, (4,)) == ((*(slice(None),) * LEAD, slice(0, 4)), (4,))
    with pytest.raises(IndexError, match=r"index 0 of x must lie in 0..3; got 1..4"):
        slices("x", (words.t + 1,), scope, (4,))


def test_workers_stay_with_claims_that_assume_the_same_and_leave_others_theirs():
    claims = list(claims_of_paper("fedluar").values())
    groups = _groups(claims)
    assumed = defaultdict(set)
    for claim in claims:
        assumed[groups[claim.id]].add((claim.procedure, claim.variables, claim.hypotheses))
    assert set(groups) == {c.id for c in claims}
    assert len(set().union(*assumed.values())) == len(assumed) and all(len(found) == 1 for found in assumed.values())
    waiting = sorted(claims, key=lambda claim: groups[claim.id])
    assert [c.setting == "run" for c in waiting] == sorted((c.setting == "run" for c in waiting), reverse=True)
    first, second = _Worker(None, None, True), _Worker(None, None, True)
    for worker in (first, second):
        worker.claim = _next(worker, waiting, (first, second), groups)
        worker.group = groups[worker.claim.id]
    assert first.group != second.group
    more = sum(groups[claim.id] == first.group for claim in waiting)
    for _ in range(more):
        assert groups[_next(first, waiting, (first, second), groups).id] == first.group
    assert groups[_next(first, waiting, (first, second), groups).id] not in (first.group, second.group)
