"""Verdicts on many claims, from this process or from several; and what ``fedtheory`` forwards: a claim and its verdict."""

import os
from collections.abc import Iterator, Sequence

from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from verify.claims.method import faults_of_method
from verify.referee.decide import Settings, decide
from verify.referee.workers import decide_all, decide_or_say_why
from verify.results.verdict import Verdict

__all__ = ["claim", "referee", "verify"]


def claim(name: str) -> Claim:
    """The registered claim of that id, or ``FILE:ID``, the one of a file of claims.

    Raises:
        LookupError: there is none; the message names the nearest ids. ValueError: a file that cannot be read, wrong claims.
    """
    file, _, own = name.rpartition(":")
    if not file:
        return find_claim(name)
    claims = {each.id: each for each in load_claims(file, faults_of_method)}
    if own not in claims:
        raise LookupError(f"no claim {own!r} in {file}; allowed: {', '.join(f'{file}:{each}' for each in claims)}")
    return claims[own]


def verify(claim: Claim | str, **settings) -> Verdict:
    """The verdict on one claim, given itself or by id; ``settings`` as in :class:`verify.referee.decide.Settings`.

    Example:
        >>> verify("classical/gd-convex", budget="quick").verdict
        'consistent'
    """
    return decide(find_claim(claim) if isinstance(claim, str) else claim, Settings(**settings))


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
