"""Slow references: momentum that clients receive from the server."""

from tests.fedtheory.references.common import Given, at_start, average, mean, mean_over_all, now, sum_of_shares

__all__ = ["fedavg_m", "fedcm", "scaffnew", "scaffold_m"]


def _variates(given, start):
    """The c_i and the server's variate before the first round (fedmoswa 3.4 e); ``start``: zero, or grad (gradients and
    their mean)."""
    c = at_start(given) if start == "grad" else {i: 0 * given.x for i in range(given.clients)}
    return c, mean_over_all(given, c)


def scaffold_m(given: Given, eta, beta, gamma, start="zero"):
    """fadamgc 3.7."""
    grad, x, active, _, K = given[:5]
    c_i, c = _variates(given, start)
    M, path = 0 * x, [x]
    for t, S in enumerate(active):
        x_i, c_new = {}, {}
        for i in S:
            x_i[i], total = x, 0 * x
            for k in range(K):
                g = grad(i, x_i[i], t, k)
                total = total + g
                x_i[i] = x_i[i] - eta * (beta * (g - c_i[i] + c) + (1 - beta) * M)
            c_new[i] = total / K
        M = (x - average(given, t, x, x_i)) / (eta * K)
        x = x - gamma * M
        c = c + sum_of_shares(given, {i: c_new[i] - c_i[i] for i in S})
        c_i |= c_new
        path.append(x)
    return path


def fedavg_m(given: Given, eta, beta, gamma, heavy_ball=False):
    """fadamgc 3.6; ``heavy_ball``: momentum 1 - beta of the client's own, anew in every round."""
    grad, x, active, _, K = given[:5]
    M, path = 0 * x, [x]
    for t, S in enumerate(active):
        x_i = {}
        for i in S:
            x_i[i], u = x, 0 * x
            for k in range(K):
                g = grad(i, x_i[i], t, k)
                u = (1 - beta) * u + g
                x_i[i] = x_i[i] - eta * (u if heavy_ball else beta * g + (1 - beta) * M)
        M = (x - average(given, t, x, x_i)) / (eta * K)
        x = x - gamma * M
        path.append(x)
    return path


def fedcm(given: Given, eta, alpha, eta_g=1):
    """afedpd 8: the local direction is alpha g + (1 - alpha) Delta."""
    grad, x, active, _, K = given[:5]
    Delta, path = 0 * x, [x]
    for t, S in enumerate(active):
        y = {i: x for i in S}
        for i in S:
            for k in range(K):
                y[i] = y[i] - eta * (alpha * grad(i, y[i], t, k) + (1 - alpha) * Delta)
        Delta = (x - average(given, t, x, y)) / (eta * K)
        x = x - eta_g * eta * K * Delta
        path.append(x)
    return path


def scaffnew(given: Given, eta, told, p):
    """Scaffnew; ``told[t]``: whether round t communicates."""
    models, h, path = {i: given.x for i in range(given.clients)}, {i: 0 * given.x for i in range(given.clients)}, [given.x]
    for t in range(len(given.active)):
        step = now(eta, t)
        for i in models:
            for k in range(given.local_steps):
                models[i] = models[i] - step * (given.grad(i, models[i], t, k) - h[i])
        x = mean(given, t, models)
        if told[t]:
            h = {i: h[i] + p / (given.local_steps * step) * (x - models[i]) for i in h}
            models = dict.fromkeys(models, x)
        path.append(x)
    return path
