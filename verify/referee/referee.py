"""Verdicts on many claims, from this process or from several."""

import os
from collections.abc import Iterator, Sequence

from bounds.language.claim import Claim
from verify.claims.named import claim as named
from verify.referee.decide import Settings, decide
from verify.referee.workers import decide_all, decide_or_say_why
from verify.results.verdict import Verdict

__all__ = ["referee", "verify"]


def verify(claim: Claim | str, **settings) -> Verdict:
    """Decides one claim, given itself, by id or as ``FILE:ID``; ``settings`` as in :class:`verify.referee.decide.Settings`.

    Example:
        >>> verify("classical/gd-convex", budget="quick").verdict
        'consistent'
    """
    return decide(named(claim), Settings(**settings))


def referee(claims: Sequence[Claim], *, workers: int | None = None, cluster=None, **settings) -> Iterator[Verdict]:
    """Yields verdicts on registered claims, each as soon as it is decided; ``settings`` as in :class:`Settings`.

    A verdict does not depend on the order of the claims, nor on the number of ``workers`` (default: one per core, or one on
    a GPU). A claim stopped by an error or by the death of a process is undecided, with the reason. A script that uses
    several workers must guard its entry with ``if __name__ == "__main__"``, because each of them imports it.

    ``cluster``: the address of a scheduler of dask, or a ``distributed.Client``, on whose workers claims are decided.
    """
    options = Settings(**settings)
    if cluster is not None:
        from verify.referee.cluster import decide_on_cluster

        yield from decide_on_cluster(claims, options, cluster)
        return
    if workers == 1 or len(claims) <= 1:
        for claim in claims:
            yield decide_or_say_why(claim, options)
        return
    several = 1 if options.device != "cpu" else os.cpu_count() or 1
    yield from decide_all(claims, options, workers or several)
