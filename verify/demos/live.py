"""Parts of a notebook's page: its controls, and its picture. The only file beside the notebooks that knows marimo."""

from collections.abc import Callable
from html import escape
from types import ModuleType
from typing import Any

import marimo as mo
from matplotlib.figure import Figure

from verify.demos.controls import Choice, Controls, Slider, Text
from verify.demos.drawn import as_svg

__all__ = ["controls", "file", "live_output", "picture"]


def controls(named: Controls) -> mo.ui.dictionary:
    """One element for each control; ``.value`` has their values by name."""
    return mo.ui.dictionary({name: _element(control) for name, control in named.items()})


def _element(control: Slider | Choice | Text):
    if isinstance(control, Slider):
        return mo.ui.slider(steps=list(control.values), value=control.start, label=control.label, show_value=True,
                            include_input=False, full_width=False)
    if isinstance(control, Choice):
        return mo.ui.dropdown(list(control.values), value=control.start, label=control.label, allow_select_none=False)
    return mo.ui.text(control.start, label=control.label, full_width=True)


def picture(figure: Figure, said: str):
    """The figure as wide as the page, and what it says in words; screen readers read the words."""
    return mo.vstack([mo.Html(f'<div class="picture" style="max-width:1000px">{as_svg(figure, said)}</div>'), mo.md(said)])


def live_output(demo: ModuleType) -> Callable[[Any], None]:
    """Shows numbers that are not final in the place of the picture, while the cell computes on."""
    return lambda found: mo.output.replace(picture(demo.picture(found), demo.caption(found)))


def file(text: str, title: str):
    """A file's text, folded; nothing if it is empty."""
    if not text:
        return mo.md("")
    return mo.accordion({title: mo.Html(f"<pre>{escape(text)}</pre>")})
