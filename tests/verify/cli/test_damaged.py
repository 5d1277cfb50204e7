"""Damaged files are one clear line with the path, never a traceback, and what is slow or large is refused."""

import copy
import io
import json
import zipfile
from random import Random

import numpy as np
import pytest

from verify.results.files import DEEPEST, write_json
from verify.results.records import as_record
from verify.results.verdict import Series, Verdict

SERIES = Series("a run", "t", "loss", [1.0, 2.0], [0.5, 1.0], [1.0, 2.0])
DETAILS = {"instances": {"tried": 3, "met": 1}, "sampled": [{"decides": True, "tested": True, "e_value": 2.0}],
           "conflict": ["a"], "earlier": [{"result": "x"}], "kept": "old"}
VERDICT = Verdict("demo/theorem-1", "as printed", "theorem", "refuted", 2.0, "because", "certificates/x.json",
                  "fedtheory verify x", 0, 1.0, DETAILS, (SERIES,))
NESTED = {f"{bracket} {depth} times": bracket * depth + close * depth
          for bracket, close in (("[", "]"), ('{"a":', "}")) for depth in (DEEPEST + 1, 700, 10**5)}
TEXTS = {**NESTED, "open brackets": "[" * 10**6, "an integer of 5000 digits": "9" * 5000, "nothing": "", "half": '[{"id": "'}


def one_line(outcome, path):
    status, out, err = outcome
    assert (status, out) == (2, "") and err.startswith("error: ") and err.count("\n") == 1 and str(path) in err
    return err


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("file", ["verdicts.json", "about.json"])
def test_damaged_reports(run, tmp_path, file, text):
    write_json(tmp_path / "verdicts.json", [])
    (tmp_path / file).write_text(text)
    assert "is damaged" in one_line(run("report", tmp_path), tmp_path / file)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_damaged_results(run, tmp_path, text):
    (tmp_path / "results").mkdir()
    for name in ("fedalign__theorem-1.json", "about.json", "writer"):
        (tmp_path / "results" / name).write_text(text)
    one_line(run("explain", "fedalign/theorem-1", "--out", tmp_path), tmp_path / "results" / "fedalign__theorem-1.json")


WRONG = [None, True, 3, -1, 10**400, 1e308, "x", "9" * 5000, [], {}, [[]], [{}], [None], {"a": []}, ["x", 1]]


def places(data, path=()):
    """Every place in plain data, as a path of keys."""
    yield path
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield from places(value, (*path, key))


def test_verdicts_of_wrong_types_are_shown_or_refused_in_one_line(run, tmp_path, monkeypatch):
    for module in ("html", "drawing"):
        monkeypatch.setattr(f"verify.report.{module}.save", lambda *_: None)
    whole, random = [as_record(VERDICT)], Random(0)
    write_json(tmp_path / "certificates" / "x.json", {"sizes": {"clients": 1}, "left": "1"})
    refused = 0
    for path in list(places(whole))[1:]:
        for value in random.sample(WRONG, 3):
            data = copy.deepcopy(whole)
            part = data
            for key in path[:-1]:
                part = part[key]
            part[path[-1]] = value
            write_json(tmp_path / "verdicts.json", data)
            outcome = run("report", tmp_path)
            refused += outcome[0] == 2
            assert outcome[0] == 0 or one_line(outcome, tmp_path / "verdicts.json"), (path, value)
    assert refused > 50


# run files ---------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    import fedtheory
    import synthetic

    path = tmp_path_factory.mktemp("runs") / "run.npz"
    fedtheory.run(fedtheory.scaffold(0.1), synthetic.make_problem("quadratic"), 3, seeds=2).save(path)
    return path


def rewritten(saved, path, **arrays):
    """A copy of a run file with other arrays: as arrays, or as the bytes of their files."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = arrays.get(name.removesuffix(".npy"), old.read(name))
            if isinstance(content, np.ndarray):
                file = io.BytesIO()
                np.save(file, content)
                content = file.getvalue()
            new.writestr(name, content)
    return path


def header_of(saved):
    with np.load(saved) as stored:
        return json.loads(bytes(stored["header"]).decode())


def as_header(text):
    return np.frombuffer(text.encode(), dtype=np.uint8)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_run_files_with_a_damaged_header(saved, tmp_path, text):
    from fedtheory import load_trajectory

    for path in (rewritten(saved, tmp_path / "x.npz", header=as_header(text)), tmp_path / "y.npz"):
        if path.name == "y.npz":
            path.write_text(text)
        with pytest.raises(ValueError, match=rf"^[^\n]*{path.name}[^\n]*$"):
            load_trajectory(path)


def test_run_files_of_wrong_types_are_read_or_refused(saved, tmp_path):
    from fedtheory import load_trajectory

    whole, random, refused = header_of(saved), Random(0), 0
    for place in list(places(whole))[1:]:
        for value in random.sample(WRONG, 4):
            header = copy.deepcopy(whole)
            part = header
            for key in place[:-1]:
                part = part[key]
            part[place[-1]] = value
            path = rewritten(saved, tmp_path / "x.npz", header=as_header(json.dumps(header)))
            try:
                found = load_trajectory(path)
            except ValueError as error:
                refused += 1
                assert str(path) in str(error) and "\n" not in str(error)
            else:  # it can be used
                assert found.runs == 2 and found.rounds >= 0 and found.diverged == {}
    assert refused > 100
