"""The command about where proofs lose: ``fedtheory looseness``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from verify.cli.shared import choose_claim

__all__ = ["add_commands"]


def add_commands(app: typer.Typer) -> None:
    """Register the command."""
    app.command()(looseness)


def looseness(
    theorem: Annotated[str, typer.Argument(help="A claim that lists the steps of its proof.")],
    budget: Annotated[str, typer.Option(help="How hard to look for the tightest instance: quick, standard, thorough.")] = (
        "quick"),
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    out: Annotated[Path | None, typer.Option(help="A figure: .png, .svg or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Data instead of a table.")] = False,
) -> int:
    """Where a theorem's proof loses: the factor of each step, on its tightest and on a typical instance."""
    from dataclasses import asdict

    from verify.cli import console
    from verify.proofs.looseness import waterfall
    from verify.results.drawing import FORMATS, save

    if out is not None and out.suffix.lstrip(".") not in FORMATS:
        raise ValueError(f"--out must end in {', '.join('.' + f for f in FORMATS)}; got {out}")
    found = waterfall(choose_claim(theorem).id, budget, seed)
    if as_json:
        print(json.dumps({"theorem": asdict(found.theorem), "steps": [asdict(step) for step in found.steps]}, indent=1))
    else:
        rows = [(link.id, link.number, _text(link.worst), _text(link.typical), link.reason)
                for link in (*found.steps, found.theorem)]
        head = ("step", "number", "right/left, tightest", "typical", "not measured because")
        console.out().print(console.names_table(head, rows))
    if out is not None:
        from verify.proofs.looseness_figure import waterfall_figure

        save(waterfall_figure(found), out.with_suffix(""), [out.suffix.lstrip(".")])
        console.out().print(f"wrote {out}")
    return 0


def _text(factor: float | None) -> str:
    return "" if factor is None else f"{factor:.4g}"
