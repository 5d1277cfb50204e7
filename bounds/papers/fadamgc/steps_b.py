"""Appendix B: FAdamGC with beta2 = eps = 0, (83)-(111)."""

from dataclasses import replace
from functools import partial

import sympy as sp

from bounds.language.claim import Condition, Variable
from bounds.language.coordinates import raised, root, scaled
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
    norm,
    objective,
    objective_grad,
    r,
    x_before,
    x_local,
    x_round,
)
from bounds.papers.fadamgc import quantities as q
from bounds.papers.fadamgc.assumptions import A51, product, smooth
from bounds.papers.fadamgc.builders import (
    SPECIAL,
    algebra_step,
    all_tracked,
    at_each,
    at_each_but_first,
    at_most,
    carried,
    decrease,
    pathwise,
    readings,
    run_claim,
    v_started,
    with_norms,
)
from bounds.papers.fadamgc.theorems import FROM_GRADIENTS
from bounds.papers.fadamgc.words import beta1, client_variate, eta, eta_g, factor, server_variate, sigma, trackers

__all__ = ["BY_COORDINATE", "CLAIMS", "chain", "descent_83", "free_vector", "unit_moments"]

n, K, H, Y = clients, local_steps, product, trackers
BY_COORDINATE = "the first y_k are gradients; second moments by coordinate"
step = partial(run_claim, FROM_GRADIENTS, SPECIAL, kind="proof step", reading=BY_COORDINATE)
gf, gfi = objective_grad(x_round[r]), grad(k, x_round[r])
each = (q.each_step, q.every_client)


# directions have at most length one ----------------------------------------------------------------------------------
def unit_moments(make, name, number, moment, v, w, **fields):
    """``|m| / |sqrt(v)| <= 1`` with v as printed, and with vhat; then the same quotients by coordinate."""
    printed = make(
        id=f"fadamgc/{name}", number=number, statement=at_each(norm(moment), "<=", norm(root(v)), *each), **fields)
    printed = replace(printed, variables=tuple(
        replace(variable, domain="positive") if variable.name == "beta1" else variable for variable in printed.variables))

    def reading(short, words, left, right):
        return replace(printed, id=f"{printed.id}{'+' if '@' in name else '@'}{short}",
                       reading=f"{printed.reading}; {words}", statement=at_each(left, "<=", right, *each))

    return (printed, reading("vhat", WITH_VHAT, norm(moment), norm(w)),
            reading("by-coordinate", COORDINATES, norm(scaled(moment, root(v), 0)), 1),
            reading("by-coordinate+vhat", f"{COORDINATES}; {WITH_VHAT}", norm(scaled(moment, w, 0)), 1))


WITH_VHAT, COORDINATES = "with vhat in place of v", "the quotient by coordinate in place of that by the root's norm"


units = unit, unit_vhat, _, unit_direction = unit_moments(
    step, "app-B-unit", "before (83)", q.moment1[r, j, k], q.second_moment[r, j, k], q.w_reset[r, j, k],
    note="both sides times the norm of the root; App. E opens with the same for FA-NT")
moment_norms = q.DEFINITIONS["norm_moment"].symbol[r, j, k]
unit_norms = replace(
    with_norms(unit), statement=at_each(norm(q.moment1[r, j, k]), "<=", sp.sqrt(moment_norms), *each))
unit_vhat_norms = replace(with_norms(unit_direction), id="fadamgc/app-B-unit@vhat+norm-scalar",
                          reading=with_norms(unit_vhat).reading)
unit_step = step(
    id="fadamgc/sec-5-unit-step", number="after Theorem 5.2",
    statement=at_each(norm(x_before[q.now + 1, k] - x_local[q.now, k]), "<=", eta, *each))


# (83)-(87) -----------------------------------------------------------------------------------------------------------
def descent_83(direction):
    """(83), (196): the inequality of smoothness along the average direction."""
    return at_each(decrease, "<=", -K * H * E(dot(gf, q.average(direction))) + H**2 * K**2 * L / 2)


eq_83 = step(id="fadamgc/eq-83", number="(82)-(83)", assumptions=(smooth,), statement=descent_83(q.direction[r, j, k]),
             note="printed as E f(x^{t+1}) - f(x^t); expectations over everything")


def conditional(claim):
    """Given everything before the round."""
    def given(e):
        return e.replace(lambda a: isinstance(a, E), lambda a: E_round(a.args[0], r))

    s = claim.statement
    return claim.variant("conditional", f"{claim.reading}; expectations given everything before the round", note="",
                         statement=Condition(given(s.left), s.relation, given(s.right), s.over))


def pathwise_full(claim):
    """Run by run, when all clients take part."""
    made = pathwise(claim)
    return replace(made, reading=f"{made.reading}; all clients take part",
                   procedure=replace(made.procedure, sampling="full"))


any_q, u, grad_f = (sp.Symbol(name, real=True) for name in ("any_q", "any_u", "any_grad"))


def free_vector(make, name, number, direction):
    """(84)-(85), (197)-(198): any vector q; on runs, and for any vectors."""
    def both(gradient, mean_direction, mean):
        q_norm = norm(any_q)
        left = -K * H * mean(dot(gradient - any_q, mean_direction)) - K * H * mean(dot(any_q, mean_direction))
        right = K * H * (mean(norm(gradient - any_q)) - mean(q_norm)) + K * H * mean(
            q_norm * norm(mean_direction - any_q / q_norm))
        return left, right

    left, right = both(gf, q.average(direction), E)
    on_runs = make(id=f"fadamgc/{name}", number=number, variables=(Variable("any_q", "vector"),),
                   statement=at_each(left, "==", right))
    left, right = both(grad_f, u, lambda a: a)
    vectors = algebra_step(
        id=f"fadamgc/{name}@vectors", number=number, reading="any vectors, of which u is at most of length one",
        variables=(*(Variable(v, "vector") for v in ("any_q", "any_u", "any_grad")), Variable("eta", "positive"),
                   Variable("eta_g", "positive"), Variable("local_steps", "integer")),
        conditions=(Condition(norm(u), "<=", 1),), statement=Condition(left, "==", right))
    return (*readings(on_runs, at_most, pathwise), vectors, at_most(vectors))


eq_87 = algebra_step(
    id="fadamgc/eq-87", number="(86)-(87)", reading="for any gradient of the objective; expectations follow",
    variables=(Variable("any_grad", "vector"), Variable("beta1", "nonnegative", below=1),
               Variable("local_steps", "integer")),
    conditions=(Condition(beta1, "<", 1),),
    statement=Condition(norm(grad_f - q.mean_mass * grad_f) - norm(q.mean_mass * grad_f), "<=",
                        -(1 - 2 * beta1**K) * norm(grad_f)))

# (89)-(91), (202)-(204) ----------------------------------------------------------------------------------------------
q_vector = q.mean_mass * gf
q_length = norm(q_vector)


def R1(direction):
    """``E |q| |u - q/|q||``."""
    return E(q_length * norm(q.average(direction) - q_vector / q_length))


def chain(make, names, numbers, moment, fed, direction, w, w_norm, norms):
    """(89), (90) and (91), or the same of FA-NT; ``norms`` makes the reading with moments of norms."""
    lag = norm(moment - q.mass(j) * gf)
    unlike = norm(scaled(raised(-w, q_length), w, 0) / q_length)
    unlike_number = sp.Abs((q_length - w_norm) / (w_norm * q_length))

    def right_89(difference):
        return E(q.average(q_length * norm(moment) * difference + lag))

    def right_90(gap):
        return E(q.average(q_length * gap + lag))

    vectors = norm((q_vector / q.mean_mass - fed) / q_length)
    numbers_gap = sp.Abs((q_length / q.mean_mass - norm(fed)) / q_length)
    first = make(id=f"fadamgc/{names[0]}", number=numbers[0], statement=at_each(R1(direction), "<=", right_89(unlike)),
                 note="q is the mean of the weights c^k times the gradient; the last term is printed outside the sum")
    first_norms = replace(norms(first), statement=at_each(R1(direction), "<=", right_89(unlike_number)))
    second = make(id=f"fadamgc/{names[1]}", number=numbers[1], statement=at_each(right_89(unlike), "<=", right_90(vectors)),
                  note="printed as a norm less a vector; read as q / cavg - ghat")
    second_lengths = second.variant("lengths", f"{second.reading}; |q| / cavg - |ghat| in the place of a norm less a vector",
                                    note="", statement=at_each(right_89(unlike), "<=", right_90(numbers_gap)))
    second_norms = replace(norms(second), statement=at_each(right_89(unlike_number), "<=", right_90(vectors)))
    third = make(id=f"fadamgc/{names[2]}", number=numbers[2],
                 statement=at_each(R1(direction), "<=", q.average(E(norm(fed - gf)) + E(lag))))
    return (*readings(first, carried), first_norms, *readings(second, carried), second_lengths, second_norms,
            *readings(third, norms, carried))


# (93)-(101) ----------------------------------------------------------------------------------------------------------
ghat, m = q.corrected[r, j, k], q.moment1[r, j, k]
away = E(norm(ghat - gf))
lag = E(norm(m - q.mass(j) * gf))
shift = server_variate[r] - client_variate[r, k]
stored = E(norm(q.stored_point[r, j, k] - x_round[r]))
base = eta * K * L + sigma / n


def smoothed_norms(term):
    """``sum_{k'<=k} c(k, k')`` of a number in i."""
    return Sum(q.ema(j, i) * term, (i, 0, j))


eq_93 = step(id="fadamgc/eq-93", number="(92)-(93)", assumptions=A51,
             statement=at_each(away, "<=", base + E(norm(shift - gf + gfi)), *each))
eq_94 = step(id="fadamgc/eq-94", number="(94)", assumptions=A51, statement=at_each(away, "<=", base + 2 * stored, *each),
             steps=("fadamgc/eq-93",))
eq_95 = step(
    id="fadamgc/eq-95", number="(95)", note="printed with k inside the sum; read with k'",
    statement=at_each(lag, "<=", smoothed_norms(E(norm(q.corrected[r, i, k] - gf))), *each))
eq_96 = step(
    id="fadamgc/eq-96", number="(96)", assumptions=A51, steps=("fadamgc/eq-94", "fadamgc/eq-95"),
    statement=at_each(lag, "<=", base + 2 * smoothed_norms(E(norm(q.stored_point[r, i, k] - x_round[r]))), *each))
P, error = q.gradient_norm[r], q.gamma_error
right_98 = (-K * H * (1 - 2 * beta1**K) * P + 2 * K**2 * L * eta_g * eta**2 + K * H * sigma / n + 4 * K * H * error[r]
            + H**2 * K**2 * L / 2)
eq_98 = step(id="fadamgc/eq-98", number="(97)-(98)", assumptions=A51, statement=at_each(decrease, "<=", right_98),
             steps=("fadamgc/eq-83", "fadamgc/eq-85", "fadamgc/eq-87", "fadamgc/eq-91", "fadamgc/eq-94", "fadamgc/eq-96"))
f_now, f_next = E(objective(x_round[r])), E(objective(x_round[r + 1]))


def right_101(value, stored_error, gradient):
    return (value + 8 * H * K * (n / Y) * stored_error - K * H * (1 - 2 * beta1**K) * gradient
            + 2 * K**2 * L * eta_g * eta**2 + K * H * sigma / n + H**2 * K**2 * L / 2 + 16 * n**2 / Y**2 * H**2 * K**2
            + 2 * eta_g * eta**2 * K**2)


eq_101 = step(
    id="fadamgc/eq-101", number="(99)-(101)", assumptions=A51, steps=("fadamgc/eq-98", "fadamgc/lemma-B.1"),
    statement=at_each(f_next + 8 * H * K * (n / Y) * error[r + 1], "<=", right_101(f_now, error[r], P)))
values = {name: sp.Symbol(name, real=True) for name in ("f_now", "f_next")}
rest = {name: sp.Symbol(name, nonnegative=True) for name in ("error_now", "error_next", "gradient")}
by_98 = right_98.xreplace({P: rest["gradient"], error[r]: rest["error_now"]})
by_B1 = (1 - Y / (2 * n)) * rest["error_now"] + 2 * (n / Y) * H * K + 2 * (Y / n) * eta * K

eq_101_numbers = algebra_step(
    id="fadamgc/eq-101@numbers", number="(98) and Lemma B.1 to (99)-(101)",
    reading="for any numbers with (98) and Lemma B.1",
    variables=(
        *(Variable(name, "positive") for name in ("eta", "eta_g", "L")), Variable("sigma", "nonnegative"),
        Variable("beta1", "nonnegative", below=1), Variable("local_steps", "integer"), Variable("clients", "integer"),
        Variable("trackers", "integer"), Variable("f_now", "real"), Variable("f_next", "real"),
        *(Variable(name, "nonnegative") for name in rest)),
    conditions=(
        Condition(beta1, "<", 1), Condition(Y, "<=", n), Condition(values["f_next"], "<=", values["f_now"] + by_98),
        Condition(rest["error_next"], "<=", by_B1)),
    statement=Condition(values["f_next"] + 8 * H * K * (n / Y) * rest["error_next"], "<=",
                        right_101(values["f_now"], rest["error_now"], rest["gradient"])),
    note="f_now and f_next are E f(x^t) and E f(x^{t+1}), error_now and error_next the errors of Lemma B.1")

# Lemma B.1: (107)-(111) ----------------------------------------------------------------------------------------------
old, new, last = q.stored_point[r - 1, j, k], x_round[r], x_round[r - 1]
local = x_local[q.at(j, r - 1), k]
b = factor
left_107 = E(norm(q.stored_point[r, j, k] - new))
right_107 = (1 - Y / n) * E(norm(old - new)) + Y / n * E(norm(local - new))
moved = E(norm(new - last))
right_109 = ((1 - Y / n) * (1 + b) * E(norm(old - last)) + (1 - Y / n) * (1 / b) * moved
             + 2 * (Y / n) * E(norm(local - last)) + 2 * (Y / n) * moved)
right_110 = ((1 - Y / n) * (1 + b) * E(norm(old - last)) + (2 * Y / n + (1 - Y / n) / b) * H * K + 2 * (Y / n) * eta * K)
any_factor = (Variable("factor", "positive"),)
MISSING = "factor is the paper's b; printed without expectations on the right side"
eq_107 = step(id="fadamgc/eq-107", number="(106)-(107)", statement=at_each_but_first(left_107, "<=", right_107, *each),
              note="printed with s in place of the local model")
eq_109 = step(id="fadamgc/eq-109", number="(108)-(109)", variables=any_factor, note=MISSING,
              statement=at_each_but_first(right_107, "<=", right_109, *each))
eq_110 = step(id="fadamgc/eq-110", number="(110)", variables=any_factor, note=MISSING,
              statement=at_each_but_first(right_109, "==", right_110, *each))

eq_111 = step(
    id="fadamgc/eq-111", number="(111)", note="with b = Y / (2 (n - Y))",
    steps=("fadamgc/eq-107", "fadamgc/eq-109", "fadamgc/eq-110"),
    statement=at_each_but_first(
        left_107, "<=", (1 - Y / (2 * n)) * E(norm(old - last)) + 2 * (n / Y) * H * K + 2 * (Y / n) * eta * K, *each))

chosen_b = (Condition(Y, "<=", n - 1), Condition(b, "==", Y / (2 * (n - Y))))
fewer = {"variables": (Variable("clients", "integer", low=2), Variable("trackers", "integer")), "conditions": chosen_b}
eq_111_first = algebra_step(
    id="fadamgc/eq-111@first-coefficient", number="(110) to (111)", reading="the coefficient of the first term", **fewer,
    statement=Condition((1 - Y / n) * (1 + b), "<=", 1 - Y / (2 * n)))
eq_111_second = algebra_step(
    id="fadamgc/eq-111@second-coefficient", number="(110) to (111)", reading="the coefficient of the second term", **fewer,
    statement=Condition(2 * Y / n + (1 - Y / n) / b, "<=", 2 * n / Y))


def with_chosen_b(claim):
    """The reading in which b is what (111) chooses."""
    _, _, before = claim.id.partition("@")
    return claim.variant(
        f"{before}+chosen-b" if before else "chosen-b", f"{claim.reading}; b = Y / (2 (n - Y)), as (111) chooses it",
        variables=tuple(v for v in claim.variables if v.name != "factor"), conditions=(*claim.conditions, *chosen_b))


def tracked_readings(claim):
    """With moments of coordinates or of norms, and any number of trackers or all."""
    return (*readings(claim, all_tracked, with_norms, carried), all_tracked(with_norms(claim)))


CLAIMS = (
    *units, carried(unit), unit_norms, carried(unit_vhat), unit_vhat_norms, carried(unit_direction),
    *readings(unit_step, with_norms, carried, v_started),
    *readings(eq_83, pathwise_full, conditional, with_norms, carried), pathwise_full(with_norms(eq_83)),
    *free_vector(step, "eq-85", "(84)-(85)", q.direction[r, j, k]),
    eq_87,
    *chain(step, ("eq-89", "eq-90", "eq-91"), ("(88)-(89)", "(90)", "(91)"), m, ghat, q.direction[r, j, k],
           q.w_reset[r, j, k], q.w_norm[r, j, k], with_norms),
    *readings(eq_93, with_norms, carried),
    *tracked_readings(eq_94), *readings(eq_95, with_norms, carried), *tracked_readings(eq_96), *tracked_readings(eq_98),
    *tracked_readings(eq_101), eq_101_numbers,
    *tracked_readings(eq_107), *tracked_readings(eq_109), with_chosen_b(eq_109), with_chosen_b(with_norms(eq_109)),
    *tracked_readings(eq_110), at_most(eq_110), at_most(all_tracked(eq_110)), at_most(with_norms(eq_110)),
    with_chosen_b(at_most(with_norms(eq_110))),
    *tracked_readings(eq_111), eq_111_first, eq_111_second,
)
