"""The place of a number that is said to exist: the best one is found between any two neighbours of the grid."""

import numpy as np
import pytest

from bounds.language.witness import witness_id, witnessed
from bounds.registry.claims import all_claims
from verify.claims.existential import PLACES, Bracket

GRID = np.array(sorted(PLACES))


@pytest.mark.parametrize("wanted", [0.0, 1e-11, 3.3e-7, 2.78e-3, 0.0055, 0.2, 0.6, 0.8999, 0.97, 1.0])
def test_a_bracket_comes_to_the_best_place(wanted):
    """Of a sum that is steep on one side: its best place on the grid may be far from the best one."""
    def cost(place):
        return place / max(wanted, 1e-13) + wanted / (place + 1e-13)

    at = GRID[[np.argmin(cost(GRID))]]
    bracket = Bracket(GRID, at)
    for _ in range(40):
        tried = np.concatenate([bracket.at, *bracket.sides([0])])
        bracket.step([0], tried[[np.argmin(cost(tried))]])
    assert bracket.at[0] == pytest.approx(wanted, rel=1e-6, abs=1e-12)


def test_every_registered_witness_has_its_claim():
    named = [claim for claim in all_claims().values() if claim.exists is not None and claim.exists.witness is not None]
    assert {claim.id for claim in named} >= {"fedmoswa/lemma-g.5", "fedmoswa/lemma-g.6"}
    for claim in named:
        reading, expected = all_claims()[witness_id(claim)], witnessed(claim)
        hypotheses = tuple(c for c in expected.hypotheses if c != claim.exists.not_empty)  # or the reading says more
        more = {*reading.hypotheses} - {*hypotheses}  # its domain: the interval begins above 0
        assert {*hypotheses} <= {*reading.hypotheses} and all(
            (c.left.name, c.sign, c.right) == (claim.exists.name, ">", 0) for c in more)
        assert (reading.statement, reading.variables) == (expected.statement, expected.variables)
        assert (reading.limits, reading.constants_may_use) == (claim.limits, claim.constants_may_use)
