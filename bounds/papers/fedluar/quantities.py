"""Measured quantities of FedLUAR, each defined once; those ending in ``_active`` average over a round's participants.

All are in the units of gradients, as in the paper's appendix, for the local step ``eta`` of the run.
"""

from bounds.language.claim import Definition
from bounds.language.layers import layers
from bounds.language.words import (
    Product,
    Sum,
    clients,
    g,
    grad,
    i,
    j,
    k,
    local_steps,
    norm2,
    participants,
    r,
    sampled,
    x_local,
    x_round,
)
from bounds.papers.fedluar.words import applied_update, eta, layer, recycled_set, source_round

__all__ = [
    "DEFINITIONS", "every_client", "every_layer", "every_step", "fresh", "last_fresh", "none_recycled", "recycle_noise",
    "round_drift", "shared_source", "true_mean",
]

DEFINITIONS: dict[str, Definition] = {}
every_client, every_step, every_layer = (k, 0, clients - 1), (j, 0, local_steps - 1), (layer, 0, layers - 1)
now = r * local_steps + j


def _define(name, indices, formula, latex, unit, meaning):
    DEFINITIONS[name] = Definition(name, tuple(indices), formula, latex, unit, meaning, "FedLUAR, 3.3 and appendix A.1")
    return DEFINITIONS[name].symbol


def _in_both(name, term, latex, unit, meaning):
    """The average over all clients, and the one over the participants: a pair of symbols by participation."""
    whole = _define(name, [r], Sum(term, every_step, every_client) / clients, latex, unit, meaning)
    active = _define(f"{name}_active", [r], Sum(sampled[r, k] * term, every_step, every_client) / participants, latex, unit,
                     f"{meaning}, over the round's participants")
    return {"full": whole, "sampled": active}


GRADIENT = "loss/parameter"
fresh = _in_both("fresh", g[now, k], "D_{r}", GRADIENT, "sum of a round's stochastic gradients, averaged over clients")
true_mean = _in_both("true_mean", grad(k, x_local[now, k]), r"\bar G_{r}", GRADIENT,
                     "sum of a round's gradients, averaged over clients")
round_drift = _in_both("round_drift", norm2(x_local[now, k] - x_round[r]), "V_{r}", "parameter^2",
                       "squared distances of a round's local models to its start, averaged over clients")

recycle_noise = {
    "full": _define("recycle_noise", [r], -applied_update[r + 1] / eta - fresh["full"][r], "n_{r}", GRADIENT,
                    "what recycling adds to the round's update"),
    "sampled": _define("recycle_noise_active", [r], -applied_update[r + 1] / eta - fresh["sampled"][r], "n_{r}", GRADIENT,
                       "what recycling adds to the round's update, over the round's participants"),
}

last_fresh = _define(
    "last_fresh", [r, source_round, layer],
    (1 - recycled_set[source_round, layer]) * Product(recycled_set[i, layer], (i, source_round + 1, r)),
    r"\mathbf{1}_{r_{r,l}=s}", "1", "whether the update of layer l applied in round r is that of round s",
)

shared_source = _define(
    "shared_source", [r, source_round], 1 - Product(1 - last_fresh[r, source_round, layer], every_layer),
    r"\mathbf{1}_{r-k_{r}=s}", "1", "for s < r: whether the update of a recycled layer of round r is that of round s",
)

none_recycled = _define("none_recycled", [r], Product(1 - recycled_set[r, layer], every_layer),
                        r"\mathbf{1}_{\mathcal{R}_{r}=\emptyset}", "1", "whether no layer is recycled in round r")
