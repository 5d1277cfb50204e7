"""Constants of a federation over all of R^dim that claims may name: how far clients lie apart, how smooth F is."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import sympy as sp

from bounds.claim import Claim
from synthetic.arrays import largest, namespace
from synthetic.quadratic import Quadratic
from synthetic.turned import as_given
from verify.bindings import UnboundName
from verify.roots import square_root
from verify.sizes import names_of

__all__ = ["bind_over_space", "known_constant", "needs_equal_curvatures"]

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


def _needed(claim: Claim) -> set[str]:
    return {*HETEROGENEITY, "L_objective"} & (names_of(claim) - _bound_by(tuple(claim.hypotheses)) | {"L_objective"})


def needs_equal_curvatures(claim: Claim) -> bool:
    """Whether the claim assumes that the clients' gradients differ by at most so much on all of R^dim, as quadratics do
    only where all have one Hessian."""
    return claim.setting != "algebra" and bool(_needed(claim) & set(HETEROGENEITY))


def bind_over_space(federation, claim: Claim, put):
    """Bind the constants that the claim needs by ``put(name, data, indices)``.

    Returns which instances have an infinite one among them, (instances,), None if none has: no hypothesis admits these.

    Raises:
        ArithmeticError: an infinite constant in exact arithmetic.
    """
    names = _needed(claim) & names_of(claim)
    if not names:
        return None
    federation = as_given(federation)  # turning changes none of them
    if not isinstance(federation, Quadratic) or not federation.diagonal:
        for name in names:
            known = HETEROGENEITY.get(name, name)
            if known in federation.constants:
                put(name, federation.constants.value(known), int(name == "sigma_g_client"))
        return None
    xp, weights = namespace(federation.weights), federation.weights * federation.priority
    mean = xp.sum(weights[..., None] * federation.curvature, axis=1)
    if "L_objective" in names:
        put("L_objective", largest(mean, -1))
    if not names & set(HETEROGENEITY):
        return None
    norm_sq = xp.sum(federation.gradient(federation.all_clients(federation.x_star)) ** 2, axis=-1)
    apart = federation.curvature != federation.curvature[:, :1]
    infinite = xp.any(xp.any(apart, axis=-1), axis=-1)
    if bool(xp.any(infinite)):
        if norm_sq.dtype == object:
            raise ArithmeticError("the clients' gradients differ by any amount, since their Hessians do")
        norm_sq = xp.where(infinite[:, None], float("inf"), norm_sq)
    values = {
        "sigma_g_1": lambda: xp.sum(weights * square_root(norm_sq), axis=-1),
        "sigma_g_2": lambda: square_root(xp.sum(weights * norm_sq, axis=-1)),
        "sigma_g_max": lambda: square_root(largest(xp.where(federation.priority, norm_sq, 0 * norm_sq), -1)),
        "sigma_g_client": lambda: square_root(norm_sq),
    }
    with np.errstate(invalid="ignore"):  # a free client's weight is zero
        for name in sorted(names & set(HETEROGENEITY)):
            put(name, values[HETEROGENEITY[name]](), int(name == "sigma_g_client"))
    return infinite


def known_constant(constants, name: str):
    """The federation's constant of that name. Raises UnboundName if it has none, as clients without a minimum have none."""
    if name not in constants:
        raise UnboundName(f"nothing supplies {name!r}: these clients have none")
    return constants.value(name)
