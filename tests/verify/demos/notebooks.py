"""The notebooks as modules, and their controls, for the tests."""

from importlib import import_module
from types import ModuleType

from verify.demos.catalogue import demos, find_demo, module_of

__all__ = ["NAMES", "app_of", "picture_of"]

NAMES = sorted(demos())


def picture_of(name: str) -> ModuleType:
    """The module of the picture: ``CONTROLS``, ``numbers``, ``picture``, ``said``."""
    return module_of(find_demo(name))


def app_of(name: str):
    """The notebook as an app of marimo."""
    return import_module(f"verify.demos.notebooks.{name.replace('-', '_')}").app
