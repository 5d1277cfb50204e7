"""Fields of selections and of methods' parts: each knows which values it takes."""

from dataclasses import MISSING, field, fields
from functools import partial
from typing import Any

from fedtheory.schedules import check_schedule
from synthetic.base.checks import one_of, whole

__all__ = ["check_fields", "checked", "rate", "size", "word"]


def checked(default, check) -> Any:
    """A field whose value ``check(name, value)`` must accept; it raises ValueError otherwise. ``MISSING``: no default."""
    return field(default=default, metadata={"check": check})


def rate(default=MISSING, **bounds) -> Any:
    """A number, a (runs,) array or a schedule, from 0; ``bounds`` as in :func:`fedtheory.schedules.check_schedule`."""
    return checked(default, partial(check_schedule, **bounds))


def word(*allowed: str, default: str | None = None, name: str | None = None) -> Any:
    """One of the words ``allowed``, the first by default; ``name`` as it is called in errors, if not like the field."""
    return checked(default or allowed[0], lambda own, value: one_of(name or own, value, allowed))


def size(default=MISSING, low: int = 1) -> Any:
    """An integer of at least ``low``."""
    return checked(default, lambda name, value: whole(name, value, low))


def check_fields(owner) -> None:
    """Raises ValueError if a field of a dataclass has a value that it does not take."""
    for entry in fields(owner):
        if "check" in entry.metadata:
            entry.metadata["check"](entry.name, getattr(owner, entry.name))
