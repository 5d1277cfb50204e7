"""``python -m benchmarks.cuda``: a batch that fills a GPU, against the measured peak rates of that GPU.

A round of FedAvg for thousands of runs that share the data of 100 clients is two matrix products a local step. Their rate is
compared with that of one large product, and the traffic of their elementwise operations with that of a large copy. The same
round as a CUDA graph shows what launches cost.
"""

import datetime
import statistics
import sys

import numpy as np
import torch

import fedtheory
from benchmarks.workload import Workload
from fedtheory.engine import one_round
from synthetic import LeastSquares
from synthetic.numbers.arrays import Backend
from synthetic.numbers.draws import Draws

__all__ = ["ceilings", "main", "round_of", "why_not"]

RUNS, REPEATS = 4096, 7


def why_not() -> str | None:
    """Why there is nothing to measure, or None."""
    return None if torch.cuda.is_available() else "there is no CUDA device"


def seconds(call) -> float:
    """Median time of a call on the device, after one to warm up."""
    call()
    taken = []
    for _ in range(REPEATS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        taken.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(taken)


def ceilings(dtype, size=8192) -> tuple[float, float]:
    """GFLOP/s of a large product and GB/s of a large copy."""
    a, b = (torch.randn(size, size, dtype=dtype, device="cuda") for _ in range(2))
    product = 2 * size**3 / seconds(lambda: a @ b) / 1e9
    return product, 2 * a.numel() * a.element_size() / seconds(lambda: b.copy_(a)) / 1e9


def round_of(workload, runs: int, device="cuda"):
    """The state before a round of many runs, and a function that computes the state after the round."""
    backend = Backend("torch", device, getattr(torch, workload.dtype))
    counts = np.full((1, workload.clients), workload.samples)
    federation = LeastSquares(workload.features[None], workload.targets[None, ..., None], counts, backend=backend)
    algorithm = fedtheory.make_algorithm("fedavg", eta_l=workload.eta, local_steps=workload.local_steps)
    draws = Draws(np.arange(runs), backend)
    start = backend.array(np.random.default_rng(1).standard_normal((runs, workload.dim)))
    return algorithm.init(federation, start, draws), lambda state: one_round(
        algorithm, federation, state, draws, 0, everyone=False)


def captured(state, step):
    """The round as a CUDA graph: a call that replays it."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step(state)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(state)
    return graph.replay


def measure(dtype: str, runs: int) -> list[str]:
    """Lines that say how fast a round of many runs is, launched one by one and as a graph."""
    workload, kind = Workload(dtype, rounds=1), getattr(torch, dtype)
    product, copy = ceilings(kind)
    state, step = round_of(workload, runs)
    found = [f"{dtype}: ceilings {product:.0f} GFLOP/s, {copy:.0f} GB/s"]
    calls = {"one by one": lambda: step(state)}
    try:
        calls["as a graph"] = captured(state, step)
    except RuntimeError as error:
        found.append(f"  no graph: {str(error).splitlines()[0]}")
    scores = runs * workload.clients * workload.samples
    models = runs * workload.clients * workload.dim
    moved = workload.local_steps * (4 * scores + 7 * models) * state.x.element_size()  # reads and writes of a step's arrays
    for name, call in calls.items():
        taken = seconds(call)
        rate, traffic = runs * workload.flop / taken / 1e9, moved / taken / 1e9
        found.append(f"  {runs} runs x {workload.clients} clients, {name}: {1e3 * taken:.2f} ms a round, {rate:.0f} GFLOP/s "
                     f"({rate / product:.0%}), {traffic:.0f} GB/s ({traffic / copy:.0%})")
    return found


def main() -> int:
    if reason := why_not():
        print(f"left out: {reason}")
        return 0
    torch.backends.cuda.matmul.allow_tf32 = False  # what is compared must have the precision of the CPU's results
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {datetime.date.today()}")
    with torch.no_grad():
        for dtype in ("float32", "float64"):
            for runs in (1, RUNS):
                print(*measure(dtype, runs), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
