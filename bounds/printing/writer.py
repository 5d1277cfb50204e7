"""Writes expressions of the language of claims as a paper prints them, in LaTeX or as text for terminals."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace

import sympy as sp

from bounds.language import operators
from bounds.language.alternatives import alternatives
from bounds.language.claim import Condition
from bounds.language.notation import (
    ATOM,
    INDEX_NAMES,
    POWER,
    PRODUCT,
    SUM,
    Notation,
    bare_arguments,
    binding,
    notation_text,
    plain,
)
from bounds.language.space import without_points

__all__ = ["LatexWriter", "UnicodeWriter", "Writer"]


class Writer(ABC):
    """The common grammar of both writers.

    ``letters``: the paper's letters by code name, or None for code names. A writer keeps the texts of all subexpressions.
    """

    def __init__(self, letters: Mapping[str, Notation] | None):
        self.letters = letters
        self.written: dict[sp.Basic, tuple[str, int]] = {}

    def text(self, expression) -> str:
        """The expression as text."""
        return self.parts(sp.sympify(expression))[0]

    def at_level(self, e, level: int) -> str:
        """The expression, in parentheses if it binds less tightly than ``level``."""
        text, own = self.parts(e)
        return text if own >= level else self.group(text)

    def parts(self, e) -> tuple[str, int]:
        """The text of an expression, and how tightly it binds."""
        if e not in self.written:
            self.written[e] = self.new_parts(e)
        return self.written[e]

    def new_parts(self, e) -> tuple[str, int]:
        """The ``parts`` of a new expression."""
        if e.is_Integer:
            return self.minus(str(abs(e)), e < 0), ATOM if e >= 0 else SUM
        if e.is_Symbol:
            return self.symbol(e.name, ())
        if e == sp.E:
            return "e", ATOM
        if isinstance(e, sp.Indexed):
            return self.symbol(str(e.base.label), tuple(map(self.index, e.indices)))
        if e.is_Add:
            return self.add(e), SUM
        if e.is_Mul or e.is_Rational or (e.is_Pow and e.exp.is_negative):
            return self.multiply(e)
        if e.is_Pow:
            if self.letters is not None and e.exp.is_Rational and e.exp.q == 2 and (root := self.root(e.base)):
                return (root, ATOM) if e.exp.p == 1 else (self.power(root, str(e.exp.p)), POWER)
            return self.power(self.raised(e.base), self.text(e.exp)), POWER
        if isinstance(e, sp.Sum | sp.Product):
            return self.accumulate(e), PRODUCT
        if isinstance(e, operators.Operator):
            return self.operator(e)
        return self.function(e), ATOM

    def index(self, e) -> str:
        return self.text(e)

    def symbol(self, name: str, indices: tuple[str, ...]) -> tuple[str, int]:
        """The letter, and how tightly it binds: a letter may itself be a sum or a product."""
        if name in INDEX_NAMES and not indices:
            return name, ATOM
        text = notation_text(name, indices, self.letters)
        return self.typeset(text), ATOM if self.letters is None else binding(text)

    def typeset(self, latex: str) -> str:
        return latex

    def root(self, e) -> str | None:
        """The root of a name with a square as its letter, such as sigma^2."""
        if not isinstance(e, sp.Symbol | sp.Indexed):
            return None
        name, indices = (e.name, ()) if e.is_Symbol else (str(e.base.label), tuple(map(self.index, e.indices)))
        square = notation_text(name, indices, self.letters)
        return self.typeset(square.removesuffix("^2")) if square.endswith("^2") else None

    # sums and products -----------------------------------------------------------------------------------------------
    def add(self, e) -> str:
        text = ""
        for coefficient, rest in _ordered_terms(e):
            term = self.at_level(abs(coefficient) * rest, PRODUCT)
            sign = self.minus_sign if coefficient < 0 else "+"
            text += f" {sign} {term}" if text else self.minus(term, coefficient < 0)
        return text

    def multiply(self, e) -> tuple[str, int]:
        coefficient, rest = e.as_coeff_Mul()
        above, below = ([] if abs(coefficient.p) == 1 else [sp.Integer(abs(coefficient.p))]), []
        if coefficient.q != 1:
            below.append(sp.Integer(coefficient.q))
        for factor in sp.Mul.make_args(rest) if rest != 1 else ():
            base, exponent = factor.as_base_exp()
            if exponent.is_negative:
                below.append(base**-exponent)
            else:
                above.append(factor)
        above, below = sorted(above, key=_factor_place), sorted(below, key=_factor_place)
        heavy = [f for f in above if _factor_place(f) >= _HEAVY] if below else []
        light = [f for f in above if f not in heavy]
        text = self.fraction(self.product(light), self.under(below)) if below else self.product(light)
        if heavy:
            text += self.times + self.side_by_side(self.product_parts(heavy))
        negative = coefficient < 0
        return self.minus(text, negative), SUM if negative else PRODUCT

    def product(self, factors) -> str:
        if not factors:
            return "1"
        if len(factors) == 1:
            return self.alone(factors[0])
        return self.side_by_side(self.product_parts(factors))

    def under(self, factors) -> str:
        return self.product(factors)

    def product_parts(self, factors) -> list[str]:
        last = len(factors) - 1
        return [self.at_level(f, PRODUCT if i == last else POWER) for i, f in enumerate(factors)]

    def accumulate(self, e) -> str:
        body, text = e.function, ""
        for index, low, high in reversed(e.limits):
            members, body = self.members(body, index, low, high)
            sign = self.signs[sp.Sum if isinstance(e, sp.Sum) else sp.Product]
            text += f"{sign}_{{{members}}} " if members else f"{sign}_{{{index}={self.index(low)}}}^{{{self.index(high)}}} "
        return text + self.at_level(body, PRODUCT)

    def members(self, body, index, low, high):
        """The set of clients in a sum with a priority mask, and the summand without the mask; None if there is no mask."""
        mask = operators.priority[index]
        if self.letters is None or low != 0 or high != operators.clients - 1:
            return None, body
        for factor, form in ((mask, self.member), (1 - mask, self.no_member)):
            if factor in sp.Mul.make_args(body):
                return filled(form, [str(index)]), sp.Mul(*(f for f in sp.Mul.make_args(body) if f != factor))
        return None, body

    def raised(self, base) -> str:
        """A base that takes an exponent."""
        text = self.at_level(base, ATOM)
        if isinstance(base, operators.norm):
            return text
        stacked = any(mark in text for mark in ("^", "'", "²", "*")) and not text.startswith(("(", r"\left("))
        return self.group(text) if stacked or isinstance(base, operators.norm2) else text

    # conditions ------------------------------------------------------------------------------------------------------
    def ranges(self, condition: Condition) -> str:
        """The points at all of which a condition holds, and the ranges of its indices."""
        *_, points = without_points(condition.left, condition.relation, condition.right)
        return self.apart.join([*([self.every + ", ".join(map(self.text, points))] if points else []), *(
            f"{index} = {self.text(low)}" + ("" if low == high else f", {self.dots}, {self.text(high)}")
            for index, low, high in condition.over)])

    def condition(self, condition: Condition) -> str:
        """``left relation right``, with the ranges of its indices."""
        ranges = self.ranges(condition)
        return self.relation(condition) + (self.scope + ranges if ranges else "")

    def relation(self, condition: Condition) -> str:
        """``left relation right``, or several of these of which one holds; at a point of those at all of which it holds."""
        left, right, _ = without_points(condition.left, condition.relation, condition.right)
        condition = replace(condition, left=left, right=right)
        return self.either.join(f"{self.text(c.left)} {self.relations[c.sign]} {self.text(c.right)}"
                                for c in alternatives(condition) or [condition])

    # functions -------------------------------------------------------------------------------------------------------
    def function(self, e) -> str:
        if isinstance(e, sp.Abs):
            return self.enclosed("|", self.text(e.args[0]))
        if isinstance(e, sp.floor | sp.ceiling):
            return self.enclosed(type(e).__name__, self.text(e.args[0]))
        if isinstance(e, sp.exp | sp.log):
            return self.backslash + type(e).__name__.lower() + self.group(self.text(e.args[0]))
        if isinstance(e, sp.Max | sp.Min):
            texts = ", ".join(self.text(a) for a in sorted(e.args, key=str))
            return self.backslash + type(e).__name__.lower() + self.enclosed("{", texts)
        raise TypeError(f"no way to write {e} ({type(e).__name__})")

    def operator(self, e) -> tuple[str, int]:
        """An operator's form with its arguments. Those that no parenthesis encloses bind at least as products."""
        form = self.form(type(e).__name__, e)
        bare = bare_arguments(form)
        texts = [self.index(a) if n in e.indices else self.at_level(a, PRODUCT) if n in bare else self.text(a)
                 for n, a in enumerate(e.args)]
        return filled(form, texts), binding(form)

    def form(self, name: str, operator) -> str:
        """The form of an operator of this name: the paper's, if its letters have one with arguments, else the operator's
        own: a number of a paper may have the name of an operator."""
        letter = (self.letters or {}).get(name)
        return self.typeset(letter.latex) if letter and "<0>" in letter.latex else getattr(operator, self.own_form)

    def enclosed(self, kind: str, text: str) -> str:
        left, right = self.brackets[kind]
        return f"{left}{text}{right}"

    def group(self, text: str) -> str:
        return self.enclosed("(", text)

    def minus(self, text: str, negative: bool) -> str:
        return f"{self.minus_sign}{text}" if negative else text

    def alone(self, factor) -> str:
        return self.text(factor)

    @staticmethod
    def side_by_side(texts) -> str:
        return " ".join(texts)

    @abstractmethod
    def power(self, base: str, exponent: str) -> str: ...
    @abstractmethod
    def fraction(self, above: str, below: str) -> str: ...


def filled(form: str, texts: list[str]) -> str:
    """A form with texts in place of ``<0>``, ``<1>``, ..."""
    for place, text in enumerate(texts):
        form = form.replace(f"<{place}>", text)
    return form


class LatexWriter(Writer):
    """LaTeX without dollar signs."""

    own_form, minus_sign, times, backslash = "latex_form", "-", " ", "\\"
    relations = {"<=": r"\le", "==": "=", ">=": r"\ge", "<": "<", ">": ">"}
    apart, dots, scope = r",\; ", r"\ldots", r" \quad \text{for }"
    either, every = r" \;\text{ or }\; ", r"\text{all } "
    signs = {sp.Sum: r"\sum", sp.Product: r"\prod"}
    member, no_member = r"<0> \in \mathcal{P}", r"<0> \notin \mathcal{P}"
    brackets = {"(": (r"\left(", r"\right)"), "{": (r"\left\{", r"\right\}"), "|": (r"\left|", r"\right|"),
                "floor": (r"\left\lfloor ", r"\right\rfloor"), "ceiling": (r"\left\lceil ", r"\right\rceil")}

    def power(self, base, exponent):
        return f"{base}^{{{exponent}}}"

    def fraction(self, above, below):
        return rf"\frac{{{above}}}{{{below}}}"


_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class UnicodeWriter(Writer):
    """One line of text for terminals."""

    own_form, minus_sign, times, backslash = "text_form", "−", " · ", ""
    relations, apart, dots, scope = {"<=": "≤", "==": "=", ">=": "≥", "<": "<", ">": ">"}, ", ", "…", "   for "
    either, every = "   or   ", "all "
    signs = {sp.Sum: "Σ", sp.Product: "Π"}
    member, no_member = "<0>∈P", "<0>∉P"
    brackets = {"(": "()", "{": "{}", "|": "||", "floor": "⌊⌋", "ceiling": "⌈⌉"}

    def typeset(self, latex):
        return plain(latex)

    def index(self, e):
        return self.text(e).replace(" ", "")

    def power(self, base, exponent):
        return base + exponent.translate(_RAISED) if exponent.isdigit() else f"{base}^({exponent})"

    def alone(self, factor):
        return self.at_level(factor, POWER)

    def under(self, factors):
        text = self.product(factors)
        letters = len(factors) == 1 and isinstance(factors[0], sp.Symbol | sp.Indexed)
        return self.group(text) if letters and self.parts(factors[0])[1] == POWER else text

    def fraction(self, above, below):
        return f"{above}/{below if ' ' not in below or _closed(below) else self.group(below)}"


def _closed(text: str) -> bool:
    """Whether the text is one parenthesis from its first to its last letter."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place == len(text) - 1
    return False


# the order of terms and factors ------------------------------------------------------------------------------------------
def _ordered_terms(e):
    """The terms of a sum as (coefficient, rest): positive before negative, long before short; 1 + S, but t + 1."""
    terms = e.as_ordered_terms()
    lengths = {term: len(str(term)) for term in terms}
    if max(lengths.values()) > 20:
        terms = sorted(terms, key=lambda t: (t.is_Symbol, -lengths[t]))
    if e.has(sp.Indexed, sp.Sum):
        terms = sorted(terms, key=lambda t: not t.is_number)
    split = [term.as_coeff_Mul() for term in terms]
    return [t for t in split if t[0] > 0] + [t for t in split if t[0] < 0]


_EARLY = (
    "L", "mu", "eta", "eta_l", "eta_next", "client_weight", "p", "omega", "weight", "aggregate_weight", "proof_gamma",
    "participants", "local_steps",
)

#: factors from this place on are printed behind a fraction, not in its numerator
_HEAVY = 4


def _factor_place(factor) -> float:
    """Place of a factor in a product: numbers, steps and weights, plain sums, letters, norms, long sums, sum signs."""
    if factor.is_number:
        return 0
    if isinstance(factor, sp.Sum | sp.Product):
        return 6
    base = factor.as_base_exp()[0]
    if base.is_Add:
        return 5 if _stacks(base) else 2
    if isinstance(base, sp.Function | sp.Max | sp.Min):
        return 4
    name = str(base.base.label) if isinstance(base, sp.Indexed) else str(base)
    return 1 + _EARLY.index(name) / 100 if name in _EARLY else 3


def _stacks(e) -> bool:
    """Whether a sum is too large for a numerator: it has fractions, inner sums, sum signs or operators but ``tau``."""
    operators_within = any(not isinstance(word, operators.tau) for word in e.atoms(sp.Function))
    nested = e.has(sp.Sum, sp.Product) or any(term.has(sp.Add) for term in e.args)
    return operators_within or nested or any(power.exp.is_negative for power in e.atoms(sp.Pow))
