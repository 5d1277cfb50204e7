"""Public implementations of federated methods, run on exact quadratic federations and compared with a reference.

A peer runs its own client and server code in an interpreter that has it installed; this process needs only NumPy.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["HERE", "PEERS", "ROOT", "Peer", "Worker", "make_job"]

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Peer:
    """One public implementation.

    ``name`` is the adapter's module in this package and the suffix of its requirement file; ``environment`` the virtual
    environment under ``.peers/`` that it shares with others; ``rounding`` what a deviation from the reference may be,
    relative to the distance of the start from the optimum.
    """

    name: str
    title: str
    methods: tuple[str, ...]
    server_step: tuple[str, ...] = ()  #: the methods with a server step size
    environment: str = "torch"
    rounding: float = 1e-12

    @property
    def requirements(self) -> Path:
        return HERE / f"requirements-{self.name}.txt"

    @property
    def requirement(self) -> str:
        """The peer's own line of its requirement file, ``distribution==version``."""
        return self.requirements.read_text(encoding="utf-8").split()[-1]

    @property
    def version(self) -> str:
        return self.requirement.split("==")[1]

    @property
    def default_python(self) -> Path:
        return ROOT / ".peers" / self.environment / "bin" / "python"

    def read(self, path, jobs: int, python) -> tuple[list, dict]:
        """What a worker has written about so many jobs."""
        with np.load(path) as file:
            found = {key: file[key] for key in file.files}
        about = json.loads(str(found.pop("about")))
        if (installed := about["versions"][self.requirement.split("==")[0]]) != self.version:
            raise RuntimeError(f"{python} has {installed}, not {self.requirement}")
        results = [about["errors"].get(str(i), {}) for i in range(jobs)]
        for key, value in found.items():
            i, name = key.split("/")
            results[int(i)][name] = value
        return results, about

    def serve(self, python=None) -> Worker:
        """A process of this peer that stays: use it in ``with``."""
        python = Path(python or self.default_python)
        if not python.exists():
            raise FileNotFoundError(f"{python} does not exist: `make peers` creates it, or name another interpreter")
        return Worker(self, python)


class Worker:
    """A peer's process that runs jobs for as long as it is asked, so that the peer is imported once.

    It is replaced by a new one after ``RENEWED`` jobs: every start of FLGo wraps the functions of its modules once more.
    ``about``: what the last answer says of the installation, and where corrections apply.
    """

    RENEWED = 200

    def __init__(self, peer: Peer, python: Path):
        self.peer, self.python, self.process, self.done = peer, python, None, 0

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.errors = open(Path(self.folder.name, "errors"), "w+", encoding="utf-8")
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()
        self.errors.close()
        self.folder.cleanup()

    def start(self):
        command = [str(self.python), "-m", "benchmarks.peers.worker", self.peer.name]
        self.done, self.process = 0, subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def stop(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def __call__(self, jobs) -> list:
        """The results of the jobs, a traceback in place of a failed one: ``x`` (rounds + 1, d), the model that every round
        starts from and the last one, and where the peer has them ``client_variate`` (rounds + 1, m, d), ``server_variate``
        (rounds + 1, d) of SCAFFOLD or ``client_dual``, ``server_dual`` of FedDyn in the peer's own sign and scale."""
        if self.done >= self.RENEWED:
            self.stop()
            self.start()
        self.done += len(jobs)
        wanted, given = Path(self.folder.name, "jobs.json"), Path(self.folder.name, "results.npz")
        wanted.write_text(json.dumps(jobs), encoding="utf-8")
        with contextlib.suppress(BrokenPipeError):  # it has ended, as the missing answer says
            print(wanted, given, sep="\t", file=self.process.stdin, flush=True)
        if not self.process.stdout.readline():
            self.errors.seek(0)
            raise RuntimeError(f"{self.peer.title} in {self.python} failed:\n{self.errors.read()[-3000:]}")
        results, self.about = self.peer.read(given, len(jobs), self.python)
        return results


def make_job(method, curvature, center, start, rounds, local_steps, eta_l, participants=None, corrections=(),
             **hyper) -> dict:
    """A run as plain data. ``curvature`` (m, d, d), or (m, d) for diagonal ones, ``center`` (m, d), ``start`` (d,).

    ``participants`` lists the clients of every round (None: all); ``hyper`` may have ``eta_g``, ``rho_prox`` (FedProx),
    ``alpha`` (FedDyn), ``option`` (SCAFFOLD).
    """
    curvature = np.asarray(curvature, dtype=float)
    if curvature.ndim == 2:
        curvature = curvature[:, :, None] * np.eye(curvature.shape[1])
    center, start = (np.asarray(values, dtype=float).tolist() for values in (center, start))
    participants = None if participants is None else [[int(i) for i in row] for row in participants]
    return {"method": method, "curvature": curvature.tolist(), "center": center, "start": start, "rounds": rounds,
            "local_steps": local_steps, "eta_l": eta_l, "participants": participants, "corrections": list(corrections),
            "hyper": hyper}


ALL_FOUR = ("FedAvg", "FedProx", "SCAFFOLD", "FedDyn")
FIRST_THREE, FIRST_TWO = ALL_FOUR[:3], ALL_FOUR[:2]
PEERS = {
    peer.name: peer
    for peer in (
        Peer("fedjax", "FedJAX", FIRST_TWO, FIRST_TWO, environment="jax"),
        Peer("pfl", "pfl", FIRST_THREE, FIRST_THREE, rounding=1e-6),
        Peer("fluke", "Fluke", ALL_FOUR, ("FedAvg", "SCAFFOLD")),
        Peer("flgo", "FLGo", ALL_FOUR, ("SCAFFOLD",)),
        Peer("fedlab", "FedLab", ALL_FOUR, ("SCAFFOLD",)),
        Peer("flower", "Flower", FIRST_TWO),
    )
}
