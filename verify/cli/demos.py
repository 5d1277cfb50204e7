"""The command about live notebooks: ``fedtheory demo``."""

from pathlib import Path
from typing import Annotated

import typer

from verify.demos.catalogue import Demo, demos, find_demo

__all__ = ["demo"]


def demo(
    name: Annotated[str | None, typer.Argument(help="A demo; without one, list them.")] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Open a copy in the working directory, with its code.")] = False,
    port: Annotated[int | None, typer.Option(help="Where it answers on this machine; by default a free one.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")] = True,
    slides: Annotated[Path | None, typer.Option(
        help="Write it here instead, as one .html page whose pictures are made beforehand: it needs neither Python nor a "
        "network, nor the extra.")] = None,
) -> int:
    """Open a live notebook in the browser, or list them.

    Each shows one idea as a picture with sliders. Ctrl-C ends it. Needs the extra demos.
    """
    if name is None:
        from verify.cli import console

        console.out().print(console.names_table(("demo", "its idea"), [(each.name, each.idea) for each in demos().values()]))
        return 0
    chosen = find_demo(name)
    if slides is not None:
        return _slides(chosen, slides)
    from verify.demos.opening import open_demo

    return open_demo(chosen, port, browser, edit)


def _slides(chosen: Demo, path: Path) -> int:
    if path.suffix != ".html":
        raise ValueError(f"--slides writes a page that ends in .html; got {path.name!r}")
    from verify.cli import console
    from verify.demos.slides import MOST, page
    from verify.results.files import replacing

    with replacing(path) as temporary:
        with console.parts_done(MOST, f"pictures of {chosen.name}", "pictures") as progress:
            text = page(chosen, progress=progress)
        temporary.write_text(text, encoding="utf-8")
    print(f"wrote {path}: {len(text) / 1e6:.1f} MB; open it in a browser")
    return 0
