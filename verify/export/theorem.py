"""Theorems as any proof assistant states them: names, whole numbers, and which multiples of what add up."""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import lcm

from verify.checker.quadratic_forms import APART, LAYER, LOSS, SCENARIO
from verify.export.meaning import meaning, where

__all__ = ["Fact", "Term", "Theorem", "literal", "texts", "theorem"]

_LONG = 10**30
_OURS = ("u_low", "u_high", "times_zero", "above_zero", "all_theorems", "one_round", "the_end", "the_start",
         "by_induction", "none_added")  # names that the languages' texts use


@dataclass(frozen=True)
class Fact:
    """``0 <= above / below``, or ``0 = above / below``."""

    name: str
    above: str
    below: int
    is_zero: bool
    comment: str


@dataclass(frozen=True)
class Term:
    """``number u^q (1 - least u)^p`` times the numerator of a fact; without a fact times 1."""

    number: int
    q: int
    p: int
    fact: Fact | None


@dataclass(frozen=True)
class Theorem:
    """The theorem that the facts imply ``smaller <= larger``, each a pair (numerator, denominator).

    The terms add up to ``by`` times (``by_larger`` times one numerator less ``by_smaller`` times the other); with ``least``
    for all u from 0 to 1/least."""

    name: str
    comment: list
    variables: list
    facts: list
    smaller: tuple
    larger: tuple
    by_smaller: int
    by_larger: int
    by: int
    terms: list
    least: int | None


def theorem(name, inequality, comment) -> Theorem:
    """The theorem that an inequality is."""
    one, seen = inequality, {}
    identifiers = _Identifiers()
    facts = {}
    for name_of, (form, is_zero) in one.facts.items():
        if any(name_of == used for used, *_ in one.multipliers):
            above, below = _text(form, identifiers)
            facts[name_of] = Fact(identifiers.name_of(name_of), above, below, is_zero, meaning(name_of, one.run))
    terms = [(number / facts[used].below, q, p, facts[used]) for used, number, q, p in one.multipliers]
    for number, row, q, p in one.squares:
        key = tuple(row.items())
        if key not in seen:
            above, _ = _text(_square(row), identifiers)
            length = " ".join(_signed(c, f"[{_part(i)}]") for i, c in row.items())
            seen[key] = Fact(identifiers.name_of(f"square {len(seen)}"), above, 1, False, f"the mean of |{length}|^2")
        terms.append((number, q, p, seen[key]))
    terms += [(number, q, p, None) for number, q, p in one.constant if number]
    (left, under_left), (right, under_right) = (_text(side, identifiers) for side in (one.smaller, one.larger))
    small = lcm(under_left, under_right)
    over = lcm(small, *(Fraction(number).denominator for number, *_ in terms))
    used = {key: None for form in (one.smaller, one.larger, *(form for form, _ in one.facts.values())) for key in form}
    vectors = {i % LAYER for key in used if isinstance(key, tuple) for i in key}
    return Theorem(
        name, [*comment, *where(one.run, vectors, {*used})], identifiers.variables, [*facts.values(), *seen.values()],
        (left, under_left), (right, under_right),
        small // under_left, small // under_right, over // small,
        [Term(int(number * over), q, p, fact) for number, q, p, fact in terms], one.least)


def texts(*forms):
    """Forms as texts of rational numbers and variables, and these variables."""
    identifiers = _Identifiers()
    return [f"({above}) / {below}" for above, below in (_text(form, identifiers) for form in forms)], identifiers.variables


def literal(number):
    """A whole number; a long one in hexadecimal digits, which are read in linear time."""
    return str(number) if number < _LONG else hex(number)


def _square(row):
    """The squared length of a combination of vectors."""
    found = {}
    for i, a in row.items():
        for j, b in row.items():
            key = min(i, j), max(i, j)
            found[key] = found.get(key, 0) + Fraction(a * b)
    return {key: (c,) for key, c in found.items()}


def _text(form, identifiers):
    """A form as a numerator of whole numbers and a denominator."""
    below = lcm(*(c.denominator for row in form.values() for c in row))
    parts = []
    for key, row in form.items():
        name = identifiers.of_key(key)
        for j, c in enumerate(row):
            if c:
                parts.append(_signed(int(c * below), " * ".join([*([f"u^{j}"] if j else []), *([name] if name else [])])))
    return " ".join(parts).removeprefix("+ ") or "0", below


def _signed(number, name):
    size = " * ".join([*([str(abs(number))] if abs(number) != 1 or not name else []), *([name] if name else [])])
    return f"{'-' if number < 0 else '+'} {size}"


@cache
def _part(i):
    """A vector, with its layer, as a deviation from the mean of all clients, and with the world of choices, if any."""
    world, inside = divmod(i, SCENARIO)
    apart, whole = inside % APART // LAYER, inside % LAYER
    return f"{whole}{f'l{apart}' * bool(apart)}{'d' * (inside >= APART)}{f'w{world}' * bool(world)}"


class _Identifiers:
    """Names of variables and facts, each unlike all others."""

    def __init__(self):
        self.names, self.variables = {name: name for name in _OURS}, []

    def name_of(self, text, shown=None):
        """The name that stands for a text alone; it looks like what is ``shown``."""
        if text not in self.names:
            found = re.sub(r"[^A-Za-z0-9]+", "_", shown or text).strip("_")
            if not found[:1].isalpha():
                found = f"n_{found}"
            while found.isalpha() or found in self.names.values():  # words of the languages are letters alone
                found += "_"
            self.names[text] = found
        return self.names[text]

    def of_key(self, key):
        """The product of variables that a key of a form stands for."""
        if key == ():
            return ""
        if isinstance(key, tuple):
            return self._variable(f"p {_part(key[0])} {_part(key[1])}")
        if key.endswith("^2"):
            return " * ".join([self._variable(key[:-2])] * 2)
        return self._variable(key, re.sub(f"^{LOSS}(?=[0-9])", "F ", key).removeprefix(LOSS))

    def _variable(self, text, shown=None):
        found = self.name_of(text, shown)
        if found not in self.variables:
            self.variables.append(found)
        return found
