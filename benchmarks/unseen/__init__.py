"""Statements that ship with no paper and no example, whose truth is known: how many the referee decides rightly."""

from functools import cache
from pathlib import Path

from bounds.language.claim import Claim
from bounds.registry.user_claims import load_claims
from verify.claims.method import faults_of_method

__all__ = ["FILES", "right", "statements"]

FILES = tuple(sorted(Path(__file__).parent.glob("*.toml")))


@cache
def statements() -> dict[str, tuple[str, Claim]]:
    """All claims by id, each with the name of its file. Ids begin with ``true/`` or ``false/``.

    Raises:
        ValueError: a file that cannot be read, with its line.
    """
    return {claim.id: (path.stem, claim) for path in FILES for claim in load_claims(path, faults_of_method)}


def right(name: str, verdict: str) -> bool:
    """Whether a verdict is the right one for a statement of this id: a false one is refuted, a true one is not."""
    return verdict == "refuted" if name.startswith("false/") else verdict in ("certified", "consistent")
