"""Measures the time to load all claims in a fresh process, and to evaluate the bounds of all theorems at many points."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from bounds.registry.claims import all_claims
from verify.formulas.bound import bound_of

__all__ = ["loading", "slowest_bound"]

POINTS = 10**6
_LOAD = ("import time; from bounds.registry import all_claims; count = len(all_claims()); "
         "print(time.process_time(), count)")


def loading(repeats: int) -> tuple[float, str]:
    """Return the median processor seconds of a process that loads every claim, with sympy and the interpreter."""
    answers = [subprocess.run([sys.executable, "-c", _LOAD], capture_output=True, text=True, check=True).stdout.split()
               for _ in range(repeats)]
    return float(np.median([float(seconds) for seconds, _ in answers])), f"{answers[0][1]} claims"


def slowest_bound(repeats: int) -> tuple[float, str]:
    """Return the processor seconds of the slowest theorem's compiled right side at a million points; sizes are below 12."""
    rng, found = np.random.default_rng(0), {}
    for claim in all_claims().values():
        if claim.kind != "theorem" or not claim.explicit or claim.statement is None:
            continue
        bound = bound_of(claim)
        if bound.form.formula in found:
            continue
        given = {s.name: rng.integers(2, 12, POINTS) if s.is_integer else rng.uniform(0.01, 1, POINTS)
                 for s in bound.form.parameters}
        bound.values(**{name: values[:2] for name, values in given.items()})
        found[bound.form.formula] = min(_seconds(bound, given) for _ in range(repeats)), claim.id
    seconds, name = max(found.values())
    return seconds, f"{name}, the slowest of {len(found)}"


def _seconds(bound, given) -> float:
    began = time.process_time()
    bound.values(**given)
    return time.process_time() - began
