"""pfl: its algorithms on its ``SimulatedBackend`` with its PyTorch model wrapper (which keeps updates in float32).

Left out of its environment, and replaced by empty modules: dp_accounting and prv_accountant (privacy accounting).
"""

import numpy as np
import torch

from benchmarks.peers.corrections import Correction, load
from benchmarks.peers.torch_model import HalfSquares, Point, samples, stub, vector

stub("dp_accounting", "prv_accountant")

from pfl.aggregate.simulate import SimulatedBackend  # noqa: E402
from pfl.algorithm.base import NNAlgorithmParams  # noqa: E402
from pfl.callback.base import TrainingProcessCallback  # noqa: E402
from pfl.data.dataset import Dataset  # noqa: E402
from pfl.data.federated_dataset import FederatedDataset  # noqa: E402
from pfl.data.user_state import InMemoryUserStateStorage  # noqa: E402
from pfl.exception import UserNotFoundError  # noqa: E402
from pfl.hyperparam import NNTrainHyperParams  # noqa: E402
from pfl.metrics import Metrics  # noqa: E402
from pfl.model.pytorch import PyTorchModel  # noqa: E402

__all__ = ["CORRECTIONS", "run"]

SCAFFOLD = "pfl.algorithm.scaffold"
DIFFERENCE = "model.get_model_difference(initial_model_state)"
MODULES = {
    "FedAvg": ("pfl.algorithm.federated_averaging", "FederatedAveraging"),
    "FedProx": ("pfl.algorithm.fedprox", "FedProx"),
    "SCAFFOLD": (SCAFFOLD, "SCAFFOLD"),
}
SAVE = "storage.save_state(local_c_plus{},"
CORRECTIONS = {
    "sign": Correction.of(SCAFFOLD, "lambda w: w / (K", "lambda w: -w / (K"),
    "sign-option-I": Correction.of(
        SCAFFOLD, f"local_c_plus = {DIFFERENCE}", f"local_c_plus = {DIFFERENCE}.apply_elementwise(lambda w: w.neg_())"),
    "shared-option-I": Correction.of(SCAFFOLD, SAVE.format(""), SAVE.format(".apply_elementwise(lambda w: w.clone())")),
}


class Model(Point):
    def loss(self, rows, targets, eval=False):
        return HalfSquares()(self(rows), targets)

    def metrics(self, rows, targets, eval=True):
        return {}


class Keep(TrainingProcessCallback):
    """The model and the control variates before the first round and after every round."""

    def __init__(self, job, algorithm, storage):
        self.job, self.algorithm, self.storage, self.record = job, algorithm, storage, {}

    def variate(self, client):
        try:
            return self.storage.load_state(str(client), "local_c")["x"].double().numpy().copy()
        except UserNotFoundError:
            return np.zeros(self.job.dim)

    def keep(self, model):
        row = {"x": vector(model.pytorch_model)}
        if self.job.method == "SCAFFOLD":
            common = getattr(self.algorithm, "_server_c", None)
            row["server_variate"] = np.zeros(self.job.dim) if common is None else common["x"].double().numpy().copy()
            row["client_variate"] = [self.variate(i) for i in range(self.job.clients)]
        for key, value in row.items():
            self.record.setdefault(key, []).append(value)

    def on_train_begin(self, *, model):
        self.keep(model)
        return Metrics()

    def after_central_iteration(self, aggregate_metrics, model, *, central_iteration):
        self.keep(model)
        return False, Metrics()


def run(job):
    order = iter([i for t in range(job.rounds) for i in job.taking_part(t)])

    def data(client):
        rows, targets = samples(job, client)
        return Dataset(raw_data=[rows.numpy(), targets.numpy()], user_id=str(client))

    federation = FederatedDataset(data, lambda: next(order))
    backend = SimulatedBackend(training_data=federation, val_data=None)
    network = Model(job.dim).float()
    network.x.data.copy_(torch.from_numpy(job.start))
    optimizer = torch.optim.SGD(network.parameters(), lr=job.hyper.get("eta_g", 1.0))
    model = PyTorchModel(network, local_optimizer_create=torch.optim.SGD, central_optimizer=optimizer)

    name, cls = MODULES[job.method]
    module = load(name, job.corrections)
    algorithm, storage = getattr(module, cls)(), InMemoryUserStateStorage()
    common = {"central_num_iterations": job.rounds, "evaluation_frequency": job.rounds + 1,
              "train_cohort_size": len(job.taking_part(0)), "val_cohort_size": None}
    if job.method == "FedProx":
        parameters = module.FedProxParams(mu=job.hyper["rho_prox"], **common)
    elif job.method == "SCAFFOLD":
        parameters = module.SCAFFOLDParams(population=job.clients, user_state_storage=storage, **common,
                                           use_gradient_as_control_variate=job.hyper.get("option") == "I")
    else:
        parameters = NNAlgorithmParams(**common)
    training = NNTrainHyperParams(local_num_epochs=job.local_steps, local_learning_rate=job.eta_l, local_batch_size=None)
    keep = Keep(job, algorithm, storage)
    algorithm.run(parameters, backend, model, training, callbacks=[keep], send_metrics_to_platform=False)
    return keep.record
