"""Where a proof at a setting may be one for every number of clients from some number on."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import groupby
from typing import Any

from bounds.language.claim import Claim
from verify.symbolic.exchangeable_clients import ANY
from verify.worst.configurations import Setting
from verify.worst.coordinate_ascent import ERRORS

__all__ = ["first_proof", "for_every_number", "has_degree"]

_LEAST = 2  # clients
_DEGREES = (0, 1, 2, 3)  # in 1/m


def for_every_number(claim: Claim, setting: Setting) -> Iterator[tuple[Setting, int]]:
    """Settings with a degree in 1/m, such as certificates of every number of clients have: first from two clients on, else
    from that of the setting on; first for any weights, else for equal ones."""
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
    """What ``prove(setting, degree)`` finds first that is not None, at the least degree of each setting that the statement
    has; None where it finds nothing."""
    for _, degrees in groupby(for_every_number(claim, setting), lambda way: way[0]):
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
    """Whether all that is known of letters has at most a degree: of noise of clients of equal weight 1 is needed."""
    return letters.exact or letters.any_weights or degree > 0
