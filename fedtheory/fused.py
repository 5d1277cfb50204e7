"""The compiled path: all local steps of a round in one function of C, for plain steps on linear scores and quadratics.

The function (``fused.c``) keeps a client's data in cache for all of its local steps (:mod:`fedtheory.compiled_problem` says
which steps). On a card a kernel takes its place (:mod:`fedtheory.card_steps`).
"""

import ctypes
from pathlib import Path

import numpy as np
from array_api_compat import is_torch_array

from fedtheory.compiled_problem import KINDS, LOSSES, fixed_numbers, problem_of, why_not_compiled
from fedtheory.native import NoLibrary, library
from synthetic.numbers.arrays import backend_of, to_numpy

__all__ = ["FusedSteps", "compiled_steps", "map_rounds", "why_not_fused"]

SOURCE = Path(__file__).with_name("fused.c")
TYPES = {"float32": ((), np.float32), "float64": (("-DDOUBLE",), np.float64)}


class _Problem(ctypes.Structure):
    """``struct problem`` of fused.c."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("runs", "participants", "clients", "n", "d", "steps", "kind", "loss")),
        *((name, ctypes.c_void_p) for name in ("features", "targets", "share", "counts", "chosen")),
        ("shared", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("x", "shift", "anchor", "eta", "pull")),
        *((name, ctypes.c_double) for name in ("ridge", "alpha", "scale", "width")),
        ("threads", ctypes.c_int64),
    ]


def _function(dtype: str):
    import torch

    threads = torch.get_num_threads()
    made = library(SOURCE, *TYPES[dtype][0], *(("-fopenmp",) if threads > 1 else ()))
    made.fused_steps.argtypes, made.fused_steps.restype = (ctypes.c_void_p,), ctypes.c_int
    return made.fused_steps, threads


def map_rounds(matrix, offset, x, rounds: int):
    """The models (rounds, runs, dim) of ``x <- x - matrix x + offset`` from ``x`` (runs, dim), run by run.

    ``matrix`` (runs | 1, dim, dim), ``offset`` (runs | 1, dim). None if the C code does not apply.
    """
    if not is_torch_array(x) or x.is_cuda or (dtype := backend_of(x).dtype) not in TYPES:
        return None
    import torch

    try:
        made = library(SOURCE, *TYPES[dtype][0])
    except NoLibrary:
        return None
    made.map_rounds.argtypes, made.map_rounds.restype = [ctypes.c_int64] * 5 + [ctypes.c_void_p] * 4, ctypes.c_int
    matrix, offset, x = (array.detach().contiguous() for array in (matrix, offset, x))
    found = torch.empty((rounds, *x.shape), dtype=x.dtype)
    pointers = (array.data_ptr() for array in (matrix, offset, x, found))
    if made.map_rounds(x.shape[0], rounds, x.shape[1], matrix.shape[0], offset.shape[0], *pointers):
        raise MemoryError("no memory for the rounds")
    return found


def _on_card(federation) -> bool:
    backend = federation.backend
    return backend.library == "torch" and backend.device.startswith("cuda")


def why_not_fused(algorithm, federation) -> str | None:
    """The reason, in words, why the local steps cannot be compiled where the federation's arrays are; None if they can."""
    if _on_card(federation):
        from fedtheory.card_steps import why_not_on_card

        return why_not_on_card(algorithm, federation)
    if reason := why_not_compiled(algorithm, federation):
        return reason
    backend = federation.backend
    if backend.library != "torch" or backend.device != "cpu" or backend.dtype not in TYPES:
        return "the compiled steps need torch on the CPU or on a CUDA device, in float32 or float64"
    try:
        _function(backend.dtype)
    except NoLibrary as reason:
        return str(reason)
    return None


def compiled_steps(algorithm, federation):
    """The compiled local steps where the federation's arrays are: in C on the processor, in one kernel on a card."""
    if _on_card(federation):
        from fedtheory.card_steps import CardSteps

        return CardSteps(algorithm, federation)
    return FusedSteps(algorithm, federation)


class FusedSteps:
    """The local steps of an algorithm on a federation: a call returns the participants after all steps of a round."""

    def __init__(self, algorithm, federation):
        self.algorithm, self.federation = algorithm, federation
        self.dtype = federation.backend.dtype
        self.real = TYPES[self.dtype][1]
        self.function, threads = _function(self.dtype)
        found = problem_of(federation)
        self.problem = _Problem(
            clients=federation.clients, n=found.n, d=federation.dim, steps=algorithm.local_steps,
            kind=KINDS.index(found.kind), loss=LOSSES.index(found.loss), shared=federation.instances == 1,
            ridge=found.ridge, alpha=found.alpha, scale=found.scale, width=found.width, threads=threads)
        self.fixed = fixed_numbers(algorithm)
        self.numbers, self.kept = None, []
        self._point(features=found.features, targets=found.targets)
        if found.share is not None:
            self._point(share=found.share, counts=found.counts)

    def _point(self, **arrays):
        """Sets pointers of the problem to arrays, and keeps the arrays alive."""
        for name, array in arrays.items():
            array = array.contiguous()
            self.kept.append(array)
            setattr(self.problem, name, array.data_ptr())

    def _each_step(self, context, runs):
        """Local steps and pulls, (runs, steps) each; the pulls None if there are none."""
        if self.numbers is not None and self.fixed and self.numbers[0].shape[0] == runs:
            return self.numbers
        steps, correction = self.algorithm.local_steps, self.algorithm.correction
        contexts = [context._replace(iteration=context.round * steps + j) for j in range(1 if self.fixed else steps)]
        pulls = [correction.pull(each) for each in contexts]
        self.numbers = tuple(
            None if values[0] is None else self._table(values, runs, steps)
            for values in ([self.algorithm.step_size(each) for each in contexts], pulls))
        return self.numbers

    def _table(self, values, runs, steps):
        columns = [np.broadcast_to(np.asarray(to_numpy(value), self.real).reshape(-1), runs) for value in values]
        return np.ascontiguousarray(np.broadcast_to(np.stack(columns, axis=1), (runs, steps)))

    def __call__(self, local, context):
        import torch

        problem, correction = self.problem, self.algorithm.correction
        x = local.x.detach().clone(memory_format=torch.contiguous_format)
        runs, participants, dim = x.shape
        shift = correction.shift(local, context)
        shift = None if shift is None else shift.expand(runs, participants, dim).contiguous()
        chosen = None if context.clients is None else context.clients.expand(runs, participants).contiguous()
        eta, pull = self._each_step(context, runs)
        anchor = None if pull is None else context.x.expand(runs, dim).contiguous()
        problem.runs, problem.participants = runs, participants
        for name, array in (("x", x), ("shift", shift), ("chosen", chosen), ("anchor", anchor)):
            setattr(problem, name, None if array is None else array.data_ptr())
        problem.eta, problem.pull = eta.ctypes.data, None if pull is None else pull.ctypes.data
        if self.function(ctypes.byref(problem)):
            raise MemoryError("no memory for the local steps")
        return local._replace(x=x)
