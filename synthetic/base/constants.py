"""Constants of a federation, each with its provenance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from synthetic.numbers.arrays import largest

__all__ = ["PROVENANCES", "Constant", "Constants", "by_client"]

#: ``exact``; a proven ``upper`` bound (right for L, sigma, G); a proven ``lower`` bound (right for mu); an ``estimate``
PROVENANCES = ("exact", "upper", "lower", "estimate")


@dataclass(frozen=True)
class Constant:
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
        rows = (f"  {name} = {entry.value} ({entry.provenance}) {entry.note}" for name, entry in self.items())
        return "Constants(\n" + "\n".join(rows) + "\n)"
