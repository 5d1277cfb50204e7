"""Slow references: adaptive steps on the server or on the clients."""

from __future__ import annotations

import numpy as np

from tests.fedtheory.references.common import Given, mean, now, unit

__all__ = ["fadamgc", "fedams", "fedavgm", "fedlada", "fednova", "fedopt", "local_adam"]


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
        Delta = theta - mean(_plain(given, eta_l, t, i, theta) for i in S)
        u = beta_u * u + Delta
        theta = theta - eta_g * u
        path.append(theta)
    return path


def fedopt(given: Given, eta_l, eta_g, kind, beta1, beta2, tau, v_init):
    """fedluar 8 and fadamgc 3.8; ``kind``: adagrad, adam, yogi."""
    x, m, v = given.x, 0 * given.x, v_init + 0 * given.x
    path = [x]
    for t, S in enumerate(given.active):
        delta = mean(_plain(given, eta_l, t, i, x) for i in S) - x
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
        delta = mean(_plain(given, eta_l, t, i, x) for i in S) - x
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
        x = x + eta_g * mean(length.values()) * mean((end[i] - x) / length[i] for i in S)
        path.append(x)
    return path


# on the clients ----------------------------------------------------------------------------------------------------------
def _quotient(m, v, eps):
    """m / (sqrt(v) + eps) with 0/0 = 0."""
    below = np.sqrt(v) + eps + 0 * m
    return np.where(below == 0, 0 * m, m / np.where(below == 0, 1, below))


def fadamgc(
    given: Given, eta_l, eta_g, beta1, beta2, eps, *, correction="pre", trackers=None, vhat="reset", store="v",
    norm="elem", moment_index="immediate", y_init="zero", v_init=0,
):
    """fadamgc 3.1 to 3.4 and 3.12.

    ``correction``: pre (FAdamGC), post (FA-NT), z (FA-NT in the form where only x travels) or none (LocalAdam).
    ``trackers[t]`` are the participants who refresh their y_i, default all. ``y_init``: zero, grad, normgrad.
    """
    grad, x, active, n, K = given[:5]
    trackers = active if trackers is None else trackers
    zero = 0 * x
    if y_init == "zero" or correction == "none":
        y_i = {i: zero for i in range(n)}
    else:
        y_i = {i: given.full(i, x) for i in range(n)}
        if y_init == "normgrad":
            y_i = {i: unit(y_i[i]) for i in range(n)}
    y = mean(y_i.values())
    z_i = {i: y - y_i[i] for i in range(n)}
    v_i = {i: v_init + zero for i in range(n)}
    last = dict(v_i)  # the largest second moment so far, for vhat = carry
    path = [x]
    for t, S in enumerate(active):
        x_i, y_new = {}, {}
        for i in S:
            x_i[i], m, v = x, zero, v_i[i]
            top = {"reset": v, "none": v, "carry": last[i], "zero": zero}[vhat]
            gradients = []
            for k in range(K):
                g = grad(i, x_i[i], t, k)
                gradients.append(g)
                ghat = g + y - y_i[i] if correction == "pre" else g
                square = ghat * ghat if norm == "elem" else np.sum(ghat * ghat) + zero
                m_next, v_next = beta1 * m + (1 - beta1) * ghat, beta2 * v + (1 - beta2) * square
                top_next = v_next if vhat == "none" else np.maximum(top, v_next)
                Delta = _quotient(m_next, top_next, eps) if moment_index == "immediate" else _quotient(m, top, eps)
                m, v, top = m_next, v_next, top_next
                if correction == "post":
                    Delta = Delta + y - y_i[i]
                elif correction == "z":
                    Delta = Delta + z_i[i]
                x_i[i] = x_i[i] - eta_l * Delta
            v_i[i], last[i] = v if store == "v" else top, top
            if i in trackers[t] and correction == "pre":
                y_new[i] = mean(gradients)
            elif i in trackers[t] and correction == "post":
                y_new[i] = y_i[i] - y + (x - x_i[i]) / (K * eta_l)
        y = y + sum((y_new[i] - y_i[i] for i in y_new), zero) / n
        y_i |= y_new
        x = x + eta_g * mean(x_i[i] - x for i in S)
        for i in trackers[t]:
            z_i[i] = z_i[i] + (x_i[i] - x) / (K * eta_g * eta_l)
        path.append(x)
    return path


def local_adam(given: Given, eta_l, eta_g, beta1, beta2, eps, **variant):
    """fadamgc 3.4: Algorithm 1 without a correction."""
    return fadamgc(given, eta_l, eta_g, beta1, beta2, eps, correction="none", **variant)


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
        g_a = mean(x - x_i[i] for i in S) / (eta_l * K)
        x = x + eta_g * mean(x_i[i] - x for i in S)
        v = mean(vhat.values())
        path.append(x)
    return path
