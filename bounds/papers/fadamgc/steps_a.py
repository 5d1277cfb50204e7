"""Appendix A, the descent of FAdamGC: (12)-(51)."""

from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.coordinates import least, scaled
from bounds.language.words import (
    E,
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
    r,
    rounds,
    x_round,
)
from bounds.papers.fadamgc import quantities as q
from bounds.papers.fadamgc.assumptions import A51, A51_A53, lam, product, proof_38, proof_78, smooth
from bounds.papers.fadamgc.builders import (
    FADAMGC,
    POSITIVE_BETA2,
    algebra_step,
    all_tracked,
    at_each,
    at_most,
    carried,
    decrease,
    k_prime,
    pathwise,
    readings,
    run_claim,
    started,
    stored_max,
    v_started,
)
from bounds.papers.fadamgc.theorems import A2, eq_48
from bounds.papers.fadamgc.words import G, beta1, eps, eta, sigma

__all__ = ["CLAIMS", "descent_inequality", "half_descent", "update_identity"]

n, K, H = clients, local_steps, product
step = partial(run_claim, FADAMGC, POSITIVE_BETA2, kind="proof step", reading="the first y_k are zero")
gf, gfi = objective_grad(x_round[r]), grad(k, x_round[r])
w, M, m, mtilde = q.w_reset[r, j, k], q.gradient_mean[r, j, k], q.moment1[r, j, k], q.tracked_mean[r, j, k]
vbar, c_k, N = q.vbar[r], q.mass(j), q.gradient_sq[r]
CX = 2 * H / (eps**2 * lam)
RV = H * K * G**2 / (lam * eps**2) * q.second_moment_change[r]
RG = 2 * H**2 * (1 - eps) ** 2 / eps**2 * K**2 * L * G**2
RS = H**2 * K * L * sigma**2 / n


def over_w(vector, scale=w):
    """``vector / (w + eps)``."""
    return scaled(vector, scale, eps)


def over_vbar(vector):
    """``vector / (vbar + eps)``."""
    return scaled(vector, vbar, eps)


def per_client(term):
    """``(1/n) sum_ik``."""
    return Sum(term, q.each_step, q.every_client) / n


def cross(vector):
    """``-H E <gf, vector>``."""
    return -H * E(dot(gf, vector))


# the update ----------------------------------------------------------------------------------------------------------
def update_identity(vector):
    """``x^{t+1} = x - H (1/S) sum_Sk vector``."""
    return at_each(norm2(x_round[r + 1] - x_round[r] + H * q.over_sampled(vector)), "==", 0)


def descent_inequality(direction):
    """(13): the inequality of smoothness along the update."""
    U = q.over_sampled(direction)
    return at_each(E(objective(x_round[r + 1])), "<=",
                   E(objective(x_round[r])) - H * E(dot(gf, U)) + H**2 * (L / 2) * E(norm2(U)))


eq_12 = step(id="fadamgc/eq-12", number="(12)", statement=update_identity(over_w(m)),
             note="the paper's t is r + 1; the difference of both sides is zero")
eq_13 = step(id="fadamgc/eq-13", number="(13)", assumptions=(smooth,), statement=descent_inequality(q.direction[r, j, k]),
             note="U is the average of the steps' directions")
U_mtilde = cross(q.over_sampled(over_w(mtilde)))
eq_17 = step(id="fadamgc/eq-17", number="(17)", assumptions=A51,
             statement=at_each(cross(q.over_sampled(over_w(m))), "==", U_mtilde))
tracked_rest = over_w(Sum(q.ema(j, i), (i, 0, j)) * q.DEFINITIONS["shift_of_stored"].symbol[r, k])
eq_19 = step(
    id="fadamgc/eq-19", number="(18)-(19)", assumptions=A51,
    statement=at_each(U_mtilde, "==", cross(per_client(over_w(M))) + cross(per_client(tracked_rest))))

eq_21_zero = step(
    id="fadamgc/eq-21-zero", number="(20)-(21), the term that is zero", assumptions=A51,
    statement=at_each(E(dot(gf, per_client(tracked_rest))), "==", 0),
    note="the printed reason: the differences of the stored gradients to their mean sum to zero")

eq_21 = step(
    id="fadamgc/eq-21", number="(20)-(22)", assumptions=A51,
    statement=at_each(
        cross(q.over_sampled(over_w(m))), "==",
        cross(per_client(over_w(M) - over_vbar(M)))
        + cross(per_client(over_vbar(M) - over_vbar(c_k * gfi) + over_vbar(c_k * gfi)))))

# weights -------------------------------------------------------------------------------------------------------------
decay = (Variable("beta1", "nonnegative", below=1), Variable("local_steps", "integer"))
below_one, every_step = Condition(beta1, "<", 1), (q.each_step,)
eq_118 = algebra_step(id="fadamgc/eq-118", number="(118)", variables=decay, conditions=(below_one,),
                      statement=Condition(q.mass(j), "<", 1, every_step))
eq_118_positive = eq_118.variant("positive", "beta1 in (0, 1), as in Appendices B and E", variables=(
    Variable("beta1", "positive", below=1), *decay[1:]))
eq_118_sum = eq_118.variant(
    "sum", "the sum of the weights in closed form",
    statement=Condition(Sum(q.ema(j, i), (i, 0, j)), "==", q.mass(j), every_step))
eq_131a = algebra_step(id="fadamgc/eq-131a", number="(131), reason (a)", variables=decay, conditions=(below_one,),
                       reading="the upper bound", statement=Condition(q.mass(j), "<=", beta1, every_step))
eq_131a_low = eq_131a.variant("lower", "the lower bound",
                              statement=Condition((1 - beta1) * beta1, "<=", q.mass(j), every_step))

# the descent ---------------------------------------------------------------------------------------------------------
eq_23 = step(id="fadamgc/eq-23", number="(22)-(23)", assumptions=A51_A53,
             statement=at_each(cross(per_client(over_vbar(c_k * gfi))), "<=", -H * K * lam * N))


def spread_of(vector):
    """Z: the mean squared change of the average when w is replaced by vbar."""
    return E(norm2(q.average(over_w(vector) - over_vbar(vector))))


W = E(norm2(q.average(scaled(over_w(w - vbar), vbar, eps))))

eq_28 = step(
    id="fadamgc/eq-28", number="(23)-(28)", assumptions=A51_A53,
    statement=at_each(
        -H * K * lam * N + cross(per_client(over_w(M) - over_vbar(M))) + cross(per_client(over_vbar(M - c_k * gfi))), "<=",
        -(H * K / 2) * lam * N + H / (lam * eps**2) * q.Xi[r] + H * K / lam * spread_of(M)))

eq_31 = step(id="fadamgc/eq-31", number="(29)-(31)", assumptions=A51_A53,
             statement=at_each(spread_of(M), "<=", G**2 * W))
eq_34 = step(id="fadamgc/eq-34", number="(32)-(34)", assumptions=A51_A53,
             statement=at_each(W, "<=", q.second_moment_change[r] / eps**2))


def monotone_within(claim, scale):
    """With the condition that Appendix D names for the step: vhat does not fall within a round."""
    grows = Condition(least(scale[r, j + 1, k] - scale[r, j, k]), ">=", 0,
                      ((r, 0, rounds - 1), (j, -1, local_steps - 2), q.every_client))
    return claim.variant("condition-138b", f"{claim.reading}; vhat does not fall within a round",
                         conditions=(*claim.conditions, grows))


U_sq = E(norm2(q.over_sampled(q.direction[r, j, k])))
drift_37 = 2 * H**2 * K**2 * L * N + 4 * H**2 * K * L / eps**2 * q.Xi[r] + (
    4 * H**2 * (1 - eps) ** 2 / eps**2 * K**2 * L * G**2)
eq_37 = step(id="fadamgc/eq-37", number="(35)-(37)", assumptions=A51_A53,
             statement=at_each(H**2 * L / 2 * U_sq, "<=", drift_37 + H**2 * K * L * sigma**2),
             note="the last term as printed, without 1/n")
eq_37_over_n = eq_37.variant("noise-over-n", f"{eq_37.reading}; the last term over n, as (39) and (144) print it", note="",
                             statement=at_each(H**2 * L / 2 * U_sq, "<=", drift_37 + RS))


def half_descent(error):
    """(39) and (146): the descent with the drift of the moments."""
    return at_each(decrease, "<=", -(H * K / 4) * lam * N + CX * error + RV + RG + RS)


eq_39 = step(id="fadamgc/eq-39", number="(38)-(39)", assumptions=A51_A53, conditions=proof_38,
             statement=half_descent(q.Xi[r]), steps=("fadamgc/eq-28", "fadamgc/eq-31", "fadamgc/eq-34", "fadamgc/eq-37"))
drift_term = CX * (6 * eta**2 * K**2 * L**2 / eps**2) * A2
eq_42 = step(id="fadamgc/eq-42", number="(40)-(42)", assumptions=A51_A53, conditions=proof_38,
             statement=at_each(decrease, "<=", -(H * K / 4) * lam * N + drift_term + RV + RG + RS),
             steps=("fadamgc/eq-39", "fadamgc/lemma-A.1"), note="(43)-(47) print the same in another order")
eq_42_78 = eq_42.variant("condition-78", f"{eq_42.reading}; with the conditions before (78)",
                         conditions=(*eq_42.conditions, *proof_78))

# the division by T H K lambda / 4 ------------------------------------------------------------------------------------
total_drop, total_change = sp.Symbol("total_drop", real=True), sp.Symbol("total_change", nonnegative=True)
positive = [Variable(name, "positive") for name in ("eta", "eta_g", "eps", "L", "G", "sigma")]
numbers = (*positive, Variable("beta1", "positive", below=1), Variable("beta2", "nonnegative", below=1),
           *(Variable(name, "integer") for name in ("local_steps", "clients", "rounds")), Variable("total_drop", "positive"),
           Variable("total_change", "nonnegative"))
summed = total_drop + rounds * (drift_term + RG + RS) + H * K * G**2 / (lam * eps**2) * total_change
by_T = summed / (rounds * H * K * lam / 4)
E1, ET = E(objective(x_round[0])), E(objective(x_round[rounds]))
right_48 = eq_48.statement.right.xreplace({E1: total_drop, ET: sp.Integer(0)})

eq_51 = algebra_step(
    id="fadamgc/eq-51-division", number="(42) to (48)-(51)", variables=numbers,
    conditions=(Condition(beta1, "<", 1), Condition(sp.Symbol("beta2", nonnegative=True), "<", 1),
                Condition(total_change, "<=", G**2)),
    statement=Condition(by_T, "<=", right_48),
    reading="the sum of the changes of the average root at most G^2",
    note="total_drop is E f(x^1) - E f(x^{T+1}), total_change the sum over rounds of E|vbar^{t+1} - vbar^t|^2; the paper "
         "does not say by what it replaces that sum, of which (50) has G^2 left")

y_gradient = started("gradient")

CLAIMS = (
    *readings(eq_12, carried, y_gradient),
    *readings(eq_13, pathwise, carried, y_gradient),
    *readings(eq_17, k_prime, at_most, all_tracked, carried, y_gradient), y_gradient(k_prime(eq_17)),
    *readings(eq_19, k_prime, at_most, all_tracked, carried, y_gradient), y_gradient(k_prime(eq_19)),
    *readings(eq_21_zero, all_tracked, carried, y_gradient),
    *readings(eq_21, at_most, carried, y_gradient),
    eq_118, eq_118_positive, eq_118_sum, eq_131a, eq_131a_low,
    *readings(eq_23, pathwise, carried, y_gradient),
    *readings(eq_28, pathwise, carried, y_gradient),
    *readings(eq_31, pathwise, carried, y_gradient),
    *readings(eq_34, pathwise, carried, stored_max, y_gradient, v_started), monotone_within(eq_34, q.w_reset),
    *readings(eq_37, y_gradient), *readings(eq_37_over_n, y_gradient),
    *readings(eq_39, carried, y_gradient),
    *readings(eq_42, carried, y_gradient), eq_42_78,
    eq_51,
)
