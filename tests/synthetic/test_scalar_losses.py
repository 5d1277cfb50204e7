"""Scalar losses: derivatives are derivatives, and every stated bound is exact."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
import torch

from synthetic import ScalarLoss
from synthetic.data.scalar_losses import SHAPES, Shape
from tests.synthetic.families import each

GRID = np.concatenate([np.linspace(-40, 40, 800_001), [-1e4, 1e4]])


def check_derivatives(shape: Shape):
    """At 0 too, where the absolute values in a formula would mislead torch; away from the kinks of Huber's loss."""
    u = torch.tensor([-30.0, -2.0, -1.0, -0.3, 0.0, 0.3, 2.0, 30.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(shape.value(u).sum(), u)
    assert torch.allclose(slope, shape.slope(u) + 0 * u, rtol=1e-12, atol=1e-14)
    (bend,) = torch.autograd.grad((shape.slope(u) + 0 * u).sum(), u)
    smooth = u.abs() != 1
    assert torch.allclose(bend[smooth], (shape.bend(u) + 0 * u)[smooth], rtol=1e-10, atol=1e-14)


def check_bounds(shape: Shape):
    """No value lies outside the stated bounds, and some come near."""
    for function, (low, high) in ((shape.value, shape.range), (shape.slope, shape.slopes), (shape.bend, shape.bends)):
        values = function(GRID)
        assert values.min() >= low - 1e-12 and values.max() <= high + 1e-12
        assert low == -inf or values.min() <= low + 1e-4
        assert high == inf or values.max() >= high - 1e-4


def check_growth(shape: Shape):
    """phi(u) >= s |u| - c, with no better s; |phi'''| <= M phi''."""
    if shape.growth is not None:
        slope, loss = shape.growth
        assert slope > 0 and (shape.value(GRID) >= slope * np.abs(GRID) - loss - 1e-12).all()
    else:
        assert shape.value(np.array([-1e4, 1e4])).min() < 1e2, "it grows on both sides, and does not say so"
    if shape.change is not None:
        u = np.linspace(-8, 8, 4001)
        bends = shape.bend(u)
        third = np.abs(shape.bend(u + 1e-5) - shape.bend(u - 1e-5)) / 2e-5
        assert (third <= shape.change * bends + 1e-9).all()


@each("check", [check_derivatives, check_bounds, check_growth])
@each("name", SHAPES)
def test_shapes(name, check):
    with np.errstate(over="ignore"):
        check(SHAPES[name])


@each("check, name, changes", [
    (check_derivatives, "sigmoid", {"slope": lambda u: 1.0001 * SHAPES["sigmoid"].slope(u)}),
    (check_derivatives, "cauchy", {"bend": lambda u: 1 / (1 + u**2)}),
    (check_bounds, "sigmoid", {"bends": (-0.09, 0.09)}),
    (check_bounds, "welsch", {"slopes": (-0.61, 0.61)}),
    (check_bounds, "geman-mcclure", {"range": (0, 0.51)}),
    (check_growth, "log-cosh", {"growth": (1, 0.6)}),
    (check_growth, "pseudo-huber", {"growth": (1.1, 1.0)}),
    (check_growth, "huber", {"growth": None}),
    (check_growth, "softplus", {"change": 0.9}),
])
def test_every_check_finds_a_planted_fault(check, name, changes):
    with pytest.raises(AssertionError):
        check(replace(SHAPES[name], **changes))


@each("name, scale, width", [
    ("log-cosh", 3.0, 0.5), ("huber", 4.0, 2.0), ("cosine", -0.5, 0.3), ("sigmoid", -2.0, 1.5), ("softplus", 0.2, 3.0)])
def test_scaled_losses(name, scale, width):
    loss = ScalarLoss(name, scale, width)
    shape = Shape("", loss.value, loss.slope, loss.bend, loss.range, loss.slopes, loss.bends, loss.growth, loss.change)
    for check in (check_derivatives, check_bounds, check_growth):
        if name != "huber" or check is not check_derivatives:  # its kinks are at 2 here
            check(shape)
    assert loss.lipschitz == max(np.abs(loss.slopes)) and loss.smoothness == max(np.abs(loss.bends))
    assert loss.convex == (loss.bends[0] >= 0)


def test_the_huber_loss_of_a_threshold():
    loss, u = ScalarLoss("huber", scale=4.0, width=2.0), np.array([-5.0, -1.0, 0.5, 3.0])
    assert loss.value(u) == pytest.approx(np.where(np.abs(u) <= 2, u**2 / 2, 2 * np.abs(u) - 2))
    assert (loss.lipschitz, loss.smoothness) == (2.0, 1.0)


@each("arguments, message", [
    (("hinge",), "unknown loss 'hinge'; allowed: square, log-cosh"),
    (("log-cosh", -1.0), "scale.* 0 .*'log-cosh'.*got -1"),
    (("cosine", 0.0), "scale.*not 0.*got 0"),
    (("cosine", 1.0, 0.0), "width.* 0.*got 0.0"),
    (("cosine", float("inf")), "scale.*-inf.*got inf"),
])
def test_bad_input_is_one_clear_line(arguments, message):
    with pytest.raises(ValueError, match=message):
        ScalarLoss(*arguments)
