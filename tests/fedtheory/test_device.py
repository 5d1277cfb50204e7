"""A device and a dtype by name: functions that make and run federations give the same numbers there, or one clear line."""

import re

import numpy as np
import pytest
import torch

import fedtheory as ft
from fedtheory.stability import coupled_runs, generalisation, samples_of, searched_replacement, single_samples
from synthetic import EXACT, NUMPY, Backend, make_problem, to_numpy
from synthetic.numbers.arrays import backend_on
from synthetic.quadratic.turned import Turned
from tests.messages import contains_in_order

CARD = torch.cuda.is_available()
on_a_card = [pytest.mark.cuda, pytest.mark.skipif(not CARD, reason="there is no CUDA device")]
DEVICES = ["cpu", pytest.param("cuda", marks=on_a_card)]
NEAR = {"float32": 1e-5, "float64": 1e-11}

rng = np.random.default_rng(0)
X, Y, CLIENT = rng.standard_normal((12, 3)), rng.standard_normal(12), np.repeat([0, 1, 2], 4)
POOLS = [[([1.0, 0.3], 0.7), ([0.2, -1.0], -0.3)]] * 2
SMALL = {"samples": 6, "clients": 3, "dim": 2}


def ended(federation, **at):
    return ft.run("scaffold", federation, 3, seeds=2, **at).state.x


def data():
    return make_problem("least-squares", **SMALL)


def resumed(**at):
    method, federation = ft.fedavg(eta_l=0.1), make_problem("quadratic").to(**at)
    return ft.resume(ft.run(method, federation, 2), method, federation, 2).state.x


def stable(**at):
    test = single_samples(data(), [z[2:] for z in samples_of(data())])
    return coupled_runs("fedavg", data(), [(0, 1, [0.3, 0.7], 0.9)], 3, test=test, **at)


def general(**at):
    def make(rows):
        return ft.from_arrays([z[1] for z in rows], [z[2] for z in rows], [z[0] for z in rows])

    found = generalisation("fedavg", make, POOLS, 2, 2, data_sets=2, **at)
    return np.array([found.direct, found.identity])


def compared(**at):
    trajectory = ft.run(ft.fedavg(eta_l=0.05), "quadratic", 4)
    return ft.compare("classical/gd-distance", trajectory, **at).series.left


#: what a user calls with a device and a dtype, and the numbers that come back
CALLS = {
    "run by name": lambda **at: ended("logistic", **at),
    "run": lambda **at: ended(make_problem("quadratic", noise="gaussian", sigma=1.0), **at),
    "make_problem": lambda **at: ended(make_problem("least-squares", batch_size=2, **SMALL, **at)),
    "from_arrays": lambda **at: ended(ft.from_arrays(X, Y, CLIENT, **at)),
    "to": lambda **at: ended(make_problem("perceptron").to(**at)),
    "to from NumPy": lambda **at: ended(make_problem("quadratic", backend=NUMPY).to(**at)),
    "to from fractions": lambda **at: ended(make_problem("quadratic-1d-pair", backend=EXACT).to(**at)),
    "resume": resumed,
    "moved runs": lambda **at: ft.run("fedavg", "quadratic", 2).to(**at).state.x,
    "sweep": lambda **at: ft.sweep("fedavg", "quadratic", 3, {"eta_l": [0.01, 0.03]}, seeds=2, **at)["suboptimality"].values,
    "coupled_runs": lambda **at: stable(**at).parameter_gap,
    "losses of coupled_runs": lambda **at: stable(**at).loss_gap,
    "searched_replacement": lambda **at: searched_replacement("fedavg", data(), 2, tries=8, **at).parameter_gap,
    "generalisation": general,
    "compare": compared,
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", CALLS)
def test_numbers_are_the_same_on_every_device_and_in_single_precision(name, device):
    """float32 gives other bits, which shows that it was taken."""
    plain = CALLS[name]()
    for dtype in NEAR:
        found = CALLS[name](device=device, dtype=dtype)
        if isinstance(found, torch.Tensor):
            assert (found.device.type, str(found.dtype)) == (device, f"torch.{dtype}")
        own, there = (to_numpy(each).astype(float) for each in (plain, found))
        np.testing.assert_allclose(there, own, rtol=NEAR[dtype], atol=NEAR[dtype])
        assert dtype == "float64" or (own != there).any()


FAMILIES = {
    "diagonal": lambda: make_problem("quadratic"), "dense": lambda: make_problem("quadratic-rotated"),
    "turned": lambda: Turned(make_problem("quadratic", dim=2), [0.5]),
    "a basis each": lambda: Turned(make_problem("quadratic", clients=2, dim=2), [[0.5, 0.0]]),
    "cosines": lambda: make_problem("cosine-quadratic"), "Huber": lambda: make_problem("flat-and-steep"),
    "factored": lambda: make_problem("digits-factored", rows=60, clients=2),
    "held out": lambda: make_problem("breast-cancer", held_out=0.2), "softmax": lambda: make_problem("synth", sizes=30),
    "noise": lambda: make_problem("quadratic", noise="two-point", sigma=1.0), "layers": lambda: data().with_layers(2),
}


def arrays_of(value, name=""):
    for key, own in vars(value).items():
        if hasattr(own, "dtype") and hasattr(own, "shape"):
            yield f"{name}{key}", own
        elif type(own).__module__.startswith("synthetic."):
            yield from arrays_of(own, f"{name}{key}.")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_moves_with_all_its_arrays(family, device):
    wide = FAMILIES[family]()
    narrow = wide.to(device, "float32")
    kinds = {name: f"{array.dtype} {array.device.type}" for name, array in arrays_of(narrow)}
    assert {kind.split()[1] for kind in kinds.values()} == {device} and "float64" not in "".join(kinds.values()), kinds
    assert (type(narrow), narrow.name, narrow.layers()) == (type(wide), wide.name, wide.layers())
    x = np.random.default_rng(1).standard_normal((2, wide.clients, wide.dim))
    own, there = (to_numpy(each.gradient(each.backend.array(x))) for each in (wide, narrow))
    np.testing.assert_allclose(there, own, rtol=1e-4, atol=1e-4 * abs(own).max())
    back = narrow.to("cpu", "float64")
    assert back.backend == Backend() and back.to() is back and back.to("cpu") is back and back.to(dtype="float64") is back


def test_what_is_not_given_stays():
    narrow = make_problem("quadratic", dtype="float32")
    assert narrow.to(device="cpu") is narrow and ended(narrow).dtype == ended(narrow, device="cpu").dtype == torch.float32
    exact = make_problem("quadratic-1d-pair", backend=EXACT)
    assert ended(exact, device=None).dtype == object
    assert exact.to("cpu").backend == exact.to(dtype="float64").backend == Backend()
    assert backend_on(torch.device("cpu"), torch.float32) == backend_on("cpu", np.float32) == narrow.backend


def test_a_federation_by_name_is_the_one_that_is_moved():
    at = {"dtype": "float32"}
    for name in ("quadratic", "logistic"):
        found = [ft.run("fedavg", problem, 2, **more).fingerprint
                 for problem, more in ((name, at), (make_problem(name), at), (make_problem(name, **at), {}))]
        assert len({*found}) == 1


def test_runs_in_single_precision_go_on_in_it():
    method, federation = ft.fedavg(eta_l=0.1), make_problem("quadratic")
    once, begun = (ft.run(method, federation, rounds, seeds=2, dtype="float32") for rounds in (5, 3))
    for given, at in ((federation, {}), (begun.federation, {}), ("quadratic", {"device": "cpu"}),
                      (federation, {"dtype": "float32"})):
        longer = ft.resume(begun, method, given, 2, **at)
        assert longer.state.x.dtype == torch.float32 and (longer.state.x == once.state.x).all()
    with pytest.raises(ValueError, match="made by another algorithm or federation"):
        ft.resume(begun, method, federation, 2, dtype="float64")
    with pytest.raises(ValueError, match=r"^unknown device 'gpu'; allowed: cpu, cuda$"):
        ft.resume(begun, method, federation, 2, device="gpu")
    wide = ft.resume(begun.to(dtype="float64"), method, begun.federation, 2, dtype="float64")
    assert wide.state.x.dtype == torch.float64


def test_runs_of_a_file_go_on_where_the_federation_is(tmp_path):
    method, federation = ft.fedavg(eta_l=0.1), make_problem("quadratic")
    once, begun = (ft.run(method, federation, rounds, dtype="float32") for rounds in (5, 3))
    loaded = ft.load_trajectory(begun.save(tmp_path / "runs.npz"))
    assert (ft.resume(loaded, method, federation, 2, dtype="float32").state.x == once.state.x).all()
    with pytest.raises(ValueError, match="read from a file has no federation to move; allowed: those of run"):
        loaded.to("cpu")


def test_runs_in_single_precision_decide_nothing():
    """They are drawn beside the bound, whether they were made in float32 or are made again in it."""
    single = ft.run(ft.fedavg(eta_l=0.05), "quadratic", 4, dtype="float32")
    found = ft.compare("classical/gd-distance", single)
    assert found.verdict == "undecided" and contains_in_order(found.reason, "float32…float64…decides nothing")
    assert found.series.left and found.ratio <= 1
    wide = ft.run(ft.fedavg(eta_l=0.05), "quadratic", 4)
    assert ft.compare("classical/gd-distance", wide, dtype="float32").verdict == "undecided"
    assert ft.compare("classical/gd-distance", wide).verdict == "consistent"
    assert ft.compare("classical/gd-distance", single, dtype="float64").verdict == "consistent"


def test_claims_are_compared_without_a_device():
    with pytest.raises(ValueError, match=r"^device is that of runs"):
        ft.compare("li2020/theorem-1", "fedalign/theorem-1", device="cpu")


def test_long_runs_in_single_precision_are_found_again_in_double_precision():
    """Their ends differ by the rounding of a hundred steps, which is not taken for a change of the method."""
    single, wide = (ft.run(ft.fedavg(eta_l=0.05), "quadratic-aligned", 100, dtype=dtype) for dtype in ("float32", "float64"))
    assert not np.allclose(single.state.x, wide.state.x, rtol=1e-6, atol=1e-9)
    assert ft.compare("classical/gd-distance", single, dtype="float64").series.left
    assert ft.compare("classical/gd-distance", wide, dtype="float32").series.left


BAD = {
    "device": ({"device": "gpu"}, "unknown device 'gpu'; allowed: cpu, cuda"),
    "device that torch has": ({"device": "meta"}, "unknown device 'meta'; allowed: cpu, cuda"),
    "number of a device": ({"device": "cuda:x"}, "unknown device 'cuda:x'; allowed: cpu, cuda"),
    "dtype": ({"dtype": "float16"}, "unknown dtype 'float16'; allowed: float32, float64"),
    "both": ({"device": "cpu", "dtype": "double"}, "unknown dtype 'double'; allowed: float32, float64"),
}


@pytest.mark.parametrize("at, message", BAD.values(), ids=BAD)
@pytest.mark.parametrize("name", CALLS)
def test_other_names_are_one_clear_line(name, at, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        CALLS[name](**at)


@pytest.mark.parametrize("call", [
    lambda **at: make_problem("quadratic", backend=NUMPY, **at),
    lambda **at: ft.from_arrays(X, Y, CLIENT, backend=NUMPY, **at),
    lambda **at: make_problem("quadratic").to(NUMPY, **at)])
def test_a_backend_besides_a_dtype_is_an_error(call):
    assert call().backend == NUMPY
    with pytest.raises(ValueError, match=r"^a backend has .*; got dtype 'float32' besides; allowed: one or the other$"):
        call(dtype="float32")


@pytest.mark.skipif(CARD, reason="there is a CUDA device")
@pytest.mark.parametrize("name", CALLS)
def test_a_card_that_is_not_there_is_one_clear_line(name):
    for device in ("cuda", "cuda:1"):
        with pytest.raises(ValueError) as told:
            CALLS[name](device=device)
        assert re.fullmatch(rf"device '{device}' is not available on this machine: .+; allowed: cpu", str(told.value))


REASONS = {
    "another build": (False, None, f"torch {torch.__version__} is built without CUDA"),
    "no driver": (True, "Found no NVIDIA driver on your system. Please check that you have one.\nSee there",
                  "torch says: Found no NVIDIA driver on your system"),
    "no card": (True, None, "torch finds no CUDA device"),
}


@pytest.mark.parametrize("built, says, reason", REASONS.values(), ids=REASONS)
def test_the_reason_is_told_where_torch_knows_it(monkeypatch, built, says, reason):
    def begin():
        if says:
            raise RuntimeError(says)

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.cuda, "is_built", lambda: built)
    monkeypatch.setattr(torch.cuda, "init", begin)
    with pytest.raises(ValueError) as told:
        Backend(device="cuda:77")
    assert str(told.value) == f"device 'cuda:77' is not available on this machine: {reason}; allowed: cpu"


def test_the_cards_of_a_machine_are_named(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ValueError) as told:
        backend_on("cuda:77")
    assert str(told.value) == ("device 'cuda:77' is not available on this machine: it has 2 CUDA devices; "
                               "allowed: cpu, cuda, cuda:0, cuda:1")
