"""Methods with momentum or adaptive steps on the server, or Adam on the clients: what every row meets, and server rules."""

from fractions import Fraction

import numpy as np
import pytest

from fedtheory import make_algorithm, run
from fedtheory.parts import ClientOptimiser
from fedtheory.registry import find_algorithm
from synthetic import Quadratic
from synthetic.numbers.arrays import EXACT, TORCH
from tests.fedtheory.conformance.adaptive_cases import mean_of_active
from tests.fedtheory.federations import moved
from tests.fedtheory.methods.common import (
    check_all,
    clean,
    maker,
    noisy,
    path,
    start_of,
    watch,
)
from tests.not_empty import not_empty


def same(a, b, tolerance=1e-11):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# what every row meets ------------------------------------------------------------------------------------------------------
VARIANTS = {
    "": {}, "carry": {"vhat": "carry"}, "zero": {"vhat": "zero", "v_init": 0.5}, "none": {"vhat": "none"},
    "store vhat": {"store": "vhat"}, "scalar": {"norm": "scalar", "vhat": "carry"}, "delayed": {"moment_index": "delayed"},
    "start": {"v_init": np.array([0.1, 0.0, 2.0])}, "start at eps": {"v_init": "eps^2"},
}
CLIENTS = {
    f"{name} {row}".strip(): maker(name, local_steps=3, eta_l=0.1, eps=0.1, **more)
    for name in ("local-adam", "fadamgc", "fa-nt") for row, more in VARIANTS.items()
} | {
    "fadamgc one tracker": maker("fadamgc", local_steps=2, eps=0.1, trackers=1, y_init="gradient"),
    "fa-nt one tracker": maker("fa-nt", local_steps=2, eps=0.1, trackers=1, y_init="normalised-gradient", eta_g=0.5),
    "fedlada": maker("fedlada", local_steps=3, eps=0.1, alpha=0.7, eta_g=0.5),
    "fedlada local": maker("fedlada", local_steps=3, eps=0.1, alpha=0.7, moments="local"),
}
SERVERS = {
    "fedavgm": maker("fedavgm", local_steps=2, beta1=0.5, eta_g=0.5),
    "fedadagrad": maker("fedadagrad", local_steps=2, beta1=0.5),
    "fedadam": maker("fedadam", local_steps=2, v_init=0.01),
    "fedyogi": maker("fedyogi", local_steps=2),
    "fedams": maker("fedams", local_steps=2),
    "fedamsgrad": maker("fedams", local_steps=2, option="fedamsgrad"),
    "fedacg": maker("fedacg", local_steps=3, lam=0.5, rho_prox=0.5),
}
ROWS = CLIENTS | SERVERS


def full_only(make):
    """A maker without ``participants``."""
    return lambda participants=None, **more: make(**more)


FULL_ONLY = {"fa-nt-z": full_only(maker("fa-nt-z", local_steps=3, eps=0.1, eta_g=0.5))}
#: models down and up and gradients of a participant
COSTS = {
    **dict.fromkeys(("fedavgm", "fedadagrad", "fedadam", "fedyogi", "fedams", "fedamsgrad"), (1, 1, 2)),
    "fedacg": (1, 1, 3), "local-adam": (1, 1, 3), "fadamgc": (2, 2, 3), "fa-nt": (2, 2, 3), "fedlada": (3, 2, 3),
    "fedlada local": (2, 1, 3),
}


@pytest.mark.parametrize("row", ROWS | FULL_ONLY)
def test_what_every_row_owes(row, tmp_path):
    check_all((ROWS | FULL_ONLY)[row], tmp_path, costs=COSTS.get(row), sampled=row in ROWS)


RECORD = ["downlink_floats", "uplink_floats", "gradients", "weight"]


@pytest.mark.parametrize("name", ["fadamgc", "fa-nt"])
def test_only_trackers_send_their_correction(name):
    data = run(make_algorithm(name, local_steps=2, participants=4, trackers=1), noisy(), 5, seeds=3, record=RECORD).dataset
    active, up = data["weight"].values > 0, data["uplink_floats"].values
    np.testing.assert_array_equal(data["downlink_floats"].values, 6 * active)
    assert ((up == 3).sum(axis=-1) == 3).all() and ((up == 6) & active).sum(axis=-1).tolist() == [[1] * 5] * 3


def test_the_z_form_sends_models_only():
    data = run(make_algorithm("fa-nt-z", local_steps=2), noisy(), 2, record=RECORD).dataset
    for name, expected in (("downlink_floats", 3), ("uplink_floats", 3), ("gradients", 2)):
        assert (data[name].values == expected).all()


# optimisers on the server ------------------------------------------------------------------------------------------------
def server_rule(name, o, d, s):
    """One coordinate: the step for the change ``d`` and the arrays ``s``, by the words of the specifications."""
    if name == "fedavgm":
        s["u"] = o["beta1"] * s.get("u", 0.0) + d
        return o["eta_g"] * s["u"]
    s["m"] = o["beta1"] * s.get("m", 0.0) + (1 - o["beta1"]) * d
    v = s.get("v", o["v_init"])
    if name == "fedadagrad":
        s["v"] = v + d**2
    elif name == "fedyogi":
        s["v"] = v - (1 - o["beta2"]) * d**2 * np.sign(v - d**2)
    else:
        s["v"] = o["beta2"] * v + (1 - o["beta2"]) * d**2
    if name == "fedams":
        s["top"] = max(s.get("top", 0.0), s["v"], o["eps"] if o["option"] == "fedams" else 0.0)
        return o["eta_g"] * s["m"] / (s["top"] ** 0.5 + (0 if o["option"] == "fedams" else o["eps"]))
    return o["eta_g"] * s["m"] / (s["v"] ** 0.5 + o["eps"])


@pytest.mark.parametrize(("name", "options"), [
    ("fedavgm", {"beta1": 0.5}), ("fedadagrad", {"beta1": 0.5, "v_init": 0.25}), ("fedadam", {"beta2": 0.5, "v_init": 0.25}),
    ("fedadam", {"beta2": 0.5, "v_init": 0.0}), ("fedyogi", {"beta2": 0.5, "v_init": 0.01}),
    ("fedams", {"beta2": 0.5, "v_init": 0.0, "option": "fedams"}), ("fedams", {"v_init": 0.25, "option": "fedamsgrad"})])
@pytest.mark.parametrize("participants", [None, 2])
def test_server_optimisers_by_coordinate(name, options, participants):
    o = {"beta1": 0.9, "beta2": 0.75, "eps": 0.05, "eta_g": 0.5} | options
    given = {key: value for key, value in o.items() if key in find_algorithm(name).arguments}
    seen = watch(make_algorithm(name, local_steps=2, participants=participants, **given), noisy(), 8)
    x, arrays = seen.x[0][0].copy(), [{} for _ in range(3)]
    for t in range(8):
        change = mean_of_active(seen, t)[0] - seen.x[t][0]
        x = x + [server_rule(name, o, d, s) for d, s in zip(change, arrays, strict=True)]
        same(seen.x[t + 1][0], x)


@pytest.mark.parametrize("row", [*SERVERS, "fednova"])
@pytest.mark.parametrize("participants", [None, 2])
def test_local_steps_at_once_are_local_steps(row, participants):
    make = maker("fednova", local_steps=3, rho_prox=0.5, eta_g=0.5) if row == "fednova" else SERVERS[row]
    first, second = (run(make(participants=participants), clean(), 6, record=["x"], path=way).dataset["x"].values
                     for way in ("steps", "affine"))
    same(first, second, 1e-9)


REDUCTIONS = {
    "fedavgm without momentum": (maker("fedavgm", beta1=0.0, eta_g=0.7), maker("fedavg", eta_g=0.7)),
    "fedadam that does not adapt": (
        maker("fedadam", beta1=0.0, beta2=1.0, v_init=1.0, eps=0.0, eta_g=0.7),
        maker("fedavg", eta_g=0.7)),
    "fedyogi that does not adapt": (
        maker("fedyogi", beta1=0.0, beta2=1.0, v_init=1.0, eps=0.0, eta_g=0.7),
        maker("fedavg", eta_g=0.7)),
    "fedadam starts at eps^2": (maker("fedadam", eps=0.5), maker("fedadam", eps=0.5, v_init=0.25)),
    "fedacg without look-ahead": (maker("fedacg", lam=0.0, rho_prox=0.5), maker("fedprox", rho_prox=0.5)),
    "fednova with equal steps": (maker("fednova", eta_g=0.7), maker("fedavg", eta_g=0.7)),
    "fednova with equal steps and a pull": (
        maker("fednova", rho_prox=0.5, client_steps=[3] * 6), maker("fedprox", rho_prox=0.5)),
}


@pytest.mark.parametrize("row", REDUCTIONS)
@pytest.mark.parametrize("participants", [None, 2])
def test_special_cases(row, participants):
    first, second = (path(make(local_steps=3, participants=participants), noisy(), 6) for make in REDUCTIONS[row])
    same(first, second)


def test_fedamsgrad_begins_as_fedadam():
    options = {"local_steps": 2, "v_init": 0.0, "eps": 0.1, "beta2": 0.1}
    first = path(make_algorithm("fedams", option="fedamsgrad", **options), noisy(), 9)
    second = path(make_algorithm("fedadam", **options), noisy(), 9)
    same(first[:2], second[:2])
    assert np.abs(first[-1] - second[-1]).max() > 1e-6


def test_nothing_divided_by_nothing_is_nothing():
    """Clients at their minimisers with eps = 0: no step, no warning."""
    still = Quadratic([[[1.0, 2.0]] * 2], [[[1.0, 0.0]] * 2])
    for name in ("fedadam", "fedadagrad", "fedyogi", "local-adam", "fadamgc", "fa-nt"):
        for options in ({}, {"norm": "scalar"}, {"vhat": "none"}):
            if name.startswith("fed") and options:
                continue
            seen = path(make_algorithm(name, eps=0.0, v_init=0.0, **options), still, 3, start=np.array([[1.0, 0.0]]))
            assert (seen == [1.0, 0.0]).all()


def test_fedacg_moves_by_its_momentum():
    """x + u is the average of the local models, and clients start from x + lam u."""
    seen = watch(make_algorithm("fedacg", eta_l=0.1, local_steps=3, lam=0.6, rho_prox=0.5, participants=3), noisy(), 6)
    u = 0 * seen.x[0]
    for t in range(6):
        z = seen.x[t] + 0.6 * u
        same(seen.x_local[t][0], np.repeat(z[:, None], 6, axis=1))
        same(seen.x_local[t][1], seen.x_local[t][0] - 0.1 * seen.g[t][0])
        same(seen.x_local[t][2], seen.x_local[t][1] - 0.1 * (seen.g[t][1] + 0.5 * (seen.x_local[t][1] - z[:, None])))
        u = 0.6 * u + mean_of_active(seen, t) - z
        same(seen.x[t + 1], seen.x[t] + u)


# numbers and refusals ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["fedavgm", "fednova", "fedacg"])
def test_linear_methods_run_on_fractions(name):
    options = {"eta_l": Fraction(1, 8), "local_steps": 2}
    federation = Quadratic([[[1, 2], [3, 1]]], [[[1, 0], [0, 1]]], backend=EXACT)
    exact = run(make_algorithm(name, **options), federation, 3).state.x
    assert all(isinstance(value, Fraction) for value in not_empty(exact.ravel()))
    same(moved(exact), moved(run(make_algorithm(name, **options), federation.to(TORCH), 3).state.x))


@pytest.mark.parametrize("name", ["fedavgm", "fedadam", "fedams", "local-adam", "fadamgc", "fa-nt", "fedlada", "fedacg"])
def test_hyper_parameters_may_differ_between_runs(name):
    """Numbers by run act on their own run only."""
    common = {"local_steps": 2, "participants": 2}
    numbers = [(0.5, 0.9, 0.7), (0.9, 0.5, 0.2), (0.0, 0.99, 1.0)]
    names = {"fedacg": ("lam", None, "rho_prox"), "fedlada": ("beta1", "beta2", "alpha"),
             "fedavgm": ("beta1", None, "eta_g")}.get(name, ("beta1", "beta2", "eta_g"))
    columns = {key: np.array(values) for key, values in zip(names, zip(*numbers, strict=True), strict=True) if key}
    start = start_of(noisy(), 3)
    together = path(make_algorithm(name, **common, **columns), noisy(), 4, seeds=[3, 4, 5], start=start)
    for i in range(3):
        own = {key: float(values[i]) for key, values in columns.items()}
        single = path(make_algorithm(name, **common, **own), noisy(), 4, seeds=[3 + i], start=start[i : i + 1])
        same(single[:, 0], together[:, i], 1e-13)


BAD = {
    "decay rate": ({"name": "fedadam", "beta1": 1.5}, "beta1.* 1.*got 1.5"),
    "negative": ({"name": "local-adam", "beta2": -0.1}, "beta2.* 0.*got -0.1"),
    "momentum": ({"name": "fedavgm", "beta1": 2}, "beta1.* 1.*got 2"),
    "variant": ({"name": "fadamgc", "vhat": "max"}, "unknown vhat 'max'; allowed: reset, carry, zero, none"),
    "index": ({"name": "fa-nt", "moment_index": "late"}, "unknown moment_index 'late'; allowed: immediate, delayed"),
    "store": ({"name": "fa-nt", "store": "m"}, "unknown store 'm'; allowed: v, vhat"),
    "norm": ({"name": "local-adam", "norm": "max"}, "unknown norm 'max'; allowed: elem, scalar"),
    "start of y": (
        {"name": "fadamgc", "y_init": "one"}, "unknown y_init 'one'; allowed: zero, gradient, normalised-gradient"),
    "start of v": ({"name": "fedadam", "v_init": -1.0}, "v_init.* 0.*got -1"),
    "start of v in words": ({"name": "fedadam", "v_init": "tau"}, r"unknown v_init 'tau'; allowed: eps\^2"),
    "vector start": ({"name": "local-adam", "norm": "scalar", "v_init": np.ones(3)}, "norm = 'scalar', v_init"),
    "trackers": (
        {"name": "fadamgc", "trackers": 3, "participants": 2}, "trackers.* 0 .*2.*got 3"),
    "option": ({"name": "fedams", "option": "max"}, "unknown option 'max'; allowed: fedams, fedamsgrad"),
    "moments": ({"name": "fedlada", "moments": "global"}, "unknown moments 'global'; allowed: averaged, local"),
    "alpha": ({"name": "fedlada", "alpha": 1.5}, "alpha.* 1.*got 1.5"),
    "look-ahead": ({"name": "fedacg", "lam": 1.1}, "lam.* 1.*got 1.1"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_hyper_parameter_is_one_clear_line(case):
    options, message = BAD[case]
    with pytest.raises(ValueError, match=message) as caught:
        make_algorithm(**options)
    assert "\n" not in str(caught.value)


def test_what_has_no_meaning_is_refused():
    z = make_algorithm("fa-nt-z")
    with pytest.raises(ValueError, match="full participation"):
        z.having(selection=make_algorithm("fedavg", participants=2).selection)
    with pytest.raises(ValueError, match="ServerStep"):
        z.having(server=make_algorithm("fedadam").server)
    with pytest.raises(ValueError, match=r"FedLADA.*got ClientOptimiser"):
        make_algorithm("fedlada").having(client=ClientOptimiser())
    with pytest.raises(ValueError, match=r"trackers.* 0 .*6.*got 7"):
        run(make_algorithm("fadamgc", trackers=7), noisy(), 1)
    with pytest.raises(ValueError, match=r"v_init.*\(3,\).*got.*\(2,\)"):
        run(make_algorithm("fedadam", v_init=np.ones(2)), noisy(), 1)
