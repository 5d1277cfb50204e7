"""The names that every claim of a file may use."""

from functools import cache
from typing import Any

import sympy as sp

from bounds.language import coordinates, layers, operators, samples
from bounds.language.definitions import SHARED
from bounds.language.names import ARGUMENT, NAMES, symbol
from bounds.registry.expressions import Mean, argmax, argmin

__all__ = ["known_names"]


@cache
def known_names() -> tuple[dict[str, Any], dict[str, Any]]:
    """The meaning of each name, in two tables: names that a claim's own definitions may replace, and names that nothing
    replaces."""
    known = {name: symbol(name) for name, row in NAMES.items() if row.source != ARGUMENT}
    known |= {name: getattr(module, name) for module in (coordinates, layers, samples, operators) for name in module.__all__}
    known |= {d.name: d.symbol for d in SHARED.values()}
    fixed = {name: getattr(sp, name) for name in ("sqrt", "exp", "log", "Abs", "floor", "ceiling")}
    fixed |= {"Mean": Mean, "argmin": argmin, "argmax": argmax, "sampling": operators.sampling}
    return known, fixed | {index: sp.Symbol(index, integer=True) for index in "tijkr"}
