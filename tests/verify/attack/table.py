"""What an attack finds, by kind of mutant: how many were judged and accepted, what a second opinion says, and all faults."""

import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from synthetic.numbers.balls import Undecided

__all__ = ["LONGEST", "NoOpinion", "Row", "Table"]

LONGEST = 20.0  # seconds of the processor that the judgement of a mutant may take


class NoOpinion(Exception):
    """Nothing independent can say whether an accepted mutant is right."""


@dataclass
class Row:
    """Counts of mutants of one kind; seconds of the processor that the slowest judgement, and all with opinions, took."""

    judged: int = 0
    accepted: int = 0
    agreed: int = 0
    no_opinion: int = 0
    wrong: int = 0
    raised: int = 0
    slowest: float = 0.0
    seconds: float = 0.0


class Table:
    """Rows by kind; ``faults`` holds what must not happen, as triples (kind, why, mutant)."""

    def __init__(self) -> None:
        self.rows: defaultdict[str, Row] = defaultdict(Row)
        self.faults: list[tuple[str, str, Any]] = []

    def judge(self, kind: str, mutant: Any, judgement: Callable[[], Any]) -> Any:
        """Returns the judgement of a mutant; None after an error, which is a fault as one that takes too long is."""
        row, began = self.rows[kind], time.process_time()
        row.judged += 1
        try:
            result = judgement()
        except Exception as error:  # a defect of ours, whatever it is
            row.raised += 1
            self.faults.append((kind, f"traceback: {type(error).__name__}: {error}", mutant))
            return None
        seconds = time.process_time() - began
        row.slowest, row.seconds = max(row.slowest, seconds), row.seconds + seconds
        if seconds > LONGEST:
            self.faults.append((kind, f"{seconds:.0f} seconds", mutant))
        return result

    def accept(self, kind: str, mutant: Any, opinion: Callable[[], bool], why: str = "") -> None:
        """Counts an accepted mutant; a fault if the second opinion is not that it is right.

        The opinion may raise NoOpinion or Undecided; any other error is a fault."""
        row, began = self.rows[kind], time.process_time()
        row.accepted += 1
        try:
            agrees, said = opinion(), "accepted, but the second opinion does not agree"
        except (NoOpinion, Undecided):
            row.no_opinion += 1
            return
        except Exception as error:
            agrees, said = False, f"accepted, and the second opinion raises {type(error).__name__}: {error}"
        finally:
            row.seconds += time.process_time() - began
        row.agreed += agrees
        row.wrong += not agrees
        if not agrees:
            self.faults.append((kind, f"{said} {why}".strip(), mutant))

    def total(self, count: str) -> int:
        """The sum of a count over all kinds."""
        return sum(getattr(row, count) for row in self.rows.values())

    def add(self, other: "Table") -> None:
        """Takes over the rows and faults of another table, which has other kinds."""
        assert not self.rows.keys() & other.rows.keys()
        self.rows |= dict(sorted(other.rows.items()))
        self.faults += other.faults

    def markdown(self) -> str:
        """The rows as a table in Markdown."""
        lines = ["| kind | judged | accepted | agreed | no second opinion | wrong | raised | slowest, s | all, s |",
                 "|---|" + "---:|" * 8]
        for kind, row in self.rows.items():
            counts = (row.judged, row.accepted, row.agreed, row.no_opinion, row.wrong, row.raised)
            lines.append(f"| {kind} | {' | '.join(map(str, counts))} | {row.slowest:.1f} | {row.seconds:.0f} |")
        counts = [self.total(name) for name in ("judged", "accepted", "agreed", "no_opinion", "wrong", "raised")]
        slowest = max((row.slowest for row in self.rows.values()), default=0.0)
        return "\n".join([*lines, f"| all | {' | '.join(map(str, counts))} | {slowest:.1f} | {self.total('seconds'):.0f} |"])
