"""Hypotheses that exclude one ingredient of a counterexample: chance, drift, sampling, different clients."""

from collections.abc import Iterator
from dataclasses import replace

from bounds.language.claim import BY_NUMBER, Claim, Condition
from bounds.language.names import symbol
from bounds.language.operators import grad, norm2, x_round, x_star

__all__ = ["ONLY_ONE", "ingredients"]

#: words of those that leave one of a size
ONLY_ONE = frozenset({"with one local step", "with one client", "in one round"})


def ingredients(claim: Claim) -> Iterator[tuple[str, Claim]]:
    """Yield the hypotheses that exclude one ingredient of a run, in words, and the claim under them; those that the claim
    has already are left out."""
    if claim.setting != "run":
        return
    k, clients = symbol("k"), symbol("clients")
    each = ((k, 0, clients - 1),)
    procedure = claim.procedure
    for words, condition in (
            ("without noise", Condition(symbol("sigma_sq_client")[k], "<=", 0, each)),
            ("with one local step", Condition(symbol("local_steps"), "<=", 1)),
            ("with one client", Condition(clients, "<=", 1)),
            ("in one round", Condition(symbol("rounds"), "<=", 1)),
            ("on convex losses", Condition(symbol("mu_client")[k], ">=", 0, each)),
            ("if every client has the objective's minimiser", Condition(norm2(grad(k, x_star)), "<=", 0, each)),
            ("from the optimum", Condition(norm2(x_round[0] - x_star), "<=", 0)),
            ("with equal weights", Condition(clients * symbol("client_weight")[k], "==", 1, each))):
        if condition not in claim.hypotheses:
            yield words, replace(claim, conditions=(*claim.conditions, condition))
    if procedure and procedure.free_clients:
        yield "without free clients", replace(claim, procedure=replace(procedure, free_clients=False))
    if procedure and procedure.sampling in BY_NUMBER:
        yield "if all clients take part", replace(claim, conditions=(
            *claim.conditions, Condition(symbol("participants") - clients, ">=", 0)))
