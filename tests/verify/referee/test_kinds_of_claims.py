"""Claims of many kinds, typed as a reader types them: lint, chain, compare and verify take each."""

from functools import cache
from pathlib import Path

import pytest

from bounds.registry.user_claims import load_claims
from fedtheory import fedavg, fednova, run, scaffnew
from synthetic import make_problem, make_quadratic
from verify.claims.needs import speaks_of_samples
from verify.evidence.beside_runs import compare
from verify.lint.lint import lint_all
from verify.proofs.follows import link
from verify.referee.decide import Settings, decide

#: kind -> a claim of that kind in kinds.toml
KINDS = {
    "a mean without a value on outcomes of probability zero": "everybody-by-chance",
    "several ranges, one with a step": "two-ranges-and-a-step",
    "a range that uses an earlier index": "later-range-uses-earlier",
    "numbers with names that models have in runs": "numbers-named-as-models",
    "an array of numbers": "triangle", "a sequence from 0 to n": "recursion", "a sequence beside a run": "potential",
    "weights from 0 to n": "shares", "an equation at all points": "like-a-quadratic",
    "strict hypothesis": "strict-hypothesis",
    "a step by a formula, and a constant with a meaning": "defined-step-and-constant",
    "a hypothesis at all points": "star-convex", "dissimilarity at all points": "dissimilarity",
    "with high probability": "high-probability", "the worst client": "worst-client", "the best iterate": "best-iterate",
    "the dimension": "dimension", "population risk and twins": "generalisation", "which sample is used": "uses-of-a-sample",
    "there is a step, and logarithms are hidden": "tuned-order", "a constant that may use L": "may-use-L",
    "a rate whose constant may use L": "rate-by-L", "a step of a proof": "step-1", "a theorem": "theorem",
    "unequal local steps": "unequal-steps", "a number that may be 0": "mu-may-be-zero", "skipped communication": "skipped",
}
FALSE = ("theorem", "recursion", "potential", "shares", "last-share", "like-a-quadratic", "may-use-L", "rate-by-L",
         "mu-at-least-0", "everybody-by-chance")
METHODS = {"fednova": lambda: fednova(0.05, 2, client_steps=[1, 2]), "scaffnew": lambda: scaffnew(0.05, communication=0.5),
           "fedavg": lambda: fedavg(0.05, 2)}


@cache
def claims():
    return {claim.id: claim for claim in load_claims(Path(__file__).with_name("kinds.toml"))}


@cache
def runs(base: str, samples: bool):
    federation = (make_problem("log-cosh", clients=2, dim=2, samples=4, batch_size=1) if samples else
                  make_quadratic(clients=2, dim=2, L=4.0, mu=1.0, seed=1))
    return run(METHODS[base](), federation, 3, seeds=2)


def test_every_claim_is_of_a_kind_and_nothing_is_wrong_with_it():
    assert {f"true/{name}" for name in KINDS.values()} | {f"false/{name}" for name in FALSE} == {*claims()}
    assert [found for found in lint_all(claims().values()) if found.severity == "error"] == []


@pytest.mark.parametrize("kind", [kind for kind, name in KINDS.items() if claims()[f"true/{name}"].setting == "run"])
def test_it_is_drawn_beside_runs(kind):
    claim = claims()[f"true/{KINDS[kind]}"]
    found = compare(claim, runs(claim.procedure.base, speaks_of_samples(claim)))
    assert found.series is not None and found.series.left and found.verdict != "refuted", found.reason


@pytest.mark.slow
@pytest.mark.parametrize("claim_id", sorted(claims()))
def test_its_verdict(claim_id):
    verdict = decide(claims()[claim_id], Settings(budget="quick"))
    assert (verdict.verdict == "refuted") == claim_id.startswith("false/"), verdict.evidence
    assert "rejects" not in verdict.evidence


@pytest.mark.parametrize("claim_id, word", [("true/theorem", "follows"), ("false/theorem", "does not follow")])
def test_its_chain(claim_id, word):
    claim = claims()[claim_id]
    assert link(claim, [claims()["true/step-1"]]).answer == word
