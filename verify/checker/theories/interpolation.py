"""Functions of a class at several points: interpolation, smoothness, least values, one curvature."""

from verify.checker.exchangeable_clients import is_common
from verify.checker.operators import require
from verify.checker.quadratic_forms import LAYER, NotQuadratic, QuadraticForm, SymbolicVector, between, effort, pairing


def curvatures(run, k):
    """The largest and the least curvature that the hypotheses leave client k; None where there is no bound."""
    return run.bounds["L_client"][k], run.bounds["mu_client"][k]


def two_points(run, past, k, i, j):
    """f - e - <h, x - y> - m/2 |x - y|^2 - |g - h - m (x - y)|^2 / (2 (L - m)) >= 0 of two points (x, g, f) and (y, h, e) of
    a client, if curvatures lie from m to L; m is -L where there is no bound from below.

    Taylor, Hendrickx, Glineur 2017, Theorem 4; for m < 0 Rotaru, Glineur, Patrinos 2022, Theorem 3.1.
    """
    L, m = curvatures(run, k)
    require(i != j and not (L is None and m is None), "a class without bounds of the curvature")
    one, other = run.letters.points[k][i], run.letters.points[k][j]
    run.letters.meter.charge((len(one[0].parts) + len(other[0].parts) + 2) ** 2 // 2)
    return between(one, other, L, -L if m is None else m)


def least(run, past, k, i):
    """f - |g|^2 / (2 L) >= inf F_k at a point (x, g, f) of a client with an L-Lipschitz gradient.

    A step of 1/L from x ends where F_k is at most the left side (Nesterov 2004, (1.2.13)).
    """
    L, _ = curvatures(run, k)
    require(L is not None, "a class without a bound of the curvature")
    _, gradient, value = run.letters.points[k][i]
    return value - pairing(gradient, gradient) / (2 * L) - run.given["F_star_client"][k]


def least_of_all(run, past, number):
    """F(x) - |grad F(x)|^2 / (2 L) >= F* of the objective F at a point x where all clients are known, with L the mean of the
    clients' bounds: F is L-smooth, and the step of 1/L shows it."""
    x, *_ = run.letters.points[0][number]
    bounds = run.bounds["L_client"]
    require(None not in bounds, "a class without a bound of the curvature")
    if run.people.one:
        require(is_common(x), "the objective at a point of one client")
        smooth = bounds[0]
    else:
        known = all(any(point[0].equals(x) for point in points) for points in run.letters.points)
        require(known, "the objective at a point of some clients")
        smooth = sum(p * L for p, L in zip(run.weights, bounds, strict=True))
    gradient = run.people.objective_grad(run.letters, x)
    return run.objective(x) - pairing(gradient, gradient) / (2 * smooth) - run.given["F_star"]


def one_curvature(run, past, k, i, j, layer=0):
    """<g - g_* - m (x - x_*), v> = 0 for every letter v, at a point (x, g) of a client of which all curvatures are m: its
    gradient is linear."""
    L, m = curvatures(run, k)
    if run.people.one or m is None or m != L:
        raise NotQuadratic("curvatures that are not one number")
    star, at_star, _ = run.letters.points[k][0]
    x, g, _ = run.letters.points[k][i]
    require(j < len(run.letters.depends) and layer in run.letters.parts, "no letter")
    rest, v = g - at_star - (x - star) * m, SymbolicVector.basis(j + layer * LAYER)
    run.letters.meter.charge(effort(rest, v))
    return pairing(rest, v) + QuadraticForm({})
