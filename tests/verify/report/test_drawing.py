"""A report's figures drawn by other processes: the same files, whatever becomes of the processes."""

import math
import os
import re
from dataclasses import dataclass, replace

import pytest

from verify.report import drawing as drawing_processes
from verify.report import html
from verify.report.drawing import FEWEST, draw, drawn_meanwhile, stem_of
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
    with pytest.raises(ValueError, match=re.escape(f" {tmp_path / 'file'}: ") + ".*directory"), drawn_meanwhile(
            [(series, tmp_path / "file" / f"figure-{n}") for n, series in enumerate(SERIES)], workers):
        pass


def written(out, monkeypatch, verdicts):
    """Names of the figures that a report draws, and of those that are there afterwards."""
    names = []
    with monkeypatch.context() as patch:
        patch.setattr(drawing_processes, "draw", lambda *what: names.append(what[1].name) or draw(*what))
        write_report(verdicts, out, **ABOUT)
    return names, {path.stem for path in (out / "figures").iterdir()} - {"looseness"}


def test_a_figure_is_drawn_once_and_again_where_a_file_is_missing(tmp_path, monkeypatch):
    first, there = written(tmp_path, monkeypatch, VERDICTS[:2])
    before = files(tmp_path)
    assert set(first) == there and len(there) == 2
    assert written(tmp_path, monkeypatch, VERDICTS[:2]) == ([], there) and files(tmp_path) == before
    (tmp_path / "figures" / f"{first[0]}.png").unlink()
    assert written(tmp_path, monkeypatch, VERDICTS[:2]) == (first[:1], there) and files(tmp_path) == before


def test_a_figure_is_named_after_what_it_shows_and_removed_when_no_page_shows_it(tmp_path, monkeypatch):
    _, before = written(tmp_path, monkeypatch, VERDICTS[:2])
    (tmp_path / "figures" / "mine.svg").write_text("mine")
    other = [replace(VERDICTS[0], series=VERDICTS[2].series), VERDICTS[1]]
    drawn, after = written(tmp_path, monkeypatch, other)
    assert len(drawn) == 1 and drawn[0].startswith("demo__lemma-0-")
    assert after == {*drawn, "mine", stem_of(VERDICTS[1].id, SERIES[1])} and len(before - after) == 1


@pytest.mark.parametrize("changes", [{"left": [0.5, 2.0]}, {"note": "other"}, {"relation": ">="}, {"decides": False}])
def test_names_of_figures_tell_series_apart(changes):
    assert stem_of("a", SERIES[0]) == stem_of("a", replace(SERIES[0])) != stem_of("a", replace(SERIES[0], **changes))


def test_a_report_of_many_claims_draws_one_format(tmp_path, monkeypatch):
    monkeypatch.setattr(html, "MANY", 2)
    for verdicts, kinds in ((VERDICTS[:2], {".svg", ".png"}), (VERDICTS[:3], {".svg"})):
        out = tmp_path / str(len(verdicts))
        write_report(verdicts, out, **ABOUT)
        drawn = {path.suffix for path in (out / "figures").iterdir() if path.stem.startswith("demo__")}
        page = (out / "claims" / "demo__lemma-0.html").read_text()
        assert drawn == kinds and all((f"{kind}\">" in page) == (kind in kinds) for kind in (".svg", ".png"))
