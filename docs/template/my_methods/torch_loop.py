"""SCAFFOLD as a training loop in torch."""

import copy

import torch


class Model(torch.nn.Module):
    """A model whose only parameter is a vector."""

    def __init__(self, start):
        super().__init__()
        self.x = torch.nn.Parameter(torch.as_tensor(start, dtype=torch.float64).clone())


def train_client(server_model, loss, own, common, local_steps, step):
    """A client's model after its local steps, with the gradients corrected by ``common - own``."""
    model = copy.deepcopy(server_model)
    optimizer = torch.optim.SGD(model.parameters(), lr=step)
    for _ in range(local_steps):
        optimizer.zero_grad()
        loss(model.x).backward()
        model.x.grad += common - own
        optimizer.step()
    return model.x.detach()


def scaffold(losses, weights, start, taking_part, local_steps, step):
    """The model before the first round and after each; option II, with a server step of 1."""
    server = Model(start)
    weights = torch.as_tensor(weights)
    own = torch.zeros(len(losses), len(start), dtype=torch.float64)
    common = torch.zeros(len(start), dtype=torch.float64)
    models = [server.x.detach().clone()]
    for clients in taking_part:
        x = server.x.detach().clone()
        ends, fresh = {}, own.clone()
        for k in clients:
            ends[k] = train_client(server, losses[k], own[k], common, local_steps, step)
            fresh[k] = own[k] - common + (x - ends[k]) / (local_steps * step)
        share = sum(weights[k] for k in clients)
        common = common + sum(weights[k] * (fresh[k] - own[k]) for k in clients)
        own = fresh
        with torch.no_grad():
            server.x.copy_(sum(weights[k] * ends[k] for k in clients) / share)
        models.append(server.x.detach().clone())
    return models
