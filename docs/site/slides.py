"""Live notebooks as pages without Python: a picture for every place of the sliders, and the page that lists them."""

import hashlib
import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from docs.site.gallery import ROOT, code_digest
from docs.site.gathered import Pages
from verify.demos.catalogue import Demo, demos, module_of
from verify.demos.controls import Text
from verify.demos.slides import page

__all__ = ["EXTRA", "PICTURES", "write"]

EXTRA = "extra"  #: folder of what Sphinx copies as it is
PICTURES = 81  #: of a page, at most: about two megabytes, and half a minute to a minute of one core
_WAY = '<p><a href="index.html">Live notebooks</a></p>\n'


def write(pages: Pages) -> None:
    """A page for each demo, and the list of all. An earlier page stands while its code is the same."""
    known = demos()
    lines = ["# Live notebooks", "",
             "One idea each: a picture, its sliders, three questions. `pip install \"fedtheory[demos]\"`, then "
             "`fedtheory demo NAME` opens one in the browser, with `--edit` its code. The pages here need no Python: their "
             f"sliders have fewer places, at most {PICTURES} pictures a page, made beforehand by the notebook's code. "
             "`--slides FILE.html` writes such a page with more.", ""]
    texts = _pages(list(known.values()))
    for name, demo in known.items():
        title, _, idea = demo.idea.partition(": ")
        pages.write(f"{EXTRA}/slides/{name}.html", texts[name])
        typed = any(isinstance(control, Text) for control in module_of(demo).CONTROLS.values())
        said = " (what you type needs the live notebook)" if typed else ""
        lines += [f"## {title}", "", f"`fedtheory demo {name}`: {idea}", "",
                  f'<a href="{name}.html">Drag the sliders</a>{said}', ""]
    pages.write("slides/index.md", "\n".join(lines))


def _pages(chosen: Sequence[Demo]) -> Mapping[str, bytes]:
    """The page of each demo by name; those that are not there yet are made on two cores."""
    missing = [demo for demo in chosen if not _kept(demo).exists()]
    if missing:
        with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
            list(pool.map(_make, missing))
    return {demo.name: _kept(demo).read_bytes() for demo in chosen}


def _make(demo: Demo) -> None:
    path, text = _kept(demo), page(demo, PICTURES, way=_WAY)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _kept(demo: Demo) -> Path:
    """Where its page is kept; another place for other code."""
    text = f"{code_digest()} {PICTURES} {_WAY} {demo.path.read_text(encoding='utf-8')}"
    return ROOT / "build" / "site-figures" / f"{hashlib.sha256(text.encode()).hexdigest()}.html"
