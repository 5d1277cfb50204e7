"""How far the clients' gradients and Hessians lie apart: sigma_g in each of its variants, Hessian dissimilarity."""

from __future__ import annotations

from synthetic.base.constants import Constant
from synthetic.numbers.arrays import namespace

__all__ = ["of_quadratics", "sigma_g_constants"]


def sigma_g_constants(norm, weights, where: str, provenance: str, note: str) -> dict[str, Constant]:
    """Gradient heterogeneity from ``norm`` = |grad F_k - grad F| or a bound on it, (instances, clients).

    ``weights`` (instances, clients) are the priority clients' p_k, zero on free clients. ``where`` ends the names:
    ``"_at_optimum"``, or ``""`` for a bound over all of R^d. Units of a gradient, none is squared:

    * ``sigma_g_1``: first moment, sum_k p_k |grad F_k - grad F|;
    * ``sigma_g_2``: second moment, (sum_k p_k |grad F_k - grad F|^2)^(1/2);
    * ``sigma_g_max``: the largest over the priority clients;
    * ``sigma_g_client``: each client's own, free clients too.
    """
    xp = namespace(norm)
    first, second = xp.sum(weights * norm, axis=-1), xp.sqrt(xp.sum(weights * norm**2, axis=-1))
    largest = xp.max(xp.where(weights > 0, norm, 0 * norm), axis=-1)
    return {
        f"sigma_g_1{where}": Constant(first, provenance, f"first moment of |grad F_k - grad F|, {note}"),
        f"sigma_g_2{where}": Constant(second, provenance, f"root of the second moment of |grad F_k - grad F|, {note}"),
        f"sigma_g_max{where}": Constant(largest, provenance, f"largest |grad F_k - grad F|, {note}"),
        f"sigma_g_client{where}": Constant(norm, provenance, f"|grad F_k - grad F|, {note}"),
    }


def of_quadratics(federation, hessians) -> dict[str, Constant]:
    """Constants of a federation whose Hessians do not depend on x.

    ``hessian_dissimilarity`` is |A_k - sum_j p_j A_j| per client. Where in every instance all clients have the same
    Hessian, the gradients differ by the same vectors everywhere, so that sigma_g over all of R^d is its value at the
    optimum; else it is infinite and left out. ``hessians`` (instances, clients, dim) are diagonals, or
    (instances, clients, dim, dim).
    """
    xp, weights = namespace(hessians), federation.weights * federation.priority
    entries = {"hessian_dissimilarity": Constant(
        _distance(hessians, weights), "exact", "spectral norm of A_k - sum_j p_j A_j")}
    if bool(xp.all(hessians == hessians[:, :1])):
        gradients = federation.gradient(federation.all_clients(federation.x_star))
        norm = xp.sqrt(xp.sum(gradients**2, axis=-1))
        entries |= sigma_g_constants(norm, weights, "", "exact", "the same everywhere: equal Hessians")
    return entries


def _distance(hessians, weights):
    xp = namespace(hessians)
    p = weights.reshape(*weights.shape, *(1,) * (hessians.ndim - 2))
    difference = hessians - xp.sum(p * hessians, axis=1, keepdims=True)
    spectrum = difference if hessians.ndim == 3 else xp.linalg.eigvalsh(difference)
    return xp.max(xp.abs(spectrum), axis=-1)
