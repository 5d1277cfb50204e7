"""A quadratic as the torch peers want it: a model, a loss, and d samples a client."""

from __future__ import annotations

import torch

__all__ = ["HalfSquares", "Point", "make_point", "samples", "vector"]

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


class Point(torch.nn.Module):
    """The model whose only parameter is the point x; its prediction for the sample r is <r, x>."""

    def __init__(self, dim: int):
        super().__init__()
        self.x = torch.nn.Parameter(torch.zeros(dim))

    def forward(self, rows):
        return rows @ self.x


def make_point(start) -> Point:
    model = Point(len(start))
    model.x.data.copy_(torch.from_numpy(start))
    return model


class HalfSquares(torch.nn.Module):
    """1/2 |prediction - target|^2, summed over the samples: with R_i and R_i c_i this is F_i exactly."""

    def forward(self, prediction, target):
        return 0.5 * ((prediction - target) ** 2).sum()


def samples(job, client):
    """The d samples and d targets of a client."""
    return torch.from_numpy(job.roots[client]), torch.from_numpy(job.targets[client])


def vector(model):
    """The parameter x of a model as a NumPy copy."""
    return model.x.detach().double().numpy().copy()
