"""Writes the documentation's pages: the methods, and the letters and claims of every paper.

``python -m verify.report.pages DIRECTORY [PAPER ...]`` writes DIRECTORY/algorithms.md and DIRECTORY/papers/<paper>.md.
"""

import sys
from pathlib import Path

from bounds.printing.pages import page
from bounds.registry.papers import PAPERS
from fedtheory import pages as methods
from fedtheory.registry import find_algorithm

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Write the page of methods, and the page of every paper or of those named, into the directory given first."""
    papers = arguments[1:] or PAPERS
    if not arguments or set(papers) - set(PAPERS):
        print(f"usage: python -m verify.report.pages DIRECTORY [PAPER ...]; papers: {', '.join(PAPERS)}", file=sys.stderr)
        return 2
    directory = Path(arguments[0])
    (directory / "papers").mkdir(parents=True, exist_ok=True)
    (directory / "algorithms.md").write_text(methods.page(), encoding="utf-8")
    for paper in papers:
        (directory / "papers" / f"{paper}.md").write_text(page(paper, find_algorithm), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
