"""Certificates of kinds of claims that no paper has: other_kinds.toml has a false claim of each kind, and a true one."""

import json
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from bounds.language.claim import Claim
from bounds.registry.user_claims import load_claims
from verify.claims.method import faults_of_method
from verify.exact.check import CheckResult
from verify.exact.check import check as check_single
from verify.exact.statement import statement_of
from verify.growth.certificate import FORMAT as GROWTH
from verify.growth.check import check as check_growth
from verify.growth.order import with_constant
from verify.referee.decide import Settings, decide

__all__ = ["claims", "honest", "judged", "of_other_kinds", "restated"]


@cache
def claims() -> dict[str, Claim]:
    path = Path(__file__).with_name("other_kinds.toml")
    return {claim.id: claim for claim in load_claims(path, faults_of_method)}


@cache
def _found(claim_id: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        verdict = decide(claims()[claim_id], Settings(federations=False, out=Path(folder)))
        assert verdict.verdict == "refuted" and verdict.certificate, f"{claim_id}: {verdict.evidence}"
        return (Path(folder) / verdict.certificate).read_text(encoding="utf-8")


def honest(claim_id: str) -> dict[str, Any]:
    """The certificate of a false claim, as a search finds it."""
    return json.loads(_found(claim_id))


def of_other_kinds(*names: str) -> Iterator[tuple[dict[str, Any], Claim]]:
    """Certificates of the false claims of these names, or of all, and the claims."""
    for name, claim in claims().items():
        if name.startswith("false/") and (not names or name.removeprefix("false/") in names):
            yield honest(name), claim


def restated(data: dict[str, Any], claim: Claim) -> dict[str, Any]:
    """The instances of a certificate, with what another claim states."""
    if data["format"] != GROWTH:
        return data | statement_of(claim)
    members = [member | {"certificate": restated(member["certificate"], with_constant(claim, member["constant"]))}
               for member in data["members"]]
    uses = claim.constants_may_use
    return data | {"claim": claim.id, "reading": claim.reading, "members": members,
                   "constants_may_use": None if uses is None else list(uses)}


def judged(data: dict[str, Any], claim: Claim) -> CheckResult:
    """What the checker says; if only the recorded sides are wrong, then of the right ones."""
    check = check_growth if data.get("format") == GROWTH else check_single
    result = check(data, claim)
    if "recorded values" in result.reason and "left" in data:
        result = check(data | {"left": result.left, "right": result.right}, claim)
    return result
