"""Random members of a class in exact numbers satisfy every fact of the theories about letters."""

import random

import pytest

from tests.verify.checker.theories.facts import (
    FACTS,
    HELPERS,
    THEORIES,
    arguments_to_try,
    broken,
    evaluate_fact,
    theory_functions,
)
from tests.verify.checker.theories.judged import drawn
from verify.checker import class_facts
from verify.checker.theories import interpolation


def test_every_fact_has_a_row():
    assert theory_functions() == {*FACTS} | HELPERS
    named = {f"{made.__module__.rpartition('.')[2]}.{made.__name__}" for made in (*class_facts.INEQUALITIES.values(),
                                                                                  *class_facts.EQUALITIES.values())}
    assert named <= {*FACTS} and all(FACTS[name][1] == (name.split(".")[1] in {
        made.__name__ for made in class_facts.EQUALITIES.values()}) for name in named)


def wrong_of_members(theory, seeds, each):
    """(how many forms were looked at by fact, those that a member breaks)."""
    counts, wrong = dict.fromkeys([fact for fact in FACTS if fact.startswith(theory + ".")], 0), []
    for seed in seeds:
        member, rng = drawn(seed, theory), random.Random(seed)
        for fact in counts:
            for past, args in arguments_to_try(fact, member, rng, each):
                if forms := evaluate_fact(fact, member, past, args):
                    counts[fact] += len(forms)
                    wrong += [(fact, seed, past, args, name) for name in broken(fact, member, past, forms)]
    return counts, wrong


@pytest.mark.parametrize("theory", [*THEORIES])
def test_members_satisfy_every_fact(theory):
    counts, wrong = wrong_of_members(theory, range(25), 8)
    assert not wrong and min(counts.values()) > 5, (counts, wrong[:5])


@pytest.mark.slow
@pytest.mark.parametrize("theory", [*THEORIES])
def test_thousands_of_members_satisfy_every_fact(theory):
    counts, wrong = wrong_of_members(theory, range(1000, 3500), 12)
    assert not wrong and min(counts.values()) > 1000, (counts, wrong[:5])


def test_a_member_notices_a_fault(monkeypatch):
    """A class with curvatures up to two thirds of the largest."""
    own = interpolation.between
    monkeypatch.setattr(interpolation, "between", lambda one, other, L, m: own(one, other, L and L * 2 / 3, min(m, 0)))
    assert wrong_of_members("interpolation", range(20), 8)[1]
