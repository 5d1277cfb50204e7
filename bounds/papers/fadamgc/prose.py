"""Statements of Sections 4.1 and 4.2 and Appendix C without a theorem's number."""

import sympy as sp

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.coordinates import root, scaled, square
from bounds.language.words import (
    Sum,
    clients,
    grad,
    j,
    k,
    local_steps,
    norm2,
    objective_grad,
    participants,
    r,
    rounds,
    sigma_sq_client,
    x_before,
    x_round,
    x_star,
)
from bounds.papers.fadamgc import quantities as q
from bounds.papers.fadamgc.builders import ANY_MOMENTS, FA_NT, algebra_step, run_claim
from bounds.papers.fadamgc.words import beta1, beta2, eps, eta, eta_g, z_x_round

__all__ = ["CLAIMS"]

own, whole = grad(k, x_star), objective_grad(x_star)


def adam_step(numerator, squared):
    """``eta (1 - beta1) numerator / (sqrt((1 - beta2) squared^2) + eps)``: a step from m* = v* = 0."""
    return eta * scaled((1 - beta1) * numerator, root((1 - beta2) * square(squared)), eps)


hyper = (Variable("eta", "positive"), Variable("beta1", "nonnegative", below=1), Variable("beta2", "nonnegative", below=1),
         Variable("eps", "positive"))
decays = (Condition(beta1, "<", 1), Condition(beta2, "<", 1))

eq_4 = Claim(
    id="fadamgc/eq-4", number="(4)", kind="prose", setting="point", source="fadamgc", variables=hyper, conditions=decays,
    definitions=q.DEFINITIONS, procedure=Procedure(equal_weights=True), reading="m* = v* = 0",
    statement=Condition(norm2(adam_step(own + whole - own, own)), "==", 0, (q.every_client,)),
    note="the step from the minimiser of the objective, where its gradient is zero, by every client",
)

still = Condition(Sum(sigma_sq_client[k], q.every_client), "<=", 0)
start = Condition(norm2(x_round[0] - x_star), "<=", 0)

adam = run_claim(
    Procedure("local-adam", equal_weights=True), ANY_MOMENTS, id="fadamgc/sec-4.1-adam", number="Section 4.1", kind="prose",
    reading="the first local step from the minimiser, without noise, from m* = v* = 0", conditions=(start, still), subset=(),
    statement=Condition(norm2(x_before[1, k] - x_star + adam_step(own, own)), "==", 0, (q.every_client,)),
    note="that the step is in general not zero is no statement about one federation",
)

# SCAFFOLD with SGD steps ---------------------------------------------------------------------------------------------
step_gradient, own_control, control, model = (
    sp.IndexedBase("step_gradient"), *(sp.Symbol(name, real=True) for name in ("own_control", "control", "model")))
mean_gradient = Sum(step_gradient[j], q.each_step) / local_steps
sgd_step = sp.Symbol("sgd_step", positive=True)


def refreshed(sign):
    """``y_i^+`` by the model's difference, when the local steps follow ``g + sign (y_i - y)``."""
    end = model - sgd_step * Sum(step_gradient[j] + sign * (own_control - control), q.each_step)
    return own_control - control + (model - end) / (sgd_step * local_steps)


vectors = (Variable("step_gradient", "vector", (("j", "local_steps"),)), *(
    Variable(name, "vector") for name in ("own_control", "control", "model")))

sgd = algebra_step(
    id="fadamgc/sec-4.1-sgd", number="Section 4.1, with (3)", reading="local steps with the sign that (3) prints",
    variables=(Variable("sgd_step", "positive"), Variable("local_steps", "integer"), *vectors),
    statement=Condition(norm2(refreshed(1) - mean_gradient), "==", 0),
    note="y_i is renewed by the model's difference, whose last model is that after all local steps",
)

sgd_standard = sgd.variant("standard", "local steps with the usual sign, as in Section 4.1 and Algorithms 1 and 2",
                           statement=Condition(norm2(refreshed(-1) - mean_gradient), "==", 0))

# the z-form ----------------------------------------------------------------------------------------------------------
all_take_part = Procedure(FA_NT.base, equal_weights=True)

z_form = run_claim(
    all_take_part, ANY_MOMENTS, id="fadamgc/eq-113-114", number="(113)-(114)", kind="prose",
    reading="whole runs from z_i = y - y_i, all clients take part", subset=(),
    statement=Condition(norm2(z_x_round[r] - x_round[r]), "==", 0, ((r, 0, rounds),)),
)

own_y, local_end = sp.IndexedBase("own_controls"), sp.IndexedBase("local_end")
mean_y = Sum(own_y[k], q.every_client) / clients
mean_end = Sum(local_end[k], q.every_client) / clients


def next_own(end, before):
    """y_i after a round from z_i = y - y_i, by the rule of Algorithm 2."""
    return before - mean_y + (model - end) / (local_steps * eta)


next_model = model + eta_g * (mean_end - model)
next_mean = Sum(next_own(local_end[k], own_y[k]), q.every_client) / clients
next_z = (mean_y - own_y[k]) + (local_end[k] - next_model) / (local_steps * eta_g * eta)

z_round = algebra_step(
    id="fadamgc/eq-113-114@one-round", number="(114)", reading="one round: z_i = y - y_i is kept, whatever the local models",
    variables=(
        Variable("eta", "positive"), Variable("eta_g", "positive"), Variable("local_steps", "integer"),
        Variable("clients", "integer"), Variable("own_controls", "vector", (("k", "clients"),)),
        Variable("local_end", "vector", (("k", "clients"),)), Variable("model", "vector")),
    statement=Condition(norm2(next_z - (next_mean - next_own(local_end[k], own_y[k]))), "==", 0, (q.every_client,)),
)

# communication -------------------------------------------------------------------------------------------------------
z_cost, fedavg_cost, scaffold_cost = 2 * participants, 2 * participants, 4 * participants

cost = algebra_step(
    id="fadamgc/app-C-communication", number="App. C", reading="the same as FedAvg's",
    variables=(Variable("participants", "integer"), Variable("clients", "integer")),
    statement=Condition(z_cost / clients, "==", fedavg_cost / clients), note="models sent a round, down and up, by client",
)

half = cost.variant("scaffold", "half of SCAFFOLD's",
                    statement=Condition(z_cost / clients, "==", scaffold_cost / clients / 2))
CLAIMS = (eq_4, adam, sgd, sgd_standard, z_form, z_round, cost, half)
