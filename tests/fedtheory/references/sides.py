"""Both sides of a comparison: a method's batched run, and what the slow reference of the same run is given."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from fedtheory import Geometric, Independent, PriorityOnly, Selection, WithReplacement, make_algorithm, run
from fedtheory.registry import find_algorithm
from synthetic import EXACT, NUMPY, TORCH, Draws, FiniteNoise, Quadratic, make_quadratic, to_numpy
from synthetic.numbers.draws import CLIENTS as SAMPLING
from tests.fedtheory.references.common import EXTRA, START, Given

__all__ = [
    "ETA", "EXACT", "FALLING", "NUMPY", "SEEDS", "TORCH", "Row", "batched", "dense", "diagonal", "given", "rational",
    "referred", "row", "sampling", "start_of", "uneven",
]

SEEDS = [7, 2**40]
ETA, FALLING = Fraction(1, 16), Geometric(Fraction(1, 16), Fraction(3, 4))
CLIENTS, DIM = 5, 3


@dataclass(frozen=True)
class Row:
    """A method with its maker's ``arguments``, and ``reference(given, **told)`` -> path of models.

    Numbers may be fractions: they become floats where arrays do. ``participants``: how many clients take part in the
    rounds, None for all. ``layers``: layer sizes of the federation. ``exact``: whether the method keeps to + - * / and
    comparisons. ``chance(given, federation, algorithm, seed, rounds)``: keyword arguments of the reference that hold what
    the method left to chance. ``first_samples``: the iteration whose samples are those before the first round.
    ``exact_rounds``: how long a run in fractions may be; they grow fast where numbers are divided by one another.
    ``weighted``: whether the reference knows unequal weights.
    """

    method: str
    arguments: dict
    reference: Callable
    told: dict = field(default_factory=dict)
    exact: bool = True
    participants: tuple = (None, 3)
    layers: tuple[int, ...] | None = None
    local_steps: int = 3
    chance: Callable = lambda *_: {}
    first_samples: int = -1
    exact_rounds: int = 50
    weighted: bool = True

    @property
    def allowed(self):
        """The arguments of the method's maker."""
        return find_algorithm(self.method).arguments

    def make(self, participants, backend, scheme="without-replacement"):
        """The algorithm; ``participants`` may be a law, too."""
        if isinstance(participants, Independent):
            return self.make(None, backend).having(selection=Selection(PriorityOnly(), participants))
        allowed = self.allowed
        given = {"participants": participants, "sampling": scheme, "local_steps": self.local_steps}
        given = {name: value for name, value in given.items() if name in allowed and value is not None}
        return make_algorithm(self.method, **given | {name: on(backend, value) for name, value in self.arguments.items()})


def row(method, reference, arguments=None, told=None, eta="eta_l", step=ETA, common=None, **options):
    """A row with the usual local step, which the reference calls ``eta``; ``common`` goes to both under one name."""
    common = common or {}
    arguments, told = {"eta_l": step} | common | (arguments or {}), {eta: step} | common | (told or {})
    return Row(method, arguments, reference, told, **options)


def on(backend, value):
    """A hyper-parameter for a backend: a fraction becomes a float unless the backend is exact."""
    if isinstance(value, Fraction):
        return value if backend is EXACT else float(value)
    if isinstance(value, Geometric):
        return Geometric(on(backend, value.value), on(backend, value.ratio))
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value if backend is EXACT else value.astype(float)
    if isinstance(value, (tuple, list)):
        return type(value)(on(backend, item) for item in value)
    return value


def _falling(value):
    """A geometric schedule as a function of the round."""
    return (lambda t: value.value * value.ratio**t) if isinstance(value, Geometric) else value


# federations ---------------------------------------------------------------------------------------------------------------
def diagonal(backend):
    """Diagonal quadratics with noise on two points."""
    return make_quadratic(CLIENTS, DIM, L=4.0, mu=1.0, sigma=[0.1, 0.2, 0.3, 0.4, 0.5], noise="two-point", seed=3,
                          backend=backend)


def dense(backend, dim=DIM, weights=None):
    """Rotated quadratics with Gaussian noise."""
    return make_quadratic(
        CLIENTS, dim, L=4.0, mu=1.0, sigma=0.5, hessians="rotated", weights=weights, seed=5, backend=backend)


def rational(backend):
    """Diagonal quadratics of small rationals, with noise on two points."""
    n, half = range(CLIENTS), Fraction(1, 2)
    curvature = [[[Fraction(4 + (k + j) % 4, 4) for j in range(DIM)] for k in n]]
    center = [[[Fraction((3 * k + 5 * j) % 7 - 3, 2) for j in range(DIM)] for k in n]]
    atom = [[Fraction((k + j) % 3 - 1, 8) for j in range(DIM)] for k in n]
    atoms = [[[row, [-value for value in row]] for row in atom]]
    noise = FiniteNoise(backend.array(atoms), backend.array([half] * 2))
    return Quadratic(np.array(curvature), np.array(center), noise=noise, backend=backend)


def uneven(backend):
    """Diagonal quadratics with noise on two points, of clients with unequal weights."""
    return make_quadratic(CLIENTS, DIM, L=4.0, mu=1.0, sigma=[0.5, 0.1, 0.3, 0.2, 0.4], noise="two-point", seed=4,
                          weights=[5.0, 1.0, 3.0, 2.0, 4.0], backend=backend)


def start_of(federation):
    """A start away from zero, (dim,), in dyadic fractions."""
    return np.array([Fraction(5, 4), Fraction(-3, 4), Fraction(1, 2)][:federation.dim])


# the two sides -------------------------------------------------------------------------------------------------------------
def _laid_out(row, federation):
    return federation if row.layers is None else federation.with_layers(row.layers)


def batched(row, make, backend, participants, rounds, seeds=SEEDS, scheme="without-replacement"):
    """The models of the engine's runs, (runs, rounds + 1, dim)."""
    federation = _laid_out(row, make(backend))
    algorithm = row.make(participants, backend, scheme)
    return run(algorithm, federation, rounds, start=start_of(federation), seeds=seeds, record=["x"]).dataset["x"].values


def sampling(federation, algorithm, draws, rounds):
    """The weights of the sampled clients in the mean of every round, by client, as in the docstring of ``fedavg``."""
    p, law = federation.weights[0].tolist(), algorithm.selection.sampling
    if isinstance(law, Independent):
        chance = law.probability or law.participants / len(p)
        taking = [to_numpy(draws.bernoulli(SAMPLING, chance, t, draws.client_numbers(len(p)), 1))[0, :, 0].tolist()
                  for t in range(rounds)]
        if law.divisor == "expected":
            return [{k: p[k] / chance for k, takes in enumerate(row) if takes} for row in taking]
        return [{k: p[k] / sum(q for q, takes in zip(p, row, strict=True) if takes) for k, takes in enumerate(row) if takes}
                for row in taking]
    if not hasattr(law, "participants"):
        return [dict(enumerate(p))] * rounds
    weights, size = [], law.participants
    for t in range(rounds):
        if isinstance(law, WithReplacement):
            numbers = draws.uniform(SAMPLING, t, draws.client_numbers(size), ndim=2)[0].tolist()
            reached = [float(sum(p[:k + 1])) for k in range(len(p))]
            drawn = [next(k for k in range(len(p)) if u < reached[k] or k == len(p) - 1) for u in numbers]
            weights.append({k: drawn.count(k) / size for k in sorted(set(drawn))})
        else:
            drawn = to_numpy(draws.subset(SAMPLING, t // law.held, len(p), size))[0].tolist()
            weights.append({k: p[k] * len(p) / size for k in sorted(drawn)})
    return weights


def given(row, federation, algorithm, seed, rounds) -> Given:
    """What a reference needs to know of the run with that seed, with the same samples and participants."""
    draws = Draws([seed], federation.backend)
    weights = sampling(federation, algorithm, draws, rounds)

    def grad(i, x, t, k):
        iteration = row.first_samples - k if t == START else -2 - t if k == EXTRA else t * algorithm.local_steps + k
        return federation.stochastic_gradient(x[None, None], draws, iteration, np.array([[i]]))[0, 0]

    def full(i, x):
        return federation.gradient(x[None, None], np.array([[i]]))[0, 0]

    def minimise(i, linear, rho, center):
        A, b = federation.curvature[0, i], federation.center[0, i]
        if A.ndim == 1:
            return (A * b + rho * center - linear) / (A + rho)
        return np.linalg.solve(A + rho * np.eye(len(b)), A @ b + rho * center - linear)

    x, shares = federation.backend.array(start_of(federation)), federation.weights[0].tolist()
    active = [list(numbers) for numbers in weights]
    of_models = getattr(algorithm.selection.sampling, "averaged", "") == "models"
    return Given(grad, x, active, federation.clients, algorithm.local_steps, weights, shares, minimise, full, of_models)


def referred(row, make, participants, rounds, seeds=SEEDS, backend=NUMPY, scheme="without-replacement"):
    """The models of the reference's runs, (runs, rounds + 1, dim)."""
    federation = _laid_out(row, make(backend))
    algorithm = row.make(participants, backend, scheme)
    told = {name: _falling(on(backend, value)) for name, value in row.told.items()}
    paths = []
    for seed in seeds:
        facts = given(row, federation, algorithm, seed, rounds)
        chance = row.chance(facts, federation, algorithm, seed, rounds)
        paths.append(np.stack(row.reference(facts, **told, **chance)))
    return np.stack(paths)
