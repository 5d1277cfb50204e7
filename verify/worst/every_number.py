"""Where a proof at a setting may be one for every number of clients from some number on."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import groupby

from bounds.language.claim import Claim
from verify.checker.every_number import ANY
from verify.worst.setting import Setting
from verify.worst.uphill import ERRORS

__all__ = ["first_proof", "for_every_number"]

_LEAST = 2  # clients
_DEGREES = (0, 1, 2, 3)  # in 1/m
_TRIED = 2  # of these


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
    """What ``prove(setting, degree)`` finds first that is not None; None where it finds nothing."""
    for _, tried in groupby(for_every_number(claim, setting), lambda way: way[0]):
        missed = 0
        for one, degree in tried:
            try:
                found = prove(one, degree)
            except (*ERRORS, AttributeError):  # of a kind, or of a degree, that is not known of every number of clients
                continue
            if found is not None:
                return found
            missed += 1
            if missed == _TRIED:
                break
    return None
