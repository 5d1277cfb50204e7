"""Claims on given federations: sums of many terms are taken in parts, or not at all."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp

from bounds.controls.fedavg import CONTROLS
from bounds.language.claim import Condition, Variable
from bounds.language.operators import L, norm2, x_round, x_star
from synthetic import make_quadratic
from synthetic.numbers.arrays import NUMPY, TORCH
from verify.evidence import on_federation
from verify.evidence.on_federation import evaluate_on
from verify.search import run_cache as shared_runs

CLAIM = {row.claim.id: row.claim for row in CONTROLS}["control/smooth-gap"]
FEDERATION = make_quadratic(clients=3, dim=4, seed=1)


@pytest.mark.parametrize(("most", "batches"), [(10**6, 1), (3 * 4 * 2, 4), (3 * 4, 8)])
def test_instances_are_judged_in_parts_where_sums_have_many_terms(most, batches, monkeypatch):
    expected, parts = evaluate_on(CLAIM, FEDERATION, "quadratic", lengths=1), []
    monkeypatch.setattr(on_federation, "_MOST_TERMS", most)
    monkeypatch.setattr(on_federation, "judge", lambda *given, judge=on_federation.judge: _noted(parts, judge(*given)))
    found = evaluate_on(CLAIM, FEDERATION, "quadratic", lengths=1)
    assert (found.tried, found.met, found.violated, len(parts)) == (8, expected.met, expected.violated, batches)
    assert np.isclose(found.ratio, expected.ratio, rtol=1e-9)


def _noted(parts, verdict):
    parts.append(verdict)
    return verdict


def test_a_federation_on_which_no_instance_can_be_judged_is_left_out(monkeypatch):
    monkeypatch.setattr(on_federation, "_MOST_TERMS", 4)
    assert evaluate_on(CLAIM, FEDERATION, "quadratic") is None


def test_why_no_instance_meets_the_hypotheses_is_said_although_shared_runs_let_go_of_their_environments(monkeypatch):
    """Each environment is emptied as soon as the next one is asked for."""
    monkeypatch.setattr(shared_runs, "_MOST_BYTES", 0)
    monkeypatch.setattr(on_federation, "_MOST_TERMS", 3 * 4 * 2)
    claim = replace(CLAIM, conditions=(*CLAIM.conditions, Condition(L, "<=", 1e-3)))
    found = evaluate_on(claim, FEDERATION, "quadratic", lengths=1)
    assert (found.tried, found.met) == (8, 0) and found.unmet.startswith("needs L_client[k] <= L")


def test_no_run_starts_at_an_optimum_that_is_known_up_to_rounding():
    claim = replace(CLAIM, conditions=(*CLAIM.conditions, Condition(norm2(x_round[0] - x_star), "<=", 0)))
    found = evaluate_on(claim, FEDERATION, "quadratic")
    assert found.tried > 20 and found.met == 0


@pytest.mark.parametrize("backend", [NUMPY, TORCH], ids=["numpy", "torch"])
def test_vectors_that_hypotheses_tie_to_each_other_are_tied_on_a_federation_of_any_library(backend):
    z = Variable("z", "vector")
    claim = replace(CLAIM, variables=(*CLAIM.variables, z),
                    conditions=(*CLAIM.conditions, Condition(norm2(x_round[0] - sp.Symbol("z")), "<=", 0)))
    found = evaluate_on(claim, FEDERATION.to(backend), "quadratic")
    assert found.tried == found.met > 20 and not found.violated
