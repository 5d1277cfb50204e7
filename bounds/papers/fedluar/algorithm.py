"""Equations (1)-(6) and (8) of FedLUAR and its kappa: objective, scores, choice of layers, updates, noise."""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.definitions import DEFINITIONS
from bounds.language.layers import layer_part, layers
from bounds.language.words import (
    F,
    Max,
    Sum,
    clients,
    i,
    j,
    k,
    local_steps,
    norm,
    norm2,
    objective,
    objective_grad,
    participants,
    r,
    sampled,
    t,
    x_before,
    x_local,
    x_round,
)
from bounds.papers.fedluar.assumptions import all_clients, all_rounds, all_steps
from bounds.papers.fedluar.builders import (
    DEFAULT,
    Reading,
    algebra_claim,
    at_each,
    constant_step,
    in_readings,
    round_claim,
    run_claim,
)
from bounds.papers.fedluar.quantities import every_client, every_layer, none_recycled
from bounds.papers.fedluar.words import applied_update, eta, kappa, layer, recycled, recycled_set, score, score_floor

__all__ = ["CLAIMS"]

# (8) -----------------------------------------------------------------------------------------------------------------
eq_8 = Claim(
    id="fedluar/eq-8", number="(8)", kind="prose", setting="point", source="fedluar", definitions=DEFINITIONS,
    procedure=Procedure(equal_weights=True),
    statement=Condition(
        objective(x_local[t, k]), "==", Sum(F(i, x_local[t, k]), (i, 0, clients - 1)) / clients, (all_steps, all_clients)
    ),
    note="at any point, for which any local model stands",
)

# (1) -----------------------------------------------------------------------------------------------------------------
own_change = x_before[(r + 1) * local_steps, k] - x_round[r]

change = {
    "full": Sum(own_change, every_client) / clients,
    "sampled": Sum(sampled[r, k] * own_change, every_client) / participants,
}

LUAR = Procedure("fedluar", sampling="without-replacement", equal_weights=True)

scored = run_claim(
    id="fedluar/eq-1", number="(1)", kind="prose", procedure=LUAR,
    variables=(Variable("recycled", "integer", low=0), Variable("score_floor", "positive")),
    conditions=(Condition(recycled, "<=", layers),), statement=None, undefined="a template",
)


def ratio(vector):
    """Norm of a layer's update over the norm of its model."""
    return norm(layer_part(layer, vector)) / norm(layer_part(layer, x_round[r]))


def scores(reading_id, words, value, old=None, **changes) -> Claim:
    """(1) for every layer; with ``old``, for the layers that are sent, the others having this score."""
    if old is not None:
        value = (1 - recycled_set[r, layer]) * value + recycled_set[r, layer] * old
    above_least = (at_each(score_floor, "<=", update, every_layer) for update in (ratio(change["sampled"]), value))
    return replace(
        scored, id=f"fedluar/eq-1{reading_id}", reading=words, undefined="",
        statement=at_each(score[r + 1, layer], "==", value, every_layer),
        **{"conditions": (*scored.conditions, *above_least),
           "note": "t is r; layers that are zero have no ratio; no update is so small that the least score would count"}
        | changes)


def options(*pairs) -> Procedure:
    return replace(LUAR, options=pairs)


keep = score[r, layer]

eq_1_readings = (
    scores("", "layers that are sent, averages over the active clients; the others keep their score",
           ratio(change["sampled"]), keep),
    scores("@all-layers", "every layer as printed, averages over the active clients", ratio(change["sampled"])),
    scores("@recompute", "as fedluar/eq-1, with (1) of the applied update for recycled layers", ratio(change["sampled"]),
           ratio(applied_update[r + 1]), procedure=options(("score", "recompute"))),
    scores("@oracle", "as fedluar/eq-1, with (1) of the update that was not sent for recycled layers",
           ratio(change["sampled"]), procedure=options(("score", "oracle"))),
    scores("@average-all", "layers that are sent, averages over all the clients; the others keep their score",
           ratio(change["full"]), keep),
    scores("@zero-norm", "as fedluar/eq-1, with a least score for updates of zero",
           Max(ratio(change["sampled"]), score_floor), keep, conditions=scored.conditions,
           note="t is r; layers that are zero have no ratio"),
)

# (2) -----------------------------------------------------------------------------------------------------------------
s = sp.IndexedBase("s", positive=True)
numbered = Variable("layers", "integer")
by_layer = Variable("s", "positive", (("l", "layers"),))


def probability(exponent, which):
    """p of layer ``which`` in proportion to this power of its score."""
    return s[which] ** exponent / Sum(s[i] ** exponent, (i, 0, layers - 1))


def choice(exponent, name, words):
    """The sum of the probabilities, and the sentence after (2)."""
    total = algebra_claim(
        id=f"fedluar/eq-2{name}", number="(2)", kind="prose", reading=f"{words}: the probabilities sum to one",
        variables=(numbered, by_layer), statement=Condition(Sum(probability(exponent, layer), every_layer), "==", 1))
    order = (probability(exponent, layer) - probability(exponent, j)) * (s[layer] - s[j])
    sentence = "a layer of low priority, that is of a small score, is less likely chosen"
    return total, replace(
        total, id=f"fedluar/eq-2{name}{'+' if name else '@'}priority", reading=f"{words}: {sentence}",
        statement=Condition(order, ">=", 0, (every_layer, (j, 0, layers - 1))))


eq_2_readings = (
    *choice(-1, "", "p in proportion to 1/s, as printed"), *choice(1, "@inverted", "p in proportion to s"),
)


# (3)-(5) -------------------------------------------------------------------------------------------------------------
def assembled(reading: Reading) -> Claim:
    """The applied update from recycled and fresh layers."""
    parts = Sum(recycled_set[r, layer] * layer_part(layer, applied_update[r])
                + (1 - recycled_set[r, layer]) * layer_part(layer, change[reading.participation]), every_layer)
    return round_claim(
        reading, id="fedluar/eq-3-5", number="(3)-(5)", kind="prose",
        statement=at_each(norm2(applied_update[r + 1] - parts), "==", 0),
        note="t is r; server_applied_update[r + 1] is the applied update of round r")


eq_3_5 = in_readings(assembled, ("mask", "participation"))

eq_3_5_readings = (
    *eq_3_5,
    replace(
        eq_3_5[0], id="fedluar/eq-3-5@R0-all", reading="all layers recycled in round 0, from a given update",
        procedure=replace(eq_3_5[0].procedure, options=(("R0", "all"),)),
        variables=(*eq_3_5[0].variables, Variable("initial_update", "vector")),
    ),
    replace(
        eq_3_5[0], id="fedluar/eq-3-5@delta-0", number="after (5)", reading="no layer recycled: the applied update is fresh",
        conditions=(constant_step, Condition(recycled, "==", 0)), variables=(Variable("eta", "positive"),),
        statement=at_each(norm2(applied_update[r + 1] - change["full"]), "==", 0),
    ),
)


# (6) -----------------------------------------------------------------------------------------------------------------
def printed_noise(reading: Reading):
    """Right side of (6)."""
    return reading.stale(lambda at: reading.fresh[at]) - reading.hatted(reading.fresh[r])


def noise(reading: Reading) -> Claim:
    """(6) in the units of gradients."""
    return round_claim(
        reading, id="fedluar/eq-6", number="(6)", kind="prose",
        statement=at_each(norm2(reading.noise[r] - printed_noise(reading)), "==", 0),
        note="t is r; the hats of both rounds keep the layers of round t")


displaced = applied_update[r + 1] - change["full"]
eq_6 = in_readings(noise, ("age", "participation", "hat"))

eq_6_readings = (
    *eq_6,
    replace(
        eq_6[0], id="fedluar/eq-6@displacement", reading=f"{eq_6[0].reading}; in displacements, -eta times the gradients",
        statement=at_each(norm2(displaced + eta * printed_noise(DEFAULT)), "==", 0),
    ),
    replace(
        eq_6[0], id="fedluar/eq-6@displacement-as-printed",
        reading=f"{eq_6[0].reading}; the updates of Algorithm 2, which are displacements, without a factor",
        statement=at_each(norm2(displaced - printed_noise(DEFAULT)), "==", 0),
    ),
)


# kappa ---------------------------------------------------------------------------------------------------------------
def kappa_of_every_round(reading: Reading) -> Claim:
    """The print's kappa has no t: it is the ratio in every round; or, of updates, bounds the ratio of gradients."""
    full, words = norm2(objective_grad(x_round[r])), "one number that is the ratio in every round with recycled layers"
    right, relation = kappa * (1 - none_recycled[r]) * full, "=="
    if reading.kappa.startswith("update"):
        right, relation, words = kappa * full, "<=", "it bounds the ratio of gradients in every round"
    return round_claim(
        reading, id="fedluar/def-kappa", number="Lemmas 3.1, A.2, A.3", kind="prose", conditions=(reading.kappa_is,),
        reading=words, statement=Condition(reading.ratio_gradient(), relation, right, (all_rounds,)),
        note="t is r; printed without t; that kappa bounds the ratios of which it is the largest would say nothing")


CLAIMS = (
    eq_8, *eq_1_readings, *eq_2_readings, *eq_3_5_readings, *eq_6_readings,
    *in_readings(kappa_of_every_round, ("kappa", "hat")),
)
