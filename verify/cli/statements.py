"""What ``--statement`` names in ``fedtheory check`` and ``replay``, and what ``show --statement`` prints."""

from pathlib import Path
from typing import Any

from verify.cli.shared import claims_in
from verify.results.commands import CLAIM_FILES, file_and_id

__all__ = ["claims_beside", "stated_in", "statement_text"]


def stated_in(name: str | None) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The claims of FILE or ``FILE:ID`` by id, or the statement that a .json file holds; nothing for no name."""
    if name is None:
        return None, None
    if name.endswith(".json"):
        from verify.exact.alone import read

        return None, read(Path(name), "statement")
    if not file_and_id(name)[0].endswith(CLAIM_FILES):
        raise ValueError(f"--statement takes a file of claims ({', '.join(CLAIM_FILES)}) or a statement (.json); got {name}")
    return {claim.id: claim for claim in claims_in([name])}, None


def claims_beside(name: str | None) -> dict[str, Any] | None:
    """Return all claims of the file that ``--statement`` names, by id; None where it names none."""
    if name is None or name.endswith(".json"):
        return None
    return {claim.id: claim for claim in claims_in([file_and_id(name)[0]])}


def statement_text(claim) -> str:
    """The claim's statement as JSON, with which the stand-alone checker compares a certificate."""
    from json import dumps

    from verify.exact.statement import not_replayed, printed_of, statement_of

    if claim.statement is None or not claim.explicit:
        why = f"undefined: {claim.undefined}" if claim.statement is None else "it hides its constants in O(.)"
        raise ValueError(f"{claim.id} has no explicit statement: {why}")
    if unknown := not_replayed(claim):
        raise ValueError(f"the stand-alone checker does not replay {unknown}")
    return dumps(statement_of(claim) | printed_of(claim), indent=1)
