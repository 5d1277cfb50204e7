"""``--device`` and ``--dtype`` of the commands that make runs."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from fedtheory import load_trajectory
from tests.messages import contains_in_order

RUN = ["run", "fedavg", "--problem", "quadratic", "--rounds", "4", "--seeds", "2"]
SWEEP = ["sweep", "fedavg", "--problem", "quadratic", "--rounds", "3", "--seeds", "2", "--grid", "eta_l=[0.01,0.02]"]
STABILITY = [
    "stability", "fedavg", "--problem", "logistic", "--rounds", "3", "--tries", "8", "--seeds", "1", "--data-sets", "1"]
CLAIM = "classical/gd-distance"
STEPS = "li2020/theorem-1"  #: its steps are tied to mu, to more digits than float32 has


@pytest.fixture
def in_single(run, tmp_path):
    """A file of runs in float32."""
    path = tmp_path / "single.npz"
    assert run(*RUN, "--dtype", "float32", "--out", path)[0] == 0
    return path


def test_runs_are_in_the_numbers_that_are_asked_for(run, tmp_path, in_single):
    run(*RUN, "--out", tmp_path / "double.npz")
    single, double = (load_trajectory(path).dataset for path in (in_single, tmp_path / "double.npz"))
    assert [set_.attrs["made by fedtheory run"]["dtype"] for set_ in (single, double)] == ["float32", "float64"]
    assert [str(set_["x"].dtype) for set_ in (single, double)] == ["float32", "float64"]
    np.testing.assert_allclose(single["x"], double["x"], atol=1e-5)


def test_sweeps_are_in_the_numbers_that_are_asked_for(run, tmp_path):
    import xarray as xr

    found = []
    for dtype in ("float32", "float64"):
        assert run(*SWEEP, "--dtype", dtype, "--out", tmp_path / f"{dtype}.nc")[0] == 0
        with xr.open_dataset(tmp_path / f"{dtype}.nc") as stored:
            found.append(stored["suboptimality"].load())
    assert [str(each.dtype) for each in found] == ["float32", "float64"]
    np.testing.assert_allclose(*found, rtol=1e-5)


def test_stability_is_in_the_numbers_that_are_asked_for(run):
    found = [json.loads(run(*STABILITY, "--dtype", dtype, "--json")[1]) for dtype in ("float32", "float64")]
    single, double = (np.array([each["parameter_gap"][0], each["loss_gap"][0]]) for each in found)
    assert (single != double).any()
    np.testing.assert_allclose(single, double, atol=1e-5)


def test_runs_in_float32_decide_nothing_until_they_are_made_again(run, in_single):
    status, out, _ = run("compare", CLAIM, "--run", in_single)
    assert status == 0 and contains_in_order(out, f"{CLAIM}: undecided; …float32…float64…decides nothing")
    for again in (["--dtype", "float64"], ["--dtype", "float64", "--device", "cpu"]):
        for claim in (CLAIM, STEPS):
            status, out, _ = run("compare", claim, "--run", in_single, *again)
            assert status == 0 and out.startswith(f"{claim}: consistent; ")


def test_a_file_that_says_no_dtype_is_in_float64(run, tmp_path):
    path = tmp_path / "old.npz"
    run(*RUN, "--out", path)
    old = load_trajectory(path)
    recipe = {name: value for name, value in old.dataset.attrs["made by fedtheory run"].items() if name != "dtype"}
    replace(old, dataset=old.dataset.assign_attrs({"made by fedtheory run": recipe})).save(path)
    assert "dtype" not in load_trajectory(path).dataset.attrs["made by fedtheory run"]
    status, out, _ = run("compare", CLAIM, "--run", path)
    assert status == 0 and out.startswith(f"{CLAIM}: consistent; ")


def test_a_file_of_another_device_is_compared_here(run, tmp_path):
    path = tmp_path / "far.npz"
    run(*RUN, "--out", path)
    far = load_trajectory(path)
    recipe = far.dataset.attrs["made by fedtheory run"] | {"device": "cuda:77"}
    replace(far, dataset=far.dataset.assign_attrs({"made by fedtheory run": recipe})).save(path)
    status, out, err = run("compare", CLAIM, "--run", path)
    assert (status, out) == (2, "") and contains_in_order(err, "error: device 'cuda:77' is not available …; allowed: cpu")
    status, out, _ = run("compare", CLAIM, "--run", path, "--device", "cpu")
    assert status == 0 and out.startswith(f"{CLAIM}: consistent; ")


@pytest.mark.parametrize("command", [RUN, SWEEP, STABILITY], ids=lambda command: command[0])
def test_a_card_that_is_not_there_is_one_line(run, tmp_path, monkeypatch, command):
    if torch.cuda.is_available():
        pytest.skip("there is one")
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*command, "--device", "cuda")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert contains_in_order(err, "error: device 'cuda' is not available on this machine: …; allowed: cpu\n")
    assert [*tmp_path.iterdir()] == []


BAD = {
    "another dtype": ([*RUN, "--dtype", "float16"], "--dtype…'float16' …'float64', 'float32'"),
    "a verdict in float32": (["verify", CLAIM, "--dtype", "float32"], "--dtype"),
    "dtype without runs": (["compare", CLAIM, "li2020/theorem-1", "--dtype", "float32"], "--dtype …--run FILE"),
    "device without runs": (["compare", CLAIM, "li2020/theorem-1", "--device", "cpu"], "--device …--run FILE"),
    "a setting": ([*RUN, "--set", "device=cuda"], "unknown setting 'device'"),
}


@pytest.mark.parametrize("argv, words", BAD.values(), ids=BAD)
def test_what_is_not_there_is_one_line(run, tmp_path, monkeypatch, argv, words):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*argv)
    assert (status, out, err.count("\n")) == (2, "", 1) and contains_in_order(err, words)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_runs_on_a_card_are_those_of_the_processor(run, tmp_path, dtype):
    for device in ("cpu", "cuda"):
        assert run(*RUN, "--device", device, "--dtype", dtype, "--out", tmp_path / f"{device}.npz")[0] == 0
    here, there = (load_trajectory(tmp_path / f"{device}.npz").dataset["x"] for device in ("cpu", "cuda"))
    np.testing.assert_allclose(here, there, atol=1e-5 if dtype == "float32" else 1e-12)
    for more in ([], ["--device", "cpu"]):
        out = run("compare", CLAIM, "--run", tmp_path / "cuda.npz", "--dtype", "float64", *more)[1]
        assert out.startswith(f"{CLAIM}: consistent; ")
