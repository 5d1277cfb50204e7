"""Losses of one number, with their exact range and exact bounds on their first two derivatives."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, inf, log

import numpy as np

from synthetic.base.checks import number, one_of
from synthetic.numbers.arrays import namespace

__all__ = ["SHAPES", "ScalarLoss", "Shape", "softplus"]


@dataclass(frozen=True)
class Shape:
    """A loss phi(u) and its first two derivatives, ``slope`` and ``bend``, with their infimum and supremum, exact.

    ``range`` is that of phi; ``growth`` are s > 0 and c with phi(u) >= s |u| - c for all u, None if there are none.
    ``change`` is M with |phi'''| <= M phi'' (generalised self-concordance), None if there is none.
    ``margin``: phi is the loss of a label's margin, used with u = -y a.x.
    """

    about: str
    value: Callable
    slope: Callable
    bend: Callable
    range: tuple[float, float]
    slopes: tuple[float, float]
    bends: tuple[float, float]
    growth: tuple[float, float] | None = None
    change: float | None = None
    margin: bool = False


def _xp(function):
    """``function(xp, u)`` as a function of u alone."""
    return lambda u: function(namespace(u), u)


def _logistic(xp, u):
    return (1 + xp.tanh(u / 2)) / 2


def softplus(u):
    """log(1 + e^u), with derivatives that torch gets right at 0; a nan stays one."""
    with np.errstate(invalid="ignore"):
        return namespace(u).logaddexp(u, 0 * u)


_SQRT3 = 3**0.5
_pseudo_huber = _xp(lambda xp, u: u**2 / (1 + xp.sqrt(1 + u**2)))
_root_slope = _xp(lambda xp, u: u / xp.sqrt(1 + u**2))
_root_bend = _xp(lambda xp, u: (1 + u**2) ** -1.5)

SHAPES: dict[str, Shape] = {
    "square": Shape(
        "u^2/2", lambda u: u**2 / 2, lambda u: u, lambda u: 0 * u + 1, (0, inf), (-inf, inf), (1, 1), (1, 0.5), 0),
    "log-cosh": Shape(
        "log cosh u", lambda u: softplus(2 * u) - u - log(2), _xp(lambda xp, u: xp.tanh(u)),
        _xp(lambda xp, u: 1 - xp.tanh(u) ** 2), (0, inf), (-1, 1), (0, 1), (1, log(2)), 2),
    "pseudo-huber": Shape(
        "sqrt(1 + u^2) - 1", _pseudo_huber, _root_slope, _root_bend, (0, inf), (-1, 1), (0, 1), (1, 1), 1.5),
    "root": Shape(
        "sqrt(1 + u^2)", lambda u: 1 + _pseudo_huber(u), _root_slope, _root_bend, (1, inf), (-1, 1), (0, 1), (1, 0),
        1.5),
    "huber": Shape(
        "u^2/2 where |u| <= 1, else |u| - 1/2", _xp(lambda xp, u: xp.where(xp.abs(u) <= 1, u**2 / 2, xp.abs(u) - 0.5)),
        _xp(lambda xp, u: xp.clip(u, min=-1, max=1)), _xp(lambda xp, u: xp.astype(xp.abs(u) <= 1, u.dtype)),
        (0, inf), (-1, 1), (0, 1), (1, 0.5)),
    "softplus": Shape(
        "log(1 + e^u), convex", softplus, _xp(_logistic),
        _xp(lambda xp, u: (1 - xp.tanh(u / 2) ** 2) / 4), (0, inf), (0, 1), (0, 0.25), change=1,
        margin=True),
    "sigmoid": Shape(
        "1/(1 + e^-u), bounded", _xp(_logistic), _xp(lambda xp, u: (1 - xp.tanh(u / 2) ** 2) / 4),
        _xp(lambda xp, u: -xp.tanh(u / 2) * (1 - xp.tanh(u / 2) ** 2) / 4), (0, 1), (0, 0.25),
        (-1 / (6 * _SQRT3), 1 / (6 * _SQRT3)), margin=True),
    "geman-mcclure": Shape(
        "u^2/(2 (1 + u^2)), bounded", lambda u: u**2 / (1 + u**2) / 2, lambda u: u / (1 + u**2) ** 2,
        lambda u: (1 - 3 * u**2) / (1 + u**2) ** 3, (0, 0.5), (-3 * _SQRT3 / 16, 3 * _SQRT3 / 16), (-0.25, 1)),
    "tanh-squared": Shape(
        "tanh(u)^2/2, bounded", _xp(lambda xp, u: xp.tanh(u) ** 2 / 2),
        _xp(lambda xp, u: xp.tanh(u) * (1 - xp.tanh(u) ** 2)),
        _xp(lambda xp, u: (1 - 3 * xp.tanh(u) ** 2) * (1 - xp.tanh(u) ** 2)),
        (0, 0.5), (-2 / (3 * _SQRT3), 2 / (3 * _SQRT3)), (-1 / 3, 1)),
    "welsch": Shape(
        "1 - exp(-u^2/2), bounded", _xp(lambda xp, u: -xp.expm1(-(u**2) / 2)), _xp(lambda xp, u: u * xp.exp(-(u**2) / 2)),
        _xp(lambda xp, u: (1 - u**2) * xp.exp(-(u**2) / 2)), (0, 1), (-exp(-0.5), exp(-0.5)), (-2 * exp(-1.5), 1)),
    "cauchy": Shape(
        "log(1 + u^2)/2, Lipschitz", _xp(lambda xp, u: xp.log1p(u**2) / 2), lambda u: u / (1 + u**2),
        lambda u: (1 - u**2) / (1 + u**2) ** 2, (0, inf), (-0.5, 0.5), (-0.125, 1)),
    "cosine": Shape(
        "cos u", _xp(lambda xp, u: xp.cos(u)), _xp(lambda xp, u: -xp.sin(u)), _xp(lambda xp, u: -xp.cos(u)),
        (-1, 1), (-1, 1), (-1, 1)),
    "one-minus-cosine": Shape(
        "1 - cos u, from 0 to 2", _xp(lambda xp, u: 2 * xp.sin(u / 2) ** 2), _xp(lambda xp, u: xp.sin(u)),
        _xp(lambda xp, u: xp.cos(u)), (0, 2), (-1, 1), (-1, 1)),
    "linear": Shape(
        "u", lambda u: u, lambda u: 0 * u + 1, lambda u: 0 * u, (-inf, inf), (1, 1), (0, 0), change=0),
}


@dataclass(frozen=True)
class ScalarLoss:
    """scale * phi(u / width) for a phi of :data:`SHAPES`.

    The pseudo-Huber and Huber losses of threshold delta have ``scale=delta**2, width=delta``. A negative ``scale`` needs
    a loss with an upper bound.

    Raises:
        ValueError: an unknown shape, a width that is not positive, a scale that is 0 or leaves the loss unbounded below.

    Example:
        >>> loss = ScalarLoss("log-cosh", scale=4.0, width=2.0)
        >>> loss.slopes, loss.bends, loss.convex
        ((-2.0, 2.0), (0.0, 1.0), True)
        >>> ScalarLoss("geman-mcclure", scale=-1.0).range
        (-0.5, 0.0)
    """

    shape: str = "log-cosh"
    scale: float = 1.0
    width: float = 1.0

    def __post_init__(self):
        one_of("loss", self.shape, SHAPES)
        object.__setattr__(self, "width", number("width", self.width, strict=True))
        object.__setattr__(self, "scale", number("scale", self.scale, low=-inf))
        if self.scale == 0 or (self.scale < 0 and self._shape.range[1] == inf):
            allowed = "not 0" if self.scale == 0 else f"above 0 for {self.shape!r}, which has no upper bound"
            raise ValueError(f"scale must be {allowed}; got {self.scale:g}")

    @property
    def _shape(self) -> Shape:
        return SHAPES[self.shape]

    def value(self, u):
        return self.scale * self._shape.value(u / self.width)

    def slope(self, u):
        return self.scale / self.width * self._shape.slope(u / self.width)

    def bend(self, u):
        return self.scale / self.width**2 * self._shape.bend(u / self.width)

    def _scaled(self, bounds, factor):
        ends = (float(bounds[0]) * factor, float(bounds[1]) * factor)
        return (min(ends) + 0.0, max(ends) + 0.0)  # no -0.0

    @property
    def range(self) -> tuple[float, float]:
        """Infimum and supremum."""
        return self._scaled(self._shape.range, self.scale)

    @property
    def slopes(self) -> tuple[float, float]:
        """Infimum and supremum of the derivative."""
        return self._scaled(self._shape.slopes, self.scale / self.width)

    @property
    def bends(self) -> tuple[float, float]:
        """Infimum and supremum of the second derivative."""
        return self._scaled(self._shape.bends, self.scale / self.width**2)

    @property
    def growth(self) -> tuple[float, float] | None:
        """Numbers s > 0 and c with loss(u) >= s |u| - c for all u, or None."""
        if self._shape.growth is None or self.scale < 0:
            return None
        return self.scale / self.width * self._shape.growth[0], self.scale * self._shape.growth[1]

    @property
    def change(self) -> float | None:
        """M such that the third derivative is at most M times the second, or None."""
        return None if self._shape.change is None else self._shape.change / self.width

    @property
    def lipschitz(self) -> float:
        """Smallest Lipschitz constant."""
        return max(map(abs, self.slopes))

    @property
    def smoothness(self) -> float:
        """Smallest Lipschitz constant of the derivative."""
        return max(map(abs, self.bends))

    @property
    def convex(self) -> bool:
        return self.bends[0] >= 0

    @property
    def margin(self) -> bool:
        """Whether it is the loss of a label's margin, used with u = -y a.x."""
        return self._shape.margin
