"""Statements that a user brings to ``fedtheory check``, and the ones that ``show --statement`` prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from verify.results.commands import CLAIM_FILES

__all__ = ["stated_in", "statement_text"]


def stated_in(path: Path | None) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The claims of a file by id, or the statement that a .json file holds; nothing for no file."""
    if path is None:
        return None, None
    if path.suffix == ".json":
        from verify.exact.check import read

        return None, read(path)
    if path.suffix not in CLAIM_FILES:
        raise ValueError(f"--statement takes a file of claims ({', '.join(CLAIM_FILES)}) or a statement (.json); got {path}")
    from bounds.registry.user_claims import load_claims
    from verify.claims.method import faults_of_method

    return {claim.id: claim for claim in load_claims(path, faults_of_method)}, None


def statement_text(claim) -> str:
    """The claim's statement as JSON, with which the stand-alone checker compares a certificate."""
    from json import dumps

    from verify.exact.statement import not_replayed, statement_of

    if claim.statement is None or not claim.explicit:
        why = f"undefined: {claim.undefined}" if claim.statement is None else "it hides its constants in O(.)"
        raise ValueError(f"{claim.id} has no explicit statement: {why}")
    if unknown := not_replayed(claim):
        raise ValueError(f"the stand-alone checker does not replay {unknown}")
    return dumps(statement_of(claim), indent=1)
