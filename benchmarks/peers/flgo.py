"""FLGo: its servers and clients under ``flgo.init(...).run()``, on a task of ours.

Left out of its environment, and replaced by empty modules: torchvision, pynvml and matplotlib (image data,
watching a GPU, plots).
"""

import json
import sys
import tempfile
import types
from pathlib import Path

import numpy as np
import torch

from benchmarks.peers.corrections import load
from benchmarks.peers.torch_model import HalfSquares, samples, stub, vector

stub("torchvision", "pynvml", "matplotlib")
sys.argv = sys.argv[:1]  # flgo.init parses the command line

import flgo  # noqa: E402
import flgo.benchmark.base  # noqa: E402
import flgo.experiment.logger  # noqa: E402
import flgo.utils.fmodule  # noqa: E402

__all__ = ["CORRECTIONS", "run"]

MODULES = {name: f"flgo.algorithm.{name.lower()}" for name in ("FedAvg", "FedProx", "SCAFFOLD", "FedDyn")}
PARAMETERS = {"FedAvg": None, "FedProx": "rho_prox", "SCAFFOLD": "eta_g", "FedDyn": "alpha"}
CORRECTIONS = {}
TASK = "quadratic_task"
JOB = []  #: the job that TASK serves now


class Calculator(flgo.benchmark.base.BasicTaskCalculator):
    def get_dataloader(self, dataset, batch_size=64, *args, **kwargs):
        return [tuple(dataset.tensors)]

    def compute_loss(self, model, data, *args, **kwargs):
        return {"loss": HalfSquares()(model(data[0]), data[1])}


class Pipe(flgo.benchmark.base.BasicTaskPipe):
    def load_data(self, option):
        job = JOB[0]
        return {str(i): {"train": torch.utils.data.TensorDataset(*samples(job, i))} for i in range(job.clients)}


class Logger(flgo.experiment.logger.BasicLogger):
    """Writes nothing."""

    def initialize(self):
        pass

    def save_output_as_json(self, *args, **kwargs):
        pass


class Point(flgo.utils.fmodule.FModule):
    """FLGo's arithmetic of models makes new ones by ``type(model)()``: no arguments."""

    def __init__(self):
        super().__init__()
        self.x = torch.nn.Parameter(torch.from_numpy(JOB[0].start.copy()))

    def forward(self, rows):
        return rows @ self.x


def register_task():
    """FLGo finds a task by the import name of its benchmark."""
    package, core, model = (types.ModuleType(name) for name in (TASK, f"{TASK}.core", "point"))
    core.TaskPipe, core.TaskCalculator = Pipe, Calculator
    package.core = core
    sys.modules[TASK], sys.modules[f"{TASK}.core"] = package, core

    def init_global_module(thing):
        if "Server" in thing.get_classname():
            thing.model = Point()

    model.init_global_module = init_global_module
    return model


MODEL = register_task()


def state(server, job):
    def own(name):
        values = [getattr(client, name) for client in server.clients]
        return [np.zeros(job.dim) if value is None else vector(value) for value in values]

    row = {"x": vector(server.model)}
    if job.method == "SCAFFOLD":
        row.update(server_variate=vector(server.cg), client_variate=own("c"))
    if job.method == "FedDyn":
        row.update(server_dual=vector(server.h), client_dual=own("gradL"))
    return row


def run(job):
    JOB[:] = [job]
    name = PARAMETERS[job.method]
    option = {"num_rounds": job.rounds, "num_steps": job.local_steps, "learning_rate": job.eta_l, "batch_size": -1,
              "proportion": 1.0, "algo_para": [] if name is None else [float(job.hyper.get(name, 1.0))],
              "eval_interval": -1, "train_holdout": 0.0, "no_tqdm": True, "no_log_console": True}
    with tempfile.TemporaryDirectory() as folder:
        names = [str(i) for i in range(job.clients)]
        Path(folder, "info").write_text(json.dumps({"benchmark": TASK}), encoding="utf-8")
        Path(folder, "data.json").write_text(json.dumps({"client_names": names}), encoding="utf-8")
        algorithm = load(MODULES[job.method], job.corrections)
        server = flgo.init(folder, algorithm, option, model=MODEL, Logger=Logger)
        record = {}

        def sample():
            for key, value in state(server, job).items():
                record.setdefault(key, []).append(value)
            return job.taking_part(server.current_round - 1)

        server.sample = sample
        server.run()
    for key, value in state(server, job).items():
        record[key].append(value)
    return record
