"""Controls on methods other than FedAvg: identities and fixed points, each with false variants."""

import sympy as sp

from bounds.controls.fedavg import ALL_CLIENTS, Control, with_twins
from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.operators import (
    Sum,
    client_weight,
    eta_l,
    grad,
    k,
    local_steps,
    norm2,
    objective_grad,
    participants,
    r,
    rounds,
    sampled,
    sigma_sq_client,
    x_before,
    x_round,
    x_star,
)

__all__ = ["CONTROLS_ON_METHODS"]

ROUNDS, ALL_ROUNDS = (r, 0, rounds - 1), (r, 0, rounds)
client_variate, server_variate = (sp.IndexedBase(name, real=True) for name in ("client_variate", "server_variate"))
eta_g = sp.Symbol("eta_g", positive=True)
ANY_SERVER_STEP, ONE_STEP = Variable("eta_g", "positive"), Variable(local_steps.name, "integer", high=1)
NO_NOISE = Condition(sigma_sq_client[k], "<=", 0, (ALL_CLIENTS,))
ONE_OPTIMUM = Condition(norm2(grad(k, x_star)), "<=", 0, (ALL_CLIENTS,))
FROM_OPTIMUM = Condition(norm2(x_round[0] - x_star), "<=", 0)
PARTIAL = {"sampling": "without-replacement", "equal_weights": True}
SCAFFOLD = Procedure("scaffold", **PARTIAL)


def _stays(method: str, **procedure) -> Control:
    """A run from a common optimum of all clients, without noise, stays there."""
    conditions = {"one optimum": ONE_OPTIMUM, "from the optimum": FROM_OPTIMUM, "no noise": NO_NOISE}
    without = {f"any: {left_out}": {"conditions": tuple(c for name, c in conditions.items() if name != left_out)}
               for left_out in conditions}
    return with_twins(
        f"{method}-stays-at-the-optimum", "run", Condition(norm2(x_round[r] - x_star), "<=", 0, (ALL_ROUNDS,)), without,
        assumptions=(), conditions=tuple(conditions.values()), procedure=Procedure(method, **PARTIAL | procedure))


moved = x_round[r + 1] - x_round[r]
mean_variate = Sum(client_weight[k] * client_variate[r, k], ALL_CLIENTS)
changes = Sum(sampled[r, k] * (x_before[(r + 1) * local_steps, k] - x_round[r]), ALL_CLIENTS)


def _one_step(method: str, relation_to_gradient, **options) -> Control:
    """One local step of all clients is a step along the objective's gradient, of the given length."""
    return with_twins(
        f"{method}-one-step", "run",
        lambda f: Condition(norm2(moved + relation_to_gradient * objective_grad(x_round[r]) / f), "<=", 0, (ROUNDS,)),
        {"any: steps": {"variables": options.get("variables", ())}, "any: noise": {"conditions": ()}},
        assumptions=(), conditions=(NO_NOISE,), procedure=Procedure(method, equal_weights=True),
        variables=(*options.get("variables", ()), ONE_STEP))


CONTROLS_ON_METHODS = [
    with_twins(
        "scaffold-mean-variate", "run",
        lambda f: Condition(norm2(mean_variate - server_variate[r] / f), "<=", 0, (ALL_ROUNDS,)),
        {"one round late": Condition(norm2(mean_variate - server_variate[r - 1]), "<=", 0, ((r, 1, rounds),))},
        assumptions=(), procedure=SCAFFOLD, variables=(ANY_SERVER_STEP,)),
    with_twins(
        "scaffold-server-step", "run",
        lambda f: Condition(norm2(moved - eta_g * changes / (participants * f)), "<=", 0, (ROUNDS,)),
        {"divided by all": Condition(norm2(moved - eta_g * Sum(client_weight[k], ALL_CLIENTS) * Sum(
            client_weight[k] * sampled[r, k] * (x_before[(r + 1) * local_steps, k] - x_round[r]), ALL_CLIENTS)),
            "<=", 0, (ROUNDS,)),
         "no server step": Condition(norm2(moved - changes / participants), "<=", 0, (ROUNDS,))},
        assumptions=(), procedure=SCAFFOLD, variables=(ANY_SERVER_STEP,)),
    _one_step("scaffold", eta_g * eta_l[r], variables=(ANY_SERVER_STEP,)),
    _one_step("fedprox", eta_l[r], variables=(Variable("rho_prox", "positive"),)),
    *(_stays(method) for method in ("fedprox", "scaffold", "fedavgm", "feddyn", "afedpd", "fedcm", "fedacg")),
]
