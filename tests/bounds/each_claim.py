"""One test for all claims of a paper: every claim is looked at, and all that fail are listed together."""

from collections.abc import Callable, Iterable

import pytest

from bounds.registry.papers import PAPERS
from tests.not_empty import not_empty

__all__ = ["each_claim", "look_at_each"]


def look_at_each(things: Iterable, check: Callable, title: Callable = str):
    """Applies a check to each of the ``things``; fails once, with the ``title`` of every one at which the check failed, and
    where there are none."""
    failed, looked_at = [], 0
    for thing in not_empty(things):
        looked_at += 1
        try:
            check(thing)
        except Exception as problem:  # the others are looked at all the same
            failed.append(f"{title(thing)}: {type(problem).__name__}: {problem}")
    assert not failed, f"{len(failed)} of {looked_at}:\n" + "\n".join(failed)


def each_claim(claims: Iterable | Callable[[], Iterable], title: Callable = lambda claim: claim.id):
    """Turns a check of one claim into a test for each paper that lists every claim at which the check fails.

    ``claims`` may hold anything with a ``paper``; ``title`` says what is named in the list. A function is called when the
    tests run, so that no claim is loaded before; all its claims are of ``PAPERS``.
    """
    lazy = callable(claims)
    papers = PAPERS if lazy else tuple(dict.fromkeys(claim.paper for claim in claims))

    def as_test(check):
        @pytest.mark.parametrize("paper", papers)
        def test(paper):
            given = list(claims() if lazy else claims)
            assert {claim.paper for claim in given} <= set(papers)
            look_at_each((claim for claim in given if claim.paper == paper), check, title)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return as_test
