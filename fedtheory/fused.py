"""The compiled path: all local steps of a round in one function of C, for plain steps on linear scores and quadratics.

The function (``fused.c``) keeps a client's data in cache for all of its local steps. It computes gradient steps on
F_k(x) = sum_i share_i loss(a_i x, b_i) + penalty, or on a quadratic, with a shift that is fixed within a round and a pull to
the broadcast model (:attr:`fedtheory.parts.Correction.fixed_in_round`).
"""

import ctypes
from pathlib import Path

import numpy as np
from array_api_compat import is_torch_array

from fedtheory.native import NoLibrary, library
from fedtheory.plain import own_numbers, why_not_plain
from fedtheory.schedules import Schedule
from synthetic.base.noise import NoNoise
from synthetic.data.federation import DataFederation
from synthetic.data.generalised_linear import GeneralisedLinear
from synthetic.data.least_squares import LeastSquares
from synthetic.data.logistic import BinaryLogistic
from synthetic.numbers.arrays import backend_of, to_numpy
from synthetic.quadratic.quadratic import Quadratic

__all__ = ["FusedSteps", "map_rounds", "why_not_fused"]

SOURCE = Path(__file__).with_name("fused.c")
TYPES = {"float32": ((), np.float32), "float64": (("-DDOUBLE",), np.float64)}
DATA, DENSE, DIAGONAL = range(3)
#: shapes of ``synthetic.data.scalar_losses`` as (loss of fused.c, factor)
SHAPES = {
    "square": (0, 1), "log-cosh": (2, 1), "pseudo-huber": (3, 1), "root": (3, 1), "huber": (4, 1), "softplus": (5, 1),
    "sigmoid": (6, 1), "geman-mcclure": (7, 1), "tanh-squared": (8, 1), "welsch": (9, 1), "cauchy": (10, 1),
    "cosine": (11, 1), "one-minus-cosine": (11, -1), "linear": (12, 1),
}
_FAMILIES = {family: {name: getattr(family, name) for name in (
    "gradient", "stochastic_gradient", "slope", "_scores", "_combine", "_sum_of_gradients", "_penalty_slope", "_data")
    if hasattr(family, name)} for family in (LeastSquares, BinaryLogistic, GeneralisedLinear, Quadratic)}


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


def why_not_fused(algorithm, federation) -> str | None:
    """The reason, in words, why the local steps cannot be computed in C; None if they can."""
    if reason := why_not_plain(algorithm):
        return reason
    own = _FAMILIES.get(type(federation))
    if own is None or any(getattr(type(federation), name) is not function for name, function in own.items()):
        return f"{federation.name} is not among the families of the compiled steps"
    if isinstance(federation, DataFederation) and (federation.outputs > 1 or federation.batch_size is not None):
        return "the data have minibatches or several outputs"
    if not isinstance(federation.noise, NoNoise):
        return "gradients are noisy"
    backend = federation.backend
    if backend.library != "torch" or backend.device != "cpu" or backend.dtype not in TYPES:
        return "the compiled steps need torch on the CPU, in float32 or float64"
    try:
        _function(backend.dtype)
    except NoLibrary as reason:
        return str(reason)
    return None


class FusedSteps:
    """The local steps of an algorithm on a federation: a call returns the participants after all steps of a round."""

    def __init__(self, algorithm, federation):
        self.algorithm, self.federation = algorithm, federation
        self.dtype = federation.backend.dtype
        self.real = TYPES[self.dtype][1]
        self.function, threads = _function(self.dtype)
        self.problem = _Problem(
            clients=federation.clients, d=federation.dim, steps=algorithm.local_steps, shared=federation.instances == 1,
            scale=1, width=1, threads=threads)
        self.fixed = not any(isinstance(number, Schedule) for number in own_numbers(algorithm))
        self.numbers, self.kept = None, []
        if isinstance(federation, Quadratic):
            self.problem.kind = DIAGONAL if federation.diagonal else DENSE
            self.problem.n = 1 if federation.diagonal else federation.dim
            self._point(features=federation.curvature, targets=federation.center)
        else:
            self.problem.n, self.problem.kind = federation.features.shape[2], DATA
            self.problem.ridge, self.problem.alpha = federation.ridge, getattr(federation, "alpha", 0.0)
            self._point(features=federation.features, targets=federation.targets, share=federation.share,
                        counts=federation.counts)
            if isinstance(federation, BinaryLogistic):
                self.problem.loss = 1
            elif isinstance(federation, GeneralisedLinear):
                phi = federation.phi
                self.problem.loss, factor = SHAPES[phi.shape]
                self.problem.scale, self.problem.width = factor * phi.scale, phi.width

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
