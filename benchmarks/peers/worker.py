"""Runs jobs in a peer's own interpreter: ``python -m benchmarks.peers.worker PEER``.

It imports the peer and reads from its standard input one pair of tab-separated paths a line, ``jobs.json`` and
``results.npz``; it prints a line for each once the results are written.

A job is ``{"method", "curvature", "center", "start", "rounds", "local_steps", "eta_l", "participants", "hyper",
"corrections"}``. The adapter ``benchmarks/peers/PEER.py`` has ``CORRECTIONS``, a table of ``Correction`` by name, and
``run(job) -> dict of arrays``. A job that raises leaves its message in place of arrays.
"""

import contextlib
import importlib
import importlib.metadata
import json
import os
import sys
import traceback
from dataclasses import dataclass, field

import numpy as np

from benchmarks.peers.corrections import locate

__all__ = ["Job", "main"]


@dataclass
class Job:
    """A federation and a method's hyper-parameters as a peer's adapter receives them."""

    method: str
    roots: np.ndarray  #: (m, d, d), upper triangular R_i with R_i^T R_i = A_i: the d samples of client i
    targets: np.ndarray  #: (m, d), R_i c_i: so that F_i(x) = 1/2 |R_i x - targets_i|^2
    start: np.ndarray  #: (d,)
    rounds: int
    local_steps: int
    eta_l: float
    participants: list | None  #: for each round the clients that take part, or None for all in every round
    corrections: tuple = ()
    hyper: dict = field(default_factory=dict)

    @property
    def clients(self):
        return len(self.targets)

    @property
    def dim(self):
        return self.targets.shape[1]

    def taking_part(self, step):
        return list(range(self.clients)) if self.participants is None else list(self.participants[step])


def read(raw, corrections) -> Job:
    raw = dict(raw)
    curvature, center = np.array(raw.pop("curvature")), np.array(raw.pop("center"))
    raw["roots"] = np.linalg.cholesky(curvature).swapaxes(1, 2).copy()
    raw["targets"] = np.einsum("mij,mj->mi", raw["roots"], center)
    raw["corrections"] = tuple(corrections[name] for name in raw.get("corrections", ()))
    return Job(**{**raw, "start": np.array(raw["start"])})


def begin(peer: str):
    """The peer's adapter, and what to say about this installation."""
    adapter = importlib.import_module(f"benchmarks.peers.{peer}")
    places = {name: locate(correction) for name, correction in adapter.CORRECTIONS.items()}
    versions = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}
    return adapter, {"places": places, "versions": versions, "python": sys.version.split()[0]}


def answer(adapter, about, jobs_path: str, results_path: str) -> None:
    """Run the jobs of one file."""
    with open(jobs_path, encoding="utf-8") as file:
        jobs = json.load(file)
    arrays, errors = {}, {}
    for i, raw in enumerate(jobs):
        try:
            result = adapter.run(read(raw, adapter.CORRECTIONS))
        except Exception:
            errors[str(i)] = traceback.format_exc()
            continue
        arrays.update({f"{i}/{key}": np.asarray(value) for key, value in result.items()})
    np.savez(results_path, about=json.dumps(about | {"errors": errors}), **arrays)


def main(peer: str) -> None:
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # whatever a peer prints
    with open(os.devnull, "w", encoding="utf-8") as silent, contextlib.redirect_stdout(silent):
        adapter, about = begin(peer)
        for line in sys.stdin:
            answer(adapter, about, *line.rstrip("\n").split("\t"))
            print("done", file=replies, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
