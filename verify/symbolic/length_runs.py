"""Runs on letters of which lengths are looked at: one run, or two coupled ones on neighbouring data sets."""

from fractions import Fraction

from verify.checker.operators import require
from verify.checker.quadratic_forms import NotQuadratic
from verify.symbolic.run import Run

REPLACED = ("replaced", -1, 0, 0)  # the draw of the client whose sample is replaced
SHARED, OWN, TWIN = "F", "f", "f'"  # whose function: a client's loss, that of a draw's sample, and of the twin's sample


class NormOutcome(Run):
    """A run on letters; ``twin``: of clients with samples the one on the other data set."""

    def __init__(self, lengths, method, outcome, twin=None):
        self.twin, self.calls = twin, []
        super().__init__(lengths, method, outcome)

    def begin(self):
        if self.twin is not None:
            alternatives = [(Fraction(1, len(self.clients)), k) for k in self.clients]
            self.chances[REPLACED], self.where = alternatives[self.outcome.get(REPLACED, 0)]
            self.alternatives[REPLACED] = len(alternatives)

    def gradient(self, k, point, kind="noise", step=0):
        draw, lengths = (kind, self.round, step, k), self.instance
        if self.twin is None:
            return lengths.gradient_at((SHARED, k), point) + lengths.noise(draw)
        found = lengths.gradient_at((TWIN if self.twin and k == self.where else OWN, *draw), point)
        self.calls.append((draw, point, found))
        return found

    def solve(self, x, linear, pull):
        if self.twin is not None:
            raise NotQuadratic("local problems of clients with samples, whose losses are not those of one draw")
        return super().solve(x, linear, pull)

    def matching(self, models, round): return [1 for _ in self.clients]

    def initial(self, *free): return self.instance.first_states(free)


class Coupled:
    """Two runs; the names of the second one's record begin with twin_. ``pairs`` has of each call for a stochastic gradient
    (draw, where, gradient) in both."""

    def __init__(self, lengths, method, outcome):
        own, twin = (self.coupled_run(lengths, method, outcome, second) for second in (False, True))
        require(own.alternatives == twin.alternatives, "coupled runs must make the same draws")
        self.chances, self.alternatives, self.where = own.chances, own.alternatives, twin.where
        self.pairs = [*zip(own.calls, twin.calls, strict=True)]
        self.record = own.record | {f"twin_{name}": value for name, value in twin.record.items()}
        self.record["differing"] = [int(k == self.where) for k in own.clients]

    @staticmethod
    def coupled_run(lengths, method, outcome, twin):
        """One of the runs, made once: what an outcome says nothing of turns out as its first alternative, and the run on the
        data themselves is the same whichever client's sample is replaced."""
        said = frozenset((draw, which) for draw, which in outcome.items() if which and (twin or draw != REPLACED))
        key = method, twin, said
        if key not in lengths.runs:
            lengths.runs[key] = NormOutcome(lengths, method, outcome, twin)
        return lengths.runs[key]
