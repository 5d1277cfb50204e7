"""The federation, the runs that every peer is put through, and what is measured of a trajectory."""

from dataclasses import dataclass, field

import numpy as np

from benchmarks.peers import make_job, reference

__all__ = ["CASES", "Case", "federation", "measure"]

SEED = 1
CLIENTS, DIM, ETA_L = 4, 3, 0.1
RHO_PROX, ALPHA = 0.5, 0.5


def federation(seed=SEED, clients=CLIENTS, dim=DIM):
    """Curvatures (m, d, d) with random eigenvectors and eigenvalues in [1/2, 2], centers (m, d), a start (d,)."""
    draws = np.random.default_rng(seed)
    basis = np.linalg.qr(draws.normal(size=(clients, dim, dim)))[0]
    values = draws.uniform(0.5, 2.0, size=(clients, dim))
    return np.einsum("mij,mj,mkj->mik", basis, values, basis), 2 * draws.normal(size=(clients, dim)), np.ones(dim)


@dataclass(frozen=True)
class Case:
    """One setting; ``methods`` are those for which it says something."""

    name: str
    says: str
    methods: tuple[str, ...] = reference.METHODS
    rounds: int = 20
    local_steps: int = 3
    clients: int = CLIENTS
    participants: int | None = None  #: so many clients a round, drawn once and forced on every implementation
    hyper: dict = field(default_factory=dict)
    converges: bool = False  #: the method's x, and its clients' control state, have to arrive at the optimum

    def federation(self):
        curvature, center, start = federation()
        return curvature[: self.clients], center[: self.clients], start

    def job(self, method, corrections=()):
        curvature, center, start = self.federation()
        chosen = None
        if self.participants is not None:
            draws = np.random.default_rng(SEED)
            chosen = [sorted(draws.permutation(self.clients)[: self.participants]) for _ in range(self.rounds)]
        own = {"FedProx": {"rho_prox": RHO_PROX}, "FedDyn": {"alpha": ALPHA}}.get(method, {})
        hyper = {**own, **self.hyper}
        return make_job(method, curvature, center, start, self.rounds, self.local_steps, ETA_L, chosen, corrections, **hyper)


CORRECTED = ("SCAFFOLD", "FedDyn")
CASES = {
    case.name: case
    for case in (
        Case("all clients", "4 clients, 3 local steps, 20 rounds"),
        Case("2 of 4 clients", "the same with two of the four clients a round", participants=2),
        Case("one local step", "where SCAFFOLD, FedProx and FedAvg are all gradient descent", local_steps=1),
        Case("one client", "where SCAFFOLD's control variates cancel", clients=1),
        Case("server step", "a server step size of 1/2", ("FedAvg", "FedProx", "SCAFFOLD"), hyper={"eta_g": 0.5}),
        Case("no pull", "a proximal weight of 0: FedAvg", ("FedProx",), hyper={"rho_prox": 0.0}),
        Case("long with server step", "200 rounds with a server step size of 1/2: arrives at the optimum", ("SCAFFOLD",),
             rounds=200, hyper={"eta_g": 0.5}, converges=True),
        Case("option I", "SCAFFOLD with the gradient at the broadcast model as control variate", ("SCAFFOLD",),
             hyper={"option": "I"}),
        Case("long", "200 rounds, all clients: arrives at the optimum", CORRECTED, rounds=200, converges=True),
        Case("long with 2 of 4", "500 rounds, two clients a round: arrives at the optimum", CORRECTED, rounds=500,
             participants=2, converges=True),
    )
}


def expected(job) -> dict:
    """The reference's run of a job."""
    arguments = {key: value for key, value in job.items() if key not in ("corrections", "hyper", "method")}
    arguments.update(curvature=np.array(job["curvature"]), center=np.array(job["center"]), start=np.array(job["start"]))
    return reference.run(job["method"], **arguments, **job["hyper"])


@np.errstate(all="ignore")
def measure(job, result, fedavg=None) -> dict:
    """Numbers of a run, each relative to the distance of the start from the optimum (control state: to the
    largest gradient at the start).

    ``deviation`` from the reference, the largest over rounds and coordinates; ``gap`` of the last model from the
    optimum; ``sum_gap`` between the mean of the clients' control state and the server's; ``gradient_gap`` of the last
    control variates from the clients' gradients at the optimum; ``from_fedavg``, how far the run is from the same
    implementation's FedAvg. A diverged run gives ``inf``.
    """
    curvature, center = np.array(job["curvature"]), np.array(job["center"])
    goal = reference.optimum(curvature, center)
    scale = np.abs(np.array(job["start"]) - goal).max()
    gradients = np.einsum("mij,mj->mi", curvature, goal - center)
    steep = np.abs(np.einsum("mij,mj->mi", curvature, np.array(job["start"]) - center)).max()
    numbers = {
        "deviation": largest(result["x"] - expected(job)["x"]) / scale,
        "gap": largest(result["x"][-1] - goal) / scale,
    }
    for kind in ("variate", "dual"):
        own, common = result.get(f"client_{kind}"), result.get(f"server_{kind}")
        if own is not None and common is not None:
            numbers["sum_gap"] = largest(own.mean(axis=1) - common) / steep
        if own is not None and kind == "variate":
            numbers["gradient_gap"] = largest(own[-1] - gradients) / steep
    if fedavg is not None:
        numbers["from_fedavg"] = largest(result["x"] - fedavg["x"]) / scale
    return numbers


def largest(values) -> float:
    value = float(np.abs(values).max())
    return value if np.isfinite(value) else float("inf")
