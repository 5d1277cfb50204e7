"""Facts about symbolic runs: inequalities and equalities that hold for every federation of a class, by name."""

from fractions import Fraction
from functools import partial
from math import inf
from operator import le, lt

from verify.checker.formulas import names
from verify.checker.operators import require
from verify.checker.piecewise_quadratic import BOUNDS
from verify.checker.quadratic_forms import (
    LAYER,
    NotQuadratic,
    QuadraticForm,
    SymbolicVector,
    between,
    digit_cost,
    effort,
    pairing,
    plain,
)
from verify.symbolic.lazy import LazyMapping

#: constants of clients that a class bounds: how the relation of a hypothesis that bounds them begins
CLASS = {"L_client": "<", "mu_client": ">"}


def sign_of_least(node, value):
    """The sign of the factor of a least value over all points in a formula, 0 where it has none. Raises NotQuadratic unless
    it is a term of its own."""
    if "infimum" not in names(node):
        return 0
    inside = [part for part in node[1:] if "infimum" in names(part)]
    if node[0] == "infimum" and not inside:
        return 1
    if node[0] not in ("+", "*") or len(inside) != 1:
        raise NotQuadratic("a least value over all points is a term of its own")
    sign = sign_of_least(inside[0], value)
    for factor in node[1:] if node[0] == "*" else ():
        if factor is not inside[0]:
            number = plain(value(factor))
            sign = 0 if number == 0 else sign if number > 0 else -sign
    return sign


class ClassFacts:
    """The inequalities of a run on letters. A mixin; it precedes the class of runs among the bases."""

    def facts_by_past(self, pasts):
        """The inequalities and the equalities by name, in pairs, for each round whose past is given."""
        return {past: (self.inequalities(past), self.equalities(past)) for past in sorted(pasts)}

    def inequalities(self, past):
        """Numbers that are never negative given the past of a round, by name.

        A hypothesis that these numbers do not meet raises ValueError; one that is not linear in what is compared here, or
        about what is not here, is left out, which assumes less."""
        said = {name: form for name, _, form in self.hypothesis_facts(past)}
        return self.always(past) | said | self.variances(past)

    def hypothesis_facts(self, past):
        """(name, given, form) for every inequality that the hypotheses imply, conditioned on the history before round
        ``past``."""
        self.given_past = past  # what holds for sure holds in expectation
        found = []
        for place, rule in enumerate(self.hypotheses):
            if self.bounds_client(rule) not in CLASS and place not in self.definers:
                found += self.hypothesis(place, rule)
        self.given_past = None
        return found

    def always(self, past):
        """Nonnegative forms by name, whatever is drawn."""
        self.given_past = past
        found = dict(self.at_all_points()) | self.largest
        for k, points in enumerate(self.points):
            L, m = self.bounds["L_client"][k], self.bounds["mu_client"][k]
            if m is None and L is None:
                continue
            digits = digit_cost(*(x for x, *_ in points))
            for i, one in enumerate(points):
                if L is not None:
                    found[f"client {k} least {i}"] = self.above(one, L) - self.given["F_star_client"][k]
                for j, other in enumerate(points):
                    if i != j:
                        found[f"client {k} {i} {j}"] = [*one[:2], *other[:2]], partial(self.of_two, k, i, j, digits)
        found |= self.at_the_optimum()
        self.given_past = None
        return LazyMapping(found)

    def of_two(self, k, i, j, digits):
        """The interpolation conditions of two points of a client; memoised."""
        if (k, i, j) not in self.found_of_two:
            one, other, L, m = self.points[k][i], self.points[k][j], *(self.bounds[name][k] for name in CLASS)
            self.meter.charge((len(one[0].parts) + len(other[0].parts) + 2) ** 2 * digits // 2)
            self.found_of_two[k, i, j] = between(one, other, L, -L if m is None else m)
        return self.found_of_two[k, i, j]

    def variances(self, past):
        """The bounds of the noise's variance, for draws that are not given."""
        return {f"noise {k} {' '.join(map(str, draw))} {number}": self.given["sigma_sq_client"][k] - pairing(row, row)
                for (k, *draw), seen in self.noises.items() if draw[1] >= past for number, (row, *_) in enumerate(seen)}

    def hypothesis(self, place, rule):
        """(name, given, form) for every inequality that one hypothesis implies."""
        if "infimum" in names([rule["left"], rule["right"]]):
            return [*self.at_each_point(place, rule)]
        try:
            found, pairs = [], [*self.compared(rule)]
        except (NotQuadratic, LookupError):
            self.leave_out(rule)
            return []
        for number, (past, smaller, larger) in enumerate(pairs):
            if self.says_something(rule, gap := larger - smaller):
                found.append((f"hypothesis {place} {number}", getattr(past, "given", None), gap))
        return found

    def leave_out(self, rule):
        """Refuses to do without a hypothesis where the proof would then say more than it shows; at fixed sizes never, since
        without it less is assumed."""

    def says_something(self, rule, gap):
        """Whether what a hypothesis says not to be negative is no plain number, which must meet it."""
        if {*gap.parts} <= {()}:
            meets = self.compare(rule["relation"], 0, plain(gap))
            require(meets, f"a hypothesis fails at these numbers: {rule['text']}")
        return not {*gap.parts} <= {()}

    def at_each_point(self, place, rule):
        """Yields the facts that a hypothesis about an infimum over all points implies at the points that occur, where the
        infimum is at most the value."""
        for number, x in enumerate([] if self.choices else self.places()):
            self.point = x
            try:
                found = [*self.at_a_point(rule)]
            except (LookupError, TypeError):  # it is not linear in what is compared here
                self.leave_out(rule)
                found = []
            for case, gap in enumerate(found):
                if self.says_something(rule, gap):
                    yield f"hypothesis {place} {number} {case}", None, gap
        self.point = None

    def at_a_point(self, rule):
        """Yields what is not negative at the current point, by the indices of the hypothesis: a side with an infimum is at
        most that side with the value at the point, or at least that where the infimum has a negative factor."""
        relation = rule["relation"][0]
        for index in self.cases(rule):
            def value(node, index=index):
                return self.value(node, index, None)

            for side, other, smaller, larger in (("left", "right", "<", ">"), ("right", "left", ">", "<")):
                sign = 0 if "infimum" in names(rule[other]) else sign_of_least(rule[side], value)
                if sign > 0 and relation in ("=", larger):
                    yield value(rule[side]) + QuadraticForm({}) - value(rule[other])
                if sign < 0 and relation in ("=", smaller):
                    yield value(rule[other]) + QuadraticForm({}) - value(rule[side])

    def at_the_point(self, point, body, index):
        """Evaluate the body of an infimum at the current point, which bounds the infimum from above."""
        if self.point is None or not isinstance(point, str):
            raise NotQuadratic("the least value over all points")
        return self.value(body, {**index, point: self.point}, None)

    def places(self):
        """The points that occur, of all clients, each once."""
        return [*{x.key: x for points in self.points for x, *_ in points}.values()]

    @staticmethod
    def compare(relation, smaller, larger):
        return (lt if relation in ("<", ">") else le)(smaller, larger)

    def at_all_points(self):
        """Bounds that a hypothesis states at all points, at those that occur: pairs (name, what is not negative)."""
        for name in self.stated["everywhere"]:
            require(name in BOUNDS, f"{name} bounds nothing at all points")
            bound = self.given[name]
            if name == "G_lip":
                rows = [g for points in self.points for _, g, _ in points]
                rows += [g for seen in self.noises.values() for _, g, _ in seen]
                for number, g in enumerate(rows):
                    yield f"{name} {number}", bound**2 - pairing(g, g)
            else:
                yield from self.apart_at_all_points(name, bound)

    def apart_at_all_points(self, name, bound):
        """Yields the bounds of the distance of clients' gradients from their mean."""
        for number, x in enumerate(self.places()):
            gradients = [self.known_at(k, x)[1] for k in self.all]
            mean = sum((g * p for g, p in zip(gradients, self.p, strict=True)), SymbolicVector({}))
            self.meter.charge(sum(effort(g - mean, g - mean) for g in gradients))
            apart = [pairing(g - mean, g - mean) for g in gradients]
            if name in ("sigma_g_client", "sigma_g_max"):
                for k in self.all:
                    yield f"{name} {number} {k}", (bound if name == "sigma_g_max" else bound[k])**2 - apart[k]
            else:  # sigma_g and sigma_g_1 bound a mean of lengths, whose square is at least the sum of their squares
                weights = self.p if name == "sigma_g_2" else [p * p for p in self.p]
                total = sum((w * a for w, a in zip(weights, apart, strict=True)), Fraction(0))
                yield f"{name} {number}", bound**2 - total

    def equalities(self, past):
        """Forms that are zero given the past of a round, by name: a noise is uncorrelated with all that does not depend on
        its draw, and a conditional mean has the inner products of its basis vector with all that is given."""
        found = self.uncorrelated(past) | self.of_one_curvature()
        for (letter, r), mean in self.conditional.items():
            for j in range(len(self.depends)) if r >= past else ():
                if all(self.drawn[draw] < r for draw in self.depends[j]):
                    for l in self.layers:
                        v = SymbolicVector.basis(j + l * LAYER)
                        part = SymbolicVector.basis(letter + l * LAYER) - self.part(l, mean)
                        found[f"mean {letter} {r} {j}{f' {l}' * bool(l)}"] = pairing(part, v)
        return found

    def of_one_curvature(self):
        """The equalities of clients with a single curvature: the gradient is the curvature times the distance from a point
        where it is known."""
        found = {}
        for k, ((star, at_star, _), *points) in enumerate(self.points):
            m = self.bounds["mu_client"][k]
            for i, (x, g, _) in enumerate(points if m is not None and m == self.bounds["L_client"][k] else (), 1):
                rest = g - at_star - (x - star) * m
                for j in range(len(self.depends)):
                    for l in self.layers:
                        v = SymbolicVector.basis(j + l * LAYER)
                        self.meter.charge(effort(rest, v))
                        found[f"curvature {k} {i} {j}{f' {l}' * bool(l)}"] = pairing(rest, v)
        return found

    def uncorrelated(self, past):
        """Inner products of noise with what does not depend on its draw."""
        first, letters, found = self.first_of_draws(past), range(len(self.depends)), {}
        for i in letters if first else ():
            for j in letters[i + 1:]:
                if (i in first and first[i] not in self.depends[j]) or (j in first and first[j] not in self.depends[i]):
                    for l in self.layers:
                        parts = i + l * LAYER, j + l * LAYER
                        found[f"uncorrelated {i} {j}{f' {l}' * bool(l)}"] = QuadraticForm.basis(parts)
        return found

    def first_of_draws(self, past=-inf):
        """Map each letter of noise drawn in or after round ``past`` to the first letter of the same draw."""
        return {next(iter(row.parts)): next(iter(seen[0][0].parts)) for (_, *draw), seen in self.noises.items()
                if draw[1] >= past for row, *_ in seen}

    def drawn_as(self, name):
        """The number of choices made before a draw of noise of which a name tells."""
        kind, *of = name.split()
        if kind == "noise":
            k, what, *draw, _ = of
            seen = self.noises[int(k), what, *map(int, draw)]
            return self.chosen_before[next(iter(seen[0][0].parts))]
        one, other, first = int(of[0]), int(of[1]), self.first_of_draws()
        return max(self.chosen_before[first[n]] for n, v in ((one, other), (other, one))
                   if n in first and first[n] not in self.depends[v])

    @staticmethod
    def above(point, L):
        """A number of which the infimum of an L-smooth function is at most so much."""
        _, gradient, value = point
        return value - pairing(gradient, gradient) / (2 * L)

    def at_the_optimum(self):
        """The facts at the optimum for clients that need not be convex: the objective is least there, F - |grad F|^2 / (2 L)
        >= F_star."""
        L, m = self.bounds["L_client"], self.bounds["mu_client"]
        if None in L or all(bound is not None and bound >= 0 for bound in m):
            return {}
        smooth, found = sum(p * bound for p, bound in zip(self.p, L, strict=True)), {}
        for number, (x, *_) in enumerate(self.points[0][1:], 1):
            if all(any(point[0].equals(x) for point in points) for points in self.points):
                point = x, self.objective_grad(x), self.objective(x)
                found[f"least {number}"] = self.above(point, smooth) - self.given["F_star"]
        return found
