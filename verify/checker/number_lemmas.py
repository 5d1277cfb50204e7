"""Lemmas about numbers and vectors that a proof may use, by name. Each is a function of its arguments and returns
(premises, conclusion) as pairs (relation, polynomial compared with 0). The premises must follow where a lemma is used."""


from verify.checker.index_sums import combined, dot, length, product_of, scaled, substitute, sum_of
from verify.checker.operators import require
from verify.checker.polynomials import ONE, ZERO, constant, exponential, extreme, has, logarithm, of_atom, power, root


# powers: b, c are bases and e, f exponents; a power has a value where its base is positive, or at least 0 with an exponent
# of at least 0. All of these are in Hardy, Littlewood, Polya, Inequalities, chapter 2.
def power_sign(b, e):
    """b^e >= 0 for b >= 0 and e >= 0."""
    return [(">=", b), (">=", e)], (">=", power(b, e))


def bernoulli(b, e):
    """b^e >= 1 + e (b - 1) for b >= 0 and e >= 1: a convex function lies above its tangent at 1."""
    return [(">=", b), (">=", e - ONE)], (">=", power(b, e) - ONE - e * (b - ONE))


def bernoulli_below(b, e):
    """b^e <= 1 + e (b - 1) for b >= 0 and 0 <= e <= 1: a concave function lies below its tangent at 1."""
    return [(">=", b), (">=", e), (">=", ONE - e)], (">=", ONE + e * (b - ONE) - power(b, e))


def power_at_least_one(b, e): return [(">=", b - ONE), (">=", e)], (">=", power(b, e) - ONE)
def power_at_most_one(b, e): return [(">=", b), (">=", ONE - b), (">=", e)], (">=", ONE - power(b, e))


def powers_rise(b, e, f):
    """b^e <= b^f for b >= 1 and e <= f."""
    return [(">=", b - ONE), (">=", f - e)], (">=", power(b, f) - power(b, e))


def powers_fall(b, e, f):
    """b^e >= b^f for 0 <= b <= 1 and 0 <= e <= f."""
    return [(">=", b), (">=", ONE - b), (">=", e), (">=", f - e)], (">=", power(b, e) - power(b, f))


def bases_rise(b, c, e):
    """b^e <= c^e for 0 <= b <= c and e >= 0."""
    return [(">=", b), (">=", c - b), (">=", e)], (">=", power(c, e) - power(b, e))


def powers_add(b, e, f):
    """b^(e + f) = b^e b^f for b > 0."""
    return [(">", b)], ("==", power(b, e + f) - power(b, e) * power(b, f))


def next_power(b, e):
    """b^(e + 1) = b b^e for b >= 0 and e >= 0."""
    return [(">=", b), (">=", e)], ("==", power(b, e + ONE) - b * power(b, e))


def power_of_power(b, e, f):
    """b^(e f) = (b^e)^f for b > 0."""
    return [(">", b)], ("==", power(b, e * f) - power(power(b, e), f))


def power_of_product(b, c, e):
    """(b c)^e = b^e c^e for b > 0 and c > 0."""
    return [(">", b), (">", c)], ("==", power(b * c, e) - power(b, e) * power(c, e))


def whole_powers(b, e, f):
    """b^(e f) = (b^e)^f for whole e and f of at least 0, whatever b is."""
    return [("whole", e), ("whole", f), (">=", e), (">=", f)], ("==", power(b, e * f) - power(power(b, e), f))


# exponentials and logarithms: exp lies above its tangents (the same book, 4.2)
def tangent(e): return [], (">=", exponential(e) - ONE - e)
def exponentials_rise(e, f): return [(">=", f - e)], (">=", exponential(f) - exponential(e))
def exponentials_add(e, f): return [], ("==", exponential(e + f) - exponential(e) * exponential(f))


def power_below_exponential(b, e):
    """b^e <= exp(e (b - 1)) for b >= 0 and e >= 0, as b <= exp(b - 1)."""
    return [(">=", b), (">=", e)], (">=", exponential(e * (b - ONE)) - power(b, e))


def logarithm_below(x): return [(">", x)], (">=", x - ONE - logarithm(x))
def logarithm_above(x): return [(">", x)], (">=", logarithm(x) - ONE + power(x, constant(-1)))
def logarithms_rise(x, y): return [(">", x), (">=", y - x)], (">=", logarithm(y) - logarithm(x))
def logarithms_add(x, y): return [(">", x), (">", y)], ("==", logarithm(x * y) - logarithm(x) - logarithm(y))
def logarithm_of_power(x, e): return [(">", x)], ("==", logarithm(power(x, e)) - e * logarithm(x))
def exponential_of_logarithm(x): return [(">", x)], ("==", exponential(logarithm(x)) - x)
def logarithm_of_exponential(e): return [], ("==", logarithm(exponential(e)) - e)


# roots, and what is compared by squares
def roots_rise(p, q, degree):
    n = degree.number()
    require(n is not None and n.denominator == 1 and n > 1, "a root has a whole degree of at least 2")
    return [(">=", p), (">=", q - p)], (">=", root(q, int(n)) - root(p, int(n)))


def by_squares(p, q):
    """p <= q where p^2 <= q^2 and q >= 0."""
    return [(">=", q * q - p * p), (">=", q)], (">=", q - p)


def nonzero_square(p):
    """p^2 > 0 for p other than 0."""
    return [("!=", p)], (">", p * p)


def whole_step(p):
    """p >= 1 for a whole number p > 0; that it is whole is a premise of its own."""
    return [(">", p), ("whole", p)], (">=", p - ONE)


def floor_below(p): return [], (">=", p - of_atom(("floor", p)))
def floor_above(p): return [], (">", of_atom(("floor", p)) - p + ONE)
def ceiling_above(p): return [], (">=", of_atom(("ceiling", p)) - p)
def ceiling_below(p): return [], (">", p + ONE - of_atom(("ceiling", p)))


# numbers that are 0 or 1
def binary_below(p): return [("==", p * (ONE - p))], (">=", ONE - p)


def binary_order(p, q):
    """p = p q for p <= q."""
    return [("==", p * (ONE - p)), ("==", q * (ONE - q)), (">=", q - p)], ("==", p * (ONE - q))


# the largest and the least of numbers, and absolute values
def largest(p, *others):
    """The largest of numbers is at least the first."""
    return [], (">=", extreme("Max", p, *others) - p)


def least(p, *others): return [], (">=", p - extreme("Min", p, *others))
def at_least_all(p, *others): return [(">=", p - q) for q in others], (">=", p - extreme("Max", *others))
def at_most_all(p, *others): return [(">=", q - p) for q in others], (">=", extreme("Min", *others) - p)
def above_all(p, *others): return [(">", p - q) for q in others], (">", p - extreme("Max", *others))
def below_all(p, *others): return [(">", q - p) for q in others], (">", extreme("Min", *others) - p)


def one_of(p, q):
    """The larger of two numbers is one of them."""
    return [], ("==", (extreme("Max", p, q) - p) * (extreme("Max", p, q) - q))


def absolute(p): return [], (">=", of_atom(("Abs", p)) - p)
def absolute_below(p): return [], (">=", of_atom(("Abs", p)) + p)
def absolute_at_most(p, q): return [(">=", q - p), (">=", q + p)], (">=", q - of_atom(("Abs", p)))
def absolute_square(p): return [], ("==", of_atom(("Abs", p)) * of_atom(("Abs", p)) - p * p)


# vectors: Cauchy-Schwarz and what follows from it
def square(u): return [], (">=", dot(u, u))
def length_squared(u): return [], ("==", length(u) * length(u) - dot(u, u))
def length_sign(u): return [], (">=", length(u))
def same_length(u, v):
    """|u| = |v| where |u - v|^2 = 0."""
    return [("==", squared_distance(u, v))], ("==", length(u) - length(v))


def squared_distance(u, v):
    d = combined([u, scaled(v, constant(-1))])
    return dot(d, d)


def triangle(u, v): return [], (">=", length(u) + length(v) - length(combined([u, v])))
def multiple(u, p): return [(">=", p)], ("==", length(scaled(u, p)) - p * length(u))
def cauchy_schwarz(u, v): return [], (">=", dot(u, u) * dot(v, v) - dot(u, v) * dot(u, v))
def product_of_lengths(u, v): return [], (">=", length(u) * length(v) - dot(u, v))


def length_at_most(u, p):
    """|u| <= p where |u|^2 <= p^2 and p >= 0."""
    return [(">=", p * p - dot(u, u)), (">=", p)], (">=", p - length(u))


NUMBERS = {f.__name__.replace("_", " "): f for f in (
    power_sign, bernoulli, bernoulli_below, power_at_least_one, power_at_most_one, powers_rise, powers_fall, bases_rise,
    powers_add, next_power, power_of_power, power_of_product, whole_powers, tangent, exponentials_rise, exponentials_add,
    power_below_exponential, logarithm_below, logarithm_above, logarithms_rise, logarithms_add, logarithm_of_power,
    exponential_of_logarithm, logarithm_of_exponential, roots_rise, by_squares, nonzero_square, whole_step, floor_below,
    floor_above, ceiling_above, ceiling_below, binary_below, binary_order, largest, least, at_least_all, at_most_all,
    above_all, below_all, one_of, absolute, absolute_below, absolute_at_most, absolute_square)}
#: lemmas of vectors; the last argument of some is a number
VECTORS = {"square": (square, 1, 0), "length squared": (length_squared, 1, 0), "length sign": (length_sign, 1, 0),
           "triangle": (triangle, 2, 0), "same length": (same_length, 2, 0),
           "multiple": (multiple, 1, 1), "Cauchy-Schwarz": (cauchy_schwarz, 2, 0),
           "product of lengths": (product_of_lengths, 2, 0), "longer": (length_at_most, 1, 1)}


# sums and products: lemmas about an atom, with the facts about the ends of its range
def arguments_of(p, kind):
    """The arguments of a polynomial that is one sum or product, times a number."""
    require(len(p.terms) == 1, f"a {kind} by itself is asked for")
    (m, c), = p.terms.items()
    require(len(m) == 1 and m[0][1] == 1 and m[0][0][0] == kind and c == 1, f"a {kind} by itself is asked for")
    return m[0][0][1:]


def empty_sum(known, p):
    *_, low, high, _ = arguments_of(p, "Sum")
    return [(">=", low - high - ONE)], ("==", p)


def empty_product(known, p):
    *_, low, high, _ = arguments_of(p, "Product")
    return [(">=", low - high - ONE)], ("==", p - ONE)


def last_term(known, p):
    body, low, high, own = arguments_of(p, "Sum")
    return [(">=", high - low)], ("==", p - sum_of(known, own, body, low, high - ONE) - substitute(known, body, own, high))


def first_term(known, p):
    body, low, high, own = arguments_of(p, "Sum")
    return [(">=", high - low)], ("==", p - sum_of(known, own, body, low + ONE, high) - substitute(known, body, own, low))


def term_of_sum(known, p, place):
    """A sum is the term at a place, and the sums before and after it."""
    body, low, high, own = arguments_of(p, "Sum")
    before, after = sum_of(known, own, body, low, place - ONE), sum_of(known, own, body, place + ONE, high)
    return [("whole", place), (">=", place - low), (">=", high - place)], (
        "==", p - before - substitute(known, body, own, place) - after)


def next_terms(known, p):
    """sum_{i = low}^{high} b_{i+1} = sum_{i = low}^{high} b_i - b_low + b_{high+1} for high >= low - 1, of products of i and
    entries, which have a value behind the last one, too."""
    body, low, high, own = arguments_of(p, "Sum")
    parts = [(a, n) for m in body.terms for a, n in m if has(a, own)]
    parts += [pair for a, _ in parts if a[0] == "entry" for q in a[2:] for m in q.terms for pair in m if has(pair[0], own)]
    require(all(n > 0 and (a == own or a[0] == "entry") for a, n in parts), "the next term may have no value")
    later = sum_of(known, own, substitute(known, body, own, of_atom(own) + ONE), low, high)
    return [(">=", high - low + ONE)], (
        "==", later - p + substitute(known, body, own, low) - substitute(known, body, own, high + ONE))


def last_factor(known, p):
    body, low, high, own = arguments_of(p, "Product")
    shorter = product_of(known, own, body, low, high - ONE)
    return [(">=", high - low)], ("==", p - shorter * substitute(known, body, own, high))


def no_index_in_product(known, p):
    """A product of equal factors is a power."""
    body, low, high, own = arguments_of(p, "Product")
    require(substitute(known, body, own, ZERO) == body, "the factors are not equal")
    return [(">=", high - low + ONE)], ("==", p - power(body, high - low + ONE))


def geometric(known, p):
    """(b - 1) sum_{i = low}^{high} b^(i + e) = b^(high + e + 1) - b^(low + e) for high >= low - 1; for b > 0, or where all
    exponents are whole and at least 0. Also with falling exponents."""
    body, low, high, own = arguments_of(p, "Sum")
    (m, c), = body.terms.items()
    require(len(m) == 1 and m[0][1] == 1 and m[0][0][0] == "pow" and c == 1, "the terms are no powers")
    _, b, e = m[0][0]
    at, after = (substitute(known, e, own, place) for place in (low, high + ONE))
    slope = substitute(known, e, own, of_atom(own) + ONE) - e
    require(b == substitute(known, b, own, ZERO) and slope in (ONE, -ONE), "the exponents do not rise or fall by one")
    if slope == -ONE:  # from the last to the first
        at, after = substitute(known, e, own, high), substitute(known, e, own, low) + ONE
    whole = [(">", b)] if known.implies(">", b) else [("whole", at), (">=", at)]
    return [*whole, (">=", high - low + ONE)], ("==", (b - ONE) * p - power(b, after) + power(b, at))


def length_of_sum(known, p):
    """|sum_i c_i v_i| <= sum_i |c_i| |v_i|."""
    ((v, factor),), = arguments_of(p, "norm")
    require(v[0] == "vsum" and factor == ONE, "the length of a sum is asked for")
    _, c, u, low, high, own = v
    size = c if known.with_index(own, low, high).evident_sign(c) > 0 else of_atom(("Abs", c))
    return [], (">=", sum_of(known, own, size * length({u: ONE}), low, high) - p)


SUMS = {f.__name__.replace("_", " "): f for f in (
    empty_sum, empty_product, last_term, first_term, term_of_sum, next_terms, last_factor, no_index_in_product, geometric,
    length_of_sum)}
