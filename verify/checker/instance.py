"""The instance of a certificate: a client's loss, its gradient, its local problem, and what follows from them."""

from fractions import Fraction

from verify.checker.intervals import Vector, dot, each
from verify.checker.limits import TERMS, Meter, bounded
from verify.checker.pieces import Bounds, Line
from verify.checker.words import add, exact, mean, place, require

#: words whose meaning depends on the instance
OF_INSTANCE = ("F", "grad", "objective", "objective_grad", "tau", "layer_part")


class Instance:
    """Everything that a certificate gives, by name: ``given`` has data and values, ``size`` the whole numbers."""

    factored = False  # whether parameters are factors of a model

    def __init__(self, certificate, meter=None):
        self.meter = meter or Meter()
        self.size, self.how, self.rules = (certificate[n] for n in ("sizes", "procedure", "definitions"))
        self.free, self.everywhere = certificate["free"], certificate["everywhere"]
        values = {n: v for n, v in certificate["values"].items() if not isinstance(v, dict)}  # others: a hypothesis says it
        parts = (certificate["instance"], certificate["sizes"], values)
        self.given = {n: exact(v) for part in parts for n, v in part.items()}

    def start(self):
        return self.given["x_star"] + self.given["start_offset"]

    def turn(self, v, way=1):
        """v turned in the plane of its ends by the angle with this tangent of its half; back where ``way`` is -1."""
        if "half_tangent" not in self.given:
            return v
        t, (first, *middle, last) = self.given["half_tangent"], v
        cosine, sine = (1 - t * t) / (1 + t * t), way * 2 * t / (1 + t * t)
        return Vector([first * cosine - last * sine, *middle, first * sine + last * cosine])

    def model(self, v):
        """Where losses are evaluated, of parameters v."""
        return self.turn(v, -1)

    def pulled(self, v, slopes):
        """The gradient in parameters v from ``slopes``, the one in the model."""
        return self.turn(slopes)

    def grad(self, k, v):
        lines, point = self.lines[self.client(k)], self.model(v)
        self.meter.evaluate(lines, point)
        return self.pulled(v, each(lambda line, y: line.slope(y), lines, point))

    def F(self, k, v):
        lines, point = self.lines[self.client(k)], self.model(v)
        self.meter.evaluate(lines, point)
        return add(self.given["offset"][self.client(k)], *each(lambda line, y: line.value(y), lines, point))

    def client(self, k):
        """The number of a client, if it is one."""
        return place(k, len(self.given["client_weight"]), "a client")

    def solve(self, k, linear, pull, x):
        inner = self.turn(linear, -1), self.turn(x, -1)
        return self.turn(each(lambda line, b, y: line.solution(b, pull, y), self.lines[int(k)], *inner))

    def federation(self):
        """Clients F_k(v) = offset_k + sum_j 1/2 curvature_kj (v_j - center_kj)^2 + pieces (see Line), and their noise;
        all that turned where there is a ``half_tangent``."""
        given, self.P, self.p, star = self.given, *(self.given[n] for n in ("priority", "client_weight", "x_star"))
        self.main, self.all = Vector(w * q for w, q in zip(self.p, self.P, strict=True)), range(len(self.p))
        require(sum(self.main) == 1 and {*self.P} <= {0, 1} and min(self.p) > 0, "priority weights must sum to one")
        require([*self.P] == sorted(self.P, reverse=True), "priority clients come first")
        there = given.get("available", [])
        require(all(value in (0, 1) for row in there for value in row), "clients are available or not")
        pieces = given.get("pieces") or [[[] for _ in row] for row in given["center"]]
        self.lines = [each(lambda a, c, more: Line([(a, c)], more), *row) for row in zip(
            given["curvature"], given["center"], pieces, strict=True)]
        require(len({*map(len, [self.model(star), *self.lines])}) == 1, "losses must have one line by coordinate")
        require(len(self.p) == len(given["noise"]) == self.size["clients"], "every client has one weight and one noise law")
        require("pieces" in given or min(map(min, given["curvature"])) > 0, "quadratic losses have positive curvatures")
        count = sum(len(more) for row in pieces for more in row)
        bounded((2 * count + 1) * (count + len(self.p)), TERMS, "slopes at the knots of pieces")
        main = [add(*(line * w for line, w in zip(row, self.main, strict=True))) for row in zip(*self.lines, strict=True)]
        ends = zip(main, self.model(star), strict=True)
        require(all(line.value(y) <= line.least() for line, y in ends), "x_star must be the optimum")
        parts = given["layer_sizes"]
        whole = all(part > 0 and part.denominator == 1 for part in parts)
        require(whole and sum(parts) == len(star), "sizes of layers must be whole numbers that sum to dim")
        require(self.size.get("layers", len(parts)) == len(parts), "as many sizes of layers as layers")
        given.update(F_star=self.objective(star), F_inf=self.objective(star), **self.noise_and_bounds(main))
        if all(line.bounded() for lines in self.lines for line in lines):
            least = zip(given["offset"], self.lines, strict=True)
            given["F_star_client"] = [offset + sum(line.least() for line in lines) for offset, lines in least]
        for name in self.everywhere:
            require(not name.endswith("_client") or len(given[name]) == len(self.p), f"{name} has one number by client")

    def noise_and_bounds(self, main):
        """The laws of noise, constants by name, and whether bounds over all points are; ``main``: lines of the objective."""
        given = self.given
        noisy = [law for law in given["noise"] if law]
        same = all(len(law) == 2 and law[0][0] == noisy[0][0][0] for law in noisy)
        require(same, "noise has two outcomes, with the same chances for all clients that have any")
        zero = given["x_star"] * 0
        self.laws = [law or [(Fraction(1), zero)] for law in given["noise"]]  # per client: pairs (chance, vector)
        bounds = Bounds(self.lines, self.main, self.laws)
        self.laws = [[(chance, self.turn(vector)) for chance, vector in law] for law in self.laws]
        for chances, vectors in (zip(*law, strict=True) for law in self.laws):
            require(sum(chances) == 1 and min(chances) > 0 and not any(mean(chances, vectors)), "noise must be centred")
        for name in self.everywhere:
            for k, bound in enumerate(given[name]) if name.endswith("_client") else [(None, given[name])]:
                require(bound >= 0 and bounds.square(name, k) <= bound**2, f"{name} must be a bound over all points")
        bends = [[bend for line in lines for bend in line.bends()] for lines in self.lines]
        return {"L_client": [max(map(abs, b)) for b in bends], "mu_client": [*map(min, bends)],
                "L_objective": max(abs(bend) for line in main for bend in line.bends()),
                "mu_objective": min(bend for line in main for bend in line.bends()),
                "sigma_sq_client": [sum(q * dot(v, v) for q, v in law) for law in self.laws]}

    def objective(self, v):
        return dot(self.main, [self.F(k, v) for k in self.all])

    def objective_grad(self, v):
        return mean(self.main, [self.grad(k, v) for k in self.all])

    def tau(self, t):
        return t - t % self.size["local_steps"]

    def layer_part(self, l, v):
        l = place(l, len(self.given["layer_sizes"]), "a layer")
        ends = [int(sum(self.given["layer_sizes"][: i])) for i in (l, l + 1)]
        return Vector(a if ends[0] <= j < ends[1] else a * 0 for j, a in enumerate(v))
