"""Figures made by scripts that the pages show in full. A script writes one SVG into the directory where it runs."""

import ast
import hashlib
import os
import tempfile
import warnings
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path

import matplotlib

from docs.site.gathered import Pages

__all__ = ["ROOT", "SCRIPTS", "code_digest", "draw", "drawn", "write"]

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "docs" / "gallery"


def write(pages: Pages) -> None:
    """A page for every script of the gallery, and the page that shows all of them."""
    entries = []
    for path in sorted(SCRIPTS.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        title, _, rest = (ast.get_docstring(ast.parse(text)) or "").partition("\n\n")
        name, title = path.stem, title.rstrip(".")
        draw(pages, f"gallery/{name}.svg", text)
        pages.write(f"gallery/{name}.md", "\n".join([
            f"# {title}", "", rest, "", f"![{title}]({name}.svg){{.figure}}", "",
            f"The whole script, `docs/gallery/{path.name}`:", "", "```python", text.rstrip(), "```", ""]))
        entries.append((name, title))
    shown = [line for name, title in entries for line in (
        ":::{container}", f"[![{title}]({name}.svg){{.figure}}]({name}.md)", "", f"[{title}]({name}.md)", ":::", "")]
    pages.write("gallery/index.md", "\n".join([
        "# Gallery", "", f"{len(entries)} figures. Each page has the whole script; the build of this site ran it.", "",
        "::::{container} gallery", *shown, "::::", "",
        "```{toctree}", ":hidden:", "", *(name for name, _ in entries), "```", ""]))


def draw(pages: Pages, name: str, script: str) -> None:
    """The figure ``name`` of the site, from a script; an earlier one stands while script and code are the same.

    Raises:
        RuntimeError: the script fails or warns, or does not write one SVG.
    """
    digest = hashlib.sha256(f"{code_digest()} {script}".encode()).hexdigest()
    kept = ROOT / "build" / "site-figures" / f"{digest}.svg"
    if not kept.exists():
        try:
            figure = drawn(script)
        except Exception as error:
            raise RuntimeError(f"the script of {name} fails: {type(error).__name__}: {error}") from error
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(figure)
    pages.write(name, kept.read_bytes())


def drawn(script: str) -> bytes:
    """Run a script in an empty directory, with warnings as errors, and return the one SVG that it wrote.

    Raises:
        ValueError: it wrote none or several.
    """
    matplotlib.use("agg")
    from matplotlib import pyplot

    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, matplotlib.rc_context({"svg.hashsalt": "fedtheory"}), \
            warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "Creating legend", UserWarning)  # says that the machine is busy
        os.chdir(folder)
        try:
            exec(compile(script, "script", "exec"), {"__name__": "__main__"})
        finally:
            os.chdir(here)
            pyplot.close("all")
        found = sorted(Path(folder).glob("*.svg"))
        if len(found) != 1:
            raise ValueError(f"a script must write one SVG; got {[path.name for path in found]}")
        return found[0].read_bytes()


@cache
def code_digest() -> str:
    """A digest of the four packages and of the version of matplotlib."""
    digest = hashlib.sha256(matplotlib.__version__.encode())
    for package in ("bounds", "fedtheory", "synthetic", "verify"):
        for path in sorted((ROOT / package).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
