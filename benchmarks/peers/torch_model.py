"""What the torch peers share: a quadratic as a model, a loss and d samples a client; empty modules for what is missing."""

import importlib.abc
import importlib.machinery
import sys
import types

import torch

__all__ = ["HalfSquares", "Point", "make_point", "samples", "stub", "vector"]

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


class _Empty(types.ModuleType):
    """A module in which every public name is a class that can be subclassed, and nothing else."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = type(name, (), {})
        setattr(self, name, value)
        return value


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names):
        self.names = frozenset(names)

    def find_spec(self, fullname, path=None, target=None):
        if fullname.split(".")[0] in self.names or fullname in self.names:
            return importlib.machinery.ModuleSpec(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Empty(spec.name)

    def exec_module(self, module):
        pass


def stub(*names: str) -> None:
    """Let ``import name`` (and ``import name.anything``) give an empty module, whether or not it is installed."""
    sys.meta_path.insert(0, _Finder(names))
