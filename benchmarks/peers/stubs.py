"""Empty modules in place of packages that a peer imports but that none of the code under test calls."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types

__all__ = ["stub"]


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
