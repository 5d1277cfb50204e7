"""Proofs about optima of convex generalised linear federations: whether they exist, and bounds on suboptimality."""

from math import e

import numpy as np

from synthetic.numbers.arrays import namespace, to_numpy

__all__ = ["has_minimiser", "suboptimality"]


def has_minimiser(federation, weights=None) -> np.ndarray:
    """Whether sum_k weights_k F_k attains its infimum, (instances,); without ``weights`` each F_k, (instances, clients).

    With a penalty, or a loss that grows on both sides, a minimiser exists. Otherwise (softplus) there is none exactly if
    some direction v has a.v <= 0 for all samples and a.v < 0 for one of them: the data are separable. A linear programme
    decides it. ``weights`` are (instances, clients).
    """
    shape = (federation.instances, federation.clients)[: 1 if weights is not None else 2]
    exists = np.ones(shape, dtype=bool)
    if federation.ridge or federation.phi.growth is not None:
        return exists
    features, real = to_numpy(federation.features), to_numpy(federation.share) > 0
    for place in np.ndindex(shape):
        chosen = real[place] if weights is None else real[place] & (to_numpy(weights)[place] > 0)[:, None]
        exists[place] = not _separable(features[place][chosen])
    return exists


def _separable(rows) -> bool:
    from scipy.optimize import linprog  # half a second, which commands that solve nothing save

    scale = np.abs(rows).max()
    if not scale:
        return False
    rows = rows / scale
    bounds = np.concatenate([np.zeros(len(rows)), np.ones(len(rows))])
    found = linprog(rows.sum(axis=0), A_ub=np.concatenate([rows, -rows]), b_ub=bounds, bounds=(None, None), method="highs")
    return bool(found.status == 0 and found.fun < -1e-7)


def suboptimality(federation, points, levels, slopes, weights=None):
    """Proven bound on how far the values ``levels`` at ``points`` (..., dim) lie above their infima; inf if there is none.

    ``slopes`` (..., dim) are the gradients g there, ``weights`` as in :func:`has_minimiser`. The least of

    * |g|^2 / (2 mu), with strong convexity mu;
    * e |g|^2 / (2 l), where l is the least eigenvalue of the Hessian at x: a loss with |phi'''| <= M phi'' has at least 1/e
      of its curvature within the radius r = 1 / (M max |a|), and if 2 e |g| < l r the minimiser lies there;
    * |g| (|x| + R), for a loss with phi(u) >= s |u| - c: it has a minimiser within the radius R of the origin, found from
      the least positive eigenvalue of the mean of a a^T.
    """
    xp = namespace(points)
    steep = xp.sqrt(xp.sum(slopes**2, axis=-1))
    mu = federation.convexity().value
    mu = mu if weights is None else xp.sum(weights * mu, axis=-1)
    gap = xp.where(mu > 0, steep**2 / (2 * xp.where(mu > 0, mu, 1 + 0 * mu)), xp.inf)
    if federation.alpha or bool(xp.all(mu > 0)):
        return gap
    if federation.phi.change is not None:
        gap = xp.minimum(gap, _by_curvature(federation, points, steep, weights))
    if federation.phi.growth is not None:
        gap = xp.minimum(gap, steep * (xp.sqrt(xp.sum(points**2, axis=-1)) + _radius(federation, levels, weights)))
    return gap


def _by_curvature(federation, points, steep, weights):
    xp = namespace(points)
    x = points if weights is None else federation.all_clients(points)
    bends = federation.phi.bend(federation._scores(federation.features, x) - federation.targets)[..., 0]
    across = xp.permute_dims(federation.features * (federation.share * bends)[..., None], (0, 1, 3, 2))
    hessians = xp.matmul(across, federation.features)
    hessians = hessians if weights is None else xp.sum(weights[..., None, None] * hessians, axis=1)
    eigenvalues = xp.linalg.eigvalsh(hessians)
    least = xp.where(eigenvalues[..., 0] > federation._rank_tolerance(eigenvalues)[..., 0], eigenvalues[..., 0], 0)
    longest = xp.max(xp.sqrt(xp.sum(federation.features**2, axis=-1)), axis=-1)
    longest = longest if weights is None else xp.max(longest, axis=-1)
    inside = 2 * e * steep * federation.phi.change * longest < least
    return xp.where(inside, e * steep**2 / (2 * xp.where(inside, least, 1 + 0 * least)), xp.inf)


def _radius(federation, levels, weights):
    """R of :func:`suboptimality`: a ball of this radius around the origin contains a minimiser."""
    xp = namespace(levels)
    slope, loss_at_zero = federation.phi.growth
    share, gram = federation.share, federation.gram()
    size = xp.sum(share * xp.abs(federation.targets[..., 0]), axis=-1)
    lightest = 1 / xp.astype(federation.counts, share.dtype)
    if weights is not None:
        gram, size = xp.sum(weights[..., None, None] * gram, axis=1), xp.sum(weights * size, axis=-1)
        lightest = xp.min(xp.where(weights > 0, weights * lightest, xp.inf), axis=-1)
    eigenvalues = xp.linalg.eigvalsh(gram)
    eigenvalues = xp.where(eigenvalues > federation._rank_tolerance(eigenvalues), eigenvalues, xp.inf)
    return ((levels + loss_at_zero) / slope + size) / xp.sqrt(lightest * xp.min(eigenvalues, axis=-1))
