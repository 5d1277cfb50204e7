"""Runs on disk: saved whole or not at all, loaded, resumed bit for bit, and refused where they do not fit."""

import errno
import json
import os
import zipfile
from fractions import Fraction

import numpy as np
import pytest
import torch
import xarray as xr

from fedtheory import (
    Bernoulli,
    InverseTime,
    Tabulated,
    load_trajectory,
    make_algorithm,
    observables_of,
    resume,
    run,
)
from fedtheory.fingerprint import digest_of
from fedtheory.run import fingerprint
from synthetic import EXACT, NUMPY, TORCH, from_arrays, make_problem, to_numpy
from tests.bounds.each_claim import look_at_each
from tests.fedtheory.federations import FEDERATIONS, moved, rational, variant
from tests.not_empty import not_empty

ALGORITHMS = {
    "fedavg": {"name": "fedavg", "local_steps": 2, "eta_l": InverseTime(1.0, 9.0)},
    "scheme I": {"name": "fedavg", "participants": 2, "sampling": "with-replacement"},
    "without replacement": {"name": "fedavg", "participants": 1},
    "broadcast": {"name": "fedalign", "epsilon": 0.5, "local_steps": 2, "free": Bernoulli(0.6), "warmup": 3},
    "at aggregation": {"name": "fedalign", "epsilon": 0.5, "local_steps": 2, "indicator": "local-at-aggregation"},
    "every step": {"name": "fedalign", "epsilon": 0.5, "local_steps": 2, "indicator": "local-every-step"},
    "fraction": {"name": "fedalign-fraction", "epsilon": 0.5, "fraction": 0.5},
    "alone": {"name": "local-only", "local_steps": 2},
}


def algorithm(row):
    options = dict(ALGORITHMS[row])
    return make_algorithm(options.pop("name"), **options)


def check_resume(row, name, path, cuts=(2, 1, 2), backend=TORCH):
    """Saving, loading and going on, with a new federation object each time, gives the one long run bit for bit."""
    record = observables_of(FEDERATIONS[name]())
    seeds, start = [3, 1, 4, 1], np.random.default_rng(0).normal(size=(4, FEDERATIONS[name]().dim))
    whole = run(algorithm(row), FEDERATIONS[name](backend), sum(cuts), seeds=seeds, start=start, record=record)
    part = run(algorithm(row), FEDERATIONS[name](backend), cuts[0], seeds=seeds, start=start, record=record)
    for rounds in cuts[1:]:
        part = resume(load_trajectory(part.save(path), backend), algorithm(row), FEDERATIONS[name](backend), rounds)
    xr.testing.assert_identical(part.dataset, whole.dataset)
    np.testing.assert_array_equal(moved(part.state.x), moved(whole.state.x))
    assert part.fingerprint == whole.fingerprint and part.rounds == sum(cuts)


@pytest.mark.parametrize("row", ALGORITHMS)
def test_a_resumed_run_is_the_long_run_bit_for_bit(row, tmp_path):
    look_at_each(["gaussian noise", "one instance per run", "logistic, held out", "softmax, sphere noise"],
                 lambda name: check_resume(row, name, tmp_path / "a.run"))


@pytest.mark.parametrize("row", ["broadcast", "at aggregation", "alone"])
def test_resume_on_numpy(row, tmp_path):
    check_resume(row, "gaussian noise", tmp_path / "a.run", backend=NUMPY)


@pytest.mark.parametrize("name", ["fedalign", "local-only"])
def test_fractions_survive_the_disk(name, tmp_path):
    options = {"epsilon": Fraction(1, 2), "indicator": "local-at-aggregation"} if name == "fedalign" else {}
    method = make_algorithm(name, eta_l=Fraction(1, 8), **options)
    whole = run(method, rational(EXACT, True), 5, seeds=2)
    part = run(method, rational(EXACT, True), 3, seeds=2)
    loaded = load_trajectory(part.save(tmp_path / "a.run"), EXACT)
    xr.testing.assert_identical(loaded.dataset, part.dataset)
    going_on = resume(loaded, method, rational(EXACT, True), 2)
    assert to_numpy(going_on.state.x).tolist() == to_numpy(whole.state.x).tolist()
    assert isinstance(to_numpy(going_on.state.x)[0, 0], Fraction)
    assert going_on.dataset["x"].values.tolist() == whole.dataset["x"].values.tolist()


def test_what_is_loaded_is_what_was_saved(tmp_path):
    federation = FEDERATIONS["one instance per run"]()
    trajectory = run(algorithm("at aggregation"), federation, 3, seeds=4, record=observables_of(federation))
    loaded = load_trajectory(trajectory.save(tmp_path / "a.run"))
    xr.testing.assert_identical(loaded.dataset, trajectory.dataset)
    for mine, theirs in zip(loaded.state.participation.__dict__.values(), trajectory.state.participation.__dict__.values(),
                            strict=True):
        np.testing.assert_array_equal(to_numpy(mine), to_numpy(theirs))
    assert (loaded.description, loaded.seeds.tolist()) == (trajectory.description, trajectory.seeds.tolist())
    assert loaded.dataset["suboptimality"].attrs["units"] == "loss"
    assert os.listdir(tmp_path) == ["a.run"]


def test_resume_moves_the_state_to_the_federations_arrays(tmp_path):
    """A file is loaded to torch unless told otherwise; a NumPy federation takes it all the same."""
    part = run(algorithm("at aggregation"), FEDERATIONS["gaussian noise"](NUMPY), 2)
    loaded = load_trajectory(part.save(tmp_path / "a.run"))
    assert isinstance(loaded.state.x, torch.Tensor)
    going_on = resume(loaded, algorithm("at aggregation"), FEDERATIONS["gaussian noise"](NUMPY), 2)
    assert isinstance(going_on.state.x, np.ndarray)


def test_divergence_before_and_after_a_resume_is_reported(tmp_path):
    federation = FEDERATIONS["no noise"]()
    steps = torch.tensor([[0.1] * 4, [1e200] * 4, [0.1, 0.1, 1e200, 1e200]], dtype=torch.float64)
    method = make_algorithm("fedavg", eta_l=Tabulated(steps))
    first = run(method, federation, 2, seeds=3, start=np.ones((3, 3)))
    going_on = resume(load_trajectory(first.save(tmp_path / "a.run")), method, federation, 2)
    whole = run(method, federation, 4, seeds=3, start=np.ones((3, 3)))
    assert first.dataset["diverged"].values.tolist() == [-1, 2, -1]
    assert going_on.dataset["diverged"].values.tolist() == whole.dataset["diverged"].values.tolist() == [-1, 2, 4]


# refusals ----------------------------------------------------------------------------------------------------------------
def _other_noise():
    base = FEDERATIONS["gaussian noise"]()
    return variant(base, noise=type(base.noise)(base.noise.scale * 2))


OTHERS = {
    "step": lambda: (make_algorithm("fedalign", eta_l=0.2, epsilon=0.5), FEDERATIONS["gaussian noise"]()),
    "threshold": lambda: (make_algorithm("fedalign", epsilon=0.25), FEDERATIONS["gaussian noise"]()),
    "local steps": lambda: (make_algorithm("fedalign", epsilon=0.5, local_steps=2), FEDERATIONS["gaussian noise"]()),
    "indicator": lambda: (
        make_algorithm("fedalign", epsilon=0.5, indicator="local-every-step"), FEDERATIONS["gaussian noise"]()),
    "warm-up": lambda: (make_algorithm("fedalign", epsilon=0.5, warmup=1), FEDERATIONS["gaussian noise"]()),
    "sampling": lambda: (make_algorithm("fedalign", epsilon=0.5, participants=2), FEDERATIONS["gaussian noise"]()),
    "method": lambda: (make_algorithm("fedalign-fedprox", epsilon=0.5), FEDERATIONS["gaussian noise"]()),
    "availability": lambda: (make_algorithm("fedalign", epsilon=0.5, free=Bernoulli(0.5)), FEDERATIONS["gaussian noise"]()),
    "noise": lambda: (make_algorithm("fedalign", epsilon=0.5), _other_noise()),
    "offsets": lambda: (make_algorithm("fedalign", epsilon=0.5), variant(
        FEDERATIONS["gaussian noise"](), offset=FEDERATIONS["gaussian noise"]().offset + 1)),
    "priority": lambda: (make_algorithm("fedalign", epsilon=0.5), variant(
        FEDERATIONS["gaussian noise"](), priority=[[True, True, False, True, False]])),
    "precision": lambda: (make_algorithm("fedalign", epsilon=0.5), FEDERATIONS["gaussian noise"](
        type(TORCH)(dtype=torch.float32))),
}


@pytest.mark.parametrize("what", OTHERS)
def test_another_algorithm_or_federation_is_refused(what):
    trajectory = run(make_algorithm("fedalign", epsilon=0.5), FEDERATIONS["gaussian noise"](), 1)
    method, federation = OTHERS[what]()
    with pytest.raises(ValueError, match=r"expected [0-9a-f]{16}, got [0-9a-f]{16}$"):
        resume(trajectory, method, federation, 1)


def test_the_fingerprint_does_not_depend_on_what_was_asked_before():
    for name, make in not_empty(FEDERATIONS.items()):
        method = algorithm("broadcast")
        fresh, used = make(), make()
        _ = used.constants, used.x_star, used.noise, used.F_star_client
        assert fingerprint(method, fresh) == fingerprint(method, used), name


def test_a_digest_sees_into_dictionaries():
    assert digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    assert len({digest_of({"a": 1}), digest_of({"a": 2}), digest_of({"b": 1}), digest_of({})}) == 4


def test_the_fingerprint_tells_losses_noises_and_shapes_apart():
    rng = np.random.default_rng(1)
    X, y, client = rng.normal(size=(12, 2)), np.arange(12) % 2, np.arange(12) % 3
    options = {"ridge": 0.1, "name": "data"}
    data = [
        from_arrays(X, y, client, task="binary", **options), from_arrays(X, 2.0 * y - 1, client, **options),
        from_arrays(X, y, client, task="binary", batch_size=2, **options),
        from_arrays(X, y, client, task="binary", noise=FEDERATIONS["gaussian noise"]().noise, **options),
        from_arrays(X, y, client, task="binary", noise=_other_noise().noise, **options),
        *(from_arrays(np.append(X, [x], axis=0), [*y, 1], [*client, 0], task="binary", held_out=np.arange(13) == 12,
                      **options) for x in ([0.0, 1.0], [0.0, 2.0])),
    ]
    assert len({fingerprint(algorithm("fedavg"), federation) for federation in data}) == len(data)
    tables = [Tabulated(np.ones((2, 3))), Tabulated(np.ones(6)), Tabulated(np.ones(6), "round")]
    methods = [make_algorithm("fedavg", eta_l=table) for table in tables]
    assert len({fingerprint(method, data[0]) for method in methods}) == len(methods)


@pytest.mark.parametrize("rounds", [0, -1, 1.5])
def test_resuming_for_no_rounds_is_refused(rounds):
    trajectory = run(algorithm("fedavg"), FEDERATIONS["no noise"](), 1)
    with pytest.raises(ValueError, match=f"rounds .* 1.*got {rounds}"):
        resume(trajectory, algorithm("fedavg"), FEDERATIONS["no noise"](), rounds)


def _saved(path):
    return run(algorithm("at aggregation"), FEDERATIONS["gaussian noise"](), 2).save(path)


def _refused(path):
    with pytest.raises(ValueError, match=r"\.run") as caught:
        load_trajectory(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("fraction", [0.0, 0.01, 0.3, 0.6, 0.9, 0.99, 0.9999])
def test_a_truncated_file_is_one_clear_line(fraction, tmp_path):
    path = _saved(tmp_path / "a.run")
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * fraction)])
    _refused(path)


def test_damaged_bytes_are_noticed_or_harmless(tmp_path):
    """One flipped byte anywhere raises the clear line, or changes nothing that is read."""
    path = _saved(tmp_path / "a.run")
    content, sound = path.read_bytes(), load_trajectory(path)
    noticed = 0
    for place in np.random.default_rng(0).integers(0, len(content), 60):
        damaged = bytearray(content)
        damaged[place] ^= 0x55
        path.write_bytes(damaged)
        try:
            loaded = load_trajectory(path)
        except ValueError as error:
            assert "\n" not in str(error)
            noticed += 1
        else:
            xr.testing.assert_identical(loaded.dataset, sound.dataset)
    assert noticed > 30


def _array(path):
    with open(path, "wb") as file:
        np.save(file, np.arange(3))


def _arrays(path, **arrays):
    with open(path, "wb") as file:
        np.savez(file, **arrays)


FOREIGN = {
    "text": lambda path: path.write_text("run, round\n1, 2\n"),
    "json": lambda path: path.write_text(json.dumps({"format": "fedtheory run 1"})),
    "an array": _array,
    "arrays": lambda path: _arrays(path, x=np.arange(3)),
    "a header that is no json": lambda path: _arrays(path, header=np.frombuffer(b"{", dtype=np.uint8)),
    "a header that is a list": lambda path: _arrays(path, header=np.frombuffer(b"[1]", dtype=np.uint8)),
    "another format": lambda path: _arrays(path, header=np.frombuffer(b'{"format": "other"}', dtype=np.uint8)),
    "a header alone": lambda path: _arrays(path, header=np.frombuffer(b'{"format": "fedtheory run 1"}', dtype=np.uint8)),
    "a zip archive": lambda path: zipfile.ZipFile(path, "w").close(),
    "pickled objects": lambda path: _arrays(path, header=np.array([{}], dtype=object)),
    "a folder": lambda path: path.mkdir(),
    "nothing": lambda path: None,
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_foreign_file_is_one_clear_line(kind, tmp_path):
    FOREIGN[kind](tmp_path / "b.run")
    _refused(tmp_path / "b.run")


def test_nothing_half_written_remains(tmp_path, monkeypatch):
    """A disk that fills up leaves the old file as it was, and no other."""
    path = _saved(tmp_path / "a.run")
    before = path.read_bytes()

    def full(file, **arrays):
        file.write(b"half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(ValueError, match=rf"a\.run.*{os.strerror(errno.ENOSPC)}$"):
        _saved(path)
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["a.run"]


@pytest.mark.parametrize("place", ["missing/a.run", "file/a.run"])
def test_an_unwritable_place_is_one_clear_line(place, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="cannot write"):
        _saved(tmp_path / place)
    assert os.listdir(tmp_path) == ["file"]


# what a trajectory answers -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("row", ["fedavg", "broadcast", "at aggregation", "alone"])
def test_alignment_and_bias_are_the_papers_sums(row):
    """theta_T and rho_T, eq. (7), (8): sums over local iterations 1 .. T-1, written out."""
    federation, method, offset = FEDERATIONS["one instance per run"](), algorithm(row), 40.0
    trajectory = run(method, federation, 5, seeds=4, record=["chi", "psi"])
    K, T = method.local_steps, 5 * method.local_steps
    chi, psi = (trajectory.dataset[name].values.mean(axis=0) for name in ("chi", "psi"))
    theta = sum(chi[t // K] for t in range(1, T)) / (T + offset - 2)
    rho = 2 * 4.0 / 1.0 * sum(psi[t // K] for t in range(1, T)) / (T + offset - 2)
    assert trajectory.alignment(offset) == pytest.approx(theta, rel=1e-13)
    assert trajectory.tunable_bias(4.0, 1.0, offset) == pytest.approx(rho, rel=1e-13, abs=1e-15)


def test_alignment_says_what_it_needs():
    federation = FEDERATIONS["gaussian noise"]()
    with pytest.raises(ValueError, match=r"'psi'.*: chi"):
        run(algorithm("fedavg"), federation, 2, record=["chi"]).tunable_bias(4.0, 1.0, 32.0)
    with pytest.raises(ValueError, match="'local-every-step', allowed: broadcast, local-at-aggregation"):
        run(algorithm("every step"), federation, 2).alignment(32.0)


def test_mean_and_band():
    trajectory = run(algorithm("fedavg"), FEDERATIONS["gaussian noise"](), 3, seeds=5)
    samples = trajectory.dataset["suboptimality"].values
    low, high = trajectory.band("suboptimality", 0.9)
    half = 2.131846786326649 * samples.std(axis=0, ddof=1) / 5**0.5  # Student's t, 4 degrees of freedom
    np.testing.assert_allclose(trajectory.mean("suboptimality"), samples.mean(axis=0))
    np.testing.assert_allclose(low, samples.mean(axis=0) - half)
    np.testing.assert_allclose(high, samples.mean(axis=0) + half)
    with pytest.raises(ValueError, match="at least 2 runs; got 1"):
        run(algorithm("fedavg"), FEDERATIONS["gaussian noise"](), 1).band("suboptimality")


def test_a_run_takes_names():
    named, given = run("scaffold", "quadratic", 3), run(make_algorithm("scaffold"), make_problem("quadratic"), 3)
    assert named.dataset.identical(given.dataset)
    for names, message in ((("scafold", "quadratic"), "scaffold"), (("scaffold", "quadratc"), "quadratic")):
        with pytest.raises(LookupError, match=message):
            run(*names, 3)
