"""Slow references: primal-dual methods. A local problem is solved by K gradient steps from the model sent, or exactly."""

import numpy as np

from tests.fedtheory.references.common import Given, average, mean, mean_over_all, now, sum_of_shares, unit

__all__ = [
    "afedpd", "afedpd_aligned", "fedadmm", "fedadmm_with_g", "feddyn", "fedpd", "fedsmoo", "fedspeed", "solve_inexactly",
]


def take_steps(given: Given, rho, eta_l):
    """LocalTrain of afedpd 3.4."""
    def local(i, t, lam_i, theta):
        y = theta
        for k in range(given.local_steps):
            g = given.grad(i, y, t, k)
            y = y - now(eta_l, t) * (g + lam_i + rho * (y - theta))
        return y

    return local


def solve_inexactly(given: Given, eta_l, epsilon, **numbers):
    """The local problem of afedpd 3.4: full-gradient steps from the model sent until |grad L_i|^2 <= epsilon."""
    def local(i, linear, rho, sent):
        y = sent
        while True:
            slope = given.full(i, y) + linear + rho * (y - sent)
            if slope @ slope <= epsilon:
                return y
            y = y - now(eta_l, 0) * slope

    return local


def _zeros(given):
    return {i: 0 * given.x for i in range(given.clients)}


def fedadmm_with_g(given: Given, rho, eta_l, l2, l1, w):
    """afedpd 3.2 as printed, with g = l2/2 |.|^2 + l1 |.|_1 and the weight ``w`` of the last line."""
    def cost(v, bar):
        return l2 * v * v / 2 + l1 * abs(v) + w * (v - bar) ** 2

    def minimiser(bar):
        """On each side of 0 a parabola, which counts up to 0 only."""
        slopes = ((2 * w * bar - sign * l1) / (2 * w + l2) for sign in (1, -1))
        right, left = slopes
        return min((max(right, 0), min(left, 0), 0 * bar), key=lambda v: cost(v, bar))

    theta, lam, local = given.x, _zeros(given), take_steps(given, rho, eta_l)
    path = [theta]
    for t, P in enumerate(given.active):
        theta_i = {i: local(i, t, lam[i], theta) for i in P}
        for i in P:
            lam[i] = lam[i] + rho * (theta_i[i] - theta)
        bars = average(given, t, theta, {i: theta_i[i] + lam[i] / rho for i in P})
        theta = np.array([minimiser(bar) for bar in bars], dtype=bars.dtype)
        path.append(theta)
    return path


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
        z_new = average(given, t, z + v, x_i)
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
        sent = {}
        for i in P:
            y = x
            for k in range(K):
                g = given.grad(i, y, t, k)
                tilde = (1 - alpha) * g + alpha * given.grad(i, y + r * g, t, k)
                y = y - now(eta, t) * (tilde - hat[i] + rho * (y - x))
            hat[i] = hat[i] - rho * (y - x)
            sent[i] = y - hat[i] / rho
        x = average(given, t, x, sent)
        path.append(x)
    return path


def fedsmoo(given: Given, eta, a, r, s_from="mu", order="next"):
    """fedmoswa 8: FedDyn with dynamically regularised perturbations. ``s_from``: what is averaged and normalised into s,
    the duals ``mu`` or the perturbations ``s_hat`` of those who took part. ``order``: see FedDyn."""
    theta, K = given.x, given.local_steps
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
        s = r * unit(mean(given, t, mu if s_from == "mu" else s_hat))
        h_new = h - sum_of_shares(given, {i: theta_i[i] - theta for i in S}) / a
        theta = average(given, t, theta, theta_i) - a * (h_new if order == "next" else h)
        h = h_new
        path.append(theta)
    return path


# written from the docstrings alone, with the arguments of the methods' makers ---------------------------------------------
def _solved(given, eta_l, rho_prox, solver, epsilon):
    """The first line of FedPD: ``local(i, t, lam_i, x)``."""
    def local(i, t, lam_i, x):
        if solver == "exact":
            return given.minimise(i, lam_i, rho_prox, x)
        y, k = x, 0
        while True:
            if solver == "gradient" and k == given.local_steps:
                return y
            g = given.grad(i, y, t, k) if solver == "gradient" else given.full(i, y)
            slope = g + lam_i + rho_prox * (y - x)
            if solver == "tolerance" and slope @ slope <= epsilon:
                return y
            y, k = y - now(eta_l, t) * slope, k + 1

    return local


def fedpd(given: Given, eta_l, rho_prox, solver="gradient", epsilon=None):
    """FedPD, of which every client takes part."""
    return fedadmm(given, eta_l, rho_prox, solver=solver, epsilon=epsilon)


def fedadmm(given: Given, eta_l, rho_prox, variant="eq6", solver="gradient", epsilon=None):
    """FedADMM without a term g."""
    x, lam, local = given.x, _zeros(given), _solved(given, eta_l, rho_prox, solver, epsilon)
    last, path = {i: x for i in range(given.clients)}, [x]
    for t, S in enumerate(given.active):
        for i in S:
            x_i = local(i, t, lam[i], x)
            lam[i] = lam[i] + rho_prox * (x_i - x)
            last[i] = x_i + lam[i] / rho_prox
        x = average(given, t, x, last) if variant == "eq6" else mean_over_all(given, last)
        path.append(x)
    return path


def feddyn(given: Given, eta_l, rho_prox, order="next", solver="gradient", epsilon=None):
    """FedDyn."""
    x, lam_i, local = given.x, _zeros(given), _solved(given, eta_l, rho_prox, solver, epsilon)
    lam, path = 0 * x, [x]
    for t, S in enumerate(given.active):
        x_i = {i: local(i, t, lam_i[i], x) for i in S}
        for i in S:
            lam_i[i] = lam_i[i] + rho_prox * (x_i[i] - x)
        new = lam + rho_prox * sum_of_shares(given, {i: x_i[i] - x for i in S})
        x = average(given, t, x, x_i) + (new if order == "next" else lam) / rho_prox
        lam = new
        path.append(x)
    return path


def afedpd(given: Given, eta_l, rho_prox, output="bar", solver="gradient", epsilon=None, rho_sam=None, sam_eps=0):
    """A-FedPD; with ``rho_sam`` A-FedPDSAM."""
    def ahead(i, x, t, k):
        g = given.grad(i, x, t, k)
        length = float(np.sum(g * g)) ** 0.5 + sam_eps
        return given.grad(i, x + (rho_sam * g / length if length > 0 else 0 * g), t, k)

    facts = given if rho_sam is None else given._replace(grad=ahead)
    x, lam, local = given.x, _zeros(given), _solved(facts, eta_l, rho_prox, solver, epsilon)
    path = [x]
    for t, S in enumerate(given.active):
        x_i = {i: local(i, t, lam[i], x) for i in S}
        x_bar = average(given, t, x, x_i)
        lam = {i: lam[i] + rho_prox * ((x_i[i] if i in S else x_bar) - x) for i in lam}
        x = x_bar + mean_over_all(given, lam) / rho_prox
        path.append(x_bar if output == "bar" else x)
    return path
