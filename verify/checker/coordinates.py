"""Coordinates in which losses are evaluated: the parameters themselves, rotated parameters, or a product of factors."""

from verify.checker.intervals import Vector, each
from verify.checker.operators import require


class Turned:
    """Losses of parameters that are turned in the plane of the first and the last one, by the angle whose half has this
    ``tangent``: a number for all clients, or one for each client k; None: not turned."""

    factored = False

    def __init__(self, tangent=None):
        self.tangent, self.one_basis = tangent, not isinstance(tangent, Vector)

    def turn(self, v, k, way=1):
        if self.tangent is None:
            return v
        require(self.one_basis or k is not None, "clients that are turned by angles of their own have no basis in common")
        t, (first, *middle, last) = self.tangent if self.one_basis else self.tangent[k], v
        cosine, sine = (1 - t * t) / (1 + t * t), way * 2 * t / (1 + t * t)
        return Vector([first * cosine - last * sine, *middle, first * sine + last * cosine])

    def model(self, v, k=None):
        """The point at which the losses of client k are evaluated for parameters v; of all clients, where k is None."""
        return self.turn(v, k, -1)

    def gradient(self, v, slopes, k):
        """The gradient in the parameters v, of ``slopes`` in the model."""
        return self.turn(slopes, k)

    def parameters(self, model, k=None):
        return self.turn(model, k)


class Factors:
    """FedPara: the model is a row of n numbers W_j = a b y_j z_j of the parameters (a, y_1, ..., y_n, b, z_1, ..., z_n).

    Every W is the model of (1, W, 1, 1, ..., 1), so that least values are those over all W.
    """

    factored = one_basis = True

    def model(self, v, k=None):
        (a, *y), (b, *z) = halves(v)
        return each(lambda p, q: a * b * p * q, y, z)

    def gradient(self, v, slopes, k):
        (a, *y), (b, *z) = halves(v)
        inner = sum(each(lambda s, p, q: s * p * q, slopes, y, z))
        return Vector([b * inner, *each(lambda s, q: a * b * s * q, slopes, z),
                       a * inner, *each(lambda s, p: a * b * s * p, slopes, y)])

    def parameters(self, model, k=None):
        raise ValueError("local problems and noise of factors are not replayed")


def halves(v):
    """(a, y) and (b, z)."""
    return v[: len(v) // 2], v[len(v) // 2:]
