"""What a claim asks of the clients: samples, convexity, Lipschitz losses, one Hessian, constants over all of R^dim."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

import sympy as sp

from bounds.language import words
from bounds.language.claim import Claim, Condition, names_in
from bounds.language.functions import f_grad
from bounds.papers.afedpd import words as afedpd
from bounds.papers.fedmoswa import words as fedmoswa
from verify.claims.sizes import names_of, once_by_claim

__all__ = [
    "HETEROGENEITY",
    "OVER_SPACE",
    "Needs",
    "always_available",
    "expressions_of",
    "needed",
    "needs",
    "needs_convex",
    "needs_equal_curvatures",
    "needs_lipschitz",
    "speaks_of_samples",
    "uses_gradients",
]


def always_available(claim: Claim) -> bool:
    """Whether the claim is about free clients that never stay away."""
    return claim.procedure is None or claim.procedure.free == "always"


_NAMES = {"samples", "differing", "replaced", "used_sample", "H_loss"}

_WORDS = (
    afedpd.E_data, afedpd.E_unused, afedpd.F_pop, afedpd.worst_mean_gap, afedpd.worst_mean_signed_gap, fedmoswa.E_client,
    fedmoswa.E_data, fedmoswa.F_pop, fedmoswa.loss_grad, fedmoswa.worst_mean_gap, fedmoswa.worst_pair_gap,
)


# what a claim is about -----------------------------------------------------------------------------------------------
def expressions_of(claim: Claim) -> tuple:
    """Both sides of the statement and of all hypotheses, and the formulas on which they rest."""
    conditions = (*claim.hypotheses, *([claim.statement] if claim.statement else []))
    return (*(e for c in conditions for e in (c.left, c.right)), *(d.formula for d in claim.used_definitions().values()))


@once_by_claim
def speaks_of_samples(claim: Claim) -> bool:
    """Whether a claim about runs speaks of the samples of clients, or of runs on neighbouring data sets."""
    if claim.setting != "run" or claim.statement is None:
        return False
    names = names_of(claim)
    return bool(names & _NAMES) or any(n.startswith("twin_") for n in names) or any(
        e.has(*_WORDS) for e in expressions_of(claim))


@once_by_claim
def uses_gradients(claim: Claim) -> bool:
    """Whether a claim speaks of the gradients of the clients' losses."""
    return any(e.has(words.grad, words.objective_grad) for e in expressions_of(claim))


def needs_lipschitz(claim: Claim) -> bool:
    """Whether the loss of every sample must be Lipschitz on all of R^dim."""
    return any(a.everywhere is not None and sp.sympify(a.everywhere.left).has(f_grad) for a in claim.assumptions)


def needs_convex(claim: Claim) -> bool:
    return "mu_client" in names_of(claim)


#: constants over all points that claims may name -> number of indices
OVER_SPACE = {"F_inf": 0, "L_objective": 0, "G_lip": 0, "sigma_g_1": 0, "sigma_g_2": 0, "sigma_g_max": 0,
              "G_lip_client": 1, "sigma_g_client": 1}

#: constants that bound something over all of R^dim, and what they ask of the clients
_LIPSCHITZ = ("G_lip", "G_lip_client", "H_loss")
_ALIKE = ("sigma_g", "sigma_g_1", "sigma_g_2", "sigma_g_max", "sigma_g_client")


class Needs(NamedTuple):
    """What a claim's hypotheses ask of clients: Lipschitz losses, gradients within a distance of each other, convexity."""

    lipschitz: bool
    alike: bool
    convex: bool


@once_by_claim
def needs(claim: Claim) -> Needs:
    """What the claim's words ask of the clients, by the constants that its formulas name and no hypothesis defines."""
    statement = (claim.statement,) if claim.statement else ()
    formulas = tuple(d.formula for d in claim.used_definitions().values())
    names = _names((*claim.hypotheses, *statement), formulas)
    everywhere = names - set(claim.constants)
    return Needs(bool(everywhere & {*_LIPSCHITZ}), bool(everywhere & {*_ALIKE}), "mu_client" in names)


@cache
def _names(conditions: tuple[Condition, ...], formulas: tuple) -> frozenset[str]:
    sides = [side for c in conditions for side in (c.left, c.right)]
    return frozenset().union(*map(names_in, (*sides, *formulas)))


#: names in claims -> the federation's constant: suprema over R^dim of moments of |grad F_k - grad F| over the clients
HETEROGENEITY = {
    "sigma_g": "sigma_g_1", "sigma_g_1": "sigma_g_1", "sigma_g_2": "sigma_g_2", "sigma_g_max": "sigma_g_max",
    "sigma_g_client": "sigma_g_client",
}


@lru_cache(maxsize=512)
def _bound_by(hypotheses: tuple) -> frozenset[str]:
    """Names to which conditions give a value: those that stand alone on a side."""
    found = set()
    for condition in hypotheses:
        for side in (condition.left, condition.right):
            if side.is_Symbol:
                found.add(side.name)
        if isinstance(condition.left, sp.Indexed) and condition.relation == "==":
            found.add(str(condition.left.base.label))
    return frozenset(found)


def needed(claim: Claim) -> set[str]:
    return {*HETEROGENEITY, "L_objective"} & (names_of(claim) - _bound_by(tuple(claim.hypotheses)) | {"L_objective"})


def needs_equal_curvatures(claim: Claim) -> bool:
    """Whether the claim assumes that the clients' gradients differ by at most so much on all of R^dim, as quadratics do
    only where all have one Hessian."""
    return claim.setting != "algebra" and bool(needed(claim) & set(HETEROGENEITY))
