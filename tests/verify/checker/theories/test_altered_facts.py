"""Altered facts of the theories are broken by members of the class, or they are other true facts."""

import pytest

from tests.verify.attack.altered_facts import EXPLAINED, MEMBERS, attack_facts
from tests.verify.checker.theories.altered import alterations
from tests.verify.checker.theories.facts import THEORIES
from tests.verify.checker.theories.judged import judged, members_of


def test_facts_by_coordinate_are_noticed_where_they_are_altered():
    counts, unnoticed = judged("coordinates", members_of("coordinates", 20, 8))
    assert not unnoticed and counts["broken"] > 15 and sum(counts.values()) > 40, (counts, unnoticed)


@pytest.mark.slow
@pytest.mark.parametrize("theory", [*THEORIES])
def test_altered_facts_are_noticed(theory):
    table = attack_facts([theory])
    assert not table.faults and table.total("judged") > 2 * table.total("accepted"), table.markdown()


def test_what_is_explained_is_an_alteration():
    every = {what for theory in THEORIES.values() for name, function in vars(theory).items()
             if getattr(function, "__module__", "") == theory.__name__ for what, _ in alterations(function)}
    assert {*EXPLAINED} <= every and {*MEMBERS} == {*THEORIES}
