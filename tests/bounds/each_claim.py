"""One test for all claims of a paper: every claim is looked at, and all that fail are listed together."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

__all__ = ["each_claim"]


def each_claim(claims: Iterable, title: Callable = lambda claim: claim.id):
    """Turns a check of one claim into a test for each paper that lists every claim at which the check fails.

    ``claims`` may hold anything with a ``paper``; ``title`` says what is named in the list.
    """
    papers: dict[str, list] = {}
    for claim in claims:
        papers.setdefault(claim.paper, []).append(claim)

    def as_test(check):
        @pytest.mark.parametrize("paper", papers)
        def test(paper):
            failed = []
            for claim in papers[paper]:
                try:
                    check(claim)
                except Exception as problem:  # the others are looked at all the same
                    failed.append(f"{title(claim)}: {type(problem).__name__}: {problem}")
            assert not failed, f"{len(failed)} of {len(papers[paper])}:\n" + "\n".join(failed)

        test.__name__, test.__doc__ = check.__name__, check.__doc__
        return test

    return as_test
