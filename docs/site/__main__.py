"""Builds the site into ``build/site``: ``python -m docs.site [--run REPORT]``.

Sources are gathered in ``build/site-source``: the pages of ``docs/`` as they are, and those that are made. Only files that
changed are written, so that a second build is quick. Warnings, broken links and what comes from a network are errors.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from docs.site import api, gallery, gathered, links, methods, papers, slides, template

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Gather the sources and run Sphinx on them; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m docs.site", description="Build the site into build/site.")
    parser.add_argument("--run", type=Path, help="folder of a report whose verdicts the pages show; default: the stored run")
    parser.add_argument("--gather", action="store_true", help="write the sources only")
    arguments = parser.parse_args()
    source, out = ROOT / "build" / "site-source", ROOT / "build" / "site"
    run = papers.report(arguments.run) if arguments.run else papers.stored()
    pages = gathered.Pages(source)
    gathered.written_by_hand(pages, ROOT / "docs")
    methods.write(pages, run)
    papers.write(pages, run)
    gallery.write(pages)
    template.write(pages)
    slides.write(pages)
    api.write(pages)
    pages.remove_others()
    if arguments.gather:
        return 0
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-j", "2",
               "-d", str(ROOT / "build" / "site-doctrees"), "-c", str(ROOT / "docs" / "site"), str(source), str(out)]
    status = subprocess.run(command, cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}).returncode
    wrong = links.wrong(out)
    print("\n".join(wrong), file=sys.stderr, end="\n" * bool(wrong))
    return status or bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
