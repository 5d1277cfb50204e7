"""What the tests of single methods share: small federations, a look into every round, and the checks that all rows meet."""

from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np

from fedtheory import (
    EveryPriority,
    Observer,
    find_algorithm,
    load_trajectory,
    make_algorithm,
    resume,
    rounds_of,
    run,
)
from fedtheory.engine import starting_points
from synthetic import EXACT, NUMPY, TORCH, Draws, EnumeratedDraws, Quadratic, make_quadratic
from synthetic.numbers.draws import CLIENTS
from tests.bounds.each_claim import look_at_each
from tests.fedtheory.federations import moved, variant

__all__ = [
    "CLIENTS", "SEEDS", "check_all", "check_batches", "check_costs", "check_exact", "check_gathered", "check_numpy",
    "check_one_hyper_parameter_per_run", "check_resume", "clean", "maker", "noisy", "path", "rotated", "scaled", "sequences",
    "shifted_centers", "start_of", "subsets", "tilted", "watch", "with_arrays",
]

SEEDS = [3, 8, 2**33]


def rational(backend=TORCH) -> Quadratic:
    """Four clients of small rationals in two dimensions."""
    n = range(4)
    curvature = np.array([[[Fraction(1 + k % 3), Fraction(3 - k % 2)] for k in n]])
    center = np.array([[[Fraction(k - 2, 2), Fraction(3 - 2 * k, 4)] for k in n]])
    return Quadratic(curvature, center, backend=backend)


def clean(backend=TORCH, **options) -> Quadratic:
    """Diagonal quadratics of six clients in three dimensions, full gradients."""
    given = {"clients": 6, "dim": 3, "L": 4.0, "mu": 1.0, "seed": 11, "backend": backend}
    return make_quadratic(**given | options)


def noisy(backend=TORCH, **options) -> Quadratic:
    """The same with Gaussian noise."""
    return clean(backend, sigma=0.5, **options)


def start_of(federation, runs=1):
    """Starts away from zero, (runs, dim)."""
    return np.random.default_rng(5).normal(size=(runs, federation.dim))


# looking into a run --------------------------------------------------------------------------------------------------------
class _Watch(Observer):
    def __init__(self):
        self.g, self.x_local, self.ends, self.active = [], [], [], []

    def start_of_round(self, context, participation):
        self.g.append([])
        self.x_local.append([])

    def local_iteration(self, context, participation, x_local, gradient):
        self.g[-1].append(moved(gradient))
        self.x_local[-1].append(moved(x_local))

    def end_of_round(self, context, participation, x_local, state):
        self.ends.append(moved(x_local))
        self.active.append((moved(participation.weight) > 0) & np.ones((context.x.shape[0], 1), bool))


def watch(method, federation, rounds, *, seeds=(3,), start=None, draws=None, change=None):
    """All of a run, in NumPy: ``states`` before the first and after every round (x, server and client arrays by name),
    ``sent`` (broadcast models), ``out`` (returned models), and by round ``g`` and ``x_local`` (steps, runs, clients, dim),
    ``ends`` (runs, clients, dim) and ``active`` (runs, clients). ``change(state)`` alters the first state."""
    draws = Draws(list(seeds), federation.backend) if draws is None else draws
    start = start_of(federation, draws.runs) if start is None else start
    state = method.init(federation, starting_points(federation, start, draws.runs), draws)
    state = state if change is None else change(state)
    seen = _Watch()
    states = [state, *rounds_of(method, federation, state, draws, 0, rounds, (seen,))]
    arrays = [{name: moved(value) for name, value in (s.server | {f"client {n}": v for n, v in s.clients.items()}).items()}
              for s in states]
    return SimpleNamespace(
        x=[moved(s.x) for s in states], out=[moved(method.output(s)) for s in states], arrays=arrays,
        g=[np.stack(each) for each in seen.g], x_local=[np.stack(each) for each in seen.x_local], ends=seen.ends,
        active=seen.active, states=states)


def path(method, federation, rounds, **options):
    """The returned models, (rounds + 1, runs, dim)."""
    return np.stack(watch(method, federation, rounds, **options).out)


def with_arrays(backend, server=None, clients=None, x=None):
    """A change of the first state: other arrays of the server and of the clients, by name."""
    def change(state):
        server_new = {name: backend.array(value) + 0 * state.server[name] for name, value in (server or {}).items()}
        clients_new = {name: backend.array(value) + 0 * state.clients[name] for name, value in (clients or {}).items()}
        first = state.x if x is None else backend.array(x) + 0 * state.x
        return state._replace(x=first, server=state.server | server_new, clients=state.clients | clients_new)

    return change


def subsets(tables, backend=TORCH):
    """Draws by which run i's sampled clients in round t are ``tables[i][t]``."""
    return EnumeratedDraws({CLIENTS: np.array(tables)}, backend)


def sequences(clients, size, rounds):
    """Every sequence of sampled subsets over ``rounds`` rounds, for enumeration."""
    found = [[]]
    for _ in range(rounds):
        found = [[*before, list(subset)] for before in found for subset in combinations(range(clients), size)]
    return found


# other problems ------------------------------------------------------------------------------------------------------------
def scaled(federation, loss, length):
    """``loss * F(x / length)``, noise included where there is none."""
    return variant(federation, curvature=federation.curvature * (loss / length**2), center=federation.center * length,
                   offset=federation.offset * loss)


def rotated(federation, Q, v):
    """``F(Q^T (x - v))``: every trajectory becomes ``Q x + v``. ``federation`` may be diagonal or dense."""
    A, c = moved(federation.curvature), moved(federation.center)
    A = np.einsum("nki,ij->nkij", A, np.eye(federation.dim)) if A.ndim == 3 else A
    return Quadratic(Q @ A @ Q.T, c @ Q.T + v, moved(federation.offset), moved(federation.weights),
                     backend=federation.backend)


def shifted_centers(federation, move):
    """The same curvatures with centers moved by ``move`` (clients, dim)."""
    return variant(federation, center=federation.center + federation.backend.array(move))


def tilted(federation, b):
    """``F_k + <b_k, x>`` for diagonal curvatures, up to constants."""
    return shifted_centers(federation, -b / moved(federation.curvature[0]))


# what every row meets ----------------------------------------------------------------------------------------------------
def _record(method, federation, rounds=5, **options):
    runs = len(options.get("seeds", SEEDS))
    given = {"seeds": SEEDS, "start": start_of(federation, runs), "record": ["x"]}
    return run(method, federation, rounds, **given | options)


def _arrays(state):
    return state.server | {f"client {name}": value for name, value in state.clients.items()}


def _close(a, b, tolerance=1e-11):
    np.testing.assert_allclose(moved(a), moved(b), rtol=tolerance, atol=tolerance)


def check_gathered(make, federation=None):
    """Computing the participants alone is computing everybody, for the models and for every array kept."""
    federation = noisy() if federation is None else federation
    method = make(participants=2)
    alone, everybody = _record(method, federation), _record(method, federation, record=["x", "x_local"])
    _close(alone.dataset["x"].values, everybody.dataset["x"].values)
    assert _arrays(alone.state).keys() == _arrays(everybody.state).keys()
    for name, values in _arrays(alone.state).items():
        _close(values, _arrays(everybody.state)[name])
    assert alone.dataset["x"].values[:, 1:].std() > 1e-3


def check_numpy(make):
    """torch and NumPy agree."""
    for options in ({}, {"participants": 2}):
        method = make(**options)
        first, second = _record(method, noisy(TORCH)), _record(method, noisy(NUMPY))
        _close(first.dataset["x"].values, second.dataset["x"].values)


def check_batches(make):
    """A run is the same bit for bit alone and in a batch."""
    federation = noisy()
    method = make(participants=2)
    together = _record(method, federation).dataset["x"].values
    for i, seed in enumerate(SEEDS):
        single = _record(method, federation, seeds=[seed], start=start_of(federation, len(SEEDS))[i]).dataset["x"].values
        np.testing.assert_array_equal(single[0], together[i])


def check_resume(make, tmp_path):
    """Five rounds are two rounds, a file, and three more, bit for bit."""
    federation, method = noisy(), make(participants=2)
    whole, part = _record(method, federation), _record(method, federation, rounds=2)
    stored = load_trajectory(part.save(tmp_path / "a.run"))
    more = resume(stored, method, federation, 3)
    np.testing.assert_array_equal(whole.dataset["x"].values, more.dataset["x"].values)
    for name, values in _arrays(whole.state).items():
        np.testing.assert_array_equal(moved(values), moved(_arrays(more.state)[name]))


def check_exact(make):
    """On fractions every number stays one, and floats are near."""
    for options in ({}, {"participants": 2}):
        exact = run(make(**options), rational(EXACT), 3, seeds=[3], start=[Fraction(1, 2), Fraction(-1, 4)], record=["x"])
        values = exact.dataset["x"].values
        assert all(isinstance(value, (int, Fraction)) for value in values.ravel())
        floats = run(make(**options), rational(NUMPY), 3, seeds=[3], start=[0.5, -0.25], record=["x"])
        _close(values, floats.dataset["x"].values)
        assert np.ptp(moved(values)[:, 1:]) > 1e-3


def check_costs(make, down, up, gradients):
    """Models down and up and gradients of each participant and round; nothing for the others."""
    federation, method = noisy(), make(participants=2)
    data = _record(method, federation, record=["downlink_floats", "uplink_floats", "gradients", "weight"]).dataset
    active = data["weight"].values > 0
    assert (active.sum(axis=-1) == (6 if isinstance(method.selection.sampling, EveryPriority) else 2)).all()
    for name, expected in (("downlink_floats", down * 3), ("uplink_floats", up * 3), ("gradients", gradients)):
        np.testing.assert_array_equal(data[name].values, active * expected)


def check_one_hyper_parameter_per_run(make, numbers):
    """Arrays of hyper-parameters act on their own run. ``numbers``: those that the row gives, by name."""
    values = {name: [value, 2 * value / 3] for name, value in numbers.items()}
    together = run(make(**{name: np.array(pair) for name, pair in values.items()}), noisy(), 3, seeds=2, record=["x"])
    for i in range(2):
        single = run(make(**{name: pair[i] for name, pair in values.items()}), noisy(), 3, seeds=[i], record=["x"])
        np.testing.assert_allclose(single.dataset["x"].values[0], together.dataset["x"].values[i], rtol=1e-12, atol=1e-12)


def check_all(make, tmp_path, costs=None, exact=False, numbers=None, sampled=True):
    """What every row owes; all checks that fail are named. ``costs``: of :func:`check_costs`; ``exact``: whether it runs on
    fractions; ``numbers``: of :func:`check_one_hyper_parameter_per_run`; ``sampled``: whether clients may be sampled."""
    checks = {"numpy": lambda: check_numpy(make), "batches": lambda: check_batches(make),
              "resume": lambda: check_resume(make, tmp_path)}
    if sampled:
        checks["gathered"] = lambda: check_gathered(make)
    if costs:
        checks["costs"] = lambda: check_costs(make, *costs)
    if exact:
        checks["fractions"] = lambda: check_exact(make)
    if numbers:
        checks["one hyper-parameter per run"] = lambda: check_one_hyper_parameter_per_run(make, numbers)
    look_at_each(checks, lambda name: checks[name]())


def maker(name, **arguments):
    """The maker of a row, with further arguments on top; without ``participants`` where the method does not sample."""
    taken = find_algorithm(name).arguments
    sampling = "participants" in taken and arguments.get("variant") != "fresh"

    def make(**more):
        more = {key: value for key, value in more.items() if key != "participants" or sampling}
        return make_algorithm(name, **arguments | more)

    return make
