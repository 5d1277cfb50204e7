"""Slow references written from the methods' docstrings alone: variates, sharpness, momentum, and moments on the clients.

Arguments have the names of the method's maker. Every mean has the weights of the docstring of ``fedavg``.
"""

import numpy as np

from tests.fedtheory.references.common import (
    EXTRA,
    Given,
    at_start,
    average,
    mean,
    mean_over_all,
    norm,
    now,
    sum_of_shares,
    unit,
)

__all__ = [
    "fa_nt", "fa_nt_z", "fadamgc", "fedgamma", "fedmo", "fedmoswa", "fedsam", "fedswa", "local_adam", "mofedsam", "scaffold",
]


def _variates(given, start, client_variate=None, server_variate=None):
    """The c_i and c before the first round, by ``start``."""
    zero = 0 * given.x
    if start == "gradient":
        c_i = at_start(given)
        return c_i, mean_over_all(given, c_i)
    if start == "gradient-clients-only":
        return at_start(given), zero
    c_i = {i: zero + (0 if client_variate is None else client_variate[i]) for i in range(given.clients)}
    if start == "free-mean":
        return c_i, mean_over_all(given, c_i)
    return c_i, zero + (0 if server_variate is None else server_variate)


def _ahead(given, i, x, t, k, rho_sam):
    """The gradient after an ascent step of length ``rho_sam``, twice on the same samples."""
    return given.grad(i, x + rho_sam * unit(given.grad(i, x, t, k)), t, k)


# control variates --------------------------------------------------------------------------------------------------------
def scaffold(given: Given, eta_l, eta_g=1, option="II", start="zero", sign="standard", client_variate=None,
             server_variate=None, rho_sam=None):
    """SCAFFOLD; with ``rho_sam`` FedGAMMA."""
    x, K, path = given.x, given.local_steps, [given.x]
    c_i, c = _variates(given, start, client_variate, server_variate)
    for t, S in enumerate(given.active):
        eta, x_i, new = now(eta_l, t), {}, {}
        for i in S:
            y, total = x, 0 * x
            for k in range(K):
                g = given.grad(i, y, t, k) if rho_sam is None else _ahead(given, i, y, t, k, rho_sam)
                total = total + g
                y = y - eta * (g - c_i[i] + c if sign == "standard" else g + c_i[i] - c)
            x_i[i] = y
            if option == "I":
                new[i] = given.grad(i, x, t, EXTRA)
            elif option == "average-gradient":
                new[i] = total / K
            else:
                new[i] = c_i[i] - c + (x - y) / (K * eta)
        x = x + eta_g * (average(given, t, x, x_i) - x)
        c = c + sum_of_shares(given, {i: new[i] - c_i[i] for i in S})
        c_i = c_i | new
        path.append(x)
    return path


def fedgamma(given: Given, eta_l, rho_sam, eta_g=1, start="zero"):
    """FedGAMMA."""
    return scaffold(given, eta_l, eta_g, "II", start, rho_sam=rho_sam)


def _rate(given, t, j, eta_l, rho_decay, schedule):
    """The rate of local step j."""
    eta, K = now(eta_l, t), given.local_steps
    if schedule == "cyclic-linear":
        return eta - eta * (1 - rho_decay) * j / K  # so that a whole rho_decay leaves fractions fractions
    ratio = (0 * eta + K - 2) / (0 * eta + K - 1)  # in the numbers of eta
    return eta * ratio**j


def fedswa(given: Given, eta_l, rho_decay=1, eta_g=1, schedule="cyclic-linear"):
    """FedSWA."""
    x, path = given.x, [given.x]
    for t, S in enumerate(given.active):
        x_i = {}
        for i in S:
            y = x
            for j in range(given.local_steps):
                y = y - _rate(given, t, j, eta_l, rho_decay, schedule) * given.grad(i, y, t, j)
            x_i[i] = y
        x = x + eta_g * (average(given, t, x, x_i) - x)
        path.append(x)
    return path


def fedmoswa(given: Given, eta_l, rho_decay=1, eta_g=1, gamma=0, option="II", start="zero", variant="canonical",
             batch="independent", schedule="cyclic-linear", client_variate=None, server_variate=None):
    """FedMoSWA."""
    x, K, path = given.x, given.local_steps, [given.x]
    c_i, m = _variates(given, start, client_variate, server_variate)
    for t, S in enumerate(given.active):
        rates = [_rate(given, t, j, eta_l, rho_decay, schedule) for j in range(K)]
        if variant == "fresh":
            c_i = {i: given.grad(i, x, t, EXTRA) for i in S}
            m = (1 - gamma) * m + gamma * mean_over_all(given, c_i)
        x_i, new = {}, {}
        for i in S:
            y = x
            for j in range(K):
                here = given.grad(i, x, t, j) if batch == "same" else c_i[i]
                y = y - rates[j] * (given.grad(i, y, t, j) - here + m)
            x_i[i] = y
            new[i] = given.grad(i, x, t, EXTRA) if option == "I" else c_i[i] - m + (x - y) / sum(rates)
        x = x + eta_g * (average(given, t, x, x_i) - x)
        if variant != "fresh":
            c_i = c_i | new
            if variant == "canonical":
                m = m + gamma * mean(given, t, {i: new[i] - m for i in S})
            else:
                m = (1 - gamma) * m + gamma * mean_over_all(given, c_i)
        path.append(x)
    return path


def fedmo(given: Given, eta_l, gamma, option="II", start="zero"):
    """FedMo."""
    return fedmoswa(given, eta_l, gamma=gamma, option=option, start=start)


# sharpness ---------------------------------------------------------------------------------------------------------------
def fedsam(given: Given, eta_l, rho_sam, eta_g=1):
    """FedSAM."""
    return mofedsam(given, eta_l, rho_sam, 1, eta_g)


def mofedsam(given: Given, eta_l, rho_sam, beta, eta_g=1):
    """MoFedSAM."""
    x, M, K, path = given.x, 0 * given.x, given.local_steps, [given.x]
    for t, S in enumerate(given.active):
        x_i, eta = {}, now(eta_l, t)
        for i in S:
            y = x
            for k in range(K):
                y = y - eta * (beta * _ahead(given, i, y, t, k, rho_sam) + (1 - beta) * M)
            x_i[i] = y
        M = (x - average(given, t, x, x_i)) / (K * eta)
        x = x - eta_g * K * eta * M
        path.append(x)
    return path


# Adam on the clients -----------------------------------------------------------------------------------------------------
class _Adam:
    """One client's moments: what the docstring of ``Adam`` says of m, v and vhat."""

    def __init__(self, x, beta1, beta2, eps, vhat="reset", store="v", norm="elem", moment_index="immediate", v_init=0.0):
        self.beta1, self.beta2, self.eps = beta1, beta2, eps
        self.how, self.store, self.norm, self.moment_index = vhat, store, norm, moment_index
        self.v = v_init if norm == "scalar" else v_init + 0 * x
        self.top = self.v

    def begin(self, x):
        """The start of a round."""
        self.m = 0 * x
        if self.how in ("reset", "none"):
            self.top = self.v
        elif self.how == "zero":
            self.top = 0 * self.v

    def direction(self, g):
        """The direction of a local step."""
        before = self.m, self.top
        self.m = self.beta1 * self.m + (1 - self.beta1) * g
        self.v = self.beta2 * self.v + (1 - self.beta2) * (norm(g) ** 2 if self.norm == "scalar" else g * g)
        self.top = self.v if self.how == "none" else np.maximum(self.top, self.v)
        m, top = (self.m, self.top) if self.moment_index == "immediate" else before
        below = np.sqrt(top) + self.eps + 0 * m
        return np.array([0 if a == 0 and b == 0 else a / b for a, b in zip(m, below, strict=True)])

    def end(self):
        """The end of a round."""
        if self.store == "vhat":
            self.v = self.top


def _first(given, y_init):
    """The y_i before the first round."""
    full = {i: given.full(i, given.x) for i in range(given.clients)}
    return {i: 0 * g if y_init == "zero" else g if y_init == "gradient" else unit(g) for i, g in full.items()}


def fadamgc(given: Given, eta_l, beta1, beta2, eps, eta_g, trackers=None, y_init="zero", tracked=None, inside=True, **how):
    """FAdamGC, or with ``inside`` false FA-NT; ``tracked[t]``: the trackers of round t, if they are not all participants."""
    x, K, path = given.x, given.local_steps, [given.x]
    adam = {i: _Adam(x, beta1, beta2, eps, **how) for i in range(given.clients)}
    y_i = _first(given, y_init)
    y = mean_over_all(given, y_i)
    for t, S in enumerate(given.active):
        x_i, new, eta = {}, {}, now(eta_l, t)
        for i in S:
            z, total = x, 0 * x
            adam[i].begin(x)
            for k in range(K):
                g = given.grad(i, z, t, k)
                total = total + g
                step = adam[i].direction(g + y - y_i[i]) if inside else adam[i].direction(g) + y - y_i[i]
                z = z - eta * step
            adam[i].end()
            x_i[i] = z
            if trackers is None or i in tracked[t]:
                new[i] = total / K if inside else y_i[i] - y + (x - z) / (K * eta)
        y = y + sum_of_shares(given, {i: v - y_i[i] for i, v in new.items()})
        y_i = y_i | new
        x = x + eta_g * (average(given, t, x, x_i) - x)
        path.append(x)
    return path


def fa_nt(given: Given, **numbers):
    """FA-NT."""
    return fadamgc(given, inside=False, **numbers)


def local_adam(given: Given, **numbers):
    """LocalAdam: FAdamGC whose y_i and y stay zero."""
    return fadamgc(given, trackers=0, tracked=[()] * len(given.active), **numbers)


def fa_nt_z(given: Given, eta_l, beta1, beta2, eps, eta_g, y_init="zero", **how):
    """FA-NT in its z-form."""
    x, K, path, y_i = given.x, given.local_steps, [given.x], _first(given, y_init)
    adam = {i: _Adam(x, beta1, beta2, eps, **how) for i in range(given.clients)}
    z_i = {i: mean_over_all(given, y_i) - y_i[i] for i in y_i}
    for t, S in enumerate(given.active):
        x_i, eta = {}, now(eta_l, t)
        for i in S:
            v = x
            adam[i].begin(x)
            for k in range(K):
                v = v - eta * (adam[i].direction(given.grad(i, v, t, k)) + z_i[i])
            adam[i].end()
            x_i[i] = v
        x = x + eta_g * (average(given, t, x, x_i) - x)
        for i in S:
            z_i[i] = z_i[i] + (x_i[i] - x) / (K * eta_g * eta)
        path.append(x)
    return path
