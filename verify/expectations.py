"""What the e-values of many claims say together, and how probable a wrong refutation among them is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from verify.eprocess import REFUTES, discoveries, pooled
from verify.numerals import significant
from verify.verdict import Verdict

__all__ = ["RATE", "Together", "together"]

RATE = 0.05  #: expected share of false ones among what is refuted together


@dataclass(frozen=True)
class Together:
    """``tests``: how many e-values, of ``claims`` claims (one's is the mean of its e-values); ``pooled``, one e-value
    against all of these being true; ``discovered``, those refuted together at the false discovery rate :data:`RATE`."""

    claims: int
    tests: int
    pooled: float
    discovered: tuple[str, ...]

    @property
    def wrongly(self) -> float:
        """Bound on the probability that any claim is refuted by its e-values though it is true: one for every test."""
        return min(self.tests / REFUTES, 1.0)

    @property
    def words(self) -> str:
        """A sentence or two."""
        found = ", ".join(self.discovered) or "none is"
        claims, tests = (f"{n} {word}{'s' * (n != 1)}" for n, word in ((self.claims, "claim"), (self.tests, "e-value")))
        return (f"Expectations of {claims} were tested on sampled runs by {tests}, each of which refutes beyond "
                f"{significant(REFUTES)}: however often one looks, that any true claim is refuted so has a probability of "
                f"at most {significant(self.wrongly)}. The e-value against all of them being true together is "
                f"{significant(self.pooled)}; refuted at a false discovery rate of {RATE:.0%}: {found}.")


def together(verdicts: Iterable[Verdict]) -> Together | None:
    """The e-values of all sampled runs that the verdicts rest on; None if there are none."""
    values = {}
    for verdict in verdicts:
        rows = verdict.details.get("sampled", [])
        own = [float(row["e_value"]) for row in rows if row["decides"] and "no e-value" not in row["reason"]]
        if own:
            values[verdict.id] = own
    if not values:
        return None
    means, ids = [pooled(own) for own in values.values()], list(values)
    found = tuple(ids[number] for number in discoveries(means, RATE))
    return Together(len(ids), sum(map(len, values.values())), pooled(means), found)
