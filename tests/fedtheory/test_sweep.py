"""Sweeps: every point is what a run alone gives; grids, files, processes and a cluster of dask whose worker is killed."""

import os
import signal

import numpy as np
import pytest
import xarray as xr

import fedtheory as ft
from fedtheory import sweep
from fedtheory.fingerprint import digest_of
from fedtheory.sweep_files import ENDINGS, load, save
from synthetic import Quadratic
from tests.not_empty import not_empty

FEDERATION = ft.make_quadratic(clients=4, dim=2, L=4.0, mu=1.0, sigma=0.5, noise="two-point")
GRID = {"eta_l": [0.02, 0.1, 0.2], "local_steps": [1, 3]}

#: method, grid, arguments: what may stand in one batch and what may not
ROWS = {
    "rates in one batch": ("fedavg", GRID, {}),
    "participants": ("fedavg", {"eta_l": [0.05, 0.1], "participants": [1, 2]}, {}),
    "corrections": ("scaffold", {"eta_g": [0.5, 1.0], "local_steps": [2]}, {"eta_l": 0.05}),
    "schedules": ("fedavg", {"eta_l": [ft.InverseTime(1.0, 32.0), 0.1]}, {}),
    "a part's rate": ("fedprox", {"rho_prox": [0.1, 2.0]}, {"eta_l": 0.05, "local_steps": 2}),
}


@pytest.mark.parametrize("row", ROWS)
def test_every_point_is_what_a_run_alone_gives(row):
    method, grid, arguments = ROWS[row]
    found = sweep(method, FEDERATION, 5, grid, seeds=[3, 8], arguments=arguments)
    for point in not_empty(np.ndindex(*(len(values) for values in grid.values()))):
        chosen = {name: values[i] for (name, values), i in zip(grid.items(), point, strict=True)}
        alone = ft.run(ft.make_algorithm(method, **arguments, **chosen), FEDERATION, 5, seeds=[3, 8])
        last = alone.dataset.suboptimality.values[:, -1]
        np.testing.assert_allclose(found["suboptimality"].values[point], last, rtol=1e-10)


def test_measures_may_be_functions_and_divergence_is_said():
    def largest(trajectory):
        return float(np.abs(trajectory.dataset.x.values).max())

    found = sweep("fedavg", FEDERATION, 400, {"eta_l": [0.1, 60.0]}, seeds=2, measure=["suboptimality", largest])
    assert found["largest"].dims == ("eta_l",) and found["suboptimality"].dims == ("eta_l", "seed")
    assert (found["diverged"].values[0] == -1).all() and (found["diverged"].values[1] > 0).all()


@pytest.mark.parametrize(
    "change, said",
    [({"method": "fedavgg"}, "fedavg"), ({"grid": {"eta": [1.0]}}, "eta_l"), ({"grid": {"eta_l": []}}, "got none"),
     ({"grid": {}}, "got {}"), ({"grid": {"eta_l": [0.1, 0.1]}}, "2 times"), ({"measure": "losss"}, "loss"),
     ({"seeds": 10**12}, "seeds"), ({"rounds": 0}, "0"), ({"grid": {"eta_l": np.ones((2, 2))}}, "eta_l"),
     ({"arguments": {"eta_l": 0.1}}, "twice"), ({"grid": {"local_steps": range(10**7)}}, "1000000")],
)
def test_bad_input_is_refused_with_what_is_allowed(change, said):
    call = {"method": "fedavg", "grid": GRID, "rounds": 2} | change
    with pytest.raises((ValueError, LookupError), match=said):
        sweep(call.pop("method"), FEDERATION, **call)


def test_a_sweep_goes_on_where_it_stopped_and_damage_is_computed_again(tmp_path, monkeypatch):
    whole = sweep("fedavg", FEDERATION, 3, GRID, path=tmp_path)
    files = sorted(tmp_path.iterdir())
    assert len(files) == 2  # one batch for each number of local steps
    files[0].write_bytes(b"damaged")
    asked = []
    own = ft.sweep.__globals__["computed"]
    monkeypatch.setitem(sweep.__globals__, "computed", lambda question, blocks, *rest: (
        asked.extend(blocks), own(question, blocks, *rest))[1])
    xr.testing.assert_identical(sweep("fedavg", FEDERATION, 3, GRID, path=tmp_path), whole)
    assert len(asked) == 1
    sweep("fedavg", FEDERATION, 4, GRID, path=tmp_path)
    assert len(asked) == 3  # another question


@pytest.mark.parametrize("ending", ENDINGS)
def test_files_come_back_as_they_were(tmp_path, ending):
    found = sweep("fedavg", FEDERATION, 2, GRID, seeds=2)
    xr.testing.assert_equal(load(save(found, tmp_path / f"a{ending}")), found)


@pytest.mark.parametrize("name", ["a.txt", "missing.nc", "damaged.nc"])
def test_files_that_cannot_be_read_are_one_error(tmp_path, name):
    (tmp_path / "damaged.nc").write_text("{[")
    with pytest.raises(ValueError, match=r"ending|cannot read"):
        load(tmp_path / name)


@pytest.mark.slow
def test_processes_give_the_same():
    xr.testing.assert_identical(sweep("fedavg", FEDERATION, 2, GRID, workers=2), sweep("fedavg", FEDERATION, 2, GRID))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of dask, when a worker is killed
def test_a_cluster_gives_the_same_though_a_worker_is_killed(two_workers):
    pids = two_workers.run(os.getpid)
    grid = {"eta_l": [0.02, 0.1], "local_steps": [1, 2, 3, 4, 5, 6]}
    killed = []

    def kill_one(done, _):
        if not killed:
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)

    found = sweep("fedavg", FEDERATION, 200, grid, client=two_workers, progress=kill_one)
    assert killed
    xr.testing.assert_identical(found, sweep("fedavg", FEDERATION, 200, grid))


def test_no_scheduler_is_one_error(monkeypatch):
    distributed = pytest.importorskip("distributed")

    def nobody(address):
        raise OSError("nobody there")

    monkeypatch.setattr(distributed, "Client", nobody)
    with pytest.raises(ValueError, match=r"tcp://127\.0\.0\.1:1.*nobody there"):
        sweep("fedavg", FEDERATION, 2, GRID, client="tcp://127.0.0.1:1")


class TestHeatMap:
    def test_a_map_has_a_cell_per_point_and_grey_where_nothing_is_finite(self):
        found = sweep("fedavg", FEDERATION, 400, {"eta_l": [0.01, 0.1, 60.0], "local_steps": [1, 2]}, seeds=2)
        axes = ft.heat_map(found)
        shown = axes.collections[0].get_array()
        assert shown.shape == (3, 2) and shown.mask[2].all() and not shown.mask[:2].any()
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("local_steps", "eta_l")

    def test_ratios_have_a_line_where_the_bound_is_broken(self):
        found = sweep("fedavg", Quadratic([[[1.0]]], [[[1.0]]]), 2, {"eta_l": [0.5, 0.9], "local_steps": [1, 2]}, seeds=1,
                      measure=ft.ratio("classical/gd-distance", everywhere=True))
        found["ratio"].values[0, 0] = 2.0
        assert len(ft.heat_map(found).collections) == 3

    @pytest.mark.parametrize("grid", [{"eta_l": [0.1, 0.2]}, {"eta_l": [0.1], "local_steps": [1, 2]}])
    def test_other_grids_are_refused(self, grid):
        with pytest.raises(ValueError, match="two arguments"):
            ft.heat_map(sweep("fedavg", FEDERATION, 1, grid))


def test_a_ratio_is_that_of_compare_where_hypotheses_hold():
    federation = ft.make_quadratic(clients=4, dim=2, L=4.0, mu=1.0)
    found = sweep("fedavg", federation, 3, {"eta_l": [0.05, 3.0]}, seeds=1, measure=ft.ratio("classical/gd-distance"))
    alone, beyond = (ft.compare("classical/gd-distance", ft.run(ft.fedavg(eta), federation, 3, seeds=1))
                     for eta in (0.05, 3.0))
    assert alone.verdict == "consistent" and beyond.verdict == "not applicable"
    assert found["ratio"].values[0] == alone.ratio and 0 < alone.ratio < 1 and np.isnan(found["ratio"].values[1])
    with pytest.raises(ValueError, match="not about runs"):
        ft.ratio("fedmoswa/eq-76")


def test_ratios_of_other_code_are_computed_again(monkeypatch):
    before, now = ft.ratio("classical/gd-distance"), ft.ratio("classical/gd-distance")
    monkeypatch.setattr("verify.evidence.ratio.code_version", lambda: "another")
    after = ft.ratio("classical/gd-distance")
    assert digest_of(before) == digest_of(now) != digest_of(after)
