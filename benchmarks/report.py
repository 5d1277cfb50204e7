"""Results as tables for the terminal, as JSON, and as the table of times of a page."""

import datetime
import importlib.metadata
import json
import os
import platform
from pathlib import Path

from rich.console import Console
from rich.table import Table

__all__ = ["BEGIN", "END", "machine", "put", "show", "table", "write"]

PACKAGES = ("fedtheory", "torch", "numpy", "jax", "jaxlib", "fedjax")


def machine(threads: int) -> dict:
    """What the numbers depend on besides the code."""
    versions = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    now = datetime.datetime.now(datetime.UTC)
    return {"date": now.isoformat(timespec="seconds"), "cpu": _cpu_model(), "cores": os.cpu_count(),
            "threads": threads, "versions": versions}


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def show(results: dict) -> None:
    """Print rows and targets."""
    console = Console()
    about, workload = results["machine"], results["workload"]
    sizes = ", ".join(f"{name} {value}" for name, value in workload.items())
    console.print(f"\n{about['cpu']}, {about['threads']} thread(s); {sizes}")
    rows = Table("implementation", "type", title="Reference workload: medians of runs in turns")
    for column in ("CPU ms", "wall ms", "GFLOP/s", "first call s", "error"):
        rows.add_column(column, justify="right")
    for row in results["rows"]:
        numbers = (f"{1e3 * row['cpu']:.3g}", f"{1e3 * row['wall']:.3g}", f"{row['gflops']:.3g}", f"{row['first']:.2g}",
                   "" if row["error"] is None else f"{row['error']:.0e}")
        rows.add_row(row["name"], row["dtype"], *numbers)
    if results["rows"]:
        console.print(rows)
    for name, reason in results["skipped"].items():
        console.print(f"left out: {name}, {reason}", highlight=False, markup=False)
    targets = Table("target", title="Targets, and what else is good to know")
    for column in ("at most", "measured"):
        targets.add_column(column, justify="right")
    targets.add_column("")
    targets.add_column("from")
    for target in results["targets"]:
        mark = {True: "[green]met", False: "[red]missed", None: ""}[target["met"]]
        unit = f" {target['unit']}" if target["unit"] else ""
        limit = "" if target["limit"] is None else f"{target['limit']:.3g}{unit}"
        targets.add_row(target["name"], limit, f"{target['value']:.3g}", mark, target["detail"])
    if results["targets"]:
        console.print(targets)


def write(results: dict, path: Path) -> None:
    """The same as JSON."""
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


# the page ------------------------------------------------------------------------------------------------------------------
BEGIN, END = "<!-- written by make bench -->\n", "<!-- until here -->\n"
BOTH = ("float32", "float64")

#: what the page calls a row
ROWS = {
    "C, one pass over the data": "C kernel written for this workload",
    "fedtheory, compiled": "fedtheory, local steps compiled",
    "JAX, jit(scan(vmap(grad)))": "JAX, jit(scan(vmap(grad)))",
    "fedtheory, step by step": "fedtheory, step by step (no compiler needed)",
    "FedJAX": "FedJAX",
    "torch, nn.Module and SGD per client": "torch, one nn.Module and SGD per client",
    "torch, nn.Module, SGD and DataLoader per client": "the same with a DataLoader per client",
    "fedtheory.run, path auto": "`fedtheory.run` as it is, default record (quadratic: one affine map a round)",
    "fedtheory, averaged affine map": "that map alone, nothing recorded",
}
#: what the page calls a target's number, and how it is written
NUMBERS = {
    "SCAFFOLD / FedAvg, compiled": ("SCAFFOLD over FedAvg, both compiled", "{:.2f}"),
    "32 starts that share data / one by one, path auto": ("one of 32 starts that share data, over one alone", "{:.2f}"),
    "recording by default, step by step": ("what the default record adds, step by step", "{:.1%}"),
    "recording by default, compiled": ("what the default record adds, compiled", "{:.1%}"),
}


def _time(seconds: float) -> str:
    milliseconds = 1e3 * seconds
    if milliseconds >= 1000:
        return f"{milliseconds / 1e3:.3g} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10 else f"{milliseconds:.2g} ms"


def _line(label: str, cells: list[str]) -> str | None:
    return None if set(cells) == {"-"} else f"| {label} | {' | '.join(cells)} |"


def table(results: dict) -> str:
    """The lines between the marks: a table, the first calls, and what was missed."""
    about, clock = results["machine"], "cpu" if results["machine"]["threads"] == 1 else "wall"
    times = {(row["name"], row["dtype"]): row for row in results["rows"]}
    values = {target["name"]: target for target in results["targets"]}
    lines = ["| | float32 | float64 |", "|---|---|---|"]
    for name, label in ROWS.items():
        lines.append(_line(label, [_time(times[name, d][clock]) if (name, d) in times else "-" for d in BOTH]))
    for name, (label, form) in NUMBERS.items():
        found = [values.get(f"{name}, {d}") for d in BOTH]
        lines.append(_line(label, ["-" if one is None else form.format(one["value"]) for one in found]))
    day = datetime.datetime.fromisoformat(about["date"]).date()
    torch, threads = about["versions"].get("torch", "?"), about["threads"]
    time = "processor time" if clock == "cpu" else "time"
    lines += ["", f"Measured on {day}: {time} on {threads} thread{'s' * (threads > 1)} of {about['cpu']}, torch {torch}."]
    if firsts := [times[key]["first"] for key in times if key[0] == "fedtheory.run, path auto"]:
        lines.append(f"The first call of `fedtheory.run`, which also makes the map, took {max(firsts):.2g} s.")
    missed = [f"{t['name']} ({t['value']:.3g}, at most {t['limit']:.3g})" for t in results["targets"] if t["met"] is False]
    met = sum(t["met"] is True for t in results["targets"])
    lines.append(f"Targets met: {met} of {met + len(missed)}." + (f" Missed: {'; '.join(missed)}." if missed else ""))
    return "\n".join(line for line in lines if line is not None) + "\n"


def put(results: dict, path: Path) -> None:
    """Replace what stands between the marks in the file. Raises ValueError where the marks are missing."""
    text = path.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        raise ValueError(f"{path} must have the lines {BEGIN.strip()!r} and {END.strip()!r} once each")
    before, rest = text.split(BEGIN)
    path.write_text(before + BEGIN + table(results) + END + rest.split(END)[1], encoding="utf-8")
