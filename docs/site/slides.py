"""Live notebooks as pages without Python: a picture for every place of the sliders, and the page that lists them."""

import hashlib

from docs.site.gallery import ROOT, code_digest
from docs.site.gathered import Pages
from verify.demos.catalogue import Demo, demos
from verify.demos.slides import page

__all__ = ["EXTRA", "SHOWN", "write"]

EXTRA = "extra"  #: folder of what Sphinx copies as it is
SHOWN = ("client-drift", "sampling-variance", "worst-function")  #: demos with a page


def write(pages: Pages) -> None:
    """A page for each demo of ``SHOWN``, and the list of all. An earlier page stands while its code is the same."""
    lines = ["# Live notebooks", "",
             "One idea each: a picture, its sliders, three questions. `pip install \"fedtheory[demos]\"`, then `fedtheory "
             "demo NAME` opens one in the browser, with `--edit` its code. `--slides FILE.html` writes it as a page that "
             f"needs no Python; {len(SHOWN)} of these pages are here.", ""]
    for name, demo in demos().items():
        title, _, idea = demo.idea.partition(": ")
        lines += [f"## {title}", "", f"`fedtheory demo {name}`: {idea}", ""]
        if name in SHOWN:
            pages.write(f"{EXTRA}/slides/{name}.html", _kept(demo))
            lines += [f'<a href="{name}.html">Drag the sliders</a>', ""]
    pages.write("slides/index.md", "\n".join(lines))


def _kept(demo: Demo) -> bytes:
    digest = hashlib.sha256(f"{code_digest()} {demo.path.read_text(encoding='utf-8')}".encode()).hexdigest()
    kept = ROOT / "build" / "site-figures" / f"{digest}.html"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(page(demo), encoding="utf-8")
    return kept.read_bytes()
