"""Unexpected errors: one part of a claim's way fails, and what the other parts find is kept beside the error."""

import os
import traceback
from dataclasses import dataclass

__all__ = ["STRICT", "Failure", "failure_of", "is_strict", "where"]

#: environment variables with which errors are raised: where an error comes from, and tests, which must see every error
STRICT = ("FEDTHEORY_TRACEBACK", "FEDTHEORY_STRICT")
_FRAMES = 3  # innermost ones that are named


@dataclass(frozen=True)
class Failure:
    """The error that ended a stage, and where it was raised."""

    stage: str
    error: str
    where: str

    def __str__(self) -> str:
        return f"the stage of {self.stage} failed: {self.error}"


def is_strict() -> bool:
    """Whether errors are raised instead of kept."""
    return any(os.environ.get(name) for name in STRICT)


def failure_of(stage: str, error: Exception) -> Failure:
    """Returns the failure of a stage by an error.

    Raises:
        Exception: the error itself, if errors are to be raised, or if it is an OSError: a full disk has nothing to do with
            the claim.
    """
    if is_strict() or isinstance(error, OSError):
        raise error
    return Failure(stage, f"{type(error).__name__}: {error}", where(error))


def where(error: Exception) -> str:
    """Returns the innermost places in the code that an error went through."""
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    return "; ".join(f"{os.path.basename(f.filename)}:{f.lineno} {f.name}" for f in frames)
