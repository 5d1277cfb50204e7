"""Every method by name: plain arguments in, an algorithm out."""

from __future__ import annotations

import importlib
import pkgutil
from difflib import get_close_matches

from fedtheory import algorithms
from fedtheory.algorithm import Algorithm
from fedtheory.method import ALGORITHMS, Method

__all__ = ["ALGORITHMS", "Method", "algorithm_names", "arguments_of", "find_algorithm", "make_algorithm"]

for _module in sorted(module.name for module in pkgutil.iter_modules(algorithms.__path__)):
    importlib.import_module(f"{algorithms.__name__}.{_module}")


def algorithm_names() -> dict[str, str]:
    """Every method's name, with one line about it."""
    return {name: method.description for name, method in ALGORITHMS.items()}


def find_algorithm(name: str) -> Method:
    """The method of that name or specification id; an unknown name raises LookupError and suggests the nearest."""
    for method in ALGORITHMS.values():
        if name in method.ids:
            return method
    if name not in ALGORITHMS:
        near = get_close_matches(name, ALGORITHMS, n=3, cutoff=0.4)
        hint = f"nearest: {', '.join(near)}" if near else f"known: {', '.join(ALGORITHMS)}"
        raise LookupError(f"unknown algorithm {name!r}; {hint}")
    return ALGORITHMS[name]


def arguments_of(name: str, base: str | None = None) -> set[str]:
    """Names of the arguments that a method takes, its base's among them where it builds on one (``base`` or its default)."""
    method = find_algorithm(name)
    own = set(method.arguments)
    if not method.passes_on:
        return own
    return own | set(find_algorithm(base or method.arguments["base"]).arguments)


def make_algorithm(name: str, **arguments) -> Algorithm:
    """An algorithm by name; an unknown argument raises ValueError that lists the allowed ones.

    Example:
        >>> make_algorithm("fedprox", eta_l=0.5, local_steps=2).correction.rho_prox
        1.0
    """
    method = find_algorithm(name)
    unknown = sorted(set(arguments) - set(method.arguments))
    if unknown and not method.passes_on:
        raise ValueError(f"{name} takes no argument {unknown[0]!r}; allowed: {', '.join(method.arguments)}")
    return method.make(**arguments)
