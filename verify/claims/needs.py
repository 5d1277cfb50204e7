"""Requirements of a claim on the clients: samples, convexity, Lipschitz losses, one Hessian, constants over all of R^dim."""

from collections.abc import Iterator
from typing import NamedTuple

import sympy as sp

from bounds.language import coordinates, operators
from bounds.language.claim import Claim, names_in
from bounds.language.functions import f_grad
from bounds.language.on_samples import speaks_of_samples
from bounds.language.space import infimum, points_of
from verify.claims.sizes import once_by_claim

__all__ = ["HETEROGENEITY", "OVER_SPACE", "Needs", "always_available", "determined", "needs", "needs_convex",
           "needs_equal_curvatures", "needs_lipschitz", "needs_one_basis", "speaks_of_pairs", "speaks_of_samples",
           "supplied_constants", "uses_coordinates", "uses_gradients"]

#: constants over all points that claims may name -> number of indices
OVER_SPACE = {"F_inf": 0, "L_objective": 0, "G_lip": 0, "sigma_g_1": 0, "sigma_g_2": 0, "sigma_g_max": 0,
              "G_lip_client": 1, "sigma_g_client": 1}

#: names in claims -> the federation's constant: suprema over R^dim of moments of |grad F_k - grad F| over the clients
HETEROGENEITY = {
    "sigma_g": "sigma_g_1", "sigma_g_1": "sigma_g_1", "sigma_g_2": "sigma_g_2", "sigma_g_max": "sigma_g_max",
    "sigma_g_client": "sigma_g_client",
}
_OF_COORDINATES = (coordinates.norm1, coordinates.norm_inf, coordinates.least, coordinates.root, coordinates.square,
                   coordinates.scaled, coordinates.reciprocal, coordinates.raised)
_LIPSCHITZ = {"G_lip", "G_lip_client", "H_loss"}


def always_available(claim: Claim) -> bool:
    """Whether the claim's free clients never stay away."""
    return claim.procedure is None or claim.procedure.free == "always"


@once_by_claim
def uses_gradients(claim: Claim) -> bool:
    """Whether a claim mentions the gradients of the clients' losses."""
    return any(formula.has(operators.grad, operators.objective_grad) for formula in claim.formulas)


@once_by_claim
def uses_coordinates(claim: Claim) -> bool:
    """Whether a claim mentions single coordinates of vectors, so that the basis matters."""
    return any(formula.has(*_OF_COORDINATES) for formula in claim.formulas)


@once_by_claim
def speaks_of_pairs(claim: Claim) -> bool:
    """Whether a hypothesis is about all pairs of points."""
    return any(len(points_of(least)[0]) == 2 for c in claim.hypotheses for side in (c.left, c.right)
               for least in sp.sympify(side).atoms(infimum))


def needs_lipschitz(claim: Claim) -> bool:
    """Whether an assumption makes the loss of every sample Lipschitz on all of R^dim."""
    return any(a.everywhere is not None and sp.sympify(a.everywhere.left).has(f_grad) for a in claim.assumptions)


def needs_convex(claim: Claim) -> bool:
    """Whether the clients' losses must be convex: a hypothesis that bounds their least curvature by what may be negative, as
    in ``mu_client[k] >= -h``, asks for nothing of the kind."""
    others = [c for c in claim.hypotheses if not _admits_negative_curvature(c)]
    sides = [e for c in (*others, claim.statement) if c for e in (c.left, c.right)]
    sides += [rule.formula for rule in claim.used_definitions().values()]
    return "mu_client" in claim.names and any("mu_client" in names_in(e) for e in sides)


def _admits_negative_curvature(c) -> bool:
    curvature = [isinstance(side, sp.Indexed) and str(side.base.label) == "mu_client" for side in (c.left, c.right)]
    if sum(curvature) != 1 or c.relation == "==":
        return False
    bound = c.right if curvature[0] else c.left
    upper = (c.relation == "<=") == curvature[0]
    return "mu_client" not in names_in(bound) and (upper or not bound.is_nonnegative)


@once_by_claim
def determined(claim: Claim) -> frozenset[str]:
    """Names to which hypotheses give a value, by an equation or as a bound on something that is no number. A constant over
    all points that they only compare with a number keeps its meaning."""
    found = set()
    for c in claim.hypotheses:
        if c.relation == "==":
            found |= {str(side.base.label) if isinstance(side, sp.Indexed) else side.name for side in (c.left, c.right)
                      if side.is_Symbol or (isinstance(side, sp.Indexed) and side is c.left)}
        smaller, larger = (c.left, c.right) if c.relation == "<=" else (c.right, c.left)
        if larger.is_Symbol and names_in(smaller):
            found.add(larger.name)
    return frozenset(found)


class Needs(NamedTuple):
    """Requirements of hypotheses on the clients: Lipschitz losses, gradients within a distance of each other, convexity."""

    lipschitz: bool
    alike: bool
    convex: bool


@once_by_claim
def needs(claim: Claim) -> Needs:
    """Derive what a claim requires of the clients from the constants that its formulas name and no hypothesis defines, and
    from what its hypotheses bound at all points."""
    everywhere, vectors = claim.names - determined(claim), [*_bounded_at_all_points(claim)]
    apart = [_vanishes_for_equal_gradients(vector) for vector in vectors]
    return Needs(bool(everywhere & _LIPSCHITZ) or not all(apart), bool(everywhere & {*HETEROGENEITY}) or any(apart),
                 needs_convex(claim))


def _bounded_at_all_points(claim: Claim) -> Iterator[sp.Expr]:
    """Sums of gradients whose length hypotheses bound at all points, by something that does not grow with the point."""
    for c in claim.hypotheses:
        for word in c.left.atoms(infimum) | c.right.atoms(infimum):
            point, number = word.args
            terms = [term for term in sp.Add.make_args(sp.expand(number)) if point in term.free_symbols]
            lengths = set().union(*(term.atoms(operators.norm2) for term in terms))
            others = operators.F, operators.objective, operators.dot
            only = all(term.could_extract_minus_sign() and not term.has(*others) for term in terms)
            if only and all(_of_gradients(length.args[0], point) for length in lengths):
                yield from (length.args[0] for length in lengths)


def _of_gradients(vector: sp.Expr, point: sp.Symbol) -> bool:
    """Whether a vector depends on the point by gradients alone."""
    return point not in vector.replace(_is_gradient, lambda _: sp.Integer(1)).free_symbols


def _vanishes_for_equal_gradients(vector: sp.Expr) -> bool:
    return sp.simplify(vector.replace(_is_gradient, lambda gradient: sp.Function("at")(gradient.args[-1]))) == 0


def _is_gradient(e) -> bool:
    return isinstance(e, operators.grad | operators.objective_grad)


def supplied_constants(claim: Claim) -> set[str]:
    """Constants over all of R^dim that the federation supplies: those that the claim names and no hypothesis defines."""
    return {*HETEROGENEITY} & (claim.names - determined(claim)) | {"L_objective", "mu_objective"}


def needs_one_basis(claim: Claim) -> bool:
    """Whether clients without a basis in common lack a constant that the claim names, of the objective's curvature or of the
    distance of their gradients on all of R^dim."""
    return needs_equal_curvatures(claim) or bool(supplied_constants(claim) & claim.names)


def needs_equal_curvatures(claim: Claim) -> bool:
    """Whether the clients must have one Hessian: a bound on the distance of their gradients on all of R^dim asks that of
    quadratics."""
    return claim.setting != "algebra" and needs(claim).alike
