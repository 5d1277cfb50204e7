"""Evaluates a claim on a given federation (real data, say) from many starts, thresholds and step sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

import numpy as np

from bounds.language.claim import Claim
from verify.claims.method import speaks_of_trackers
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import allowed, names_of
from verify.evaluation.environment import TooManyTerms
from verify.evaluation.judge import Judgement, judge, unmet
from verify.instances.draw import draw_leaves
from verify.instances.instance import outcomes
from verify.instances.leaves import Leaves, halves, number_of
from verify.instances.outcomes import chance_of
from verify.instances.shape import Shape
from verify.search.sharing import RUNS

__all__ = ["OnFederation", "evaluate_on"]

_MOST_TERMS = 10_000_000  # entries of an array of terms
_OF_THE_FEDERATION = ("curvature", "center", "offset", "weight", "noise")


@dataclass(frozen=True)
class OnFederation:
    """Worst ratio left/right among ``met`` of ``tried`` instances on the federation called ``name``.

    ``violated``: float64 saw a violation (which without exact replay decides nothing); ``unmet``: in words, a hypothesis
    that failed where none was met.
    """

    name: str
    tried: int
    met: int
    ratio: float
    violated: bool
    unmet: str | None = None


def evaluate_on(claim: Claim, federation, name: str, seed: int = 0, rows: int = 8, lengths: int = 3) -> OnFederation | None:
    """Evaluate a ``run`` or ``point`` claim on a federation with full gradients, from ``rows`` starts in runs of each of
    ``lengths`` lengths; None if it does not speak of one, or if its sums have too many terms there."""
    if claim.setting == "algebra" or claim.statement is None or speaks_of_samples(claim):
        return None
    rng, free = np.random.default_rng(seed), int((~federation.priority[0]).sum())
    if free and not (claim.procedure is None or claim.procedure.free_clients):
        return None
    tried = met = 0
    worst, violated, reason = 0.0, False, None
    for length in range(lengths):
        shape = _shape(claim, federation, free, rng, length)
        if shape is None:
            return None
        leaves = draw_leaves(claim, shape, rows, rng)
        leaves = {n: a for n, a in leaves.items() if n not in _OF_THE_FEDERATION and not n.startswith("slack:")}
        for leaf in ("start_offset", "local_offset"):
            if leaf in leaves:
                leaves[leaf] = leaves[leaf] * np.sqrt(1 / shape.dim)
        try:
            parts = _judged(claim, shape, leaves, federation)
        except (ValueError, LookupError, NotImplementedError):  # a name, a method or a local problem without meaning here
            return None
        for verdict, why_not in parts:
            tried += len(verdict.met)
            met += int(verdict.met.sum())
            if verdict.met.any():
                worst = max(worst, float(verdict.ratio[verdict.met].max()))
                violated = violated or bool((verdict.score[verdict.met] > 1e-6).any())
            else:
                reason = why_not
    return OnFederation(name, tried, met, worst, violated, None if met else reason) if tried else None


def _judged(claim: Claim, shape: Shape, leaves: Leaves, federation) -> list[tuple[Judgement, str | None]]:
    """The judgement on instances, and a hypothesis that none of them meets; in halves where sums have too many terms, none
    where one instance alone has."""
    try:
        environment = RUNS.realise(claim, shape, leaves, federation.backend, _MOST_TERMS, federation)
        verdict = judge(claim, environment)
        return [(verdict, None if verdict.met.any() else unmet(claim.hypotheses, environment))]
    except TooManyTerms:
        parts = halves(leaves) if number_of(leaves) > 1 else ()
        return [part for half in parts for part in _judged(claim, shape, half, federation)]


def _shape(claim: Claim, federation, free: int, rng, length: int) -> Shape | None:
    steps, rounds = ((2, 5), (1, 10), (5, 4))[length % 3]
    sizes = tuple((v.name, v.low) for v in claim.variables if v.domain == "integer" and not v.indices)
    sampling = claim.procedure.sampling if claim.procedure else "full"
    if sampling != "full":
        rounds = 1
    shape = Shape(federation.clients, free, federation.dim, dict(sizes).get("local_steps", steps), rounds, 1, sampling,
                  sizes=sizes)
    if "layers" in names_of(claim):
        shape = replace(shape, layers=tuple(layer.stop - layer.start for layer in federation.layers()))
    if speaks_of_trackers(claim):
        shape = replace(shape, sizes=(*sizes, ("trackers", 1)))
    if claim.procedure is not None:
        shape = replace(shape, chance=chance_of(claim.procedure, claim.variables))
    if not allowed(claim, shape.as_sizes()):
        return None
    if claim.setting == "point":
        shape = replace(shape, local_steps=1, rounds=1)
    return shape if prod(outcomes(shape)) <= 64 else None
