"""Lemmas 1-5 of Li et al. 2020."""

from dataclasses import replace

from bounds.language.claim import Condition
from bounds.language.definitions import Gamma, every_client
from bounds.language.words import (
    E,
    G_sq,
    L,
    Sum,
    client_weight,
    eta_l,
    iterations,
    k,
    local_steps,
    mu,
    norm2,
    sampling,
    t,
    x,
    x_local,
    x_sampled,
    x_star,
)
from bounds.papers.fedalign.assumptions import (
    G_weighted,
    all_steps,
    divisible,
    independent_noise,
    nonanticipating,
    smooth,
    strongly_convex,
)
from bounds.papers.fedalign.conditions import one_round, small_step
from bounds.papers.fedalign.quantities import average_gradient, average_stochastic_gradient
from bounds.papers.li2020.setting import (
    SCHEME_1,
    SCHEME_2,
    equal_weights,
    halving_steps,
    li_claim,
    participants_noise,
    two_clients,
    variance_sum,
)

__all__ = ["CLAIMS"]

eta = eta_l[t]
noise = E(norm2(average_stochastic_gradient[t] - average_gradient[t]))
spread = E(Sum(client_weight[k] * norm2(x_sampled[t] - x_local[t, k]), every_client))
implicit = (nonanticipating, divisible)


def at_each_time(left, relation, right):
    return Condition(left, relation, right, (all_steps,))


lemma_1 = li_claim(
    id="li2020/lemma-1", number="Lemma 1", kind="lemma", assumptions=(smooth, strongly_convex, *implicit),
    conditions=(small_step,),
    statement=at_each_time(
        E(norm2(x[t + 1] - x_star)), "<=",
        (1 - eta * mu) * E(norm2(x_sampled[t] - x_star)) + eta**2 * noise + 6 * L * eta**2 * Gamma + 2 * spread,
    ),
)

lemma_2 = li_claim(
    id="li2020/lemma-2", number="Lemma 2", kind="lemma", assumptions=(independent_noise, *implicit),
    statement=at_each_time(noise, "<=", variance_sum),
)

lemma_3 = li_claim(
    id="li2020/lemma-3", number="Lemma 3", kind="lemma", assumptions=(G_weighted, *implicit), conditions=halving_steps,
    statement=at_each_time(spread, "<=", 4 * eta**2 * (local_steps - 1) ** 2 * G_sq),
)

lemma_4 = li_claim(
    id="li2020/lemma-4", number="Lemma 4", kind="lemma", reading="scheme I", procedure=SCHEME_1,
    conditions=(one_round,),
    statement=Condition(norm2(E(x_sampled[t], sampling) - x[t]), "==", 0, ((t, iterations, iterations),)),
    note="for one round from any start, noise given",
)

lemma_4_scheme_2 = lemma_4.variant(
    "scheme-2", "scheme II", procedure=SCHEME_2, conditions=(one_round, equal_weights)
)

lemma_5_scheme_1 = li_claim(
    id="li2020/lemma-5-scheme-1", number="Lemma 5", kind="lemma", reading="scheme I", procedure=SCHEME_1,
    assumptions=(G_weighted, *implicit), conditions=halving_steps,
    statement=at_each_time(E(norm2(x_sampled[t + 1] - x[t + 1])), "<=", participants_noise[SCHEME_1] * eta**2),
)

lemma_5_scheme_2 = replace(
    lemma_5_scheme_1, id="li2020/lemma-5-scheme-2", reading="scheme II", procedure=SCHEME_2,
    conditions=(*halving_steps, equal_weights, two_clients),
    statement=at_each_time(E(norm2(x_sampled[t + 1] - x[t + 1])), "<=", participants_noise[SCHEME_2] * eta**2),
)

CLAIMS = (lemma_1, lemma_2, lemma_3, lemma_4, lemma_4_scheme_2, lemma_5_scheme_1, lemma_5_scheme_2)
