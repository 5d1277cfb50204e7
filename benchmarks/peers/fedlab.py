"""FedLab: its server handlers and serial client trainers, driven by the loop of its ``StandalonePipeline``.

Left out of its environment, and replaced by empty modules: torchvision, PIL and pynvml (image data;
choosing a GPU).
"""

import numpy as np
import torch

from benchmarks.peers.corrections import Correction, load
from benchmarks.peers.torch_model import HalfSquares, make_point, samples, stub

stub("torchvision", "pynvml", "PIL")

from fedlab.core.standalone import StandalonePipeline  # noqa: E402
from fedlab.utils import Logger  # noqa: E402

__all__ = ["CORRECTIONS", "run"]

FEDDYN = "fedlab.contrib.algorithm.feddyn"
MODULES = {
    "FedAvg": ("fedlab.contrib.algorithm.fedavg", "FedAvgServerHandler", "FedAvgSerialClientTrainer"),
    "FedProx": ("fedlab.contrib.algorithm.fedprox", "FedProxServerHandler", "FedProxSerialClientTrainer"),
    "SCAFFOLD": ("fedlab.contrib.algorithm.scaffold", "ScaffoldServerHandler", "ScaffoldSerialClientTrainer"),
    "FedDyn": (FEDDYN, "FedDynServerHandler", "FedDynSerialClientTrainer"),
}
LIVE = "torch.cat([p.view(-1) for p in self._model.parameters()])"
SUM = "sum(parameters_list) - "
CORRECTIONS = {
    "penalty": Correction.of(
        FEDDYN, "torch.dot(L_t, self.model_parameters)", f"torch.dot(L_t, {LIVE})",
        "torch.pow(self.model_parameters - frz_parameters,2)", f"torch.pow({LIVE} - frz_parameters,2)"),
    "server-dual": Correction.of(FEDDYN, f"{SUM}self.model_parameters)", f"{SUM}len(buffer) * self.model_parameters)"),
}


class Data:
    def __init__(self, job):
        self.job = job

    def get_dataloader(self, client, batch_size):
        return [samples(self.job, client)]


class Pipeline(StandalonePipeline):
    """The peer's loop; it calls ``evaluate`` once a round, which keeps the state here."""

    def __init__(self, handler, trainer, job):
        super().__init__(handler, trainer)
        self.job, self.record = job, {}
        handler.sample_clients = lambda: job.taking_part(handler.round)
        self.evaluate()

    def evaluate(self):
        zero = np.zeros(self.job.dim)
        row = {"x": self.handler.model_parameters.numpy().copy()}
        if self.job.method == "SCAFFOLD":
            row["server_variate"] = self.handler.global_c.numpy().copy()
            row["client_variate"] = [zero if c is None else c.numpy().copy() for c in self.trainer.cs]
        if self.job.method == "FedDyn":
            row["server_dual"] = self.handler.h.numpy().copy()
            row["client_dual"] = [zero if v is None else v.numpy().copy() for v in self.trainer.L]
        for key, value in row.items():
            self.record.setdefault(key, []).append(value)


def run(job):
    name, server, client = MODULES[job.method]
    module = load(name, job.corrections)
    share = len(job.taking_part(0)) / job.clients
    quiet = Logger()
    handler = getattr(module, server)(make_point(job.start), job.rounds, share, logger=quiet)
    trainer = getattr(module, client)(make_point(job.start), job.clients, logger=quiet)
    trainer.setup_dataset(Data(job))
    extra = {"FedProx": {"mu": job.hyper.get("rho_prox")}, "FedDyn": {"alpha": job.hyper.get("alpha")}}
    trainer.setup_optim(job.local_steps, job.dim, job.eta_l, **extra.get(job.method, {}))
    trainer.criterion = HalfSquares()
    if job.method == "SCAFFOLD":
        handler.setup_optim(job.hyper.get("eta_g", 1.0))
    if job.method == "FedDyn":
        handler.setup_optim(job.hyper["alpha"])
    pipeline = Pipeline(handler, trainer, job)
    with torch.enable_grad():
        pipeline.main()
    return pipeline.record
