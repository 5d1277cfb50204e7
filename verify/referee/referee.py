"""Verdicts on many claims, by this process or by several."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from bounds.language.claim import Claim
from verify.referee.decide import Settings
from verify.referee.workers import decide_all, decide_or_say_why
from verify.results.verdict import Verdict

__all__ = ["referee"]


def referee(claims: Sequence[Claim], *, workers: int | None = None, **settings) -> Iterator[Verdict]:
    """Verdicts on registered claims, each as soon as it is decided; keyword arguments as in :class:`Settings`.

    Every verdict depends on its claim and the seed alone, not on the order or the number of ``workers`` (default: one
    per core, or one on a GPU). A claim at which an error or a worker's death stops us is undecided, and says so. A script
    that uses several workers must guard its entry with ``if __name__ == "__main__"``, because they start afresh.
    """
    options = Settings(**settings)
    if options.out is not None:
        options = Settings(**{**options.__dict__, "out": Path(options.out)})
    if workers == 1 or len(claims) <= 1:
        for claim in claims:
            yield decide_or_say_why(claim, options)
        return
    several = 1 if options.device != "cpu" else os.cpu_count() or 1
    yield from decide_all(claims, options, workers or several)
