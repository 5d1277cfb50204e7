"""The instance of a certificate: a client's loss, its gradient, its local problem, and what follows from them."""
from fractions import Fraction

if __package__:
    from verify.checker_numbers import Vector, dot, each
    from verify.checker_words import exact, mean, require
else:
    from checker_numbers import Vector, dot, each
    from checker_words import exact, mean, require

#: words whose meaning depends on the instance
OF_INSTANCE = ("F", "grad", "objective", "objective_grad", "tau", "layer_part")


class Instance:
    """Everything that a certificate gives, by name: ``given`` has data and values, ``size`` the whole numbers."""

    def __init__(self, certificate):
        self.size, self.how, self.rules = (certificate[n] for n in ("sizes", "procedure", "definitions"))
        self.given = {n: exact(v) for part in ("instance", "values", "sizes") for n, v in certificate[part].items()}

    def grad(self, k, v):
        curvature, center = (self.given[name][int(k)] for name in ("curvature", "center"))
        return each(lambda a, y, c: a * (y - c), curvature, v, center)

    def F(self, k, v):
        return dot(self.grad(k, v), v - self.given["center"][int(k)]) / 2 + self.given["F_star_client"][int(k)]

    def solve(self, k, linear, pull, x):
        curvature, center = (self.given[name][int(k)] for name in ("curvature", "center"))
        return each(lambda a, c, y, b: (a * c + pull * y - b) / (a + pull), curvature, center, x, linear)

    def federation(self):
        """Quadratic clients F_k(v) = 1/2 sum_j curvature_kj (v_j - center_kj)^2 + F_star_client_k, and their noise."""
        given, self.P, self.p, star = self.given, *(self.given[n] for n in ("priority", "client_weight", "x_star"))
        self.main, self.all = Vector(w * q for w, q in zip(self.p, self.P, strict=True)), range(len(self.p))
        require(sum(self.main) == 1 and {*self.P} <= {0, 1} and min(self.p) > 0, "priority weights must sum to one")
        require(min(map(min, given["curvature"])) > 0 and len(star) == self.size["dim"], "no such quadratic clients")
        require(len(self.p) == len(given["noise"]) == self.size["clients"], "every client has one weight and one noise law")
        require(not any(self.objective_grad(star)), "x_star must be the optimum")
        parts = given["layer_sizes"]
        require(min(parts) > 0 and sum(parts) == len(star), "sizes of layers must sum to dim")
        require(self.size.get("layers", len(parts)) == len(parts), "as many sizes of layers as layers")
        self.laws = [law or [(Fraction(1), star * 0)] for law in given["noise"]]  # per client: pairs (chance, vector)
        for chances, vectors in (zip(*law, strict=True) for law in self.laws):
            require(sum(chances) == 1 and min(chances) > 0 and not any(mean(chances, vectors)), "noise must be centred")
        given.update(F_star=self.objective(star), L_client=[*map(max, given["curvature"])], mu_client=[
            *map(min, given["curvature"])], sigma_sq_client=[sum(q * dot(v, v) for q, v in law) for law in self.laws])

    def objective(self, v):
        return dot(self.main, [self.F(k, v) for k in self.all])

    def objective_grad(self, v):
        return mean(self.main, [self.grad(k, v) for k in self.all])

    def tau(self, t):
        return t - t % self.size["local_steps"]

    def layer_part(self, l, v):
        ends = [int(sum(self.given["layer_sizes"][: i])) for i in (int(l), int(l) + 1)]
        return Vector(a if ends[0] <= j < ends[1] else a * 0 for j, a in enumerate(v))
