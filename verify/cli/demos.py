"""The command about live notebooks: ``fedtheory demo``."""

from typing import Annotated

import typer

from verify.demos.catalogue import demos, find_demo

__all__ = ["demo"]


def demo(
    name: Annotated[str | None, typer.Argument(help="A demo; without one, list them.")] = None,
    edit: Annotated[bool, typer.Option("--edit", help="Open a copy in the working directory, with its code.")] = False,
    port: Annotated[int | None, typer.Option(help="Where it answers on this machine; by default a free one.")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")] = True,
) -> int:
    """Open a live notebook in the browser, or list them.

    Each shows one idea as a picture with sliders. Ctrl-C ends it. Needs the extra demos.
    """
    if name is None:
        from verify.cli import console

        console.out().print(console.names_table(("demo", "its idea"), [(each.name, each.idea) for each in demos().values()]))
        return 0
    chosen = find_demo(name)
    from verify.demos.opening import open_demo

    return open_demo(chosen, port, browser, edit)
