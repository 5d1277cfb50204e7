"""Functions by coordinates on letters: squares, roots, largest entries, and quotients by such vectors.

A vector that such a function makes of others is a letter of its own; the same function of the same vectors is the same
letter. u / (w + a) is linear in u, so that quotients by one w and a are those of a basis. Where w has no negative entry, the
matrix D of such quotients is diagonal with entries from 0 to 1/a: <D u, v> = <u, D v>, and <D u, u> >= a |D u|^2.
"""

from verify.checker.operators import WORDS, require
from verify.checker.quadratic_forms import ORIGIN, NotQuadratic, SymbolicVector, effort, pairing, plain

BY_COORDINATE = ("square", "root", "upper", "raised", "scaled")


class ByCoordinate:
    """Mixin; must precede the class of symbolic runs in the bases.

    ``functions`` has the letter of each function and its vectors, ``positive`` the letters without a negative entry;
    ``tops`` of the largest entries of several vectors these vectors, by letter; ``bases`` by (w, a) of a reduced basis
    triples (a letter that stands in this vector of the basis alone, the vector, its quotient), ``quotients`` the pairs
    (vector, quotient) that were asked for.
    """

    def nothing_made(self):
        self.functions, self.positive, self.tops, self.bases, self.quotients = {}, set(), {}, {}, {}
        self.words = self.words | {word: getattr(self, word) for word in BY_COORDINATE}

    def entries(self, *rows):
        """Vectors of which functions by coordinates are known."""
        require(len(self.layers) == 1, "functions by coordinates, and layers")
        if any(not isinstance(row, SymbolicVector) or ORIGIN in row.parts for row in rows):
            raise NotQuadratic("a function by coordinates of what is no vector, or not measured from the optimum")
        return rows

    def function_vector(self, word, rows, positive=True):
        """The letter of a function of vectors."""
        key = word, *(row.key for row in rows)
        if key not in self.functions:
            self.functions[key] = self.basis_vector(frozenset().union(*map(self.upstream, rows)))
            if positive:
                self.positive |= {*self.functions[key].parts}
        return self.functions[key]

    def no_entry_is_negative(self, row):
        return {*row.parts} <= self.positive and min(row.parts.values(), default=0) >= 0

    # words -----------------------------------------------------------------------------------------------------------------
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
        key = w.key, a
        basis, rest, known = self.bases.setdefault(key, []), u, SymbolicVector({})
        for letter, one, quotient in basis:
            if letter in rest.parts:
                c = rest.coefficient(letter)
                rest, known = rest - one * c, known + quotient * c
        if rest.parts:
            self.meter.charge(sum(len(one.parts) for _, one, _ in basis))
            found = self.basis_vector(self.upstream(u) | self.upstream(w))
            letter = min(rest.parts)
            c = rest.coefficient(letter)
            rest, quotient = rest / c, (found - known) / c
            basis[:] = [(other, one - rest * one.coefficient(letter), by - quotient * one.coefficient(letter))
                        for other, one, by in basis] + [(letter, rest, quotient)]
            known = found
        asked = self.quotients.setdefault(key, {})
        asked[u.key] = u, known
        return known

    # what is known ---------------------------------------------------------------------------------------------------------
    def always(self, past):
        found = {}
        for name, u, quotient, a in self.single_and_apart():
            self.meter.charge(effort(u, quotient) + effort(quotient, quotient))
            found[name] = pairing(quotient, u) - pairing(quotient, quotient) * a
        return super().always(past) | found

    def single_and_apart(self):
        """Vectors whose quotients were asked for, and differences of two by the same vector: (name, vector, quotient, a)."""
        for number, ((_, a), asked) in enumerate(self.quotients.items()):
            pairs = [*asked.values()]
            for i, (u, quotient) in enumerate(pairs):
                yield f"quotient {number} {i}", u, quotient, a
                for j, (v, other) in enumerate(pairs[:i]):
                    yield f"quotient {number} {i} {j}", u - v, quotient - other, a

    def equalities(self, past):
        found = super().equalities(past)
        for number, (_, asked) in enumerate(self.quotients.items()):
            pairs = [*asked.values()]
            for i, (u, quotient) in enumerate(pairs):
                for j, (v, other) in enumerate(pairs[:i]):
                    self.meter.charge(effort(u, other) + effort(v, quotient))
                    found[f"diagonal {number} {i} {j}"] = pairing(quotient, v) - pairing(other, u)
        return found
