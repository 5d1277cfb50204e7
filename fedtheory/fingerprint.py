"""Digests: of an algorithm with its federation, of functions, and of the code that computes runs."""

import hashlib
import sys
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from importlib.metadata import version
from pathlib import Path
from types import CodeType

import numpy as np

from fedtheory.algorithm import Algorithm
from synthetic.numbers.arrays import to_numpy

__all__ = ["code_of", "digest_of", "fingerprint"]


def digest_of(*values) -> str:
    """A digest of numbers, texts, arrays, functions (their code, defaults and what they enclose) and dataclasses of these.

    Example:
        >>> digest_of(1, "a") == digest_of(1, "a") != digest_of("1", "a")
        True
    """
    digest = hashlib.sha256()
    _digest(digest, values)
    return digest.hexdigest()


def code_of(*values) -> str:
    """A digest of the code of fedtheory and synthetic, of the versions of NumPy and torch, and of the files that define the
    classes of ``values``: where it is the same, runs are the same."""
    bases = {base for value in values for base in type(value).__mro__}
    files = {getattr(sys.modules.get(base.__module__), "__file__", None) for base in bases}
    return digest_of(_own_code(), sorted(hashlib.sha256(Path(file).read_bytes()).hexdigest() for file in files if file))


@cache
def _own_code() -> str:
    root = Path(__file__).parent.parent
    files = sorted(path for package in ("fedtheory", "synthetic") for path in (root / package).rglob("*")
                   if path.suffix in (".py", ".c", ".h"))
    return digest_of([(path.relative_to(root).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()) for path in files],
                     [version(name) for name in ("numpy", "torch")])


def fingerprint(algorithm: Algorithm, federation) -> str:
    """A short digest of the algorithm and the federation: all that a run depends on besides seeds, start and length."""
    digest = hashlib.sha256()
    _digest(digest, algorithm)
    digest.update(type(federation).__name__.encode())
    _digest_attributes(digest, federation)
    return digest.hexdigest()[:16]


def _digest(digest, value) -> None:
    if is_dataclass(value) and not isinstance(value, type):
        digest.update(type(value).__name__.encode())
        for item in fields(value):
            digest.update(item.name.encode())
            _digest(digest, getattr(value, item.name))
    elif hasattr(value, "shape") and hasattr(value, "dtype"):
        array = to_numpy(value)
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(repr(array.tolist()).encode() if array.dtype == object else np.ascontiguousarray(array).tobytes())
    elif isinstance(value, (tuple, list)):
        digest.update(f"{type(value).__name__}{len(value)}".encode())
        for item in value:
            _digest(digest, item)
    elif isinstance(value, dict):
        _digest(digest, sorted(value.items(), key=lambda pair: repr(pair[0])))
    elif isinstance(value, (str, int, float, complex, Fraction, type(None))):
        digest.update(f"{type(value).__name__}{value!r}".encode())
    elif isinstance(value, partial):
        _digest(digest, (value.func, value.args, sorted(value.keywords.items())))
    elif hasattr(value, "__code__"):
        enclosed = [cell.cell_contents for cell in value.__closure__ or ()]  # of functions the names, which ends circles
        enclosed = [getattr(one, "__qualname__", "") if callable(one) else one for one in enclosed]
        _digest(digest, (value.__qualname__, value.__defaults__, enclosed))
        _digest_code(digest, value.__code__)
    else:
        digest.update(type(value).__name__.encode())
        digest.update(getattr(value, "__qualname__", "").encode())
        _digest_attributes(digest, value)


def _digest_code(digest, code: CodeType) -> None:
    digest.update(code.co_code + repr(code.co_names).encode())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _digest_code(digest, constant)
        else:
            digest.update(repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant).encode())


def _digest_attributes(digest, value) -> None:
    for name, item in sorted(getattr(value, "__dict__", {}).items()):
        if not isinstance(getattr(type(value), name, None), cached_property):  # caches do not count
            digest.update(name.encode())
            _digest(digest, item)
