"""Runs a user's Python file as a module."""

import sys
from pathlib import Path
from types import ModuleType

__all__ = ["module_from"]


def module_from(path: Path, name: str) -> ModuleType:
    """Run a Python file in its present state as the module ``name``, where dataclasses find it.

    An earlier module of that name and compiled files are ignored.

    Raises:
        Exception: whatever the file raises while it runs; then the earlier module is restored.
    """
    module = ModuleType(name)
    module.__file__ = str(path)
    before, sys.modules[name] = sys.modules.get(name), module
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except BaseException:
        del sys.modules[name]
        if before is not None:
            sys.modules[name] = before
        raise
    return module
