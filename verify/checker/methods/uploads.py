"""Methods of the stand-alone checker whose clients send less: rounded, dropped, projected or pruned changes."""

from fractions import Fraction
from math import floor

from verify.checker.intervals import Undecided, Vector, as_interval, dot, each, norm, zero
from verify.checker.methods.averaging import plain
from verify.checker.methods.server import sign, square
from verify.checker.operators import exact


def lbgm(run):
    """fedluar 8: a change nearly parallel to the last one sent in full is replaced by its projection on it."""
    x, threshold, back = run.start, run.number("threshold"), [run.zero for _ in run.clients]
    while True:
        yield {"x_round": x, "client_look_back": back}
        ends = run.train(x, plain)
        sent, new = [], []
        for d, b in zip([end - x for end in ends], back, strict=True):
            inner, both = dot(d, b), dot(d, d) * dot(b, b)
            near = not zero(dot(b, b)) and both - inner**2 <= both * threshold
            sent.append(b * (inner / dot(b, b)) if near else d)
            new.append(b if near else d)
        back, x = run.of_drawn(new, back), run.towards(x, run.next_model(x, run.mean(sent)))


# what clients toss ---------------------------------------------------------------------------------------------------------
def senders(run):
    """The senders of a round, in the order of its coin tosses, which all runs share: the clients drawn, then free clients.
    None at the position of a client that was drawn before."""
    drawn = [k if k not in run.drawn[:place] else None for place, k in enumerate(run.drawn)]
    return [*drawn, *(k for k in run.clients if not run.priority[k])]


def toss(run, kind, chance, place, number=0):
    """Whether something of this chance happens at one of the places of :func:`senders`."""
    return run.draw(kind, [(1 - chance, 0), (chance, 1)], number, place)


def whole(number):
    """The largest whole number that is at most ``number``."""
    low, high = floor(as_interval(number).low), floor(as_interval(number).high)
    if low != high:
        raise Undecided(f"{number} may be on both sides of {high}")
    return Fraction(low)


def fedpaq(run):
    """fedluar 8, QSGD: |v| sign(v_j) / levels times u_j = levels |v_j| / |v|, rounded up with the chance of its fraction."""
    x, parts = run.start, run.layer_sizes
    bits, levels = run.number("bits"), run.argument("levels")
    levels = 2 ** (int(bits) - 1) - 1 if levels is None else exact(levels)
    if run.option("scope", "per-layer", "whole-vector") == "whole-vector":
        parts = [len(x)]
    everything = run.option("quantiser", "qsgd", "identity") == "identity"

    def rounded(v, place):
        found = []
        for size in parts:
            start = len(found)
            length = norm(Vector(v[start : start + size]))
            for j in range(start, start + size):
                u = Fraction(0) if zero(length) else abs(v[j]) * levels / length
                above = whole(u) + toss(run, "quantiser", u - whole(u), place, j)
                found.append(length * sign(v[j]) * above / levels)
        return Vector(found)

    while True:
        yield {"x_round": x}
        sent = [end - x for end in run.train(x, plain)]
        for place, k in enumerate([] if everything else senders(run)):
            sent_now = rounded(run.zero if k is None else sent[k], place)
            if k is not None:
                sent[k] = sent_now
        x = run.towards(x, run.next_model(x, run.mean(sent)))


def feddropoutavg(run):
    """fedluar 8: coordinates of uploads, and whole uploads, are lost; each coordinate is averaged over those who sent it."""
    x, fdr, cdr, eta_g = run.start, run.number("fdr"), run.number("cdr"), run.number("eta_g")
    while True:
        yield {"x_round": x}
        ends, arrives = run.train(x, plain), [[0 for _ in x] for _ in run.clients]
        for place, k in enumerate(senders(run)):
            gone = not zero(cdr) and toss(run, "lost", cdr, place)
            kept = [zero(fdr) or 1 - toss(run, "dropped", fdr, place, j) for j in range(len(x))]
            if k is not None:
                arrives[k] = [int(each and not gone) for each in kept]
        weights, changes = [w * i for w, i in zip(run.shares(), run.included, strict=True)], []
        for j, old in enumerate(x):
            of_senders = [w * arrives[k][j] for k, w in enumerate(weights)]
            total = sum(of_senders)
            change = sum((ends[k][j] - old) * w for k, w in enumerate(of_senders))
            changes.append(change * 0 if total == 0 else change / total * run.total())
        x = x + (run.next_model(x, Vector(changes)) - x) * eta_g


def prunefl(run):
    """fedluar 8: only the parameters of the largest sums of squared gradients, per time, are trained and sent."""
    dim, period, first = len(run.zero), run.number("period"), int(run.number("client"))
    count, times = max(1, whole(run.number("density") * dim + Fraction(1, 2))), run.array("times") or [Fraction(1)]
    sizes = run.layer_sizes
    if len(times) == len(sizes) != dim:
        times = [time for time, size in zip(times, sizes, strict=True) for _ in range(size)]
    times = [*times] * dim if len(times) == 1 else times

    def largest(sums):
        worth = [a / b for a, b in zip(sums, times, strict=True)]
        return [int(sum(b > a or (b == a and i < j) for i, b in enumerate(worth) if i != j) < count)
                for j, a in enumerate(worth)]

    def only(kept, v):
        return each(lambda a, b: a * b, v, kept)

    y, total = run.start, run.zero
    for step in range(int(run.number("initial_steps"))):
        g = run.gradient(first, y, "start", step)
        y, total = y - g * run.step_size[0], total + square(g)
    kept, sums = largest(total), [run.zero for _ in run.clients]
    x = run.start
    while True:
        yield {"x_round": x, "server_kept_parameters": kept, "client_squared_gradients": sums}
        now = [*sums]

        def direction(k, y, g, step):
            now[k] = now[k] + square(g)
            return only(kept, g)

        starts = [only(kept, x) for _ in run.clients]
        x, sums = only(kept, run.aggregate(run.train(starts, direction), x)), run.of_drawn(now, sums)
        if (run.round + 1) % period == 0:
            kept = largest(run.mean(sums)) if run.drawn else kept
            x, sums = only(kept, x), run.of_drawn([run.zero for _ in sums], sums)


#: name -> the method, and the names of its states
METHODS = {
    "lbgm": (lbgm, ("client_look_back",)),
    "fedpaq": (fedpaq, ()),
    "feddropoutavg": (feddropoutavg, ()),
    "prunefl": (prunefl, ("server_kept_parameters", "client_squared_gradients")),
}
