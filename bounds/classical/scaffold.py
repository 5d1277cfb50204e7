"""SCAFFOLD (Karimireddy et al. 2020): identities of the method."""

from __future__ import annotations

import sympy as sp

from bounds.claim import Claim, Condition, Procedure, Variable
from bounds.definitions import DEFINITIONS
from bounds.language import (
    Sum,
    client_weight,
    clients,
    eta_l,
    k,
    local_steps,
    norm2,
    objective_grad,
    r,
    rounds,
    sigma_sq_client,
    x_round,
)

__all__ = ["CLAIMS"]

client_variate, server_variate = (sp.IndexedBase(name, real=True) for name in ("client_variate", "server_variate"))
eta_g = sp.Symbol("eta_g", positive=True)
ALL_CLIENTS = (k, 0, clients - 1)
SOURCE = "Karimireddy et al. 2020"
STEP = Variable("eta_g", "positive")


def _claim(name: str, number: str, statement: Condition, *conditions, sampling="full", variables=(STEP,)) -> Claim:
    return Claim(
        f"classical/{name}", number, "control", "run", statement, (), conditions, "as in the source", SOURCE,
        procedure=Procedure("scaffold", sampling=sampling, equal_weights=True), variables=variables, definitions=DEFINITIONS)


CLAIMS = (
    _claim("scaffold-mean-variate", "(5)", Condition(
        norm2(Sum(client_weight[k] * client_variate[r, k], ALL_CLIENTS) - server_variate[r]), "<=", 0, ((r, 0, rounds),)),
        sampling="without-replacement"),
    _claim("scaffold-one-step", "Section 4", Condition(
        norm2(x_round[r + 1] - x_round[r] + eta_g * eta_l[r] * objective_grad(x_round[r])), "<=", 0, ((r, 0, rounds - 1),)),
        Condition(sigma_sq_client[k], "<=", 0, (ALL_CLIENTS,)),
        variables=(STEP, Variable(local_steps.name, "integer", high=1))),
)
