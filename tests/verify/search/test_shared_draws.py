"""Claims that assume the same are looked at first on the same instances, each as if it were alone."""

from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
import sympy as sp

from bounds.language import words
from bounds.language.claim import Claim, Condition
from bounds.registry.papers import claims_of_paper
from synthetic.numbers.arrays import NUMPY
from verify.referee.workers import _groups
from verify.search import search as search_module
from verify.search import sharing as shared_draws
from verify.search.budget import Budget
from verify.search.pools import Pools
from verify.search.sharing import Draws, Known, SharedRuns, _digest, assume_the_same, drawn_for

_LITTLE = Budget(2, 4, 0, small=3, small_rows=4)
_PAPERS = ("fedalign", "fedmoswa", "fedluar", "afedpd", "fadamgc", "classical")


def _groups_of(paper):
    """Claims of a paper whose draws are shared, several at a time."""
    groups, claims = defaultdict(list), list(claims_of_paper(paper).values())
    numbers = _groups(claims)
    for claim in claims:
        if claim.statement is not None and claim.explicit and drawn_for(claim) is not None:
            groups[numbers[claim.id], drawn_for(claim)].append(claim)
    return [group for group in groups.values()
            if len(group) > 1 and all(assume_the_same(*two) for two in pairwise(group))]


def _batches(claim):
    """Shapes and digests of the first batches, drawn for this claim alone."""
    search_module.RUNS.forget()
    return [(shape, _digest(leaves)) for shape, leaves in search_module._instances(claim, _LITTLE, 0, Pools(), NUMPY)]


def _all_draw_the_same(group):
    first, *others = group
    expected = _batches(first)
    assert expected
    for claim in others:
        assert _batches(claim) == expected, f"{claim.id} draws other instances than {first.id}"


@pytest.mark.parametrize("paper", _PAPERS)
def test_claims_that_share_draws_would_draw_the_same(paper, monkeypatch):
    monkeypatch.setattr(search_module, "RUNS", SharedRuns())
    for group in _groups_of(paper)[::40]:
        _all_draw_the_same([group[0], group[-1]])


@pytest.mark.slow
@pytest.mark.parametrize("paper", _PAPERS)
def test_all_claims_that_share_draws_would_draw_the_same(paper, monkeypatch):
    monkeypatch.setattr(search_module, "RUNS", SharedRuns())
    for group in _groups_of(paper):
        _all_draw_the_same(group)


def test_ranges_that_may_be_empty_tell_draws_apart():
    t, rounds = sp.Symbol("t", integer=True), words.rounds
    step = Condition(words.eta_l[words.t], "==", sp.Rational(1, 8), ((words.t, 0, words.iterations - 1),))

    def claim(low, high):
        return Claim(id="test/some", number="", kind="lemma", setting="run", source="test", conditions=(step,),
                     statement=Condition(words.objective(words.x_round[t]), "<=", 1, ((t, low, high),)))

    always = drawn_for(claim(0, rounds - 1))
    assert always == drawn_for(claim(0, words.local_steps - 1)) == drawn_for(claim(0, words.clients - 1))
    assert len({always, drawn_for(claim(0, rounds - 2)), drawn_for(claim(1, rounds - 1)), drawn_for(claim(1, rounds))}) == 4


def _three_numbers(known, seed=3):
    """Three numbers drawn one after the other, and a fourth that nobody keeps."""
    rng = np.random.default_rng(seed)
    draws, drawn = Draws(known, (rng,)), []

    def draw():
        drawn.append(1)
        return {"number": rng.random(2)}

    found = [draws(draw)["number"] for _ in range(3)]
    return np.array([*found, rng.random(2)]), len(drawn)


def test_what_is_known_is_not_drawn_again_and_leaves_the_generators_alike():
    known = Known()
    first, drawn = _three_numbers(known)
    assert drawn == 3
    second, drawn = _three_numbers(known)
    assert drawn == 0
    np.testing.assert_array_equal(first, second)


def test_what_finds_no_room_is_drawn_again(monkeypatch):
    monkeypatch.setattr(shared_draws, "_MOST_BYTES", 40)
    known = Known()
    first, _ = _three_numbers(known)
    second, drawn = _three_numbers(known)
    assert drawn == 1 and known.bytes <= 40
    np.testing.assert_array_equal(first, second)


def test_other_circumstances_are_drawn_apart():
    known, rng = Known(), np.random.default_rng(0)
    assert Draws(known, (rng,))(lambda: 1, "short") == 1
    assert Draws(known, (rng,))(lambda: 2, "long") == 2
    assert Draws(known, (rng,))(lambda: 3, "short") == 1
