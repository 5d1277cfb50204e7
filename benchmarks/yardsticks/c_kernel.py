"""C, compiled when the benchmark runs: the floor in practice for computing every local step."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.workload import Unavailable

__all__ = ["build"]

# sums may be regrouped, as in every BLAS; nothing else of -ffast-math
FLAGS = ("-O3", "-march=native", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-shared", "-fPIC")
TYPES = {"float32": ("float", ctypes.c_float), "float64": ("double", ctypes.c_double)}


def _library(real: str, threads: int):
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        raise Unavailable("needs a C compiler, in the path or named by CC")
    openmp = "-fopenmp" if threads > 1 else "-fopenmp-simd"
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "fedavg.so")
        source = Path(__file__).with_name("fedavg.c")
        command = [*compiler.split(), *FLAGS, openmp, f"-Dreal={real}", str(source), "-o", str(target)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Unavailable(f"the C compiler failed: {done.stderr.strip().splitlines()[-1:]}")
        return ctypes.CDLL(str(target))  # stays loaded when the file is gone


def build(workload):
    real, number = TYPES[workload.dtype]
    function = _library(real, int(os.environ.get("OMP_NUM_THREADS", "1"))).fedavg
    arrays = np.ctypeslib.ndpointer(workload.dtype, flags="C_CONTIGUOUS")
    function.argtypes, function.restype = (*[ctypes.c_long] * 5, arrays, arrays, number, arrays, arrays), None
    sizes = (workload.clients, workload.samples, workload.dim, workload.local_steps, workload.rounds)
    features, targets = workload.features, workload.targets
    models = np.zeros((workload.rounds + 1, workload.dim), workload.dtype)
    local = np.zeros((workload.clients, 2, workload.dim), workload.dtype)

    def run():
        function(*sizes, features, targets, workload.eta / workload.samples, models, local)
        return models

    return run
