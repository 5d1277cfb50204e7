"""Huber federations: piecewise quadratic clients, exact on fractions, from which tight lower bounds are built."""

from __future__ import annotations

import numpy as np

from synthetic.base.checks import nonnegative
from synthetic.numbers.arrays import TORCH, to_numpy
from synthetic.piecewise.piecewise import Piecewise

__all__ = ["Huber"]


class Huber(Piecewise):
    """F_k(x) = b_k + sum_j h(x_j - c_kj), h(u) = curvature/2 u^2 where |u| <= radius, and of curvature ``tail`` outside.

    With u_r = u cut to [-radius, radius], h(u) = tail/2 u^2 + (curvature - tail) (u u_r - u_r^2/2). ``tail=0`` gives
    linear ends: the Huber loss, Lipschitz with curvature * radius per coordinate. ``tail = curvature`` is a quadratic.

    All arguments are (instances, clients, dim), ``offset`` b_k (instances, clients); or what broadcasts to it. Constants
    are those of :class:`Piecewise`: L is the largest curvature, mu the least tail; sigma_g over all of R^d needs equal
    tails, ``G`` and ``G_lip`` need tails of 0.

    Raises:
        ValueError: shapes, a curvature that is not positive or below its tail, a negative tail or radius.

    Example:
        >>> federation = Huber(curvature=[[[1.0]]], radius=0.5, center=[[[0.0]]])
        >>> federation.value(federation.backend.array([[[2.0]]])).tolist()
        [[0.875]]
    """

    name = "huber"

    def __init__(self, curvature, radius, center, tail=0, offset=None, weights=None, priority=None, noise=None, layers=None,
                 backend=TORCH):
        center, arrays = to_numpy(center), []
        if center.ndim != 3:
            raise ValueError(f"center must be (instances, clients, dim); got shape {center.shape}")
        for name, values in (("curvature", curvature), ("radius", radius), ("tail", tail)):
            array = to_numpy(values)
            try:
                arrays.append(np.broadcast_to(array, center.shape))
            except ValueError:
                raise ValueError(f"{name} must broadcast to {center.shape}; got shape {array.shape}") from None
        curvature, radius, tail = arrays
        nonnegative("radius", radius)
        nonnegative("tail", tail)
        nonnegative("curvature less its tail", curvature - tail)
        if not (curvature > 0).all():
            raise ValueError(f"every curvature must be positive; got {float(curvature.min())}")
        pieces = (array[..., None] for array in (curvature - tail, center, radius))
        super().__init__(tail, center, *pieces, offset, weights, priority, noise, backend, layers=layers)
