"""Slow references: adaptive steps on the server or on the clients."""

import numpy as np

from tests.fedtheory.references.common import Given, average, mean, moved, now

__all__ = ["fedams", "fedavgm", "fedlada", "fednova", "fedopt"]


def _plain(given, eta_l, t, i, x):
    """A client's model after its gradient steps."""
    for k in range(given.local_steps):
        x = x - now(eta_l, t) * given.grad(i, x, t, k)
    return x


# on the server -----------------------------------------------------------------------------------------------------------
def fedavgm(given: Given, eta_l, beta_u, eta_g=1):
    """fedmoswa 8."""
    theta, u = given.x, 0 * given.x
    path = [theta]
    for t, S in enumerate(given.active):
        Delta = theta - average(given, t, theta, {i: _plain(given, eta_l, t, i, theta) for i in S})
        u = beta_u * u + Delta
        theta = theta - eta_g * u
        path.append(theta)
    return path


def fedopt(given: Given, eta_l, eta_g, kind, beta1, beta2, tau, v_init):
    """fedluar 8 and fadamgc 3.8; ``kind``: adagrad, adam, yogi."""
    x, m, v = given.x, 0 * given.x, v_init + 0 * given.x
    path = [x]
    for t, S in enumerate(given.active):
        delta = average(given, t, x, {i: _plain(given, eta_l, t, i, x) for i in S}) - x
        m = beta1 * m + (1 - beta1) * delta
        if kind == "adagrad":
            v = v + delta * delta
        elif kind == "adam":
            v = beta2 * v + (1 - beta2) * delta * delta
        else:
            v = v - (1 - beta2) * delta * delta * np.sign(v - delta * delta)
        x = x + eta_g * m / (np.sqrt(v) + tau)
        path.append(x)
    return path


def fedams(given: Given, eta_l, eta_g, option, beta1, beta2, eps, v_init=0):
    """fadamgc 3.9; ``option``: fedams, fedamsgrad."""
    x, m, v, vhat = given.x, 0 * given.x, v_init + 0 * given.x, 0 * given.x
    path = [x]
    for t, S in enumerate(given.active):
        delta = average(given, t, x, {i: _plain(given, eta_l, t, i, x) for i in S}) - x
        m = beta1 * m + (1 - beta1) * delta
        v = beta2 * v + (1 - beta2) * delta * delta
        if option == "fedams":
            vhat = np.maximum(np.maximum(vhat, v), eps)
            x = x + eta_g * m / np.sqrt(vhat)
        else:
            vhat = np.maximum(vhat, v)
            x = x + eta_g * m / (np.sqrt(vhat) + eps)
        path.append(x)
    return path


def fednova(given: Given, eta_l, steps, eta_g=1, momentum=0, mu=0):
    """Normalised averaging; client i takes ``steps[t][i]`` local steps in round t, with heavy-ball ``momentum`` and a pull
    ``mu`` to the model sent.

    A client's length is how far a constant gradient of one would have moved it; the mean of the changes per length is
    applied over the mean length.
    """
    def local(gradient, x, count, eta):
        y, u = x, 0 * x
        for k in range(count):
            u = momentum * u + gradient(y, k) + mu * (y - x)
            y = y - eta * u
        return y

    x, path = given.x, [given.x]
    for t, S in enumerate(given.active):
        eta = now(eta_l, t)
        end = {i: local(lambda y, k, i=i, t=t: given.grad(i, y, t, k), x, steps[t][i], eta) for i in S}
        length = {i: -local(lambda y, k: 1, 0 * x[0], steps[t][i], eta) for i in S}
        total = mean(given, t, dict.fromkeys(S, 1)) or 1
        change = mean(given, t, length) / total * mean(given, t, {i: (end[i] - x) / length[i] for i in S})
        x_bar = moved(given, t, x, change)
        x = x + eta_g * (x_bar - x)
        path.append(x)
    return path


# on the clients ----------------------------------------------------------------------------------------------------------
def fedlada(given: Given, eta_l, eta_g, alpha, beta1, beta2, eps, moments="averaged"):
    """fadamgc 3.10; ``moments``: averaged, or local (every client keeps its own v_i)."""
    grad, x, active, n, K = given[:5]
    v, g_a = eps**2 + 0 * x, 0 * x
    own = {i: v for i in range(n)}
    path = [x]
    for t, S in enumerate(active):
        x_i, vhat = {}, {}
        for i in S:
            x_i[i], m = x, 0 * x
            v_i = vhat[i] = own[i] if moments == "local" else v
            for k in range(K):
                g = grad(i, x_i[i], t, k)
                m = beta1 * m + (1 - beta1) * g
                v_i = beta2 * v_i + (1 - beta2) * g * g
                vhat[i] = np.maximum(vhat[i], v_i)
                x_i[i] = x_i[i] - eta_l * (alpha * m / np.sqrt(vhat[i]) + (1 - alpha) * g_a)
            own[i] = v_i
        x_bar = average(given, t, x, x_i)
        g_a, v = (x - x_bar) / (eta_l * K), v + mean(given, t, {i: vhat[i] - v for i in S})
        x = x + eta_g * (x_bar - x)
        path.append(x)
    return path
