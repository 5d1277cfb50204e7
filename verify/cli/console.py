"""Output in the terminal: tables of names, claims and verdicts, progress, and one-line errors."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Self

import rich.progress
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from verify.results.numerals import apart_from_one, significant, typeset
from verify.results.verdict import VERDICTS, Verdict

__all__ = [
    "MOST_ROWS", "Progress", "error", "names_table", "note", "out", "paper_table", "parts_done",
    "run_summary", "verdict_summary", "verdict_table", "working",
]

STYLES = {"refuted": "bold red", "ill-posed": "bold magenta", "certified": "green", "consistent": "cyan",
          "undecided": "dim"}
PIPED_WIDTH = 150  # characters, if the output is not a terminal
MOST_ROWS = 120  # claims in a table; more are counted by paper
REDRAW, PAUSE = 0.1, 10.0  # seconds between two moves of a bar, and between two lines
MANY = 100  # claims from which on progress is printed without a terminal too


def out() -> Console:
    """The console of standard output; wide if it is piped."""
    console = Console(file=sys.stdout, highlight=False)
    return console if console.is_terminal else Console(file=sys.stdout, highlight=False, width=PIPED_WIDTH)


def error(message: object) -> None:
    """Prints one line ``error: ...`` on standard error."""
    print("error:", " ".join(str(message).split()) or type(message).__name__, file=sys.stderr)


def note(message: object) -> None:
    """Prints one line ``note: ...`` on standard error."""
    print("note:", " ".join(str(message).split()), file=sys.stderr)


@contextmanager
def working(description: str) -> Iterator[Callable[[str], None]]:
    """Yields a function of what is done now, in words, which a terminal shows; elsewhere a line is printed now and then."""
    console, told = Console(file=sys.stderr), time.monotonic()

    def print_sometimes(words: str) -> None:
        nonlocal told
        if time.monotonic() - told >= PAUSE:
            told = time.monotonic()
            print(f"{description}: {words}", file=sys.stderr, flush=True)

    if not console.is_terminal:
        yield print_sometimes
        return
    with console.status(description) as status:
        yield lambda words: status.update(f"{description}: {words}")


@contextmanager
def parts_done(total: int, description: str, what: str = "rounds") -> Iterator[Callable[[int, int], None]]:
    """Yields a function of (done, total) that is called after every part of the work.

    It moves a bar, or without a terminal prints a line now and then.
    """
    console = Console(file=sys.stderr)
    counts = (SpinnerColumn(), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    bar = rich.progress.Progress(*counts, TextColumn("{task.description}"), console=console, transient=True,
                                 disable=not console.is_terminal)
    task, told = bar.add_task(description, total=total), time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if now - told < (REDRAW if console.is_terminal else PAUSE):
            return
        told = now
        bar.update(task, completed=done, total=total)
        if not console.is_terminal:
            print(f"{description}: {done} of {total} {what}", file=sys.stderr, flush=True)

    with bar:
        yield progress


class Progress:
    """The progress of the referee on standard error, a context manager: a bar with counts by verdict and the time left.

    Without a terminal it prints a line after every twentieth of the ``total`` claims, if there are many.
    """

    def __init__(self, total: int):
        self.total, self.done, self.counts = total, 0, Counter()
        console = Console(file=sys.stderr)
        self._terminal = console.is_terminal
        columns = (SpinnerColumn(), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"),
                   TimeRemainingColumn(elapsed_when_finished=True), TextColumn("{task.description}"))
        self._bar = rich.progress.Progress(*columns, console=console, transient=True, disable=not self._terminal,
                                           speed_estimate_period=600)
        self._task = self._bar.add_task("", total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_) -> None:
        self._bar.stop()

    def begin(self, found: Sequence[Verdict]) -> None:
        """Count the verdicts that are stored already; only the others take time."""
        self._count(found)
        self._bar.reset(self._task, total=self.total - len(found), description=self._text())
        if found:
            self._bar.console.print(f"{len(found)} of {self.total} claims are decided already")

    def add(self, verdict: Verdict) -> None:
        """Count a new verdict."""
        self._count([verdict])
        self._bar.update(self._task, advance=1, description=f"{self._text()}; {verdict.id}")
        step = max(1, self.total // 20)
        if not self._terminal and self.total >= MANY and self.done % step == 0:
            print(f"{self.done} of {self.total} claims: {self._text()}", file=sys.stderr, flush=True)

    def _count(self, verdicts: Iterable[Verdict]) -> None:
        for verdict in verdicts:
            self.done += 1
            self.counts[verdict.verdict] += 1

    def _text(self) -> str:
        return ", ".join(f"{self.counts[name]} {name}" for name in VERDICTS if self.counts[name])


def names_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table of text whose first column is never wrapped."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for number, title in enumerate(head):
        table.add_column(title, no_wrap=number == 0, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def verdict_table(verdicts: Iterable[Verdict]) -> Table:
    """A table of verdicts: claim, reading, verdict, worst ratio left/right, evidence; ids stay whole where there is room."""
    verdicts = list(verdicts)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    longest = max((len(part) for v in verdicts for part in _id_lines(v).split("\n")), default=0)
    table.add_column("claim", overflow="fold", no_wrap=3 * longest <= out().width)
    table.add_column("reading", overflow="fold", ratio=4)
    table.add_column("verdict", no_wrap=True)
    table.add_column("worst left/right", justify="right", no_wrap=True)
    table.add_column("evidence", overflow="fold", ratio=6)
    for v in verdicts:
        verdict = Text(v.verdict, style=STYLES[v.verdict])
        ratio = apart_from_one(v.ratio, 3) if v.verdict == "refuted" else significant(v.ratio)
        table.add_row(Text(_id_lines(v)), Text(v.reading), verdict, ratio, Text(v.evidence))
    return table


def paper_table(verdicts: Iterable[Verdict]) -> Table:
    """A table of the numbers of claims by paper and verdict."""
    papers: dict[str, Counter] = {}
    for verdict in verdicts:
        papers.setdefault(verdict.id.split("/")[0], Counter())[verdict.verdict] += 1
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("paper", no_wrap=True)
    for name in (*VERDICTS, "claims"):
        table.add_column(name, justify="right", style=STYLES.get(name, ""))
    for paper, counts in papers.items():
        table.add_row(paper, *(str(counts[name] or "") for name in VERDICTS), str(counts.total()))
    return table


def _id_lines(verdict: Verdict) -> str:
    return verdict.id.replace("@", "\n@")


def verdict_summary(verdicts: Iterable[Verdict]) -> Text:
    """The numbers of claims by verdict, in one line."""
    counts = Counter(v.verdict for v in verdicts)
    parts = [Text(f"{counts[name]} {name}", style=STYLES[name]) for name in VERDICTS if counts[name]]
    return Text(", ").join(parts) if parts else Text("no claim was decided")


def run_summary(trajectory) -> Table:
    """A table of the last round: the mean over runs with its 95 % band, and the runs that diverged."""
    from verify.results.figures import mean_and_band

    title = f"{trajectory.description}, {trajectory.runs} runs, {trajectory.rounds} rounds"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", caption_justify="left")
    for head in ("quantity", "unit", "at the start", "at the end", "95 % band"):
        table.add_column(head)
    for name in ("suboptimality", "distance_sq", "held_out_loss", "held_out_accuracy"):
        if name in trajectory.dataset:
            column = trajectory.dataset[name].transpose("run", "round")
            mean, low, high = mean_and_band(column.values)
            band = f"{significant(low[-1])} to {significant(high[-1])}" if low[-1] == low[-1] else "–"
            unit = typeset(column.attrs.get("units", ""))
            table.add_row(name, unit, significant(mean[0]), significant(mean[-1]), band)
    if diverged := trajectory.diverged:
        few = [f"seed {trajectory.seeds[run]} after round {number}" for run, number in list(diverged.items())[:5]]
        more = ", ..." if len(diverged) > len(few) else ""
        table.caption = f"{len(diverged)} of {trajectory.runs} runs diverged: {', '.join(few)}{more}"
    return table
