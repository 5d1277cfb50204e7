"""Makes every method by name from plain arguments."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

from fedtheory import algorithms
from fedtheory.algorithm import Algorithm
from fedtheory.method import ALGORITHMS, Method
from fedtheory.returned import described, not_called
from synthetic.base.checks import nearest
from synthetic.registry import make_problem

__all__ = [
    "ALGORITHMS", "Method", "arguments_of", "as_algorithm", "as_federation", "find_algorithm", "made_by", "make_algorithm",
]

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


def as_algorithm(method: Algorithm | str) -> Algorithm:
    """Returns the method of a name with its default arguments; a method is returned as it is.

    Raises LookupError for an unknown name, and TypeError for anything else, such as a class that was not called.
    """
    if isinstance(method, str):
        return make_algorithm(method)
    if not isinstance(method, Algorithm):
        raise not_called("a method", "an Algorithm such as ft.fedavg(eta_l=0.1), or its name", method)
    return method


def as_federation(problem, device: str | None = None, dtype: str | None = None) -> Any:
    """Returns the federation of a problem's name with its default options; a federation is returned as it is.

    ``device`` and ``dtype``, by name: where it is moved, see :meth:`synthetic.base.federation.Federation.to`; None: where it
    is.

    Raises LookupError for an unknown name, ValueError for a device or a dtype that is not there, and TypeError for anything
    else, such as a class that was not called.
    """
    if isinstance(problem, str):
        return make_problem(problem, device=device, dtype=dtype)
    if inspect.isclass(problem) or not hasattr(problem, "gradient"):
        raise not_called("a problem", "a federation such as ft.make_quadratic(clients=8), or a problem's name", problem)
    return problem if device is None and dtype is None else problem.to(device, dtype)


def made_by(maker: Callable[..., Algorithm], **arguments) -> Algorithm:
    """Returns the method that a maker, or a class, makes with these arguments; TypeError if it makes something else."""
    method = maker(**arguments)
    if not isinstance(method, Algorithm):
        raise TypeError(f"{getattr(maker, '__name__', 'the maker')} must return an Algorithm; got {described(method)}")
    return method


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
