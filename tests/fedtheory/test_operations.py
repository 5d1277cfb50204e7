"""How many operations of torch a round takes besides its local steps, as runs on the processor compute it by default."""

import pytest
from torch.utils._python_dispatch import TorchDispatchMode

from benchmarks.ours import prepared
from benchmarks.workload import Workload
from fedtheory import make_algorithm, run
from synthetic import make_problem

SMALL = Workload(clients=4, samples=3, dim=6, local_steps=1, rounds=1)
FEDERATIONS = {
    "least squares": lambda: prepared(SMALL)[1], "quadratic": lambda: make_problem("quadratic", dim=6).with_layers(3),
}
ROUNDS = 16  #: whose mean is taken, as draws of some rounds are made together

#: at most so many of a round of a method, on least squares and on quadratics, with what is recorded by default
MOST = {
    "fedavg": (10, 15), "scaffold": (26, 31), "fadamgc": (27, 32), "fedluar": (69, 76),
}


class Counted(TorchDispatchMode):
    """Counts operations."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += 1
        return function(*args, **(kwargs or {}))


def of_rounds(method, federation, rounds: int) -> int:
    with Counted() as counted:
        run(method, federation, rounds, seeds=4, path="steps")
    return counted.count


def besides_steps(name: str, federation) -> float:
    """Operations of a round without local steps: those of a round with one, less those that a second one adds."""
    each = []
    for steps in (1, 2):
        method = make_algorithm(name, eta_l=0.01, local_steps=steps)
        of_rounds(method, federation, 1)  # what is computed once for a federation
        each.append((of_rounds(method, federation, 2 * ROUNDS) - of_rounds(method, federation, ROUNDS)) / ROUNDS)
    return 2 * each[0] - each[1]


@pytest.mark.parametrize(("place", "federation"), list(enumerate(FEDERATIONS)), ids=FEDERATIONS)
@pytest.mark.parametrize("name", MOST)
def test_a_round_takes_few_operations_besides_its_local_steps(name, place, federation):
    assert besides_steps(name, FEDERATIONS[federation]()) <= MOST[name][place]
