"""FAdamGC and its relatives in the stand-alone checker."""

from fractions import Fraction
from itertools import combinations
from math import comb

from verify.checker.intervals import Vector, along
from verify.checker.limits import OUTCOMES, bounded


def first_controls(run):
    """y_k before the first round (fadamgc 3.12 y_init), and their mean y."""
    start = run.option("y_init", "zero", "gradient", "normalised-gradient")
    y_k = [run.zero if start == "zero" else run.federation.grad(k, run.start) for k in run.clients]
    if start == "normalised-gradient":
        y_k = [along(g, 1) for g in y_k]
    return y_k, run.over_all(y_k)


class Moments:
    """Every client's local Adam (fadamgc 3.1): m, v and the largest v so far; of norms where ``norm`` is scalar."""

    def __init__(self, run):
        self.run, self.scalar = run, run.option("norm", "elem", "scalar") == "scalar"
        self.beta1, self.beta2, self.eps = (run.number(name) for name in ("beta1", "beta2", "eps"))
        self.maximum = run.option("vhat", "reset", "carry", "zero", "none")
        self.stored = run.option("store", "v", "vhat")
        self.delayed = run.option("moment_index", "immediate", "delayed") == "delayed"
        first = run.number("v_init")
        first = Vector([first]) if self.scalar else run.by_coordinates("raised", run.zero, first)
        self.v = self.largest = [first for _ in run.clients]

    def client_state(self):
        """The state that clients keep between rounds."""
        state = {"client_moment2": self.v}
        if self.scalar:
            state |= {"client_scalar_moment2": [v[0] for v in self.v]}
        return state | ({"client_moment2_max": self.largest} if self.maximum == "carry" else {})

    def begin(self):
        """Starts a round: m = 0, and the maximum starts as the method says."""
        self.m, self.v_now = [self.run.zero for _ in self.run.clients], [*self.v]
        self.top = [*{"carry": self.largest, "zero": [v * 0 for v in self.v]}.get(self.maximum, self.v)]

    def direction(self, k, g):
        """m / (sqrt(vhat) + eps), without bias correction, 0/0 = 0."""
        m, top, by = self.m[k], self.top[k], self.run.by_coordinates
        square = Vector([by("norm2", g)]) if self.scalar else by("square", g)
        self.m[k] = m * self.beta1 + g * (1 - self.beta1)
        self.v_now[k] = self.v_now[k] * self.beta2 + square * (1 - self.beta2)
        keeps = self.maximum == "none"
        self.top[k] = self.v_now[k] if keeps else by("upper", self.top[k], self.v_now[k])
        m, top = (m, top) if self.delayed else (self.m[k], self.top[k])
        root = by("root", top)
        return by("scaled", m, root[0] if self.scalar else root, self.eps)

    def end(self):
        """Ends a round: stores the state of the clients drawn."""
        last = self.top if self.maximum != "none" else self.v_now
        self.v = self.run.of_drawn(self.v_now if self.stored == "v" else last, self.v)
        self.largest = self.run.of_drawn(last, self.largest)


def local_adam(run):
    """fadamgc 3.4."""
    x, adam = run.start, Moments(run)
    while True:
        yield {"x_round": x} | adam.client_state()
        adam.begin()
        ends = run.train(x, lambda k, y, g, step: adam.direction(k, g))
        adam.end()
        x = run.towards(x, run.aggregate(ends, x))


def fadamgc(run):
    """fadamgc 3.1: the correction comes before the moments, and is the mean gradient of the round."""
    x, adam, (y_k, y) = run.start, Moments(run), first_controls(run)
    while True:
        yield {"x_round": x, "client_variate": y_k, "server_variate": y} | adam.client_state()
        tracked = draw_trackers(run)
        adam.begin()
        total = [run.zero for _ in run.clients]

        def direction(k, point, g, step):
            total[k] = total[k] + g
            return adam.direction(k, g + y - y_k[k])

        ends = run.train(x, direction)
        adam.end()
        y_k, y = renewed(run, tracked, y_k, y, [g / run.local_steps for g in total])
        x = run.towards(x, run.aggregate(ends, x))


def fa_nt(run):
    """fadamgc 3.2: the correction comes after the direction of Adam, and is the mean direction of the round."""
    x, adam, (y_k, y) = run.start, Moments(run), first_controls(run)
    while True:
        yield {"x_round": x, "client_variate": y_k, "server_variate": y} | adam.client_state()
        tracked = draw_trackers(run)
        adam.begin()
        ends = run.train(x, lambda k, point, g, step: adam.direction(k, g) + y - y_k[k])
        adam.end()
        y_k, y = renewed(run, tracked, y_k, y, [y_k[k] - y + (x - ends[k]) / sum(run.steps()) for k in run.clients])
        x = run.towards(x, run.aggregate(ends, x))


def fa_nt_z(run):
    """fadamgc (113)-(114): only models are sent, and clients keep z_k, which stands for y - y_k."""
    if "trackers" in run.how["options"]:  # beside a run of FA-NT
        run.option("trackers", None)
    x, adam, (y_k, y) = run.start, Moments(run), first_controls(run)
    z = [y - own for own in y_k]
    while True:
        yield {"x_round": x} | adam.client_state()
        adam.begin()
        ends = run.train(x, lambda k, point, g, step: adam.direction(k, g) + z[k])
        adam.end()
        x = run.towards(x, run.aggregate(ends, x))
        z = [z[k] + (ends[k] - x) / (sum(run.steps()) * run.number("eta_g")) for k in run.clients]


def draw_trackers(run):
    """The clients drawn that renew y_k: all of them or, of as many as the size ``trackers`` says, any with equal chance."""
    drawn, count = sorted(set(run.drawn)), run.argument("trackers")
    if count is None:
        tracked = drawn
    else:
        if not 1 <= count <= len(drawn):
            raise ValueError(f"{count} of {len(drawn)} clients cannot track")
        bounded(comb(len(drawn), int(count)), OUTCOMES, "outcomes of trackers")
        sets = [*combinations(drawn, int(count))]
        tracked = run.draw("trackers", [(Fraction(1, len(sets)), each) for each in sets])
    run.record["tracked"].append([int(k in tracked) for k in run.clients])
    return tracked


def renewed(run, tracked, y_k, y, new):
    """The controls after a round: ``new`` of the clients that track."""
    after = [new[k] if k in tracked else y_k[k] for k in run.clients]
    return after, y + run.over_all([after[k] - y_k[k] for k in run.clients])


MOMENTS = ("client_moment2", "client_moment2_max", "client_scalar_moment2")
TRACKED = (*MOMENTS, "client_variate", "server_variate", "tracked")

#: name -> the method, and the names of its states
METHODS = {"local-adam": (local_adam, MOMENTS), "fadamgc": (fadamgc, TRACKED), "fa-nt": (fa_nt, (*TRACKED, "z_x_round")),
           "fa-nt-z": (fa_nt_z, MOMENTS)}

#: name of what another method does from the same start with the same draws -> the method, and the state that it is
BESIDE = {"z_x_round": ("fa-nt-z", "x_round")}
