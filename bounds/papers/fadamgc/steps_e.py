"""Appendix E: FA-NT with beta2 = eps = 0, (196)-(209)."""

from functools import partial

from bounds.language.words import E, L, Sum, clients, g, i, j, k, local_steps, norm, objective_grad, r, x_local, x_round
from bounds.papers.fadamgc import quantities as q
from bounds.papers.fadamgc.assumptions import A51_AC1, product, smooth
from bounds.papers.fadamgc.builders import SPECIAL, at_each, carried, decrease, readings, run_claim, with_norms
from bounds.papers.fadamgc.steps_b import (
    R1,
    chain,
    conditional,
    descent_83,
    free_vector,
    pathwise_full,
    smoothed_norms,
    unit_moments,
)
from bounds.papers.fadamgc.theorems_fa_nt import FROM_UNIT, Y_UNIT
from bounds.papers.fadamgc.words import B, beta1, client_variate, eta, server_variate, sigma

__all__ = ["CLAIMS"]

n, K, H = clients, local_steps, product
step = partial(run_claim, FROM_UNIT, SPECIAL, kind="proof step", reading=Y_UNIT)
gf, each = objective_grad(x_round[r]), (q.each_step, q.every_client)
direction, m = q.direction_nt[r, j, k], q.moment1_nt[r, j, k]
buffer = step(id="fadamgc/app-E-buffer", number="App. E, reason (a) of (208)",
              statement=at_each(norm(client_variate[r, k]), "<=", 1, q.every_client))
buffer_mean = buffer.variant("server", f"{buffer.reading}; the server's y",
                             statement=at_each(norm(server_variate[r]), "<=", 1))
units = unit_moments(step, "app-B-unit@fa-nt", "App. E, first display", m, q.second_moment_nt[r, j, k],
                               q.w_reset_nt[r, j, k])
eq_196 = step(id="fadamgc/eq-196", number="(195)-(196)", assumptions=(smooth,), statement=descent_83(direction),
              note="printed as E f(x^{t+1}) - f(x^t); expectations over everything")

eq_200 = step(
    id="fadamgc/eq-200", number="(199)-(200)", assumptions=(smooth,),
    statement=at_each(decrease, "<=",
                      -K * H * (1 - 2 * beta1**K) * q.gradient_norm[r] + K * H * R1(direction) + H**2 * K**2 * L / 2),
    note="q is the mean of the weights c^k times the gradient; expectations over everything")

away = E(norm(g[q.now, k] - gf))
ends = sigma / n + B
eq_206 = step(id="fadamgc/eq-206", number="(205)-(206)", assumptions=A51_AC1,
              statement=at_each(away, "<=", L * E(norm(x_local[q.now, k] - x_round[r])) + ends, *each))
travelled = eta * K * L * (1 / K) * Sum(E(norm(direction + server_variate[r] - client_variate[r, k])), q.each_step)
right_206 = L * E(norm(x_local[q.now, k] - x_round[r])) + ends
eq_207 = step(id="fadamgc/eq-207", number="(207)", assumptions=A51_AC1,
              statement=at_each(right_206, "<=", travelled + ends, *each))
eq_208 = step(id="fadamgc/eq-208", number="(208)", assumptions=A51_AC1, steps=("fadamgc/app-E-buffer",),
              statement=at_each(travelled + ends, "<=", 3 * eta * K * L + ends, q.every_client))
middle = smoothed_norms(E(norm(g[q.at(i), k] - gf)))
lag = E(norm(m - q.mass(j) * gf))
eq_209 = step(id="fadamgc/eq-209", number="(209), first inequality", reading=f"{Y_UNIT}; the first inequality",
              assumptions=A51_AC1, statement=at_each(lag, "<=", middle, *each))
eq_209_second = eq_209.variant("second", f"{Y_UNIT}; the second inequality",
                               statement=at_each(middle, "<=", 3 * eta * K * L + ends, *each))
eq_209_both = eq_209.variant("both", f"{Y_UNIT}; both inequalities together",
                             statement=at_each(lag, "<=", 3 * eta * K * L + ends, *each))


def in_both(claim):
    """With moments of coordinates or of norms, and the maximum carried on."""
    return readings(claim, with_norms, carried)


CLAIMS = (
    *in_both(buffer), *in_both(buffer_mean), *units,
    *readings(eq_196, pathwise_full, conditional, with_norms, carried), pathwise_full(with_norms(eq_196)),
    *free_vector(step, "eq-198", "(197)-(198)", direction)[:3],
    *in_both(eq_200),
    *chain(step, ("eq-204@first", "eq-204@second", "eq-204"), ("(201)-(202)", "(203)", "(204)"), m, g[q.now, k], direction,
           q.w_reset_nt[r, j, k], q.w_norm_nt[r, j, k], with_norms),
    *in_both(eq_206), *in_both(eq_207), *in_both(eq_208), *in_both(eq_209), *in_both(eq_209_second), *in_both(eq_209_both),
)
