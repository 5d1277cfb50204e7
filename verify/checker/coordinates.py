"""Coordinates in which losses are evaluated: the parameters themselves, rotated parameters, or a product of factors."""

from verify.checker.intervals import Vector, each


class Turned:
    """Losses of parameters that are turned in the plane of the first and the last one, by the angle whose half has this
    ``tangent``; None: not turned."""

    factored = False

    def __init__(self, tangent=None):
        self.tangent = tangent

    def turn(self, v, way=1):
        if self.tangent is None:
            return v
        t, (first, *middle, last) = self.tangent, v
        cosine, sine = (1 - t * t) / (1 + t * t), way * 2 * t / (1 + t * t)
        return Vector([first * cosine - last * sine, *middle, first * sine + last * cosine])

    def model(self, v):
        """The point at which losses are evaluated for parameters v."""
        return self.turn(v, -1)

    def gradient(self, v, slopes):
        """The gradient in the parameters v, of ``slopes`` in the model."""
        return self.turn(slopes)

    def parameters(self, model):
        return self.turn(model)


class Factors:
    """FedPara: the model is a row of n numbers W_j = a b y_j z_j of the parameters (a, y_1, ..., y_n, b, z_1, ..., z_n).

    Every W is the model of (1, W, 1, 1, ..., 1), so that least values are those over all W.
    """

    factored = True

    def model(self, v):
        (a, *y), (b, *z) = halves(v)
        return each(lambda p, q: a * b * p * q, y, z)

    def gradient(self, v, slopes):
        (a, *y), (b, *z) = halves(v)
        inner = sum(each(lambda s, p, q: s * p * q, slopes, y, z))
        return Vector([b * inner, *each(lambda s, q: a * b * s * q, slopes, z),
                       a * inner, *each(lambda s, p: a * b * s * p, slopes, y)])

    def parameters(self, model):
        raise ValueError("local problems and noise of factors are not replayed")


def halves(v):
    """(a, y) and (b, z)."""
    return v[: len(v) // 2], v[len(v) // 2:]
