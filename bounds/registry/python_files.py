"""Python files of a user's own, run as modules."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

__all__ = ["module_from"]


def module_from(path: Path, name: str) -> ModuleType:
    """The module of a Python file as it stands now, known to Python as ``name`` (dataclasses look there); what stood there
    before, and files compiled from it, do not count.

    Raises:
        Exception: whatever the file raises while it runs; the module is then unknown again.
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
