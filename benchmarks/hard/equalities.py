"""Hypotheses that are equations, and statements that are equations at a tie: false for a strict sign or without the tie."""

from math import sqrt

import numpy as np

from benchmarks.hard.pairs import CONVEX, NOISELESS, SMOOTH, STRONGLY_CONVEX, Pair, descent

__all__ = ["PAIRS"]


def _strict(name, statement, reason, sides, tied="<=", strict="<", **fields) -> Pair:
    """A pair with ``<=`` and with ``<``, where both sides can be equal; ``~`` stands for the sign."""
    return Pair(f"{name}-strict", {**fields, "statement": statement.replace("~", tied)},
                {"statement": statement.replace("~", strict)}, reason, sides, "<")


def _tie(name, conditions, tied, loose, statement, reason, sides, **fields) -> Pair:
    """A pair with the condition ``tied``, and with ``loose`` in its place."""
    return Pair(name, {**fields, "conditions": [*conditions, tied], "statement": statement},
                {"conditions": [*conditions, loose]}, reason, sides)


_POINT = {"setting": "point", "equal_weights": True}
_ONE_STEP, _ROUND = ("local_steps == 1",), "rounds == 1"
_FIRST, _NEXT = "norm2(x_round[0] - x_star)", "norm2(x_round[1] - x_star)"
_SHARES = {"definitions": {"x_mean": "Mean(x_before[local_steps, k], k)"}, "sampling": "without-replacement",
           "assume": [NOISELESS]}


def _one_moves(clients, participants) -> tuple[float, float]:
    """One client moves by 1: the variance of the sample's mean, and that of the clients."""
    share, mean = participants / clients, 1 / clients
    return share * (1 / participants - mean) ** 2 + (1 - share) * mean**2, mean * (1 - mean)


def sampling() -> tuple[Pair, ...]:
    variance = "E(norm2(x_round[1] - x_mean))"
    spread = "Mean(norm2(x_before[local_steps, k] - x_mean), k)"
    return (
        _tie("everybody", (), "participants == clients", "participants >= clients - 1", f"{variance} <= 0",
             "All take part: the mean has no variance. One is absent.", lambda: (_one_moves(5, 4)[0], 0.0), **_SHARES),
        _tie("half-of-the-clients", (), "clients == 2*participants", "clients == 3*participants",
             f"(clients - 1)*{variance} <= {spread}", "Cochran 1977: (m - s)/s, which is 1 for the half.",
             lambda: (5 * _one_moves(6, 2)[0], _one_moves(6, 2)[1]), **_SHARES),
        _tie("two-of-three", (), "3*participants == 2*clients", "5*participants == 3*clients",
             f"2*(clients - 1)*{variance} <= {spread}", "Cochran 1977: (m - s)/s, which is 1/2 for two of three.",
             lambda: (2 * 4 * _one_moves(5, 3)[0], _one_moves(5, 3)[1]), **_SHARES),
    )


def steps() -> tuple[Pair, ...]:
    smooth, strong = [SMOOTH, CONVEX, NOISELESS], [SMOOTH, STRONGLY_CONVEX, NOISELESS]
    longest, free = "eta_l[t] == 2/L for each t", {"eta": "positive"}

    def parabola(curvature, step, rounds=1, momentum=0.0):
        return float(descent(lambda x: curvature * x, 1, step, rounds, momentum)[-1] ** 2)

    def two_local_steps():  # x^2/2 and (x-1)^2/4 from their optimum 1/3, step 1
        ends = [0, 1 - (1 - 1 / 3) / 4]
        return (np.mean(ends) - 1 / 3) ** 2
    return (
        _strict("longest-step-distance", f"{_NEXT} ~ {_FIRST}", "Nonexpansive up to 2/L. L/2 x^2: a reflection.",
                lambda: (parabola(1, 2), 1.0), assume=strong, conditions=[*_ONE_STEP, longest, f"{_FIRST} > 0"]),
        _strict("longest-step-value", "objective(x_round[1]) ~ objective(x_round[0])", "Descent up to 2/L. L/2 x^2.",
                lambda: (parabola(1, 2), 1.0), assume=smooth, conditions=[*_ONE_STEP, longest, f"{_FIRST} > 0"]),
        _tie("one-curvature", (*_ONE_STEP, "eta_l[t] == 1/L for each t"), "mu == L", "mu >= 49*L/50", f"{_NEXT} <= 0",
             "L/2 |x - x*|^2 is left for its optimum. Curvature 49/50.", lambda: (parabola(0.98, 1), 0.0), assume=strong),
        _tie("start-at-the-optimum", ("eta_l[t] == 1/L for each t", "norm2(x_round[0] - x_star) <= 0"), "local_steps == 1",
             "local_steps <= 2", "norm2(x_round[rounds] - x_star) <= 0",
             "No gradient at the optimum. Two clients drift apart.",
             lambda: (two_local_steps(), 0.0), assume=strong),
        _tie("one-client", ("eta_l[t] == 1/L for each t",), "clients == 1", "clients <= 2", f"{_NEXT} <= {_FIRST}",
             "Gradient descent. Two clients drift apart.", lambda: (two_local_steps(), 0.0), assume=strong),
        _tie("no-momentum", (*_ONE_STEP, "rounds == 2", "eta_l[t] == 1/L for each t"), "beta1 == 0", "beta1 <= 1/50",
             "norm(x_round[2] - x_star) <= (1 - mu/L)**2*norm(x_round[0] - x_star)", "Gradient descent. L = mu.",
             lambda: (sqrt(parabola(1, 1, 2, 0.02)), 0.0), assume=strong, method="fedavgm",
             variables={"beta1": "nonnegative below 1"}),
        _tie("no-step-forward", (*_ONE_STEP, f"{_NEXT} == {_FIRST}", "eta_l[t] == eta for each t"), "eta == 1/L",
             "eta == 2/L",
             "norm2(x_round[1] - x_round[0]) <= 0", "|x_1 - x*|^2 <= |x_0 - x*|^2 - (2/(eta L) - 1) |x_1 - x_0|^2. L/2 x^2.",
             lambda: (4.0, 0.0), assume=smooth, variables=free),
        _tie("same-value-after-a-step", (*_ONE_STEP, "objective(x_round[1]) == objective(x_round[0])",
                                         "eta_l[t] == eta for each t"), "eta == 1/L", "eta == 2/L",
             "norm2(objective_grad(x_round[0])) <= 0", "Descent lemma: f falls by |g|^2/(2L). L/2 x^2: a reflection.",
             lambda: (1.0, 0.0), assume=smooth, variables=free),
        _tie("as-many-steps-as-clients", ("rounds == 1", "eta_l[t] == eta for each t", "eta <= 1/L"),
             "local_steps == clients",
             "local_steps == clients + 1", "norm(x_before[local_steps, k] - x_round[0]) <= "
             "eta*Sum(norm(grad(k, x_round[0])), (i, 0, clients-1)) for each k",
             "K gradients that do not grow. Linear losses.", lambda: (3.0, 2.0), assume=smooth,
             variables=free),
    )


def points() -> tuple[Pair, ...]:
    two = {"variables": {"y": "vector", "z": "vector"}, **_POINT}
    one = {"variables": {"w": "vector"}, **_POINT}
    same_gradient = ["norm2(objective_grad(y) - objective_grad(z)) <= 0"]
    level, middle = ["objective(y) == objective(z)"], "objective((y + z)/2) {} objective(y)"
    return (
        _tie("two-minimisers", (), "w == x_star", "objective(w) == F_star", "norm2(w - x_star) <= 0",
             "The same vector. A flat piece has two minimisers.", lambda: (1.0, 0.0), assume=[CONVEX], **one),
        Pair("equal-gradients", {**two, "assume": ["mu_objective >= mu"], "conditions": same_gradient,
                                 "statement": "norm2(y - z) <= 0"}, {"assume": ["mu_objective >= 0"]},
             "Gradients of strongly convex losses are strongly monotone. A linear piece.", lambda: (1.0, 0.0)),
        Pair("equal-gradients-values", {**two, "assume": ["mu_objective >= 0"], "conditions": same_gradient, "statement":
                                        "objective(y) - objective(z) - dot(objective_grad(z), y - z) == 0"}, {"assume": []},
             "Convexity from both sides. The slope sin at pi and 0.", lambda: (1 - np.cos(np.pi), 0.0), "=="),
        _strict("level-middle", middle.format("~"), "Convexity. y = z.", lambda: (1.0, 1.0), assume=["mu_objective >= mu"],
                conditions=level, **two),
        Pair("level-middle-lower", {**two, "assume": ["mu_objective >= mu"], "conditions": level,
                                    "statement": f"{middle.format('<=')} - mu/8*norm2(y - z)"},
             {"statement": f"{middle.format('<=')} - 51/400*mu*norm2(y - z)"},
             "Strong convexity in the middle. mu/2 x^2 at 1 and -1: 0 against 1/2 - 1/8*4.", lambda: (0.0, 0.5 - 0.51)),
        _tie("one-curvature-by-client", (), "mu == L", "mu >= 49*L/50",
             "2*(objective(y) - F_star) >= L*norm2(y - x_star)",
             "Every loss is L/2 |x|^2 and a linear one. Curvature 49/50.",
             lambda: (-0.98, -1.0), assume=[SMOOTH, STRONGLY_CONVEX], **two),
        _strict("equal-parabolas", "norm2(objective_grad(y)) ~ 2*L*(objective(y) - F_star)",
                "Nesterov 2004, (2.1.7). L/2 x^2.",
                lambda: (1.0, 1.0), assume=[SMOOTH, CONVEX], conditions=["norm2(y - x_star) > 0"], **two),
    )


def pairs_of_numbers() -> tuple[Pair, ...]:
    def real(names, **domains):
        return {"variables": dict.fromkeys(names, "real") | domains}
    positive = {"variables": {"a": "positive", "b": "positive"}}
    return (
        _strict("inverse-numbers", "-a - b ~ -2", "Means. a = b = 1.", lambda: (-2.0, -2.0), conditions=["a*b == 1"],
                **positive),
        _strict("product-with-a-square", "-a - 2*b ~ -3", "Means of a, b, b. a = b = 1.", lambda: (-3.0, -3.0),
                conditions=["a*b**2 == 1"], **positive),
        _strict("on-a-circle", "5*a + 12*b ~ 13", "Cauchy's inequality. (5/13, 12/13).", lambda: (25 / 13 + 144 / 13, 13.0),
                conditions=["a**2 + b**2 == 1"], **real("ab")),
        Pair("sum-on-a-circle", {**real("ab"), "conditions": ["a**2 + b**2 == 1"], "statement": "a + b <= 1.4143"},
             {"statement": "a + b <= 1.4142"}, "sqrt(2) = 1.41421.", lambda: (sqrt(2), 1.4142)),
        _strict("sum-of-nothing", "a*b + b*c + a*c ~ 0", "(a + b + c)^2. Three times 0.", lambda: (0.0, 0.0),
                conditions=["a + b + c == 0"], **real("abc")),
        Pair("product-of-two-equations", {**real("abc"), "conditions": ["a + b + c == 0", "a**2 + b**2 + c**2 == 6"],
                                          "statement": "a*b*c <= 2"}, {"statement": "a*b*c <= 49/25"},
             "Lagrange: at (-1, -1, 2), which reaches 2.", lambda: (-1 * -1 * 2.0, 1.96)),
        _strict("even-shares", "-Sum(p[i]**2, i) ~ -1/n", "Cauchy's inequality. Equal shares.", lambda: (-3 / 9, -1 / 3),
                variables={"n": "integer from 2", "p": "simplex[n]"}),
        _tie("vectors-of-one-length", (), "norm2(y) == norm2(z)", "norm2(y) <= 51/50*norm2(z)", "dot(y + z, y - z) <= 0",
             "The difference of the squares. 51/50 - 1.", lambda: (0.02, 0.0), variables={"y": "vector", "z": "vector"}),
        _strict("sum-of-two-vectors", "norm2(y + z) ~ 4*norm2(y)", "Triangle inequality. y = z.", lambda: (4.0, 4.0),
                conditions=["norm2(y) == norm2(z)", "norm2(y) > 0"], variables={"y": "vector", "z": "vector"}),
    )


PAIRS = (*sampling(), *steps(), *points(), *pairs_of_numbers())
