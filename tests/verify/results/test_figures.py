"""Figures draw whatever a run can produce, and are saved whole or not at all."""

import math
from dataclasses import replace
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
import xarray as xr
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from PIL import Image

from tests.messages import contains_in_order
from tests.not_empty import not_empty
from verify.results.drawing import BOUND, MEASUREMENT, VERDICT_STYLE, save
from verify.results.figures import bound_and_measurement, looseness, trajectory_figure
from verify.results.verdict import VERDICTS, Series, Verdict

INF, NAN = math.inf, math.nan
RUN = Series("a run", "iterations $T$", "$F(x_T) - F^\\ast$ [loss]", [1, 2, 3, 4], [1.0, 0.1, 0.01, 1e-3],
             [2.0, 1.0, 0.5, 0.25])

SERIES = {
    "plain": RUN,
    "empty": replace(RUN, x=[], left=[], right=[]),
    "one point": replace(RUN, x=[7], left=[0.5], right=[0.7]),
    "bound zero": replace(RUN, right=[0.0] * 4),
    "all zero": replace(RUN, left=[0.0] * 4, right=[0.0] * 4),
    "zeros and infinities": replace(RUN, left=[1, 0, 1e-3, 0], right=[INF, INF, 0, 1e-5]),
    "all infinite": replace(RUN, left=[INF] * 4, right=[INF] * 4),
    "negative": replace(RUN, left=[-1.0, -0.1, 0.0, 1e-6]),
    "NaN everywhere": replace(RUN, left=[NAN] * 4, right=[NAN] * 4),
    "band": replace(RUN, left_low=[0.5, 0.05, 0.001, 1e-4], left_high=[1.5, 0.2, 0.1, 1e-2]),
    "band with NaN, zero and infinity": replace(RUN, left_low=[NAN, 0.0, -1.0, -INF], left_high=[1.5, INF, NAN, 0.1]),
    "one point above": replace(RUN, x=[7], left=[0.7], right=[0.5]),
    "one point with a band": replace(RUN, x=[7], left=[0.5], right=[0.7], left_low=[0.4], left_high=[0.6]),
    "estimate": replace(RUN, decides=False, note="L is an estimate"),
    "many points": replace(RUN, x=list(range(1, 2001)), left=[1 / t for t in range(1, 2001)], right=[1.0] * 2000),
    "from zero": replace(RUN, x=[0, 1, 2, 3]),
    "tiny and huge": replace(RUN, left=[1e-300, 1e-200, 1.0, 1e10], right=[1e300] * 4),
    "worst cases": replace(RUN, exact=[1.5, 0.5, 0.25, 0.125], middle=[0.5, NAN, 0.0, 1e-4]),
    "worst cases that are infinite": replace(RUN, exact=[INF, NAN, 0.0, 1.0], middle=[NAN] * 4),
    "integers": replace(RUN, left=[1, 2, 3, 4], right=[5, 6, 7, 8]),
}


def test_a_series_with_worst_cases_names_them():
    named = [text.get_text() for text in bound_and_measurement(SERIES["worst cases"]).axes[0].texts]
    assert {"printed bound", "exact worst case", "worst run found", "middle run"} <= {*named}
    plain = [text.get_text() for text in bound_and_measurement(RUN).axes[0].texts]
    assert "exact worst case" not in plain and "measured" in plain


def verdict(name="demo/lemma-1", kind="consistent", ratio=0.5, **more):
    return Verdict(name, "as printed", "lemma", kind, ratio, "nothing found", **more)


def texts(figure: Figure) -> str:
    axes = figure.axes[0]
    return "\n".join(t.get_text() for t in [*axes.texts, axes.xaxis.label, axes.yaxis.label, axes._left_title])


@pytest.mark.parametrize("series", SERIES.values(), ids=SERIES)
def test_every_series_can_be_drawn_and_saved(series, tmp_path):
    paths = save(bound_and_measurement(series), tmp_path / "figure")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["figure.pdf", "figure.png", "figure.svg"]
    ElementTree.parse(paths["svg"])
    assert paths["pdf"].read_bytes().startswith(b"%PDF")
    with Image.open(paths["png"]) as image:
        width, height = image.size
    assert 300 < width < 2000 and 200 < height < 2000


@pytest.mark.parametrize(
    "name, words",
    [
        ("plain", ["a run", "iterations $T$", "$F(x_T) - F^\\ast$ [loss]", "bound", "measured"]),
        ("empty", ["no data"]),
        ("bound zero", ["bound = 0", "exceeds", "▽ …zero"]),
        ("all infinite", ["bound = ∞"]),
        ("band", ["confidence band"]),
        ("tiny and huge", ["▽ …small"]),
        ("estimate", ["L is an estimate", "bound"]),
    ],
)
def test_figure_says_what_it_shows(name, words):
    shown = texts(bound_and_measurement(SERIES[name])).replace("\n", " ")
    assert [word for word in not_empty(words) if not contains_in_order(shown, word)] == []


@pytest.mark.parametrize("name", ["plain", "bound zero", "band", "tiny and huge"])
def test_bound_and_measurement_keep_their_colours(name):
    colours = {line.get_color() for line in bound_and_measurement(SERIES[name]).axes[0].lines}
    assert colours == {BOUND, MEASUREMENT}


@pytest.mark.parametrize(
    "name, x_scale, y_scale",
    [("plain", "linear", "log"), ("many points", "log", "log"), ("one point", "linear", "linear"),
     ("all zero", "linear", "linear"), ("from zero", "linear", "log")],
)
def test_scales_fit_the_data(name, x_scale, y_scale):
    axes = bound_and_measurement(SERIES[name]).axes[0]
    assert (axes.get_xscale(), axes.get_yscale()) == (x_scale, y_scale)


def test_violation_is_shaded_only_where_there_is_one():
    held, broken = (len(bound_and_measurement(SERIES[n]).axes[0].collections) for n in ("plain", "bound zero"))
    assert (held, broken) == (0, 2)


@pytest.mark.parametrize(
    "verdicts",
    [
        [],
        [verdict(ratio=None)],
        [verdict(ratio=NAN)],
        [verdict(ratio=INF, kind="refuted"), verdict("demo/lemma-2", ratio=0.0)],
        [verdict(ratio=2.7e300, kind="refuted"), verdict("demo/lemma-2", ratio=5e-324)],
        [verdict(f"demo/lemma-{n}", kind, 10.0**-n) for n, kind in enumerate(VERDICTS)],
        [verdict(f"demo/lemma-{n}@a-rather-long-reading+and-another", ratio=1 / (n + 1)) for n in range(90)],
    ],
    ids=["none", "no ratio", "NaN", "edges", "far apart", "all verdicts", "many"],
)
def test_looseness_of_anything_can_be_drawn(verdicts, tmp_path):
    figure = looseness(verdicts)
    save(figure, tmp_path / "looseness")
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    known = [v.id for v in verdicts if v.ratio is not None and not math.isnan(v.ratio)]
    assert len(labels) == min(len(known), 60) and set(labels) - set(known) <= {"31 looser claims"}


def test_looseness_puts_the_tightest_first():
    figure = looseness([verdict("a", ratio=0.1), verdict("b", ratio=INF, kind="refuted"), verdict("c", ratio=0.9)])
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["b", "c", "a"]


def test_many_equal_ratios_share_a_row():
    broken = [verdict(f"demo/broken-{n}", "refuted", INF) for n in range(9)]
    tight = [verdict(f"demo/tight-{n}", VERDICTS[n % 5], 1 - 1e-9 * n) for n in range(7)]
    axes = looseness([*broken, *tight, verdict("demo/other")]).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["9 claims at ∞", "7 claims at 1", "demo/other"]


def test_every_verdict_has_a_colour_and_a_marker_of_its_own():
    assert set(VERDICT_STYLE) == set(VERDICTS)
    assert len({colour for colour, _ in VERDICT_STYLE.values()}) == len({m for _, m in VERDICT_STYLE.values()}) == 5


def trajectory(values, **more):
    """What ``trajectory_figure`` needs of a run: suboptimality as (run, round)."""
    dataset = xr.Dataset({"suboptimality": (("run", "round"), np.asarray(values, dtype=float))})
    return SimpleNamespace(dataset=dataset, description="a run", runs=len(values), federation=None, **more)


@pytest.mark.parametrize(
    "values, highest",
    [([[1, 0.1, 0.01]], 10), ([[1, 1e6, 1e300]], 1e8), ([[1, 2, INF], [1, 2, NAN]], 10), ([[0, 0, 0]] * 2, 10),
     ([[1e-3, 1e308, 1e308]] * 3, 10)],
    ids=["one run", "growing", "diverging", "at the optimum", "beyond float range"],
)
def test_runs_that_grow_do_not_set_the_scale(values, highest, tmp_path):
    figure = trajectory_figure(trajectory(values))
    save(figure, tmp_path / "run")
    assert figure.axes[0].get_ylim()[1] < highest


def test_run_that_recorded_nothing_is_not_drawn():
    nothing = SimpleNamespace(dataset=xr.Dataset(), description="", runs=1, federation=None)
    with pytest.raises(ValueError, match="suboptimality, distance_sq, free_included"):
        trajectory_figure(nothing)


def test_same_figure_gives_same_bytes(tmp_path):
    for name in ("one", "two"):
        save(bound_and_measurement(RUN), tmp_path / name)
    for kind in ("svg", "pdf", "png"):
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()


def test_failing_save_leaves_the_old_figure(tmp_path, monkeypatch):
    paths = save(bound_and_measurement(RUN), tmp_path / "figure")
    before = paths["svg"].read_bytes()

    def half(self, path, **_):
        path.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(FigureCanvasSVG, "print_svg", half)
    with pytest.raises(OSError, match="disk full"):
        save(looseness([verdict()]), tmp_path / "figure")
    assert paths["svg"].read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["figure.pdf", "figure.png", "figure.svg"]
