"""Clients whose losses are sums of functions of one coordinate: losses, gradients, noise, and the constants of their class.

Client k has F_k(v) = offset_k + sum_j (curvature_kj / 2 (v_j - center_kj)^2 + pieces); piecewise_quadratic.py has the
functions. Where each client has a basis of its own (coordinates.py) there are no pieces, and no sums of clients' lines.
"""

from fractions import Fraction
from operator import le, lt

from verify.checker import random_numbers
from verify.checker.coordinates import Factors, Turned
from verify.checker.intervals import dot, each
from verify.checker.limits import TERMS, bounded
from verify.checker.operators import add, mean, place, require
from verify.checker.piecewise_quadratic import Bounds, Line
from verify.checker.run import Run


class Federation:
    """The clients of an instance. ``given`` has what the certificate says, by name."""

    average = None  # the mean over clients is that by their weights

    def __init__(self, given, sizes, everywhere, meter):
        self.given, self.meter, self.weights, self.priority = given, meter, given["client_weight"], given["priority"]
        self.coordinates = Factors() if "factors" in given else Turned(given.get("half_tangent"))
        self.factored, self.layer_sizes = self.coordinates.factored, [*map(int, given["layer_sizes"])]
        self.clients, star = range(len(self.weights)), given["x_star"]
        self.start = star + given["start_offset"] if "start_offset" in given else star
        pieces = given.get("pieces") or [[[] for _ in row] for row in given["center"]]
        self.lines = [each(lambda a, c, more: Line([(a, c)], more), *row) for row in zip(
            given["curvature"], given["center"], pieces, strict=True)]
        main = [w * q for w, q in zip(self.weights, self.priority, strict=True)]
        self.main = main  # the weights of the objective
        self.one_basis = self.coordinates.one_basis
        self.whole = [add(*(line * w for line, w in zip(row, main, strict=True)))
                      for row in zip(*self.lines, strict=True)] if self.one_basis else None
        self.laws = [law or [(Fraction(1), star * 0)] for law in given["noise"]]  # by client: pairs (chance, vector)
        self.is_one(sizes)
        self.found = self.constants_of_class(everywhere)
        self.laws = [law if len(law) == 1 else [(chance, self.coordinates.parameters(v, k)) for chance, v in law]
                     for k, law in enumerate(self.laws)]

    def is_one(self, sizes):
        """Refuse what is no federation."""
        given, star = self.given, self.given["x_star"]
        require(sum(self.main) == 1 and {*self.priority} <= {0, 1} and min(self.weights) > 0,
                "priority weights must sum to one")
        require([*self.priority] == sorted(self.priority, reverse=True), "priority clients come first")
        require(all(value in (0, 1) for row in given.get("available", []) for value in row), "clients are available or not")
        model = self.coordinates.model(star) if self.one_basis else star
        require(len({*map(len, [model, *self.lines])}) == 1, "losses must have one line by coordinate")
        require(self.one_basis or "pieces" not in given, "clients with a basis each are quadratic")
        require(len(self.weights) == len(given["noise"]) == sizes["clients"],
                "every client has one weight and one noise law")
        require("pieces" in given or min(map(min, given["curvature"])) > 0, "quadratic losses have positive curvatures")
        count = sum(len(line.pieces) for row in self.lines for line in row)
        bounded((2 * count + 1) * (count + len(self.weights)), TERMS, "slopes at the knots of pieces")
        optimal = all(line.value(y) <= line.least() for line, y in zip(self.whole, model, strict=True)) if (
            self.one_basis) else not any(self.objective_grad(star))  # of strictly convex losses
        require(optimal, "x_star must be the optimum")
        parts = given["layer_sizes"]
        whole = all(part > 0 and part.denominator == 1 for part in parts)
        require(whole and sum(parts) == len(star), "sizes of layers must be whole numbers that sum to dim")
        require(sizes.get("layers", len(parts)) == len(parts), "as many sizes of layers as layers")
        noisy = [law for law in given["noise"] if law]
        same = all([chance for chance, _ in law] == [chance for chance, _ in noisy[0]] for law in noisy)
        require(same and all(1 < len(law) <= 3 for law in noisy),
                "noise has two or three outcomes, with the same chances for all clients that have any")
        for chances, vectors in (zip(*law, strict=True) for law in self.laws):
            require(sum(chances) == 1 and min(chances) > 0 and not any(mean(chances, vectors)), "noise must be centred")

    def constants_of_class(self, everywhere):
        """The least constants of the classes to which the losses belong, by name. Refuses a number that is given
        ``everywhere``, as a bound over all points, and is none."""
        star, found = self.given["x_star"], {}
        found["F_star"] = found["F_inf"] = self.objective(star)
        if all(line.bounded() for row in self.lines for line in row):
            found["F_star_client"] = [offset + sum(line.least() for line in row)
                                      for offset, row in zip(self.given["offset"], self.lines, strict=True)]
        if self.factored:  # of functions of factors no curvature and no slope is bounded
            require(not everywhere, "no bound over all points of factors is known")
            require("half_tangent" not in self.given, "factors are not turned")
            require(not any(self.given["noise"]), "clients with factors have no noise")
            return found | {"sigma_sq_client": [0 for _ in self.clients]}
        require(self.one_basis or not everywhere, "no bound over all points is known of clients with a basis each")
        bounds = Bounds(self.lines, self.main, self.laws)
        for name in everywhere:
            by_client = name.endswith("_client")
            require(not by_client or len(self.given[name]) == len(self.weights), f"{name} has one number by client")
            for k, bound in enumerate(self.given[name]) if by_client else [(None, self.given[name])]:
                require(bound >= 0 and bounds.square(name, k) <= bound**2, f"{name} must be a bound over all points")
        bends = [[bend for line in row for bend in line.bends()] for row in self.lines]
        found |= {"L_client": [max(map(abs, b)) for b in bends], "mu_client": [*map(min, bends)],
                  "sigma_sq_client": [sum(q * dot(v, v) for q, v in law) for law in self.laws]}
        if self.one_basis:
            bends = [bend for line in self.whole for bend in line.bends()]
            found |= {"L_objective": max(map(abs, bends)), "mu_objective": min(bends)}
        return found

    # words of formulas -----------------------------------------------------------------------------------------------------
    def grad(self, k, v):
        k = self.client(k)
        lines, model = self.lines[k], self.coordinates.model(v, k)
        self.meter.evaluate(lines, model)
        return self.coordinates.gradient(v, each(lambda line, y: line.slope(y), lines, model), k)

    def F(self, k, v):
        k = self.client(k)
        lines, model = self.lines[k], self.coordinates.model(v, k)
        self.meter.evaluate(lines, model)
        return add(self.given["offset"][k], *each(lambda line, y: line.value(y), lines, model))

    def objective(self, v): return dot(self.main, [self.F(k, v) for k in self.clients])
    def objective_grad(self, v): return mean(self.main, [self.grad(k, v) for k in self.clients])
    def client(self, k): return place(k, len(self.weights), "a client")

    def layer_part(self, l, v):
        """A vector with every layer but one set to zero."""
        first = sum(self.layer_sizes[: place(l, len(self.layer_sizes), "a layer")])
        return type(v)(a if first <= j < first + self.layer_sizes[int(l)] else a * 0 for j, a in enumerate(v))

    def constants(self, instance): return self.found

    def operators(self, instance):
        return {name: getattr(self, name) for name in ("F", "grad", "objective", "objective_grad", "layer_part")}

    def binders(self, instance): return {}

    def may_name(self, instance, name, indices):
        """Refuse a name that has no value here."""
        known = self.one_basis or name not in ("L_objective", "mu_objective")
        require(known, f"no {name} is known of clients with a basis each")

    def are_all(self, participants): return participants == sum(self.priority)
    def sides(self, instance, rule, at): return instance.formulas.sides(rule, at)

    # what runs ask ---------------------------------------------------------------------------------------------------------
    def run(self, instance, method, outcome): return Run(instance, self, method, outcome)

    def begin(self, run):
        """Draws nothing before the first round."""

    def first_states(self, free):
        """The first values of the method's states that are ``free``, by name; an instance may give no others."""
        given = self.given["initial"]
        require({*given} <= {*free}, f"first states that are free: {', '.join(free) or 'none'}; got {', '.join(given)}")
        return given

    def first_state(self, name, value): return value
    def choose(self, run, kind, values, chances): return run.draw(kind, [*zip(chances(), values, strict=True)])
    def split(self, run, layers): return layers(run)

    def stochastic(self, run, k, point, kind, step):
        """A stochastic gradient: the gradient, and a draw of noise where the client has any."""
        law = self.laws[k]
        if len(law) > 1 and not run.instance.lists_noise:
            require(len(law) == 2, "noise that is not listed has two outcomes")
            return self.grad(k, point) + random_numbers.vector_of_draw((kind, run.round, step, k), law, self.meter)
        return self.grad(k, point) + (run.draw(kind, law, step, k) if len(law) > 1 else law[0][1])

    def solution(self, k, linear, pull, x):
        """The minimiser over v of F_k(v) + <linear, v> + pull/2 |v - x|^2."""
        k = self.client(k)
        inner = self.coordinates.model(linear, k), self.coordinates.model(x, k)
        found = each(lambda line, b, y: line.solution(b, pull, y), self.lines[k], *inner)
        return self.coordinates.parameters(found, k)

    def matching(self, run, models, round):
        """1 on priority clients, and on free clients that are there and whose loss matches the objective, else 0."""
        close = lt if run.how["strict"] else le
        limit, there = (self.given[name][min(round, len(self.given[name]) - 1)] for name in ("epsilon", "available"))

        def meets(k):
            gap = abs(self.F(k, models[k]) - self.objective(models[k]))
            return there[k] == 1 and close(gap, limit)

        return [int(self.priority[k] or meets(k)) for k in self.clients]
