"""Evaluates a claim on a given federation (of real data, say) for many starts, thresholds and step sizes."""

from dataclasses import dataclass, replace
from functools import partial
from math import prod

import numpy as np

from bounds.language.claim import Claim
from verify.claims.method import subset_left_open
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import allowed
from verify.evaluation.environment import TooManyTerms
from verify.evaluation.judge import Judgement, judge, unmet
from verify.instances.chance import chance_of
from verify.instances.draw import draw_params
from verify.instances.instance import outcomes
from verify.instances.parameters import SLACK, Parameters
from verify.instances.shape import Shape
from verify.search.batch_evaluation import in_halves
from verify.search.run_cache import RUNS

__all__ = ["OnFederation", "evaluate_on", "is_about_losses"]

_MOST_TERMS = 10_000_000  # entries of an array of terms
_OF_THE_FEDERATION = ("curvature", "center", "offset", "weight", "noise")


@dataclass(frozen=True)
class OnFederation:
    """Worst ratio left/right over the instances on the federation ``name``: ``met`` of ``tried`` meet the hypotheses.

    ``violated``: float64 sees a violation, which decides nothing without an exact replay. ``unmet``: a violated hypothesis
    in words, where no instance meets all of them.
    """

    name: str
    tried: int
    met: int
    ratio: float
    violated: bool
    unmet: str | None = None


def is_about_losses(claim: Claim) -> bool:
    """Whether a claim states something about runs, or losses at points, and not about random samples."""
    return claim.setting != "algebra" and claim.statement is not None and not speaks_of_samples(claim)


def evaluate_on(claim: Claim, federation, name: str, seed: int = 0, rows: int = 8, lengths: int = 3) -> OnFederation | None:
    """Evaluates a ``run`` or ``point`` claim on a federation with full gradients: runs of ``lengths`` lengths, from ``rows``
    starts each. None where the claim is not about such a federation, or where its sums have too many terms."""
    if not is_about_losses(claim):
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
        params = draw_params(claim, shape, rows, rng)
        params = {n: a for n, a in params.items() if n not in _OF_THE_FEDERATION and not n.startswith(SLACK)}
        if "start_offset" in params:  # not at an optimum that is known up to rounding only, where both sides may be zero
            start = params["start_offset"]
            params["start_offset"] = np.where((start == 0).all(axis=1, keepdims=True), 1.0, start)
        for leaf in ("start_offset", "local_offset"):
            if leaf in params:
                params[leaf] = params[leaf] * np.sqrt(1 / shape.dim)
        try:
            parts = in_halves(partial(_judge_instances, claim, shape, federation), params)
        except TooManyTerms:
            continue
        except (ValueError, LookupError, NotImplementedError):  # a name, method or local problem that is undefined here
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


def _judge_instances(claim: Claim, shape: Shape, federation, params: Parameters) -> tuple[Judgement, str | None]:
    """Judges the instances; also a hypothesis in words that none of them meets."""
    environment = RUNS.simulate(claim, shape, params, federation.backend, _MOST_TERMS, federation)
    verdict = judge(claim, environment)
    return verdict, None if verdict.met.any() else unmet(claim.hypotheses, environment)


def _shape(claim: Claim, federation, free: int, rng, length: int) -> Shape | None:
    steps, rounds = ((2, 5), (1, 10), (5, 4))[length % 3]
    sizes = tuple((v.name, v.low) for v in claim.variables if v.domain == "integer" and not v.indices)
    sampling = claim.procedure.sampling if claim.procedure else "full"
    if sampling != "full":
        rounds = 1
    shape = Shape(federation.clients, free, federation.dim, dict(sizes).get("local_steps", steps), rounds, 1, sampling,
                  sizes=sizes)
    if "layers" in claim.names:
        shape = replace(shape, layers=tuple(layer.stop - layer.start for layer in federation.layers()))
    sizes += tuple((name, 1) for name in subset_left_open(claim))
    shape = replace(shape, sizes=sizes, chance=chance_of(claim.procedure, claim.variables))
    if not allowed(claim, shape.as_sizes()):
        return None
    if claim.setting == "point":
        shape = replace(shape, local_steps=1, rounds=1)
    return shape if prod(outcomes(shape)) <= 64 else None
