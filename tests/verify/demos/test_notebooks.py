"""Every notebook: it runs without a browser, shows what the ordinary code gives, and has one form."""

import ast
import re
from types import SimpleNamespace

import numpy as np
import pytest

from tests.not_empty import not_empty
from tests.verify.demos.notebooks import NAMES, app_of, picture_of
from verify.demos.catalogue import demos, find_demo
from verify.demos.controls import Choice, Slider, Text, start_values
from verify.demos.drawn import as_svg

pytest.importorskip("marimo", reason="live notebooks need marimo")


def shown(outputs) -> str:
    """The text of a notebook's page."""
    return "\n".join(output.text for output in outputs if hasattr(output, "text"))


def ends(controls) -> list[dict]:
    """The values at which a notebook opens, with one control after the other at each of its ends."""
    start = start_values(controls)
    found = [start | {key: value} for key, control in controls.items() if not isinstance(control, Text)
             for value in (control.values[0], control.values[-1])]
    return [values for n, values in enumerate(found) if values not in found[:n]]


def test_every_notebook_has_a_picture_and_the_other_way_round():
    pictures = demos()[NAMES[0]].path.parents[1] / "pictures"
    assert sorted(path.stem.replace("_", "-") for path in pictures.glob("[!_]*.py")) == NAMES and len(NAMES) >= 1


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_runs_and_shows_its_numbers(name):
    demo = picture_of(name)
    outputs, names = app_of(name).run()
    page = shown(outputs)
    own = demo.compute(**start_values(demo.CONTROLS))
    assert same(names["found"], own)
    assert as_svg(demo.picture(own), demo.caption(own)) in page
    places = [re.search(sign, page).start() for sign in ("<h1", "<svg", "<marimo-(slider|text)", "Questions")]
    assert places == sorted(places)
    assert len(re.findall(r"<li>", page.partition("Questions")[2])) == 3


@pytest.mark.parametrize("name", NAMES)
def test_a_control_that_moves_moves_the_picture(name):
    demo, app = picture_of(name), app_of(name)
    start = start_values(demo.CONTROLS)
    first = demo.compute(**start)
    for key, control in not_empty(demo.CONTROLS.items()):
        if isinstance(control, Text):
            continue
        value = next(value for value in reversed(control.values) if value != control.start)
        outputs, names = app.run(defs={"controls": SimpleNamespace(value=start | {key: value})})
        assert not same(names["found"], first), key
        assert as_svg(demo.picture(first), demo.caption(first)) not in shown(outputs), key


def same(one, other) -> bool:
    """Whether two results have the same numbers."""
    if isinstance(one, tuple):
        return type(one) is type(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray | float | int | str | bool | None):
        return bool(np.array_equal(one, other, equal_nan=isinstance(one, np.ndarray) and one.dtype.kind == "f"))
    return type(one) is type(other)


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_drawn_at_both_ends_of_every_control(name):
    demo = picture_of(name)
    for values in not_empty(ends(demo.CONTROLS)):
        found = demo.compute(**values)
        text = as_svg(demo.picture(found), demo.caption(found))
        assert text.startswith("<svg") and "nan" not in demo.caption(found), values


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_thin(name):
    """It imports its picture, and computes nothing itself."""
    path = find_demo(name).path
    tree = ast.parse(path.read_text(encoding="utf-8"))
    modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert modules == {"verify.demos", "verify.demos.pictures"} and len(path.read_text().splitlines()) <= 80
    assert re.match(r"[A-Z][\w' -]+: \S.{30,180}[.?]$", find_demo(name).idea)


@pytest.mark.parametrize("name", NAMES)
def test_controls_begin_at_one_of_their_values(name):
    for key, control in not_empty(picture_of(name).CONTROLS.items()):
        assert isinstance(control, Text) or control.start in control.values, key
        assert not isinstance(control, Slider) or list(control.values) == sorted(set(control.values)), key
        assert not isinstance(control, Choice) or len(set(control.values)) > 1, key
