"""Hard controls by rule: false statements that are nearly true, and true neighbours of each."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.hard import equalities, kinks, long_runs, thresholds, tight
from benchmarks.hard.pairs import Pair
from bounds.language.claim import Claim
from bounds.registry.user_claims import load_claims
from verify.claims.method import faults_of_method

__all__ = ["KINDS", "PAIRS", "claims", "file_text"]

KINDS: Mapping[str, tuple[Pair, ...]] = {
    "tight constants": tight.PAIRS, "long runs": long_runs.PAIRS, "thresholds": thresholds.PAIRS, "kinks": kinks.PAIRS,
    "equalities": equalities.PAIRS}
PAIRS = {pair.name: (kind, pair) for kind, pairs in KINDS.items() for pair in pairs}


def file_text() -> str:
    """All statements as one claim file, each pair below its reason."""
    return "\n".join(f"# {pair.reason}\n" + "\n".join(pair.texts()) for _, pair in PAIRS.values())


@cache
def claims() -> Mapping[str, Claim]:
    """All claims by id; ids begin with ``true/`` or ``false/``."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hard.toml"
        path.write_text(file_text(), encoding="utf-8")
        return {claim.id: claim for claim in load_claims(path, faults_of_method)}
