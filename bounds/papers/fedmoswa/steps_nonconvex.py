"""Proof steps about runs of FedMoSWA with any smooth losses: Appendix G.3."""

from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.words import (
    E,
    E_round,
    L,
    Sum,
    clients,
    dot,
    grad,
    i,
    j,
    k,
    local_steps,
    norm2,
    objective,
    objective_grad,
    participants,
    r,
    sampled,
    sigma_sq,
    t,
    x_local,
    x_round,
)
from bounds.papers.fedmoswa.assumptions import G2, G3
from bounds.papers.fedmoswa.lemmas_optimisation import (
    CONVEX_STEP,
    POINTS_WORDS,
    ROUND,
    any_power,
    chosen,
    noise,
    power,
    with_power,
)
from bounds.papers.fedmoswa.main_text import START_GRADIENT, noise_factor
from bounds.papers.fedmoswa.quantities import (
    after,
    drift_E1,
    from_moving_points,
    from_points,
    gradient_sq,
    mean_over_clients,
    model,
    move,
    move_sq,
    moving_lag,
    point_lag,
)
from bounds.papers.fedmoswa.readings import (
    Change,
    given,
    proof_readings,
    restated,
    varied,
    with_left,
    with_options,
    with_right,
)
from bounds.papers.fedmoswa.setting import (
    ALL_CLIENTS_UPDATE,
    ANY_STEP,
    MOSWA_FROM_GRADIENTS,
    each_client,
    each_round,
    eta_eff,
    eta_g,
    gamma,
    large_server_step,
    run_claim,
    two_steps,
)
from bounds.papers.fedmoswa.steps_convex import (
    all_mean,
    deviation,
    drawn_mean,
    every_client,
    every_step,
    gradient_at,
    stochastic_at,
)
from bounds.papers.fedmoswa.words import client_variate, server_variate

__all__ = ["CLAIMS"]

K, m, s = local_steps, clients, participants
step = partial(run_claim, kind="proof step", **MOSWA_FROM_GRADIENTS, reading=POINTS_WORDS, note=ROUND)
drift, N, Xi, G = drift_E1[r], gradient_sq(r), point_lag[r], moving_lag[r]
Xi_after, G_after = point_lag[r + 1], moving_lag[r + 1]
eta_l = eta_eff / (K * eta_g)
SHORT = {"reading": START_GRADIENT}


def each(left, right, relation="<="):
    return Condition(left, relation, right, (each_round,))


# the server's variate ------------------------------------------------------------------------------------------------
mean_variate = mean_over_clients(client_variate[r + 1, k])
E_m = E(server_variate[r + 1])
lag_mean = Sum(
    gamma * (1 - gamma) ** (r - t) * E(grad(k, x_local[t * K + i, k])), (t, 0, r), every_step, every_client
) / (K * m) + (1 - gamma) ** (r + 1) * mean_over_clients(E(grad(k, x_round[0])))

mean_of_m = with_options(ALL_CLIENTS_UPDATE)(step(
    id="fedmoswa/mean-of-m", number="before (86)", conditions=ANY_STEP,
    reading="first equality; the server's variate is the moving average over all stored variates, (68); variates start as "
    "gradients at the start",
    statement=each(norm2(E_m - (1 - gamma) * E(server_variate[r]) - gamma * E(mean_variate)), 0, "=="),
    steps=("fedmoswa/eq-68",),
))

mean_of_m_readings = {
    "lag-points": (
        "from the left side to the gradients at the lag points, the expectation over the random lag taken",
        with_left(norm2(E_m - lag_mean)),
    ),
    "mean": ("the later text: m is the mean of all variates", with_left(norm2(server_variate[r + 1] - mean_variate))),
}


def variance(vector):
    return E(norm2(vector - E(vector)))


stochastic = drawn_mean(stochastic_at(i))

g14 = step(
    id="fedmoswa/g14-variances", number="after (86)", assumptions=(G3,), conditions=ANY_STEP,
    reading="the mean of the stochastic gradients around the mean of the gradients at the same models",
    statement=each(E(norm2(stochastic - drawn_mean(gradient_at(i)))), noise), steps=("fedmoswa/g9-variances",),
)

g14_readings = {
    "total": (
        "the mean of the stochastic gradients around its expectation over all chance", with_left(variance(stochastic))),
    "variates": (
        "the printed 1/m times the sum of the sampled clients' variates, around its expectation over all chance",
        with_left(variance(Sum(sampled[r, k] * client_variate[r, k], every_client) / m)),
    ),
    "server": ("the server's variate around its expectation over all chance", with_left(variance(server_variate[r]))),
}


# (86)-(93) -----------------------------------------------------------------------------------------------------------
def squared_change(server, client):
    return eta_eff**2 * E(norm2(drawn_mean(gradient_at(i) + server - client))) + 9 * eta_eff**2 * noise


given_variates = server_variate[r], client_variate[r, k]


def inside_the_mean(mean):
    """The same with the squares inside a mean over steps and clients."""
    square = norm2(gradient_at(i) + server_variate[r] - client_variate[r, k])
    return eta_eff**2 * E(mean(square)) + 9 * eta_eff**2 * noise


def lines(left, right, relation="<=", **more) -> Change:
    """A change to another line of the display."""
    return restated(left=left, relation=relation, right=right, **more)


eq_86 = step(
    id="fedmoswa/eq-86", number="(86), first inequality", assumptions=(G2, G3),
    conditions=(*ANY_STEP, CONVEX_STEP), reading=f"the variates given; {START_GRADIENT}",
    statement=each(move_sq, squared_change(server_variate[r], client_variate[r, k])), steps=("fedmoswa/g14-variances",),
)

eq_86_readings = {
    "large-server-step": ("alpha is at least 1, as in Lemma G.17", given(large_server_step)),
    "total": (
        "the variates' expectations over all chance",
        with_right(squared_change(E(server_variate[r]), E(client_variate[r, k]))),
    ),
    "second": ("second inequality, the variates given", lines(squared_change(*given_variates), inside_the_mean(drawn_mean))),
    "third": (
        "the equality after it, the variates given",
        lines(inside_the_mean(drawn_mean), inside_the_mean(all_mean), "=="),
    ),
}

eq_91 = step(
    id="fedmoswa/eq-91", number="(91)", conditions=ANY_STEP,
    statement=each(all_mean(E(norm2(x_local[r * K + i, k] - x_round[r + 1]))), 2 * (drift + move_sq)),
)

factor = sp.Symbol("factor", positive=True)
with_factor = {
    "procedure": MOSWA_FROM_GRADIENTS["procedure"], "variables": (*with_power["variables"], Variable("factor", "positive")),
}
conditional = E(norm2(E_round(move, r)))


def lag_step(share):
    return {
        "assumptions": (G2, G3), "conditions": (*ANY_STEP, *any_power, Condition(eta_eff, "<=", share**power / (24 * L)))
    }


def lag_first(share, lag):
    """The recursion of a lag with the change of the server's model."""
    return (1 - share) * (1 + factor) * lag + 2 * share * drift + 2 * move_sq + conditional / factor


def lag_second(share, lag, drift_share=None):
    """The same with the bounds of Lemma G.14; ``drift_share`` in place of 2 share before the drift."""
    drift_share = 2 * share if drift_share is None else drift_share
    return (
        ((1 - share) * (1 + factor) + 16 * eta_eff**2 * L**2) * lag
        + (drift_share + 8 * eta_eff**2 * L**2 + 2 * eta_eff**2 * L**2 / factor) * drift
        + (8 + 2 / factor) * eta_eff**2 * N + 18 * eta_eff**2 * noise
    )


FACTOR_NOTE = f"factor is the paper's b, power its a; {ROUND}"
lag_claim = partial(
    run_claim, kind="proof step", **with_factor, note=FACTOR_NOTE, reading=f"first inequality; {POINTS_WORDS}"
)

eq_89 = lag_claim(
    id="fedmoswa/eq-89", number="(87)-(89)", **lag_step(gamma), statement=each(G_after, lag_first(gamma, G)),
    steps=("fedmoswa/eq-88", "fedmoswa/eq-91"),
)


to_next = all_mean(E(norm2(x_local[r * K + i, k] - x_round[r + 1])))


def split(share, from_old_points):
    """(87) and (90): old points with probability 1 - share, those of the round with the probability ``share``."""
    return (1 - share) * from_old_points(x_round[r + 1]) + share * to_next


eq_89_readings = {
    "identity": ("(87), an equality, for the lag of the server's variate", lines(
        G_after, split(gamma, from_moving_points), "==")),
    "printed-identity": ("(87), an equality, with the lag of the clients' variates on its left side as printed", lines(
        Xi_after, split(gamma, from_moving_points), "==")),
    "second": ("second inequality, with the lag of the server's variate",
               lines(lag_first(gamma, G), lag_second(gamma, G))),
    "second-printed-lag": ("second inequality, with the lag of the clients' variates as printed",
                           lines(lag_first(gamma, G), lag_second(gamma, Xi))),
    "second-printed-factor": ("second inequality, with 2 gamma m before the drift as printed",
                              lines(lag_first(gamma, G), lag_second(gamma, G, 2 * gamma * m))),
    "whole": ("from the left side to the last expression, with the lag of the server's variate",
              with_right(lag_second(gamma, G))),
}

eq_93 = lag_claim(
    id="fedmoswa/eq-93", number="(90)-(93)", **lag_step(chosen), statement=each(Xi_after, lag_first(chosen, Xi)),
    steps=("fedmoswa/eq-88", "fedmoswa/eq-91"),
)

eq_93_readings = {
    "identity": ("(90), an equality", lines(Xi_after, split(chosen, from_points), "==")),
    "second": ("second inequality", lines(lag_first(chosen, Xi), lag_second(chosen, Xi))),
    "whole": ("from the left side to the last expression", with_right(lag_second(chosen, Xi))),
}


# (94), (95) ----------------------------------------------------------------------------------------------------------
def at_start(vector):
    return E(norm2(vector))


eq_94 = step(
    id="fedmoswa/eq-94", number="(94)", assumptions=(G2, G3), conditions=(*ANY_STEP, two_steps), **SHORT,
    statement=Condition(
        E(norm2(after(j) - x_round[r])), "<=",
        (1 + 1 / (K - 1) + 4 * K * L**2 * eta_l**2) * E(norm2(model(j - 1) - x_round[r])) + eta_l**2 * sigma_sq
        + 4 * K * eta_l**2 * (
            N + at_start(server_variate[r] - objective_grad(x_round[r]))
            + at_start(client_variate[r, k] - grad(k, x_round[r]))
        ),
        (each_round, (j, 1, K), each_client),
    ),
)

own_before, local_noise = E(norm2(model(j - 1) - x_round[r])), eta_l**2 * sigma_sq

towards = gradient_at(j - 1) + server_variate[r] - client_variate[r, k]
without_noise = E(norm2(model(j - 1) - eta_l * towards - x_round[r])) + local_noise
with_young = (1 + 1 / (K - 1)) * own_before + K * eta_l**2 * E(norm2(towards)) + local_noise
in_four = (1 + 1 / (K - 1)) * own_before + local_noise + 4 * K * eta_l**2 * (
    E(norm2(gradient_at(j - 1) - grad(k, x_round[r]))) + N
    + at_start(server_variate[r] - objective_grad(x_round[r])) + at_start(client_variate[r, k] - grad(k, x_round[r])))

eq_94_lines = {
    "first": ("first inequality", with_right(without_noise)),
    "second": ("second inequality", lines(without_noise, with_young)),
    "third": ("third inequality", lines(with_young, in_four)),
    "fourth": ("last inequality", lines(in_four, eq_94.statement.right)),
}

eq_95 = step(
    id="fedmoswa/eq-95", number="(95)", assumptions=(G2, G3), **SHORT,
    conditions=(*ANY_STEP, two_steps, large_server_step, Condition(eta_eff, "<=", 1 / (24 * L))),
    statement=Condition(
        deviation(after(j)), "<=",
        3 * K * (
            eta_eff * sigma_sq / (24 * L * K**2 * eta_g**2) + N / (144 * L**2 * K * eta_g**2)
            + eta_eff * L / (6 * K * eta_g**2) * (Xi + G)
        ),
        (each_round, (j, 1, K)),
    ),
    steps=("fedmoswa/eq-94", "fedmoswa/eq-95-geometric"),
)


per_step = eta_l**2 * sigma_sq + 4 * K * eta_l**2 * (N + L**2 * Xi + L**2 * G)
ratio_95 = 1 + 1 / (K - 1) + 4 * K * L**2 * eta_l**2
unrolled_95 = per_step * Sum(ratio_95**i, (i, 0, j - 1))

eq_95_lines = {
    "first": ("first inequality", with_right(ratio_95 * deviation(model(j - 1)) + per_step)),
    "second": ("from the left side to the sum over the steps", with_right(unrolled_95)),
    "last": ("last inequality", lines(unrolled_95, eq_95.statement.right)),
}


# (98)-(102) ----------------------------------------------------------------------------------------------------------
def loss(round):
    return E(objective(x_round[round]))


eq_98 = step(
    id="fedmoswa/eq-98", number="(98)", assumptions=(G2, G3), conditions=(*ANY_STEP, CONVEX_STEP),
    statement=each(
        loss(r + 1) - loss(r),
        -(eta_eff / 2 - 2 * L * eta_eff**2) * N + (eta_eff / 2 + 2 * L * eta_eff**2) * L**2 * drift
        + 2 * L**3 * eta_eff**2 * (G + Xi) + 9 * L * eta_eff**2 * noise / 2,
    ),
    steps=("fedmoswa/eq-96", "fedmoswa/mean-update", "fedmoswa/lemma-g.14-second"),
)

lag_terms = (2 * eta_eff**2 * L**3 * (drift + Xi + G) + 2 * L * eta_eff**2 * N + 9 * L * eta_eff**2 * noise / 2)
along = -eta_eff * all_mean(E(dot(objective_grad(x_round[r]), gradient_at(i))))
apart = E(norm2(all_mean(gradient_at(i)) - objective_grad(x_round[r])))
by_client = all_mean(E(norm2(gradient_at(i) - grad(k, x_round[r]))))
first_98 = along + L / 2 * move_sq


def third_98(distance):
    return -eta_eff / 2 * N + eta_eff / 2 * distance + lag_terms


eq_98_lines = {
    "first": ("first inequality", with_right(first_98)),
    "second": ("second inequality", lines(first_98, along + lag_terms)),
    "third": ("third inequality, without the sum before the squared norm", lines(along + lag_terms, third_98(apart))),
    "third-printed": ("third inequality, with a sum over i and k before the squared norm as printed",
                      lines(along + lag_terms, third_98(K * m * apart))),
    "fourth": ("fourth inequality", lines(third_98(apart), third_98(by_client))),
    "fifth": ("last inequality", lines(third_98(by_client), eq_98.statement.right)),
}
cubic = 12 * L**3 * eta_eff**2
powered = partial(run_claim, kind="proof step", procedure=MOSWA_FROM_GRADIENTS["procedure"],
                  variables=with_power["variables"])
POWER_NOTE = f"power is the paper's a; {ROUND}"


def weighted_lag(share, lag, gradient_power=2 - 2 * power):
    """Right side of (99), (100): a lag's recursion times 12 beta^3 eta^2 over the share that is renewed."""
    spread = (1 / share) ** (2 - 2 * power)
    return (
        cubic / share * lag - sp.Rational(17, 3) * L**3 * eta_eff**2 * lag
        + L * eta_eff**2 / 4 * (1 / share) ** gradient_power * N + sp.Rational(97, 4) * L**3 * eta_eff**2 * spread * drift
        + 3 * L * eta_eff**2 * noise / 8
    )


eq_99 = powered(
    id="fedmoswa/eq-99", number="(99)", **lag_step(chosen), reading=POINTS_WORDS, note=POWER_NOTE,
    statement=each(cubic / chosen * Xi_after, weighted_lag(chosen, Xi)), steps=("fedmoswa/lemma-g.16",),
)

eq_100 = powered(
    id="fedmoswa/eq-100", number="(100)", **lag_step(gamma), reading=POINTS_WORDS,
    note=f"printed as a use of Lemma G.17; {POWER_NOTE}",
    statement=each(cubic / gamma * G_after, weighted_lag(gamma, G)), steps=("fedmoswa/lemma-g.15",),
)

eq_100_readings = {
    "printed-exponent": (
        "alpha for a in the exponent before the gradient, as printed",
        with_right(weighted_lag(gamma, G, 2 - 2 * eta_g)),
    ),
    "printed-lag": (
        "first line, with the lag in the place of the drift as printed",
        with_right(cubic / gamma * (
            (1 - sp.Rational(17, 36) * gamma) * G + gamma ** (2 * power - 1) / (48 * L**2) * N
            + sp.Rational(97, 48) * gamma ** (2 * power - 1) * G + gamma / L**2 * sigma_sq / (32 * K * s)
        )),
    ),
}


def drift_limit(last):
    return (
        sp.Rational(5, 6) * L**3 * eta_eff**2 * (Xi + G) + eta_eff / (24 * last**2) * N
        + eta_eff**2 * L / (4 * K * eta_g**2) * sigma_sq
    )


eq_101 = powered(
    id="fedmoswa/eq-101", number="(101)", assumptions=(G2, G3), reading=POINTS_WORDS,
    conditions=(*ANY_STEP, *any_power, large_server_step, Condition(eta_eff, "<=", 1 / (24 * L))),
    statement=each(sp.Rational(5, 3) * L**2 * eta_eff * drift, drift_limit(eta_g)), steps=("fedmoswa/lemma-g.17",),
    note=f"Lemma G.17 again; printed as a use of Lemma G.18; {POWER_NOTE}",
)

eq_101_printed = {"printed": ("a for alpha under the gradient, as printed", with_right(drift_limit(power)))}
spread = (m / s) ** (2 - 2 * power)

eq_102 = powered(
    id="fedmoswa/eq-102", number="(102)", assumptions=(G2, G3), reading=POINTS_WORDS, note=POWER_NOTE,
    conditions=(
        *ANY_STEP, *any_power, large_server_step, Condition(eta_eff, "<=", chosen**power / (24 * L)),
        Condition(eta_eff, "<=", gamma**power / (24 * L)),
    ),
    statement=each(
        loss(r + 1) + cubic * m / s * Xi_after + cubic / gamma * G_after,
        loss(r) + cubic * m / s * Xi + (sp.Rational(5, 6) - sp.Rational(17, 3)) * L**3 * eta_eff**2 * (Xi + G)
        - (eta_eff / 2 - 2 * L * eta_eff**2 - L * eta_eff**2 / 4 * spread) * N
        + (eta_eff / 2 - 5 * eta_eff / 3 + 2 * L * eta_eff**2 + sp.Rational(97, 4) * L * eta_eff**2 * spread) * L**2 * drift
        + 39 * L * eta_eff**2 / 8 * noise * noise_factor,
    ),
    steps=("fedmoswa/eq-98", "fedmoswa/eq-99", "fedmoswa/eq-100", "fedmoswa/eq-101"),
)

eq_102_sum = {"lost-term": (
    "with the lag of the server's variate before the round, which (100) has on its right side and (102) lacks",
    with_right(eq_102.statement.right + cubic / gamma * G))}

CLAIMS = (
    *varied(mean_of_m, mean_of_m_readings), *proof_readings(g14, **g14_readings),
    *proof_readings(eq_86, **eq_86_readings), *proof_readings(eq_91), *proof_readings(eq_89, **eq_89_readings),
    *proof_readings(eq_93, **eq_93_readings), *proof_readings(eq_94, **eq_94_lines), *proof_readings(eq_95, **eq_95_lines),
    *proof_readings(eq_98, **eq_98_lines), *proof_readings(eq_99), *proof_readings(eq_100, **eq_100_readings),
    *proof_readings(eq_101, **eq_101_printed), *proof_readings(eq_102, **eq_102_sum),
)
