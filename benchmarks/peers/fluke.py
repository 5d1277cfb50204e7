"""Fluke (fluke-fl): its clients and servers under ``CentralizedFL``.

Left out of its environment, and replaced by empty modules: torchvision, PIL, torchmetrics, datasets, wandb,
clearml, tensorboard, matplotlib and seaborn. They serve networks, image data, scores, logs and plots; no
algorithm under test calls them.
"""

import numpy as np

from benchmarks.peers.corrections import Correction, load
from benchmarks.peers.torch_model import HalfSquares, make_point, samples, stub, vector

stub("torchvision", "PIL", "torchmetrics", "datasets", "wandb", "clearml", "torch.utils.tensorboard")
stub("matplotlib", "seaborn")

from fluke import DDict  # noqa: E402
from fluke.data import FastDataLoader  # noqa: E402

__all__ = ["CORRECTIONS", "run"]

MODULES = {
    "FedAvg": ("fluke.algorithms.fedavg", "FedAVG"),
    "FedProx": ("fluke.algorithms.fedprox", "FedProx"),
    "SCAFFOLD": ("fluke.algorithms.scaffold", "SCAFFOLD"),
    "FedDyn": ("fluke.algorithms.feddyn", "FedDyn"),
}
FEDDYN, SCAFFOLD = "fluke.algorithms.feddyn", "fluke.algorithms.scaffold"
KEEP = "self.model = {}\n            self.prev_grads"
ALL_DUALS = "avg_grad = sum(c.prev_grads for c in self.clients if c.prev_grads is not None) / self.n_clients"
CORRECTIONS = {
    "dual": Correction.of(FEDDYN, "alpha_coef_adpt * (server_params - curr_params)", "curr_params - server_params"),
    "dual-sign": Correction.of(FEDDYN, "(server_params - curr_params)", "(curr_params - server_params)"),
    "first-model": Correction.of(FEDDYN, KEEP.format("model"), KEEP.format("cld_mdl")),
    "mean-over-all": Correction.of(FEDDYN, "avg_grad /= grad_count", ALL_DUALS),
    "server-step": Correction.of(SCAFFOLD, "update(global_step=global_step)", "update(lr=global_step, global_step=1)"),
}


class Split:
    """Hands every client its own samples; no test data anywhere."""

    def __init__(self, job):
        self.job = job

    def assign(self, clients, batch_size):
        how = {"num_labels": 1, "batch_size": 0, "skip_singleton": False}
        train = [FastDataLoader(*samples(self.job, i), **how) for i in range(clients)]
        return (train, [None] * clients), None


def configuration(job):
    client = {"batch_size": 0, "local_epochs": job.local_steps, "loss": HalfSquares, "clipping": 0,
              "optimizer": DDict(name="SGD", lr=job.eta_l), "scheduler": DDict(name="StepLR", step_size=1, gamma=1)}
    server = {"weighted": True}
    if job.method == "FedProx":
        client["mu"] = job.hyper["rho_prox"]
    if job.method == "FedDyn":
        client["alpha"] = server["alpha"] = job.hyper["alpha"]
    if job.method == "SCAFFOLD":
        server["global_step"] = job.hyper.get("eta_g", 1.0)
    elif job.method == "FedAvg":
        server["lr"] = job.hyper.get("eta_g", 1.0)
    return DDict(model=make_point(job.start), client=DDict(**client), server=DDict(**server))


class Recorder:
    """The global model that a round starts from, and the control state, before every round and after the last."""

    def __init__(self, job, algorithm):
        self.job, self.algorithm, self.record = job, algorithm, {}

    def keep(self):
        server, clients = self.algorithm.server, self.algorithm.clients
        zero = np.zeros(self.job.dim)
        row = {"x": vector(server.cld_mdl if self.job.method == "FedDyn" else server.model)}
        if self.job.method == "SCAFFOLD":
            row["server_variate"] = server.control["x"].numpy().copy()
            row["client_variate"] = [zero if c.control is None else c.control["x"].numpy().copy() for c in clients]
        if self.job.method == "FedDyn":
            row["client_dual"] = [zero if c.prev_grads is None else c.prev_grads.numpy().copy() for c in clients]
        for key, value in row.items():
            self.record.setdefault(key, []).append(value)


def run(job):
    module, name = MODULES[job.method]
    algorithm = getattr(load(module, job.corrections), name)(job.clients, Split(job), configuration(job))
    recorder = Recorder(job, algorithm)
    step = [0]

    def eligible(_share):
        recorder.keep()
        step[0] += 1
        return [algorithm.clients[i] for i in job.taking_part(step[0] - 1)]

    algorithm.server.get_eligible_clients = eligible
    algorithm.finalize = recorder.keep
    algorithm.run(job.rounds, 1.0)
    return recorder.record
