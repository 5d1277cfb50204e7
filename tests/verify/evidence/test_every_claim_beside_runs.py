"""Every registered claim about runs is drawn beside runs of its method, and what both sides say agrees with the referee."""

from functools import cache

import numpy as np
import pytest

from bounds.language.claim import Procedure
from bounds.registry.claims import all_claims
from fedtheory import run
from synthetic import make_problem, make_quadratic
from verify.claims.method import algorithm_of, free_starts, own_arguments, selection_of
from verify.claims.needs import needs, speaks_of_samples
from verify.evidence.beside_runs import _given_the_past, _sampled, compare

SEEDS, ROUNDS = 8, 5
#: arguments at which the papers' bounds have values
ARGUMENTS = {"beta1": 0.25, "beta2": 0.0, "eps": 0.5}
CLAIMS = {claim.id: claim for claim in all_claims().values()
          if claim.setting == "run" and claim.statement is not None and not speaks_of_samples(claim)}
MAIN = ("theorem", "lemma")
#: a claim whose print bounds nothing by L, which its bound names
WITHOUT_L = "fedalign/theorem-1@assumptions-as-printed"


def sampled(claim) -> bool:
    """Whether means given the past have a mean over runs."""
    defined = _given_the_past(claim)
    return all(_sampled(formula, defined) for formula in (claim.statement.left, claim.statement.right, *(
        claim.definitions[name].formula for name in defined & claim.names)))


@cache
def trajectory(procedure, lipschitz: bool, chance: bool):
    priority = [0, 1] if procedure.free_clients else None
    if lipschitz:
        federation = make_problem("flat-and-steep")
    else:
        noise = {"noise": "sphere", "sigma": 0.3} if chance else {}
        federation = make_quadratic(clients=4, dim=4, L=4.0, mu=1.0, priority=priority, seed=2, layers=2, **noise)
    options = dict(procedure.options)
    own = {name: value for name, value in ARGUMENTS.items() if name in own_arguments(procedure) and name not in options}
    if "recycled" in own_arguments(procedure) and not chance:  # no layer is left to chance
        own["recycled"] = 0
    shape = {True: (federation.clients, federation.dim), False: (federation.dim,)}
    own |= {name: np.full(shape[by_client], 0.125) for name, by_client in free_starts(procedure).items()}
    selection = selection_of(procedure, 2 if chance else federation.clients, 0.5 if priority else None)
    algorithm = algorithm_of(procedure, 0.05, 1 if options.get("solver") == "exact" else 2, selection, own)
    return run(algorithm, federation, ROUNDS, start=np.linspace(1, 2, federation.dim), seeds=SEEDS, record=["x"])


@pytest.mark.parametrize("claim_id", [
    name if claim.kind in MAIN else pytest.param(name, marks=pytest.mark.slow) for name, claim in CLAIMS.items()])
def test_a_claim_about_runs_is_drawn_beside_runs_of_its_method(claim_id):
    """With chance, unless the claim takes a function of a mean given the past; where a hypothesis fails, too."""
    claim = CLAIMS[claim_id]
    runs = trajectory(claim.procedure or Procedure(), bool(needs(claim).lipschitz), sampled(claim))
    result = compare(claim, runs, points=3)
    if claim_id == WITHOUT_L:
        assert result.series is None and "nothing supplies 'L'" in result.reason
        return
    assert result.series is not None, result.reason
    assert len(result.series.x) == len(result.series.left) == len(result.series.right) > 0
    assert result.series.decides == (result.verdict not in ("not applicable", "undecided") or result.series.note == "")
    assert "the runs are" not in result.reason, "these are runs of the claim's method"
