"""Proof of Lemma A.2 of FedLUAR: what recycled updates add, round by round and summed over the run."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Claim, Condition, Variable
from bounds.language.words import (
    E,
    L,
    Sum,
    clients,
    g,
    grad,
    j,
    k,
    local_steps,
    norm2,
    objective_grad,
    r,
    rounds,
    sigma_sq,
    x_local,
    x_round,
)
from bounds.papers.fedluar.assumptions import ASSUMPTIONS_1_TO_3
from bounds.papers.fedluar.builders import (
    KAPPA_AXIS,
    NOISE_AXES,
    SMALL_STEP,
    Reading,
    algebra_claim,
    at_each,
    from_all_layers,
    in_readings,
    over_rounds,
    round_claim,
)
from bounds.papers.fedluar.quantities import every_client, every_layer, every_step
from bounds.papers.fedluar.theorems import gradient_sum
from bounds.papers.fedluar.words import kappa, layer, sigma_g_sq

__all__ = ["CLAIMS"]

tau, T, m = local_steps, rounds, clients
WITH_SOURCE = (*NOISE_AXES, "source")
C_T = 4 * T * tau**2 * sigma_sq + 8 * T * tau**2 * sigma_g_sq


def step(under: Reading, name, number, statement, **fields) -> Claim:
    """A step of the proof, about runs."""
    return round_claim(
        under, id=f"fedluar/{name}", number=number, kind="proof step", statement=statement,
        conditions=(SMALL_STEP, *fields.pop("conditions", ())), **({"assumptions": ASSUMPTIONS_1_TO_3,
                                                                    "note": "t is r"} | fields))


def stochastic(s):
    """g at local step j of round s."""
    return g[s * tau + j, k]


def true(s):
    """The gradient of client k where that is taken."""
    return grad(k, x_local[s * tau + j, k])


def own(s):
    """The gradient of client k at x_s."""
    return grad(k, x_round[s])


def whole(s):
    """The gradient of the objective at x_s."""
    return objective_grad(x_round[s])


# one round -----------------------------------------------------------------------------------------------------------
def two_terms(reading: Reading) -> Claim:
    stale = reading.stale(lambda s: reading.fresh[s])
    return step(reading, "lemma-A.2-two-terms", "before (13)", at_each(
        E(norm2(reading.noise[r])), "<=", 2 * E(norm2(stale)) + 2 * E(norm2(reading.hatted(reading.fresh[r])))))


a = sp.IndexedBase("a", real=True)

jensen = algebra_claim(
    id="fedluar/lemma-A.2-jensen", number="before (13)", kind="proof step",
    variables=(Variable("clients", "integer"), Variable("local_steps", "integer"),
               Variable("a", "vector", (("k", "clients"), ("j", "local_steps")))),
    statement=Condition(norm2(Sum(a[k, j], every_step, every_client) / m), "<=",
                        tau / m * Sum(norm2(a[k, j]), every_step, every_client)),
)


def eq_13(reading: Reading) -> Claim:
    def both(*vectors):
        return sum(2 * tau * reading.mean_sq(hat, vector) for hat in (reading.stale, reading.now) for vector in vectors)

    return step(reading, "eq-13", "(13)", at_each(
        both(stochastic), "==", both(lambda s: stochastic(s) - true(s), true)))


def variance_step(reading: Reading) -> Claim:
    return step(reading, "lemma-A.2-variance", "after (13)", at_each(
        E(norm2(reading.noise[r])), "<=", 4 * tau**2 * sigma_sq + 2 * tau * reading.mean_sq(reading.stale, true)
        + 2 * tau * reading.mean_sq(reading.now, true)))


def drift_split(reading: Reading) -> Claim:
    return step(reading, "lemma-A.2-drift-split", "before (14)", at_each(
        2 * tau * reading.mean_sq(reading.at_source, true), "<=",
        4 * tau * reading.mean_sq(reading.at_source, lambda s: true(s) - own(s))
        + 4 * tau * reading.mean_sq(reading.at_source, own)))


def smooth_step(reading: Reading) -> Claim:
    drift = reading.stale_drift() if reading.source == "stale" else reading.drift[r]
    return step(reading, "lemma-A.2-smooth", "before (14)", at_each(
        4 * tau * reading.mean_sq(reading.at_source, lambda s: true(s) - own(s)), "<=", 4 * tau * L**2 * E(drift)))


def heterogeneity_step(reading: Reading) -> Claim:
    return step(reading, "lemma-A.2-heterogeneity", "before (14)", at_each(
        4 * tau * reading.mean_sq(reading.at_source, own), "<=",
        4 * tau * reading.mean_sq(reading.at_source, lambda s: own(s) - whole(s))
        + 4 * tau * reading.mean_sq(reading.at_source, whole)))


def global_variance(reading: Reading) -> Claim:
    return step(reading, "lemma-A.2-global-variance", "(14)", at_each(
        4 * tau * reading.mean_sq(reading.at_source, lambda s: own(s) - whole(s)), "<=", 4 * tau**2 * sigma_g_sq))


def global_variance_equal(reading: Reading) -> Claim:
    claim = global_variance(reading)
    return replace(claim, id=f"{claim.id}@equality", reading="as printed, an equality",
                   statement=replace(claim.statement, relation="=="))


def right_of_14(reading: Reading):
    """The gradients and the drifts of (14), before any expectation."""
    return (reading.stale_gradient(), reading.hat_gradient()), (reading.stale_drift(), reading.drift[r])


def eq_14(reading: Reading) -> Claim:
    gradients, drifts = right_of_14(reading)
    return step(reading, "eq-14", "(14)", at_each(
        E(norm2(reading.noise[r])), "<=", 4 * tau**2 * sigma_sq + 8 * tau**2 * sigma_g_sq
        + sum(4 * tau**2 * E(term) for term in gradients) + sum(4 * tau * L**2 * E(term) for term in drifts)))


b, mask = sp.IndexedBase("b", real=True), sp.IndexedBase("mask", real=True)

reason = algebra_claim(
    id="fedluar/eq-14-reason", number="after (14)", kind="proof step", reading="a hat keeps some layers alone",
    variables=(Variable("layers", "integer"), Variable("b", "vector", (("l", "layers"),)),
               Variable("mask", "binary", (("l", "layers"),))),
    statement=Condition(Sum(mask[layer] * norm2(b[layer]), every_layer), "<=", Sum(norm2(b[layer]), every_layer)),
    note="a gradient by layers, whose squared norm is the sum of theirs",
)

reason_main = reason.variant(
    "main", "a hat is zero in some layers",
    statement=Condition(Sum((1 - mask[layer]) * norm2(b[layer]), every_layer), "<=", Sum(norm2(b[layer]), every_layer)),
)


# the run -------------------------------------------------------------------------------------------------------------
def noise_sum(reading: Reading):
    return over_rounds(E(norm2(reading.noise[r])))


def summed(reading: Reading):
    """The sums of the gradients and of the drifts of (14) over the run, with their factors."""
    gradients, drifts = right_of_14(reading)
    return (sum(4 * tau**2 * over_rounds(E(term)) for term in gradients),
            sum(4 * tau * L**2 * over_rounds(E(term)) for term in drifts))


def shifted(reading: Reading):
    """The same after the passage to the next display."""
    return 8 * tau**2 * over_rounds(E(reading.hat_gradient())), 8 * tau * L**2 * over_rounds(E(reading.drift[r]))


def summed_14(reading: Reading) -> Claim:
    return step(reading, "lemma-A.2-sum", "before (12)", Condition(noise_sum(reading), "<=", C_T + sum(summed(reading))))


def shift(name, words, part):
    def claim(reading: Reading) -> Claim:
        return step(reading, f"lemma-A.2-shift{name}", "before (12)",
                    Condition(part(summed(reading)), "<=", part(shifted(reading))), reading=words)

    return claim


SHIFTS = (
    shift("", "gradients and drifts together, as written", sum),
    shift("@gradient-part", "gradients alone", lambda parts: parts[0]),
    shift("@drift-part", "drifts alone", lambda parts: parts[1]),
)


def unweighted(reading: Reading) -> Claim:
    return step(reading, "lemma-A.2-unweighted", "before (12)",
                Condition(noise_sum(reading), "<=", C_T + sum(shifted(reading))))


def with_kappa(reading: Reading) -> Claim:
    return step(reading, "lemma-A.2-kappa", "(12)", Condition(
        8 * tau**2 * over_rounds(E(reading.hat_gradient())), "<=", 8 * kappa * tau**2 * gradient_sum),
        conditions=(reading.kappa_is,))


# the range of kappa --------------------------------------------------------------------------------------------------
def range_of_kappa(name, words, statement, *given):
    def claim(reading: Reading) -> Claim:
        return step(reading, f"lemma-A.2-kappa-range{name}", "end of the proof", statement, reading=words,
                    conditions=(reading.kappa_is, *given), note="")

    return claim


never = Condition(1, "<=", 0)

RANGES = (
    range_of_kappa("", "at most 1, as Lemma 3.1 prints", Condition(kappa, "<=", 1)),
    range_of_kappa("@above-0", "0 < kappa, as the proof ends: no run with kappa = 0", never, Condition(0, "<=", -kappa)),
    range_of_kappa("@below-1", "kappa < 1, as the proof ends: no run with kappa of 1 or more", never,
                   Condition(0, "<=", kappa - 1)),
)


readings = partial(in_readings, axes=NOISE_AXES)
in_both_rounds = partial(in_readings, axes=WITH_SOURCE)
kappa_ranges = [in_readings(claim, KAPPA_AXIS) for claim in RANGES]

CLAIMS = (
    *readings(two_terms), jensen, *readings(eq_13), *readings(variance_step), *in_both_rounds(drift_split),
    *in_both_rounds(smooth_step), *in_both_rounds(heterogeneity_step), *in_both_rounds(global_variance),
    *in_readings(global_variance_equal, ("source",)), *readings(eq_14), reason, reason_main, *readings(summed_14),
    *(claim for shifted_claim in SHIFTS for claim in readings(shifted_claim)), *readings(unweighted),
    *in_readings(with_kappa, (*KAPPA_AXIS, "hat")),
    *(claim for found in kappa_ranges for claim in (*found, from_all_layers(found[0]))),
)
