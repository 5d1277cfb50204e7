"""FedAvg's worst case as PEPit's users write it; ``python -m benchmarks.worst_case_peer`` reads cases, and needs PEPit."""

import json
import platform
import sys
import time
from importlib.metadata import version

__all__ = ["fedavg"]


def fedavg(local_steps: int, rounds: int, clients: int = 2, L: float = 1.0, mu: float = 0.1, zeta: float = 1.0) -> float:
    """The largest |x_R - x_*|^2 with steps of 1/local_steps, |x_0 - x_*| <= 1 and mean |grad F_k(x_*)|^2 <= zeta^2."""
    from PEPit import PEP
    from PEPit.functions import SmoothStronglyConvexFunction

    problem = PEP()
    losses = [problem.declare_function(SmoothStronglyConvexFunction, mu=mu, L=L, reuse_gradient=True)
              for _ in range(clients)]
    best = (sum(losses[1:], losses[0]) / clients).stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - best) ** 2 <= 1)
    squares = [loss.gradient(best) ** 2 for loss in losses]
    problem.add_constraint(sum(squares[1:], squares[0]) / clients <= zeta**2)
    for _ in range(rounds):
        models = [x] * clients
        for _ in range(local_steps):
            models = [y - loss.gradient(y) / local_steps for y, loss in zip(models, losses, strict=True)]
        x = sum(models[1:], models[0]) / clients
    problem.set_performance_metric((x - best) ** 2)
    return problem.solve(verbose=0, solver="CLARABEL")


def main() -> None:
    """Answer each line, a JSON list of sizes, with ratio and processor seconds; the first line goes out unasked."""
    fedavg(2, 1)
    packages = ("pepit", "cvxpy", "clarabel", "numpy")
    print(json.dumps({"python": platform.python_version(), **{name: version(name) for name in packages}}), flush=True)
    for line in sys.stdin:
        began = time.process_time()
        ratio = fedavg(*json.loads(line))
        print(json.dumps([ratio, time.process_time() - began]), flush=True)


if __name__ == "__main__":
    main()
