"""Backends of arrays, and the few array functions the rest of the code needs.

The same lines of an algorithm or a federation run on four kinds of arrays:

* ``torch`` tensors (CPU or CUDA, float32 or float64), the fast path;
* ``numpy`` arrays (float64), the slow reference;
* ``exact``: NumPy arrays of :class:`fractions.Fraction`, for methods that use only ``+ - * /`` and comparisons;
* ``balls``: NumPy arrays of :class:`synthetic.numbers.balls.Ball`, real numbers with proven error, for methods with roots or
  maxima (needs python-flint).

torch is imported when the first tensor is made: what computes on NumPy alone starts without it.
"""

import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from array_api_compat import array_namespace, is_torch_array
from array_api_compat import numpy as array_api_numpy

from synthetic.numbers.balls import Ball

__all__ = [
    "BALLS", "EXACT", "NUMPY", "TORCH", "Backend", "add_up", "all_true", "backend_of", "backend_on", "each", "first_least",
    "kept_on_device", "largest", "maximum", "namespace", "numbers_to", "one_place", "take_clients", "to_numpy",
    "values_where", "waits", "writes_to",
]

_LIBRARIES = ("torch", "numpy", "exact", "balls")
_DTYPES = ("float64", "float32", "bfloat16", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")
_FLOATS = ("float32", "float64")  # in which runs are made
_FOUND = {"cpu"}  # devices that this machine has, as far as they were asked for
_SHORT = 6  # entries of an axis: NumPy adds up to 7 in their order


@dataclass(frozen=True)
class Backend:
    """A place where arrays live: ``library`` in {"torch", "numpy", "exact", "balls"}, and for torch a device and a dtype,
    by their names or as torch has them. Raises ValueError for a device that this machine does not have."""

    library: str = "torch"
    device: str = "cpu"
    dtype: str = "float64"

    def __post_init__(self):
        if self.library not in _LIBRARIES:
            raise ValueError(f"unknown array library {self.library!r}; allowed: {', '.join(_LIBRARIES)}")
        object.__setattr__(self, "device", str(self.device))
        object.__setattr__(self, "dtype", _dtype_name(self.dtype))
        if self.dtype not in _DTYPES:
            raise ValueError(f"unknown dtype {self.dtype!r}; allowed: {', '.join(_DTYPES)}")
        if self.device not in _FOUND:
            _find_device(self.device)

    def array(self, values):
        """Real numbers as an array of this backend; anything array-like goes in."""
        if self.library == "torch":
            if is_torch_array(values):
                return _tensor(values, self.dtype, self.device)
            return _tensor(np.asarray(values, dtype=np.float64), self.dtype, self.device)
        values = to_numpy(values)
        if self.library == "numpy":
            return np.asarray(values, dtype=np.float64)
        return each(values, Ball if self.library == "balls" else _fraction)

    def integers(self, values):
        """Integers (int64) as an array of this backend."""
        if self.library == "torch":
            return _tensor(values, "int64", self.device)
        return np.asarray(to_numpy(values), dtype=np.int64)

    def booleans(self, values):
        """Truth values as an array of this backend."""
        if self.library == "torch":
            return _tensor(values, "bool", self.device)
        return np.asarray(to_numpy(values), dtype=bool)


def _dtype_name(dtype) -> str:
    return (dtype.__name__ if isinstance(dtype, type) else str(dtype)).removeprefix("torch.")


def _unknown(device: str) -> ValueError:
    return ValueError(f"unknown device {device!r}; allowed: cpu, cuda")


def _find_device(device: str) -> None:
    """ValueError for a device that torch does not know, or that this machine does not have."""
    import torch

    try:
        kind, number = torch.device(device).type, torch.device(device).index
    except RuntimeError:
        raise _unknown(device) from None
    if kind == "cuda":
        there = torch.cuda.device_count() if torch.cuda.is_available() else 0
        lacks = f"device {device!r} is not available on this machine"
        if not there:
            raise ValueError(f"{lacks}: {_why_no_cuda()}; allowed: cpu")
        if number is not None and number >= there:
            allowed = ", ".join(f"cuda:{each}" for each in range(there))
            raise ValueError(f"{lacks}: it has {there} CUDA device{'s' * (there > 1)}; allowed: cpu, cuda, {allowed}")
    _FOUND.add(device)


def _why_no_cuda() -> str:
    import torch

    if not torch.backends.cuda.is_built():
        return f"torch {torch.__version__} is built without CUDA"
    try:
        torch.cuda.init()
    except (RuntimeError, AssertionError) as error:
        return f"torch says: {str(error).splitlines()[0].split('. ')[0].rstrip('.')}"
    return "torch finds no CUDA device"


TORCH, NUMPY, EXACT, BALLS = (Backend(library) for library in _LIBRARIES)


def backend_on(device: str | None = None, dtype: str | None = None, own: Backend = TORCH) -> Backend:
    """The torch backend of a device and a dtype by name.

    Args:
        device: ``cpu``, ``cuda`` or ``cuda:1``, or as torch has it; None: that of ``own``.
        dtype: ``float32`` or ``float64``, or as torch or NumPy have it; None: that of ``own``.
        own: a backend; one of another library counts as the CPU and float64.

    Raises:
        ValueError: another name, or a device that this machine does not have, with the reason.

    Example:
        >>> backend_on(dtype="float32")
        Backend(library='torch', device='cpu', dtype='float32')
    """
    own = own if own.library == "torch" else TORCH
    device, dtype = own.device if device is None else str(device), own.dtype if dtype is None else _dtype_name(dtype)
    if dtype not in _FLOATS:
        raise ValueError(f"unknown dtype {dtype!r}; allowed: {', '.join(_FLOATS)}")
    if not re.fullmatch(r"cpu|cuda(:\d+)?", device):
        raise _unknown(device)
    backend = Backend("torch", device, dtype)
    if device == "cuda":  # as its arrays call it
        import torch

        return replace(backend, device=f"cuda:{torch.cuda.current_device()}")
    return backend


def one_place(backend, device, dtype) -> None:
    """ValueError where a backend is given, and a device or a dtype besides."""
    if backend is not None and (device is not None or dtype is not None):
        more = ", ".join(f"{name} {value!r}" for name, value in (("device", device), ("dtype", dtype)) if value is not None)
        raise ValueError(f"a backend has a device and a dtype already; got {more} besides; allowed: one or the other")


def _tensor(values, dtype: str, device):
    import torch

    if is_torch_array(values) and waits(values):
        return values.to(device=device, dtype=getattr(torch, dtype))
    if (kept := _KEPT.get()) is None or (device == "cpu" and "cpu" not in WAITING):
        return _sent(values, dtype, device)
    host = to_numpy(values)
    key = host.dtype.str, host.shape, host.tobytes(), dtype, device
    if key not in kept or writes_to(kept[key][0]) != kept[key][1]:
        sent = _sent(values, dtype, device)
        kept[key] = sent, writes_to(sent)
    return kept[key][0]


def writes_to(array) -> int:
    """Count the writes to a tensor; 0 where torch does not count them."""
    return 0 if array.is_inference() else array._version


#: kinds of devices whose numbers the host has to wait for
WAITING = {"cuda"}
_KEPT: ContextVar[dict | None] = ContextVar("arrays sent to a device", default=None)


@contextmanager
def kept_on_device():
    """Arrays of the host that are sent to a device with ``waits`` are sent once, and kept; if they are written to, again."""
    before = _KEPT.set({} if _KEPT.get() is None else _KEPT.get())
    try:
        yield
    finally:
        _KEPT.reset(before)


def waits(values) -> bool:
    """Whether reading an array's entries would wait for its device."""
    return is_torch_array(values) and values.device.type in WAITING


def _sent(values, dtype: str, device):
    import torch

    if isinstance(values, np.ndarray) and (not values.flags.writeable or min(values.strides, default=0) < 0):
        values = values.copy()  # torch warns about memory it may not write to, and refuses arrays read backwards
    return torch.as_tensor(values, dtype=getattr(torch, dtype), device=device)


def _fraction(value) -> Fraction:
    return Fraction(value.item() if isinstance(value, np.generic) else value)


def each(array, make) -> np.ndarray:
    """The array of objects, with what ``make`` makes of every entry."""
    return np.asarray(np.frompyfunc(make, 1, 1)(array), dtype=object)


def namespace(*arrays):
    """The array functions for ``arrays``, as the array API standard names them."""
    if all(type(array) is np.ndarray for array in arrays):
        return array_api_numpy
    return array_namespace(*arrays)


def backend_of(x) -> Backend:
    """The backend on which the array ``x`` lives."""
    if is_torch_array(x):
        return Backend("torch", str(x.device), str(x.dtype))
    if x.dtype != object:
        return NUMPY
    return BALLS if x.size and isinstance(x.flat[0], Ball) else EXACT


def maximum(a, b):
    """Element-wise maximum on every backend; a ball contains the larger of two that overlap."""
    if backend_of(a) == BALLS:
        return np.frompyfunc(Ball.maximum, 2, 1)(a, b)
    return namespace(a).maximum(a, b)


def largest(array, axis: int):
    """Largest entry along ``axis`` on every backend; a ball contains the largest of those that overlap."""
    if backend_of(array) == BALLS:
        return np.frompyfunc(Ball.maximum, 2, 1).reduce(array, axis=axis)
    return namespace(array).max(array, axis=axis)


def add_up(array):
    """Sum along the last axis on every backend. Short axes of NumPy floats are added entry by entry, which is faster and
    gives the same bits."""
    if type(array) is not np.ndarray or array.dtype == object or not 0 < array.shape[-1] <= _SHORT:
        return namespace(array).sum(array, axis=-1)
    total = array[..., 0].copy()
    for entry in range(1, array.shape[-1]):
        total += array[..., entry]
    return total


def first_least(array):
    """Index of the least entry along the last axis, the first of equals, on every backend.

    NumPy's argmin ignores exceptions raised by comparisons of objects. Here balls raise
    :class:`synthetic.numbers.balls.Undecided` if it is not certain which is the least.
    """
    if array.dtype != object:
        return namespace(array).argmin(array, axis=-1)
    least, index = array[..., 0], np.zeros(array.shape[:-1], dtype=np.int64)
    for entry in range(1, array.shape[-1]):
        less = np.asarray(array[..., entry] < least, dtype=bool)
        least, index = np.where(less, array[..., entry], least), np.where(less, entry, index)
    return index


def to_numpy(x) -> np.ndarray:
    """A NumPy copy of any array (fractions stay fractions)."""
    if is_torch_array(x):
        return x.detach().cpu().numpy()
    return np.asarray(x)


def all_true(truth) -> bool:
    """Whether all truth values hold, if that can be known at once: False for those of a device for which the host waits."""
    return not waits(truth) and bool(namespace(truth).all(truth))


def numbers_to(count: int, backend: Backend):
    """``0 .. count - 1``, (count,) integers of a backend of torch or NumPy, made where they are."""
    if backend.library != "torch":
        return np.arange(count)
    import torch

    return torch.arange(count, device=backend.device)


def values_where(finite, values, reason: str):
    """``values`` where ``finite``, else infinity. Exact arithmetic has no infinity and raises ArithmeticError(reason)."""
    xp = namespace(values)
    if all_true(finite):
        return values
    if values.dtype == object:
        raise ArithmeticError(reason)
    return xp.where(finite, values, 0 * values + float("inf"))


def take_clients(array, clients):
    """Rows of ``array`` (instances | 1, clients, ...) for the client numbers ``clients`` (runs, participants).

    ``clients=None`` means all of them and returns the array as it is.
    """
    if clients is None:
        return array
    if array.shape[0] == 1:
        return array[0][clients]
    xp = namespace(clients)
    rows = xp.arange(clients.shape[0], device=getattr(clients, "device", None) if xp is not np else None)
    return array[rows[:, None], clients]
