"""Prints what a claim states, for ``fedtheory show --statement``."""

__all__ = ["statement_text"]


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
