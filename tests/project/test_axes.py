"""Every plotting function draws into the reader's axes in the reader's style, and in our own into a figure of its own."""

import ast
from functools import cache

import matplotlib
import numpy as np
import pytest
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from matplotlib.text import Text

import fedtheory as ft
from bounds.registry.claims import find_claim
from fedtheory.stability import Stability
from tests.project import packages
from verify.evidence.stability_figure import stability_figure
from verify.formulas.bound import bound_of
from verify.formulas.dominance import Dominance
from verify.formulas.figures import bound_curve, bounds_around
from verify.proofs.looseness import Link, Waterfall
from verify.proofs.looseness_figure import waterfall_figure
from verify.results.drawing import STYLE, save
from verify.results.figures import bound_and_measurement, bounds_and_measurements, looseness, trajectory_figure
from verify.results.heat_map import heat_map
from verify.results.verdict import VERDICTS, Series, Verdict
from verify.worst.claim_figure import BoundOverRounds, bound_over_rounds_figure
from verify.worst.function import worst_function
from verify.worst.function_figure import function_figure
from verify.worst.method_worst_case import worst
from verify.worst.tuning import rounds_figure

LEFT, RIGHT = [1.0, 0.5, 0.3, 0.9], [2.0, 1.0, 0.5, 0.7]
RUN = Series("a run", "round", "distance", [1, 2, 3, 4], LEFT, RIGHT, [v / 2 for v in LEFT], [v * 1.5 for v in LEFT])
PROOF = Waterfall(Link("p/a", "1", 8.0, 5.0), (Link("p/b", "2", 4.0, None),))


@cache
def runs():
    return ft.run(ft.fedavg(eta_l=0.05), ft.make_quadratic(clients=3, dim=2, L=4.0, mu=1.0), 4, seeds=3)


@cache
def grid():
    federation = ft.make_quadratic(clients=2, dim=1, L=4.0, mu=1.0)
    return ft.sweep("fedavg", federation, 2, {"eta_l": [0.01, 0.1, 0.2], "local_steps": [1, 2]}, seeds=2)


@cache
def worst_of(clients):
    return worst_function(worst("fedavg", 2, clients, eta_l=0.5, local_steps=2))


def bound():
    return bound_of(find_claim("li2020/theorem-1"))


def numbers():
    return {name: [1, 2, 5] if name in ("rounds", "iterations") else 0.5 for name in bound().parameters}


def around(**options):
    name = next(n for n in bound().parameters if n in ("rounds", "iterations"))
    point = {"parameters": {n: "1/2" for n in bound().parameters} | {"rounds": "4", "local_steps": "1", "iterations": "4"}}
    further = {"parameters": point["parameters"] | {"rounds": "9", "iterations": "9"}}
    return bounds_around([bound(), bound()], Dominance("a", "b", "depends", "", point, further), name, **options)


def worst_over_rounds():
    return BoundOverRounds(
        find_claim("classical/gd-distance"), "rounds", (1.0, 2.0), (0.9, 0.8), (0.85, 0.7), (0.4, 0.3), (8, 8), {},
                  "all")


def stability(**options):
    found = Stability([(0, 1, [1.0], 0.0)], np.array([[0.0, 1.0, 1.5]]), np.full((1, 3), np.nan))
    return stability_figure(found, [], "gaps", **options)


def verdicts():
    return [Verdict(f"demo/lemma-{n}", "as printed", "lemma", kind, 10.0**-n, "") for n, kind in enumerate(VERDICTS)]


#: plotting functions -> what draws with them; those of several panels take several axes
FIGURES = {
    "bound_and_measurement": lambda **o: bound_and_measurement(RUN, **o),
    "bounds_and_measurements": lambda **o: bounds_and_measurements([RUN, RUN], ["one", "two"], **o),
    "looseness": lambda **o: looseness(verdicts(), **o),
    "trajectory_figure": lambda **o: trajectory_figure(runs(), ("suboptimality",), **o),
    "heat_map": lambda **o: heat_map(grid(), **o),
    "function_figure": lambda **o: function_figure(worst_of(1), **o),
    "function_figure in the plane": lambda **o: function_figure(worst_of(2), **o),
    "bound_over_rounds_figure": lambda **o: bound_over_rounds_figure(worst_over_rounds(), **o),
    "rounds_figure": lambda **o: rounds_figure([worst("fedavg", n, 1, eta_l=0.5) for n in (1, 2)], **o),
    "waterfall_figure": lambda **o: waterfall_figure(PROOF, **o),
    "stability_figure": stability,
    "bound_curve": lambda **o: bound_curve(bound(), numbers(), **o),
    "bounds_around": around,
}


def readers_axes(**options) -> Axes:
    figure = Figure(**options)
    FigureCanvasAgg(figure)
    return figure.subplots()


def figure_of(drawn) -> Figure:
    return drawn if isinstance(drawn, Figure) else drawn.figure


def texts(axes: Axes) -> list[Text]:
    axes.figure.canvas.draw()
    return [text for text in axes.findobj(Text) if text.get_text()]


def plotting_functions() -> set[str]:
    """Names of public functions of modules that return a figure or axes, or take axes; but not the notebooks' pictures,
    which are whole pages."""
    found = set()
    for module, path in packages.files().items():
        if module.startswith("verify.demos"):
            continue
        text = path.read_text(encoding="utf-8")
        for node in ast.parse(text).body if "matplotlib" in text or "in_style" in text else ():
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                returned = {*ast.unparse(node.returns).split(" | ")} if node.returns else set()
                if returned & {"Figure", "Axes"} or any(one.arg == "ax" for one in node.args.kwonlyargs):
                    found.add(node.name)
    return found


def test_the_table_has_every_plotting_function():
    assert plotting_functions() - {"opened"} == {name.split(" ")[0] for name in FIGURES}


@pytest.mark.parametrize("name", FIGURES)
def test_given_axes_are_drawn_into_and_returned(name):
    axes = readers_axes()
    before = len(axes.figure.axes)
    assert FIGURES[name](ax=axes) is axes and axes.has_data()
    assert len(axes.figure.axes) == before + (name == "heat_map")  # its bar of colours


READERS = "dark_background", {"font.family": "DejaVu Serif", "font.size": 13.0}


def not_the_readers(axes: Axes, ground) -> list:
    """Texts in another font, and texts and lines that nobody sees on the reader's ground."""
    shown = texts(axes)
    return [*(text for text in shown if text.get_fontfamily()[0] != "DejaVu Serif" or same_color(text.get_color(), ground)),
            *(line for line in axes.lines if line.get_xydata().size and same_color(line.get_color(), ground))]


@pytest.mark.parametrize("name", FIGURES)
def test_the_readers_style_stays_in_force(name):
    with style.context([*READERS]):
        axes = readers_axes(layout="constrained")
        ground = axes.figure.get_facecolor()
        FIGURES[name](ax=axes)
        assert not_the_readers(axes, ground) == [] and matplotlib.rcParams["font.size"] == 13.0


@pytest.mark.parametrize("fault", [
    lambda axes: axes.set_title("a", fontfamily="STIXGeneral"), lambda axes: axes.plot([1, 2], color="black"),
    lambda axes: axes.text(0.5, 0.5, "a", color="black"),
])
def test_a_style_of_our_own_would_be_seen(fault):
    with style.context([*READERS]):
        axes = readers_axes()
        fault(axes)
        assert not_the_readers(axes, axes.figure.get_facecolor())


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_of_ours_is_in_our_style_whatever_the_readers_is(name):
    with style.context(["dark_background", {"font.family": "DejaVu Serif"}]):
        figure = figure_of(FIGURES[name]())
        assert same_color(figure.get_facecolor(), "white")
        assert {text.get_fontfamily()[0] for text in texts(figure.axes[0])} == {STYLE["font.family"]}
        assert matplotlib.rcParams["font.family"] == ["DejaVu Serif"]


@pytest.mark.parametrize("name", FIGURES)
def test_a_saved_figure_has_the_same_bytes_under_other_settings(name, tmp_path):
    others = {"font.size": 17.0, "xtick.major.size": 9.0, "lines.linewidth": 7, "svg.fonttype": "none", "axes.grid": True}
    first = save(figure_of(FIGURES[name]()), tmp_path / "first", ["svg"])["svg"].read_bytes()
    with style.context(["dark_background", others]):
        assert save(figure_of(FIGURES[name]()), tmp_path / "other", ["svg"])["svg"].read_bytes() == first


def test_a_figure_without_a_layout_has_a_legend_instead_of_texts_beside_it():
    plain, made = readers_axes(), readers_axes(layout="constrained")
    bound_and_measurement(RUN, ax=plain)
    bound_and_measurement(RUN, ax=made)
    assert plain.get_legend() is not None and made.get_legend() is None


def test_several_panels_take_several_axes():
    figure = Figure()
    row = figure.subplots(1, 2)
    assert trajectory_figure(runs(), ax=row) is row and all(axes.has_data() for axes in row)
    with pytest.raises(ValueError, match=r"suboptimality, distance_sq, 2 .*; got 1"):
        trajectory_figure(runs(), ax=row[0])
    with pytest.raises(ValueError, match=r"suboptimality.*; got 'loss'"):
        trajectory_figure(runs(), ("loss",))


@pytest.mark.parametrize("thing", [worst_over_rounds, lambda: ft.compare("classical/sgd-distance", runs())])
def test_what_plots_itself_takes_axes_or_a_path(thing, tmp_path):
    axes = readers_axes()
    assert thing().plot(ax=axes) is axes and axes.has_data()
    assert {*thing().plot(tmp_path / "figure")} == {"svg", "pdf", "png"}
    for arguments in ({}, {"ax": axes, next(iter(thing().plot.__annotations__)): tmp_path / "figure"}):
        with pytest.raises(ValueError, match=r"got (neither|both)"):
            thing().plot(**arguments)


# xarray ------------------------------------------------------------------------------------------------------------------
def labels(array, **options) -> tuple[str, str]:
    axes = readers_axes()
    array.plot(ax=axes, **options)
    return axes.get_xlabel(), axes.get_ylabel()


@pytest.mark.parametrize("make, expected", [
    (lambda: runs().dataset.suboptimality[0], ("round", "F(x) - F* [loss]")),
    (lambda: runs().mean("distance_sq"), ("round", "|x - x*|^2 [parameter^2]")),
    (lambda: runs().band("suboptimality")[1], ("round", "F(x) - F* [loss]")),
    (lambda: runs().dataset.eta_l[0], ("local iteration", "local step\n[parameter^2/loss]")),
    (lambda: runs().dataset.chi[0], ("round", "1/(1 + S), the priority clients' share [1]")),
    (lambda: grid().suboptimality.sel(local_steps=1, seed=0), ("eta_l [parameter^2/loss]", "F(x) - F* [loss]")),
    (lambda: grid().suboptimality.isel(seed=0), ("local_steps", "eta_l [parameter^2/loss]")),
])
def test_xarray_labels_the_axes(make, expected):
    assert tuple(" ".join(text.split()) for text in labels(make())) == tuple(" ".join(text.split()) for text in expected)


def test_times_go_on_when_a_run_goes_on(tmp_path):
    method, federation = ft.fedavg(eta_l=0.05), ft.make_quadratic(clients=3, dim=2, L=4.0, mu=1.0)
    first = ft.load_trajectory(ft.run(method, federation, 3).save(tmp_path / "a.run"))
    longer = ft.resume(first, method, federation, 2)
    for name, last in (("round", 5), ("step_round", 4), ("iteration", 4)):
        assert longer.dataset[name].values.tolist() == [*range(last + 1)]
    assert float(longer.dataset.suboptimality.sel(round=4)[0]) == float(longer.dataset.suboptimality[0, 4])


@pytest.mark.parametrize("ending", [".nc", ".zarr", ".parquet"])
def test_names_and_units_of_a_grid_are_kept_on_disk(ending, tmp_path):
    from fedtheory.sweep_files import load, save

    stored = load(save(grid(), tmp_path / f"sweep{ending}"))
    assert {name: dict(stored[name].attrs) for name in stored.variables} == {
        name: dict(grid()[name].attrs) for name in grid().variables}
