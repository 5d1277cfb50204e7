"""Slow references: sharpness-aware gradients, and FedACG's look-ahead."""

import numpy as np

from tests.fedtheory.references.common import Given, average, norm, now, unit

__all__ = ["fedacg", "fedasam", "fedlesam"]


def fedacg(given: Given, eta_l, lam, beta):
    """fedmoswa 8 and fedluar 8."""
    theta, u, path = given.x, 0 * given.x, [given.x]
    for t, S in enumerate(given.active):
        z, ends = theta + lam * u, {}
        for i in S:
            x = z
            for k in range(given.local_steps):
                x = x - now(eta_l, t) * (given.grad(i, x, t, k) + beta * (x - z))
            ends[i] = x
        u = lam * u + (average(given, t, z, ends) - z)
        theta = theta + u
        path.append(theta)
    return path


def fedasam(given: Given, eta_l, r, nu, eta_g=1, start=None, cycle=None, ratio=1):
    """fedmoswa 8: the perturbation is r T^2 g / |T g| with T = diag(|x|) + nu I.

    From round ``start`` on, SWA (fedmoswa 3.6) over rounds, with rates from eta_l down to ratio eta_l; the path then has
    the averages.
    """
    theta, path, swa, n_models = given.x, [given.x], given.x, 1
    for t, S in enumerate(given.active):
        ends, eta, since = {}, now(eta_l, t), -1 if start is None else t - start
        if since == 0:
            swa = theta
        if since >= 0 and cycle > 1:
            fraction = (since % cycle + 1) / cycle
            eta = (1 - fraction) * eta + fraction * ratio * eta
        for i in S:
            x = theta
            for k in range(given.local_steps):
                g, T = given.grad(i, x, t, k), np.abs(x) + nu
                step = r * T * T * g / norm(T * g) if norm(T * g) > 0 else 0 * x
                x = x - eta * given.grad(i, x + step, t, k)
            ends[i] = x
        theta = theta + eta_g * (average(given, t, theta, ends) - theta)
        if since >= 0 and (since + 1) % cycle == 0:
            swa, n_models = (swa * n_models + theta) / (n_models + 1), n_models + 1
        path.append(swa if since >= 0 else theta)
    return path


def fedlesam(given: Given, eta_l, r, eta_g=1):
    """fedmoswa 8: uphill from now to the model of the client's previous participation, none in its first."""
    theta, old, path = given.x, {}, [given.x]
    for t, S in enumerate(given.active):
        ends = {}
        for i in S:
            step = r * unit(old.get(i, theta) - theta)
            old[i] = theta
            x = theta
            for k in range(given.local_steps):
                x = x - now(eta_l, t) * given.grad(i, x + step, t, k)
            ends[i] = x
        theta = theta + eta_g * (average(given, t, theta, ends) - theta)
        path.append(theta)
    return path
