"""The hypotheses that a claim makes without a condition: domains and bounds of its variables, signs of its symbols, and what
its procedure says about clients, weights and participation."""

from collections.abc import Iterator

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition, parts_of_size
from verify.claims.hypotheses import given_numbers, sign_of_steps
from verify.claims.needs import always_available
from verify.claims.sizes import once_by_claim

__all__ = ["CLIENTS", "all_hypotheses", "client_conditions", "domain_conditions", "sign_conditions", "signs_of",
           "step_conditions"]

CLIENTS = (operators.k, 0, operators.clients - 1)  #: the range of an index over all clients


@once_by_claim
def all_hypotheses(claim: Claim) -> tuple[Condition, ...]:
    """Every condition that an instance of the claim meets: the written hypotheses first, then the implicit ones."""
    return (*claim.hypotheses, *domain_conditions(claim), *sign_conditions(claim), *step_conditions(claim),
            *client_conditions(claim))


@once_by_claim
def domain_conditions(claim: Claim) -> tuple[Condition, ...]:
    """The domains and the bounds of the claim's variables."""
    return tuple(_domain_conditions(claim))


def _domain_conditions(claim: Claim) -> Iterator[Condition]:
    for variable in claim.variables:
        indices = tuple(sp.Symbol(index, integer=True) for index, _ in variable.indices)
        over = tuple((i, 0, sp.Symbol(parts_of_size(size)[0], integer=True) + parts_of_size(size)[1] - 1)
                     for i, (_, size) in zip(indices, variable.indices, strict=True))
        entry = sp.IndexedBase(variable.name)[indices] if indices else sp.Symbol(variable.name)
        if variable.domain == "positive":
            yield _positive(entry, over)
        elif variable.domain in ("nonnegative", "simplex"):
            yield Condition(entry, ">=", 0, over)
        elif variable.domain == "binary":
            yield Condition(entry * (1 - entry), "==", 0, over)
        if variable.below is not None:
            yield _positive(variable.below - entry)
        if variable.domain == "simplex":
            yield Condition(sp.Sum(entry, over[-1]), "==", 1, over[:-1])
        if variable.domain == "integer":
            yield Condition(entry, ">=", variable.low, over)
            yield Condition(sp.Mod(entry, 1), "==", 0, over)
            if variable.high is not None:
                yield Condition(entry, "<=", variable.high, over)
    if claim.setting == "point":
        one = operators.included[0, operators.k]
        yield Condition(one * (1 - one), "==", 0, (CLIENTS,))
        yield Condition(one, ">=", operators.priority[operators.k], (CLIENTS,))


@once_by_claim
def sign_conditions(claim: Claim) -> tuple[Condition, ...]:
    """The signs that the claim's symbols imply for constants."""
    return signs_of(claim, set().union(*(e.free_symbols for e in claim.formulas)))


def signs_of(claim: Claim, symbols: set[sp.Symbol]) -> tuple[Condition, ...]:
    """The signs of these symbols of a claim."""
    declared = {v.name for v in claim.variables} | (set() if claim.exists is None else {claim.exists.name})
    numbers = (s for s in symbols - given_numbers(claim.hypotheses) if s.is_Symbol and s.is_nonnegative)
    return tuple(_positive(s) if s.is_positive else Condition(sp.Symbol(s.name), ">=", 0)
                 for s in sorted(numbers, key=str) if not s.is_integer and s.name not in declared)


@once_by_claim
def step_conditions(claim: Claim) -> tuple[Condition, ...]:
    """The signs of steps and thresholds."""
    if claim.setting == "run":
        every_time = ((operators.t, 0, operators.iterations - 1),)
        return (Condition(operators.eta_l[operators.t], sign_of_steps(claim), 0, every_time),
                Condition(operators.epsilon[operators.t], ">=", 0, ((operators.t, 0, operators.iterations),)))
    return (_positive(operators.eta_l[0]),) if claim.setting == "point" and "eta_l" in claim.names else ()


def _positive(entry, over=()) -> Condition:
    plain = sp.Symbol(entry.name) if entry.is_Symbol else entry  # lest sympy decides it from the symbol's own sign
    return Condition(plain, ">", 0, over)


@once_by_claim
def client_conditions(claim: Claim) -> tuple[Condition, ...]:
    """The procedure's conditions on free clients, weights and availability."""
    return () if claim.setting == "algebra" else tuple(_client_conditions(claim))


def _client_conditions(claim: Claim) -> Iterator[Condition]:
    if claim.procedure is not None and not claim.procedure.free_clients:
        yield Condition(operators.priority[operators.k], "==", 1, (CLIENTS,))
    if claim.procedure is not None and claim.procedure.equal_weights:
        equal = operators.client_weight[0] if claim.procedure.free_clients else 1 / operators.clients
        yield Condition(operators.client_weight[operators.k], "==", equal, (CLIENTS,))
    if claim.setting == "run" and always_available(claim):
        there = sp.IndexedBase("available")[operators.i, operators.k]
        yield Condition(there, "==", 1, ((operators.i, 0, sp.Symbol("rounds", integer=True)), CLIENTS))
