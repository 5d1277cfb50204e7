"""FedAvg as a plain function."""


def fedavg(gradients, weights, x, taking_part, local_steps, step):
    """The model before the first round and after each.

    ``gradients`` are functions of the model, one per client; ``taking_part`` has the clients of each round.
    """
    models = [x]
    for clients in taking_part:
        total, share = 0.0, 0.0
        for k in clients:
            y = x
            for _ in range(local_steps):
                y = y - step * gradients[k](y)
            total = total + weights[k] * y
            share = share + weights[k]
        x = total / share
        models.append(x)
    return models
