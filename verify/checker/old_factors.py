"""Clients of the stand-alone checker whose parameters are factors of a model (FedPara).

The model is a row of n numbers W_j = a b y_j z_j, of x = (a, y_1, ..., y_n, b, z_1, ..., z_n): FedPara's factors of rank 1.
The losses of an instance are functions of W. Every W is the model of x = (1, W, 1, 1, ..., 1), so that least values are
those over all W.
"""

from verify.checker.intervals import Vector, each
from verify.checker.words import require


class Factors:
    """What differs from other instances; in front of the class of these."""

    factored = True

    def model(self, v):
        """W of parameters v."""
        (a, *y), (b, *z) = halves(v)
        return each(lambda p, q: a * b * p * q, y, z)

    def pulled(self, v, slopes):
        """The gradient in v from ``slopes``, the one in W."""
        (a, *y), (b, *z) = halves(v)
        inner = sum(each(lambda s, p, q: s * p * q, slopes, y, z))
        return Vector([b * inner, *each(lambda s, q: a * b * s * q, slopes, z),
                       a * inner, *each(lambda s, p: a * b * s * p, slopes, y)])

    def solve(self, k, linear, pull, x):
        raise ValueError("local problems of factors are not replayed")

    def noise_and_bounds(self, main):
        """Nothing: no constant bounds the curvature of losses of factors, or noise of W, over all points."""
        require(self.how["base"] == "fedpara", "only fedpara trains factors")
        require("half_tangent" not in self.given, "factors are not turned")
        require(not any(self.given["noise"]), "clients with factors have no noise")
        require(not self.everywhere, "no bound over all points of factors is known")
        self.laws = [[(1, self.start() * 0)] for _ in self.all]
        return {"sigma_sq_client": [0 for _ in self.all]}


def halves(v):
    """(a, y) and (b, z)."""
    return v[: len(v) // 2], v[len(v) // 2:]
