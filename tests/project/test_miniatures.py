"""The papers' comparisons in miniature: each page says what it is not, and what it says came out came out."""

import ast
import os
import warnings
from typing import NamedTuple

import matplotlib
import numpy as np
import pytest

from docs.site import gallery

SCRIPTS = {path.stem: path for path in gallery.SCRIPTS.glob("mini_*.py")}


class End(NamedTuple):
    """Where a curve ends: its place, and the ends of the band there."""

    x: float
    low: float
    high: float


def ends_of(script: str) -> list[dict[str, End]]:
    """Run a script; for every panel the end of each curve, by its label without the step."""
    from matplotlib import pyplot

    matplotlib.use("agg")
    names = {"__name__": "__main__"}
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(script, "script", "exec"), names)
        figure = names["figure"]
        found = [{line.get_label().partition(", $")[0]: _end(line, band)
                  for line, band in zip(axes.lines, axes.collections, strict=True)} for axes in figure.axes]
        pyplot.close("all")
    return found


def _end(line, band) -> End:
    last = float(line.get_xdata()[-1])
    corners = np.concatenate([path.vertices for path in band.get_paths()])
    heights = corners[np.isclose(corners[:, 0], last), 1]
    return End(last, float(heights.min()), float(heights.max()))


def below(one: End, other: End) -> bool:
    """Whether the band of one ends below the other's."""
    return one.high < other.low


def together(one: End, other: End) -> bool:
    """Whether the bands overlap."""
    return not below(one, other) and not below(other, one)


def fewer(one: End, other: End) -> bool:
    """Whether one has sent at most 0.85 of what the other has."""
    return one.x <= 0.85 * other.x


#: script -> rows of panel, label, relation, label: what its text says of the last round; in held-out loss
SAID = {
    "mini_fedmoswa": [
        (0, "SCAFFOLD", below, "FedMoSWA"), (0, "FedMoSWA", below, "FedAvg"), (0, "FedMoSWA", below, "FedSAM"),
        (0, "FedSAM", together, "FedAvg"), (0, "FedMoSWA", below, "FedSWA"), (1, "FedAvg", below, "SCAFFOLD"),
    ],
    "mini_fadamgc": [(0, "FAdamGC", below, "LocalAdam"), (0, "FAdamGC", below, "FA-NT"), (0, "FA-NT", together, "LocalAdam"),
                     (1, "LocalAdam", below, "FAdamGC")],
    "mini_afedpd": [
        (0, "A-FedPD", below, "FedAvg"), (1, "A-FedPD", below, "FedAvg"), (0, "A-FedPD", together, "SCAFFOLD"),
        (0, "A-FedPD", together, "FedDyn"), (1, "A-FedPD", below, "SCAFFOLD"),
    ],
    "mini_fedalign": [
        (0, "FedALIGN", together, "all clients"), (0, "FedALIGN", below, "priority clients alone"),
        (1, "FedALIGN", together, "priority clients alone"), (1, "FedALIGN", below, "all clients"),
    ],
    "mini_fedluar": [
        (0, "FedLUAR, 1 of 4 layers", together, "FedAvg"), (0, "FedLUAR, 1 of 4 layers", fewer, "FedAvg"),
        (0, "FedAvg", below, "FedLUAR, 2 of 4 layers"), (0, "FedAvg", below, "PruneFL"),
        *((0, rival, relation, "FedLUAR, 1 of 4 layers") for rival in ("FedPAQ, 8 bits", "FedDropoutAvg")
          for relation in (together, fewer)),
        (0, "LBGM", fewer, "FedPAQ, 8 bits"), (0, "FedPAQ, 8 bits", below, "LBGM"),
    ],
}


def wrong(rows, panels) -> list:
    """The rows that are not so."""
    return [row for row in rows if not row[2](panels[row[0]][row[1]], panels[row[0]][row[3]])]


@pytest.mark.parametrize("name", SAID)
def test_what_a_page_says_came_out_came_out(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert wrong(SAID[name], ends_of(SCRIPTS[name].read_text(encoding="utf-8"))) == []
    assert os.listdir(tmp_path) == [f"{name}.svg"]


def test_every_page_says_what_it_is_not():
    assert set(SCRIPTS) == set(SAID)
    for path in SCRIPTS.values():
        text = " ".join(ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).split())
        assert "Not the paper's data sets, not its tables: " in text
        assert "least over" in text and "other seeds" in text


FEW = """
from matplotlib import pyplot as plt
import fedtheory as ft
figure, axes = plt.subplots()
for label, height in {"low": 1.0, "near": 1.05, "high": 2.0}.items():
    ft.mean_with_band(axes, [0.0, 9.0], [[3.0, height - 0.1], [3.0, height + 0.1], [3.0, height]], label=f"{label}, $e$ = 1")
"""


def test_what_is_not_so_is_noticed():
    panels = ends_of(FEW)
    right = [(0, "low", below, "high"), (0, "low", together, "near")]
    faults = [(0, "high", below, "low"), (0, "low", together, "high"), (0, "low", below, "near"), (0, "low", fewer, "high")]
    assert wrong(right + faults, panels) == faults
