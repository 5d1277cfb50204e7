"""Proof steps about runs of FedMoSWA with convex losses: Appendices G.1 and G.2."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Condition
from bounds.language.words import (
    E,
    E_round,
    F,
    L,
    Min,
    Sum,
    clients,
    dot,
    g,
    grad,
    i,
    j,
    k,
    local_steps,
    mu,
    norm2,
    objective_grad,
    participants,
    r,
    sampled,
    sigma_sq,
    x_local,
    x_round,
    x_star,
)
from bounds.papers.fedmoswa.assumptions import G1, G2, G3
from bounds.papers.fedmoswa.lemmas_optimisation import (
    CONVEX_STEP,
    DRIFT_STEP,
    FROM_ONE,
    GIVEN_WORDS,
    ROUND,
    TOTAL_WORDS,
    noise,
)
from bounds.papers.fedmoswa.main_text import GIVEN, START_ZERO, noise_factor
from bounds.papers.fedmoswa.quantities import (
    F_gap,
    after,
    distance_sq,
    drift_E0,
    drift_E1,
    mean_over_clients,
    model,
    move,
    move_sq,
    server_lag,
    variate_lag,
    variate_lag_total,
)
from bounds.papers.fedmoswa.readings import as_proved, proof_readings, restated, varied, with_left, with_options, with_right
from bounds.papers.fedmoswa.setting import (
    ALL_CLIENTS_UPDATE,
    ANY_STEP,
    MOSWA,
    each_client,
    each_round,
    eta_eff,
    eta_g,
    gamma,
    large_server_step,
    run_claim,
    two_steps,
)
from bounds.papers.fedmoswa.words import client_variate, server_variate

__all__ = ["CLAIMS", "all_mean", "deviation", "drawn_mean", "every_client", "every_step", "gradient_at", "stochastic_at"]

K, m, s = local_steps, clients, participants
step = partial(run_claim, kind="proof step", **MOSWA, reading=GIVEN_WORDS, note=ROUND)
LAG_ONLY = f"{START_ZERO}; {GIVEN}"
drift, f = drift_E1[r], F_gap(r)
C, D, D_after = variate_lag[r], server_lag[r], server_lag[r + 1]
C_before, C_after = variate_lag_total[r], variate_lag_total[r + 1]
every_step, every_client = (i, 0, K - 1), (k, 0, clients - 1)
eta_l = eta_eff / (K * eta_g)
third = sp.Rational(1, 3)


def each(left, right, relation="<="):
    return Condition(left, relation, right, (each_round,))


def stochastic_at(index):
    """g_i(theta_{i,index}) of round r."""
    return g[r * K + index, k]


def gradient_at(index):
    """grad F_i(theta_{i,index}) of round r."""
    return grad(k, x_local[r * K + index, k])


def drawn_mean(inside):
    """(1/(Ks)) times the sum over local steps and over the sampled clients of an expression in i and k."""
    return Sum(sampled[r, k] * inside, every_step, every_client) / (K * s)


def all_mean(inside):
    """(1/(Km)) times the sum over local steps and over all clients."""
    return Sum(inside, every_step, every_client) / (K * m)


# variances -----------------------------------------------------------------------------------------------------------
stochastic = drawn_mean(stochastic_at(i))

g9 = step(
    id="fedmoswa/g9-variances", number="before (65)", assumptions=(G3,), conditions=ANY_STEP,
    reading="the mean of the stochastic gradients around the mean of the gradients at the same models",
    statement=each(E(norm2(stochastic - drawn_mean(gradient_at(i)))), noise),
)

own = Sum(gradient_at(i), every_step) / K

g9_readings = {
    "given-round": (
        "the mean of the stochastic gradients around its expectation given the state before the round",
        with_left(E(norm2(stochastic - E_round(stochastic, r)))),
    ),
    "variates": (
        "the variate of a sampled client around the mean of the gradients at the same models",
        restated(left=E(sampled[r, k] * norm2(client_variate[r + 1, k] - own)), right=sigma_sq / K,
                 over=(each_round, each_client)),
    ),
    "variates-total": (
        "every variate around its expectation over all chance",
        restated(left=E(norm2(client_variate[r + 1, k] - E(client_variate[r + 1, k]))), right=sigma_sq / K,
                 over=(each_round, each_client)),
    ),
}

# (62)-(69) -----------------------------------------------------------------------------------------------------------
to_start = all_mean(E(norm2(gradient_at(i) - grad(k, x_round[r]))))
to_optimum = Sum(E(norm2(gradient_at(i) - grad(k, x_star))), every_step, every_client)
common_65 = 4 * eta_eff**2 * to_start + 8 * L * eta_eff**2 * f + 12 * eta_eff**2 * noise

eq_65 = step(
    id="fedmoswa/eq-65", number="(62)-(65)", assumptions=(G1, G2, G3), conditions=ANY_STEP, reading=LAG_ONLY,
    statement=each(move_sq, common_65 + 4 * eta_eff**2 * C + 4 * eta_eff**2 * D),
    steps=("fedmoswa/g9-variances", "fedmoswa/smooth-gap"),
)

eq_65_total = {
    "total": (
        "the variates' expectations over all chance",
        with_right(
            common_65 + 4 * eta_eff**2 * mean_over_clients(norm2(grad(k, x_star) - E(client_variate[r, k])))
            + 4 * eta_eff**2 * norm2(E(server_variate[r]))
        ),
    )
}


def drawn_sq(inside):
    """E |eta/(Ks) sum over steps and sampled clients|^2."""
    return eta_eff**2 * E(norm2(drawn_mean(inside)))


own_start = grad(k, x_round[r])
of_noise, of_variates = drawn_sq(stochastic_at(i) - own_start), drawn_sq(grad(k, x_star) - client_variate[r, k])
of_gap, of_server = drawn_sq(own_start - grad(k, x_star)), eta_eff**2 * D
after_gap = 4 * of_noise + 4 * of_server + 4 * of_variates + 8 * L * eta_eff**2 * f

eq_65_lines = {
    "63": ("(63)", with_right(4 * of_noise + 4 * of_server + 4 * of_variates + 4 * of_gap)),
    "64": ("first inequality of (64), of the term with the gap", restated(left=4 * of_gap, right=8 * L * eta_eff**2 * f)),
    "64-last": (
        "last inequality of (64), the variates' expectations over all chance",
        restated(left=after_gap, right=(
            4 * drawn_sq(gradient_at(i) - own_start) + 4 * eta_eff**2 * norm2(E(server_variate[r]))
            + 4 * drawn_sq(grad(k, x_star) - E(client_variate[r, k])) + 8 * L * eta_eff**2 * f + 12 * eta_eff**2 * noise)),
    ),
}

eq_66 = step(
    id="fedmoswa/eq-66", number="(66)", assumptions=(G1, G2), conditions=(*ANY_STEP, CONVEX_STEP), reading=TOTAL_WORDS,
    statement=each(C_after, (1 - s / m) * C_before + s / (m**2 * K) * to_optimum),
)

start_to_optimum = mean_over_clients(E(norm2(own_start - grad(k, x_star))))
last_67 = (1 - s / m) * C_before + s / m * (4 * L * f + L**2 * drift)


def in_two(last):
    """Second and third line of (67)."""
    return (1 - s / m) * C_before + 2 * s / m * start_to_optimum + 2 * s / m * last


eq_66_lines = {
    "67": ("second line of (67), from its first", restated(left=eq_66.statement.right, right=in_two(to_start))),
    "67-third": ("third line of (67), from its second", restated(
        left=in_two(to_start), right=in_two(L**2 * all_mean(E(norm2(x_local[r * K + i, k] - x_round[r])))))),
    "67-last": ("from the left side to the last line of (67), with beta^2 as printed", with_right(last_67)),
}
renewed = mean_over_clients(client_variate[r + 1, k])


def moved_by(rate):
    return norm2(server_variate[r + 1] - (1 - rate) * server_variate[r] - rate * renewed)


over_all_clients = with_options(ALL_CLIENTS_UPDATE)

eq_68 = over_all_clients(step(
    id="fedmoswa/eq-68", number="(68)", conditions=ANY_STEP, statement=each(moved_by(gamma), 0, "=="),
    reading="gamma for the printed beta; variates start from zero",
))

eq_68_printed = {
    "printed": (
        "beta, as printed, the smoothness constant",
        lambda claim: replace(with_left(moved_by(L))(claim), assumptions=(G2,)),
    )
}

eq_69 = over_all_clients(step(
    id="fedmoswa/eq-69", number="(69)", assumptions=(G1, G2), conditions=(*ANY_STEP, CONVEX_STEP),
    reading="the server's variate is the moving average over all stored variates, (68); variates start from zero",
    statement=each(
        D_after, (1 - gamma) * D + gamma * E(norm2(all_mean(stochastic_at(i)) - mean_over_clients(grad(k, x_star))))
    ),
    steps=("fedmoswa/eq-68",),
))

in_two_69 = (1 - gamma) * D + 2 * gamma * E(norm2(objective_grad(x_round[r]) - objective_grad(x_star))) + (
    2 * gamma * to_start)

eq_69_lines = {
    "second": ("second inequality", restated(left=eq_69.statement.right, right=in_two_69)),
    "last": ("from the left side to the last line, with beta^2 as printed",
             with_right((1 - gamma) * D + gamma * (4 * L * f + L**2 * drift))),
}

# (73)-(77) -----------------------------------------------------------------------------------------------------------
over_steps = (each_round, (j, 1, K))


def deviation(local_model):
    """(1/m) sum over clients of E |theta_{i,k} - theta|^2."""
    return mean_over_clients(E(norm2(local_model - x_round[r])))


def recursion(noise_share, lag=C):
    """Right side of (73), (74) with this multiple of eta_l^2 sigma^2."""
    return (
        (1 + 1 / (K - 1)) * deviation(model(j - 1)) + noise_share * eta_l**2 * sigma_sq + 6 * eta_l**2 * K * L * f
        + 3 * K * eta_l**2 * lag + 3 * K * eta_l**2 * D
    )


small = Condition(eta_eff, "<=", K * eta_g / L)

eq_73 = step(
    id="fedmoswa/eq-73", number="(73)", assumptions=(G1, G2, G3), conditions=(*ANY_STEP, two_steps, small),
    reading=LAG_ONLY,
    statement=Condition(deviation(after(j)), "<=", recursion(1), over_steps),
    note=f"eta_l <= 1/beta, written for K eta_l alpha; {ROUND}", steps=("fedmoswa/eq-71", "fedmoswa/eq-72"),
)

eq_74 = replace(
    eq_73, id="fedmoswa/eq-74", number="(74)", statement=Condition(deviation(after(j)), "<=", recursion(7), over_steps),
    steps=("fedmoswa/eq-73", "fedmoswa/g9-variances"),
)

unrolled = 18 * K**2 * L * eta_l**2 * f + 9 * K**2 * eta_l**2 * (C + D)

eq_75 = replace(
    eq_73, id="fedmoswa/eq-75", number="(75)", reading=f"{LAG_ONLY}; 21 K beta eta_l^2 sigma^2, as printed",
    statement=Condition(deviation(after(j)), "<=", unrolled + 21 * K * L * eta_l**2 * sigma_sq, over_steps),
    steps=("fedmoswa/eq-74", "fedmoswa/eq-76"),
)

eq_75_unrolled = {
    "unrolled": (
        "21 K eta_l^2 sigma^2, which unrolling (74) gives", with_right(unrolled + 21 * K * eta_l**2 * sigma_sq)
    )
}


per_step = 6 * K * L * eta_l**2 * f + 3 * K * eta_l**2 * (C + D) + 7 * L * eta_l**2 * sigma_sq

eq_75_lines = {
    "first": ("first line, with beta before the noise as printed",
              with_right(per_step * Sum((1 + 1 / (K - 1)) ** i, (i, 0, j - 1)))),
    "third": ("third line, with beta before the noise as printed", with_right(per_step * 3 * K)),
}


def middle(lag):
    return (
        54 * L**2 * eta_eff**2 * f + 27 * L * eta_eff**2 * C + 27 * L * eta_eff**2 * lag
        + 63 * L * eta_eff**2 * sigma_sq / K
    ) / eta_g**2


eq_77 = step(
    id="fedmoswa/eq-77", number="(77)", assumptions=(G1, G2, G3),
    conditions=(*ANY_STEP, large_server_step, two_steps, DRIFT_STEP),
    reading=f"{GIVEN_WORDS}; first inequality", statement=each(3 * L * drift, middle(D)),
    steps=("fedmoswa/eq-75",),
)

eq_77_printed = {"printed": ("first inequality, with C twice in the middle as printed", with_right(middle(C)))}

g12_k1 = step(
    id="fedmoswa/g12-k1", number="start of the proof of Lemma G.12", assumptions=(G1, G2),
    conditions=(*ANY_STEP, large_server_step, DRIFT_STEP, Condition(K, "==", 1)),
    reading="drift after 1 to K local steps", statement=each(drift, 0, "=="),
)

g12_E0 = {"E0": ("drift after 0 to K - 1 local steps", with_left(drift_E0[r]))}

# (78)-(85) -----------------------------------------------------------------------------------------------------------
mean_update = step(
    id="fedmoswa/mean-update", number="before (80), (97)", conditions=ANY_STEP,
    reading=f"expected change of the server's model; {START_ZERO}",
    statement=each(norm2(E_round(move, r) + eta_eff * all_mean(E_round(stochastic_at(i), r))), 0, "=="),
    note=f"the expectation over the sampling, then over the noise of the round; {ROUND}",
)

mean_update_first = {
    "change": (
        "the change itself",
        with_left(norm2(
            move + eta_eff * drawn_mean(stochastic_at(i) + server_variate[r] - client_variate[r, k])
        )),
    )
}

T_4 = 2 * eta_eff * E(drawn_mean(dot(gradient_at(i), x_star - x_round[r])))

rest = (
    8 * L * eta_eff**2 * f + 4 * eta_eff**2 * C + 4 * eta_eff**2 * D + 4 * eta_eff**2 * L**2 * drift
    + 12 * eta_eff**2 * noise
)

eq_80 = step(
    id="fedmoswa/eq-80", number="(80)", assumptions=(G1, G2, G3), conditions=ANY_STEP,
    statement=each(distance_sq(r + 1), distance_sq(r) + T_4 + rest),
    steps=("fedmoswa/mean-update", "fedmoswa/lemma-g.9"),
)

eq_81 = step(
    id="fedmoswa/eq-81", number="(81)", assumptions=(G1, G2), conditions=ANY_STEP,
    statement=each(T_4, -2 * eta_eff * (f + mu / 4 * distance_sq(r)) + 2 * L * eta_eff * drift),
    steps=("fedmoswa/perturbed-strong-convexity",),
)

by_losses = 2 * eta_eff * E(drawn_mean(
    F(k, x_star) - F(k, x_round[r]) + L * norm2(x_local[r * K + i, k] - x_round[r]) - mu / 4 * norm2(x_round[r] - x_star)))

eq_81_lines = {
    "second": ("the inequality", with_right(by_losses)),
    "third": ("the equality after it", restated(left=by_losses, relation="==", right=eq_81.statement.right)),
}

eq_82 = step(
    id="fedmoswa/eq-82", number="(82)", assumptions=(G1, G2, G3), conditions=ANY_STEP,
    statement=each(
        distance_sq(r + 1),
        (1 - mu * eta_eff / 2) * distance_sq(r) + (8 * L * eta_eff**2 - 2 * eta_eff) * f + 12 * eta_eff**2 * noise
        + (2 * L * eta_eff + 4 * L**2 * eta_eff**2) * drift + 4 * eta_eff**2 * (C + D),
    ),
    steps=("fedmoswa/eq-80", "fedmoswa/eq-81"),
)


def scaled(lag, lag_after, share):
    """The recursion of a lag times 9 eta^2 over the share that is renewed in a round."""
    weight = 9 * eta_eff**2 / share
    return {
        "left": weight * lag_after,
        "right": (1 - mu * eta_eff / 2) * weight * lag + 9 * (mu * eta_eff / (2 * share) - 1) * eta_eff**2 * lag
        + 9 * eta_eff**2 * (4 * L * f + 2 * L**2 * drift),
    }


eq_83 = step(
    id="fedmoswa/eq-83", number="(83)", assumptions=(G1, G2), conditions=(*ANY_STEP, CONVEX_STEP),
    statement=each(**scaled(D, D_after, gamma)), steps=("fedmoswa/lemma-g.11",),
)

eq_83_text = {"lemma-g.10": ("Lemma G.10 times 9 eta^2 m/s, as the text says", restated(**scaled(C_before, C_after, s / m)))}
weight_C, weight_D = 9 * eta_eff**2 * m / s, 9 * eta_eff**2 / gamma

eq_85 = step(
    id="fedmoswa/eq-85", number="(85)", assumptions=(G1, G2, G3), reading=f"{TOTAL_WORDS}; {FROM_ONE}",
    conditions=(*ANY_STEP, large_server_step, Condition(eta_eff, "<=", Min(1 / (81 * L), s / (15 * mu * m)))),
    statement=each(
        distance_sq(r + 1) + weight_C * C_after + weight_D * D_after,
        (1 - mu * eta_eff / 2) * (distance_sq(r) + weight_C * C_before) + (44 * L * eta_eff**2 - 49 * eta_eff / 25) * f
        + 12 * eta_eff**2 * noise * noise_factor + (22 * L**2 * eta_eff**2 - L * eta_eff) * drift
        + (9 * mu * eta_eff * m / (2 * s) - third) * eta_eff**2 * C_before
        + (9 * mu * eta_eff / (2 * gamma) - third) * eta_eff**2 * D,
    ),
    steps=("fedmoswa/eq-82", "fedmoswa/eq-83", "fedmoswa/eq-83@lemma-g.10", "fedmoswa/lemma-g.12"),
)

CLAIMS = (
    *proof_readings(g9, **g9_readings), *proof_readings(eq_65, **eq_65_total, **eq_65_lines),
    *proof_readings(eq_66, **eq_66_lines), *varied(eq_68, eq_68_printed),
    *varied(eq_69, eq_69_lines | as_proved(eq_69)), *proof_readings(eq_73), *proof_readings(eq_74),
    *proof_readings(eq_75, **eq_75_unrolled, **eq_75_lines), *proof_readings(eq_77, **eq_77_printed),
    *varied(g12_k1, g12_E0), *proof_readings(mean_update, **mean_update_first), *proof_readings(eq_80),
    *proof_readings(eq_81, **eq_81_lines), *proof_readings(eq_82), *proof_readings(eq_83, **eq_83_text),
    *proof_readings(eq_85),
)
