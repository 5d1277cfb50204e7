"""Flower (flwr): its message strategies FedAvg and FedProx, driven by their own ``start`` on a grid of ours.

Flower leaves local training to the user. For FedAvg the client here takes plain gradient steps. For FedProx it runs the
PyTorch lines that the strategy's docstring gives for the loss, read from the installed docstring.
"""

import copy
import logging
import textwrap

import numpy as np
import torch
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

from benchmarks.peers.corrections import Correction, load
from benchmarks.peers.torch_model import HalfSquares, make_point, samples, vector

__all__ = ["CORRECTIONS", "run"]

logging.getLogger("flwr").setLevel(logging.ERROR)
TaskIdentity.task_id = TaskIdentity.run_id = TaskIdentity.node_id = 1  # messages carry them
FEDPROX = "flwr.serverapp.strategy.fedprox"
MODULES = {"FedAvg": "flwr.serverapp.strategy.fedavg", "FedProx": FEDPROX}
PARAMETERS = "copy.deepcopy(net).parameters()"
CORRECTIONS = {
    "square": Correction.of(FEDPROX, ".norm(2)", ".norm(2) ** 2"),
    "list": Correction.of(FEDPROX, PARAMETERS, f"list({PARAMETERS})"),
}


def documented(strategy):
    """The documented lines as code: those before local training, and those from the proximal term to the loss."""
    lines = [line.strip("\n") for line in textwrap.dedent(strategy.__doc__).splitlines()]
    code = textwrap.dedent("\n".join(line for line in lines if line.startswith(" " * 8)))
    term, before = code.index("proximal_term = 0.0"), code.index("global_params = ")
    return code[before:].splitlines()[0], code[term:before]


class Clients(Grid):
    """All clients behind Flower's grid: a message in, local steps, a reply out."""

    def __init__(self, job, before, loss):
        self.job, self.round = job, 0
        self.before, self.loss = compile(before, "before", "exec"), compile(loss, "loss", "exec")

    def get_node_ids(self):
        return self.job.taking_part(self.round)

    def send_and_receive(self, messages, *, timeout=None):
        replies = [self.train(message) for message in messages]
        self.round += len(replies) > 0
        return replies

    def train(self, message):
        client, record = message.metadata.dst_node_id, message.content
        net = make_point(record["arrays"].to_numpy_ndarrays()[0])
        inputs, labels = samples(self.job, client)
        optimizer = torch.optim.SGD(net.parameters(), lr=self.job.eta_l)
        names = {"net": net, "inputs": inputs, "labels": labels, "criterion": HalfSquares(), "copy": copy}
        names["mu"] = record["config"].get("proximal-mu")
        exec(self.before, names)
        for _ in range(self.job.local_steps):
            optimizer.zero_grad()
            exec(self.loss, names)
            names["loss"].backward()
            optimizer.step()
        content = {"arrays": ArrayRecord([vector(net)]), "metrics": MetricRecord({"num-examples": len(labels)})}
        return Message(RecordDict(content), reply_to=message)

    def set_run(self, run):
        pass

    @property
    def run(self):
        return None

    def create_message(self, *args, **kwargs):
        raise NotImplementedError

    def push_messages(self, messages):
        raise NotImplementedError

    def pull_messages(self, message_ids):
        raise NotImplementedError


def run(job):
    module = load(MODULES[job.method], job.corrections)
    least = {"fraction_evaluate": 0.0, "min_train_nodes": 1, "min_available_nodes": 1}
    if job.method == "FedAvg":
        strategy, lines = module.FedAvg(**least), ("pass", "loss = criterion(net(inputs), labels)")
    else:
        strategy = module.FedProx(proximal_mu=job.hyper["rho_prox"], **least)
        lines = documented(module.FedProx)
    x = []

    def keep(_round, arrays):
        x.append(arrays.to_numpy_ndarrays()[0].copy())

    start, clients = ArrayRecord([job.start]), Clients(job, *lines)
    strategy.start(clients, start, job.rounds, train_config=ConfigRecord(), evaluate_fn=keep)
    return {"x": np.array(x)}
