"""Functions of one number that are quadratic between knots: a quadratic plus Huber functions, of any sign."""

from dataclasses import dataclass
from typing import Any

from synthetic.numbers.arrays import add_up, first_least, maximum, namespace

__all__ = ["HuberSum", "cut"]

_ROUNDING = 1e-12  # relative to the terms, for floats only


def cut(values, bound):
    """``values`` clipped to [-bound, bound], on every backend."""
    if values.dtype != object:
        xp = namespace(values)
        return xp.minimum(xp.maximum(values, -bound), bound)  # several times as fast as clip
    return -maximum(-maximum(values, -bound + 0 * values), -bound + 0 * values)


@dataclass(frozen=True)
class HuberSum:
    """f(v) = curvature/2 v^2 - linear v + sum_p slope_p h_p(v - center_p), a batch of such functions.

    h_p(u) = u^2/2 where |u| <= width_p, and width_p |u| - width_p^2/2 beyond. ``curvature`` >= 0 and ``linear`` have the
    batch's shape (...), the others one more axis for the pieces, (..., pieces); ``width`` >= 0.
    """

    curvature: Any
    linear: Any
    slope: Any
    center: Any
    width: Any

    def value(self, v):
        """f at points ``v`` (..., points), same shape."""
        u, inner = self._from_centers(v)
        pieces = add_up(self.slope[..., None, :] * (u * inner - inner**2 / 2))
        return (self.curvature[..., None] * v / 2 - self.linear[..., None]) * v + pieces

    def derivative(self, v):
        """f' at points ``v`` (..., points), same shape."""
        _, inner = self._from_centers(v)
        pieces = add_up(self.slope[..., None, :] * inner)
        return self.curvature[..., None] * v - self.linear[..., None] + pieces

    def _from_centers(self, v):
        u = v[..., None] - self.center[..., None, :]
        return u, cut(u, self.width[..., None, :])

    def knots(self):
        """Points between which f is quadratic, in ascending order, (..., knots): at least one."""
        xp = namespace(self.curvature)
        if not self.slope.shape[-1]:
            return 0 * self.curvature[..., None]
        return xp.sort(xp.concat([self.center - self.width, self.center + self.width], axis=-1), axis=-1)

    def second_derivatives(self, knots=None):
        """f'' before the first knot, between neighbours, and after the last, (..., knots + 1).

        Between knots that coincide it is the one outside of all knots, ``curvature``.
        """
        xp, knots = namespace(self.curvature), self.knots() if knots is None else knots
        outside = self.curvature[..., None]
        if knots.shape[-1] == 1:
            return xp.concat([outside, outside], axis=-1)
        low, high = knots[..., :-1], knots[..., 1:]
        distance = xp.abs((low + high)[..., None] / 2 - self.center[..., None, :])
        steep = xp.where(distance < self.width[..., None, :], self.slope[..., None, :], 0 * distance)
        between = xp.where(high > low, outside + add_up(steep), outside + 0 * low)
        return xp.concat([outside, between, outside], axis=-1)

    def minimiser(self):
        """A global minimiser, (...): the first candidate of least value (stationary points, and knots).

        nan where f has no minimum; exact arithmetic raises ArithmeticError there.
        """
        xp, knots = namespace(self.curvature), self.knots()
        bends, slopes = self.second_derivatives(knots), self.derivative(knots)
        knots = knots + 0 * slopes
        base = xp.concat([knots[..., :1], knots], axis=-1)
        root = base - xp.concat([slopes[..., :1], slopes], axis=-1) / xp.where(bends > 0, bends, 0 * bends + 1)
        first, last = knots[..., :1], knots[..., -1:]
        inside = xp.concat([root[..., :1] <= first, (root[..., 1:-1] >= knots[..., :-1]) & (
            root[..., 1:-1] <= knots[..., 1:]), root[..., -1:] >= last], axis=-1)
        candidates = xp.where((bends > 0) & inside, root, base)  # the least value of each piece, or its first point
        best = first_least(self.value(candidates))
        found = xp.take_along_axis(candidates, best[..., None], axis=-1)[..., 0]
        bounded = self.bounded_below()
        if bool(xp.all(bounded)):
            return found
        if found.dtype == object:
            raise ArithmeticError("the loss is not bounded below")
        return xp.where(bounded, found, float("nan") + 0 * found)

    def outer_slope(self):
        """The absolute slope beyond all knots, if ``curvature`` is 0: f' is -linear minus this before them, and -linear plus
        this after them."""
        return namespace(self.curvature).sum(self.slope * self.width, axis=-1)

    def bounded_below(self):
        """Whether f has a minimum, (...), truth values."""
        xp, outer = namespace(self.curvature), self.outer_slope()
        slack = 0 * outer
        if outer.dtype != object:
            slack = _ROUNDING * (xp.sum(xp.abs(self.slope * self.width), axis=-1) + xp.abs(self.linear))
        return (self.curvature > 0) | (xp.abs(self.linear) <= outer + slack)

    def largest_slope_sq(self):
        """sup over v of f'(v)^2, (...), where ``curvature`` is 0: f' is then constant beyond the knots."""
        return namespace(self.curvature).max(self.derivative(self.knots()) ** 2, axis=-1)
