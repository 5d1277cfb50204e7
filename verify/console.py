"""What the terminal shows: tables of names, claims and verdicts, progress, and one-line errors."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from verify.numerals import significant, typeset
from verify.verdict import VERDICTS, Verdict

__all__ = ["error", "names_table", "out", "progress", "run_summary", "verdict_summary", "verdict_table"]

STYLES = {"refuted": "bold red", "ill-posed": "bold magenta", "certified": "green", "consistent": "cyan",
          "undecided": "dim"}
PIPED_WIDTH = 150  # columns where the output is not a terminal


def out() -> Console:
    """The console of standard output; wide where it is piped."""
    console = Console(file=sys.stdout, highlight=False)
    return console if console.is_terminal else Console(file=sys.stdout, highlight=False, width=PIPED_WIDTH)


def error(message: object) -> None:
    """One line ``error: ...`` on standard error."""
    print("error:", " ".join(str(message).split()) or type(message).__name__, file=sys.stderr)


def progress(total: int, description: str):
    """A progress bar on standard error, where that is a terminal, and its task."""
    console = Console(file=sys.stderr)
    counts = (SpinnerColumn(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*counts, TextColumn("{task.description}"), console=console, transient=True,
                   disable=not console.is_terminal)
    return bar, bar.add_task(description, total=total)


def names_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A plain table of text whose first column is never cut."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, title in enumerate(head):
        table.add_column(title, no_wrap=number == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def verdict_table(verdicts: Iterable[Verdict]) -> Table:
    """Claim, reading, verdict, worst ratio left/right, evidence."""
    verdicts = list(verdicts)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    longest = max((len(part) for v in verdicts for part in _id_lines(v).split("\n")), default=0)
    table.add_column("claim", overflow="fold", min_width=min(longest, 40))
    table.add_column("reading", overflow="fold", ratio=4)
    table.add_column("verdict", no_wrap=True)
    table.add_column("worst left/right", justify="right", no_wrap=True)
    table.add_column("evidence", overflow="fold", ratio=6)
    for v in verdicts:
        verdict = Text(v.verdict, style=STYLES[v.verdict])
        table.add_row(Text(_id_lines(v)), Text(v.reading), verdict, significant(v.ratio), Text(v.evidence))
    return table


def _id_lines(verdict: Verdict) -> str:
    return verdict.id.replace("@", "\n@")


def verdict_summary(verdicts: Iterable[Verdict]) -> Text:
    """How many claims got which verdict, in one line."""
    counts = Counter(v.verdict for v in verdicts)
    parts = [Text(f"{counts[name]} {name}", style=STYLES[name]) for name in VERDICTS if counts[name]]
    return Text(", ").join(parts) if parts else Text("no claim was decided")


def run_summary(trajectory) -> Table:
    """Where the runs ended: mean over runs with its 95 % band, and how many diverged."""
    from verify.figures import mean_and_band

    title = f"{trajectory.description}, {trajectory.runs} runs, {trajectory.rounds} rounds"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", caption_justify="left")
    for head in ("quantity", "unit", "at the start", "at the end", "95 % band"):
        table.add_column(head)
    for name in ("suboptimality", "distance_sq"):
        if name in trajectory.dataset:
            column = trajectory.dataset[name].transpose("run", "round")
            mean, low, high = mean_and_band(column.values)
            band = f"{significant(low[-1])} to {significant(high[-1])}" if low[-1] == low[-1] else "–"
            unit = typeset(column.attrs.get("units", ""))
            table.add_row(name, unit, significant(mean[0]), significant(mean[-1]), band)
    diverged = int((trajectory.dataset["diverged"] >= 0).sum())
    table.caption = f"{diverged} of {trajectory.runs} runs diverged" if diverged else None
    return table
