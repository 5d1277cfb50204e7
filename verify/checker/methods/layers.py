"""Methods of the stand-alone checker that treat layers apart: FedLUAR, which recycles some, FedLAMA, FedMut."""

from fractions import Fraction
from itertools import combinations
from math import comb, perm

from verify.checker.intervals import Vector, dot, extreme, norm
from verify.checker.limits import OUTCOMES, bounded
from verify.checker.methods.averaging import plain


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


class Layers:
    """The layers of the instance: ``of`` has the layer of each coordinate."""

    def __init__(self, run):
        self.sizes = run.layer_sizes
        self.of, self.all = [l for l, size in enumerate(self.sizes) for _ in range(size)], range(len(self.sizes))

    def part(self, v, l):
        return Vector(entry for entry, own in zip(v, self.of, strict=True) if own == l)

    def select(self, layers, new, old):
        """``new`` in these layers, ``old`` in the others."""
        return Vector(b if l in layers else a for l, a, b in zip(self.of, old, new, strict=True))

    def marks(self, layers):
        """1 for each of these layers, 0 for the others."""
        return [int(l in layers) for l in self.all]

    def score(self, change, size, l, floor):
        """The length of a layer's change in units of ``size`` (its length, or 1), at least ``floor``; None for size 0."""
        size = norm(self.part(size, l)) if isinstance(size, Vector) else size
        return None if size == 0 else extreme([norm(self.part(change, l)) / size, floor])


def fedluar(run):
    """fedluar 3.1 and 3.2, with the readings of 3.3; on FedAvg, or on FedProx."""
    run.option("recycled_object", "pre-optimizer"), run.option("base", "fedavg", "fedprox")
    run.option("score_norm", "broadcast", "model")  # clients receive the server's model
    momentum, kept = run.number("local_momentum"), run.option("momentum_kept", True, False)
    return luar(run, run.option("mode", "recycle", "drop"), run.option("lr_decay", "displacement", "rescaled"),
                run.array("initial_update") or run.zero, momentum, kept)


def feddrop(run):
    """fedluar 3.2, drop variant: chosen layers do not move."""
    run.option("base", "fedavg", "fedprox")
    return luar(run, "drop", "displacement", run.zero)


def luar(run, mode, decay, applied, momentum=0, momentum_kept=False):
    """The rounds. A score is None where the layer's model is zero: its weight is 0."""
    layers, masks, floor = run.split(Layers), run.array("masks"), run.number("score_floor")
    if masks is not None:
        run.option("recycled")
    selector, source = run.option("selector", *SELECTORS), run.option("score", "keep", "recompute", "oracle")
    options = run.how["options"]
    rho = run.number("rho_prox") if options["base"] == "fedprox" else 0
    eta_g = run.number("eta_g") if "eta_g" in options else 1

    def recycled_in(round):
        row = masks[min(round, len(masks) - 1)]
        return {l for l in layers.all if row[l]}

    def draw_layers(score):
        count = int(run.number("recycled"))
        bounded(perm(len(layers.all), count), OUTCOMES, "outcomes of layers")
        sets = [{*chosen} for chosen in combinations(layers.all, count)]
        if selector == "uniform":
            return run.draw("layers", [(chance_of(each, dict.fromkeys(layers.all, Fraction(1))), each) for each in sets])

        def chances():
            weights = {l: Fraction(0) if s is None else s if selector == "inverted" else 1 / s for l, s in enumerate(score)}
            return [chance_of(each, weights) for each in sets]

        return run.choose("layers", sets, chances)

    def score_of(change, x, l):
        return layers.score(change, Fraction(1) if selector == "update-norm" else x, l, floor)

    applied = run.first("server_applied_update", applied)
    x, score, age, u, last = run.start, [floor for _ in layers.all], [0 for _ in layers.all], None, None
    recycled = {*layers.all} if run.option("R0", "empty", "all") == "all" else set()
    recycled = recycled if masks is None else recycled_in(0)
    while True:
        kept = {"client_local_velocity": u or [run.zero for _ in run.clients]} if momentum_kept and momentum else {}
        yield {
            "x_round": x, "server_applied_update": applied, "server_score": score, "server_age": age,
            "server_recycle_set": layers.marks(recycled),
        } | kept
        now = [*u] if momentum_kept and u else [run.zero for _ in run.clients]

        def direction(k, y, g, step):
            now[k] = now[k] * momentum + g + (y - x) * rho
            return now[k]

        change, size = run.mean([end - x for end in run.train(x, direction)]), run.added(run.steps())
        u = run.of_drawn(now, u or [run.zero for _ in run.clients])
        again = applied * (0 if mode == "drop" else size / last if last and decay == "rescaled" else 1)
        applied, last = layers.select(recycled, again, change), size
        new = [score_of(change if source == "oracle" else applied, x, l) for l in layers.all]
        score = [score[l] if source == "keep" and l in recycled else new[l] for l in layers.all]
        age = [age[l] + 1 if l in recycled else 0 for l in layers.all]
        recycled = draw_layers(score) if masks is None else recycled_in(run.round + 1)
        x = x + (run.next_model(x, applied) - x) * eta_g


def fedlama(run):
    """fedluar 8: layers in which clients differ little are averaged at the ends of periods only."""
    layers, period, x = Layers(run), int(run.number("period")), run.start
    own, rare, spread, now = [x for _ in run.clients], set(), [Fraction(0) for _ in layers.all], {*layers.all}
    while True:
        yield {"x_round": x, "client_own_model": own, "server_discrepancy": spread,
               "server_rarely_averaged": [int(l in rare) for l in layers.all]}
        ends, last = run.train([layers.select(now, x, y) for y in own], plain), (run.round + 1) % period == 0
        now = {*layers.all} if last else {*layers.all} - rare
        old, x = x, run.aggregate([layers.select(now, end, x) for end in ends], x)
        own = run.of_drawn(ends, own)
        if last:
            steps = [run.local_steps * (period if l in rare else 1) for l in layers.all]
            mean = old + run.mean([end - old for end in ends])
            apart = [[dot(d, d) for d in (layers.part(end - mean, l) for end in ends)] for l in layers.all]
            spread = [run.mean(apart[l]) / (steps[l] * layers.sizes[l]) for l in layers.all]
            rare = rarely(spread, layers.sizes)


def rarely(spread, sizes):
    """The layers that are averaged rarely: in ascending order of their discrepancy, while the share of all discrepancy up to
    a layer is below the share of the parameters after it."""
    total, count, rare = sum(d * n for d, n in zip(spread, sizes, strict=True)), sum(sizes), set()
    for l, d in enumerate(spread):
        upto = [j for j, e in enumerate(spread) if e < d or (e == d and j <= l)]
        below, after = sum(spread[j] * sizes[j] for j in upto), count - sum(sizes[j] for j in upto)
        if below * count < after * total:
            rare.add(l)
    return rare


def fedmut(run):
    """fedluar 8: participants start from models moved along the last change, with signs by layer that sum to zero."""
    layers, x, before = Layers(run), run.start, run.start
    run.option("relative", "start", "broadcast")
    if not all(run.priority):
        raise ValueError("mutations of free clients are not replayed")
    while True:
        yield {"x_round": x, "server_previous_model": before}
        moved, people = (x - before) * run.number("alpha"), [*run.drawn]
        drawn = [run.draw("mutation", halves(len(people)), l) for l in layers.all]
        signs = [dict(zip(people, each, strict=True)) for each in drawn]
        rows = [*zip(layers.of, x, moved, strict=True)]
        starts = [Vector(a + b * signs[l].get(k, 0) for l, a, b in rows) for k in run.clients]
        before, x = x, run.towards(x, run.aggregate(run.train(starts, plain), x))


def halves(count):
    """All ways to give one half of so many +1 and the other -1, and 0 to an odd one, with equal chances."""
    half = count // 2
    bounded(comb(count, half) * comb(count - half, half), OUTCOMES, "outcomes of mutation")
    found = []
    for up in combinations(range(count), half):
        for down in combinations([place for place in range(count) if place not in up], half):
            found.append([(place in up) - (place in down) for place in range(count)])
    return [(Fraction(1, len(found)), signs) for signs in found]


SELECTORS = ("luar", "inverted", "uniform", "update-norm")
OF_LUAR = ("server_applied_update", "server_score", "server_recycle_set", "server_age")

#: name -> the method, and the names of its states
METHODS = {
    "fedluar": (fedluar, (*OF_LUAR, "client_local_velocity")), "feddrop": (feddrop, OF_LUAR),
    "fedlama": (fedlama, ("client_own_model", "server_discrepancy", "server_rarely_averaged")),
    "fedmut": (fedmut, ("server_previous_model",)),
}
