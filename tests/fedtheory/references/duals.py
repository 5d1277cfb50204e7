"""Slow references: primal-dual methods. A local problem is solved by K gradient steps from the model sent, or exactly."""

from __future__ import annotations

import numpy as np

from tests.fedtheory.references.common import Given, mean, now, unit

__all__ = [
    "afedpd", "afedpd_aligned", "fedadmm_eq6", "fedadmm_stale", "fedadmm_with_g", "feddyn", "fedpd", "fedsmoo", "fedspeed",
    "solve_exactly", "solve_inexactly", "take_steps",
]


def take_steps(given: Given, rho, eta_l, r=None, sam_eps=0):
    """LocalTrain of afedpd 3.4; with a radius ``r`` the gradient of 3.5."""
    def local(i, t, lam_i, theta):
        y = theta
        for k in range(given.local_steps):
            g = given.grad(i, y, t, k)
            if r is not None:
                uphill = unit(g) if sam_eps == 0 else g / ((g @ g) ** 0.5 + sam_eps)
                g = given.grad(i, y + r * uphill, t, k)
            y = y - now(eta_l, t) * (g + lam_i + rho * (y - theta))
        return y

    return local


def solve_exactly(given: Given, rho):
    """argmin over v of L_i(v; lam_i, theta)."""
    return lambda i, t, lam_i, theta: given.minimise(i, lam_i, rho, theta)


def solve_inexactly(given: Given, rho, eta_l, epsilon):
    """Full-gradient steps from theta until |grad L_i|^2 <= epsilon."""
    def local(i, t, lam_i, theta):
        y = theta
        while True:
            slope = given.full(i, y) + lam_i + rho * (y - theta)
            if slope @ slope <= epsilon:
                return y
            y = y - eta_l * slope

    return local


def _zeros(given):
    return {i: 0 * given.x for i in range(given.clients)}


def fedpd(given: Given, rho, local):
    """afedpd 3.1: everybody takes part."""
    theta, C, lam = given.x, given.clients, _zeros(given)
    path = [theta]
    for t in range(len(given.active)):
        theta_i = {i: local(i, t, lam[i], theta) for i in range(C)}
        lam = {i: lam[i] + rho * (theta_i[i] - theta) for i in range(C)}
        theta = mean(theta_i[i] + lam[i] / rho for i in range(C))
        path.append(theta)
    return path


def fedadmm_eq6(given: Given, rho, local):
    """afedpd 3.2 as printed, without the function g."""
    theta, lam = given.x, _zeros(given)
    path = [theta]
    for t, P in enumerate(given.active):
        theta_i = {i: local(i, t, lam[i], theta) for i in P}
        for i in P:
            lam[i] = lam[i] + rho * (theta_i[i] - theta)
        theta = mean(theta_i[i] + lam[i] / rho for i in P)
        path.append(theta)
    return path


def fedadmm_with_g(given: Given, rho, local, l2, l1, w):
    """afedpd 3.2 as printed, with g = l2/2 |.|^2 + l1 |.|_1 and the weight ``w`` of the last line."""
    def cost(v, bar):
        return l2 * v * v / 2 + l1 * abs(v) + w * (v - bar) ** 2

    def minimiser(bar):
        """On each side of 0 a parabola, which counts up to 0 only."""
        slopes = ((2 * w * bar - sign * l1) / (2 * w + l2) for sign in (1, -1))
        right, left = slopes
        return min((max(right, 0), min(left, 0), 0 * bar), key=lambda v: cost(v, bar))

    theta, lam = given.x, _zeros(given)
    path = [theta]
    for t, P in enumerate(given.active):
        theta_i = {i: local(i, t, lam[i], theta) for i in P}
        for i in P:
            lam[i] = lam[i] + rho * (theta_i[i] - theta)
        bars = mean(theta_i[i] + lam[i] / rho for i in P)
        theta = np.array([minimiser(bar) for bar in bars], dtype=bars.dtype)
        path.append(theta)
    return path


def fedadmm_stale(given: Given, rho, local):
    """afedpd 3.2: the server averages the last theta_i + lam_i/rho of all clients."""
    theta, lam = given.x, _zeros(given)
    hat = {i: theta + lam[i] / rho for i in range(given.clients)}
    path = [theta]
    for t, P in enumerate(given.active):
        sent = theta
        for i in P:
            theta_i = local(i, t, lam[i], sent)
            lam[i] = lam[i] + rho * (theta_i - sent)
            new = theta_i + lam[i] / rho
            theta = theta + (new - hat[i]) / given.clients
            hat[i] = new
        path.append(theta)
    return path


def feddyn(given: Given, rho, local, order="next"):
    """afedpd 3.3; ``order``: next (the new global dual enters the model) or printed (the old one)."""
    theta, C, lam_i, lam = given.x, given.clients, _zeros(given), 0 * given.x
    path = [theta]
    for t, P in enumerate(given.active):
        theta_i = {i: local(i, t, lam_i[i], theta) for i in P}
        for i in P:
            lam_i[i] = lam_i[i] + rho * (theta_i[i] - theta)
        new = lam + rho * sum(theta_i[i] - theta for i in P) / C
        theta = mean(theta_i.values()) + (new if order == "next" else lam) / rho
        lam = new
        path.append(theta)
    return path


def afedpd(given: Given, rho, local):
    """afedpd 3.4, Algorithm 1: the paths of the averages theta_bar and of the server's models theta."""
    theta, C, lam, bar = given.x, given.clients, _zeros(given), given.x
    bars, path = [bar], [theta]
    for t, P in enumerate(given.active):
        theta_i = {i: local(i, t, lam[i], theta) for i in P}
        bar = mean(theta_i.values())
        lam = {i: lam[i] + rho * ((theta_i[i] if i in P else bar) - theta) for i in range(C)}
        theta = bar + mean(lam.values()) / rho
        bars.append(bar)
        path.append(theta)
    return bars, path


def afedpd_aligned(given: Given, rho, eta_l):
    """afedpd 3.6 with K gradient steps: the paths of z and of z + v."""
    z, K = given.x, given.local_steps
    v, mu = 0 * z, _zeros(given)
    bars, path = [z], [z]
    for t, P in enumerate(given.active):
        x_i = {}
        for i in P:
            y = z + v
            for k in range(K):
                y = y - now(eta_l, t) * (given.grad(i, y, t, k) + mu[i] + rho * (y - z))
            x_i[i] = y
        z_new = mean(x_i.values())
        v, z = z_new - z, z_new
        for i in P:
            mu[i] = mu[i] + rho * (x_i[i] - z)
        bars.append(z)
        path.append(z + v)
    return bars, path


def fedspeed(given: Given, eta, rho, r, alpha):
    """afedpd 8, fedmoswa 8 (there with lambda = 1/rho)."""
    x, K, hat = given.x, given.local_steps, _zeros(given)
    path = [x]
    for t, P in enumerate(given.active):
        sent = []
        for i in P:
            y = x
            for k in range(K):
                g = given.grad(i, y, t, k)
                tilde = (1 - alpha) * g + alpha * given.grad(i, y + r * g, t, k)
                y = y - now(eta, t) * (tilde - hat[i] + rho * (y - x))
            hat[i] = hat[i] - rho * (y - x)
            sent.append(y - hat[i] / rho)
        x = mean(sent)
        path.append(x)
    return path


def fedsmoo(given: Given, eta, a, r, s_from="mu", order="next"):
    """fedmoswa 8: FedDyn with dynamically regularised perturbations. ``s_from``: what is averaged and normalised into s,
    the duals ``mu`` or the perturbations ``s_hat`` of those who took part. ``order``: see FedDyn."""
    theta, K, m = given.x, given.local_steps, given.clients
    lam, mu, h, s = _zeros(given), _zeros(given), 0 * theta, 0 * theta
    path = [theta]
    for t, S in enumerate(given.active):
        theta_i, s_hat = {}, {}
        for i in S:
            x = theta
            for k in range(K):
                s_hat[i] = r * unit(given.grad(i, x, t, k) - mu[i] - s)
                mu[i] = mu[i] + (s_hat[i] - s)
                x = x - now(eta, t) * (given.grad(i, x + s_hat[i], t, k) - lam[i] + (x - theta) / a)
            theta_i[i] = x
            lam[i] = lam[i] - (x - theta) / a
        s = r * unit(mean(mu[i] if s_from == "mu" else s_hat[i] for i in S))
        h_new = h - sum(theta_i[i] - theta for i in S) / (a * m)
        theta = mean(theta_i.values()) - a * (h_new if order == "next" else h)
        h = h_new
        path.append(theta)
    return path
