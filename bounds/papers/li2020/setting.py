"""What the statements of Li et al. 2020 share: FedAvg without free clients, its assumptions and sampling schemes."""

from functools import partial

from bounds.language.claim import Claim, Condition, Procedure
from bounds.language.definitions import DEFINITIONS, Gamma, define, every_client
from bounds.language.words import (
    G_sq,
    L,
    Sum,
    client_weight,
    clients,
    eta_l,
    iterations,
    k,
    local_steps,
    participants,
    sigma_sq_client,
    t,
)
from bounds.papers.fedalign.assumptions import (
    G_weighted,
    all_clients,
    divisible,
    independent_noise,
    nonanticipating,
    smooth,
    strongly_convex,
)
from bounds.papers.fedalign.conditions import non_increasing_step

__all__ = [
    "ASSUMPTIONS_1_TO_4", "FULL", "SCHEME_1", "SCHEME_2", "base_noise", "equal_weights", "halving_steps", "li_claim",
    "participants_noise", "two_clients", "variance_sum",
]

FULL = Procedure()
SCHEME_1 = Procedure(sampling="with-replacement")
SCHEME_2 = Procedure(sampling="li2020-scheme-2")
li_claim = partial(Claim, setting="run", source="li2020", procedure=FULL, definitions=DEFINITIONS)

#: the variances of the clients enter the formulas themselves (Assumption 3 with sigma_k)
ASSUMPTIONS_1_TO_4 = (smooth, strongly_convex, G_weighted, independent_noise, nonanticipating, divisible)
variance_sum = Sum(client_weight[k] ** 2 * sigma_sq_client[k], every_client)

base_noise = define(
    "base_noise", [], variance_sum + 6 * L * Gamma + 8 * (local_steps - 1) ** 2 * G_sq, "B", "(loss/parameter)^2",
    "noise, heterogeneity and drift of FedAvg", "Li et al. 2020, Theorem 1",
)

#: scheme II is stated for equal weights
equal_weights = Condition(client_weight[k], "==", 1 / clients, (all_clients,))
two_clients = Condition(clients, ">=", 2)

#: steps that do not increase and at most halve over a round; the last condition lets the schedule go on after the run
halving_steps = (
    non_increasing_step,
    Condition(eta_l[t], "<=", 2 * eta_l[t + local_steps], ((t, 0, iterations - local_steps - 1),)),
    Condition(eta_l[iterations - local_steps], "<=", 2 * eta_l[iterations - 1]),
)

#: C of Theorems 2 and 3: what sampling adds to ``base_noise``
participants_noise = {
    SCHEME_1: define(
        "scheme_1_noise", [], 4 / participants * local_steps**2 * G_sq, "C", "(loss/parameter)^2",
        "noise of sampling with replacement", "Li et al. 2020, Theorem 2",
    ),
    SCHEME_2: define(
        "scheme_2_noise", [],
        (clients - participants) / (clients - 1) * (4 / participants * local_steps**2 * G_sq), "C",
        "(loss/parameter)^2", "noise of sampling without replacement", "Li et al. 2020, Theorem 3",
    ),
}
