"""Sums and products over an index, vectors, and substitution: the part of the arithmetic of proofs that binds names.

What a sum binds is named by its depth, ("bound", n), so that equal sums are equal atoms. It is opened with a new name before
anything is put in, so that no name is caught.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import count

from verify.checker.polynomials import (
    ONE,
    ZERO,
    Poly,
    constant,
    depth,
    exponential,
    extreme,
    has,
    inverse,
    key,
    logarithm,
    of_atom,
    power,
    random,
    root,
    total,
)

FEW = 8  # terms of a sum that are written out
names = count()


def new_index():
    """An index that occurs nowhere yet."""
    return ("index", f"#{next(names)}")


# sums and products over an index -----------------------------------------------------------------------------------------
def sum_of(known, index, body, low, high):
    """The sum of ``body`` for all whole numbers that the atom ``index`` may be. Factors without the index leave it; what is
    summed has an index named by its depth. ``known``: its ``range_size`` says how many numbers there are."""
    length = (high - low).number()
    if length is not None and length < FEW:
        return total(substitute(known, body, index, low + constant(i)) for i in range(int(length) + 1))
    found = ZERO
    for m, c in body.terms.items():
        outer = Poly({tuple(pair for pair in m if not has(pair[0], index)): c})
        inner = tuple(pair for pair in m if has(pair[0], index))
        require_divisors(known, outer, low, high)
        inside = [a for a, n in inner if n == 1 and a[0] == "dot" and has(a[1], index) != has(a[2], index)]
        if not inner:
            found = found + outer * known.range_size(low, high)
        elif len(inside) == 1 and sum(a[0] == "dot" for a, _ in inner) == 1:
            (a,) = inside
            fixed, moving = (a[2], a[1]) if has(a[1], index) else (a[1], a[2])
            factor = Poly({tuple(pair for pair in inner if pair[0] != a): Fraction(1)})
            found = found + outer * dot(vector_sum(known, index, {moving: factor}, low, high), {fixed: ONE})
        else:
            found = found + outer * of_atom(bound(known, "Sum", index, (Poly({inner: Fraction(1)}),), low, high))
    return found


def require_divisors(known, outer, low, high):
    """Refuses factors that would leave a sum, which may be empty, with a divisor that is not known to be other than 0."""
    for a, n in next(iter(outer.terms)):
        q = a[1] if a[0] == "inv" else of_atom(a) if n < 0 else None
        if q is not None and not (known and (known.implies(">=", high - low) or any(
                known.for_indices_of(q).implies("!=", q * constant(1 / abs(c))) for c in q.terms.values()))):
            raise ValueError("a divisor leaves a sum that may be empty")


def expected(known, p, *given):
    """The mean of a number over all that a run draws, or over what it draws from a round ``given`` on: linear, and taken
    term by term in sums whose ranges are not drawn. The mean of one that is given a round is the mean over all."""
    found = ZERO
    for m, c in p.terms.items():
        outer, inner = parted(known, m, c, given)
        a = inner[0][0] if len(inner) == 1 and inner[0][1] == 1 else ("", "")
        joined = a if a[0] == "Sum" else min(
            (v for v in a[1:] if a[0] == "dot" and v[0] == "vsum"), key=in_turn, default=None)
        if not inner:
            found = found + outer
        elif a[0] == "E" and not given:
            found = found + outer * expected(known, a[1])
        elif joined is None or random(joined[-3:-1]):
            found = found + outer * of_atom(("E", Poly({inner: Fraction(1)}), *given))
        else:
            index, own = new_index(), joined[-1]
            body = substitute(known, joined[1], own, of_atom(index))
            if a[0] == "dot":
                other = a[2] if joined == a[1] else a[1]
                body = body * dot(of_vector(known, {joined[2]: ONE}, own, of_atom(index)), {other: ONE})
            low, high = joined[-3:-1]
            inside = known.with_index(index, low, high) if known else None
            found = found + outer * sum_of(known, index, expected(inside, body, *given), low, high)
    return found


def in_turn(v):
    """A key that orders the sums of vectors to open: the newest ones first; noisy gradients and gradients have the same key,
    whatever the weights."""
    leaf = v
    while leaf[0] == "vsum":
        leaf = leaf[2]
    leaf = ("grad", leaf[3], ((("run", "x_local", *leaf[2:]), ONE),)) if leaf[:2] == ("run", "g") else leaf
    return -newest(v), -v[-1][1], key(leaf), key(v)


@lru_cache(100_000)
def newest(part):
    """The number of the last index that was made and is in a part."""
    if isinstance(part, Poly):
        return max((newest(a) for m in part.terms for a, _ in m), default=0)
    if not isinstance(part, tuple):
        return 0
    return int(part[1][1:]) if part[:1] == ("index",) and part[1][0] == "#" else max(map(newest, part), default=0)


def parted(known, m, c, given):
    """(the known factors of a term, the others): what a mean leaves out, and what it is taken of."""
    out = {a for a, _ in m if is_fixed(known, a, given)}
    return Poly({tuple(pair for pair in m if pair[0] in out): c}), tuple(pair for pair in m if pair[0] not in out)


def is_fixed(known, part, given):
    """Whether a part is surely known where a mean is taken: nothing in it is drawn, or only before the round given."""
    return not random(part) or bool(given and known and known.is_past and known.is_past(known, part, *given))


def expected_vector(known, v, *given):
    """The mean of a vector, as :func:`expected`."""
    found = []
    for a, c in v.items():
        for m, number in c.terms.items():
            outer, inner = parted(known, m, number, given)
            inner = Poly({inner: Fraction(1)})
            if inner == ONE and is_fixed(known, a, given):
                found.append({a: outer})
            elif inner == ONE and a[0] == "vsum" and not random(a[-3:-1]):
                index, (_, factor, u, low, high, own) = new_index(), a
                inside = known.with_index(index, low, high) if known else None
                body = expected_vector(inside, of_vector(known, {u: factor}, own, of_atom(index)), *given)
                found.append(scaled(vector_sum(known, index, body, low, high), outer))
            else:
                found.append({("mean", ((a, inner),), *given): outer})
    return combined(found)


def product_of(known, index, body, low, high):
    length = (high - low).number()
    if length is not None and length < FEW:
        found = ONE
        for i in range(int(length) + 1):
            found = found * substitute(known, body, index, low + constant(i))
        return found
    return of_atom(bound(known, "Product", index, (body,), low, high))


def bound(known, kind, index, parts, low, high):
    """The atom of a sum or product whose index is named by how many lie within."""
    own = ("bound", 1 + max(map(depth, parts)))
    return (kind, *(replaced(known, part, index, of_atom(own)) for part in parts), low, high, own)


# vectors -----------------------------------------------------------------------------------------------------------------
def combined(parts):
    """The sum of vectors."""
    found = {}
    for part in parts:
        for v, c in part.items():
            found[v] = found.get(v, ZERO) + c
    return {v: c for v, c in found.items() if c.terms}


def scaled(v, p): return combined([{a: c * p for a, c in v.items()}])


def dot(u, v):
    return total(c * d * of_atom(("dot", *sorted((a, b), key=key))) for a, c in u.items() for b, d in v.items())


def vector_sum(known, index, v, low, high):
    length = (high - low).number()
    if length is not None and length < FEW:
        return combined(of_vector(known, v, index, low + constant(i)) for i in range(int(length) + 1))
    found = []
    for a, c in v.items():
        if not has(a, index):
            found.append({a: sum_of(known, index, c, low, high)})
            continue
        for m, number in c.terms.items():
            outer = Poly({tuple(pair for pair in m if not has(pair[0], index)): number})
            inner = Poly({tuple(pair for pair in m if has(pair[0], index)): Fraction(1)})
            require_divisors(known, outer, low, high)
            found.append({bound(known, "vsum", index, (inner, a), low, high): outer})
    return combined(found)


def frozen(v):
    """A vector as an argument of an atom."""
    return tuple(sorted(v.items(), key=lambda pair: key(pair[0])))


def length(v):
    """|v| = |-v|; of a multiple by a number the number leaves it."""
    if not v:
        return ZERO
    v = min(v, scaled(v, constant(-1)), key=lambda u: repr(frozen(u)))
    if len(v) == 1 and (c := (pair := next(iter(v.items())))[1].number()) is not None:
        return constant(abs(c)) * of_atom(("norm", ((pair[0], ONE),)))
    return of_atom(("norm", frozen(v)))


# substitution ------------------------------------------------------------------------------------------------------------
def substitute(known, p, atom, q):
    """The polynomial with ``q`` in place of an atom."""
    if not has(p, atom):
        return p
    found = []
    for m, c in p.terms.items():
        part = constant(c)
        for a, n in m:
            if not has(a, atom):
                part = part * of_atom(a, n)
            else:
                b = rebuilt(known, a, atom, q)
                part = part * power(b, constant(n))
        found.append(part)
    return total(found)


def of_vector(known, v, atom, q):
    return combined(scaled(vector_atom(known, a, atom, q), substitute(known, c, atom, q)) for a, c in v.items())


def vector_atom(known, a, atom, q):
    if not has(a, atom):
        return {a: ONE}
    if a[0] == "vsum":
        fresh, (c, v), low, high = opened(known, a, atom, q)
        return vector_sum(known, fresh, scaled(vector_atom(known, v, atom, q), c), low, high)
    return {tuple(replaced(known, part, atom, q) for part in a): ONE}


def replaced(known, part, atom, q):
    """An argument of an atom with ``q`` in place of an atom."""
    if isinstance(part, Poly):
        return substitute(known, part, atom, q)
    if not has(part, atom):
        return part
    if isinstance(part[0], str):  # an atom of a vector
        (found, factor), = vector_atom(known, part, atom, q).items()
        if factor != ONE:
            raise ValueError("an index of a vector has a value that changes its form")
        return found
    return frozen(of_vector(known, dict(part), atom, q))


def opened(known, a, atom, q):
    """(index, parts, low, high) of a sum or product, with a new index, and with ``q`` in place of an atom; the vector of a
    sum of vectors still has the atom."""
    _, *parts, low, high, own = a
    fresh = new_index()
    parts = [replaced(known, part, own, of_atom(fresh)) for part in parts]
    parts = [substitute(known, part, atom, q) if isinstance(part, Poly) else part for part in parts]
    return fresh, parts, *(substitute(known, end, atom, q) for end in (low, high))


def rebuilt(known, a, atom, q):
    """An atom with ``q`` in place of another one, as a polynomial."""
    if a == atom:
        return q
    kind = a[0]
    if kind in ("Sum", "Product"):
        fresh, (body,), low, high = opened(known, a, atom, q)
        return (sum_of if kind == "Sum" else product_of)(known, fresh, body, low, high)
    if kind == "dot":
        return dot(*(vector_atom(known, part, atom, q) for part in a[1:]))
    if kind == "norm":
        return length(of_vector(known, dict(a[1]), atom, q))
    if kind == "E":
        return expected(known, *(substitute(known, part, atom, q) for part in a[1:]))
    parts = [replaced(known, part, atom, q) for part in a[1:] if not isinstance(part, (str, int))]
    make = {"inv": inverse, "pow": power, "root": lambda p: root(p, a[2]), "exp": exponential, "log": logarithm,
            "Max": lambda *p: extreme("Max", *p), "Min": lambda *p: extreme("Min", *p)}.get(kind)
    return make(*parts) if make else of_atom((kind, *(p if isinstance(p, (str, int)) else parts.pop(0) for p in a[1:])))
