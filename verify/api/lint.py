"""Checks claims without running anything."""

from bounds.language.claim import Claim
from verify.claims.named import claim as claim_of
from verify.claims.named import claims_in, is_file
from verify.lint.lint import Finding, lint_all
from verify.results.commands import file_and_id

__all__ = ["lint"]


def lint(claim: Claim | str) -> list[Finding]:
    """Checks units, symbols and hypotheses of a claim, given itself, by its id, as ``FILE:ID``, or all claims of ``FILE``.

    Returns the findings, errors first; each has the claim's id, the check, the severity and a sentence.

    Raises LookupError and ValueError as :func:`verify.claims.named.claim` does.

    Example:
        >>> [finding.severity for finding in lint("classical/gd-convex")]
        ['note']
    """
    whole_file = isinstance(claim, str) and is_file(file_and_id(claim)[0])
    return lint_all(claims_in([claim]) if whole_file else [claim_of(claim)])
