"""Proofs of a claim for every number of clients from some number on, at the other sizes and numbers of a place."""

from fractions import Fraction
from typing import Any

from bounds.language.claim import Claim
from verify.checker.every_number import ANY, EveryNumber
from verify.checker.powers import coefficients
from verify.exact.statement import statement_of
from verify.worst.admitted import admitted
from verify.worst.program import programs
from verify.worst.setting import Place, Setting, setting_of
from verify.worst.uphill import ERRORS
from verify.worst.worst_case import WorstCase, certified, functions_of

__all__ = ["every_number"]

_LEAST = 2  # clients


def every_number(claim: Claim, place: Place, most: int | None = None) -> WorstCase | None:
    """A proof for every number of clients from two on, or else from that of the place on; None where none is found, or the
    clients are not alike.

    Raises what :func:`verify.worst.setting.setting_of` raises.
    """
    stated, setting = statement_of(claim), admitted(claim, setting_of(claim, {}, place))
    clients, alike = setting.sizes["clients"], len({*setting.weights}) == 1
    if clients < _LEAST or claim.procedure is None or claim.procedure.sampling != "full":
        return None
    for least in dict.fromkeys((_LEAST, clients)):
        sizes = setting.sizes | {"clients": least, "participants": setting.sizes["participants"] - clients + least}
        for weights in [ANY] * (not claim.procedure.equal_weights) + [[str(Fraction(1, least))] * least] * alike:
            try:
                found = _from(claim, stated, setting._replace(sizes=sizes, weights=weights), most)
            except (*ERRORS, AttributeError):
                continue
            if found is not None:
                return found
    return None


def _from(claim: Claim, stated: dict[str, Any], setting: Setting, most: int | None) -> WorstCase | None:
    """A proof from the number of clients of a setting on."""
    letters = EveryNumber(stated, *setting, degree=0)
    degrees = [len(coefficients(larger - smaller)) - 1 for _, smaller, larger in letters.compared(stated["statement"])]
    letters.degree = max([0 if letters.exact or letters.any_weights else 1, *degrees])
    certificate, _ = certified(stated, setting, programs(letters, [stated["statement"]]), most, degree=letters.degree)
    if certificate is None:
        return None
    return WorstCase(claim.id, setting, functions_of(letters), len(letters.depends), (), certificate, onwards=True)
