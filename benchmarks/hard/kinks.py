"""Statements that hold for quadratic losses, and fail for convex losses with a kink or a flat piece."""

from fractions import Fraction as Q

import numpy as np

from benchmarks.hard.pairs import (
    CONVEX,
    NOISE,
    NOISELESS,
    QUADRATIC,
    SMOOTH,
    STRONGLY_CONVEX,
    Pair,
    descent,
    huber,
    step,
)

__all__ = ["PAIRS"]

_ONE_HESSIAN = "norm2(grad(k, u) - grad(k, v) - objective_grad(u) + objective_grad(v)) <= 0 for all u, v for each k"


def _pair(name, statement, reason, sides, assume=(SMOOTH, CONVEX, NOISELESS), relation="<=", **fields) -> Pair:
    """A pair whose true statement is about quadratic losses."""
    return Pair(name, {**fields, "assume": [*assume, QUADRATIC], "statement": statement}, {"assume": list(assume)}, reason,
                sides, relation)


def heavy_ball(root, rounds) -> Pair:
    """The heavy ball with the step and momentum that are best for quadratic losses of condition root^2."""
    rate, h = Q(root - 1, root + 1), 4 / (1 + Q(1, root)) ** 2
    factor = (rounds + 1 + rate * rounds) * rate**rounds

    def sides():
        # curvature 1, then mu on an interval from 1 on, then 1: the start and the width that go furthest
        start, width = 1 + 20 * np.random.default_rng(0).random((2, 50000))
        before = models = start
        for _ in range(rounds):
            gradients = models - (1 - 1 / root**2) * np.clip(models - 1, 0, width - 1)
            before, models = models, models - float(h) * gradients + float(rate) ** 2 * (models - before)
        return (abs(models) / start).max(), float(factor)
    return _pair(f"heavy-ball-condition-{root**2}-rounds-{rounds}",
                 f"norm(x_round[rounds] - x_star) <= {factor}*norm(x_round[0] - x_star)",
                 "Of a quadratic loss each part is at most rate^N (N + 1 + rate N), by Chebyshev polynomials (Polyak 1964). "
                 "A flat interval (Lessard, Recht, Packard 2016).", sides, (SMOOTH, STRONGLY_CONVEX, NOISELESS),
                 method="fedavgm",
                 variables={"beta1": "positive below 1"},
                 conditions=["local_steps == 1", step(h), f"mu == L/{root**2}", f"beta1 == {rate**2}",
                             f"rounds == {rounds}"])


def log_convex(measure, h) -> Pair:
    middle, ends = {
        "value": ("(objective(x_round[1]) - F_star)**2",
                  "(objective(x_round[0]) - F_star)*(objective(x_round[2]) - F_star)"),
        "gradient": ("norm2(objective_grad(x_round[1]))",
                     "norm(objective_grad(x_round[0]))*norm(objective_grad(x_round[2]))"),
        "distance": ("norm2(x_round[1] - x_star)", "norm(x_round[0] - x_star)*norm(x_round[2] - x_star)"),
    }[measure]

    def sides():
        loss, slope = huber(1)
        start = 1 + 2 * float(h)  # two steps on the linear part, to its end
        models = descent(slope, start - float(h) / 2, float(h), 2)
        first, second, third = ({"value": loss, "gradient": slope, "distance": abs}[measure](x) for x in models)
        return second**2, first * third
    return _pair(f"log-convex-{measure}-step-{h}", f"{middle} <= {ends}",
                 "Of a quadratic loss the sequence is one of moments: Cauchy's inequality. A Huber loss at its edge.", sides,
                 conditions=["local_steps == 1", "rounds == 2", step(h)])


def value(rounds) -> Pair:
    constant = Q((2 * rounds) ** (2 * rounds), (2 * rounds + 1) ** (2 * rounds + 1)) / 2
    loss, slope = huber(1 / (2 * rounds + 1))
    return _pair(f"value-of-quadratics-{rounds}-rounds", f"objective(x_round[rounds]) - F_star <= {constant}*L"
                 "*norm2(x_round[0] - x_star)", "The largest a (1 - a)^(2N)/2 for a in [0, 1]. A Huber loss: 1/(4N + 2).",
                 lambda: (loss(descent(slope, 1, 1, rounds)[-1]), float(constant)),
                 conditions=["local_steps == 1", f"rounds == {rounds}", step(1)])


def gradient(rounds) -> Pair:
    constant = Q(rounds ** (2 * rounds), (rounds + 1) ** (2 * rounds + 2))
    _, slope = huber(1 / (rounds + 1))
    return _pair(f"gradient-of-quadratics-{rounds}-rounds", f"norm2(objective_grad(x_round[rounds])) <= {constant}*L**2"
                 "*norm2(x_round[0] - x_star)", "The largest a^2 (1 - a)^(2N) for a in [0, 1]. A Huber loss: 1/(N + 1)^2.",
                 lambda: (slope(descent(slope, 1, 1, rounds)[-1]) ** 2, float(constant)),
                 conditions=["local_steps == 1", f"rounds == {rounds}", step(1)])


def two_steps(kappa, first, second) -> Pair:
    """Two steps of different length, each too long for a part of the curvatures."""
    def factor(a):
        return abs((1 - Q(first) * a) * (1 - Q(second) * a))
    mu, vertex = Q(1, kappa), (1 / Q(first) + 1 / Q(second)) / 2
    constant = max(factor(mu), factor(Q(1)), factor(vertex))
    return _pair(f"two-steps-condition-{kappa}", f"norm(x_round[2] - x_star) <= {constant}*norm(x_round[0] - x_star)",
                 "The largest |(1 - a eta_0)(1 - a eta_1)| for a in [mu, L]. Curvature mu first, then L.",
                 lambda: _steps_on_two_curvatures(float(mu), float(Q(first)), float(Q(second)), float(constant)),
                 (SMOOTH, STRONGLY_CONVEX, NOISELESS),
                 conditions=["local_steps == 1", "rounds == 2", f"mu == L/{kappa}",
                             f"eta_l[t] == ({first} + ({Q(second) - Q(first)})*t)/L for each t"])


def _steps_on_two_curvatures(mu, first, second, constant):
    edges = np.linspace(0, 1, 2001)  # curvature 1 up to the edge, mu beyond
    model = 1 - first * (edges + mu * (1 - edges))
    model = model - second * np.where(model > edges, edges + mu * (model - edges), model)
    return abs(model).max(), constant


def common_hessian(steps) -> Pair:
    def sides():  # the slope is 1 left of 0 and 1/2 right of it, and the clients' losses differ by 2x
        ends = []
        for tilt in (1, -1):
            x = 0.0
            for _ in range(steps):
                x -= min(x, x / 2) + tilt
            ends.append(x)
        return np.mean(ends) ** 2, 0.0
    return _pair(f"clients-with-one-hessian-{steps}-steps",
                 "norm2(x_round[1] - x_star) <= (1 - eta*mu)**(2*iterations)*norm2(x_round[0] - x_star)",
                 "Equal quadratic losses with different minimisers: steps on the mean loss. A kink at the optimum.", sides,
                 (SMOOTH, STRONGLY_CONVEX, NOISELESS, _ONE_HESSIAN), variables={"eta": "positive"},
                 conditions=["eta_l[t] == eta for each t", "eta <= 1/L", "rounds == 1", f"local_steps == {steps}"])


def _kink(x):  # flat up to 1, then steep
    return max(x - 1, 0) + x * 1e-3


_POINT = {"setting": "point", "equal_weights": True, "variables": {"y": "vector"}}


def at_points() -> tuple[Pair, ...]:
    slope_at, loss = _kink, lambda x: max(x - 1, 0) ** 2 / 2 + x**2 / 2e3
    convex, narrow = (SMOOTH, CONVEX), huber(1)
    return (
        _pair("opposite-gradients", "norm2(objective_grad(x_star + y) + objective_grad(x_star - y)) <= 0",
              "Linear gradients. Flat on one side.", lambda: ((slope_at(2) + slope_at(-2)) ** 2, 0.0), convex, **_POINT),
        _pair("gradient-twice-as-far", "norm(objective_grad(x_star + 2*y)) <= 2*norm(objective_grad(x_star + y))",
              "Linear gradients. Flat up to y.", lambda: (slope_at(2), 2 * slope_at(1)), convex, **_POINT),
        _pair("gap-by-a-slope", "dot(objective_grad(y), y - x_star) <= 2*(objective(y) - F_star)",
              "An equation for quadratic losses. Flat, then steep.", lambda: (slope_at(2) * 2, 2 * loss(2)), convex,
              **_POINT),
        _pair("slope-by-a-gap", "101/100*dot(objective_grad(y), y - x_star) >= 2*(objective(y) - F_star)",
              "An equation for quadratic losses. A Huber loss far out: the gap nears the slope.",
              lambda: (2 * narrow[0](9), 1.01 * narrow[1](9) * 9), convex, **_POINT),
        _pair("gap-four-times", "objective(x_star + 2*y) - F_star <= 4*(objective(x_star + y) - F_star)",
              "An equation for quadratic losses. Flat, then steep.", lambda: (loss(2), 4 * loss(1)), convex, **_POINT),
        _pair("divergence-is-symmetric",
              "objective(y) - F_star <= 10*(F_star - objective(y) - dot(objective_grad(y), x_star - y))",
              "Without the 10 an equation for quadratic losses. Steep, then linear: a Huber loss far out.",
              lambda: (narrow[0](9), 10 * (9 - narrow[0](9))), convex, **_POINT),
        Pair("distance-by-the-gradient", {
            **_POINT, "assume": ["mu_objective >= mu"], "statement": "mu**2*norm2(y - x_star) <= norm2(objective_grad(y))",
        }, {"assume": ["norm2(objective_grad(v)) >= 2*mu*(objective(v) - F_star) for all v"]},
            "Nesterov 2004, (2.1.19). A flat piece: its far end has no gradient.",
            lambda: (4.0, 0.0)),  # v^2/2 cut at 0 and drawn apart by 2: the distance of its ends
    )


def in_runs() -> tuple[Pair, ...]:
    def noisy(x):  # mean over noise of +-1 and a step of 1 on max(x, 0)^2/2
        return np.array([x - max(x, 0) - 1, x - max(x, 0) + 1])

    def shifts():
        models = descent(huber(1)[1], 3.5, 1, 6)[::2]  # two local steps by round
        lengths = abs(np.diff(models))
        return lengths[1] ** 2, lengths[0] * lengths[2]
    return (
        _pair("mean-of-noisy-runs", "norm2(E(x_round[2]) - E(x_round[1]) + eta_l[1]*objective_grad(E(x_round[1]))) <= 0",
              "The mean of linear gradients is the gradient at the mean. Noise around a kink.",
              lambda: (np.mean([noisy(x) for x in noisy(0)]) ** 2, 0.0), (SMOOTH, CONVEX, NOISE),
              conditions=["local_steps == 1", "rounds == 2"]),
        _pair("log-convex-shifts", "norm2(x_round[2] - x_round[1]) <= norm(x_round[1] - x_round[0])"
              "*norm(x_round[3] - x_round[2])",
              "A round is a symmetric matrix: Cauchy's inequality. A Huber loss at its edge.",
              shifts, conditions=["local_steps == 2", "rounds == 3", step(1)]),
    )


PAIRS = (
    *(heavy_ball(*row) for row in ((3, 6), (3, 12), (5, 9), (7, 9), (10, 9))),
    *(log_convex(measure, Q(h)) for measure, h in (
        ("value", 1), ("value", "1/2"), ("gradient", 1), ("gradient", "1/10"), ("distance", 1))),
    *(value(n) for n in (1, 5, 12)), gradient(2), gradient(8),
    *(two_steps(*row) for row in ((9, "23/20", "4"), (20, "6/5", "5"))),
    *(common_hessian(n) for n in (2, 6)),
    *at_points(), *in_runs(),
)
