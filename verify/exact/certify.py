"""Takes a violation to a certificate on disk that the stand-alone checker accepts."""

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bounds.language.claim import Claim
from verify.exact.check import CheckResult
from verify.exact.statement import not_replayed
from verify.results.files import file_name, write_json

__all__ = ["Accepted", "Refused", "certify"]


@dataclass(frozen=True)
class Accepted:
    """The certificate as plain data, and its path relative to the report, None where there is no report."""

    data: dict[str, Any]
    path: str | None


@dataclass(frozen=True)
class Refused:
    """The reason why there is no certificate that the checker accepts; ``details`` for the verdict."""

    why: str
    details: dict[str, Any] = field(default_factory=dict)


def certify(claim: Claim, write: Callable[[], dict[str, Any]], check: Callable[[dict[str, Any]], CheckResult],
             out: Path | None) -> Accepted | Refused:
    """Writes a certificate, has it checked, and saves it under ``out``.

    Args:
        claim: what is refuted.
        write: makes the certificate, or raises ArithmeticError, TypeError or ValueError.
        check: compares it with the claim, and replays it with the stand-alone checker.
        out: directory of the report, or None.
    """
    if unknown := not_replayed(claim):
        return Refused(f"the stand-alone checker does not replay {unknown}, so nothing confirms it independently")
    try:
        data = json.loads(json.dumps(write()))
    except (ArithmeticError, TypeError, ValueError) as reason:
        return Refused(f"it cannot be written as a certificate: {reason}")
    result = check(data)
    if not result.accepted:  # the search and the checker disagree: one of our two implementations errs
        logging.getLogger(__name__).error("%s: the stand-alone checker rejects what the search found: %s", claim.id,
                                          result.reason)
        return Refused(f"the stand-alone checker rejects it: {result.reason}",
                       {"disagreement": result.reason, "instance": data})
    path = None
    if out is not None:
        path = f"certificates/{file_name(claim.id)}.json"
        write_json(Path(out) / path, data)
    return Accepted(data, path)
