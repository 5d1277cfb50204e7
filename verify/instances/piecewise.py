"""Clients whose losses are quadratic plus Huber functions, by coordinate: convex or not, Lipschitz or not."""

from dataclasses import dataclass, replace

import numpy as np

from synthetic.numbers.arrays import namespace
from synthetic.piecewise.piecewise import Piecewise
from verify.claims.needs import needs
from verify.instances.family import vectors
from verify.instances.parameters import PIECES, Parameters, take_entries
from verify.instances.quadratic import QUADRATIC, QuadraticClients
from verify.instances.shape import Shape

__all__ = ["PiecewiseClients", "flattened"]

_SAME_PIECES = 0.4  # share of the instances
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
        params = super().draw(claim, shape, count, rng)
        del params["curvature"]
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
        center = vectors(each, rng)
        if asked.alike:  # of some instances all clients have the same pieces, and one Hessian
            same = rng.random(row) < _SAME_PIECES
            slope, center, width = (np.where(same, array[:, :1], array) for array in (slope, center, width))
        return params | {"tail": tail, "piece_slope": slope, "piece_center": center, "piece_width": width}

    @staticmethod
    def ends(params, rng):
        """Points of which every coordinate lies amid or at an end of a piece, (instances, dim)."""
        count, clients, pieces, dim = params["piece_center"].shape
        row, column = np.arange(count)[:, None], np.arange(dim)[None]
        chosen = row, rng.integers(0, clients, (count, dim)), rng.integers(0, pieces, (count, dim)), column
        return params["piece_center"][chosen] + rng.integers(-1, 2, (count, dim)) * params["piece_width"][chosen]

    def starts(self, federation, params, rng):
        """Draw starts; some runs start within a piece or at its end."""
        count = len(params["piece_center"])
        start = np.nan_to_num(self.ends(params, rng) - federation().x_star)
        return np.where(rng.random((count, 1)) < 0.3, start, params["start_offset"])

    def federation(self, shape, params, backend, **common):
        xp = namespace(params["center"])
        tail = xp.broadcast_to(params["tail"], params["center"].shape)
        pieces = (xp.moveaxis(params[name], 2, -1) for name in _OF_PIECES)
        return Piecewise(tail, params["center"], *pieces, backend=backend, layers=shape.layers or None, **common)

    def translated(self, params, by):
        return super().translated(params, by) | {"piece_center": params["piece_center"] + by[:, :, None]}

    def simpler(self, claim, shape, params):
        """The instance with quadratic clients, and without one of the pieces."""
        flat = {name: array for name, array in params.items() if name not in PIECES}
        tail = np.broadcast_to(params["tail"], params["center"].shape)
        yield replace(shape, family=QUADRATIC), flat | {"curvature": np.where(tail == 0, tail + 1, tail)}
        for gone in range(self.pieces if self.pieces > 1 else 0):
            kept = [p for p in range(self.pieces) if p != gone]
            fewer = replace(shape, family=replace(self, pieces=len(kept)))
            yield fewer, take_entries(claim, params, "pieces", kept, self.pieces)

    def write(self, params, text):
        """The curvature, and a list of (slope, center, width), by client and coordinate."""
        tail = np.broadcast_to(params["tail"][0], params["center"].shape[1:])
        pieces = np.stack([np.moveaxis(params[name][0], 1, -1) for name in _OF_PIECES], axis=-1)
        return {"curvature": text(tail), "pieces": text(pieces)}

    @classmethod
    def read(cls, instance, sizes, numbers):
        most = max(1, *(len(line) for lines in instance["pieces"] for line in lines))
        pieces = [[[*line, *[["0"] * 3] * (most - len(line))] for line in lines] for lines in instance["pieces"]]
        pieces = np.moveaxis(numbers(pieces)[None], 3, 2)
        params = {name: pieces[..., number] for number, name in enumerate(_OF_PIECES)}
        return cls(pieces.shape[2]), {"tail": numbers(instance["curvature"])[None]} | params


def flattened(shape: Shape, params: Parameters) -> tuple[Shape, Parameters]:
    """Instances of quadratic clients with constant losses in place of theirs: one piece of slope 0 and no curvature."""
    rest, each = dict(params), 0 * params["center"][:, :, None]
    pieces = dict.fromkeys(_OF_PIECES, each)
    return PiecewiseClients(1).fitting(shape), {"tail": 0 * rest.pop("curvature"), **rest, **pieces}
