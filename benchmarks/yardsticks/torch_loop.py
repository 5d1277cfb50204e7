"""torch, client by client with nn.Module, autograd and SGD: what most users write; they mostly have a DataLoader as well."""

from __future__ import annotations

import copy

import torch

__all__ = ["build", "build_with_loader"]


class LinearModel(torch.nn.Module):
    def __init__(self, dim, dtype):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(dim, dtype=dtype))

    def forward(self, features):
        return features @ self.weight


def build_with_loader(workload):
    return build(workload, loader=True)


def build(workload, loader=False):
    features, targets = torch.tensor(workload.features), torch.tensor(workload.targets)

    sets = [torch.utils.data.TensorDataset(*pair) for pair in zip(features, targets, strict=True)]
    loaders = [torch.utils.data.DataLoader(one, batch_size=workload.samples) for one in sets]

    def batch(i):
        return next(iter(loaders[i])) if loader else (features[i], targets[i])

    def train(model, i):
        optimiser = torch.optim.SGD(model.parameters(), lr=workload.eta)
        for _ in range(workload.local_steps):
            inputs, outputs = batch(i)
            optimiser.zero_grad()
            loss = 0.5 * torch.nn.functional.mse_loss(model(inputs), outputs)
            loss.backward()
            optimiser.step()
        return model.state_dict()

    def run():
        server = LinearModel(workload.dim, features.dtype)
        models = [server.weight.detach().clone()]
        for _ in range(workload.rounds):
            trained = [train(copy.deepcopy(server), i) for i in range(workload.clients)]
            server.load_state_dict({name: torch.stack([one[name] for one in trained]).mean(0) for name in trained[0]})
            models.append(server.weight.detach().clone())
        return torch.stack(models).numpy()

    return run
