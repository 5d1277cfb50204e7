"""The textbooks' claims are spared, and come close to equality; stronger ones are not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bounds.registry import PAPERS, all_claims
from verify.referee import Settings, decide

CLASSICAL = [c for c in all_claims().values() if c.paper == "classical"]
TIGHT = {"gd-distance", "gd-value", "gd-gradient", "sgd-distance", "sgd-expansive", "sgd-nonexpansive", "gd-descent"}


def test_they_are_registered():
    assert "classical" in PAPERS and len(CLASSICAL) >= 14


@pytest.mark.parametrize("claim", CLASSICAL, ids=lambda c: c.id)
def test_true_ones_are_spared(claim):
    verdict = decide(claim, Settings(federations=False))
    assert verdict.verdict == "consistent" and verdict.ratio <= 1
    if claim.id.split("/")[1] in TIGHT:
        assert verdict.ratio > 0.99


STRONGER = [c for c in CLASSICAL if (c.procedure is None or c.procedure.base == "fedavg")
            and not c.id.endswith(("gd-descent", "sgd-nonconvex"))]  # there a tenth of the loss says nothing


@pytest.mark.parametrize("claim", STRONGER, ids=lambda c: c.id)
def test_ten_times_stronger_ones_are_refuted(claim):
    right = claim.statement.right / 10
    stronger = replace(claim, id=f"{claim.id}@tenth", statement=replace(claim.statement, right=right))
    verdict = decide(stronger, Settings(federations=False))
    assert verdict.verdict == "refuted", verdict.evidence
