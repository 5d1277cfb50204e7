"""Runs on letters: the reduced representation says what clients one by one say, and what is not linear is refused."""

from dataclasses import dataclass
from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory import ALGORITHMS, ServerOptimiser, make_algorithm
from fedtheory.engine import rounds_of
from synthetic.base.federation import Federation
from synthetic.numbers.arrays import EXACT
from synthetic.symbolic.combination import NotLinear
from synthetic.symbolic.symbolic_federation import NoChance, SymbolicFederation, TooManyBasisVectors
from tests.not_empty import not_empty

STEPS = {"eta_l": Q(1, 4), "local_steps": 2}
EXACTLY = {"solver": "exact", "rho_prox": Q(1, 2)}
#: some that are linear: name and arguments
LINEAR = [(name, STEPS) for name in (
    "fedavg", "fedprox", "fednova", "fedavgm", "fedcm", "fedacg", "fedspeed", "fedswa", "fedmoswa", "fedadmm", "fedmo",
    "scaffold-m", "feddyn", "fedpd", "afedpd", "local-only")]
LINEAR += [("scaffold", STEPS | {"option": option, "start": start}) for option, start in (
    ("I", "zero"), ("I", "gradient"), ("II", "gradient"), ("average-gradient", "gradient-clients-only"))]
LINEAR += [(name, EXACTLY) for name in ("feddyn", "fedpd", "afedpd")]


def run(federation, start, algorithm, rounds):
    """The output after some rounds."""
    draws = NoChance()
    first = algorithm.init(federation, start, draws)
    *_, last = rounds_of(algorithm, federation, first, draws, 0, rounds)
    return algorithm.output(last)


class OneLoss(Federation):
    """A letter per client and point, without any reduction, in fractions: coordinate 0 is the start."""

    x_star = F_star_client = None

    def __init__(self, clients, most):
        self.clients, self.most, self.dim, self.points = clients, most, 1 + clients * most, []
        self._set_weights(EXACT.array(np.ones((1, clients))), EXACT.booleans(np.ones((1, clients))))
        self.gradient(self.zero())

    def zero(self):
        return EXACT.array(np.zeros((1, self.clients, self.dim)))

    def start(self):
        return EXACT.array(np.eye(self.dim)[:1])

    def new_vector(self):
        found = self.zero()
        for k in range(self.clients):
            found[0, k, 1 + k * self.most + len(self.points)] = Q(1)
        return found

    def gradient(self, x, clients=None):
        for where, gradient in self.points:
            if (where == x).all():
                return gradient
        self.points.append((x.copy(), self.new_vector()))
        return self.points[-1][1]

    def prox(self, linear, rho, center, clients=None):
        gradient = self.new_vector()
        self.points.append((center - (linear + gradient) / rho, gradient))
        return self.points[-1][0]

    def value(self, x, clients=None):
        raise NotLinear

    smoothness = convexity = value

    def parts(self, row):
        """Coefficients over start and mean letters, and over the first client's deviations."""
        own, other = (row[1 + k * self.most : 1 + k * self.most + len(self.points)] for k in (0, 1))
        return [row[0], *(own + (self.clients - 1) * other)], [*(own - other)]


def both(name, arguments, clients=3, rounds=3, most=40):
    """The two runs' points and outputs, as coefficients of means and of deviations."""
    algorithm = make_algorithm(name, **arguments)
    letters, alone = SymbolicFederation(most, clients, exact=True), OneLoss(clients, most)
    x, y = run(letters, letters.start, algorithm, rounds), run(alone, alone.start(), algorithm, rounds)
    reduced = [tuple(map(list, letters.parts(row))) for point in letters.points for row in point]
    return [reduced, list(letters.mean_of(x))], [[alone.parts(row[0, 0]) for point in alone.points for row in point],
                                                 alone.parts(y[0])[0]]


@pytest.mark.parametrize("name, arguments", LINEAR, ids=lambda value: value if isinstance(value, str) else "")
def test_the_reduced_run_is_that_of_clients_one_by_one(name, arguments):
    one, other = both(name, arguments)
    assert one == other


def test_every_registered_method_agrees_or_is_refused():
    linear = set()
    for name in ALGORITHMS:
        try:
            one, other = both(name, {}, rounds=2)
        except (NotLinear, ValueError):
            continue
        linear.add(name)
        assert one == other, name
    assert linear >= {name for name, _ in LINEAR}


@pytest.mark.parametrize("name, arguments", LINEAR, ids=lambda value: value if isinstance(value, str) else "")
def test_floats_are_near_fractions(name, arguments):
    rows = []
    for exact in (True, False):
        letters = SymbolicFederation(40, 2, exact)
        x = run(letters, letters.start, make_algorithm(name, **arguments), 3)
        rows.append([letters.mean_of(x), *(row for point in letters.points for row in point)])
    assert all(np.abs(a.astype(float) - b).max() < 1e-12 for a, b in not_empty(zip(*rows, strict=True)))


def test_any_number_of_clients_has_the_same_run():
    algorithm = make_algorithm("scaffold", **STEPS)
    first, *others = [[letters.mean_of(run(letters, letters.start, algorithm, 2)), letters.points]
                      for letters in (SymbolicFederation(20, clients, exact=True) for clients in (2, 3, 1000))]
    assert all(str(other) == str(first) for other in others) and len(first[1]) == 5


def test_no_two_points_share_a_letter():
    """A method's init works on a copy of the federation, whose letters must not be given again."""
    letters = SymbolicFederation(40)
    run(letters, letters.start, make_algorithm("scaffold", start="gradient", **STEPS), 2)
    assert np.linalg.matrix_rank(np.array([gradient for _, gradient in letters.points])) == len(letters.points) == 5


def test_a_local_problem_is_solved_and_knows_its_gradient():
    letters = SymbolicFederation(5, exact=True)
    x, linear = letters.all_clients(letters.start), letters.new_vector()
    v = letters.prox(linear, Q(1, 3), x)
    rest = letters.gradient(v) + linear + Q(1, 3) * (v - x)
    assert not letters.row(rest).any() and len(letters.points) == 2


@dataclass(frozen=True)
class Faulty(ServerOptimiser):
    """Changes the average in a way that is not linear in whole vectors."""

    change: object = None

    def step(self, average, context):
        return self.change(average), {}


def masked(x):
    return x * np.array([1, 0])


FAULTS = {
    "a coordinate": masked, "coordinates mixed": lambda x: x + x[:, ::-1], "one number for all": lambda x: 0 * x + x[:, :1],
    "a square": lambda x: x * x, "a power": lambda x: x**2, "a quotient": lambda x: x / x, "a shift": lambda x: x + 1,
    "a comparison": lambda x: np.where(x > 0, x, -x), "a length": lambda x: x * abs(x), "a rounding": lambda x: x // 1,
    "a number": lambda x: 0 * x + 1, "equality": lambda x: x * (x == 0), "a float": lambda x: x.astype(float),
}


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_not_linear_is_refused(fault, exact):
    letters = SymbolicFederation(20, 2, exact)
    algorithm = make_algorithm("fedavg", **STEPS).having(server=Faulty(FAULTS[fault]))
    with pytest.raises(NotLinear):
        letters.mean_of(run(letters, letters.start, algorithm, 2))


@pytest.mark.parametrize("name, arguments", [
    ("fedavg", {"participants": 1}), ("feddropoutavg", {}), ("fedalign", {}), ("fedsam", {}), ("fedadam", {}), ("lbgm", {}),
    ("fednova", {"client_steps": [1, 2]}), ("fedpd", {"solver": "tolerance", "epsilon": 0.1, "local_steps": 1}),
])
def test_methods_with_chance_losses_lengths_or_unlike_clients_are_refused(name, arguments):
    letters = SymbolicFederation(20)
    with pytest.raises(NotLinear):
        run(letters, letters.start, make_algorithm(name, **{"local_steps": 2} | arguments), 2)


def test_too_many_letters_are_refused():
    letters = SymbolicFederation(5)
    with pytest.raises(TooManyBasisVectors):
        run(letters, letters.start, make_algorithm("fedavg", **STEPS), 3)
