"""Whether a claim's formulas say something: arrays with indices, every index bound and used, vectors apart from numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

from bounds.language import words
from bounds.language.claim import Claim, Condition

__all__ = ["Fault", "faults"]

_ONE = ("x", "x_sampled", "x_round", "x_broadcast", "eta_l", "epsilon", "L_client", "mu_client", "sigma_sq_client",
        "client_weight", "priority", "F_star_client")
_TWO = ("x_local", "x_before", "g", "included", "sampled", "sampled_weight")

#: how many indices the language's arrays have
_INDICES = dict.fromkeys(_ONE, 1) | dict.fromkeys(_TWO, 2)

#: the least number of a method's own arrays, which may have further ones (layers, stored samples)
_OWN = {"server_": 1, "client_": 2, "local_": 2}
_VECTORS = {"x", "x_sampled", "x_round", "x_broadcast", "x_local", "x_before", "g", "x_star"}
_OF_VECTORS = (words.norm2, words.norm, words.dot, words.objective, words.objective_grad, words.F, words.grad)
_INDEX_NAMES = {words.t, words.i, words.j, words.k, words.r}


@dataclass(frozen=True)
class Fault:
    """What is wrong in one condition of a claim.

    ``part``: ``assume``, ``conditions`` or ``statement``, and ``place`` which of them, from 0; ``symbol`` the name at fault
    where there is one. ``harmless``: the condition still says what it says.
    """

    part: str
    place: int
    symbol: str
    text: str
    harmless: bool = False

    @property
    def where(self) -> str:
        """The part, and which of its conditions, from 1, where it is a list of them."""
        return f"{self.part} {self.place + 1}" if self.part in ("assume", "conditions") else self.part


def faults(claim: Claim) -> list[Fault]:
    """Everything in the claim's conditions and its statement that cannot be meant, in the order of the print."""
    assumed = [c for a in claim.assumptions for c in a.conditions]
    stated = [claim.statement] if claim.statement is not None else []
    parts = [(part, n, c) for part, conditions in (("assume", assumed), ("conditions", claim.conditions),
                                                   ("statement", stated)) for n, c in enumerate(conditions)]
    reader = _Reader(claim)
    return list(dict.fromkeys(
        Fault(part, place, symbol, text, harmless)
        for part, place, condition in parts for symbol, text, harmless in reader.condition(condition)))


class _Reader:
    def __init__(self, claim: Claim):
        self.variables = {v.name: v for v in claim.variables}
        self.definitions = claim.definitions
        self.kinds: dict[str, str | None] = {}

    def condition(self, c: Condition) -> Iterator[tuple[str, str, bool]]:
        sides = (c.left, c.right)
        bounds = [bound for triple in c.over for bound in triple[1:]]
        for side in (*sides, *bounds):
            if not isinstance(side, sp.Expr):
                yield "", f"{side} is no formula of numbers or vectors", False
                return
        found = [fault for side in (*sides, *bounds) for fault in self.formula(side)]
        yield from found
        yield from self.indices(c)
        if not found:
            yield from self.shapes(c)

    def formula(self, e) -> Iterator[tuple[str, str, bool]]:
        if e in (sp.zoo, sp.nan, sp.oo, -sp.oo):
            yield "", "a formula divides by zero", False
        if isinstance(e, sp.IndexedBase):
            name = str(e.label)
            yield name, f"{name} is an array and needs {self.counted(name)}, as in {self.example(name)}", False
            return
        if isinstance(e, sp.Indexed):
            yield from self.entry(e)
            return
        for part in e.args:
            yield from self.formula(part)

    def entry(self, e) -> Iterator[tuple[str, str, bool]]:
        name, got = str(e.base.label), len(e.indices)
        least, most = self.allowed(name)
        if not least <= got <= most:
            yield name, f"{name} has {self.counted(name)}, as in {self.example(name)}; got {got} in {e}", False
        for index in e.indices:
            yield from self.formula(index)
            for s in sorted((s for s in index.free_symbols if s.is_Symbol and not self.whole(s)), key=str):
                yield s.name, f"{s.name} is no whole number, and an index of {e}", False

    def whole(self, s) -> bool:
        if s.name in self.variables:
            return self.variables[s.name].domain in ("integer", "binary")
        return bool(s.is_integer) or s.name not in words.__all__

    def allowed(self, name: str) -> tuple[int, int]:
        """The least and the largest number of indices."""
        if name in self.variables:
            count = len(self.variables[name].indices)
            return (count, count) if count else (0, 9)
        if name in self.definitions:
            count = len(self.definitions[name].indices)
            return count, count
        if name in _INDICES:
            return _INDICES[name], _INDICES[name]
        least = next((least for start, least in _OWN.items() if name.startswith(start)), 1)
        return least, 9

    def counted(self, name: str) -> str:
        least, most = self.allowed(name)
        return f"{'at least ' if most > least else ''}{least} {'index' if least == 1 else 'indices'}"

    def example(self, name: str) -> str:
        if name in self.definitions:
            return f"{name}[{', '.join(map(str, self.definitions[name].indices))}]"
        least, _ = self.allowed(name)
        round_wise = name.startswith(("x_round", "x_broadcast", "sampled", "server_", "client_")) and name not in (
            "sampled_weight", "client_weight")
        first = "r" if round_wise else "k" if name.endswith("_client") or name in ("client_weight", "priority") else "t"
        return f"{name}[{first}]" if least == 1 else f"{name}[{first}, k]"

    def indices(self, c: Condition) -> Iterator[tuple[str, str, bool]]:
        """Indices that nothing binds, and that bind nothing."""
        bound: set = set()
        for place, (index, *ends) in enumerate(c.over):
            for end in ends:
                yield from self.unbound(end, bound)
            bound.add(index)
            later = [end for triple in c.over[place + 1:] for end in triple[1:]]
            if not any(index in e.free_symbols for e in (c.left, c.right, *later)):
                yield str(index), f"the index {index} of 'for {index} in ...' is never used", True
        for side in (c.left, c.right):
            yield from self.unbound(side, bound)

    def unbound(self, e, bound: set) -> Iterator[tuple[str, str, bool]]:
        free = {s for s in e.free_symbols if s in _INDEX_NAMES and s.name not in self.variables} - bound
        for s in sorted(free, key=str):
            yield s.name, f"the index {s} is bound by nothing: neither 'for {s} in a..b' nor a sum", False

    # vectors and numbers -----------------------------------------------------------------------------------------------
    def shapes(self, c: Condition) -> Iterator[tuple[str, str, bool]]:
        try:
            kinds = {kind for kind in map(self.kind, (c.left, c.right)) if kind}
        except _Mixed as mixed:
            yield mixed.symbol, str(mixed), False
            return
        if len(kinds) == 2:
            yield "", f"a vector stands beside a number in {c.left} {c.relation} {c.right}", False
        if kinds == {"vector"} and c.relation != "==":
            yield "", f"vectors are not ordered: {c.left} {c.relation} {c.right}", False

    def kind(self, e) -> str | None:
        """``vector``, ``number``, or None where it may be either."""
        if e == 0:
            return None
        if e.is_number:
            return "number"
        if e.is_Symbol or isinstance(e, sp.Indexed):
            return self.named(str(e.base.label) if isinstance(e, sp.Indexed) else e.name)
        if e.is_Add:
            kinds = {kind for kind in map(self.kind, e.args) if kind}
            if len(kinds) == 2:
                raise _Mixed(e, "adds vectors and numbers")
            return kinds.pop() if kinds else None
        if e.is_Mul:
            kinds = list(map(self.kind, e.args))
            if kinds.count("vector") > 1:
                raise _Mixed(e, "multiplies two vectors (write dot(a, b))")
            return "vector" if "vector" in kinds else None if None in kinds else "number"
        if isinstance(e, words.E | words.E_round):
            return self.kind(e.args[0])
        if isinstance(e, sp.Sum):
            return self.kind(e.function)
        if isinstance(e, _OF_VECTORS):
            points = e.args[1:] if isinstance(e, words.F | words.grad) else e.args
            if "number" in map(self.kind, points):
                raise _Mixed(e, "needs a vector; got a number")
            return "vector" if isinstance(e, words.objective_grad | words.grad) else "number"
        if isinstance(e, words._Word):
            return None
        if "vector" in [self.kind(a) for a in e.args if isinstance(a, sp.Expr)]:
            raise _Mixed(e, "needs numbers; got a vector")
        return "number"

    def named(self, name: str) -> str | None:
        if name in self.variables:
            return "vector" if self.variables[name].domain == "vector" else "number"
        if name in _VECTORS:
            return "vector"
        if name in self.definitions:
            if name not in self.kinds:
                self.kinds[name] = None
                self.kinds[name] = self.kind(sp.sympify(self.definitions[name].formula))
            return self.kinds[name]
        return "number" if name in words.__all__ else None


class _Mixed(ValueError):
    def __init__(self, e, what: str):
        names = sorted(map(str, e.free_symbols))
        super().__init__(f"{e} {what}")
        self.symbol = names[0] if names else ""
