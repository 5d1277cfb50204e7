"""Floors and rates that show only after many rounds: the true neighbour has the floor, or the rate."""

from fractions import Fraction as Q
from math import exp, gamma, lgamma, log, log1p

import numpy as np

from benchmarks.hard.pairs import CONVEX, NOISE, NOISELESS, SMOOTH, STRONGLY_CONVEX, Pair, descent, huber, step

__all__ = ["PAIRS", "horizon"]

_DISTANCE = "norm(x_round[0] - x_star)"
_SPREAD = {"zeta_sq": "Mean(norm2(grad(k, x_star)), k)"}


def horizon(broken, most=10**8) -> int:
    """The first number of rounds at which ``broken(rounds)`` holds, which then holds for all longer runs."""
    low, high = 0, 1
    while not broken(high):
        low, high = high, 2 * high
        if high > most:
            raise ValueError(f"nothing is broken within {most} rounds")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if broken(middle) else (middle, high)
    return high


def _pair(name, true, false, reason, sides) -> Pair:
    """A pair whose false statement fails where ``sides(rounds)``, its left and right side, differ by more than rounding."""
    def broken(rounds):
        left, right = sides(rounds)
        return left - right > 1e-9 * abs(right)
    return Pair(name, true, false, reason, lambda: sides(horizon(broken)), fails_from=lambda: horizon(broken))


def _floor(name, statement, floor, sides, reason, **fields) -> Pair:
    """A pair whose true statement has the ``floor``, and whose false one has none."""
    return _pair(name, {**fields, "statement": statement.format(floor=f" + {floor}")},
                 {"statement": statement.format(floor="")}, reason, sides)


def two_clients(h, kappa, far) -> tuple:
    """The run of two local steps of h on x^2/2 and (x-1)^2/(2 kappa), from ``far`` times the spread of the gradients beyond
    the optimum: functions of the rounds for the model and for the contraction (1 - h/kappa)^(2 rounds)."""
    curvature, minimiser = np.array([1, 1 / float(kappa)]), np.array([0.0, 1.0])
    best = (curvature * minimiser).sum() / curvature.sum()
    spread = np.sqrt(np.mean((curvature * (best - minimiser)) ** 2))
    factors = (1 - float(h) * curvature) ** 2
    rate, fixed = factors.mean(), ((1 - factors) * minimiser).sum() / (1 - factors).sum()
    start = far * spread
    return (lambda n: abs(fixed - best + rate**n * (start + best - fixed)), lambda n: factors[1] ** n * start)


def drift(measure, h, kappa, far) -> Pair:
    model, bound = two_clients(h, kappa, far)
    curvature = (1 + 1 / kappa) / 2
    contraction, floor = f"(1 - {h}/{kappa})**(2*rounds)", Q(h) ** 2 / (1 - (1 - Q(h) / kappa) ** 2)
    statement, noise, sides = {
        "distance": (f"norm(x_round[rounds] - x_star) <= {contraction}*{_DISTANCE}{{floor}}", f"{floor}*sqrt(zeta_sq)/L",
                     lambda n: (model(n), bound(n))),
        "gradient": (f"norm(objective_grad(x_round[rounds])) <= L*{contraction}*{_DISTANCE}{{floor}}",
                     f"{floor}*sqrt(zeta_sq)", lambda n: (curvature * model(n), bound(n))),
        "value": (f"objective(x_round[rounds]) - F_star <= L*({contraction}*{_DISTANCE})**2{{floor}}",
                  f"{floor**2}*zeta_sq/L", lambda n: (curvature / 2 * model(n) ** 2, bound(n) ** 2)),
    }[measure]
    return _floor(f"drift-{measure}-step-{h}-condition-{kappa}-from-{far}", statement, noise, sides,
                  "Two steps from the optimum end within eta^2 L sqrt(zeta) of it, and a round contracts by (1 - eta mu)^2. "
                  "Clients of curvature L and mu.", constants=_SPREAD, assume=[SMOOTH, STRONGLY_CONVEX, NOISELESS],
                  conditions=["local_steps == 2", step(h), f"mu == L/{kappa}", f"L*{_DISTANCE} >= {far}*sqrt(zeta_sq)"])


def perturbation(h, far) -> Pair:
    """FedSAM around the optimum; the start has ``far`` times the loss L rho^2/2."""
    def sides(rounds):
        models = descent(lambda x: x + (1 if x > 0 else -1), far**0.5, float(h), rounds)
        return float(np.mean(models[:-1] ** 2)), far / float(h) / rounds
    return _floor(f"perturbation-step-{h}-from-{far}", "Mean(norm2(objective_grad(x_round[r])), (r, 0, rounds-1))"
                  f" <= 2*L*(objective(x_round[0]) - F_star)/({h}*rounds){{floor}}", "L**2*rho_sam**2", sides,
                  "Andriushchenko, Flammarion 2022, Lemma 7, summed. L/2 x^2: in the end the models jump around 0.",
                  method="fedsam", assume=[SMOOTH, NOISELESS], variables={"rho_sam": "positive"},
                  conditions=["local_steps == 1", "clients == 1", step(h),
                              f"2*(objective(x_round[0]) - F_star) >= {far}*L*rho_sam**2"])


def noise(ratio, far) -> Pair:
    """Steps of ``ratio``/mu with mu = L, from ``far`` times the noise sigma^2/mu^2."""
    keep, floor = (1 - float(ratio)) ** 2, Q(ratio) / (2 - Q(ratio))
    return _floor(f"noise-step-{ratio}-from-{far}", "E(norm2(x_round[rounds] - x_star))"
                  f" <= (1 - {ratio})**rounds*norm2(x_round[0] - x_star){{floor}}", f"{floor}*sigma_sq/mu**2",
                  lambda n: (keep**n * far + float(floor) * (1 - keep**n), (1 - float(ratio)) ** n * far),
                  "A step multiplies the mean square by (1 - eta mu)^2 at most and adds eta^2 sigma^2. mu/2 x^2.",
                  assume=[SMOOTH, STRONGLY_CONVEX, NOISE],
                  conditions=["local_steps == 1", "clients == 1", f"eta_l[t] == {ratio}/mu for each t", f"{ratio}*L <= mu",
                              f"mu**2*norm2(x_round[0] - x_star) >= {far}*sigma_sq"])


def noise_in_the_limit(ratio) -> Pair:
    keep, share = (1 - float(ratio)) ** 2, Q(49, 50)
    floor = Q(ratio) / (2 - Q(ratio))
    statement = ("E(norm2(x_round[rounds] - x_star)) <= norm2(x_round[0] - x_star) + {floor}*sigma_sq/mu**2")
    return _pair(f"noise-in-the-limit-step-{ratio}", {
        "assume": [SMOOTH, STRONGLY_CONVEX, NOISE], "statement": statement.format(floor=floor),
        "conditions": ["local_steps == 1", "clients == 1", f"eta_l[t] == {ratio}/mu for each t", f"{ratio}*L <= mu"],
    }, {"statement": statement.format(floor=share * floor)},
        "As with noise-step. From the optimum of mu/2 x^2 the floor is reached in the limit.",
        lambda n: (float(ratio) ** 2 * (1 - keep**n) / (1 - keep), float(share * floor)))


def sampling(h, far) -> Pair:
    """One of two clients takes part; both have curvature mu = L and gradients of opposite sign at the optimum."""
    keep, start = (1 - float(h)) ** 2, float(far)
    return _floor(f"sampling-step-{h}-from-{far}", "E(norm2(x_round[rounds] - x_star))"
                  f" <= (1 - {h}*mu/L)**rounds*norm2(x_round[0] - x_star){{floor}}", f"2*{h}*zeta_sq/(mu*L)",
                  lambda n: (keep**n * start + float(h) ** 2 * (1 - keep**n) / (1 - keep), (1 - float(h)) ** n * start),
                  "Gower et al. 2019, Theorem 3.1, one client at a time. Two equal parabolas with different minimisers.",
                  constants=_SPREAD, sampling="without-replacement", assume=[SMOOTH, STRONGLY_CONVEX, NOISELESS],
                  conditions=["local_steps == 1", "clients == 2", "participants == 1", step(h),
                              f"L**2*norm2(x_round[0] - x_star) >= {far}*zeta_sq"])


def falling_steps(power, true, false) -> Pair:
    """Steps of 1/(L (t + 1)) on mu/2 x^2 with mu/L = power: Product(1 - power/t) is about rounds^-power/Gamma(1 - power)."""
    limit = 1 / gamma(1 - float(power))

    def left(n):
        return exp(lgamma(n + 1 - float(power)) - lgamma(1 - float(power)) - lgamma(n + 1))

    if not float(false) < limit < float(true):
        raise ValueError(f"{false} and {true} are not on both sides of {limit}")
    statement = f"norm(x_round[rounds] - x_star) <= {{c}}*rounds**(-{power})*{_DISTANCE}"
    return _pair(f"falling-steps-{power}-constant-{false}", {
        "assume": [SMOOTH, STRONGLY_CONVEX, NOISELESS], "statement": statement.format(c=true),
        "conditions": ["local_steps == 1", f"mu == {power}*L", "eta_l[t] == 1/(L*(t + 1)) for each t"],
    }, {"statement": statement.format(c=false)},
        "By Gautschi's inequality the product is below its limit 1/Gamma(1 - a) N^-a, which it nears. mu/2 x^2.",
        lambda n: (left(n), float(false) * n ** -float(power)))


def exponential(inverse_step, factor, exponent) -> Pair:
    """Steps of 1/(inverse_step L): exp(-N/inverse_step) is an upper bound, and for a larger exponent none in the end."""
    statement = f"norm(x_round[rounds] - x_star) <= {factor}*exp(-{{c}}*mu*rounds/({inverse_step}*L))*{_DISTANCE}"
    return _pair(f"exponential-1-{inverse_step}-exponent-{exponent}", {
        "assume": [SMOOTH, STRONGLY_CONVEX, NOISELESS], "statement": statement.format(c=1),
        "conditions": ["local_steps == 1", f"eta_l[t] == 1/({inverse_step}*L) for each t"],
    }, {"statement": statement.format(c=exponent)}, "1 - a <= exp(-a) <= 1 - a + a^2/2. L/2 x^2.",
        lambda n: (n * log1p(-1 / inverse_step), log(float(factor)) - float(exponent) * n / inverse_step))


def long_alone(rounds, inverse_step) -> Pair:
    """The exact worst case, asked for in long runs of short steps alone."""
    statement = ("objective(x_round[rounds]) - F_star"
                 f" <= {{c}}*L*norm2(x_round[0] - x_star)/(4*rounds/{inverse_step} + 2)")
    width = 1 / (2 * rounds / inverse_step + 1)
    loss, slope = huber(width)
    return Pair(f"worst-case-from-{rounds}-rounds-step-1-{inverse_step}", {
        "assume": [SMOOTH, CONVEX, NOISELESS], "statement": statement.format(c=1),
        "conditions": ["local_steps == 1", f"eta_l[t] == 1/({inverse_step}*L) for each t", f"rounds >= {rounds}"],
    }, {"statement": statement.format(c="49/50")},
        "Drori, Teboulle 2014, Theorem 3.1. A Huber loss of width 1/(2 N h + 1).",
        lambda: (loss(descent(slope, 1, 1 / inverse_step, rounds)[-1]), 0.98 / (4 * rounds / inverse_step + 2)))


PAIRS = (
    *(drift("distance", Q(h), kappa, far) for h, kappa, far in (
        ("1/10", 10, 10), ("1/100", 10, 10), ("1/100", 100, 1000), ("1/1000", 100, 100))),
    *(drift("gradient", Q(h), kappa, 100) for h, kappa in (("1/10", 100), ("1/1000", 10))),
    *(drift("value", Q(h), kappa, 100) for h, kappa in (("1/4", 1000), ("1/50", 20))),
    *(perturbation(Q(h), far) for h, far in (("1/2", 100), ("1/10", 50))),
    *(noise(Q(ratio), far) for ratio, far in (("1/4", 10**4), ("1/20", 100))),
    *(noise_in_the_limit(Q(ratio)) for ratio in ("1/10", "1/100")),
    *(sampling(Q(h), far) for h, far in (("1/2", 100), ("1/20", 100))),
    *(falling_steps(Q(power), true, false) for power, true, false in (
        ("1/2", "0.565", "0.564"), ("1/2", "0.565", "0.56418"), ("1/4", "0.817", "0.816"))),
    *(exponential(*row) for row in ((1000, "1.01", "1.001"), (100, "1.1", "1.02"), (1000, "2", "1.01"))),
    *(long_alone(*row) for row in ((1000, 1000), (10000, 100))),
)
