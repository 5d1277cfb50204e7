"""Loops of tests that look at something."""

from collections.abc import Iterable, Iterator

__all__ = ["if_any", "not_empty"]


def not_empty(things: Iterable) -> Iterator:
    """Yields the things; AssertionError if there are none, since a test that looks at nothing cannot fail."""
    nothing = True
    for thing in things:
        nothing = False
        yield thing
    assert not nothing, "there was nothing to look at"


def if_any(things: Iterable) -> Iterable:
    """Returns the things; there may be none, because other parameters of the test have some or none is right."""
    return things
