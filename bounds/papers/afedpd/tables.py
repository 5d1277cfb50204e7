"""Tables 7 and 9 of A-FedPD: orders of rates, with the constants of O(.) hidden."""

from dataclasses import replace

import sympy as sp

from bounds.formulas.comparisons import comparison, right_side
from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.definitions import define
from bounds.language.samples import samples
from bounds.language.words import (
    E,
    F_star,
    L,
    Sum,
    clients,
    eta_l,
    grad,
    k,
    local_steps,
    norm2,
    objective,
    participants,
    r,
    rounds,
    t,
    x_before,
    x_round,
)
from bounds.papers.afedpd.assumptions import A1, A2, OPTIMISATION, A1_sample, A_sampling
from bounds.papers.afedpd.generalisation import GENERAL, multiplier
from bounds.papers.afedpd.generalisation import RATES as THEOREM_2
from bounds.papers.afedpd.optimisation import C, hidden
from bounds.papers.afedpd.quantities import R0, average_gradient_sq, f1_gap, generalisation_gap, mean_over_sampled, trained
from bounds.papers.afedpd.setting import (
    AFEDPD,
    all_rounds,
    any_rho,
    client_counts,
    each_client,
    each_step,
    eps_inexact,
    eta_0,
    few_clients,
    mu_lr,
    numbers,
    rho_prox,
    run_claim,
    step,
    varied,
)
from bounds.papers.afedpd.words import client_dual, server_x_bar

__all__ = ["CLAIMS"]

CONSTANT = "C is the constant of O(.), of the terms together"

# Table 7, optimisation -----------------------------------------------------------------------------------------------
#: D, which the paper does not define: the initial gap of Theorem 1, or at another model
average_gap = define(
    "average_gap", [], E(objective(mean_over_sampled(x_before[local_steps, k], 0))) - F_star, "D", "loss",
    "expected gap of the first average of the active local models", "Table 7, D as in Theorem 1")
sent_gap = define(
    "sent_gap", [], E(objective(x_round[1])) - F_star, "D", "loss", "expected gap of the model sent after the first round",
    "Table 7")
start_gap = define(
    "start_gap", [], objective(x_round[0]) - F_star, "D", "loss", "gap at the start", "Table 7")
own_error = grad(k, trained) + client_dual[r, k] + rho_prox * (trained - x_round[r])

client_error_sq = define(
    "client_error_sq", [r, k], E(norm2(own_error)), r"\epsilon_{k,r}", "(loss/parameter)^2",
    "mean squared gradient of client k's augmented Lagrangian after its training of round r", "Table 7",
)

largest_error = Condition(norm2(own_error), "<=", eps_inexact, (all_rounds, each_client))
mean_error = Sum(client_error_sq[r, k], all_rounds, each_client) / (clients * rounds)


def sizes_of(rate):
    """The limits of an order: every size of which it speaks grows, but participants, of which clients set an end."""
    return tuple((s, sp.oo) for s in (rounds, local_steps, clients, samples) if rate.has(s))


def optimisation(row, method, right, sampling="without-replacement", conditions=(), options=(),
                 assumptions=(A1, A_sampling), **more):
    """A row, ``right`` by D, in all readings of D: mean squared gradient norm at the models that are sent."""
    own = method == "afedpd"
    procedure = AFEDPD if own else Procedure(method, sampling=sampling, options=options, equal_weights=True)
    left = average_gradient_sq(server_x_bar if own else x_round)
    one_step = (Variable("local_steps", "integer", low=1, high=1),) if options else ()
    first = f1_gap if own else average_gap

    def with_gap(gap):
        return {"statement": Condition(left, "<=", C * right(gap)), "note": f"{CONSTANT}; D {MEANT[gap]}"}

    base = run_claim(
        id=f"afedpd/table-7-{row}", number=f"Table 7, row {row}", kind="table entry", explicit=False, procedure=procedure,
        reading="mean squared gradient norm after the rounds 1 .. T", assumptions=assumptions, conditions=conditions,
        variables=(any_rho, *one_step, hidden), limits=sizes_of(right(first)), **with_gap(first), **more,
    )
    others = {} if own else {"sent": sent_gap}
    return varied(base, {name: (f"D {MEANT[gap]}", with_gap(gap)) for name, gap in {**others, "start": start_gap}.items()})


MEANT = {
    f1_gap: "is the initial gap of Theorem 1", average_gap: "is the gap of the first average, as in Theorem 1",
    sent_gap: "is the gap of the model that is sent after the first round",
    start_gap: "is the gap at the start, the bias of initialisation of which the text speaks",
}

over_P = clients / (participants * rounds)
fedadmm = optimisation("fedadmm", "fedadmm", lambda D: over_P * D + mean_error)

text = varied(fedadmm[0], {
    "text": ("the text's factor: C D in place of C D / P", {
        "number": "B.2.2, Discussions of the optimization errors",
        "statement": Condition(average_gradient_sq(x_round), "<=", C * (clients * average_gap / rounds + mean_error))}),
})[1:]

D = sp.Symbol("D", positive=True)

table_7 = (
    *optimisation("fedpd", "fedpd", lambda D: D / rounds + eps_inexact, "full", (largest_error,)), *fedadmm, *text,
    *optimisation("feddyn", "feddyn", lambda D: over_P * D + R0 / rounds, options=(("solver", "exact"),)),
    *optimisation("afedpd", "afedpd", lambda D: D / rounds + R0 / rounds + eps_inexact, assumptions=OPTIMISATION),
)

c_over_p = step(
    id="afedpd/text-c-over-p", number="B.2.2, Discussions of the optimization errors",
    reading="the D terms of FedDyn's and A-FedPD's rows of Table 7",
    variables=(*numbers("positive", "D"), *client_counts, Variable("rounds", "integer")), conditions=(few_clients,),
    statement=Condition(clients * D / (participants * rounds), "==", clients / participants * (D / rounds)),
    note="orders only; the text adds: when rho is selected properly",
)

# Table 9, generalisation ---------------------------------------------------------------------------------------------
power = mu_lr * L / (1 + mu_lr * L)
everything = clients * samples
SAMPLED = Procedure(sampling="without-replacement", equal_weights=True)
EVERYBODY = Procedure(equal_weights=True)
lipschitz = (A1_sample, A2, A_sampling)
one_client = Condition(clients, "==", 1)

#: the relation of mu to the steps in the works that the rows cite: at most mu / t at the t-th local step
falling = (Condition(eta_l[t], "==", eta_0 / (t + 1), (each_step,)), Condition(eta_0, "<=", mu_lr))
FALLING = "the local step t is eta_0/t, eta_0 at most mu, as in the work cited"


def generalisation(row, right, reading, procedure=SAMPLED, assumptions=lipschitz, variables=(), **more):
    """A row of the table."""
    return run_claim(
        id=f"afedpd/table-9-{row}", number=f"Table 9, row {row}", kind="table entry", explicit=False, reading=reading,
        procedure=procedure, assumptions=assumptions, statement=Condition(generalisation_gap, "<=", C * right),
        variables=(*variables, hidden), limits=sizes_of(right), note=CONSTANT, **more)


def any_step(reading):
    """Without a relation of mu to the steps."""
    return {"any-step": (reading, lambda claim: replace(
        claim, conditions=tuple(c for c in claim.conditions if c in (one_client,)),
        variables=(*(any_rho for v in claim.variables if v == any_rho), *numbers("positive", "mu_lr"), hidden)))}


with_mu = numbers("positive", "eta_0", "mu_lr")
step_rate = (local_steps * rounds) ** power / everything
sgd = generalisation(
    "sgd", step_rate, f"SGD on all C S samples, which one client has; K T steps; {FALLING}", EVERYBODY, variables=with_mu,
    conditions=(one_client, *falling))
sgd = replace(sgd, limits=tuple(pair for pair in sgd.limits if pair[0] != clients))

fedavg = generalisation(
    "fedavg", (participants * local_steps * rounds) ** power / everything, f"FedAvg; {FALLING}", variables=with_mu,
    conditions=falling)

own = generalisation(
    "afedpd", (participants * rounds) ** power / everything,
    "A-FedPD; steps and mu as in Theorem 2, gamma from the first round's step", AFEDPD, assumptions=GENERAL,
    variables=THEOREM_2, conditions=multiplier(eta_0))

linear = rounds * local_steps / sp.sqrt(everything)

table_9 = (
    *varied(sgd, {
        **any_step("SGD on all C S samples, which one client has; K T steps of any size"),
        "fedavg": (f"SGD on all samples, run as FedAvg with everybody; {FALLING}", {
            "conditions": falling, "limits": sizes_of(step_rate)}),
    }),
    generalisation("mohri", linear, "run here as FedAvg; VC dimension hidden"),
    generalisation("hu", linear, "run here as FedAvg; Bernstein's condition not written out"),
    generalisation("wu", sp.sqrt(rounds) / (clients * sp.sqrt(everything)), "run here as FedAvg"),
    *varied(fedavg, any_step("FedAvg; steps of any size")),
    *varied(own, any_step("A-FedPD; steps of any size") | {
        "gamma-last": ("A-FedPD; steps and mu as in Theorem 2, gamma from the last round's step", {
            "conditions": multiplier(eta_0 / rounds)})}),
)

against_fedavg = comparison(
    "afedpd/remark-2.1-rate@against-fedavg", right_side(own), right_side(fedavg), number="Remark 2.1, Table 9",
)
CLAIMS = (*table_7, c_over_p, *table_9, against_fedavg)
