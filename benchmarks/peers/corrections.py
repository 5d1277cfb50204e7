"""One corrected line in a peer's module, to prove that this line is the cause of what was measured.

The module is loaded afresh from the peer's installed source with a fragment replaced; the installed files and the
module that other code imports stay as they are.
"""

import importlib.util
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Self

__all__ = ["Correction", "load", "locate"]


@dataclass(frozen=True)
class Correction:
    """Fragments to replace in one module; each ``old`` must occur exactly once in its source."""

    module: str
    edits: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, module: str, *fragments: str) -> Self:
        """Each first of two ``fragments`` is replaced by the second."""
        return cls(module, tuple(zip(fragments[::2], fragments[1::2], strict=True)))


def _source(module):
    spec = importlib.util.find_spec(module)
    return spec, Path(spec.origin).read_text(encoding="utf-8")


def _check(module, text, old):
    if text.count(old) != 1:
        raise ValueError(f"{module}: {old!r} occurs {text.count(old)} times, expected once: another version?")


def load(module: str, corrections=()) -> types.ModuleType:
    """A fresh copy of ``module`` with the corrections that concern it."""
    spec, text = _source(module)
    for correction in corrections:
        for old, new in correction.edits if correction.module == module else ():
            _check(module, text, old)
            text = text.replace(old, new)
    fresh = types.ModuleType(module)
    fresh.__file__, fresh.__package__, fresh.__spec__ = spec.origin, spec.parent, spec
    original = sys.modules.get(module)
    sys.modules[module] = fresh
    try:
        exec(compile(text, spec.origin, "exec"), fresh.__dict__)
    finally:
        if original is None:
            del sys.modules[module]
        else:
            sys.modules[module] = original
    return fresh


def locate(correction: Correction) -> list[str]:
    """Where the corrected lines stand in the installed source: ``package/file.py:line``."""
    spec, text = _source(correction.module)
    root = Path(spec.origin).parents[correction.module.count(".")]
    places = []
    for old, _ in correction.edits:
        _check(correction.module, text, old)
        line = text[: text.index(old)].count("\n") + 1
        places.append(f"{Path(spec.origin).relative_to(root.parent).as_posix()}:{line}")
    return places
