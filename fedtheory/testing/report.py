"""Results of the suite, one per property, as a table, with the smallest federation on which a property fails."""

import sys
from dataclasses import dataclass
from io import StringIO
from typing import Self

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fedtheory.testing.federations import Case
from synthetic.base.display import RichDisplay, table

__all__ = ["FAILED", "NOT_APPLICABLE", "PASSED", "Report", "Result", "show"]

PASSED, FAILED, NOT_APPLICABLE = "passed", "failed", "not applicable"
STYLES = {PASSED: "green", FAILED: "bold red", NOT_APPLICABLE: "dim"}


@dataclass(frozen=True)
class Result:
    """A property's outcome: ``passed``, ``failed`` or ``not applicable``.

    ``reason`` says why it does not apply, or what differs; ``expected`` and ``got`` are the numbers that differ, on
    ``case``, the smallest failing federation found.
    """

    name: str
    meaning: str
    outcome: str
    reason: str = ""
    expected: str = ""
    got: str = ""
    case: Case | None = None

    def __str__(self) -> str:
        if self.outcome != FAILED:
            return f"{self.name}: {self.outcome}" + (f" ({self.reason})" if self.reason else "")
        numbers = f"expected {self.expected}, got {self.got}" if self.expected or self.got else ""
        return f"{self.name}: failed; {self.meaning}\n" + "\n".join(
            f"  {line}" for line in (self.reason, numbers, f"on {self.case}") if line)


@dataclass(frozen=True)
class Report(RichDisplay):
    """All results for one method. Prints as a table; ``raise_if_failed`` for use in a test."""

    name: str
    results: tuple[Result, ...]

    def _summary(self) -> str:
        return f"{self.name}: {self.summary}"

    def _repr_html_(self) -> str:
        rows = ((result.name, result.outcome, "" if result.outcome == PASSED else str(result)) for result in self.results)
        return table(rows, ("property", "result", "detail"))

    def __getitem__(self, name: str) -> Result:
        """The result of the property of that name; KeyError with the known names."""
        found = {result.name: result for result in self.results}
        if name not in found:
            raise KeyError(f"no property {name!r}; known: {', '.join(found)}")
        return found[name]

    def those(self, outcome: str) -> tuple[Result, ...]:
        """Results with that outcome."""
        return tuple(result for result in self.results if result.outcome == outcome)

    @property
    def failed(self) -> tuple[Result, ...]:
        return self.those(FAILED)

    @property
    def ok(self) -> bool:
        return not self.failed

    def raise_if_failed(self) -> Self:
        """This report, or an AssertionError that names every failed property with its federation."""
        if self.failed:
            raise AssertionError(self.failures)
        return self

    @property
    def failures(self) -> str:
        """Every failed property with its federation."""
        return f"{self.name}: {self.summary}\n" + "\n".join(map(str, self.failed))

    @property
    def summary(self) -> str:
        """The numbers of properties that passed, failed and do not apply."""
        return ", ".join(f"{len(self.those(outcome))} {outcome}" for outcome in STYLES)

    def __rich__(self) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"{self.name}: {self.summary}", title_justify="left")
        for title in ("property", "result", "detail"):
            table.add_column(title, overflow="fold")
        for result in self.results:
            detail = result.reason
            if result.outcome == FAILED:
                detail = "\n".join(str(result).split("\n")[1:]).replace("\n  ", "\n").strip()
            table.add_row(result.name, Text(result.outcome, STYLES[result.outcome]), Text(detail))
        return table

    def __str__(self) -> str:
        out = StringIO()
        Console(file=out, width=125, highlight=False, color_system=None).print(self)
        return "\n".join(line.rstrip() for line in out.getvalue().splitlines())

    def print(self) -> None:
        """The table on standard output, in colour where it is a terminal."""
        show(self)


def show(*things, width: int = 125) -> None:
    """Prints on standard output, ``width`` characters wide where it is no terminal."""
    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        console = Console(file=sys.stdout, highlight=False, width=width)
    console.print(*things, sep="\n")
