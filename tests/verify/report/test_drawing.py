"""A report's figures drawn by other processes: the same files, whatever becomes of the processes."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace

import pytest

from verify.report import drawing as drawing_processes
from verify.report import html
from verify.report.drawing import FEWEST, draw, drawn_meanwhile
from verify.report.html import write_report
from verify.results.verdict import Series, Verdict

SERIES = [Series(f"run {n}", "iterations", "loss", [1.0, 2.0], [0.5, math.nan], [1.0, n + 1.0]) for n in range(FEWEST + 1)]


@dataclass(frozen=True)
class Deadly(Series):
    """Kills the process that receives it."""

    def __reduce__(self):
        return os._exit, (1,)


def files(directory):
    return {path.relative_to(directory): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


VERDICTS = [Verdict(f"demo/lemma-{n}", "as printed", "lemma", "consistent", 0.5, "no violation", series=(series,))
            for n, series in enumerate(SERIES)]
ABOUT = {"title": "t", "command": "c", "versions": {}, "claims": {}}


def test_report_does_not_depend_on_the_number_of_workers(tmp_path, monkeypatch):
    reports = {}
    for workers in (1, 2):
        (tmp_path / str(workers)).mkdir()
        monkeypatch.chdir(tmp_path / str(workers))
        write_report(VERDICTS, "report", **ABOUT, workers=workers)
        reports[workers] = files(tmp_path / str(workers))
    assert reports[1] == reports[2]
    assert sum(path.suffix == ".svg" for path in reports[1]) == len(SERIES) + 1


def test_what_a_dying_worker_leaves_behind_is_drawn(tmp_path):
    drawings = [(series, tmp_path / f"figure-{n}") for n, series in enumerate(SERIES)]
    deadly = Deadly(**SERIES[0].__dict__)
    with drawn_meanwhile([(deadly, tmp_path / "deadly"), *drawings], 2):
        pass
    draw(SERIES[0], tmp_path / "expected")
    expected = (tmp_path / "expected.svg").read_bytes()
    assert (tmp_path / "deadly.svg").read_bytes() == (tmp_path / "figure-0.svg").read_bytes() == expected
    assert len(list(tmp_path.iterdir())) == 2 * (len(SERIES) + 2)


@pytest.mark.parametrize("workers", [1, 2])
def test_figure_that_cannot_be_written_is_an_error(tmp_path, workers):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="file: it is not a directory"), drawn_meanwhile(
            [(series, tmp_path / "file" / f"figure-{n}") for n, series in enumerate(SERIES)], workers):
        pass


@pytest.mark.parametrize("harm", [
    lambda out: None,
    lambda out: (out / "demo__lemma-0-1.svg").write_text("spoiled"),
    lambda out: (out / "demo__lemma-0-1.png").unlink(),
    lambda out: (out / "drawn.json").write_text("{"),
    lambda out: (out / "drawn.json").write_text("[]"),
], ids=["nothing", "spoiled", "missing", "broken record", "foreign record"])
def test_figures_of_an_earlier_report_are_kept_only_where_they_are_whole(tmp_path, monkeypatch, harm):
    write_report(VERDICTS[:2], tmp_path, **ABOUT)
    before = files(tmp_path)
    harm(tmp_path / "figures")
    broken = files(tmp_path) != before
    redrawn = []
    monkeypatch.setattr(drawing_processes, "draw", lambda *what: redrawn.append(what[1]) or draw(*what))
    write_report(VERDICTS[:2], tmp_path, **ABOUT)
    assert files(tmp_path) == before
    assert bool(redrawn) == broken


def test_a_report_of_many_claims_draws_one_format(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "MANY", 2)
    for verdicts, kinds in ((VERDICTS[:2], {".svg", ".png"}), (VERDICTS[:3], {".svg"})):
        out = tmp_path / str(len(verdicts))
        write_report(verdicts, out, **ABOUT)
        drawn = {path.suffix for path in (out / "figures").iterdir() if path.stem.startswith("demo__")}
        page = (out / "claims" / "demo__lemma-0.html").read_text()
        assert drawn == kinds and all((f"{kind}\">" in page) == (kind in kinds) for kind in (".svg", ".png"))


def test_figure_of_another_series_is_drawn_again(tmp_path, monkeypatch):
    write_report(VERDICTS[:2], tmp_path, **ABOUT)
    redrawn = []
    monkeypatch.setattr(drawing_processes, "draw", lambda series, stem, formats: redrawn.append(stem.name))
    write_report([replace(VERDICTS[0], series=VERDICTS[2].series), VERDICTS[1]], tmp_path, **ABOUT)
    assert redrawn == ["demo__lemma-0-1"]
