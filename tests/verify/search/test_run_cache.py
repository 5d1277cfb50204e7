"""Claims that assume the same share their draws and runs, and are judged as each is by itself."""

from collections import defaultdict
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition
from bounds.registry.papers import claims_of_paper
from synthetic.numbers.arrays import NUMPY
from verify.claims.sizes import entries_of
from verify.instances.draw import draw_params, draw_shape
from verify.measure.simulate import simulate
from verify.referee.workers import _groups
from verify.search import batch_evaluation, run_cache, stage
from verify.search.archive import Archive
from verify.search.budget import Budget
from verify.search.run_cache import RunCache, _digest, assume_the_same, drawn_for
from verify.search.search import search
from verify.search.stage import State
from verify.search.stages import STAGES
from verify.search.transformations import TRANSFORMATIONS, within_conditions

_LITTLE = Budget(0, 16, 0, small=6, most_iterations=1, most_rounds=(1,))
_FEW = Budget(2, 4, 0, small=3, small_rows=4)
_PAPERS = ("fedalign", "fedmoswa", "fedluar", "afedpd", "fadamgc")


def _alike(paper: str) -> list[list[Claim]]:
    """Claims of a paper that are alike, several of them, smallest ids first. Their arrays have as many indices."""
    groups, claims = defaultdict(list), list(claims_of_paper(paper).values())
    numbers = _groups(claims)
    for claim in claims:
        if claim.explicit and claim.statement is not None and claim.setting == "run":
            groups[numbers[claim.id]].append(claim)
    return [group[:2] for group in groups.values() if len(group) > 1 and assume_the_same(*group[:2])
            and entries_of(group[0]) == entries_of(group[1])]


@pytest.fixture
def runs(monkeypatch):
    """Shared runs of which nothing is kept yet, and how often a batch was realised."""
    fresh, made = RunCache(), []
    for module in (batch_evaluation, stage, within_conditions):
        monkeypatch.setattr(module, "RUNS", fresh)
    monkeypatch.setattr(run_cache, "simulate", lambda *a, **k: made.append(a[1]) or simulate(*a, **k))
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
    step = Condition(operators.eta_l[operators.t], "==", sp.Rational(1, 8), ((operators.t, 0, operators.iterations - 1),))
    return Claim(id="test/some", number="", kind="lemma", setting="run", source="test",
                 statement=Condition(left, "<=", 1), conditions=(step, *hypotheses), **fields)


def test_claims_that_need_other_constants_or_assume_something_else_are_not_alike():
    plain = _some_claim(operators.objective(operators.x_round[operators.rounds]))
    assert assume_the_same(plain, _some_claim(operators.norm2(operators.x_round[operators.rounds])))
    other = {
        "a constant of all points": _some_claim(sp.Symbol("sigma_g", nonnegative=True)),
        "a hypothesis": _some_claim(operators.L, (Condition(operators.L, "<=", 3),)),
        "a procedure": replace(plain, procedure=next(iter(claims_of_paper("fadamgc").values())).procedure),
        "definitions": replace(plain, definitions={}),
    }
    other["definitions"].definitions["noise"] = None
    assert {name: assume_the_same(plain, claim) for name, claim in other.items()} == dict.fromkeys(other, False)


def test_only_so_many_bytes_are_kept(runs, monkeypatch):
    fresh, _ = runs
    claim = _alike("fedalign")[0][0]
    monkeypatch.setattr(run_cache, "_MOST_BYTES", 0)
    search(claim, _LITTLE)
    assert len(fresh.kept) <= 1  # the one in use


def test_environments_that_are_not_kept_hold_no_arrays(runs):
    fresh, _ = runs
    claim, rng = _alike("fedalign")[0][0], np.random.default_rng(0)
    shape = draw_shape(claim, rng, 16, 10, 1)
    environment = fresh.simulate(claim, shape, draw_params(claim, shape, 3, rng), NUMPY, 10**6)
    assert len(environment.bound) > 3
    fresh.forget()
    assert not environment.bound and not environment.known and not fresh.kept


def test_instances_that_differ_in_one_number_have_runs_of_their_own(runs):
    fresh, made = runs
    claim, rng = _alike("fedalign")[0][0], np.random.default_rng(0)
    shape = draw_shape(claim, rng, 16, 10, 1)
    params = draw_params(claim, shape, 3, rng)
    other = params | {"center": params["center"] + 1}
    first = fresh.simulate(claim, shape, params, NUMPY, 10**6)
    assert fresh.simulate(claim, shape, params, NUMPY, 10**6) is first
    assert fresh.simulate(claim, shape, other, NUMPY, 10**6) is not first
    assert len(made) == 2


def test_claims_of_a_group_assume_the_same_and_claims_about_runs_come_first():
    claims = list(claims_of_paper("fedluar").values())
    groups = _groups(claims)
    assumed = defaultdict(set)
    for claim in claims:
        assumed[groups[claim.id]].add((claim.procedure, claim.variables, claim.hypotheses))
    assert set(groups) == {c.id for c in claims}
    assert len(set().union(*assumed.values())) == len(assumed) and all(len(found) == 1 for found in assumed.values())
    waiting = sorted(claims, key=lambda claim: groups[claim.id])
    assert [c.setting == "run" for c in waiting] == sorted((c.setting == "run" for c in waiting), reverse=True)


# draws --------------------------------------------------------------------------------------------------------------------
def _groups_of(paper):
    """Claims of a paper whose draws are shared, several at a time."""
    groups, claims = defaultdict(list), list(claims_of_paper(paper).values())
    numbers = _groups(claims)
    for claim in claims:
        if claim.statement is not None and claim.explicit and drawn_for(claim) is not None:
            groups[numbers[claim.id], drawn_for(claim)].append(claim)
    return [group for group in groups.values()
            if len(group) > 1 and all(assume_the_same(*two) for two in pairwise(group))]


def _batches(claim, runs):
    """Shapes and digests of the batches of fixed and random shapes, drawn for this claim alone."""
    runs.forget()
    state = State(claim, _FEW, Archive(), TRANSFORMATIONS, NUMPY, [0])
    return [(shape, _digest(params)) for one in [*STAGES.values()][:5] for shape, params in one(state)]


def _all_draw_the_same(group, runs):
    first, *others = group
    expected = _batches(first, runs)
    assert expected
    for claim in others:
        assert _batches(claim, runs) == expected, f"{claim.id} draws other instances than {first.id}"


@pytest.mark.parametrize("paper", [*_PAPERS, "classical"])
def test_claims_that_share_draws_would_draw_the_same(paper, runs):
    for group in _groups_of(paper)[::40]:
        _all_draw_the_same([group[0], group[-1]], runs[0])


@pytest.mark.slow
@pytest.mark.parametrize("paper", [*_PAPERS, "classical"])
def test_all_claims_that_share_draws_would_draw_the_same(paper, runs):
    for group in _groups_of(paper):
        _all_draw_the_same(group, runs[0])


def test_ranges_that_may_be_empty_tell_draws_apart():
    t, rounds = sp.Symbol("t", integer=True), operators.rounds
    step = Condition(operators.eta_l[operators.t], "==", sp.Rational(1, 8), ((operators.t, 0, operators.iterations - 1),))

    def claim(low, high):
        return Claim(id="test/some", number="", kind="lemma", setting="run", source="test", conditions=(step,),
                     statement=Condition(operators.objective(operators.x_round[t]), "<=", 1, ((t, low, high),)))

    always = drawn_for(claim(0, rounds - 1))
    assert always == drawn_for(claim(0, operators.local_steps - 1)) == drawn_for(claim(0, operators.clients - 1))
    assert len({always, drawn_for(claim(0, rounds - 2)), drawn_for(claim(1, rounds - 1)), drawn_for(claim(1, rounds))}) == 4


CLAIM = claims_of_paper("fedalign")["fedalign/theorem-1"]
DRAWN = []


def _draw(claim, rng, size):
    DRAWN.append(claim)
    return {"number": rng.random(size)}


def _three_numbers(runs, seed=3):
    """Three pairs of numbers drawn one after the other, a fourth that nobody keeps, and how many of the three were drawn."""
    rng = np.random.default_rng(seed)
    DRAWN.clear()
    found = [runs.draw(_draw, CLAIM, 2, rng=(rng,))["number"] for _ in range(3)]
    return np.array([*found, rng.random(2)]), len(DRAWN)


def test_what_is_known_is_not_drawn_again_and_leaves_the_generators_alike():
    runs = RunCache()
    first, drawn = _three_numbers(runs)
    second, again = _three_numbers(runs)
    assert (drawn, again) == (3, 0) and _three_numbers(runs, seed=4)[1] == 3
    np.testing.assert_array_equal(first, second)
    assert len({*first.ravel()}) == 8


def test_what_finds_no_room_is_drawn_again(monkeypatch):
    monkeypatch.setattr(run_cache, "_MOST_BYTES_OF_DRAWS", 40)
    runs = RunCache()
    first, _ = _three_numbers(runs)
    second, drawn = _three_numbers(runs)
    assert drawn == 1 and runs.bytes_of_draws <= 40
    np.testing.assert_array_equal(first, second)


def test_other_arguments_and_claims_that_draw_otherwise_are_drawn_apart():
    runs, samples = RunCache(), claims_of_paper("classical")["classical/sgd-stability-smooth"]
    for claim, size, drawn in ((CLAIM, 1, 1), (CLAIM, 2, 1), (CLAIM, 1, 0), (samples, 1, 1), (samples, 1, 1)):
        DRAWN.clear()
        assert len(runs.draw(_draw, claim, size, rng=(np.random.default_rng(0),))["number"]) == size
        assert len(DRAWN) == drawn


def test_runs_are_not_shared_with_a_claim_that_is_the_first_to_name_a_state():
    """With as many layers as coordinates only the claim's formulas tell the mask of layers from a vector."""
    claims = [claim for claim in claims_of_paper("fedluar").values() if claim.setting == "run" and claim.statement]
    naming = [claim for claim in claims if "server_recycle_set" in entries_of(claim)]
    others = [claim for claim in claims if claim not in naming]
    first, second = next((one, other) for other in naming for one in others if assume_the_same(one, other))
    runs = RunCache()
    runs._welcome(first)
    runs.draws["kept"] = None, []
    runs._welcome(second)
    assert not runs.draws
    runs.draws["kept"] = None, []
    runs._welcome(first)
    assert runs.draws
