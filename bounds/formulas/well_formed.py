"""Whether a claim's formulas are well formed: arrays with indices, every index bound and used, no vector beside a number."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition, Definition, names_in
from bounds.language.coordinates import first_least
from bounds.language.names import COUPLED, DATA, FEDERATION, NAMES, RUN, SIZE, row_of
from bounds.language.on_samples import UNDEFINED_NAMES, UNDEFINED_OPERATORS, speaks_of_samples
from bounds.language.space import infimum, not_by_coordinates, points_of
from bounds.language.witness import inside

__all__ = ["Fault", "faults", "with_norms"]

_INDEX_NAMES = {operators.t, operators.i, operators.j, operators.k, operators.r}
_MEASURED = (SIZE, FEDERATION, DATA, RUN, COUPLED)  # sources of names that every instance has
_MOST_INDICES = 9  # of an array that only the claim knows


@dataclass(frozen=True)
class Fault:
    """A fault in one condition of a claim.

    ``part``: ``assume``, ``conditions``, ``statement``, ``definitions`` or ``witness``; ``place``: its number there, from 0;
    ``symbol``: the name at fault, if there is one. ``harmless``: the condition keeps its meaning.
    """

    part: str
    place: int
    symbol: str
    text: str
    harmless: bool = False

    @property
    def where(self) -> str:
        """The part, with the number of its condition, from 1, if it is a list."""
        return f"{self.part} {self.place + 1}" if self.part in ("assume", "conditions") else self.part


def faults(claim: Claim) -> list[Fault]:
    """All faults in the claim's conditions and its statement, in the order of the print."""
    assumed = [c for a in claim.assumptions for c in a.conditions]
    stated = [claim.statement] if claim.statement is not None else []
    parts = [(part, n, c) for part, conditions in (("assume", assumed), ("conditions", claim.conditions),
                                                   ("statement", stated)) for n, c in enumerate(conditions)]
    reader = _Reader(claim)
    found = [Fault(part, place, *fault) for part, place, condition in parts for fault in reader.condition(condition)]
    found += [Fault("definitions", 0, *fault) for definition in claim.used_definitions().values()
              for fault in reader.definition(definition)]
    found += [Fault("witness", 0, *fault) for fault in _of_witness(claim)]
    if speaks_of_samples(claim):
        formulas = [(part, n, side) for part, n, c in parts for side in (c.left, c.right)]
        formulas += [("definitions", 0, sp.sympify(definition.formula)) for definition in claim.used_definitions().values()]
        found += [Fault(part, n, *fault) for part, n, formula in formulas for fault in _beside_samples(formula)]
    return list(dict.fromkeys(found))


def _beside_samples(formula: sp.Expr) -> Iterator[tuple[str, str]]:
    """Operators and names in a formula that have no meaning where data sets are drawn."""
    for operator in UNDEFINED_OPERATORS:
        if formula.has(operator):
            yield operator.__name__, (f"{operator.__name__} has no meaning in a claim about samples; got {formula}, "
                                      "allowed: E, E_data, E_client, E_unused")
    for name in sorted(names_in(formula) & UNDEFINED_NAMES):
        yield name, f"{name} has no value in a claim about samples, where every data set has its own; got {formula}"


def with_norms(claim: Claim) -> Claim:
    """The claim with hypotheses ``a == b`` on vectors written as ``norm2(a - b) == 0``, by which vectors are compared."""
    reader = _Reader(claim)

    def as_numbers(c: Condition) -> Condition:
        if c.relation != "==" or "vector" not in map(reader.kind, map(sp.sympify, (c.left, c.right))):
            return c
        return replace(c, left=operators.norm2(c.left - c.right), right=sp.Integer(0))

    conditions = tuple(map(as_numbers, claim.conditions))
    assumptions = tuple(replace(a, conditions=tuple(map(as_numbers, a.conditions))) for a in claim.assumptions)
    if (conditions, assumptions) == (claim.conditions, claim.assumptions):
        return claim
    return replace(claim, conditions=conditions, assumptions=assumptions)


def _equal_vectors(gap: sp.Expr, points: Sequence[sp.Symbol]) -> str:
    """The condition that the difference of two vectors is 0 at all points, and for each index in it."""
    text = min(str(gap), str(-gap), key=lambda one: one.startswith("-"))
    each = "".join(f" for each {index}" for index in sorted(gap.free_symbols & _INDEX_NAMES, key=str))
    return f"norm2({text}) <= 0 for all {', '.join(map(str, points))}{each}"


def _of_witness(claim: Claim) -> Iterator[tuple[str, str]]:
    """Names of a witness of which the claim does not speak, and a witness that never lies in its interval."""
    if claim.exists is None or claim.exists.witness is None:
        return
    known = {*claim.names, *claim.definitions}
    for name in sorted(names_in(claim.exists.witness) - known):
        row = row_of(name)
        if row is None or row.source not in _MEASURED:
            yield name, (f"the witness {claim.exists.witness} uses {name}, of which neither a hypothesis nor the statement "
                         "speaks")
    beyond = [(c.right - c.left if c.relation == ">=" else c.left - c.right, c.strict) for c in inside(claim)]
    if any(gap.is_positive or (strict and gap.is_zero) for gap, strict in beyond):
        yield claim.exists.name, f"the witness {claim.exists.witness} lies outside of {claim.exists}"


class _Reader:
    def __init__(self, claim: Claim):
        self.variables = {v.name: v for v in claim.variables}
        self.definitions, self.statement = claim.definitions, claim.statement
        self.names = NAMES if claim.setting != "algebra" else {}  # in algebra every name is one of the claim
        self.kinds: dict[str, str | None] = {}
        self.equal = {c.left.name: c.right for c in claim.hypotheses if c.relation == "==" and c.left.is_Symbol}

    def condition(self, c: Condition) -> Iterator[tuple[str, str, bool]]:
        sides = (c.left, c.right)
        bounds = [bound for triple in c.over for bound in triple[1:]]
        for side in (*sides, *bounds):
            if not isinstance(side, sp.Expr):
                yield "", f"{side} is no formula of numbers or vectors", False
                return
        found = [fault for side in sides for fault in self.formula(side)]
        found += [fault for bound in bounds for fault in self.index(bound, "a range")]
        yield from found
        yield from self.indices(c)
        if not found:
            yield from self.shapes(c)

    def definition(self, definition: Definition) -> Iterator[tuple[str, str, bool]]:
        formula = sp.sympify(definition.formula)
        yield from (*self.formula(formula), *self.unbound(formula, {*definition.indices}))

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
        points, body = points_of(e) if isinstance(e, infimum) else ((), None)
        if points and (part := not_by_coordinates(body, points)) is not None:
            u, both = points[0], ", ".join(map(str, points))
            if self.is_vector(body):
                yield str(u), (f"a condition for all {both} is one of numbers, and {part} is a vector; that two vectors are "
                               f"equal is written {_equal_vectors(body, points)}"), False
                return
            yield str(u), (f"of {part} the least value over all {both} is not known; allowed are norm2(a), dot(a, b), "
                           f"F(k, {u}), objective({u}), and their sums and multiples, with a and b sums and multiples of "
                           f"{both}, grad(k, {u}), objective_grad({u}) and vectors without {both}"), False
        if isinstance(e, sp.Sum | sp.Product):
            yield from self.formula(e.function)
            for _, low, high in e.limits:
                yield from (*self.index(low, e), *self.index(high, e))
            return
        kinds = e.kinds() if isinstance(e, operators.Operator) else ("",) * len(e.args)
        for place, (part, kind) in enumerate(zip(e.args, kinds, strict=True)):
            if kind != "index":
                yield from self.formula(part)
            elif isinstance(e, operators.Operator) and place == e.binds:
                if not part.is_Symbol:
                    yield "", f"{e} binds an index, as k; got {part}", False
            elif isinstance(e, operators.Operator) and e.binds is not None and part.has(e.args[e.binds]):
                own = e.args[e.binds]
                yield str(own), f"an end of the range of {own} depends on {own}; got {part} in {e}", False
            else:
                yield from self.index(part, e)

    def index(self, index, e) -> Iterator[tuple[str, str, bool]]:
        """Yield the faults of an array's index, of an operator's argument that is an index, or of an end of a range."""
        found = list(self.formula(index))
        yield from found
        if not found and (part := self.not_whole(index)) is not None:
            yield (part.name if part.is_Symbol else ""), f"{part} is no whole number, and an index of {e}", False

    def not_whole(self, e) -> sp.Expr | None:
        """A part of a formula by which it may be no whole number; None if there is none."""
        if e.is_Symbol:
            return None if self.whole(e) else e
        if isinstance(e, sp.floor | sp.ceiling):
            parts = sp.fraction(sp.together(e.args[0]))
        elif e.is_Add or e.is_Mul or isinstance(e, sp.Mod | sp.Max | sp.Min | operators.tau):
            parts = e.args
        else:
            return None if e.is_Integer else e
        return next((part for part in map(self.not_whole, parts) if part is not None), None)

    def entry(self, e) -> Iterator[tuple[str, str, bool]]:
        name, got = str(e.base.label), len(e.indices)
        least, most = self.allowed(name)
        if not least <= got <= most:
            yield name, f"{name} has {self.counted(name)}, as in {self.example(name)}; got {got} in {e}", False
        for index in e.indices:
            yield from self.index(index, e)

    def whole(self, s) -> bool:
        if s.name in self.variables:
            return self.variables[s.name].domain in ("integer", "binary")
        return bool(s.is_integer) or s.name not in NAMES

    def allowed(self, name: str) -> tuple[int, int]:
        """The least and the largest number of indices."""
        if name in self.variables:
            count = len(self.variables[name].indices)
            return (count, count) if count else (0, _MOST_INDICES)
        if name in self.definitions:
            count = len(self.definitions[name].indices)
            return count, count
        row = row_of(name)
        if row is None or not row.indices:
            return 1, _MOST_INDICES
        return len(row.indices), _MOST_INDICES if row.kind == "state" else len(row.indices)

    def counted(self, name: str) -> str:
        least, most = self.allowed(name)
        return f"{'at least ' if most > least else ''}{least} {'index' if least == 1 else 'indices'}"

    def example(self, name: str) -> str:
        if name in self.definitions:
            return f"{name}[{', '.join(map(str, self.definitions[name].indices))}]"
        row = row_of(name)
        return f"{name}[{', '.join(row.indices if row else 't')}]"

    def indices(self, c: Condition) -> Iterator[tuple[str, str, bool]]:
        """Indices that are not bound, and ranges that are not used."""
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
            yield "", f"a vector stands beside a number in {c.left} {c.sign} {c.right}", False
        defines = c.relation == "==" and str(getattr(c.left, "base", c.left)) not in NAMES and c is not self.statement
        if kinds == {"vector"} and not (defines and (c.left.is_Symbol or isinstance(c.left, sp.Indexed))):
            yield "", f"vectors are compared by norm2(a - b) == 0; got {c.left} {c.sign} {c.right}", False

    def is_vector(self, e) -> bool:
        """Whether a formula is a vector, and not malformed."""
        try:
            return self.kind(e) == "vector"
        except _Mixed:
            return False

    def kind(self, e) -> str | None:
        """``vector``, ``number``, or None where it may be either."""
        if e == 0:
            return None
        if e.is_number and not e.has(operators.Operator):
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
        if isinstance(e, sp.Sum):
            return self.kind(e.function)
        if isinstance(e, operators.Operator):
            return self.operator(e)
        if "vector" in [self.kind(a) for a in e.args if isinstance(a, sp.Expr)]:
            raise _Mixed(e, f"needs numbers; got a vector{' (write norm2(a) or dot(a, b))' if e.is_Pow else ''}")
        return "number"

    def operator(self, e) -> str | None:
        """The kind of an operator's value."""
        kinds = [None if wanted == "index" else "number" if a == 0 and wanted in ("either", "same") else self.kind(a)
                 for a, wanted in zip(e.args, e.kinds(), strict=True)]
        if isinstance(e, first_least) and kinds[3] == "vector":
            raise _Mixed(e.args[3], "is a vector, and vectors have no order")
        for argument, kind, wanted in zip(e.args, kinds, e.kinds(), strict=True):
            wanted = kinds[0] if wanted == "same" else wanted
            if (wanted, kind) in (("vector", "number"), ("number", "vector")):
                raise _Mixed(e, f"needs a {wanted}; got the {kind} {argument}")
            if wanted == "vector" and argument == 0:
                raise _Mixed(e, "needs a vector; got 0, perhaps of vectors that cancel, such as x - x")
        return e.value or (kinds[e.gives] if isinstance(e.gives, int) else e.gives)

    def named(self, name: str) -> str | None:
        if name in self.variables:
            return "vector" if self.variables[name].domain == "vector" else "number"
        if name in self.names and self.names[name].kind == "vector":
            return "vector"
        if name in self.definitions:
            if name not in self.kinds:
                self.kinds[name] = None
                self.kinds[name] = self.kind(sp.sympify(self.definitions[name].formula))
            return self.kinds[name]
        if name in self.equal and name not in self.names:  # a hypothesis defines it
            if name not in self.kinds:
                self.kinds[name] = None
                self.kinds[name] = self.kind(self.equal[name])
            return self.kinds[name]
        return "number" if name in NAMES else None


class _Mixed(ValueError):
    def __init__(self, e, what: str):
        names = sorted(map(str, e.free_symbols))
        super().__init__(f"{e} {what}")
        self.symbol = names[0] if names else ""
