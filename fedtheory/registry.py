"""Makes every method by name from plain arguments."""

import importlib
import pkgutil

from fedtheory import algorithms
from fedtheory.algorithm import Algorithm
from fedtheory.method import ALGORITHMS, Method
from synthetic.base.checks import nearest

__all__ = ["ALGORITHMS", "Method", "arguments_of", "find_algorithm", "make_algorithm"]

for _module in sorted(module.name for module in pkgutil.iter_modules(algorithms.__path__)):
    importlib.import_module(f"{algorithms.__name__}.{_module}")


def find_algorithm(name: str) -> Method:
    """The method of that name or specification id. An unknown name raises LookupError, with the nearest known one."""
    for method in ALGORITHMS.values():
        if name in method.ids:
            return method
    if name not in ALGORITHMS:
        raise nearest("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


def arguments_of(name: str, base: str | None = None) -> set[str]:
    """Names of the arguments of a method, including those of the method ``base`` (or its default) on which it builds."""
    method = find_algorithm(name)
    own = set(method.arguments)
    if not method.passes_on:
        return own
    return own | set(find_algorithm(base or method.arguments["base"]).arguments)


def make_algorithm(name: str, **arguments) -> Algorithm:
    """Makes an algorithm by name.

    Raises:
        LookupError: an unknown name. :class:`fedtheory.arguments.UnknownArgument`, a TypeError: an argument that it does not
            take, with the nearest one and all that it takes.

    Example:
        >>> make_algorithm("fedprox", eta_l=0.5, local_steps=2).correction.rho_prox
        1.0
    """
    return find_algorithm(name).make(**arguments)
