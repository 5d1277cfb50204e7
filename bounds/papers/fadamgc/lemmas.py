"""Lemmas A.1, B.1, D.1 and D.2."""

from dataclasses import replace

from bounds.language.words import E, L, Sum, clients, grad, j, k, local_steps, norm2, r, x_round
from bounds.papers.fadamgc import quantities as q
from bounds.papers.fadamgc.assumptions import A51, A51_A53, product, proof_78
from bounds.papers.fadamgc.builders import (
    ANY_MOMENTS,
    FA_NT,
    FADAMGC,
    POSITIVE_BETA2,
    SPECIAL,
    all_tracked,
    alpha_vhat,
    at_each,
    at_each_but_first,
    before_last,
    carried,
    k_prime,
    readings,
    run_claim,
    started,
    v_started,
    with_norms,
)
from bounds.papers.fadamgc.theorems import A2, FROM_GRADIENTS
from bounds.papers.fadamgc.words import G, eps, eta, sigma, trackers

__all__ = ["CLAIMS", "D2_right", "drift_bound", "lemma_B1", "lemma_D2"]

n, K, Y = clients, local_steps, trackers
Y_ZERO = "the first y_k are zero"
y_gradient = started("gradient")

#: the right side of (59)
drift_bound = 6 * eta**2 * K**2 * L**2 / eps**2 * A2

lemma_A1 = run_claim(
    FADAMGC, POSITIVE_BETA2, id="fadamgc/lemma-A.1", number="Lemma A.1, (59), (81)", kind="lemma", reading=Y_ZERO,
    assumptions=A51_A53, statement=at_each(q.Xi[r], "<=", drift_bound),
    note="the statement cites Assumption 5.1; its G is that of 5.3", steps=("fadamgc/eq-61", "fadamgc/eq-81"),
)

under_78 = replace(lemma_A1, id="fadamgc/lemma-A.1@condition-78", reading=f"{Y_ZERO}; with the conditions before (78)",
                   conditions=(*lemma_A1.conditions, *proof_78))
B1_right = (1 - Y / (2 * n)) * q.gamma_error[r - 1] + 2 * (n / Y) * product * K + 2 * (Y / n) * eta * K

lemma_B1 = run_claim(
    FROM_GRADIENTS, SPECIAL, id="fadamgc/lemma-B.1", number="Lemma B.1, (105), (112)", kind="lemma",
    reading="the first y_k are gradients; second moments by coordinate", assumptions=A51,
    statement=at_each_but_first(q.gamma_error[r], "<=", B1_right), steps=("fadamgc/eq-111",),
    note="printed with one sum, which begins at i = 1; read as the sum over clients and local steps",
)

J = (G**2 + sigma**2) / eps**2
D1_right = (48 * K**3 * L**2 * eta**2 * q.gradient_sq[r] + 96 * K**3 * L**2 * eta**2 * q.Gamma_nt[r]
            + 144 * K**3 * L**2 * eta**2 * J)

lemma_D1 = run_claim(
    FA_NT, ANY_MOMENTS, id="fadamgc/lemma-D.1", number="Lemma D.1, (173)", kind="lemma",
    reading=f"{Y_ZERO}; stored directions with v", assumptions=A51_A53,
    statement=at_each(q.smoothed_error_nt[r], "<=", D1_right),
    steps=("fadamgc/eq-176@identity", "fadamgc/eq-176", "fadamgc/eq-182"),
    note="the statement cites Assumption 5.1; its G is that of 5.3",
)

noisy = Sum(E(norm2(q.moment1_nt[r, j, k] - q.mass(j) * grad(k, x_round[r]))), q.each_step, q.every_client) / n
left_m = lemma_D1.variant("left-m", f"{lemma_D1.reading}; m in place of mtilde, as (183)-(184) print it",
                          statement=at_each(noisy, "<=", D1_right))
D2_right = (1 - Y / (2 * n)) * q.Gamma_nt[r - 1] + (7 * n / Y) * G**2 + (Y / n) * J

lemma_D2 = run_claim(
    FA_NT, ANY_MOMENTS, id="fadamgc/lemma-D.2", number="Lemma D.2, (185)", kind="lemma",
    reading=f"{Y_ZERO}; stored directions with v", assumptions=A51_A53,
    statement=before_last(at_each_but_first(q.Gamma_nt[r], "<=", D2_right)),
    steps=("fadamgc/eq-191", "fadamgc/eq-192", "fadamgc/eq-194"),
    note="the statement cites Assumption 5.1; its G is that of 5.3",
)

CLAIMS = (
    *readings(lemma_A1, y_gradient, carried, v_started), under_78,
    *readings(lemma_B1, all_tracked, with_norms, carried, v_started), all_tracked(with_norms(lemma_B1)),
    *readings(lemma_D1, k_prime, alpha_vhat, y_gradient, carried, v_started), all_tracked(alpha_vhat(lemma_D1)),
    all_tracked(alpha_vhat(k_prime(lemma_D1))), left_m, all_tracked(alpha_vhat(left_m)),
    *readings(lemma_D2, alpha_vhat, all_tracked, y_gradient, carried, v_started), all_tracked(alpha_vhat(lemma_D2)),
)
