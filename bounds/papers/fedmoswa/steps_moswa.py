"""Proof steps about runs of FedMoSWA with variates renewed before the local steps: Appendix F."""

from functools import partial

import sympy as sp

from bounds.language.claim import Condition
from bounds.language.samples import G_lip, loss_grad, replaced, samples, twin_g, twin_x_local, used_sample
from bounds.language.words import E, L, Product, Sum, clients, i, j, k, local_steps, norm, r, rounds, t
from bounds.papers.fedmoswa.assumptions import A1, A2, A3, A4, C1_TO_4, C1_TO_5, C2_TO_4, C2_TO_5, C5, sigma
from bounds.papers.fedmoswa.lemmas_generalisation import (
    FACTOR,
    FRESH_F1,
    FRESH_READINGS,
    FRESH_WORDS,
    Phi,
    bounded_start,
    deviation,
    extended,
    growth,
    one_minus_b,
    stochastic_norm,
)
from bounds.papers.fedmoswa.main_text import convex_factor
from bounds.papers.fedmoswa.quantities import (
    gradient_norm,
    model,
    swa_length,
    swa_step_rate,
    twin_distance,
    twin_model,
    twin_norm,
)
from bounds.papers.fedmoswa.readings import Change, restated, varied, with_region, with_right
from bounds.papers.fedmoswa.setting import FRESH, b, c, each_client, each_round, gamma, run_claim
from bounds.papers.fedmoswa.steps_swa import (
    IN_THE_MEAN,
    ONE_CLIENT,
    P,
    Q,
    coupled_models,
    deviation_before,
    growing,
    local_gap,
    over_rounds,
    over_steps,
    rate,
    server_gap,
    shrinking,
    start_gap,
    sum_over_rounds,
    unrolled_models,
)
from bounds.papers.fedmoswa.words import server_variate, sigma_g, sigma_g_client

__all__ = ["CLAIMS"]

K, T, m, n = local_steps, rounds, clients, samples
step = partial(run_claim, kind="proof step", reading=FRESH_WORDS, note="the paper's t is r")
total = G_lip + sigma
momentum = E(norm(server_variate[r + 1]))  # the server's variate of round r, renewed before its local steps
INDICES = "mixed indices k, k+1, i, j of the print are read as k and one client; the paper's t is r"
BETA = "Assumption 4 gives the beta of the step size; the paper's t is r"


def momentum_sum(noise, gradient=lambda index: gradient_norm(r - index)):
    """Sum over l of (1 - gamma)^l (gamma E |grad F| + noise)."""
    return Sum((1 - gamma) ** i * (gamma * gradient(i) + noise), (i, 0, r))


LITERAL = "grad F(theta_l) in the momentum sum, as printed, for grad F(theta_{t-l})"
from_start = gradient_norm

# deviation of local models -------------------------------------------------------------------------------------------
eq_33 = step(
    id="fedmoswa/eq-33", number="(33)", assumptions=C1_TO_4, **FRESH, note=INDICES,
    statement=Condition(
        deviation(j + 1), "<=", shrinking(j) * deviation_before(j) + rate(j) * momentum, over_steps
    ),
    steps=("fedmoswa/lemma-d.1-strongly-convex",),
)


def eq_33_sum(**options):
    return with_right(shrinking(j) * deviation_before(j) + rate(j) * momentum_sum(sigma, **options))


eq_33_readings = {
    "sum": ("second inequality, with sigma as printed", eq_33_sum()),
    "sum+theta-l": (f"second inequality, with sigma as printed; {LITERAL}", eq_33_sum(gradient=from_start)),
    "last": ("last inequality, with sigma as printed", eq_33_sum(gradient=lambda index: G_lip)),
}

before = E(norm(server_variate[r]))

eq_34 = step(
    id="fedmoswa/eq-34", number="(34), (46)", assumptions=(A2, A3, A4), **FRESH, note=BETA,
    reading=f"first inequality; {FRESH_WORDS}",
    statement=Condition(
        momentum, "<=", (1 - gamma) * before + gamma * gradient_norm(r) + gamma * sigma, (each_round,)
    ),
)


def next_line(left, right) -> Change:
    return restated(left=left, right=right)


first_line = eq_34.statement.right

eq_34_readings = {
    "second": ("second inequality", next_line(first_line, momentum_sum(gamma * sigma))),
    "second+theta-l": (
        f"second inequality; {LITERAL}", next_line(first_line, momentum_sum(gamma * sigma, from_start))),
    "third": ("third inequality", next_line(momentum_sum(gamma * sigma), total)),
    "whole": ("from the first to the last expression", next_line(momentum, total)),
    "bounded-start": FRESH_READINGS["bounded-start"],
    "whole+bounded-start": (
        "from the first to the last expression; the server's variate starts anywhere with norm at most L + sigma",
        lambda claim: bounded_start(next_line(momentum, total)(claim)),
    ),
}

eq_35 = step(
    id="fedmoswa/eq-35@first-line", number="(35), first line", assumptions=C1_TO_5, **FRESH_F1,
    statement=Condition(deviation(K), "<=", one_minus_b * swa_length[r] * momentum, over_rounds), steps=("fedmoswa/eq-33",),
)


eq_35_lines = {
    "second-line": (
        "second inequality, grad F(theta_p) read as grad F(theta_{t-p})",
        next_line(eq_35.statement.right, Sum(
            rate(j) * (1 - b) ** (K - 1 - j) * momentum_sum(gamma * sigma), (j, 0, K - 1)))),
    "third-line": (
        "third inequality, grad F(theta_p) read as grad F(theta_{t-p})",
        next_line(Sum(rate(j) * (1 - b) ** (K - 1 - j) * momentum_sum(gamma * sigma), (j, 0, K - 1)),
                  Sum(rate(j) * (1 - b) ** (K - 1 - j) * total, (j, 0, K - 1)))),
}


# gradients of local models -------------------------------------------------------------------------------------------
def over_momentum(ratio, **options):
    """Sum over local steps l and rounds p in the middle of (36), (48)."""
    return Sum(
        rate(j) * ratio ** (K - 1 - j) * momentum_sum(sigma, **options), (j, 0, K - 1)
    )


def gradients(name, number, assumptions, setup, ratio):
    """(36) or (48): the first to the last but one, and then the last expression."""
    middle = Phi(r) + over_momentum(ratio)
    base = step(
        id=f"fedmoswa/{name}", number=number, assumptions=assumptions, **setup,
        reading=f"up to the last but one expression; {FRESH_WORDS}",
        statement=Condition(stochastic_norm(t), "<=", middle, (each_round, (t, 0, K - 1), each_client)),
        note="printed without beta before the sum, whose upper limit prints as the local step; the paper's t is r",
    )
    literal = {
        "theta-l": (LITERAL, with_right(Phi(r) + over_momentum(ratio, gradient=from_start)))
    }
    return base, literal


eq_36, eq_36_literal = gradients("eq-36", "(36)", C1_TO_5, FRESH_F1, 1 - b)
middle_36 = eq_36.statement.right

last_36 = {
    "last": (
        "last inequality",
        restated(left=middle_36, right=(1 + L * swa_length[r] * (1 + b) ** (K - 1)) * total + sigma_g_client[k],
                 over=over_rounds),
    )
}

eq_48, eq_48_literal = gradients("eq-36@48", "(48)", C2_TO_5, extended(FRESH, FACTOR), 1 + c)
middle_48 = eq_48.statement.right

last_48 = {
    "last": (
        "last inequality",
        restated(left=middle_48, right=(1 + L * swa_length[r] * growth) * total + sigma_g_client[k], over=over_rounds),
    )
}

eq_37 = step(
    id="fedmoswa/eq-37", number="(37)", assumptions=(A3, A4, C5), **FRESH,
    statement=Condition(stochastic_norm(0), "<=", sigma_g_client[k] + gradient_norm(r) + sigma, over_rounds),
    note=f"the stochastic gradient of the first local step, at theta_t; {BETA}",
)

# coupled runs: one local step ----------------------------------------------------------------------------------------
time = r * K + j
gap, gap_after = norm(model(j) - twin_model(j)), twin_norm(j + 1)
at_twin = norm(loss_grad(k, used_sample[time, k], twin_x_local[time, k]) - twin_g[time, k])


def own_variates(number, factor, assumptions, setup, drawn):
    """(38), (39), (49) or (50): each run with its own variates; both sides only where the sample is replaced, or not."""
    where = replaced[time, k] if drawn else 1 - replaced[time, k]
    right = factor * gap + (rate(j) * at_twin if drawn else 0)
    return step(
        id=f"fedmoswa/eq-{number}", number=f"({number})", assumptions=assumptions, **setup,
        reading="each run has its own variates", note=INDICES,
        statement=Condition(where * gap_after, "<=", where * right, over_steps),
    )


convex, smooth = (A1, A4), (A4,)

pathwise = (
    own_variates(38, shrinking(j), convex, FRESH, False), own_variates(39, shrinking(j), convex, FRESH, True),
    own_variates(49, growing(j), smooth, FRESH, False), own_variates(50, growing(j), smooth, FRESH, True),
)

# coupled runs: rounds ------------------------------------------------------------------------------------------------
used_F2 = (1 + L * swa_length[r] * one_minus_b) * total
used_F5 = (1 + L * swa_length[r] * growth) * total
READ = {"reading": FRESH_WORDS}

eq_40 = coupled_models(
    "eq-40", "(40)", shrinking(j), 2 * rate(j) / n * used_F2 + 2 * rate(j) / n * sigma_g, C1_TO_5, FRESH_F1, **READ,
    steps=("fedmoswa/eq-38", "fedmoswa/eq-39", "fedmoswa/lemma-f.2@as-used"),
)

with_momentum = {
    "convex": Phi(r) + one_minus_b * swa_length[r] * momentum, "smooth": Phi(r) + growth * swa_length[r] * momentum,
}

eq_41 = unrolled_models(
    "eq-41", "(41)", Q * (start_gap + 2 * swa_length[r] / n * with_momentum["convex"]), C1_TO_5, FRESH_F1, **READ,
    steps=("fedmoswa/eq-40",),
)

eq_51 = coupled_models(
    "eq-51", "(51)", growing(j), 2 * rate(j) / n * (used_F5 + sigma_g_client[k]), C2_TO_5, extended(FRESH, FACTOR),
    reading=f"2 eta_k/n before the last term, as its third line; {FRESH_WORDS}",
    steps=("fedmoswa/eq-49", "fedmoswa/eq-50", "fedmoswa/lemma-f.5"),
)

eq_51_printed = {
    "last-line": (
        "no factor before the last term, as its last line",
        with_right(growing(j) * local_gap(j) + used_F5 + sigma_g_client[k]),
    )
}

eq_52 = unrolled_models(
    "eq-52", "(52)", P * (start_gap + 2 * swa_length[r] / n * with_momentum["smooth"]), C2_TO_5, extended(FRESH, FACTOR),
    **READ, steps=("fedmoswa/eq-51",),
)


def averaged(with_momentum):
    """The term of (41), (52) for any client's sample."""
    return with_momentum.xreplace({sigma_g_client[k]: sigma_g})


eq_42 = server_gap(
    "eq-42", "(42)", Q, 2 * swa_length[r] / (m * n) * Q * averaged(with_momentum["convex"]), C1_TO_5, FRESH_F1,
    reading=f"any client's sample replaced, sigma_g on the right; {FRESH_WORDS}", steps=("fedmoswa/eq-41",),
)

eq_42_printed = {
    "printed": (
        "sigma_{g,i} on the right, as printed, for every client",
        restated(
            right=Q * E(twin_distance(r)) + 2 * swa_length[r] / (m * n) * Q * with_momentum["convex"], over=over_rounds
        ),
    )
}

eq_53 = server_gap(
    "eq-53", "(53)", P, 2 * swa_length[r] / (m * n) * P * averaged(with_momentum["smooth"]), C2_TO_5,
    extended(FRESH, FACTOR), reading=f"any client's sample replaced; {FRESH_WORDS}", steps=("fedmoswa/eq-52",),
)

final = E(twin_distance(T))
damping = -L * convex_factor


def last_sum(exponent, constant):
    """The sum over rounds in (43) and (54)."""
    def inside(index):
        return swa_length[index] * sp.exp(exponent * swa_length[index]) * (
            (1 + L * swa_length[index] * constant) * total + sigma_g
        )
    return 2 / (m * n) * sum_over_rounds(exponent, inside)


eq_43 = step(
    id="fedmoswa/eq-43", number="(43)", assumptions=C1_TO_5, **FRESH_F1,
    statement=Condition(final, "<=", last_sum(damping, one_minus_b)), steps=("fedmoswa/eq-42", "fedmoswa/eq-34"),
)

eq_54 = step(
    id="fedmoswa/eq-54", number="(54)", assumptions=C2_TO_5, **extended(FRESH, FACTOR),
    statement=Condition(final, "<=", last_sum(L, growth)),
    note="the third line prints b_tilde sigma and sigma_{g,i}; the paper's t is r",
    steps=("fedmoswa/eq-53", "fedmoswa/eq-34"),
)



def with_m(exponent, factor, steered):
    """First and second line of (43), (54): the norm of the server's variate is ``steered`` in each round."""
    def inside(index):
        return swa_length[index] * sp.exp(exponent * swa_length[index]) * (
            gradient_norm(index) + sigma_g + sigma + factor * swa_length[index] * steered(index))
    return 2 / (m * n) * sum_over_rounds(exponent, inside)


def norm_of_m(index):
    return E(norm(server_variate[index + 1]))


def sum_for_m(index):
    """The momentum sum of round ``index``, grad F(theta_l) read as grad F(theta_{t-l})."""
    return Sum((1 - gamma) ** j * (gamma * gradient_norm(index - j) + gamma * sigma), (j, 0, index))


eq_43_first = {"first": ("first inequality", with_right(with_m(damping, one_minus_b, norm_of_m)))}

eq_54_lines = {
    "first": ("first inequality", with_right(with_m(L, growth, norm_of_m))),
    "second": ("second inequality", next_line(with_m(L, growth, norm_of_m), with_m(L, growth, sum_for_m))),
    "fourth": ("from the second to the fourth expression", next_line(with_m(L, growth, sum_for_m), last_sum(L, growth))),
}
grown = growing(j) * deviation_before(j) + rate(j) * total

eq_45 = step(
    id="fedmoswa/eq-45", number="(44), (45)", assumptions=C2_TO_4, **extended(FRESH, FACTOR), note=INDICES,
    reading=f"second line; {FRESH_WORDS}", statement=Condition(deviation(j + 1), "<=", grown, over_steps),
    steps=("fedmoswa/lemma-d.1-smooth", "fedmoswa/eq-34"),
)


def products(inside, outside):
    """Sum over k = 0, ..., K of the product over l = k, ..., K of 1 + beta eta_l, and of what the print puts behind it."""
    return Sum(Product((1 + L * swa_step_rate[r, j]) * inside(j), (j, i, K)) * outside(i), (i, 0, K)) * total


def rate_at(index):
    return swa_step_rate[r, index]


def one(index):
    return 1


eq_45_readings = {
    "first-line": ("first line", with_right(growing(j) * deviation_before(j) + rate(j) * momentum_sum(gamma * sigma))),
    "third-line": ("third line, with eta_k for eta_l behind the product", with_right(products(one, rate_at))),
    "third-line-literal": ("third line, eta_l inside the product over l", with_right(products(rate_at, one))),
    "whole": ("from the left side to the last line", with_right(swa_length[r] * (1 + c) ** (j - 1) * total)),
}

eq_47 = step(
    id="fedmoswa/eq-47", number="(47)", assumptions=C2_TO_4, **extended(FRESH, FACTOR),
    statement=Condition(deviation(K), "<=", growth * swa_length[r] * momentum, over_rounds), steps=("fedmoswa/eq-45",),
)

CLAIMS = (
    *with_region(*varied(eq_33, eq_33_readings)), *with_region(*varied(eq_34, eq_34_readings)),
    *with_region(*varied(eq_35, eq_35_lines)),
    *with_region(*varied(eq_36, eq_36_literal | last_36)), *with_region(*varied(eq_48, eq_48_literal | last_48)),
    *with_region(eq_37), *pathwise, *with_region(*varied(eq_40, FRESH_READINGS)),
    *with_region(*varied(eq_41, FRESH_READINGS)), *varied(eq_42, IN_THE_MEAN | eq_42_printed | ONE_CLIENT)[1:],
    *with_region(*varied(eq_42, FRESH_READINGS)), *varied(eq_43, eq_43_first | ONE_CLIENT)[1:],
    *with_region(*varied(eq_43, FRESH_READINGS)), *with_region(*varied(eq_45, eq_45_readings)),
    *with_region(eq_47), *varied(eq_51, eq_51_printed | FRESH_READINGS), *varied(eq_52, FRESH_READINGS),
    *varied(eq_53, IN_THE_MEAN | ONE_CLIENT | FRESH_READINGS), *varied(eq_54, eq_54_lines | ONE_CLIENT | FRESH_READINGS),
)
