"""Proofs for every number of clients from some number on, made from a proof at one setting."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import groupby
from typing import Any

from bounds.language.claim import Claim
from verify.symbolic.exchangeable_clients import ANY
from verify.worst.configurations import Setting
from verify.worst.coordinate_ascent import ERRORS

__all__ = ["client_count_settings", "first_proof", "has_degree"]

_LEAST = 2  # clients
_DEGREES = (0, 1, 2, 3)  # in 1/m


def client_count_settings(claim: Claim, setting: Setting) -> Iterator[tuple[Setting, int]]:
    """Yields the settings of certificates for every number of clients, each with a degree in 1/m: first from two clients on,
    then from the setting's number on; first for any weights, then for equal ones."""
    clients, how = setting.sizes["clients"], claim.procedure
    if clients < _LEAST or how is None or how.sampling != "full":
        return
    for least in dict.fromkeys((_LEAST, clients)):
        sizes = setting.sizes | {"clients": least, "participants": setting.sizes["participants"] - clients + least}
        if not how.equal_weights:
            yield setting._replace(sizes=sizes, weights=ANY), 0
        if len({*setting.weights}) == 1:
            alike = setting._replace(sizes=sizes, weights=[str(Fraction(1, least))] * least)
            yield from ((alike, degree) for degree in _DEGREES)


def first_proof(claim: Claim, setting: Setting, prove: Callable):
    """Returns the first result of ``prove(setting, degree)`` that is not None, at the least degree of each setting that the
    statement has; None if there is none."""
    for _, degrees in groupby(client_count_settings(claim, setting), lambda way: way[0]):
        for one, degree in degrees:
            try:
                found = prove(one, degree)
            except ERRORS:  # of a kind, or of a degree, that is not known of every number of clients
                continue
            if found is not None:
                return found
            break
    return None


def has_degree(letters: Any, degree: int) -> bool:
    """Whether all facts about a run have at most a degree in 1/m: noise with equal weights needs a degree of at least 1."""
    return letters.exact or letters.any_weights or degree > 0
