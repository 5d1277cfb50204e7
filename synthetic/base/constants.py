"""Constants of a federation, each with its provenance, and how far the clients' gradients and Hessians lie apart."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synthetic.base.display import RichDisplay, brief, table
from synthetic.numbers.arrays import largest, namespace

__all__ = ["PROVENANCES", "Constant", "Constants", "by_client", "of_quadratics", "sigma_g_constants"]

#: ``exact``; a proven ``upper`` bound (right for L, sigma, G); a proven ``lower`` bound (right for mu); an ``estimate``
PROVENANCES = ("exact", "upper", "lower", "estimate")


@dataclass(frozen=True)
class Constant(RichDisplay):
    """A number, or an array with one entry per instance or per client, and how it is known.

    ``note`` says in a few words where it comes from, for example "largest eigenvalue of the Hessian", and records
    a solver's residual where the value was solved for.
    """

    value: Any
    provenance: str = "exact"
    note: str = ""

    def __post_init__(self):
        if self.provenance not in PROVENANCES:
            raise ValueError(f"unknown provenance {self.provenance!r}; allowed: {', '.join(PROVENANCES)}")

    def _summary(self) -> str:
        return f"{brief(self.value)}, {self.provenance}" + (f": {self.note}" if self.note else "")

    @property
    def decides(self) -> bool:
        """Whether a verdict may rest on this constant: an estimate may be drawn, but never decides."""
        return self.provenance != "estimate"


def by_client(name: str, values, provenance: str, note: str) -> dict[str, Constant]:
    """``name_client``, the ``values`` (instances, clients), and ``name``, the largest of them, (instances,)."""
    return {name: Constant(largest(values, -1), provenance, f"{note}, largest of the clients'"),
            f"{name}_client": Constant(values, provenance, note)}


class Constants(Mapping):
    """The constants of a federation by name. A name that it does not have raises KeyError with the list of names.

    Each function of ``later`` computes a group of further constants, when a name is looked up that is not there yet.
    """

    def __init__(self, entries: Mapping[str, Constant], later: Sequence[Callable[[], Mapping[str, Constant]]] = ()):
        self._entries, self._later = dict(entries), list(later)

    def _look_for(self, name: str | None) -> None:
        while self._later and (name is None or name not in self._entries):
            self._entries |= self._later[0]()
            del self._later[0]

    def __contains__(self, name) -> bool:
        self._look_for(name)
        return name in self._entries

    def __getitem__(self, name: str) -> Constant:
        self._look_for(name)
        if name not in self._entries:
            raise KeyError(f"this federation has no constant {name!r}; it has {', '.join(sorted(self._entries))}")
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        self._look_for(None)
        return iter(self._entries)

    def __len__(self) -> int:
        self._look_for(None)
        return len(self._entries)

    def value(self, name: str):
        """The bare value of the constant ``name``."""
        return self[name].value

    def __repr__(self) -> str:
        rows = (f"  {name} = {brief(entry.value)} ({entry.provenance}) {entry.note}" for name, entry in self.items())
        return "Constants(\n" + "\n".join(rows) + "\n)"

    def _repr_html_(self) -> str:
        rows = ((name, entry.value, entry.provenance, entry.note) for name, entry in self.items())
        return table(rows, ("constant", "value", "known as", "from"))


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
    most = xp.max(xp.where(weights > 0, norm, 0 * norm), axis=-1)
    return {
        f"sigma_g_1{where}": Constant(first, provenance, f"first moment of |grad F_k - grad F|, {note}"),
        f"sigma_g_2{where}": Constant(second, provenance, f"root of the second moment of |grad F_k - grad F|, {note}"),
        f"sigma_g_max{where}": Constant(most, provenance, f"largest |grad F_k - grad F|, {note}"),
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
    p = weights.reshape(*weights.shape, *(1,) * (hessians.ndim - 2))
    apart = hessians - xp.sum(p * hessians, axis=1, keepdims=True)
    norm = xp.max(xp.abs(apart if hessians.ndim == 3 else xp.linalg.eigvalsh(apart)), axis=-1)
    entries = {"hessian_dissimilarity": Constant(norm, "exact", "spectral norm of A_k - sum_j p_j A_j")}
    if bool(xp.all(hessians == hessians[:, :1])):
        gradients = federation.gradient(federation.all_clients(federation.x_star))
        norm = xp.sqrt(xp.sum(gradients**2, axis=-1))
        entries |= sigma_g_constants(norm, weights, "", "exact", "the same everywhere: equal Hessians")
    return entries
