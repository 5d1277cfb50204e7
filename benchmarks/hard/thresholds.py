"""Statements that hold up to a number of clients, coordinates, samples, steps or rounds, and fail for one more.

Left out: thresholds of sampling with more than a few clients, whose outcomes nobody can enumerate.
"""

from fractions import Fraction as Q
from math import sqrt

import numpy as np

from benchmarks.hard.pairs import CONVEX, NOISELESS, SMOOTH, Pair

__all__ = ["PAIRS"]


def _pair(name, size, last, statement, reason, sides, conditions=(), **fields) -> Pair:
    """A pair with at most ``last`` of ``size``, and with at most one more. ``sides``: both sides by the number of them."""
    return Pair(f"{name}-{last}", {**fields, "conditions": [*conditions, f"{size} <= {last}"], "statement": statement},
                {"conditions": [*conditions, f"{size} <= {last + 1}"]}, reason, lambda: sides(last + 1))


def _alone(count, others) -> np.ndarray:
    """1 and, ``count`` - 1 times, ``others``."""
    return np.array([1.0] + [others] * (count - 1))


_POINT = {"setting": "point", "equal_weights": True}


def gradient_of_one(last) -> Pair:
    def sides(m):
        gradients = _alone(m, -1 / (m - 1))
        return gradients[0] ** 2, (last - 1) * np.mean(gradients**2)
    return _pair("gradient-of-one-client", "clients", last, "norm2(grad(k, x_star))"
                 f" <= {last - 1}*Mean(norm2(grad(i, x_star)), (i, 0, clients-1)) for each k",
                 "Gradients at the optimum sum to 0: (m - 1) at most. One against all others.",
                 sides, **_POINT)


def gradient_by_mean_length(last) -> Pair:
    def sides(m):
        gradients = _alone(m, -1 / (m - 1))
        return gradients[0], last / 2 * np.mean(abs(gradients))
    return _pair("gradient-by-mean-length", "clients", last, "norm(grad(k, x_star))"
                 f" <= {Q(last, 2)}*Mean(norm(grad(i, x_star)), (i, 0, clients-1)) for each k",
                 "The others' lengths sum to at least as much: m/2. One against all others.",
                 sides, **_POINT)


def gap_of_one(last) -> Pair:
    return _pair("gap-of-one-client", "clients", last,
                 f"F(k, y) - F(k, x_star) <= {last}*(objective(y) - F_star) for each k",
                 "With a common minimum all gaps are at least 0. One client has a gap.",
                 lambda m: (1.0, last * np.mean(_alone(m, 0))), variables={"y": "vector"},
                 assume=["F(k, v) >= F(k, x_star) for all v for each k"], **_POINT)


def dissimilar(last) -> Pair:
    def sides(m):
        gradients = _alone(m, 0)
        return np.mean(gradients**2), last * np.mean(gradients) ** 2
    return _pair("squares-of-gradients-in-one-dimension", "clients", last,
                 f"Mean(norm2(grad(k, x_round[0])), k) <= {last}*norm2(objective_grad(x_round[0]))",
                 "Of convex losses with a common minimum all gradients have one sign. One client has a gradient.", sides,
                 ("dim == 1",), assume=[SMOOTH, CONVEX, NOISELESS, "norm2(grad(k, x_star)) <= 0 for each k"])


def drift_of_one(last) -> Pair:
    return _pair("drift-of-one-client", "clients", last,
                 "norm2(x_before[1, k] - x_round[0])"
                 f" <= {last}*eta_l[0]**2*Mean(norm2(grad(i, x_round[0])), (i, 0, clients-1))"
                 " for each k", "One step along the gradient, and one of m squares. One client has a gradient.",
                 lambda m: (1.0, last * np.mean(_alone(m, 0))), ("local_steps == 1",), assume=[NOISELESS])


def sampled_pair(last) -> Pair:
    def sides(m):  # one client moves by 1, two are drawn
        return 2 / m * (1 / 2 - 1 / m) ** 2 + (m - 2) / m / m**2, (last - 2) / (2 * (last - 1)) * (1 - 1 / m) / m
    return _pair("two-sampled-of-clients", "clients", last, f"E(norm2(x_round[1] - x_mean)) <= {Q(last - 2, 2 * (last - 1))}"
                 "*Mean(norm2(x_before[local_steps, k] - x_mean), k)",
                 "Cochran 1977: (m - 2)/(2 (m - 1)), which rises with m.",
                 sides, ("participants == 2",), sampling="without-replacement", assume=[NOISELESS],
                 definitions={"x_mean": "Mean(x_before[local_steps, k], k)"})


def absent(last) -> Pair:
    return _pair("absent-client", "clients", last, f"P(sampled[0, 0] <= 0) <= {Q(last - 1, last)}",
                 "1 - s/m. One participant.",
                 lambda m: (np.mean(np.arange(m) > 0), 1 - 1 / last), sampling="without-replacement")


def absent_twice(last) -> Pair:
    return _pair("absent-in-two-rounds", "clients", last,
                 f"P(sampled[0, 0] + sampled[1, 0] <= 0) <= {Q((last - 1) ** 2, last**2)}", "(1 - s/m)^2. One participant.",
                 lambda m: (np.mean(np.arange(m) > 0) ** 2, (1 - 1 / last) ** 2), ("rounds == 2",),
                 sampling="without-replacement")


def sum_by_length(last) -> Pair:
    return Pair(f"sum-by-length-{last}", {
        "variables": {"n": f"integer from 1 to {last}", "a": "nonnegative[n]"},
        "statement": f"Sum(a[i], i)**2 <= {last}*Sum(a[i]**2, i)",
    }, {"variables": {"n": f"integer from 1 to {last + 1}", "a": "nonnegative[n]"}},
        "Cauchy's inequality has n in place of the number. Equal entries.",
        lambda: (np.ones(last + 1).sum() ** 2, last * (np.ones(last + 1) ** 2).sum()))


def harmonic(last) -> Pair:
    total = sum(Q(1, j) for j in range(1, last + 1))
    digits = Q(-(-total * 10**4 // 1), 10**4)  # rounded up
    return Pair(f"harmonic-{last}", {
        "variables": {"n": f"integer from 1 to {last}"}, "statement": f"Sum(1/j, (j, 1, n)) <= {digits}",
    }, {"variables": {"n": f"integer from 1 to {last + 1}"}}, "The sum rises with n.",
        lambda: (sum(1 / j for j in range(1, last + 2)), float(digits)))


def lengths(last) -> Pair:
    return _pair("sum-of-coordinates", "dim", last, f"norm1(x_round[0] - x_star)**2 <= {last}*norm2(x_round[0] - x_star)",
                 "Cauchy's inequality has d in place of the number. Equal coordinates.",
                 lambda d: (np.ones(d).sum() ** 2, last * (np.ones(d) ** 2).sum()))


def largest_coordinate(last) -> Pair:
    return _pair("largest-coordinate", "dim", last, f"norm2(objective_grad(y)) <= {last}*norm_inf(objective_grad(y))**2",
                 "At most d in place of the number. Equal coordinates.",
                 lambda d: ((np.ones(d) ** 2).sum(), last * np.ones(d).max() ** 2), variables={"y": "vector"}, **_POINT)


def sample_of_many(last) -> Pair:
    def sides(n):
        deviations = _alone(n, -1 / (n - 1))
        return deviations[0] ** 2, (last - 1) * np.mean(deviations**2)
    return _pair("gradient-of-one-sample", "samples", last, "norm2(loss_grad(0, 0, x_round[0]) - grad(0, x_round[0]))"
                 f" <= {last - 1}*Mean(norm2(loss_grad(0, i, x_round[0]) - grad(0, x_round[0])), (i, 0, samples-1))",
                 "Deviations from a mean sum to 0: (n - 1) at most. One sample against all others.", sides)


def drift_sum(last) -> Pair:
    def constant(steps):
        return Q((steps - 1) * (2 * steps - 1), 6 * steps**2)
    return _pair("sum-of-drifts", "local_steps", last, "Sum(norm2(x_local[j, k] - x_round[0]), (j, 0, local_steps-1))"
                 f" <= {constant(last)}*eta**2*local_steps**3*norm2(grad(k, x_round[0])) for each k",
                 "Gradients of convex losses do not grow: (K-1)(2K-1)/(6 K^2), which rises with K. A linear loss.",
                 lambda K: (float((np.arange(K) ** 2).sum()), float(constant(last) * K**3)),
                 ("eta_l[t] == eta for each t", "eta <= 2/L", "rounds == 1"), assume=[SMOOTH, CONVEX, NOISELESS],
                 variables={"eta": "positive"})


def momentum(last) -> Pair:
    factor = 2 - Q(1, 2 ** (last - 1))
    return _pair("momentum-of-rounds", "rounds", last, "norm(x_round[rounds] - x_round[rounds-1])"
                 f" <= {factor}*eta*Max(norm(objective_grad(x_round[i])), (i, 0, rounds-1))",
                 "A geometric sum, (1 - 2^-N)/(1 - 1/2). A linear loss.",
                 lambda n: (float((0.5 ** np.arange(n)).sum()), float(factor)),
                 ("eta_l[t] == eta for each t", "local_steps == 1"),
                 method="fedavgm", options={"beta1": 0.5}, assume=[NOISELESS], variables={"eta": "positive"})


def weight_sum(last) -> Pair:
    return _pair("squares-of-weights", "clients", last, f"Sum(client_weight[k]**2, k) >= {Q(1, last)}",
                 "Cauchy's inequality: 1/m at least. Equal weights.",
                 lambda m: (1 / last, float((np.full(m, 1 / m) ** 2).sum())), equal_weights=False)


def root(last) -> Pair:
    c = Q(int(sqrt(last) * 1000) + 1, 1000)
    return _pair("sum-of-lengths", "clients", last, "Sum(norm(grad(k, x_round[0])), k)"
                 f" <= {c}*sqrt(Sum(norm2(grad(k, x_round[0])), k))",
                 "Cauchy's inequality has sqrt(m) in place of the number. Equal gradients.",
                 lambda m: (np.ones(m).sum(), float(c) * np.sqrt((np.ones(m) ** 2).sum())), assume=[NOISELESS])


PAIRS = (
    *(rule(last) for rule, row in (
        (gradient_of_one, (5, 12, 50, 1000)), (gradient_by_mean_length, (12, 50)), (gap_of_one, (5, 50)),
        (dissimilar, (5, 50)),
        (drift_of_one, (12, 1000)), (sampled_pair, (5, 12)), (absent, (12, 50)), (absent_twice, (5, 12)),
        (sum_by_length, (50, 1000)), (harmonic, (50, 1000)), (lengths, (5, 12)), (largest_coordinate, (5, 50)),
        (sample_of_many, (5, 50)), (drift_sum, (5, 12, 50)), (momentum, (5, 12)), (weight_sum, (12, 1000)), (root, (5, 12)),
    ) for last in row),
)
