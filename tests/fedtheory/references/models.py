"""Slow references: methods that need a model behind the parameters, FedPara's factors and MOON's representations."""

import math

import numpy as np

from tests.fedtheory.references.common import Given, average

__all__ = ["fedpara", "moon"]


# FedPara: FedLUAR's specification, section 8 -------------------------------------------------------------------------------
def _factors(x, shape, rank):
    """X1 (n1, r), Y1 (n2, r), X2, Y2 as lists of rows."""
    parts, start = [], 0
    for rows in (*shape, *shape):
        parts.append([x[start + row * rank: start + (row + 1) * rank] for row in range(rows)])
        start += rows * rank
    return parts


def _entry(left, right):
    return sum(a * b for a, b in zip(left, right, strict=True))


def _by_chain_rule(x, shape, rank, gradient):
    """The gradient in the factors of a function of W = (X1 Y1^T) o (X2 Y2^T) whose gradient in W is ``gradient(W)``."""
    X1, Y1, X2, Y2 = _factors(x, shape, rank)
    cells = [(i, j) for i in range(shape[0]) for j in range(shape[1])]
    W = np.array([_entry(X1[i], Y1[j]) * _entry(X2[i], Y2[j]) for i, j in cells])
    G = dict(zip(cells, gradient(W), strict=True))
    dX1, dY1, dX2, dY2 = (np.zeros((rows, rank)) for rows in (*shape, *shape))
    for i, j in cells:
        first, second = _entry(X1[i], Y1[j]), _entry(X2[i], Y2[j])
        for r in range(rank):
            dX1[i, r] += G[i, j] * second * Y1[j][r]
            dY1[j, r] += G[i, j] * second * X1[i][r]
            dX2[i, r] += G[i, j] * first * Y2[j][r]
            dY2[j, r] += G[i, j] * first * X2[i][r]
    return np.concatenate([part.ravel() for part in (dX1, dY1, dX2, dY2)])


def fedpara(given: Given, eta, eta_g, shape, rank):
    """FedAvg on the factors; ``given.grad`` is the stochastic gradient in the model W, row by row."""
    x = given.x
    path = [x]
    for t, S in enumerate(given.active):
        local = {}
        for i in S:
            y = x
            for k in range(given.local_steps):
                y = y - eta * _by_chain_rule(y, shape, rank, lambda W, i=i, k=k, t=t: given.grad(i, W, t, k))
            local[i] = y
        x = x + eta_g * (average(given, t, x, local) - x)
        path.append(x)
    return path


# MOON: FedLUAR's specification, section 8 ----------------------------------------------------------------------------------
def _cosine(z, c):
    """The cosine of z and c, and its gradient in z."""
    length, other = math.sqrt(z @ z), math.sqrt(c @ c)
    value = (z @ c) / (length * other)
    return value, c / (length * other) - value * z / length**2


def _contrast(z, z_global, z_previous, theta):
    """The gradient in z of -log(E_glob / (E_glob + E_prev)) with E = exp(sim / theta)."""
    (near, d_near), (far, d_far) = _cosine(z, z_global), _cosine(z, z_previous)
    share = math.exp(far / theta) / (math.exp(near / theta) + math.exp(far / theta))
    return share * (d_far - d_near) / theta


def moon(given: Given, eta, eta_g, mu, theta, samples):
    """MOON on a linear model, of which z are the scores W a; ``samples(i, t, k)`` are the a that the stochastic gradient of
    that step looks at, each counted once."""
    x, last = given.x, dict.fromkeys(range(given.clients), given.x)
    path = [x]
    for t, S in enumerate(given.active):
        local = {}
        for i in S:
            y = x
            for k in range(given.local_steps):
                seen = samples(i, t, k)
                pull = np.zeros((len(x) // len(seen[0]), len(seen[0])))
                for a in seen:
                    z, z_global, z_previous = (model.reshape(pull.shape) @ a for model in (y, x, last[i]))
                    pull += np.outer(_contrast(z, z_global, z_previous, theta), a) / len(seen)
                y = y - eta * (given.grad(i, y, t, k) + mu * pull.ravel())
            local[i] = y
        last.update(local)
        x = x + eta_g * (average(given, t, x, local) - x)
        path.append(x)
    return path
