"""The command ``fedtheory export``."""

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["export"]


def export(
    coq: Annotated[Path | None, typer.Option("--coq", metavar="FILE", help="A proof to write for Coq 8.16.")] = None,
    lean: Annotated[Path | None, typer.Option("--lean", metavar="FILE", help="A proof to write for Lean 4 with Mathlib; no "
                                              "test runs Lean.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="The file to write; without it the text is printed.")] = None,
) -> int:
    """Write a proof as theorems for a proof assistant, whose kernel then checks the arithmetic anew.

    FILE is a proof as `fedtheory worst CLAIM --out FILE` writes it. For each of its inequalities there is a theorem over the
    real numbers: from the facts that the proof uses, each a named hypothesis, follows the statement at the proof's numbers.
    `coqc` accepts the text, and its last command lists the axioms, those of Coq's real numbers. That the facts hold for
    every run is not stated there; `fedtheory check FILE` checks that.

    Exit status: 0 written; 2 bad input, no proof of these formats, or one that the checker rejects.
    """
    given = {language: file for language, file in (("coq", coq), ("lean", lean)) if file is not None}
    if len(given) != 1:
        raise ValueError(f"give one of --coq FILE and --lean FILE; got {' and '.join(given) or 'none'}")

    from verify.exact.alone import read
    from verify.export.export import export as text_for

    (language, file), = given.items()
    certificate = read(file)
    text = text_for(certificate, language)
    if out is None:
        print(text, end="")
    else:
        out.write_text(text, encoding="utf-8")
        print(f"wrote {out}")
    return 0
