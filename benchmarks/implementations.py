"""Every implementation of the reference workload: a new one is a new row."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from benchmarks import ours, yardsticks
from benchmarks.workload import Workload
from fedtheory.observables import DEFAULT

__all__ = ["ROWS", "Row", "prepare"]


@dataclass(frozen=True)
class Row:
    """``build(workload)`` returns a call that computes all models, (rounds + 1, dim).

    A slow row computes only ``share`` of the rounds, and its time is divided by it: all rounds cost the same. Rows of other
    methods than FedAvg are not checked against the reference.
    """

    name: str
    build: Callable[[Workload], Callable]
    dtypes: tuple[str, ...] = ("float32", "float64")
    share: float = 1.0
    checked: bool = True


ROWS = (
    Row("fedtheory, averaged affine map", ours.affine_map, ("float64",)),
    Row("C, one pass over the data", yardsticks.c_kernel),
    Row("JAX, jit(scan(vmap(grad)))", yardsticks.jax_scan),
    Row("NumPy, batched by hand", yardsticks.numpy_batched),
    Row("torch, batched by hand", yardsticks.torch_batched),
    Row("fedtheory, compiled", ours.compiled),
    Row("fedtheory, step by step", ours.step_by_step),
    Row("fedtheory, SCAFFOLD, compiled", partial(ours.compiled, method="scaffold"), checked=False),
    Row("fedtheory, SCAFFOLD, step by step", partial(ours.step_by_step, method="scaffold"), checked=False),
    Row("fedtheory.run, step by step", partial(ours.recorded, path="steps")),
    Row("fedtheory.run, compiled", partial(ours.recorded, path="compiled")),
    Row("fedtheory.run, path auto", partial(ours.recorded, record=DEFAULT)),
    Row("FedJAX", yardsticks.fedjax_rounds, ("float32",), share=0.05),
    Row("torch, nn.Module and SGD per client", yardsticks.torch_loop, share=0.03),
    Row("torch, nn.Module, SGD and DataLoader per client", yardsticks.torch_loaded, share=0.02),
)


def prepare(row: Row, dtype: str, workload: Workload):
    """The checked call and its error; raises Unavailable, and ValueError if the row computes something else."""
    workload = replace(workload, dtype=dtype, rounds=max(1, round(workload.rounds * row.share)))
    call = row.build(workload)
    models = call()
    return call, workload.check(row.name, models) if row.checked else None, workload
