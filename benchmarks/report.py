"""Tables for the terminal, and the same as JSON."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
from pathlib import Path

from rich.console import Console
from rich.table import Table

__all__ = ["machine", "show", "write"]

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
