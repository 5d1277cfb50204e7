"""The e-values of all claims of a report taken together."""

from collections.abc import Iterable
from dataclasses import dataclass

from verify.evidence.eprocess import REFUTES, discoveries, pooled
from verify.results.verdict import Verdict

__all__ = ["RATE", "CombinedEvalue", "combined_evalue"]

RATE = 0.05  #: false discovery rate at which claims are refuted together


@dataclass(frozen=True)
class CombinedEvalue:
    """E-values of sampled runs: ``tests`` of them, of ``claims`` claims; that of a claim is the mean of its own.

    ``pooled``: one e-value against the hypothesis that all these claims are true. ``discovered``: ids of the claims that are
    refuted at the false discovery rate ``RATE``. ``wrongly``: a bound on the probability that a single e-value refutes any
    true claim.
    """

    claims: int
    tests: int
    pooled: float
    discovered: tuple[str, ...]

    @property
    def wrongly(self) -> float:
        return min(self.tests / REFUTES, 1.0)


def combined_evalue(verdicts: Iterable[Verdict]) -> CombinedEvalue | None:
    """The e-values behind the verdicts; None if no sampled run gave one."""
    values = {}
    for verdict in verdicts:
        own = [float(row["e_value"]) for row in verdict.details.get("sampled", ()) if row["decides"] and row.get("tested")]
        if own:
            values[verdict.id] = own
    if not values:
        return None
    means, ids = [pooled(own) for own in values.values()], list(values)
    found = tuple(ids[number] for number in discoveries(means, RATE))
    return CombinedEvalue(len(ids), sum(map(len, values.values())), pooled(means), found)
