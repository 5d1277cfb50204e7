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
ARGUMENTS = {"beta1": 0.25, "beta2": 0.0, "eps": 0.5, "rho_decay": 1.0}
ABOUT_RUNS = {claim.id: claim for claim in all_claims().values() if claim.setting == "run" and claim.statement is not None}
COUPLED = {name: claim for name, claim in ABOUT_RUNS.items() if speaks_of_samples(claim)}
CLAIMS = {name: claim for name, claim in ABOUT_RUNS.items() if name not in COUPLED}
MAIN = ("theorem", "lemma")
#: claims without a value beside runs: the print bounds nothing by L, which the bound names; no function has bounded slopes
#: and is strongly convex, so that the step 2/(mu (t + gamma)) is infinite
WITHOUT_VALUE = {"fedalign/theorem-1@assumptions-as-printed": "nothing supplies 'L'",
                 "fedalign/theorem-1@G-everywhere": "a side is infinite"}
#: steps about rounds from a number on that these runs do not reach
LATER = {"afedpd/lemma-5-geometric@run+stable", "afedpd/lemma-6-unroll@run+stable"}


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
    # no layer is left to chance
    more = {"recycled": 0} if "recycled" in own_arguments(procedure) and not chance else {}
    algorithm = made(procedure, federation, 0.05, 2 if chance else federation.clients, **more)
    return run(algorithm, federation, ROUNDS, start=np.linspace(1, 2, federation.dim), seeds=SEEDS, record=["x"])


@cache
def on_data(procedure, bounded: bool):
    """Runs on samples of losses that are Lipschitz and convex, or Lipschitz and bounded; a step uses one."""
    federation = make_problem("sigmoid" if bounded else "log-cosh", clients=4, dim=2, samples=4, batch_size=1)
    return run(made(procedure, federation, 0.02, 2), federation, ROUNDS, start=[0.5, -0.25], seeds=4, record=["x"])


def made(procedure, federation, eta: float, participants: int, **more):
    options = dict(procedure.options)
    own = {name: value for name, value in ARGUMENTS.items() if name in own_arguments(procedure) and name not in options}
    shape = {True: (federation.clients, federation.dim), False: (federation.dim,)}
    own |= {name: np.full(shape[by_client], 0.125) for name, by_client in free_starts(procedure).items()} | more
    steps = 1 if options.get("solver") == "exact" else 2
    selection = selection_of(procedure, participants, 0.5 if procedure.free_clients else None)
    return algorithm_of(procedure, eta, steps, selection, own)


def by_kind(claims):
    return [name if claim.kind in MAIN else pytest.param(name, marks=pytest.mark.slow) for name, claim in claims.items()]


@pytest.mark.parametrize("claim_id", by_kind(CLAIMS))
def test_a_claim_about_runs_is_drawn_beside_runs_of_its_method(claim_id):
    """With chance, unless the claim takes a function of a mean given the past; where a hypothesis fails, too."""
    claim = CLAIMS[claim_id]
    runs = trajectory(claim.procedure or Procedure(), bool(needs(claim).lipschitz), sampled(claim))
    result = compare(claim, runs, points=3)
    if claim_id in WITHOUT_VALUE:
        assert result.series is None and WITHOUT_VALUE[claim_id] in result.reason
        return
    assert result.series is not None, result.reason
    assert len(result.series.x) == len(result.series.left) == len(result.series.right) > 0
    assert result.series.decides == (result.verdict not in ("not applicable", "undecided") or result.series.note == "")
    assert "the runs are" not in result.reason, "these are runs of the claim's method"


@pytest.mark.parametrize("claim_id", by_kind(COUPLED))
def test_a_claim_about_neighbouring_data_sets_is_drawn_beside_coupled_runs(claim_id):
    claim = COUPLED[claim_id]
    result = compare(claim, on_data(claim.procedure, "H_loss" in claim.names), points=3)
    if claim_id in LATER:
        assert result.series is None and "no index in its range" in result.reason
        return
    assert result.series is not None, result.reason
    assert len(result.series.x) == len(result.series.left) == len(result.series.right) > 0
    assert np.isfinite(result.series.left).all() and "the runs are" not in result.reason
    assert result.series.decides == (result.verdict == "consistent" or not result.series.note)


def test_no_theorem_or_lemma_about_runs_is_left_out():
    """The tables of both tests have every one that has a statement."""
    main = {claim.id for claim in all_claims().values() if claim.setting == "run" and claim.kind in MAIN and claim.statement}
    assert {name for name in (*CLAIMS, *COUPLED) if ABOUT_RUNS[name].kind in MAIN} == main
    assert not main & LATER and not {*CLAIMS} & {*COUPLED} and len(main) > 300 and len(main & {*COUPLED}) > 100
