"""The values of polynomials and vectors about runs on an exact instance."""

from fractions import Fraction
from itertools import count

from verify.checker.polynomials import Poly


class Values:
    """Evaluates what proofs say of a run, at one outcome of chance."""

    def __init__(self, instance, outcome=None):
        self.instance, self.outcome = instance, outcome
        self.run = None if outcome is None else instance.run(outcome)

    def number(self, p: Poly, bound=None):
        bound = bound or {}
        total = Fraction(0)
        for m, c in p.terms.items():
            for a, n in m:
                c = c * self.atom(a, bound) ** n
            total += c
        return total

    def atom(self, a, bound):
        kind = a[0]
        if a in bound:
            return bound[a]
        if kind == "name":
            return Fraction(self.instance.size[a[1]] if a[1] in self.instance.size else self.instance.parameter(a[1]))
        if kind == "entry":
            places = [self.number(p, bound) for p in a[2:]]
            return self.instance.parameter(a[1], *places)
        if kind == "drawn":
            r, k = (int(self.number(p, bound)) for p in a[2:])
            return Fraction(self.run.record[a[1]][r][k])
        if kind == "inv":
            return 1 / self.number(a[1], bound)
        if kind == "E":
            return sum((chance * Values(self.instance, outcome).number(a[1], bound)
                        for chance, outcome in self.outcomes(a, bound)), Fraction(0))
        if kind == "dot":
            u, v = (self.vector({one: None}, bound) for one in a[1:])
            return sum((x * y for x, y in zip(u, v, strict=True)), Fraction(0))
        if kind == "F":
            return self.instance.federation.F(int(self.number(a[1], bound)), self.vector(dict(a[2]), bound))
        assert kind == "Sum", kind
        _, body, low, high, own = a
        return sum((self.number(body, {**bound, own: i}) for i in self.range(low, high, bound)), Fraction(0))

    def outcomes(self, mean, bound):
        """The outcomes that a mean is over: all, or those of what is drawn from a round on."""
        if len(mean) == 2:
            return self.instance.outcomes()
        r = self.number(mean[2], bound)
        return self.instance.outcomes(self.outcome, lambda draw: draw[1] >= r)

    def range(self, low, high, bound):
        low, high = (int(self.number(p, bound)) for p in (low, high))
        return map(Fraction, range(low, high + 1))

    def vector(self, v, bound=None):
        """The entries of a vector; a coefficient None is 1."""
        bound = bound or {}
        total = [Fraction(0)] * self.instance.size["dim"]
        for a, c in v.items():
            factor = Fraction(1) if c is None else self.number(c, bound)
            total = [x + factor * y for x, y in zip(total, self.letter(a, bound), strict=True)]
        return total

    def letter(self, a, bound):
        kind = a[0]
        if kind == "vsum":
            _, c, v, low, high, own = a
            parts = [self.vector({v: c}, {**bound, own: i}) for i in self.range(low, high, bound)]
            return [sum(each, Fraction(0)) for each in zip(*parts, strict=True)]
        if kind == "mean":
            parts = [[chance * x for x in Values(self.instance, outcome).vector(dict(a[1]), bound)]
                     for chance, outcome in self.outcomes(a, bound)]
            return [sum(each, Fraction(0)) for each in zip(*parts, strict=True)]
        if kind == "grad":
            return self.instance.federation.grad(int(self.number(a[1], bound)), self.point(dict(a[2]), bound))
        places = [int(self.number(p, bound)) for p in a[2:]]
        if kind == "run" and a[1].endswith(" gradient"):
            return self.beside(a[1].split()[0], *places)
        found = self.run.record[a[1]] if kind == "run" else self.instance.parameter(a[1])
        for place in places:
            assert place >= 0
            found = found[place]
        return found

    def point(self, v, bound):
        return type(self.instance.parameter("x_star"))(self.vector(v, bound))

    def beside(self, kind, r, k):
        """A gradient that is drawn beside the local steps."""
        run = self.run
        run.round = r if kind == "extra" else -1
        return run.gradient(k, run.record["x_round"][r], kind)


names = count()
