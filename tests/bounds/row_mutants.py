"""Counts how many mutants of the registered claims the rows of the papers notice: ``make row-mutants``.

Every claim is changed in one place at a time (``tests.bounds.mutations``). The comparison of the mutant with the row of the
claim (``tests.bounds.rows.compare``) must fail; where the claim itself does not agree with its row, or has none, none of its
mutants counts as noticed. The table is ``benchmarks/row_mutants.md``.
"""

import argparse
import random
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from bounds.registry.papers import PAPERS, claims_of_paper, quantities_of_paper
from tests.bounds.claim_values import reading_of
from tests.bounds.mutations import KINDS, changes_of, mutants_of
from tests.bounds.rows import (
    Worlds,
    compare_definition,
    compare_hypotheses,
    compare_statement,
    compare_variables,
    row_of,
)

__all__ = ["agrees", "counts_of", "main"]

PARTS = {"statement": compare_statement, "hypotheses": compare_hypotheses, "variables": compare_variables}


def agrees(rows, claim, part: str, worlds: Worlds) -> bool:
    """Whether a part of a claim agrees with the row; a formula without a value in the world does not."""
    try:
        return PARTS[part](rows, claim, worlds, row_of(rows, claim)) is not False
    except Exception:
        return False


def definition_agrees(rows, definition) -> bool:
    """Whether a definition is the paper's."""
    try:
        compare_definition(rows, definition)
    except Exception:
        return False
    return True


def counts_of(paper: str, every: int = 1, seed: int = 0) -> tuple[Counter, Counter, list[str]]:
    """Mutants of a paper's claims, by kind: how many there are, how many are noticed, and those that are not.

    ``every``: about one in so many is tried, drawn with ``seed``.
    """
    rows, rng = import_module(f"tests.bounds.papers.{paper}_rows"), random.Random(seed)
    claims = [claim for claim in claims_of_paper(paper).values() if not claim.compares]
    others = tuple(dict.fromkeys(h for claim in claims for h in (*claim.assumptions, *claim.conditions)))
    tried, found, missed, known = Counter(), Counter(), [], set()

    def count(kind, text, compared, check):
        """``compared``: the claim itself agrees; where it does not, nothing is noticed."""
        tried[kind] += 1
        if compared and not check():
            found[kind] += 1
        else:
            missed.append(text)

    for claim in claims:
        worlds = Worlds(rows, reading_of(claim), claim.definitions)
        compared = {part: agrees(rows, claim, part, worlds) for part in PARTS if part != "statement" or claim.statement}
        for mutant in mutants_of(claim, others, known):
            if rng.randrange(every) == 0:
                count(mutant.kind, str(mutant), compared[mutant.part],
                      lambda m=mutant, w=worlds: agrees(rows, m.claim, m.part, w))
    for name in sorted({name for claim in claims for name in claim.used_definitions()} if hasattr(rows, "MEANINGS") else ()):
        definition = quantities_of_paper(paper)[name]
        compared = definition_agrees(rows, definition)
        for kind, text, formula in changes_of(definition.formula):
            if rng.randrange(every) == 0:
                count(kind, f"{name}: {kind}: {text}", compared,
                      lambda d=definition, f=formula: definition_agrees(rows, replace(d, formula=f)))
    return tried, found, missed


def _line(name, tried, found) -> str:
    cells = [f"{found[kind]}/{tried[kind]}" if tried[kind] else "" for kind in KINDS]
    return f"| {' | '.join([name, *cells, f'{found.total()}/{tried.total()}', f'{_share(tried, found):.2f} %'])} |"


def _share(tried, found) -> float:
    return 100 * found.total() / tried.total() if tried else 100.0


HEAD = """# Mutants of claims that the rows of the papers notice

Every registered claim is changed in one place at a time, and compared with what `tests/bounds/papers/` says of it in plain
Python, from the paper's text. `make row-mutants` makes this table anew; a column counts noticed/all mutants of one kind.

"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("papers", nargs="*", metavar="PAPER",
                        help=f"papers, of {', '.join(PAPERS)}; all of them. The rows of other papers in --out are kept")
    parser.add_argument("--every", type=int, default=1, help="try about one mutant in EVERY")
    parser.add_argument("--missed", type=int, default=0, help="print so many of those that are not noticed")
    parser.add_argument("--out", type=Path, help="a file for the table")
    options = parser.parse_args()
    unknown = set(options.papers) - set(PAPERS)
    if unknown:
        parser.error(f"no such paper: {', '.join(sorted(unknown))}; there are {', '.join(PAPERS)}")
    rows = _kept(options.out) if options.papers and options.out else {}
    for paper in options.papers or PAPERS:
        tried, found, missed = counts_of(paper, options.every)
        rows[paper] = tried, found
        print(_line(paper, tried, found), *missed[: options.missed], sep="\n", flush=True)
        if options.out:
            options.out.write_text(HEAD + _table(rows), encoding="utf-8")
    print(_table(rows))


def _table(rows) -> str:
    """Rows as a table in Markdown, and the sum of all."""
    lines = [_line(paper, *rows[paper]) for paper in PAPERS if paper in rows]
    tried, found = (sum((row[n] for row in rows.values()), Counter()) for n in (0, 1))
    head = [f"| paper | {' | '.join(KINDS)} | all | noticed |", "|---|" + "---|" * (len(KINDS) + 2)]
    return "\n".join([*head, *lines, _line("all", tried, found)]) + "\n"


def _kept(path: Path):
    """The rows of papers in a file that this program wrote."""
    rows = {}
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        if name in PAPERS:
            counts = [cell.split("/") if cell else ("0", "0") for cell in cells[: len(KINDS)]]
            pairs = dict(zip(KINDS, counts, strict=True))
            rows[name] = tuple(Counter({kind: int(pair[n]) for kind, pair in pairs.items()}) for n in (1, 0))
    return rows



if __name__ == "__main__":
    main()
