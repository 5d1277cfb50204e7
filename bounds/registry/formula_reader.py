"""Reads formulas and conditions of a claim from text, with the names that the claim and its file declare."""

import re
from collections.abc import Callable
from dataclasses import replace

import sympy as sp

from bounds.language.alternatives import either
from bounds.language.claim import RELATIONS, Condition, Variable
from bounds.language.names import symbol
from bounds.language.space import at_all_points
from bounds.registry.abbreviations import EACH
from bounds.registry.array_sizes import size_of_index
from bounds.registry.claim_files import short
from bounds.registry.declarations import Declarations
from bounds.registry.expressions import NoFormula, excerpt, expression, only_ascii
from bounds.registry.known_names import known_names
from bounds.registry.magnitudes import MOST_TERMS
from bounds.registry.probabilities import without_probabilities

__all__ = ["FormulaReader", "symbol_of"]

_EVERY = "(every value)"  # in place of the last value of an index
_MOST_WRITTEN = 5_000  # parts of a formula with its definitions inserted


class FormulaReader(Declarations):
    """The part of a reader of claims that reads formulas."""

    known: tuple | None = None  # what the names of the claim mean, and the names

    def condition(self, text: str, more: dict | None = None) -> Condition:
        """``left <= right for k in 0..clients-1 for t in ...``, or several relations with ``or`` between them.

        A list that an abbreviation stands for may stand in the place of ranges: ``for ranges``. ``more``: names for it.
        """
        self.checked(only_ascii, text)
        text = text if "P" in self.let else self.checked(without_probabilities, text)
        sides, *ranges = " ".join(text.split()).split(" for ")
        ranges = [part for one in ranges for part in self.ranges(one.strip())]
        if any(re.search(r"\bor\b", one) for one in ranges):
            self.fail(f"or stands between two relations, and ranges behind the last; got {excerpt(text)}")
        parts, relations = sides.split(" or "), []
        for part in parts:
            relations += (found := re.findall(r"[<>=!]+", part))
            if len(found) != 1 or found[0] not in RELATIONS:
                if ("<" in found and ">" in found) or re.search(r"<[^<>=]*,[^<>=]*>", part):
                    self.fail(f"an inner product is written dot(a, b); got {excerpt(text)}")
                if len(found) > 1:
                    self.fail(f"a condition has one relation; write each as a condition of its own; got {excerpt(text)}")
                self.fail(f"a condition needs a relation, one of {', '.join(RELATIONS)}; got {excerpt(text)}")
        points = [[part.strip() for part in one.removeprefix("all ").split(",")] for one in ranges if one.startswith("all ")]
        if len(points) > 1 or points not in ([], [["u"]], [["v"]], [["u", "v"]]):
            self.fail("a condition at all points is written with one 'for all u', 'for all v' or 'for all u, v'; got "
                      f"{excerpt(text)}")
        points = [name for one in points for name in one]
        ranges = [one for one in ranges if not one.startswith("all ")]
        bare: set[str] = set()
        over, indices, strides = [], dict(more or {}) | {name: symbol(name) for name in points}, {}
        for one in ranges:
            if each := re.fullmatch(r"each\s+(\w+)", one):
                bare.add(each[1])
                one = f"{each[1]} in 0..{_EVERY}"
            index, _, ends = one.partition(" in ")
            low, dots, ends = ends.partition("..")
            high, stepped, step = ends.partition(" step ")
            if not (dots and low.strip() and high.strip()) or (stepped and not step.strip()):
                self.fail("a range is written 'for k in 0..clients-1' or 'for t in 0..iterations step local_steps'; got "
                          f"{excerpt(f'for {one}')}")
            self.check_name(index)
            if index in indices:
                self.fail(f"two ranges have the index {index}", index)
            if index in self.names() and self.names()[index] != sp.Symbol(index, integer=True):
                self.fail(f"{index} of 'for {index} in ...' has a meaning already; choose another letter", index)
            indices[index] = sp.Symbol(index, integer=True)
            over.append((index, low, high, step))
        read = [Condition(self.formula(left, indices), relation, self.formula(right, indices))
                for part, relation in zip(parts, relations, strict=True) for left, right in [part.split(relation)]]
        if len(read) > 1 and points:
            self.fail(f"a condition for all {points[0]} has no or; got {excerpt(text)}")
        try:
            whole = either(read) if len(read) > 1 else read[0]
        except ValueError as error:
            self.fail(f"{error}; got {excerpt(text)}")
        left, relation, right = whole.left, relations[0] if len(read) == 1 else whole.relation, whole.right
        triples = []
        for index, *ends, step in over:
            if index in bare:
                ends[1] = self.last(index, (left, right))
            low, high = (self.end(end, indices).xreplace(strides) for end in ends)
            if step:
                length = self.end(step, indices).xreplace(strides)
                strides[indices[index]] = low + length * indices[index]
                low, high = sp.Integer(0), sp.floor((high - low) / length)
            triples.append((indices[index], low, high))
        left, right = left.xreplace(strides), right.xreplace(strides)
        if points:
            at = list(map(symbol, points))
            self.check_points(at, left, relation, right)
            left, right = at_all_points(at, left, relation, right)
        return Condition(left, relation, right, tuple(triples))

    def related(self, c: Condition) -> Condition:
        """The statement with the sign that a reading gives it."""
        if "relation" not in self.row:
            return c
        sign = self.row["relation"]
        if sign not in RELATIONS:
            self.locate("relation", sign).fail(f"a relation is one of {', '.join(RELATIONS)}; got {short(sign)}")
        return replace(c, relation=sign, strict=False)

    def last(self, index: str, sides: tuple) -> str:
        """The last value of ``for each i``: by its letter, or by the arrays of the claim that have the index."""
        size = size_of_index(index, sides, self.sizes())
        if size is None and index not in EACH:
            self.fail(f"{index} of 'for each {index}' is an index of no declared array, or of arrays of different sizes; "
                      f"allowed: {', '.join(EACH)}, or a range as in 'for {index} in 0..n-1'", index)
        if size and EACH.get(index, size[0]) != size[0]:
            self.fail(f"{index} of 'for each {index}' runs over {EACH[index]}, and an array with that index has the size "
                      f"{size[0]}; write the range, as in 'for {index} in 0..{size[0]}-1'", index)
        return f"{EACH[index]} - 1" if index in EACH else f"{size[0]} + {size[1]} - 1"

    def sizes(self) -> dict[str, tuple[str, ...]]:
        """The sizes of the arrays that the claim declares."""
        return {v.name: tuple(size for _, size in v.indices) for v in self.variables if v.indices}

    def without_equations_of_numbers(self, c: Condition, text: str) -> Condition:
        """A hypothesis. One with or has equations of sizes alone: no search would meet another by chance."""
        for factor in sp.Mul.make_args(c.left) if " or " in text else ():
            if isinstance(factor, sp.Abs) and not all(s.is_integer for s in factor.free_symbols):
                self.fail("in a hypothesis with or an equation is about sizes alone; write each case as a reading with its "
                          f"equation; got {excerpt(text)}")
        return c

    def ranges(self, text: str) -> list[str]:
        """The ranges that stand behind one ``for``: several, or none, if it is the abbreviation of a list."""
        short = self.let.get(text)
        return [text] if short is None or isinstance(short.text, str) else short.text

    def at_any_point(self, statement: str) -> str:
        """A statement without its 'for all v', of which v becomes a free vector."""
        found = re.search(r"\s+for\s+all\s+(u\s*,\s*v|[uv])\b", statement)
        if not found:
            return statement
        for point in sorted({*found[1]} & {"u", "v"}):
            if point in {*self.names()}:
                self.fail(f"{point} of 'for all {found[1]}' has a meaning already", point)
            self.variables += (Variable(point, "vector"),)
        return statement[:found.start()] + statement[found.end():]

    def check_points(self, points: list[sp.Symbol], left, relation: str, right) -> None:
        """Fail where a relation at all points has another sign, or points that it does not use or that have a meaning."""
        every = ", ".join(map(str, points))
        if relation not in ("<=", ">="):
            self.fail(f"a condition for all {every} has the relation <=, >= or, as a hypothesis, ==; got {relation}")
        for u in points:
            if str(u) in {variable.name for variable in self.variables} | {*self.own} | {*self.own_constants}:
                self.fail(f"{u} of 'for all {every}' has a meaning already", str(u))
            if u not in left.free_symbols | right.free_symbols:
                self.fail(f"{u} of 'for all {every}' is never used", str(u))

    def end(self, text: str, indices: dict):
        """An end of a range."""
        found = self.formula(text, indices)
        if found.is_number and not (found.is_Integer and abs(found) <= MOST_TERMS):
            self.fail(f"an end of a range is a whole number up to {MOST_TERMS}; got {excerpt(text)}")
        return found

    def formula(self, text: str, indices: dict | None = None):
        if not text.strip():
            self.fail(f"a side of {excerpt(self.entry or self.row.get(self.field))} is empty")
        key, kept = (text, tuple((indices or {}).items())), self.vocabulary.memo.setdefault(self.meaning(), {})
        if key not in kept:
            read: set[str] = set()
            names = self.names() | (indices or {})
            kept[key] = self.checked(expression, text, names, read, indices or (), self.sizes()), read
        found, read = kept[key]
        self.read |= read
        if (length := self.written_out(found)) > _MOST_WRITTEN:
            self.fail(f"a formula has at most {_MOST_WRITTEN} parts when its definitions are inserted; got {length} in "
                      f"{excerpt(text)}")
        return found

    def written_out(self, e) -> int:
        """The number of parts of a formula with its definitions inserted."""
        name = str(e.base.label) if isinstance(e, sp.Indexed) else getattr(e, "name", "")
        return self.lengths.get(name, 1) + sum(map(self.written_out, e.args))

    def checked(self, read: Callable, *given):
        """Call ``read``; refuse a text that is no formula, with its line."""
        try:
            return read(*given)
        except NoFormula as error:
            self.fail(str(error), error.symbol)

    def meaning(self):
        """A key of the names that this claim adds to those of its file."""
        return (self.variables, tuple(self.own.values()), tuple(self.own_constants), repr(self.row.get("let")))

    def names(self) -> dict:
        """The meaning of each name."""
        meaning = self.meaning()
        if self.known is None or self.known[0] != meaning:
            self.known = meaning, self.all_names()
        return self.known[1]

    def one_symbol(self, variable: Variable, own: sp.Symbol) -> sp.Symbol:
        """The symbol of a variable of a paper's claim: that of the paper's quantities, if the paper gives its domain.

        A variable need not have the sign that it has there; formulas are simplified by signs, and it is a symbol of its own.
        """
        declared = self.declared.get(own.name, own) if self.vocabulary.paper else own
        if not isinstance(declared, sp.Symbol):
            return own
        from_0 = "positive" if variable.low < 1 else ""
        sign = {"real": "nonnegative", "nonnegative": "positive", "binary": "positive"}.get(variable.domain, from_0)
        if sign and getattr(declared, f"is_{sign}"):
            self.wider[own.name] = f"{own.name} is {sign} in [names], and {variable.domain} in a claim"
            return own
        return declared

    def all_names(self) -> dict:
        first, last = known_names()
        known = first | {d.name: d.symbol for d in (*self.vocabulary.quantities.values(), *self.own.values())}
        known = known | self.own_constants | last | self.declared
        for variable in self.variables:
            known[variable.name] = (sp.IndexedBase(variable.name, real=True) if variable.indices
                                    else self.one_symbol(variable, symbol_of(variable)))
        return known | self.let


def symbol_of(variable: Variable) -> sp.Symbol:
    """The symbol of a number with the sign that the variable's domain gives it."""
    whole = {"integer": True, "positive" if variable.low >= 1 else "nonnegative": True}
    signs = {"positive": {"positive": True}, "nonnegative": {"nonnegative": True}, "integer": whole}
    return sp.Symbol(variable.name, **signs.get(variable.domain, {"real": True}))
