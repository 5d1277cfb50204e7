"""FedLUAR in the stand-alone checker: some layers are not sent, and their last update is applied once more."""

from fractions import Fraction
from itertools import combinations
from math import comb

from verify.checker.intervals import Vector, extreme, norm


def chance_of(layers, weights):
    """Chance that successive draws without replacement, in proportion to ``weights`` by layer, take just these ``layers``
    first. Layers without weight come last, in uniformly random order."""
    total = sum(weights.values())
    if not layers:
        return Fraction(1)
    if total == 0:
        return Fraction(1, comb(len(weights), len(layers)))
    firsts = [l for l in layers if weights[l] > 0]
    rest = [(l, layers - {l}, {m: w for m, w in weights.items() if m != l}) for l in firsts]
    return sum((weights[l] / total * chance_of(others, left) for l, others, left in rest), Fraction(0))


def fedluar(run):
    """fedluar 3.1 and 3.2, with the readings of 3.3. A score is None where the layer's model is zero: its weight is 0."""
    for name, value in FIXED.items():
        run.option(name, value)
    given, sizes = run.instance.given, [int(size) for size in run.instance.given["layer_sizes"]]
    ends = [sum(sizes[: l + 1]) for l in range(len(sizes))]
    layer_of = [l for l, size in enumerate(sizes) for _ in range(size)]
    layers, masks, floor = range(len(sizes)), given.get("masks"), run.number("score_floor")
    selector = run.option("selector", "luar", "inverted", "uniform", "update-norm")
    source = run.option("score", "keep", "recompute", "oracle")

    def part(v, l):
        return v[ends[l] - sizes[l] : ends[l]]

    def recycled_in(round):
        row = masks[min(round, len(masks) - 1)]
        return {l for l in layers if row[l]}

    def drawn(score):
        count, weights = int(run.number("recycled")), {l: Fraction(1) for l in layers}
        if selector != "uniform":
            weights = {l: Fraction(0) if s is None else s if selector == "inverted" else 1 / s for l, s in enumerate(score)}
        sets = [{*chosen} for chosen in combinations(layers, count)]
        return run.draw("layers", [(chance_of(chosen, weights), chosen) for chosen in sets])

    def score_of(change, x, l):
        size = Fraction(1) if selector == "update-norm" else norm(part(x, l))
        return None if size == 0 else extreme([norm(part(change, l)) / size, floor])

    x, applied, score, age = run.start, given.get("initial_update", run.zero), [floor for _ in layers], [0 for _ in layers]
    recycled = {*layers} if run.option("R0", "empty", "all") == "all" else set()
    recycled = recycled if masks is None else recycled_in(0)
    while True:
        yield {
            "x_round": x, "server_applied_update": applied, "server_score": score, "server_age": age,
            "server_recycle_set": [int(l in recycled) for l in layers],
        }
        change = run.mean(run.train(x, lambda k, y, g, step: g)) - x
        applied = Vector(old if layer_of[j] in recycled else new for j, (old, new) in enumerate(
            zip(applied, change, strict=True)))
        new = [score_of(change if source == "oracle" else applied, x, l) for l in layers]
        score = [score[l] if source == "keep" and l in recycled else new[l] for l in layers]
        age = [age[l] + 1 if l in recycled else 0 for l in layers]
        recycled = drawn(score) if masks is None else recycled_in(run.round + 1)
        x = x + applied


#: choices of which one is replayed
FIXED = {"base": "fedavg", "score_norm": "broadcast", "lr_decay": "displacement", "mode": "recycle",
         "recycled_object": "pre-optimizer"}

#: name -> the method, and the names of its states
METHODS = {"fedluar": (fedluar, ("server_applied_update", "server_score", "server_recycle_set", "server_age"))}
