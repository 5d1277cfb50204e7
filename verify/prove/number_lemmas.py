"""Tactics that add lemmas about the powers, exponentials, logarithms, roots, maxima and norms that occur in a goal."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from math import ceil, floor

from verify.checker.intervals import as_interval as interval
from verify.checker.number_digits import interval_of
from verify.checker.polynomials import ONE, ZERO, Poly, constant, of_atom
from verify.prove.number_search import REFUSALS, Search, atoms_of
from verify.prove.number_terms import all_atoms, is_closed

__all__ = ["by_lemmas", "by_sums_and_extremes"]

#: candidates for upper bounds of an exponent
_SIMPLE = [constant(Fraction(n, 4)) for n in (-4, -2, -1, 0, 1, 2, 3, 4, 5, 6, 8, 12, 16)]
_DIGITS = 10**6
_NEXT = 4  # steps by which a power is compared with another one of the same base


def by_sums_and_extremes(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Adds lemmas about the sums, maxima and minima of the goal whose premises follow, then combines facts."""
    return depth > 1 and _add_lemmas(search, relation, p, 0, lambda r, q: False, _lemmas_of_sums_and_extremes)


def by_lemmas(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Adds lemmas about the atoms of the goal, then combines facts: first lemmas whose premises follow, then those whose
    premises are combinations of facts, then all."""
    ways = (lambda r, q: False, lambda r, q: search.combine(r, q, 1), lambda r, q: search.prove(r, q, depth - 1))
    return depth > 0 and (search.known.implies(relation, p) or any(  # perhaps by lemmas that other goals needed
        _add_lemmas(search, relation, p, number, way, _lemma_instances) for number, way in enumerate(ways)))


def _add_lemmas(search: Search, relation: str, p: Poly, number: int, way: Callable, instances: Callable) -> bool:
    """Adds lemmas whose premises follow, or are shown in a ``way`` that has a ``number``; whether the goal then follows."""
    wrote = _add_digits(search, p)
    for lemma, premises, args in instances(search, p, _atoms_by_kind(search, p)):
        called = lemma, repr(args)
        if called in search.failed or (*called, number) in search.failed:
            continue
        search.failed.add((*called, number))
        if all(search.known.implies(r, q) or way(r, q) for r, q in premises) and (name := search.lemma(lemma, *args)):
            search.failed.add(called)
            wrote = _add_digits(search, search.known.facts[name].poly) or True
            if search.known.implies(relation, p) or (number and search.combine(relation, p, 1)):
                return True
    return wrote and any(search.combine(relation, p, degree) for degree in (1, 2))


def _add_digits(search: Search, p: Poly) -> bool:
    """Adds rational bounds of atoms without names; returns whether it added any."""
    wrote = False
    for a in sorted(atoms_of(p), key=repr):
        if a[0] not in ("exp", "log", "root", "pow") or ("digits", a) in search.failed:
            continue
        search.failed.add(("digits", a))
        try:
            found = interval(interval_of(of_atom(a)))
        except REFUSALS:
            continue
        low, high = (constant(Fraction(round_(end * _DIGITS), _DIGITS)) for round_, end in (
            (floor, found.low), (ceil, found.high)))
        for q in (high - of_atom(a), of_atom(a) - low):
            wrote = search.step("digits", shows=search.shows(">=", q)) is not None or wrote
    return wrote


def _atoms_by_kind(search: Search, p: Poly) -> dict:
    """The atoms of a goal and of the facts that share some, by kind."""
    atoms = all_atoms(p)
    for fact in search.known.facts.values():
        if not fact.ranges and atoms_of(fact.poly) & atoms_of(p):
            atoms |= all_atoms(fact.poly)
    kinds: dict = {}
    for a in sorted(atoms, key=repr):
        if a[0] in ("Sum", "Product") or is_closed(a):
            kinds.setdefault(a[0], []).append(a)
    return kinds


def _lemma_instances(search: Search, p: Poly, kinds: dict):
    """Yields (lemma, premises, arguments) for the atoms of a goal and of the facts that share some."""
    for a in [*kinds.get("entry", []), *kinds.get("name", [])]:
        q = of_atom(a)
        if any(fact.relation == "==" and fact.poly in (q * q - q, q - q * q) for fact in search.known.facts.values()):
            yield "binary below", [], (q,)
    for a in kinds.get("floor", []):
        yield "floor below", [], (a[1],)
        yield "floor above", [], (a[1],)
    for a in kinds.get("ceiling", []):
        yield "ceiling above", [], (a[1],)
        yield "ceiling below", [], (a[1],)
    if search.known.is_whole(p):
        yield "whole step", [(">", p + ONE)], (p + ONE,)
    for a in kinds.get("Abs", []):
        yield "absolute", [], (a[1],)
        yield "absolute below", [], (a[1],)
        for q in [of_atom(b) for b in kinds.get("name", []) if search.known.sign_of_atom(b) > 0]:
            yield "absolute at most", [(">=", q - a[1]), (">=", q + a[1])], (a[1], q)
    roots = kinds.get("root", [])
    for _, x, degree in roots:
        for q, above in _plain_bounds(search, x):
            small, large = (x, q) if above else (q, x)
            yield "roots rise", [(">=", small)], (small, large, constant(degree))
    for a, b in permutations(roots, 2):
        if a[2] == b[2] and (atoms_of(a[1]) & atoms_of(b[1]) or search.known.implies(">=", b[1] - a[1])):
            yield "roots rise", [(">=", a[1]), (">=", b[1] - a[1])], (a[1], b[1], constant(a[2]))
    powers = kinds.get("pow", [])
    for _, b, e in powers:
        yield "power sign", [(">=", b), (">=", e)], (b, e)
        yield "bernoulli", [(">=", b), (">=", e - ONE)], (b, e)
        yield "bernoulli below", [(">=", b), (">=", e), (">=", ONE - e)], (b, e)
        yield "power at least one", [(">=", b - ONE), (">=", e)], (b, e)
        yield "power at most one", [(">=", b), (">=", ONE - b), (">=", e)], (b, e)
        yield "powers fall", [(">=", b), (">=", ONE - b), (">=", e - ONE)], (b, ONE, e)
        yield "powers rise", [(">=", b - ONE), (">=", e - ONE)], (b, ONE, e)
        yield from _powers_of_parts(search, b, e)
    for (_, b, e), (_, c, f) in permutations(powers, 2):
        yield from _powers_of_sums(b, e, f) if b == c else ()
        if e == f:
            yield "bases rise", [(">=", b), (">=", c - b), (">=", e)], (b, c, e)
        if b == c:
            yield "powers rise", [(">=", b - ONE), (">=", f - e)], (b, e, f)
            yield "powers fall", [(">=", b), (">=", ONE - b), (">=", e), (">=", f - e)], (b, e, f)
    exponents = [a[1] for a in kinds.get("exp", [])]
    for e in exponents:
        yield "tangent", [], (e,)
        bound = None if e.number() is not None else next((q for q in _SIMPLE if search.prove(">=", q - e, 0)), None)
        if bound is not None:
            yield "exponentials rise", [], (e, bound)
    for e, f in permutations([*exponents, *([ZERO] if exponents else [])], 2):
        yield "exponentials rise", [(">=", f - e)], (e, f)
    for e in exponents:
        yield from (("exponentials rise", [], (e, q) if above else (q, e)) for q, above in _plain_bounds(search, e))
    for _, b, e in powers:
        yield "power below exponential", [(">=", b), (">=", e)], (b, e)
        bound = next((q for q in _SIMPLE if search.prove(">=", q - e * (b - ONE), 0)), None)
        if bound is not None:
            yield "exponentials rise", [], (e * (b - ONE), bound)
    for a in kinds.get("log", []):
        yield from _logarithms_of_parts(search, a[1])
        yield "logarithm below", [(">", a[1])], (a[1],)
        yield "logarithm above", [(">", a[1])], (a[1],)
        for q, above in _plain_bounds(search, a[1]):
            small, large = (a[1], q) if above else (q, a[1])
            yield "logarithms rise", [(">", small)], (small, large)
    for a, b in permutations(kinds.get("log", []), 2):
        yield "logarithms rise", [(">", a[1]), (">=", b[1] - a[1])], (a[1], b[1])
    for a in kinds.get("norm", []):
        v = dict(a[1])
        yield "length squared", [], (v,)
        if len(v) > 1:
            parts = [{u: c} for u, c in v.items()]
            yield "triangle", [], (parts[0], _merge_parts(parts[1:]))
        for u, c in v.items():
            for q in (c, -c) if c != ONE else ():
                yield "multiple", [(">=", q)], ({u: ONE}, q)
    for a in kinds.get("dot", []):
        u, v = a[1:]
        if u != v:
            yield "Cauchy-Schwarz", [], ({u: ONE}, {v: ONE})
            if kinds.get("norm"):
                yield "product of lengths", [], ({u: ONE}, {v: ONE})
                yield "product of lengths", [], ({u: ONE}, {v: constant(-1)})
            yield "square", [], ({u: ONE, v: ONE},)
            yield "square", [], ({u: ONE, v: constant(-1)},)
    yield from _lemmas_of_sums_and_extremes(search, p, kinds)


def _lemmas_of_sums_and_extremes(search: Search, p: Poly, kinds: dict):
    """Yields (lemma, premises, arguments) for sums, maxima and minima."""
    for a in kinds.get("Max", []):
        for q in a[1:]:
            yield "largest", [], (q, *(r for r in a[1:] if r != q))
    for a in kinds.get("Min", []):
        for q in a[1:]:
            yield "least", [], (q, *(r for r in a[1:] if r != q))
    for a in kinds.get("norm", []):
        if len(a[1]) == 1 and a[1][0][0][0] == "vsum":
            yield "length of sum", [], (of_atom(a),)
    for a in kinds.get("Sum", []):
        yield "geometric", [], (of_atom(a),)
        arrays = {b[1] for b in atoms_of(a[1]) if b[0] == "entry"}
        for place in dict.fromkeys(b[2] for b in kinds.get("entry", []) if b[1] in arrays and len(b) == 3):
            yield "term of sum", [(">=", place - a[2]), (">=", a[3] - place)], (of_atom(a), place)


def _powers_of_parts(search: Search, b: Poly, e: Poly):
    """Yields lemmas that write a power of a product, or one with an even exponent, as powers of what is in them."""
    first, rest = _parts(b)
    if rest != ONE:
        yield "power of product", [(">", first), (">", rest)], (first, rest, e)
    half = e * constant(Fraction(1, 2))
    if search.known.is_whole(half):
        yield "whole powers", [(">=", half)], (b, half, constant(2))
    if len(b.terms) == 1:
        (m,) = b.terms
        a, n = m[0] if len(m) == 1 and b.terms[m] == 1 else (("",), 0)
        if a[0] == "pow" and n == 1:
            yield "power of power", [(">", a[1])], (*a[1:], e)
        elif n < 0:
            yield "power of power", [(">", of_atom(a))], (of_atom(a), constant(n), e)
            yield "powers add", [(">", of_atom(a))], (of_atom(a), e * constant(n), e * constant(-n))


def _powers_of_sums(b: Poly, e: Poly, f: Poly):
    """Yields lemmas by which a power with the exponent e is one with f, times another one."""
    more = (e - f).number()
    if more is None or more.denominator > 1:
        yield "powers add", [(">", b)], (b, f, e - f)
    else:
        for n in range(min(int(more), _NEXT)):
            yield "next power", [(">=", b), (">=", f + constant(n))], (b, f + constant(n))


def _logarithms_of_parts(search: Search, x: Poly):
    """Yields lemmas about the logarithm of a product, a power or an exponential."""
    first, rest = _parts(x)
    if rest != ONE:
        yield "logarithms add", [(">", first), (">", rest)], (first, rest)
    for part in (first, rest) if len(x.terms) == 1 else ():
        if len(part.terms) == 1 and (m := next(iter(part.terms))) and part.terms[m] == 1:
            (a, n), = m
            if a[0] == "exp" and n == 1:
                yield "logarithm of exponential", [], (a[1],)
            elif a[0] == "pow" and n == 1:
                yield "logarithm of power", [(">", a[1])], a[1:]
            elif a[0] == "root":
                yield "logarithm of power", [(">", a[1])], (a[1], constant(Fraction(n, a[2])))
            elif a[0] == "inv":
                yield "logarithm of power", [(">", a[1])], (a[1], constant(-n))
            elif n != 1:
                yield "logarithm of power", [(">", of_atom(a))], (of_atom(a), constant(n))


def _parts(p: Poly) -> tuple[Poly, Poly]:
    """The first factor of a polynomial with one term, and the others; the polynomial and 1 if it has more."""
    if len(p.terms) != 1:
        return p, ONE
    (m, c), = p.terms.items()
    if c != 1 or not m:
        return Poly({m: Fraction(1)}), constant(c)
    return Poly({m[:1]: Fraction(1)}), Poly({m[1:]: Fraction(1)})


def _plain_bounds(search: Search, p: Poly):
    """Yields (number, whether it is an upper bound) of what facts say about a polynomial alone."""
    m = next((m for m in p.terms if m), None)
    for fact in [*search.known.facts.values()] if m else ():
        times = -fact.poly.terms.get(m, 0) / p.terms[m]
        if times and not fact.ranges and fact.relation in (">=", ">", "=="):
            number = (fact.poly * constant(1 / times) + p).number()
            for above in (True, False) if number is not None else ():
                if fact.relation == "==" or above == (times > 0):
                    yield constant(number), above


def _merge_parts(parts):
    return {u: c for part in parts for u, c in part.items()}
