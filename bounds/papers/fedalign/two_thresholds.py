"""What FedALIGN says of one problem under two thresholds, where runs differ: written out for two rounds."""

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.words import L, Max, Sum, k, mu, step_offset
from bounds.papers.fedalign.builders import algebra_claim

__all__ = ["THETA_OVER_ROUNDS"]

LARGER = "_larger"
free_clients = sp.Symbol("free_clients", integer=True, positive=True)
every_free, over_clients = (k, 0, free_clients - 1), (("k", "free_clients"),)
own_curvature = sp.Symbol("own_curvature", positive=True)
p, free_curvature, free_center, loss_gap = (
    sp.IndexedBase(name, real=True) for name in ("p", "free_curvature", "free_center", "loss_gap"))
w_start = sp.Symbol("w_start", real=True)
step = 2 / (mu * step_offset)  # SCHED at time 0


def loss_difference(model):
    """F_k - F of free client k at a model, by what it is at the start."""
    at, start = (free_curvature[k] / 2 * (w - free_center[k]) ** 2 - own_curvature / 2 * w**2 for w in (model, w_start))
    return loss_gap[k] + at - start


def matches(difference, threshold):
    """1 where losses differ by less than the threshold, 0 where by more; without a value where by just as much."""
    room = threshold - sp.Abs(difference)
    return Max(room, 0) / room


def run(end):
    """The first two rounds under one threshold: it, what defines the model and who counts, the average of 1/(1 + S_i)."""
    threshold, model = sp.Symbol(f"threshold{end}", positive=True), sp.Symbol(f"w_next{end}", real=True)
    first, second, gap = (
        sp.IndexedBase(f"{name}{end}", real=True) for name in ("matched_first", "matched_next", "loss_gap_next"))
    own, free = w_start * (1 - step * own_curvature), w_start - step * free_curvature[k] * (w_start - free_center[k])
    weight = 1 + Sum(p[k] * first[k], every_free)
    defining = (
        Condition(first[k], "==", matches(loss_gap[k], threshold), (every_free,)),
        Condition(model, "==", (own + Sum(p[k] * first[k] * free, every_free)) / weight),
        Condition(gap[k], "==", loss_difference(model), (every_free,)),
        Condition(second[k], "==", matches(gap[k], threshold), (every_free,)),
    )
    return threshold, defining, 1 / (step_offset * (1 + Sum(p[k] * second[k], every_free)))


small, small_run, theta_small = run("")
large, large_run, theta_large = run(LARGER)

THETA_OVER_ROUNDS = algebra_claim(
    id="fedalign/claim-opposite@theta", number="after (10)", kind="prose",
    reading="theta does not increase with the threshold; two rounds of one local step, run under both thresholds",
    variables=(
        Variable("free_clients", "integer"), Variable("own_curvature", "positive"),
        *(Variable(name, domain, over_clients) for name, domain in {
            "p": "positive", "free_curvature": "positive", "free_center": "real", "loss_gap": "real"}.items()),
        Variable("w_start", "real"), Variable("threshold", "positive"), Variable("threshold_larger", "positive"),
    ),
    conditions=(
        Condition(own_curvature, "<=", L), Condition(free_curvature[k], "<=", L, (every_free,)),
        Condition(own_curvature, ">=", mu), Condition(free_curvature[k], ">=", mu, (every_free,)),
        Condition(step_offset, "==", 8 * L / mu), Condition(small, "<=", large), *small_run, *large_run,
    ),
    statement=Condition(theta_large, "<=", theta_small),
    note=(
        "one priority client with the loss own_curvature/2 w^2, quadratic free clients, one coordinate, no noise, constant "
        "thresholds: a special case; with E = 1 and T = 2 theta is that of the second round alone"
    ),
)
