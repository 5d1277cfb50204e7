"""The stage of small piecewise losses: in one dimension, gradients with few bends, whose slopes, lengths and values are
simple numbers; runs that start at a bend, and noise of a simple size in no client or in all; and long runs down a gradient
that bends once, from starts of any distance."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import prod

import numpy as np

from bounds.language.claim import Claim
from bounds.language.space import infimum
from synthetic.numbers.arrays import NUMPY
from verify.claims.needs import needs, speaks_of_samples
from verify.claims.sizes import possible
from verify.instances.instance import federation_of, outcomes
from verify.instances.parameters import SLACK, Parameters
from verify.instances.piecewise import PiecewiseClients
from verify.instances.shape import RARE, Shape
from verify.instances.shapes import small_shapes
from verify.search.stage import State

__all__ = ["of_small_pieces"]

_OWN_SEED = 2718
_DRAWN, _MOST = 60, 8  # shapes that are drawn, and that are looked at
_LARGEST = (2, 4)  # clients, iterations
_BATCHES = 3  # of a shape; one where hypotheses at all points are looked at for every piece
_BENDS = 3  # pieces that bend the gradient; one more, far away, adds a constant to it
_FAR = 32.0  # beyond its width
_LENGTHS, _VALUES = (0.5, 1.0, 1.0, 2.0, 3.0), (-2.0, -1.0, -0.5, 0.0, 0.0, 0.5, 1.0, 2.0)
_CONVEX, _ANY = (0.0, 0.0, 0.5, 1.0, 1.0), (-1.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.0)  # slopes of the gradient
_TAILS = (0.0, 0.0, 0.25, 0.5, 1.0)  # beyond all bends
_NOISE = (0.5, 1.0, 2.0, 4.0)
_APART = (0.0, 0.5, 1.0, 2.0)  # half of the difference of two clients' gradients
_AWAY = 0.8  # share of the instances that do not start at the optimum
_LONG, _BEYOND = (300, 100), 4.0  # rounds, the first that a claim admits; times as far as so many steps of length 1 go
_LONG_TAILS = (0.5, 0.1, 0.01, 0.001)
_TIGHT = 0.75  # share of the instances with the longest steps and the least constants


def of_small_pieces(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Yield batches of the smallest shapes that the claim admits."""
    claim = state.claim
    if claim.setting == "algebra" or speaks_of_samples(claim):
        return
    own = replace(state, seeds=[*state.seeds, _OWN_SEED])  # draws of its own: those of the other stages stay
    shapes = _shapes(own)
    for shape in shapes:
        for _ in range(1 if any(c.left.has(infimum) or c.right.has(infimum) for c in claim.hypotheses) else _BATCHES):
            params = own.draw_batch(shape, state.budget.size)
            yield shape, _with_bends(claim, shape, params, own.rng)
    longer = (replace(shapes[0], rounds=rounds, noisy=()) for rounds in _LONG if shapes and claim.setting == "run")
    for shape in islice((one for one in longer if possible(claim, one.as_sizes()) and prod(outcomes(one)) == 1), 1):
        yield shape, _with_one_bend(claim, own.draw_batch(shape, state.budget.small_rows), shape.rounds)


def _shapes(state: State) -> list[Shape]:
    """Small shapes with pieces in one dimension, without noise and with noise in all clients, those of two steps first."""
    found: dict[Shape, None] = {}
    for shape in state.shapes(small_shapes, _DRAWN):
        if shape.clients > _LARGEST[0] or shape.iterations > _LARGEST[1] or shape.layers:
            continue
        shape = PiecewiseClients(_BENDS + 1).fitting(replace(shape, dim=1, noisy=(), rare=RARE[0]))
        noisy = replace(shape, noisy=tuple(range(shape.clients))) if state.claim.setting == "run" else shape
        for one in (shape, noisy):
            if possible(state.claim, one.as_sizes()) and prod(outcomes(one)) <= state.budget.most_outcomes:
                found[one] = None
    return sorted(found, key=lambda one: (abs(one.iterations - 2), one.clients, prod(outcomes(one))))[:_MOST]


def _with_one_bend(claim: Claim, params: Parameters, rounds: int) -> Parameters:
    """The instances with one loss for all clients, whose gradient rises from -1 to 1 on the interval from -1 to 1, with some
    curvature beyond where a claim needs it; the starts are spread from 1/2 to far more than the run can move, and steps are
    the longest."""
    count, found = len(params["piece_slope"]), dict(params)
    zero = {name: 0.0 * params[name] for name in ("piece_slope", "piece_center", "center")}
    found |= zero | {"piece_width": np.ones_like(params["piece_width"])}
    found["piece_slope"][:, :, 0] = 1.0
    tails = np.resize(_LONG_TAILS if "mu" in claim.names else (0.0,), count)
    found["tail"] = tails[:, None, None] + 0.0 * params["tail"]
    if "start_offset" in params:
        starts = np.geomspace(0.5, _BEYOND * rounds, count)
        found["start_offset"] = starts[:, None] + 0.0 * params["start_offset"]
    return found | {name: np.ones_like(array) for name, array in params.items()
                    if name.startswith(SLACK) or name == "step_fraction"}


def _with_bends(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """The instances with other losses, starts and noise, most of them with the longest steps and the least constants."""
    count, asked, clients = len(params["piece_slope"]), needs(claim), shape.clients
    strongly = "mu" in claim.names

    def pick(values: tuple[float, ...], *sizes: int) -> np.ndarray:
        return rng.choice(values, (count, *sizes))

    same = rng.random((count, 1, 1)) < (1.0 if asked.alike else 0.5)
    tail = pick(_TAILS[2:] if strongly else _TAILS[:1] if asked.lipschitz else _TAILS, 1, 1)
    lengths, slopes = pick(_LENGTHS, clients, _BENDS), pick(_CONVEX if asked.convex else _ANY, clients, _BENDS)
    lengths, slopes = (np.where(same, array[:, :1], array) for array in (lengths, slopes))
    slopes = (np.maximum(slopes, tail) if strongly else slopes) - tail
    apart = pick(_APART[:1] if asked.alike else _APART, 1, 1) * np.where(np.arange(clients) % 2 == 0, 1, -1)[None, :, None]
    least = pick(_VALUES, 1, 1) + apart  # the gradient at 0, where the first piece begins
    lift = least + (slopes * lengths).sum(axis=2, keepdims=True) / 2
    far = np.where(tail > 0, 0.0, lift)  # without curvature a piece far away adds the constant
    ends = np.cumsum(lengths, axis=2)
    bends = {"piece_slope": np.concatenate([slopes, 1.0 * (far != 0)], axis=2),
             "piece_center": np.concatenate([ends - lengths / 2, -np.sign(far) * (abs(far) + _FAR)], axis=2),
             "piece_width": np.concatenate([lengths / 2, abs(far)], axis=2)}
    found = params | {name: array[..., None] for name, array in bends.items()}
    found["tail"] = np.broadcast_to(tail, (count, clients, 1)).copy()
    found["center"] = np.where(tail > 0, -lift / np.where(tail > 0, tail, 1.0), 0.0)
    if "noise" in params:
        found["noise"] = pick(_NOISE, 1, 1) + 0 * params["noise"]
    if "start_offset" in params:
        after = ends[:, 0, -1:] + pick(_LENGTHS, 1)
        points = np.concatenate([np.zeros((count, 1)), ends[:, 0], ends[:, 0] - lengths[:, 0] / 2, after], axis=1)
        start = np.take_along_axis(points, rng.integers(0, points.shape[1], (count, 1)), axis=1)
        optimum = np.nan_to_num(federation_of(shape, found, NUMPY).x_star)
        found["start_offset"] = np.where(rng.random((count, 1)) < _AWAY, start - optimum, 0.0)
    tight = rng.random((count, 1)) < _TIGHT
    for name, array in params.items():
        if name.startswith(SLACK) or name == "step_fraction":
            found[name] = np.where(tight, 1.0, array)
    return found
