"""The mean over runs with its band: where it lies, what it covers, what it leaves out."""

import numpy as np
import pytest
import scipy.stats
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import fedtheory as ft

X = np.arange(5)


def drawn(x, values, **style):
    axes = Figure().subplots()
    line = ft.mean_with_band(axes, x, values, **style)
    (band,) = axes.collections or [None]
    return line, band


def ends(band, x):
    """Lower and upper end of the band at ``x``."""
    corners = band.get_paths()[0].vertices
    return [(part.min(), part.max()) for part in (corners[corners[:, 0] == place, 1] for place in x)]


def test_line_and_band_are_those_of_scipy():
    values = np.random.default_rng(0).normal(size=(6, 5))
    line, band = drawn(X, values, label="a", color="C3")
    np.testing.assert_allclose(line.get_ydata(), values.mean(0))
    expected = scipy.stats.t.interval(0.95, 5, loc=values.mean(0), scale=scipy.stats.sem(values))
    np.testing.assert_allclose(ends(band, X), np.transpose(expected))
    assert line.get_label() == "a" and to_rgba(line.get_color()) == to_rgba("C3")
    assert to_rgba(band.get_facecolor()[0])[:3] == to_rgba("C3")[:3]


def test_the_band_covers_the_mean_as_often_as_it_says():
    """400 bands of 8 normal runs at one place: fewer than 360 or more than 395 covers have probability below 1e-4."""
    rng = np.random.default_rng(1)
    low, high = np.transpose([ends(drawn([0.0, 1.0], rng.normal(3.0, 2.0, size=(8, 2)))[1], [1.0])[0] for _ in range(400)])
    covers = int(((low < 3.0) & (high > 3.0)).sum())
    assert scipy.stats.binom.cdf(359, 400, 0.95) + scipy.stats.binom.sf(395, 400, 0.95) < 1e-4 and 360 <= covers <= 395


def test_places_may_differ_between_runs():
    values = np.arange(10.0).reshape(2, 5)
    np.testing.assert_allclose(drawn([X, X + 2], values)[0].get_xdata(), X + 1)


def test_runs_that_are_not_finite_leave_a_gap():
    values = np.ones((3, 5)) * [[1], [2], [3]]
    values[1, 3], values[2, 4] = np.inf, np.nan
    line, band = drawn(X, values)
    assert np.isnan(line.get_ydata()).tolist() == [False, False, False, True, True]
    corners = np.concatenate([path.vertices for path in band.get_paths()])
    assert np.isfinite(corners).all() and corners[:, 0].max() == 2


def test_one_run_has_no_band():
    assert drawn(X, [X])[1] is None


@pytest.mark.parametrize(("x", "values"), [([0, 1], [[1.0]]), ([0], [1.0]), ([[0, 1]], [[1.0, 2.0], [1.0, 2.0]])])
def test_shapes_that_do_not_fit_are_one_clear_line(x, values):
    with pytest.raises(ValueError, match=r"values must be \(runs, places\).*; got \(.*\) and \(.*\)$"):
        drawn(x, values)


def test_observables_of_a_trajectory_are_drawn():
    runs = ft.run(ft.fedavg(local_steps=2), ft.make_quadratic(noise="sphere", sigma=1.0), 4, seeds=3)
    line, band = drawn(X, runs.dataset.suboptimality)
    np.testing.assert_allclose(line.get_ydata(), runs.mean("suboptimality"))
    low, high = runs.band("suboptimality")
    np.testing.assert_allclose(ends(band, X), np.transpose([low, high]))
