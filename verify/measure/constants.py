"""Constants of a federation over all of R^dim: heterogeneity of the clients, smoothness of F, Lipschitz constants."""

from fractions import Fraction
from math import isqrt

import numpy as np

from bounds.language.claim import Claim
from synthetic.base.federation import Federation
from synthetic.numbers.arrays import largest, namespace, values_where
from synthetic.numbers.roots import Irrational, square_root
from synthetic.piecewise.piecewise import Piecewise
from synthetic.quadratic.quadratic import Quadratic
from synthetic.quadratic.turned import as_given
from verify.claims.needs import HETEROGENEITY, OVER_SPACE, determined, supplied_constants
from verify.evaluation.environment import UnboundName

__all__ = ["bind_over_space", "distance_of_clients", "known_constant", "largest_slope", "mean_distance",
           "root_mean_square_distance"]


def bind_over_space(federation: Federation, claim: Claim, put):
    """Bind the constants over all of R^dim that the claim names and no hypothesis defines or bounds, by ``put(name, data,
    indices)``.

    Returns which instances have an infinite one, (instances,), which no hypothesis admits; None if none has. Raises
    ArithmeticError for one in exact arithmetic.
    """
    names, federation = supplied_constants(claim) & claim.names, as_given(federation)  # turning changes no constant
    quadratic = isinstance(federation, Quadratic) and federation.diagonal
    if "F_inf" in claim.names - determined(claim) and "F_inf" not in federation.constants:
        put("F_inf", federation.constants.value("F_star"), 0)  # their infimum is a minimum
    if isinstance(federation, Piecewise):
        put("mu_client", federation.convexity().value, 1)  # negative where a client is not convex, which no mu > 0 admits
        names |= {*OVER_SPACE} & claim.names - determined(claim)
    if not quadratic:
        for name in names:
            known = HETEROGENEITY.get(name, name)
            if known in federation.constants:
                put(name, federation.constants.value(known), OVER_SPACE.get(name, 0))
        return None
    return _bind_of_quadratics(federation, names, put) if names else None


def _bind_of_quadratics(federation: Quadratic, names: set[str], put):
    xp, weights = namespace(federation.weights), federation.weights * federation.priority
    if "L_objective" in names:
        put("L_objective", largest(xp.sum(weights[..., None] * federation.curvature, axis=1), -1))
    if "mu_objective" in names:
        put("mu_objective", -largest(-xp.sum(weights[..., None] * federation.curvature, axis=1), -1))
    if not names & {*HETEROGENEITY}:
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
        for name in sorted(names & {*HETEROGENEITY}):
            put(name, values[HETEROGENEITY[name]](), int(name == "sigma_g_client"))
    return infinite


def known_constant(constants, name: str):
    """The federation's constant of that name. Raises UnboundName if it has none, as clients without a minimum have none."""
    if name not in constants:
        raise UnboundName(f"nothing supplies {name!r}: these clients have none")
    return constants.value(name)


def largest_slope(federation: Piecewise):
    """Largest |grad F_k| over all clients and points, (instances,): their Lipschitz constant."""
    known = federation._decided
    xp = namespace(known.weights)
    squares = xp.sum(known._of_clients.largest_slope_sq(), axis=-1)
    bounded = xp.all(xp.all(known._of_clients.curvature == 0, axis=-1), axis=-1)
    squares = xp.max(values_where(bounded[:, None], squares, "the loss is not Lipschitz"), axis=-1)
    return _root(federation.backend.array(squares))


def _apart(federation: Piecewise):
    """grad F_k - grad F by coordinate at all knots, beyond which it is constant, (instances, clients, dim, knots)."""
    apart, equal = federation._apart(federation._of_clients, federation.weights, 1)
    return values_where(equal[:, None, :, None], apart, "the clients' gradients are not within any distance of each other")


def distance_of_clients(federation: Piecewise):
    """sup over v of |grad F_k(v) - grad F(v)|, (instances, clients)."""
    apart = _apart(federation._decided)
    xp, array = namespace(apart), federation.backend.array
    if federation.dim == 1:
        return array(xp.max(xp.abs(apart), axis=-1)[..., 0])
    return _root(array(xp.sum(xp.max(apart**2, axis=-1), axis=-1)))


def mean_distance(federation: Piecewise):
    """sup over v of the clients' mean of |grad F_k(v) - grad F(v)|, (instances,); in more than one dimension a bound."""
    known = federation._decided
    xp = namespace(known.weights)
    if federation.dim > 1:
        return xp.sum(federation.weights * distance_of_clients(federation), axis=-1)
    means = xp.sum(known.weights[:, :, None, None] * xp.abs(_apart(known)), axis=1)
    return federation.backend.array(xp.max(means, axis=-1)[:, 0])


def root_mean_square_distance(federation: Piecewise):
    """Root of sup over v of the clients' mean of |grad F_k(v) - grad F(v)|^2, (instances,)."""
    known = federation._decided
    xp, apart = namespace(known.weights), _apart(known)
    squares = xp.sum(known.weights[:, :, None, None] * apart**2, axis=1)
    return _root(federation.backend.array(xp.sum(xp.max(squares, axis=-1), axis=-1)))


def _root(squares):
    """Square roots; of fractions only where they are rational, else Irrational."""
    if squares.dtype != object:
        return namespace(squares).sqrt(squares)
    roots = squares.copy()
    for place, square in np.ndenumerate(squares):
        if not isinstance(square, Fraction):
            return namespace(squares).sqrt(squares)
        roots[place] = Fraction(isqrt(square.numerator), isqrt(square.denominator))
        if roots[place] ** 2 != square:
            raise Irrational(f"the root of {square} is not rational")
    return roots
