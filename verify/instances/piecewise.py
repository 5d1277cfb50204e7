"""Instances whose clients are piecewise quadratic: what a claim needs of them, random and corner ones, smaller ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import Backend, namespace
from synthetic.piecewise.piecewise import Piecewise
from verify.claims.needs import needs
from verify.instances.leaves import PIECES

__all__ = ["draw_family", "draw_pieces", "piecewise_federation", "simpler_pieces", "start_at_knots"]


def draw_family(claim: Claim, rng: np.random.Generator) -> tuple[str, int]:
    """The family of clients, and how many pieces they have. Where no quadratics can meet the hypotheses it is piecewise;
    half of the time where only those of one Hessian can; else less often, as strong convexity leaves little to pieces."""
    asked = needs(claim)
    share = 1.0 if asked.lipschitz else 0.5 if asked.alike else 0.25 if asked.convex else 0.3
    return ("piecewise", int(rng.integers(1, 4))) if rng.random() < share else ("quadratic", 0)


def draw_pieces(claim: Claim, shape, count: int, rng: np.random.Generator, vectors) -> dict[str, np.ndarray]:
    """``count`` rows of the leaves :data:`PIECES`; ``vectors(shape, rng)`` draws vectors at several scales.

    Rows are Huber functions, Huber functions on quadratics, the same with pieces of negative curvature, and wells in a
    bowl that is linear far out, as far as the claim's needs admit them.
    """
    asked, row = needs(claim), (count, 1, 1, 1)
    each = (count, shape.clients, shape.pieces, shape.dim)
    slope = np.where(rng.random(row) < 0.5, 1.0, 10 ** rng.uniform(-1, 1, each))
    width = np.where(rng.random(row) < 0.4, 1.0, 10 ** rng.uniform(-1.5, 1, each))
    if not asked.convex:
        bent = rng.random(row) < 0.6
        slope = np.where(bent & (rng.random(each) < 0.5), -slope, slope)
    alike = asked.alike or rng.random() < 0.3
    tail = 10 ** rng.uniform(-2, 0.5, (count, 1 if alike else shape.clients, shape.dim))
    tail = np.where(rng.random((count, 1, 1)) < 0.4, 1.0, tail)
    linear = 1.0 if asked.lipschitz else rng.random((count, 1, 1)) < (0.1 if asked.convex else 0.4)
    tail = tail * (1 - linear)
    # where the ends are linear, the first piece of the first client keeps the objective bounded from below
    outward = (slope * width).sum(axis=2, keepdims=True)[:, :, 0]
    weak = (tail == 0) & (outward <= 0)
    slope[:, :, 0] = np.where(weak, abs(slope[:, :, 0]), slope[:, :, 0])
    least = abs(slope[:, :, 1:] * width[:, :, 1:]).sum(axis=2) / slope[:, :, 0].clip(min=1e-9)
    width[:, :, 0] = np.where(weak, least + width[:, :, 0], width[:, :, 0])
    return {"tail": tail, "piece_slope": slope, "piece_center": vectors(each, rng), "piece_width": width}


def start_at_knots(shape, leaves, federation: Piecewise, rng: np.random.Generator) -> np.ndarray:
    """The leaf ``start_offset`` (instances, dim), in some rows such that runs start amid or at an end of a piece."""
    offset = leaves["start_offset"]
    count, clients, pieces, dim = leaves["piece_center"].shape
    row, column = np.arange(count)[:, None], np.arange(dim)[None]
    chosen = row, rng.integers(0, clients, (count, dim)), rng.integers(0, pieces, (count, dim)), column
    point = leaves["piece_center"][chosen] + rng.integers(-1, 2, (count, dim)) * leaves["piece_width"][chosen]
    start = np.nan_to_num(point - federation.x_star)
    return np.where(rng.random((count, 1)) < 0.3, start, offset)


def piecewise_federation(leaves, offset, priority, noise, backend: Backend, layers=()) -> Piecewise:
    """The federation of a batch of rows of leaves."""
    xp = namespace(leaves["center"])
    tail = xp.broadcast_to(leaves["tail"], leaves["center"].shape)
    pieces = (xp.moveaxis(leaves[name], 2, -1) for name in ("piece_slope", "piece_center", "piece_width"))
    return Piecewise(tail, leaves["center"], *pieces, offset, leaves["weight"], priority, noise, backend,
                     layers=layers or None)


def simpler_pieces(shape, leaves) -> Iterator[tuple]:
    """The instance with quadratic clients in place of piecewise ones, and without one of its pieces."""
    if shape.family != "piecewise":
        return
    flat = {n: a for n, a in leaves.items() if n not in PIECES}
    tail = np.broadcast_to(leaves["tail"], leaves["center"].shape)
    yield replace(shape, family="quadratic", pieces=0), flat | {"curvature": np.where(tail == 0, tail + 1, tail)}
    for gone in range(shape.pieces if shape.pieces > 1 else 0):
        kept = [p for p in range(shape.pieces) if p != gone]
        fewer = {n: a[:, :, kept] if n.startswith("piece_") else a for n, a in leaves.items()}
        yield replace(shape, pieces=len(kept)), fewer
