"""What is recorded means what it says: every observable, communication and work, against direct computations."""

import numpy as np
import pytest

from fedtheory import OBSERVABLES, Bernoulli, Observer, make_algorithm, observables_of, rounds_of, run
from fedtheory.engine import starting_points
from synthetic import Draws, make_quadratic
from tests.fedtheory.federations import FEDERATIONS, moved, pair
from tests.fedtheory.test_engine import ALGORITHMS, algorithm, starts


class Notes(Observer):
    """Everything that happens, as NumPy."""

    def __init__(self):
        self.starts, self.steps, self.ends = [], [], []

    def start_of_round(self, context, participation):
        self.starts.append((context, participation))

    def local_iteration(self, context, participation, x_local, gradient):
        self.steps.append((context, participation, moved(x_local), moved(gradient)))

    def end_of_round(self, context, participation, x_local, state):
        self.ends.append((context, participation, moved(x_local), moved(state.x)))


@pytest.mark.parametrize("row", ALGORITHMS)
@pytest.mark.parametrize("name", ["gaussian noise", "one instance per run", "logistic, held out"])
def test_every_observable_against_a_direct_computation(row, name):
    check_observables(row, name)


def check_observables(row, name):
    """Each recorded number, recomputed from what an observer sees, with loops in NumPy."""
    federation, method, rounds, runs = FEDERATIONS[name](), algorithm(row), 3, 4
    start, seeds = starts(federation, runs), np.arange(runs)
    data = run(method, federation, rounds, start=start, seeds=seeds, record=observables_of(federation)).dataset
    notes = Notes()
    state = method.init(federation, starting_points(federation, start, runs))
    list(rounds_of(method, federation, state, Draws(seeds), 0, rounds, (notes,)))
    constants = {name: moved(federation.constants.value(name)) for name in ("F_star", "x_star", "Gamma_client")}
    p, priority = moved(federation.weights), moved(federation.priority) > 0
    models = [start, *(x for *_, x in notes.ends)]
    for r, x in enumerate(models):
        points = federation.all_clients(federation.backend.array(x))
        losses, gradients = moved(federation.value(points)), moved(federation.gradient(points))
        gradient = np.einsum("ik,ikd->id", p * priority + 0 * losses, gradients)
        expected = {
            "x": x, "loss_client": losses, "objective": (p * priority * losses).sum(1),
            "suboptimality": (p * priority * losses).sum(1) - constants["F_star"],
            "distance_sq": ((x - constants["x_star"]) ** 2).sum(1), "gradient_norm_sq": (gradient**2).sum(1),
        }
        _compare(data, expected | _held_out(federation, x), "round", r)
    shape = (runs, federation.clients)
    for r, (_, participation) in enumerate(notes.starts):
        included = np.broadcast_to(moved(participation.included), shape) > 0
        S = (p * included * ~priority).sum(1)
        expected = {
            "included": included, "chi": 1 / (1 + S), "aggregate_weight": p * included / (1 + S)[:, None],
            "psi": (p * included * ~priority * constants["Gamma_client"]).sum(1) / (1 + S),
        }
        _compare(data, expected, "step_round", r)
        assert included[:, priority[0]].all()
    for r, (_, participation, x_local, x) in enumerate(notes.ends):
        weight = np.broadcast_to(moved(participation.weight), shape)
        _compare(data, {"weight": weight, "participants": (weight > 0).sum(1)}, "step_round", r)
        moves = np.einsum("ik,ikd->id", weight, x_local - models[r][:, None])
        np.testing.assert_allclose(models[r] + moves, x, atol=1e-14)
    for t, (_, participation, x_local, g) in enumerate(notes.steps):
        pi = np.broadcast_to(moved(participation.virtual_weight), shape)
        average = np.einsum("ik,ikd->id", pi, x_local)
        expected = {
            "drift": (pi * ((x_local - average[:, None]) ** 2).sum(2)).sum(1), "x_local": x_local, "g": g,
            "weighted_gradient_sq": (pi * (g**2).sum(2)).sum(1), "eta_l": np.full(runs, 0.1),
            "max_gradient_sq": np.where(pi > 0, (g**2).sum(2), 0.0).max(1),
        }
        _compare(data, expected, "iteration", t)
        np.testing.assert_allclose(pi.sum(1), 1.0, atol=1e-14)
        if (t + 1) % method.local_steps and row != "proximal":
            np.testing.assert_allclose(x_local - 0.1 * g, notes.steps[t + 1][2], atol=1e-15)
    checked = {"x", "loss_client", "objective", "suboptimality", "distance_sq", "gradient_norm_sq", "included", "chi", "psi",
               "aggregate_weight", "weight", "participants", "drift", "x_local", "g", "weighted_gradient_sq", "eta_l",
               "max_gradient_sq", *_held_out(federation, start)}
    assert set(data.data_vars) - checked == {"downlink_floats", "uplink_floats", "gradients", "diverged"}
    assert set(OBSERVABLES) - set(data.data_vars) == (set() if federation.held_out_size else HELD_OUT)


HELD_OUT = {"held_out_loss", "held_out_accuracy"}


def _held_out(federation, models):
    """Logistic loss and accuracy on the held-out samples of the priority clients, one by one."""
    if not federation.held_out_size:
        return {}
    features, labels = moved(federation.held_features)[0, 0], moved(federation.held_targets)[0, 0, :, 0]
    assert moved(federation.priority)[0, moved(federation.held_client)[0].astype(int)].all()
    losses = [[np.log(1 + np.exp(-y * (a @ x))) for a, y in zip(features, labels, strict=True)] for x in models]
    right = [[y * (a @ x) > 0 for a, y in zip(features, labels, strict=True)] for x in models]
    return {"held_out_loss": np.mean(losses, axis=1), "held_out_accuracy": np.mean(right, axis=1)}


#: methods that return another model than the server sends
AVERAGED = {"afedpd": {}, "afedpdsam": {}, "fedasam": {"swa_start": 1, "swa_cycle": 1}}


@pytest.mark.parametrize("more", [(), ("weight",)], ids=["models alone", "rounds too"])
@pytest.mark.parametrize("name", AVERAGED)
def test_held_out_samples_measure_the_model_that_a_method_returns(name, more):
    federation = FEDERATIONS["logistic, held out"]()
    method = make_algorithm(name, local_steps=2, **AVERAGED[name])
    trajectory = run(method, federation, 4, seeds=2, record=["x", *HELD_OUT, *more])
    returned, sent = moved(method.output(trajectory.state)), moved(trajectory.state.x)
    assert abs(returned - sent).max() > 1e-3
    np.testing.assert_array_equal(trajectory.dataset["x"][:, -1], returned)
    for round in range(5):
        _compare(trajectory.dataset, _held_out(federation, trajectory.dataset["x"].values[:, round]), "round", round)


def _compare(data, expected, clock, time):
    for quantity, value in expected.items():
        measured = data[quantity].isel({clock: time}).values
        np.testing.assert_allclose(measured, np.broadcast_to(value, measured.shape), rtol=1e-12, atol=1e-12,
                                   err_msg=quantity)


def _costs(method, federation=None, rounds=2, **options):
    federation = federation or make_quadratic(clients=4, dim=5, priority=2, offsets=[0.0, 0.0, 50.0, -50.0])
    data = run(method, federation, rounds, record=["downlink_floats", "uplink_floats", "gradients"], **options).dataset
    return [data[name].values[0].astype(int).tolist() for name in ("downlink_floats", "uplink_floats", "gradients")]


# clients 0 and 1 have priority; 2 has a far larger loss (never willing), 3 a far smaller one (willing, not aligned)
COSTS = [
    ("fedavg", {}, [5, 5, 0, 0], [5, 5, 0, 0], [3, 3, 0, 0]),
    ("fedavg-all", {}, [5, 5, 5, 5], [5, 5, 5, 5], [3, 3, 3, 3]),
    ("fedalign", {"epsilon": 0.1}, [5, 5, 6, 6], [6, 6, 0, 6], [3, 3, 0, 3]),
    ("fedalign", {"epsilon": 1e3}, [5, 5, 6, 6], [6, 6, 6, 6], [3, 3, 3, 3]),
    ("fedalign", {"epsilon": 0.1, "warmup": 9}, [5, 5, 6, 6], [6, 6, 0, 0], [3, 3, 0, 0]),
    ("fedalign", {"epsilon": 1e3, "free": Bernoulli(0.0)}, [5, 5, 0, 0], [6, 6, 0, 0], [3, 3, 0, 0]),
    ("fedalign-fedprox", {"epsilon": 0.1}, [5, 5, 6, 6], [6, 6, 0, 6], [3, 3, 0, 3]),
    ("local-only", {}, [0, 0, 0, 0], [0, 0, 0, 0], [3, 3, 3, 3]),
]


@pytest.mark.parametrize(("name", "options", "down", "up", "gradients"), COSTS)
def test_communication_and_work_of_a_round(name, options, down, up, gradients):
    check_costs(name, options, down, up, gradients)


def check_costs(name, options, down, up, gradients):
    """Floats down to and up from each client, and gradients that it evaluates, in each of two rounds."""
    assert _costs(make_algorithm(name, local_steps=3, **options)) == [[down] * 2, [up] * 2, [gradients] * 2]


def test_a_priority_client_that_is_not_drawn_sends_only_its_loss():
    federation = make_quadratic(clients=4, dim=5, priority=3, offsets=[0.0, 0.0, 0.0, 50.0])
    for scheme in ("without-replacement", "with-replacement"):
        method = make_algorithm("fedalign", epsilon=0.1, participants=1, sampling=scheme, local_steps=3)
        data = run(method, federation, 6, record=["weight", "downlink_floats", "uplink_floats", "gradients"]).dataset
        drawn = data["weight"].values[0] > 0
        assert (drawn.sum(axis=1) == 1).all() and drawn.any(axis=0).sum() > 1
        np.testing.assert_array_equal(data["downlink_floats"][0], np.tile([5, 5, 5, 6], (6, 1)))
        np.testing.assert_array_equal(data["uplink_floats"][0], np.where(drawn, 6, [1, 1, 1, 0]))
        np.testing.assert_array_equal(data["gradients"][0], np.where(drawn, 3, 0))


def test_the_recorded_weight_is_that_of_the_aggregation():
    check_recorded_weight()


def check_recorded_weight():
    """Where the indicator looks at the models to be averaged, the weights do not wait for the next round."""
    method = make_algorithm("fedalign", eta_l=0.25, epsilon=1.9, indicator="local-at-aggregation")
    data = run(method, pair(), 1, record=["included", "weight", "participants"]).dataset
    assert data["included"].values[0, 0].tolist() == [True, True]  # at the broadcast model the gap is 3/2
    assert data["weight"].values[0, 0].tolist() == [1.0, 0.0] and data["participants"].values[0, 0] == 1
