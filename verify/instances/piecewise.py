"""Clients whose losses are quadratic plus Huber functions, by coordinate: convex or not, Lipschitz or not."""

from dataclasses import dataclass, replace

import numpy as np

from synthetic.numbers.arrays import namespace
from synthetic.piecewise.piecewise import Piecewise
from verify.claims.needs import needs
from verify.instances.family import vectors
from verify.instances.leaves import PIECES, taken
from verify.instances.quadratic import QUADRATIC, QuadraticClients

__all__ = ["PiecewiseClients"]

_OF_PIECES = ("piece_slope", "piece_center", "piece_width")


@dataclass(frozen=True)
class PiecewiseClients(QuadraticClients):
    """Clients with this many ``pieces`` by coordinate, of whose curvature ``tail`` is left beyond them."""

    pieces: int = 1
    name = "piecewise"
    written_as = "pieces"

    @property
    def knots(self):
        return self.pieces

    def draw(self, claim, shape, count, rng):
        """Rows are Huber functions, Huber functions on quadratics, the same with pieces of negative curvature, and wells in
        a bowl that is linear far out, as far as the claim's needs admit them."""
        leaves = super().draw(claim, shape, count, rng)
        del leaves["curvature"]
        asked, row = needs(claim), (count, 1, 1, 1)
        each = (count, shape.clients, self.pieces, shape.dim)
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
        return leaves | {"tail": tail, "piece_slope": slope, "piece_center": vectors(each, rng), "piece_width": width}

    @staticmethod
    def ends(leaves, rng):
        """Points of which every coordinate lies amid or at an end of a piece, (instances, dim)."""
        count, clients, pieces, dim = leaves["piece_center"].shape
        row, column = np.arange(count)[:, None], np.arange(dim)[None]
        chosen = row, rng.integers(0, clients, (count, dim)), rng.integers(0, pieces, (count, dim)), column
        return leaves["piece_center"][chosen] + rng.integers(-1, 2, (count, dim)) * leaves["piece_width"][chosen]

    def starts(self, federation, leaves, rng):
        """Some runs start amid or at an end of a piece."""
        count = len(leaves["piece_center"])
        start = np.nan_to_num(self.ends(leaves, rng) - federation().x_star)
        return np.where(rng.random((count, 1)) < 0.3, start, leaves["start_offset"])

    def federation(self, shape, leaves, backend, **common):
        xp = namespace(leaves["center"])
        tail = xp.broadcast_to(leaves["tail"], leaves["center"].shape)
        pieces = (xp.moveaxis(leaves[name], 2, -1) for name in _OF_PIECES)
        return Piecewise(tail, leaves["center"], *pieces, backend=backend, layers=shape.layers or None, **common)

    def translated(self, leaves, by):
        return super().translated(leaves, by) | {"piece_center": leaves["piece_center"] + by[:, None, None]}

    def simpler(self, claim, shape, leaves):
        """The instance with quadratic clients, and without one of the pieces."""
        flat = {name: array for name, array in leaves.items() if name not in PIECES}
        tail = np.broadcast_to(leaves["tail"], leaves["center"].shape)
        yield replace(shape, family=QUADRATIC), flat | {"curvature": np.where(tail == 0, tail + 1, tail)}
        for gone in range(self.pieces if self.pieces > 1 else 0):
            kept = [p for p in range(self.pieces) if p != gone]
            yield replace(shape, family=replace(self, pieces=len(kept))), taken(claim, leaves, "pieces", kept, self.pieces)

    def written(self, leaves, text):
        """By client and coordinate, the curvature, and a list of (slope, center, width)."""
        tail = np.broadcast_to(leaves["tail"][0], leaves["center"].shape[1:])
        pieces = np.stack([np.moveaxis(leaves[name][0], 1, -1) for name in _OF_PIECES], axis=-1)
        return {"curvature": text(tail), "pieces": text(pieces)}

    @classmethod
    def read(cls, instance, sizes, numbers):
        most = max(1, *(len(line) for lines in instance["pieces"] for line in lines))
        pieces = [[[*line, *[["0"] * 3] * (most - len(line))] for line in lines] for lines in instance["pieces"]]
        pieces = np.moveaxis(numbers(pieces)[None], 3, 2)
        leaves = {name: pieces[..., number] for number, name in enumerate(_OF_PIECES)}
        return cls(pieces.shape[2]), {"tail": numbers(instance["curvature"])[None]} | leaves
