"""Appendix D, the descent of FA-NT: (124)-(165)."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.coordinates import scaled
from bounds.language.words import (
    E,
    L,
    Sum,
    clients,
    dot,
    grad,
    j,
    k,
    local_steps,
    norm2,
    objective,
    objective_grad,
    r,
    rounds,
    x_round,
)
from bounds.papers.fadamgc import quantities as q
from bounds.papers.fadamgc.assumptions import A51, A51_A53, lam, product, proof_38, proof_152, smooth
from bounds.papers.fadamgc.builders import (
    ANY_MOMENTS,
    FA_NT,
    algebra_step,
    all_clients_take_part,
    all_tracked,
    alpha_vhat,
    at_each,
    at_most,
    before_last,
    carried,
    decrease,
    k_prime,
    pathwise,
    readings,
    run_claim,
    started,
    stored_max,
)
from bounds.papers.fadamgc.steps_a import (
    CX,
    RG,
    RS,
    RV,
    cross,
    descent_inequality,
    half_descent,
    monotone_within,
    over_vbar,
    over_w,
    per_client,
    update_identity,
)
from bounds.papers.fadamgc.theorems_fa_nt import Gamma_sum_bound, eq_158
from bounds.papers.fadamgc.words import G, beta1, eps, eta, sigma, trackers

__all__ = ["CLAIMS"]

n, K, H, Y, T = clients, local_steps, product, trackers, rounds
step = partial(run_claim, FA_NT, ANY_MOMENTS, kind="proof step", reading="the first y_k are zero")
gf, gfi = objective_grad(x_round[r]), grad(k, x_round[r])
w, m, mtilde = q.w_reset_nt[r, j, k], q.moment1_nt[r, j, k], q.tracked_mean_nt[r, j, k]
vbar, c_k, N, error = q.vbar[r], q.mass(j), q.gradient_sq[r], q.smoothed_error_nt[r]
WITH_V = "the first y_k are zero; stored directions with v"


def over(vector):
    """``vector / (w + eps)``."""
    return over_w(vector, w)


eq_124 = step(id="fadamgc/eq-124", number="(123)-(124)", statement=update_identity(over(m)),
              note="the paper's t is r + 1; the difference of both sides is zero")
eq_126 = step(id="fadamgc/eq-126", number="(125)-(126)", assumptions=(smooth,),
              statement=descent_inequality(q.direction_nt[r, j, k]),
              note="U is the average of the steps' directions")
U_mtilde = cross(q.over_sampled(over(mtilde)))
eq_129 = step(id="fadamgc/eq-129", number="(128)-(129)", assumptions=A51,
              statement=at_each(cross(q.over_sampled(over(m))), "==", U_mtilde),
              note="printed without a relation sign; read as an equality")
parts = over(mtilde) - over_vbar(mtilde) + over_vbar(mtilde) - over_vbar(c_k * gfi)
right_130 = cross(per_client(parts + over_vbar(c_k * gfi)))
eq_130 = step(id="fadamgc/eq-130", number="(130)", assumptions=A51, statement=at_each(U_mtilde, "==", right_130))


def right_132(gradient):
    return -H * K * lam * N - H * K * E(dot(gradient, q.average(parts)))


eq_132 = step(id="fadamgc/eq-132", number="(131)-(132)", assumptions=A51_A53,
              reading="the first y_k are zero; the gradient at x^t",
              statement=at_each(right_130, "<=", right_132(gf)))
eq_132_next = eq_132.variant("t-plus-1", "the first y_k are zero; the gradient at x^{t+1}, as (132) prints it",
                             statement=before_last(at_each(right_130, "<=", right_132(objective_grad(x_round[r + 1])))))
spread = E(norm2(q.average(over(mtilde) - over_vbar(mtilde))))
W = E(norm2(q.average(scaled(over(w - vbar), vbar, eps))))
eq_134 = step(id="fadamgc/eq-134", number="(133)-(134)", assumptions=A51_A53,
              statement=at_each(right_132(gf), "<=",
                                -(H * K / 2) * lam * N + H / (lam * eps**2) * error + H * K / lam * spread))
eq_136 = step(id="fadamgc/eq-136", number="(135)-(136)", assumptions=A51_A53,
              statement=at_each(spread, "<=", G**2 * W))
eq_138 = monotone_within(
    step(id="fadamgc/eq-138", number="(137)-(138)", statement=at_each(W, "<=", q.second_moment_change[r] / eps**2)),
    q.w_reset_nt)
eq_138 = replace(eq_138, id="fadamgc/eq-138")
U_sq = E(norm2(q.over_sampled(q.direction_nt[r, j, k])))
noise = H**2 * K * L * sigma**2 / n
right_139 = H**2 * L * E(norm2(per_client(over(mtilde)))) + noise
centred = over(mtilde) - over(c_k * gfi) + over(c_k * gfi) - gfi
right_142 = (2 * H**2 * K**2 * L * N
             + 2 * H**2 * L * (K / n) * Sum(E(norm2(centred)), q.each_step, q.every_client) + noise)
right_144 = (2 * H**2 * K**2 * L * N + 4 * H**2 * K * L / eps**2 * error
             + 4 * H**2 * (1 - eps) ** 2 / eps**2 * K**2 * L * G**2 + noise)
eq_139 = step(id="fadamgc/eq-139", number="(139)", assumptions=A51, statement=at_each(H**2 * L / 2 * U_sq, "==", right_139))
eq_142 = step(id="fadamgc/eq-142", number="(140)-(142)", assumptions=A51, statement=at_each(right_139, "<=", right_142))
eq_144 = step(id="fadamgc/eq-144", number="(143)-(144)", assumptions=A51_A53, statement=at_each(right_142, "<=", right_144))
eq_146 = step(id="fadamgc/eq-146", number="(145)-(146)", assumptions=A51_A53, conditions=proof_38,
              statement=half_descent(error),
              steps=tuple(f"fadamgc/eq-{number}" for number in (126, 129, 130, 132, 134, 136, 138, 139, 142, 144)))
J = (G**2 + sigma**2) / eps**2
drifts = 96 * K**3 * L**2 * eta**2 * q.Gamma_nt[r]
tail = CX * drifts + RV + RG + CX * 144 * K**3 * L**2 * eta**2 * J + RS

eq_151 = step(
    id="fadamgc/eq-151", number="(147)-(151)", reading=WITH_V, assumptions=A51_A53, conditions=proof_38,
    statement=at_each(decrease, "<=", (-(H * K / 4) * lam + CX * 48 * eta**2 * K**3 * L**2) * N + tail),
    steps=("fadamgc/eq-146", "fadamgc/lemma-D.1"),
    note="(147) prints the bracket after E f(x^t) without a sign; read as a sum")

eq_157 = step(
    id="fadamgc/eq-157", number="(152)-(157)", reading=WITH_V, assumptions=A51_A53, conditions=(*proof_38, *proof_152),
    statement=at_each(H * K / 8 * lam * N, "<=", -decrease + tail), steps=("fadamgc/eq-151",))

# the average over rounds ---------------------------------------------------------------------------------------------
total_drop, total_change = sp.Symbol("total_drop", nonnegative=True), sp.Symbol("total_change", nonnegative=True)
total_gap = sp.Symbol("total_gap", nonnegative=True)
ends, Gammas = E(norm2(q.vbar[rounds] - q.vbar[0])), Sum(q.Gamma_nt[r], (r, 0, rounds - 1))

right_158 = eq_158.statement.right.xreplace({
    E(objective(x_round[0])): total_drop,
    E(objective(x_round[rounds])): sp.Integer(0),
    ends: total_change, Gammas: total_gap})

summed = (total_drop + CX * 96 * K**3 * L**2 * eta**2 * total_gap + H * K * G**2 / (lam * eps**2) * total_change
          + T * (RG + CX * 144 * K**3 * L**2 * eta**2 * J + RS))

eq_163 = algebra_step(
    id="fadamgc/eq-163-division", number="(157) to (158)-(163)",
    reading="the sum of the changes of the average root replaced by its change from first to last",
    variables=(
        *(Variable(name, "positive") for name in ("eta", "eta_g", "eps", "L", "G", "sigma", "beta1")),
        *(Variable(name, "integer") for name in ("local_steps", "clients", "rounds")),
        *(Variable(name, "nonnegative") for name in ("total_drop", "total_change", "total_gap"))),
    conditions=(Condition(beta1, "<", 1),),
    statement=Condition(summed / (T * H * K * lam / 8), "<=", right_158),
    note="total_drop is E f(x^1) - E f(x^{T+1}), total_gap the sum over rounds of Gamma, "
         "total_change E|vbar^{T+1} - vbar^1|^2")

# (164)-(165) ---------------------------------------------------------------------------------------------------------
each_round = (r, 0, rounds - 1)
per_round = (7 * n / Y) * G**2 + (Y / n) * J
right_164 = Sum((1 - Y / (2 * n)) ** (T - (r + 1)) * q.Gamma_nt[0] + (r + 1) * per_round, each_round)
eq_164 = run_claim(
    FA_NT, ANY_MOMENTS, id="fadamgc/eq-164", number="(164)", kind="proof step", reading=WITH_V, assumptions=A51_A53,
    statement=Condition(Gammas, "<=", right_164), steps=("fadamgc/lemma-D.2",))
eq_165 = replace(eq_164, id="fadamgc/eq-165", number="(165)", statement=Condition(right_164, "==", Gamma_sum_bound),
                 steps=("fadamgc/eq-164",))
eq_165_both = replace(eq_165, id="fadamgc/eq-165@both", reading=f"{WITH_V}; (164) and (165) together",
                      statement=Condition(Gammas, "<=", Gamma_sum_bound))
y_gradient = started("gradient")


def of_gamma(claim):
    """Stored directions with v or vhat, any number of trackers or all."""
    return (*readings(claim, alpha_vhat, all_tracked, carried, y_gradient), all_tracked(alpha_vhat(claim)))


def of_means(claim):
    """mtilde in both readings."""
    return readings(claim, k_prime, carried, y_gradient)


CLAIMS = (
    *readings(eq_124, carried, y_gradient, all_clients_take_part),
    *readings(eq_126, pathwise, carried, y_gradient, all_clients_take_part),
    *of_means(eq_129), at_most(eq_129), *of_means(eq_130), at_most(eq_130), *of_means(eq_132), eq_132_next,
    *of_means(eq_134), *of_means(eq_136), pathwise(eq_136), *readings(eq_138, pathwise, carried, stored_max, y_gradient),
    *of_means(eq_139), at_most(eq_139), at_most(k_prime(eq_139)), *of_means(eq_142), *of_means(eq_144), *of_means(eq_146),
    *of_gamma(eq_151), *of_gamma(eq_157), eq_163,
    *of_gamma(eq_164), *of_gamma(eq_165), at_most(eq_165), *of_gamma(eq_165_both),
)
