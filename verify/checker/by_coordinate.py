"""Functions by coordinates on letters, as adaptive steps have them: squares, roots, largest entries, quotients.

The same function of the same vectors is the same letter. A quotient u / (w + a) is linear in u, so that quotients by one w
and a are those of a basis.
"""

from verify.checker.operators import WORDS, require
from verify.checker.quadratic_forms import ORIGIN, NotQuadratic, SymbolicVector, plain


class ByCoordinate:
    """``positive`` are the letters without a negative entry; ``tops`` has of the largest entries of several vectors these
    vectors, by letter; ``bases`` by (w, a) of a reduced basis triples (a letter that stands in this vector of the basis
    alone, the vector, its quotient), ``quotients`` the pairs (vector, quotient) that were asked for."""

    def __init__(self, letters):
        self.letters, self.positive, self.tops, self.bases, self.quotients = letters, set(), {}, {}, {}

    def words(self):
        return {word: getattr(self, word) for word in ("square", "root", "upper", "raised", "scaled")}

    def entries(self, *rows):
        """Vectors of which functions by coordinates are known."""
        require(len(self.letters.parts) == 1, "functions by coordinates, and layers")
        if any(not isinstance(row, SymbolicVector) or ORIGIN in row.parts for row in rows):
            raise NotQuadratic("a function by coordinates of what is no vector, or not measured from the optimum")
        return rows

    def function_vector(self, word, rows, positive=True):
        """The letter of a function of vectors."""
        key, functions = (word, *(row.key for row in rows)), self.letters.functions
        if key not in functions:
            functions[key] = self.letters.basis_vector(frozenset().union(*map(self.letters.upstream, rows)))
            if positive:
                self.positive |= {*functions[key].parts}
        return functions[key]

    def no_entry_is_negative(self, row):
        return {*row.parts} <= self.positive and min(row.parts.values(), default=0) >= 0

    def square(self, v):
        self.entries(v)
        if not v.parts:
            return v
        unit = v.coefficient(min(v.parts))
        return self.function_vector("square", [v / unit]) * unit**2

    def root(self, v):
        self.entries(v)
        if not self.no_entry_is_negative(v):
            raise NotQuadratic("a root of what may be negative")
        return self.function_vector("root", [v]) if v.parts else v

    def upper(self, *rows):
        if not any(isinstance(row, SymbolicVector) for row in rows):
            return WORDS["upper"](*rows)
        found = {}
        for row in self.entries(*rows):
            for part in self.tops.get(row.key, [row]):
                found[part.key] = part
        positive = any(map(self.no_entry_is_negative, found.values()))
        if positive and len(found) > 1 and all(map(self.no_entry_is_negative, found.values())):
            found.pop(SymbolicVector({}).key, None)
        if len(found) == 1:
            return next(iter(found.values()))
        rows = sorted(found.values(), key=lambda row: sorted(row.terms.items()))
        top = self.function_vector("upper", rows, positive)
        self.tops[top.key] = rows
        return top

    def raised(self, v, a):
        """v with a number added to each entry."""
        self.entries(v)
        return v + (self.function_vector("one", []) * plain(a) if plain(a) else SymbolicVector({}))

    def scaled(self, u, w, a):
        """u / (w + a), 0/0 = 0."""
        a = plain(a)
        if not isinstance(w, SymbolicVector) or not w.parts:
            by = a if isinstance(w, SymbolicVector) else plain(w) + a
            require(by > 0, "a quotient by a number that is not positive")
            return self.entries(u)[0] / by
        self.entries(u, w)
        if not u.parts:
            return u
        if not self.no_entry_is_negative(w) or a < 0:
            raise NotQuadratic("a quotient by what may be negative")
        asked = self.quotients.setdefault((w.key, a), {})
        asked[u.key] = u, self.quotient(u, w, self.bases.setdefault((w.key, a), []))
        return asked[u.key][1]

    def quotient(self, u, w, basis):
        """The quotient of u by w and a number, whose basis is so far this one."""
        letters, rest, known = self.letters, u, SymbolicVector({})
        for letter, one, quotient in basis:
            if letter in rest.parts:
                c = rest.coefficient(letter)
                rest, known = rest - one * c, known + quotient * c
        if not rest.parts:
            return known
        letters.meter.charge(sum(len(one.parts) for _, one, _ in basis))
        found, letter = letters.basis_vector(letters.upstream(u) | letters.upstream(w)), min(rest.parts)
        c = rest.coefficient(letter)
        rest, quotient = rest / c, (found - known) / c
        basis[:] = [(other, one - rest * one.coefficient(letter), by - quotient * one.coefficient(letter))
                    for other, one, by in basis] + [(letter, rest, quotient)]
        return found
