"""Exact worst cases: true with the published constant, false with 49/50 of it.

Left out: Nesterov's method for convex losses, whose exact constants are no formulas, and the optimised gradient method,
whose steps the language does not have.
"""

from fractions import Fraction as Q
from math import inf

import numpy as np

from benchmarks.hard.pairs import CONVEX, NOISE, NOISELESS, SMOOTH, STRONGLY_CONVEX, Pair, descent, huber, step

__all__ = ["PAIRS"]

_SMALLER = Q(49, 50)
_DISTANCE, _GAP = "norm2(x_round[0] - x_star)", "(objective(x_round[0]) - F_star)"


def _pair(name, constant, statement, reason, ratio, **fields) -> Pair:
    """A pair whose statements have the ``constant``, and 49/50 of it. ``ratio``: left by right side of the true one."""
    def witness():
        return float(ratio() if callable(ratio) else ratio), float(_SMALLER)

    return Pair(name, {**fields, "statement": statement.format(c=f"({constant})")},
                {"statement": statement.format(c=f"(49/50*({constant}))")}, reason, witness)


def _descent(name, rounds, h, constant, statement, reason, ratio, assume=(CONVEX,), also=()) -> Pair:
    return _pair(name, constant, statement, reason, ratio, assume=[SMOOTH, *assume, NOISELESS],
                 conditions=["local_steps == 1", step(h), f"rounds == {rounds}", *also])


def value(rounds, h) -> Pair:
    short = Q(1) / (2 * rounds * h + 1)
    constant = max(short, (1 - h) ** (2 * rounds)) / 2

    def ratio():
        loss, gradient = huber(float(short) if constant == short / 2 else inf)
        return loss(descent(gradient, 1, float(h), rounds)[-1]) / float(constant)
    return _descent(f"value-{rounds}-rounds-step-{h}", rounds, h, constant,
                    "objective(x_round[rounds]) - F_star <= {c}*L*" + _DISTANCE,
                    "Kim 2024, Theorem 2. Reached by a Huber loss, or by L/2 x^2 for long steps.", ratio)


def gradient(rounds) -> Pair:
    constant = Q(1, (rounds + 1) ** 2)
    _, slope = huber(1 / (rounds + 1))
    return _descent(f"gradient-{rounds}-rounds", rounds, 1, constant,
                    "norm2(objective_grad(x_round[rounds])) <= {c}*L**2*" + _DISTANCE,
                    "Taylor, Hendrickx, Glineur 2017; Diakonikolas, Wang 2021. A Huber loss of width 1/(N+1).",
                    lambda: slope(descent(slope, 1, 1, rounds)[-1] + 1e-12) ** 2 / constant)


def gradient_by_value(rounds) -> Pair:
    constant = Q(2, 2 * rounds + 1)
    loss, slope = huber(1)
    return _descent(f"gradient-by-value-{rounds}-rounds", rounds, 1, constant,
                    "norm2(objective_grad(x_round[rounds])) <= {c}*L*" + _GAP,
                    "Rotaru, Glineur, Patrinos 2024. Huber of width w from (N+1) w.",
                    lambda: slope(descent(slope, rounds + 1, 1, rounds)[-1]) ** 2 / loss(rounds + 1) / constant)


def contraction(rounds, h, kappa) -> Pair:
    constant = max(1 - h / kappa, h - 1) ** (2 * rounds)
    return _descent(f"contraction-{rounds}-rounds-step-{h}-condition-{kappa}", rounds, h, constant,
                    "norm2(x_round[rounds] - x_star) <= {c}*" + _DISTANCE,
                    "Polyak 1963: max(|1 - eta mu|, |1 - eta L|) by round, reached by a parabola.",
                    lambda: max(abs(1 - c * float(h)) for c in (1, 1 / kappa)) ** (2 * rounds) / constant,
                    (STRONGLY_CONVEX,), (f"mu == L/{kappa}",))


def strongly_convex_value(rounds, kappa) -> Pair:
    mu = Q(1, kappa)
    constant = mu / (2 * ((1 - mu) ** (-2 * rounds) - 1 + mu))

    def ratio():
        best = 0.0
        for width in np.linspace(0, 1, 20001)[1:]:
            loss, slope = huber(width, float(mu))
            best = max(best, loss(descent(slope, 1, 1, rounds)[-1]))
        return best / float(constant)
    return _descent(f"strongly-convex-value-{rounds}-rounds-condition-{kappa}", rounds, 1, constant,
                    "objective(x_round[rounds]) - F_star <= {c}*L*" + _DISTANCE,
                    "Kim 2024, arXiv:2412.04427. A Huber loss on a parabola of curvature mu.", ratio, (STRONGLY_CONVEX,),
                    (f"mu == L/{kappa}",))


def nonconvex(rounds) -> Pair:
    def ratio():
        # between two models with gradient 1 it falls to 1/2 and rises again; from the last one it falls to 0
        slopes = np.interp(np.linspace(0, rounds + 1, 2000 * (rounds + 1) + 1),
                           [*np.arange(0, rounds + 0.25, 0.5), rounds + 1], [*([1, 0.5] * rounds), 1, 0])
        return 1 / (np.trapezoid(slopes, dx=1 / 2000) * 4 / (3 * rounds + 2))
    return _descent(f"least-gradient-{rounds}-rounds", rounds, 1, Q(4, 3 * rounds + 2),
                    "Min(norm2(objective_grad(x_round[r])), (r, 0, rounds)) <= {c}*L*" + _GAP,
                    "Abbaszadehpeivasti, de Klerk, Zamani 2022, Theorem 2. All gradients equal, curvature -L and L between.",
                    ratio, ())


def sum_of_gradients(rounds) -> Pair:
    def ratio():
        models = descent(lambda x: x, 1, 1, rounds)
        return (models[0] ** 2 + 2 * sum(models[1:-1] ** 2) + models[-1] ** 2) / (models[0] ** 2 - models[-1] ** 2)
    return _descent(f"sum-of-gradients-{rounds}-rounds", rounds, 1, 2,
                    "norm2(objective_grad(x_round[0])) + 2*Sum(norm2(objective_grad(x_round[r])), (r, 1, rounds-1))"
                    " + norm2(objective_grad(x_round[rounds])) "
                    "<= {c}*L*(objective(x_round[0]) - objective(x_round[rounds]))",
                    "Co-coercivity between neighbours, summed. L/2 x^2: |g|^2 = 2 L gap, then nothing.", ratio)


def proximal(steps) -> Pair:
    def ratio():  # steps of 1 on w |x| from 1
        slope = 1 / (2 * steps)
        return slope * (1 - steps * slope) * 4 * steps
    point = "z"
    for _ in range(steps):
        point = f"{point} + a*objective_grad({point})"
    return _pair(f"proximal-point-{steps}-steps", Q(1, 4 * steps),
                 "objective(z) - F_star <= {c}*norm2(" + point + " - x_star)/a",
                 "Taylor, Hendrickx, Glineur 2017, Theorem 4.1, from the last model back. w |x| with w = 1/(2 N a).", ratio,
                 setting="point", assume=["mu_objective >= 0"], variables={"z": "vector", "a": "positive"})


def noise(clients) -> Pair:
    signs = np.array(np.meshgrid(*[[-1, 1]] * clients)).reshape(clients, -1)  # noise of every client, from the optimum
    return _pair(f"one-step-with-noise-{clients}-clients", Q(1, clients),
                 "E(norm2(x_round[1] - x_star)) <= (1 - eta_l[0]*mu)**2*" + _DISTANCE + " + {c}*eta_l[0]**2*sigma_sq",
                 "Variances of independent clients add. From the optimum the left side is the noise.",
                 np.mean(signs.mean(0) ** 2) * clients,
                 assume=[SMOOTH, STRONGLY_CONVEX, NOISE],
                 conditions=["local_steps == 1", "eta_l[t] <= 1/L for each t", f"clients == {clients}"])


def local_contraction(steps) -> Pair:
    models = descent(lambda x: x / 2, 1, 1, 2 * steps)  # mu = 1/2, eta = 1
    ratio = (models[2 * steps] - models[steps]) ** 2 / (models[steps] - models[0]) ** 2 / 0.5 ** (2 * steps)
    return _pair(f"two-rounds-of-{steps}-local-steps", 1,
                 "norm2(x_round[2] - x_round[1]) <= {c}*(1 - eta*mu)**(2*local_steps)*norm2(x_round[1] - x_round[0])",
                 "A round is a mean of contractions. Equal parabolas of curvature mu reach the constant.", ratio,
                 assume=[SMOOTH, STRONGLY_CONVEX, NOISELESS], variables={"eta": "positive"},
                 conditions=["eta_l[t] == eta for each t", "eta <= 1/L", "rounds == 2", f"local_steps == {steps}"])


def sampled(clients, participants) -> Pair:
    def ratio():  # one client moves by 1: the squares of the sample's mean around 1/m
        mean, share = 1 / clients, participants / clients
        variance = share * (1 / participants - mean) ** 2 + (1 - share) * mean**2
        return variance / (mean * (1 - mean)) * participants * (clients - 1) / (clients - participants)
    return _pair(f"sample-of-{participants}-of-{clients}", Q(clients - participants, participants * (clients - 1)),
                 "E(norm2(x_round[1] - x_mean)) <= {c}*Mean(norm2(x_before[local_steps, k] - x_mean), k)",
                 "Cochran 1977, Theorem 2.2, an equation.", ratio, sampling="without-replacement", assume=[NOISELESS],
                 definitions={"x_mean": "Mean(x_before[local_steps, k], k)"},
                 conditions=[f"clients == {clients}", f"participants == {participants}"])


def quantiser(root) -> Pair:
    share = 1 / root  # of the length, in each coordinate, which is sent with this probability
    return _pair(f"quantiser-in-{root**2}-dimensions", root - 1,
                 "E(norm2(x_round[1] - x_round[0] + eta_l[0]*objective_grad(x_round[0])))"
                 " <= {c}*eta_l[0]**2*norm2(objective_grad(x_round[0]))",
                 "Alistarh et al. 2017, Lemma 3.1, with one level: |v|_1 |v| - |v|^2; equal entries reach it.",
                 root**2 * share * (1 - share) / (root - 1), method="fedpaq", options={"levels": 1}, assume=[NOISELESS],
                 conditions=["local_steps == 1", "rounds == 1", "clients == 1", f"dim == {root**2}"])


def _points(name, statement, reason, ratio, assume=(SMOOTH, STRONGLY_CONVEX)) -> Pair:
    return _pair(name, 1, statement, reason, ratio, setting="point", equal_weights=True, assume=list(assume),
                 variables={"y": "vector", "z": "vector"})


_GRADIENTS, _ACROSS = "(objective_grad(y) - objective_grad(z))", "dot(objective_grad(y) - objective_grad(z), y - z)"
_BREGMAN = "(objective(y) - objective(z) - dot(objective_grad(z), y - z))"

PAIRS = (
    *(value(n, Q(h)) for n, h in ((1, 1), (2, 1), (4, 1), (7, 1), (12, 1), (3, Q(1, 2)), (2, Q(3, 2)), (12, Q(3, 2)))),
    *(gradient(n) for n in (3, 8)),
    *(gradient_by_value(n) for n in (2, 10)),
    *(contraction(n, Q(h), kappa) for n, h, kappa in ((6, Q(9, 5), 3), (12, Q(1, 2), 100))),
    *(strongly_convex_value(n, kappa) for n, kappa in ((2, 4), (6, 10), (12, 20))),
    *(nonconvex(n) for n in (1, 4)),
    *(sum_of_gradients(n) for n in (3, 9)),
    *(proximal(n) for n in (1, 2, 3)),
    *(noise(m) for m in (1, 3)),
    *(local_contraction(n) for n in (3, 8)),
    *(sampled(m, s) for m, s in ((5, 2), (7, 3))),
    quantiser(2),
    _points("co-coercivity", f"norm2{_GRADIENTS} <= {{c}}*2*L*{_BREGMAN}", "Nesterov 2004, (2.1.7). L/2 x^2.", 1 / (2 / 2),
            (SMOOTH, CONVEX)),
    _points("strong-monotonicity", f"mu*L*norm2(y - z) + norm2{_GRADIENTS} <= {{c}}*(L + mu)*{_ACROSS}",
            "Nesterov 2004, Theorem 2.1.12. Curvature L.", (0.5 * 1 + 1) / (1 + 0.5)),
    _points("interpolation", f"norm2{_GRADIENTS}/L + mu*norm2(y - z) - 2*mu/L*{_ACROSS} <= {{c}}*2*(1 - mu/L)*{_BREGMAN}",
            "Taylor, Hendrickx, Glineur 2017, Theorem 4. Curvature L.", (1 + 0.5 - 2 * 0.5) / (2 * (1 - 0.5) / 2)),
)
