"""A run on letters, and its layers."""

from fractions import Fraction

from verify.checker.operators import require
from verify.checker.quadratic_forms import SymbolicVector
from verify.symbolic.run import Run


class SymbolicOutcome(Run):
    """A run on letters; a draw of noise is a letter of its own."""

    def gradient(self, k, point, kind="noise", step=0):
        gradient = self.gradient_at(k, point)
        before = sum(draw in self.instance.chosen for draw in self.chances)
        return gradient + self.instance.noise(k, point, gradient, (kind, self.round, step), before)

    def gradient_at(self, k, point): return self.instance.grad(k, point)

    def choose(self, kind, values, chances):
        """A choice with unknown chances; in the last round nobody asks what it is."""
        if len(values) == 1 or self.round == self.instance.size["rounds"] - 1:
            return values[0] if len(values) == 1 else None
        require((kind, self.round, 0, 0) not in self.chances, f"two choices of {kind} in one round")
        self.instance.chosen.add((kind, self.round, 0, 0))
        return self.draw(kind, [(Fraction(1), value) for value in values])

    def split(self, layers): return SymbolicLayers(self.instance)

    def matching(self, models, round): return [1 for _ in self.clients]

    def initial(self, *free): return self.instance.first_states(free)


class SymbolicLayers:
    """The layers of vectors of letters. Scores are numbers of which nothing is known."""

    def __init__(self, letters):
        self.letters, self.all = letters, range(letters.size["layers"])

    def select(self, layers, new, old):
        """``new`` in these layers, ``old`` in the others."""
        return sum((self.letters.whole_part(l, new if l in layers else old) for l in self.all), SymbolicVector({}))

    def marks(self, layers):
        return [self.letters.anything() if layers is None else int(l in layers) for l in self.all]

    def score(self, *_): return self.letters.anything()
