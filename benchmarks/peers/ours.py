"""fedtheory's own methods on the same cases, so that agreement with the reference is agreement with ours."""

from __future__ import annotations

import numpy as np

from fedtheory import run as run_here
from fedtheory.registry import find_algorithm
from synthetic import Quadratic

__all__ = ["run"]

NAMES = {"alpha": "rho_prox"}  #: what our methods call these hyper-parameters


def run(job) -> dict | None:
    """``x`` of a job, or None where our method has no such setting (forced participants, a missing argument)."""
    try:
        method = find_algorithm(job["method"].lower())
    except LookupError:
        return None
    hyper = {NAMES.get(key, key): value for key, value in job["hyper"].items()}
    if job["participants"] is not None or set(hyper) - set(method.arguments):
        return None
    algorithm = method.make(eta_l=job["eta_l"], local_steps=job["local_steps"], **hyper)
    problem = Quadratic(np.array([job["curvature"]]), np.array([job["center"]]))
    return {"x": run_here(algorithm, problem, job["rounds"], start=np.array(job["start"])).dataset.x.values[0]}
