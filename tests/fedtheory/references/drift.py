"""Slow references: control variates, and momentum that clients receive from the server."""

from __future__ import annotations

from tests.fedtheory.references.common import EXTRA, Given, at_start, mean, now, unit

__all__ = [
    "fedavg_m", "fedcm", "fedgamma", "fedmo", "fedmoswa", "fedmoswa_fresh", "fedswa", "rates",
    "scaffold", "scaffold_m",
]


def _variates(given, start):
    """The c_i and the server's variate before the first round (fedmoswa 3.4 e); ``start``: zero, grad (gradients and their
    mean), grad-c (gradients and zero), or the pair of both."""
    if isinstance(start, tuple):
        return dict(enumerate(start[0])), start[1]
    c = at_start(given) if start.startswith("grad") else {i: 0 * given.x for i in range(given.clients)}
    return c, mean(c.values()) if start == "grad" else 0 * given.x


def scaffold(given: Given, eta_l, eta_g=1, refresh="model_difference", sign="standard", start="zero", r=0):
    """fadamgc 3.5. ``refresh``: model_difference (option II), gradient (option I), average_gradient. ``sign``: standard
    or printed_eq3. ``r``: radius of a sharpness-aware gradient, for FedGAMMA."""
    grad, x, active, n, K = given[:5]
    y_i, y = _variates(given, start)
    s = 1 if sign == "standard" else -1
    path = [x]
    for t, S in enumerate(active):
        eta, x_i, y_new, gradients = now(eta_l, t), {}, {}, {}
        for i in S:
            x_i[i], gradients[i] = x, []
            for k in range(K):
                g = grad(i, x_i[i], t, k)
                if r:
                    g = grad(i, x_i[i] + r * unit(g), t, k)
                gradients[i].append(g)
                x_i[i] = x_i[i] - eta * (g + s * (y - y_i[i]))
            if refresh == "gradient":
                y_new[i] = grad(i, x, t, EXTRA)
            elif refresh == "average_gradient":
                y_new[i] = mean(gradients[i])
            else:
                y_new[i] = y_i[i] - y + (x - x_i[i]) / (K * eta)
        y = y + sum(y_new[i] - y_i[i] for i in S) / n
        x = x + eta_g * mean(x_i[i] - x for i in S)
        y_i |= y_new
        path.append(x)
    return path


def fedgamma(given: Given, eta_l, r, eta_g=1, start="zero"):
    """fedmoswa 8: SCAFFOLD with the SAM gradient, variates as Option II."""
    return scaffold(given, eta_l, eta_g, start=start, r=r)


def scaffold_m(given: Given, eta, beta, gamma, start="zero"):
    """fadamgc 3.7."""
    grad, x, active, n, K = given[:5]
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
        M = sum(x - x_i[i] for i in S) / (eta * len(S) * K)
        x = x - gamma * M
        c = c + sum(c_new[i] - c_i[i] for i in S) / n
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
        M = sum(x - x_i[i] for i in S) / (eta * len(S) * K)
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
        Delta = sum(x - y[i] for i in S) / (eta * K * len(S))
        x = x - eta_g * eta * K * Delta
        path.append(x)
    return path


def rates(eta_l, rho, K):
    """fedmoswa 3.1: the K local rates of a round, falling linearly to ``rho``, or geometric-h1 for ``rho`` None."""
    one = eta_l / eta_l
    return [eta_l * (((K - 2) * one / (K - 1)) ** k if rho is None else one - (one - rho) * k / K) for k in range(K)]


def fedswa(given: Given, eta_l, rho, alpha):
    """fedmoswa 3.2."""
    grad, theta, active, _, K = given[:5]
    path = [theta]
    for t, S in enumerate(active):
        eta, ends = rates(now(eta_l, t), rho, K), []
        for i in S:
            x = theta
            for k in range(K):
                x = x - eta[k] * grad(i, x, t, k)
            ends.append(x)
        theta = theta + alpha * (mean(ends) - theta)
        path.append(theta)
    return path


def fedmoswa(given: Given, eta_l, rho, alpha, gamma, option="II", start="zero", average="sampled"):
    """fedmoswa 3.3; ``average``: sampled, (7), or all, (68)."""
    grad, theta, active, _, K = given[:5]
    c, m = _variates(given, start)
    path = [theta]
    for t, S in enumerate(active):
        eta, ends, c_plus = rates(now(eta_l, t), rho, K), {}, {}
        for i in S:
            x = theta
            for k in range(K):
                x = x - eta[k] * (grad(i, x, t, k) - c[i] + m)
            c_plus[i] = grad(i, theta, t, EXTRA) if option == "I" else c[i] - m + (theta - x) / sum(eta)
            ends[i] = x
        c |= c_plus
        if average == "sampled":
            m = m + gamma * mean(c_plus[i] - m for i in S)
        else:
            m = (1 - gamma) * m + gamma * mean(c.values())
        theta = theta + alpha * (mean(ends.values()) - theta)
        path.append(theta)
    return path


def fedmoswa_fresh(given: Given, eta_l, rho, gamma, alpha=1, batch="independent", m=0):
    """fedmoswa 3.3, MoSWA-fresh from a given m: the variates are gradients at the model of the round.

    ``batch``: independent samples for c_i, or the same as those of the local step in which it is subtracted.
    """
    grad, theta, active, _, K = given[:5]
    m, path = m + 0 * theta, [theta]
    for t, S in enumerate(active):
        eta, ends = rates(now(eta_l, t), rho, K), {}
        c = {i: grad(i, theta, t, EXTRA) for i in S}
        m = (1 - gamma) * m + gamma * mean(c.values())
        for i in S:
            x = theta
            for k in range(K):
                own = grad(i, theta, t, k) if batch == "same" else c[i]
                x = x - eta[k] * (grad(i, x, t, k) - own + m)
            ends[i] = x
        theta = theta + alpha * (mean(ends.values()) - theta)
        path.append(theta)
    return path


def fedmo(given: Given, eta_l, gamma, option="II", start="zero"):
    """fedmoswa 3.3: FedMoSWA with rho = 1 and alpha = 1."""
    return fedmoswa(given, eta_l, 1, 1, gamma, option, start)
