"""One line on what is expected, where a method of one's own returns something else, or a class stands for its instance."""

import inspect
from typing import Any

__all__ = ["described", "not_called", "pair", "returned", "same_shape"]


def described(value: Any) -> str:
    """A value in a few words: None, a class, a function, an array's shape, or its type."""
    if value is None:
        return "None"
    if inspect.isclass(value):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        return f"the function {value.__name__}"
    shape = getattr(value, "shape", None)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return f"a tuple of {', '.join(type(each).__name__ for each in value)}"
    return type(value).__name__ if shape is None else f"an array of shape {tuple(shape)}"


def not_called(what: str, example: str, value: Any) -> TypeError:
    """The error for a value that is no ``what``; of a class or a function it says that it is to be called."""
    call = f"; call it: {value.__name__}(...)" if inspect.isclass(value) or inspect.isroutine(value) else ""
    return TypeError(f"{what} must be {example}; got {described(value)}{call}")


def returned(owner: Any, function: str, value: Any, kind: type) -> Any:
    """``value``. Raises TypeError, in one line, if what ``function`` of a method or part returned is of no such ``kind``."""
    if isinstance(value, kind):
        return value
    raise TypeError(f"{type(owner).__name__}.{function} must return {_article(kind)}; got {_missing(value)}")


def pair(owner: Any, function: str, value: Any, first: str, kind: type) -> Any:
    """``value``. Raises TypeError, in one line, unless it is a tuple of ``first`` and something of a ``kind``."""
    if type(value) is tuple and len(value) == 2 and isinstance(value[1], kind):
        return value
    raise TypeError(f"{type(owner).__name__}.{function} must return two values, {first} and {_article(kind)}; got "
                    f"{_missing(value)}")


def _missing(value: Any) -> str:
    return "None: is a return missing?" if value is None else described(value)


def same_shape(owner: Any, function: str, value: Any, before: Any) -> None:
    """Raises TypeError, in one line, if the model that a ``function`` returned has another shape than ``before``."""
    shape, expected = getattr(value, "shape", None), getattr(before, "shape", None)
    if shape != expected:
        raise TypeError(f"{type(owner).__name__}.{function} must return a model of shape (runs, dim) = "
                        f"{tuple(expected or ())}; got {described(value)}")


def _article(kind: type) -> str:
    return {"dict": "a dict of arrays by name", "Upload": "an Upload"}.get(kind.__name__, f"a {kind.__name__}")
