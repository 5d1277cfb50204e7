"""Vectors and numbers that are linear combinations of letters, of their inner products, and of numbers without a value."""

from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

from verify.checker.limits import bits
from verify.checker.operators import kind, require

LOSS = "loss "  # how keys of losses begin; names have no spaces
ORIGIN = -1  # stands for the optimum in points, of which nothing is known but what they differ by
LAYER = 10**3  # the part of letter i in layer l has the number i + l * LAYER; parts in different layers are orthogonal
APART = 500 * LAYER  # what a client's letter i deviates from the mean of all clients' has the number i + APART
SCENARIO = 10**6  # letter i where choices turn out as scenario w has it, 0 elsewhere, has the number i + w * SCENARIO


class NotQuadratic(TypeError):
    """Something is not linear in inner products, losses and unknown numbers."""


class LinearCombination:
    """A linear combination, {key: coefficient}: whole numbers ``parts`` over a denominator ``over``, in lowest terms."""

    with_powers = False  # whether its keys have powers of the number of clients

    def __init__(self, terms):
        over = lcm(*(c.denominator for c in terms.values()))
        self.parts, self.over = {key: c.numerator * (over // c.denominator) for key, c in terms.items() if c != 0}, over

    @classmethod
    def basis(cls, key):
        """The basis element of a key."""
        return cls.reduced({key: 1}, 1)

    @classmethod
    def reduced(cls, parts, over):
        """Whole numbers over a denominator, without what they have in common; the ``parts`` are nobody else's."""
        found, values = cls.__new__(cls), parts.values()
        common = gcd(over, *values) if over > 1 else 1
        if common > 1:
            parts, over = {key: c // common for key, c in parts.items() if c}, over // common
        elif 0 in values:
            parts = {key: c for key, c in parts.items() if c}
        found.parts, found.over = parts, over
        return found

    @cached_property
    def terms(self):
        return {key: Fraction(c, self.over) for key, c in self.parts.items()}

    def coefficient(self, key): return Fraction(self.parts.get(key, 0), self.over)

    @property
    def key(self):
        """A hashable key, equal exactly for equal combinations."""
        return self.over, frozenset(self.parts.items())

    def equals(self, other):
        return self.over == other.over and self.parts == other.parts

    def plus(self, other, sign):
        """Adds ``other``, or subtracts it where the ``sign`` is -1."""
        over, by = self.over, sign
        if other.over == over:
            found = dict(self.parts)
        else:
            over = lcm(over, other.over)
            own, by = over // self.over, over // other.over * sign
            found = {key: c * own for key, c in self.parts.items()}
        for key, c in other.parts.items():
            found[key] = found.get(key, 0) + c * by
        return self.reduced(found, over)

    def __mul__(self, number):
        if isinstance(number, LinearCombination) and number.with_powers:
            return NotImplemented
        above, below = plain(number).as_integer_ratio()
        if above == below:
            return self
        return self.reduced({key: c * above for key, c in self.parts.items()}, self.over * below)

    def __add__(self, other): return self.plus(self.like(other), 1)
    def __sub__(self, other): return self.plus(self.like(other), -1)
    def __rsub__(self, other): return self.like(other).plus(self, -1)
    def __truediv__(self, number): return self * (1 / plain(number))
    def __neg__(self): return self.reduced({key: -c for key, c in self.parts.items()}, self.over)

    __radd__, __rmul__ = __add__, __mul__

    @property
    def of_what(self): return self.parts.keys()

    def replaced(self, keys):
        """Replaces each key by the sum of ``keys(key)``."""
        found = {}
        for key, c in self.parts.items():
            for new in keys(key):
                found[new] = found.get(new, 0) + c
        return self.reduced(found, self.over)

    @property
    def numerator(self):
        values = self.parts.values()
        return max(max(values), -min(values)) if values else 0

    @property
    def denominator(self): return self.over

    def refuse(self, *_):
        raise NotQuadratic("vectors and quadratic forms have sums and multiples only")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __abs__ = __iter__ = __len__ = __rtruediv__ = __bool__ = refuse
    __getitem__ = refuse
    __hash__ = None


class SymbolicVector(LinearCombination):
    """A vector: coefficients by letter."""

    @cached_property
    def basis_indices(self):
        """The numbers of its letters, whatever the layer."""
        return {i % LAYER for i in self.parts if i != ORIGIN}

    def like(self, other):
        if isinstance(other, SymbolicVector):
            return other
        require(plain(other) == 0, "a vector and a number are not added")
        return SymbolicVector({})

    def __pow__(self, power): self.refuse()


class QuadraticForm(LinearCombination):
    """A number: coefficients of inner products by (letter, letter), of losses and unknown numbers by name, of 1 by ().

    Inner products and losses stand for their expectations, so that only numbers without a value have squares.
    """

    @cached_property
    def basis_indices(self):
        """The letters of its inner products."""
        return set().union(*[key for key in self.parts if type(key) is tuple])

    def like(self, other):
        return other if isinstance(other, QuadraticForm) else QuadraticForm({(): plain(other)})

    def __pow__(self, power):
        if power == 1:
            return self
        if power == 2 and len(self.parts) == 1:
            (key, c), = self.terms.items()
            if isinstance(key, str) and not key.startswith(LOSS):
                return QuadraticForm({f"{key}^2": c**2})
        return plain(self) ** power

    def __mul__(self, other):
        alone = isinstance(other, LinearCombination) and {*self.parts} <= {()}
        return other * plain(self) if alone else super().__mul__(other)

    __rmul__ = __mul__


def plain(number):
    """The number as a fraction, if it is one."""
    if type(number) is Fraction:
        return number
    if isinstance(number, QuadraticForm) and {*number.parts} <= {()}:
        return Fraction(number.parts.get((), 0), number.over)
    if not isinstance(number, (int, Fraction)):
        raise NotQuadratic(f"a rational number must stand where there is {kind(number)}")
    return Fraction(number)


def unknown(name):
    """A symbolic number."""
    return QuadraticForm.basis(name)


def loss(k, number):
    """The expected loss of client k at its point of that number."""
    return unknown(f"{LOSS}{k} {number}")


def pairing(u, v):
    """The inner product of two vectors, neither of which depends on where the optimum lies."""
    return pairings((Fraction(1), u, v))


def pairings(*triples):
    """The sum of multiples of inner products, of triples (multiple, vector, vector)."""
    if any(ORIGIN in row.parts for _, *rows in triples for row in rows):
        raise NotQuadratic("a point that is not measured from the optimum")
    over = lcm(*(number.denominator * u.over * v.over for number, u, v in triples))
    found = {}
    for number, u, v in triples:
        by = number.numerator * (over // (number.denominator * u.over * v.over))
        same, seconds = u is v, [*v.parts.items()]
        for place, (i, a) in enumerate(u.parts.items()):
            a, layer = a * by, i // LAYER
            if same:  # each product of two different letters occurs twice
                found[i, i] = found.get((i, i), 0) + a * seconds[place][1]
                a *= 2
            for j, b in seconds[:place] if same else seconds:
                if layer == j // LAYER:
                    key = (i, j) if i <= j else (j, i)
                    found[key] = found.get(key, 0) + a * b
    return QuadraticForm.reduced(found, over)


def digit_cost(*numbers):
    """Cost factor of arithmetic with these numbers; 1 for short ones."""
    return 1 + (max(map(bits, numbers), default=0) >> 9) ** 2


def effort(u, v):
    """Steps that an inner product takes."""
    return len(u.parts) * len(v.parts) * digit_cost(u, v) // 4


def between(one, other, L, m):
    """A number that is never negative, of two points (where, gradient, value) of a function F such that F - m/2 |x|^2 is
    convex and L/2 |x|^2 - F is convex (for L None, or m itself, without the latter):
    f - e - <h, x - y> - m/2 |x - y|^2 - |g - h - m (x - y)|^2 / (2 (L - m)).

    For all pairs of points these are necessary and sufficient for such a function (Taylor, Hendrickx, Glineur 2017,
    Theorem 4; for m < 0 Rotaru, Glineur, Patrinos 2022, Theorem 3.1).
    """
    (x, g, f), (y, h, e) = one, other
    apart = x - y
    products = [(Fraction(1), h, apart), (Fraction(m) / 2, apart, apart)]
    if L is not None and m != L:
        require(m < L, "curvatures must lie in an interval")
        rest = g - h - apart * m
        products.append((1 / (2 * (Fraction(L) - m)), rest, rest))
    return f - e - pairings(*products)


def combined(forms, multipliers, charge):
    """The sum of multiples of forms, by name."""
    over, found = 1, {}
    for name, number in multipliers.items():
        over = lcm(over, forms[name].over * number.denominator)
        charge(digit_cost(over))
    for name, number in multipliers.items():
        by = number.numerator * (over // (forms[name].over * number.denominator))
        charge(len(forms[name].parts) * (1 + digit_cost(by) // 2))
        for key, c in forms[name].parts.items():
            found[key] = found.get(key, 0) + c * by
    return QuadraticForm.reduced(found, over)


def nonnegative(slack, charge=lambda steps: None):
    """Whether a number is never negative, whatever the letters are: its inner products are a square, its constant is at
    least 0, and nothing else remains. ``charge`` is called with the steps before they are taken."""
    inner = {key: c for key, c in slack.parts.items() if isinstance(key, tuple) and key}
    if slack.parts.get((), 0) < 0 or {*slack.parts} - {*inner} - {()}:
        return False
    apart, blocks = all(i // LAYER == j // LAYER for i, j in inner), {}  # letters of different layers are in no product
    for i in sorted({i for key in inner for i in key}):
        blocks.setdefault(i // LAYER if apart else 0, []).append(i)

    def twice(i, j):
        return inner.get((min(i, j), max(i, j)), 0) * (2 if i == j else 1)

    return all(semidefinite([[twice(i, j) for j in rows] for i in rows], charge) for rows in blocks.values())


def semidefinite(matrix, charge=lambda steps: None):
    """Whether a symmetric matrix of fractions is positive semidefinite, by elimination: each row is in whole numbers of a
    positive unit of its own, without a common factor, and rows of few entries come first, so that few others arise."""
    rows = {}
    for i, row in enumerate(matrix):
        size = lcm(*(entry.denominator for entry in row))
        rows[i] = {j: int(entry * size) for j, entry in enumerate(row) if entry != 0}
    while rows := {i: row for i, row in rows.items() if row}:
        if any(row.get(i, 0) <= 0 for i, row in rows.items()):
            return False
        place = min(rows, key=lambda i: (len(rows[i]), rows[i][i]))
        pivot = (lead := rows.pop(place)).pop(place)
        for i in lead:
            charge((len(rows[i]) + len(lead)) * digit_cost(*lead.values(), *rows[i].values()))
            common = gcd(above := rows[i].pop(place), pivot)
            above, below = above // common, pivot // common
            row = {j: entry * below for j, entry in rows[i].items()}
            for j, entry in lead.items():
                row[j] = row.get(j, 0) - entry * above
            common = gcd(*row.values()) or 1
            rows[i] = {j: entry // common for j, entry in row.items() if entry}
    return True
