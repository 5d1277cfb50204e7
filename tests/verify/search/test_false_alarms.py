"""What we proved ourselves must never be refuted: every derived claim on at least 200 instances that meet it."""

import pytest

from bounds.registry.claims import all_claims
from verify.prove.illposed import conflict
from verify.search.budget import Budget
from verify.search.search import search

DERIVED = [c.id for c in all_claims().values() if c.source is None and c.explicit and c.statement is not None]
BUDGET = Budget(batches=12, size=64, generations=8)


def test_there_is_something_to_test():
    assert len(DERIVED) >= 20


@pytest.mark.parametrize("claim_id", DERIVED)
def test_derived_claims_are_spared(claim_id):
    claim = all_claims()[claim_id]
    found = search(claim, BUDGET, seed=11)
    assert conflict(claim) is None
    assert found.violation is None
    assert found.met >= 200
