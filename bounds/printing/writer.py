"""Writes expressions of the language of claims as a paper prints them, in LaTeX or as text for terminals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import sympy as sp

from bounds.language import functions as on_functions
from bounds.language import words
from bounds.language.letters import (
    ATOM as _ATOM,
)
from bounds.language.letters import (
    INDEX_NAMES,
    Letter,
    bare_arguments,
    binding,
    letter_text,
    plain,
)
from bounds.language.letters import (
    POWER as _POWER,
)
from bounds.language.letters import (
    PRODUCT as _PRODUCT,
)
from bounds.language.letters import (
    SUM as _SUM,
)
from bounds.printing.term_order import HEAVY, factor_place, ordered_terms

__all__ = ["LatexWriter", "UnicodeWriter", "Writer"]


class Writer(ABC):
    """Common grammar; what a text looks like is left to the two writers.

    ``letters``: the paper's letters by code name, or None for code names. A writer remembers what it has written.
    """

    def __init__(self, letters: Mapping[str, Letter] | None):
        self.letters = letters
        self.written: dict[sp.Basic, tuple[str, int]] = {}

    def text(self, expression) -> str:
        """The expression as text."""
        return self.parts(sp.sympify(expression))[0]

    def at(self, e, level: int) -> str:
        """The expression, in parentheses if it binds less tightly than ``level``."""
        text, own = self.parts(e)
        return text if own >= level else self.group(text)

    def parts(self, e) -> tuple[str, int]:
        """The text of an expression and how tightly it holds together."""
        if e not in self.written:
            self.written[e] = self.new_parts(e)
        return self.written[e]

    def new_parts(self, e) -> tuple[str, int]:
        """``parts`` of what was not written before."""
        if e.is_Integer:
            return self.minus(str(abs(e)), e < 0), _ATOM if e >= 0 else _SUM
        if e.is_Symbol:
            return self.letter(e.name, ())
        if e == sp.E:
            return "e", _ATOM
        if isinstance(e, sp.Indexed):
            return self.letter(str(e.base.label), tuple(map(self.index, e.indices)))
        if e.is_Add:
            return self.add(e), _SUM
        if e.is_Mul or e.is_Rational or (e.is_Pow and e.exp.is_negative):
            return self.multiply(e)
        if e.is_Pow:
            if self.letters is not None and e.exp.is_Rational and e.exp.q == 2 and (root := self.root(e.base)):
                return (root, _ATOM) if e.exp.p == 1 else (self.power(root, str(e.exp.p)), _POWER)
            return self.power(self.raised(e.base), self.text(e.exp)), _POWER
        if isinstance(e, sp.Sum | sp.Product):
            return self.accumulate(e), _PRODUCT
        if isinstance(e, words.PaperWord):
            return self.own_word(e)
        return self.word(e), _ATOM

    def index(self, e) -> str:
        return self.text(e)

    def letter(self, name: str, indices: tuple[str, ...]) -> tuple[str, int]:
        """The letter, and how tightly it holds together: a letter may itself be a sum or a product."""
        if name in INDEX_NAMES and not indices:
            return name, _ATOM
        text = letter_text(name, indices, self.letters)
        return self.typeset(text), _ATOM if self.letters is None else binding(text)

    def typeset(self, latex: str) -> str:
        return latex

    def root(self, e) -> str | None:
        """The root of what has a letter with a square, as sigma^2 has."""
        if not isinstance(e, sp.Symbol | sp.Indexed):
            return None
        name, indices = (e.name, ()) if e.is_Symbol else (str(e.base.label), tuple(map(self.index, e.indices)))
        square = letter_text(name, indices, self.letters)
        return self.typeset(square.removesuffix("^2")) if square.endswith("^2") else None

    # sums and products -----------------------------------------------------------------------------------------------
    def add(self, e) -> str:
        text = ""
        for coefficient, rest in ordered_terms(e):
            term = self.at(abs(coefficient) * rest, _PRODUCT)
            text += self.sign(coefficient < 0) + term if text else self.minus(term, coefficient < 0)
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
        above, below = sorted(above, key=factor_place), sorted(below, key=factor_place)
        heavy = [f for f in above if factor_place(f) >= HEAVY] if below else []
        light = [f for f in above if f not in heavy]
        text = self.fraction(self.product(light), self.under(below)) if below else self.product(light)
        if heavy:
            text += self.times + self.side_by_side(self.product_parts(heavy))
        negative = coefficient < 0
        return self.minus(text, negative), _SUM if negative else _PRODUCT

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
        return [self.at(f, _PRODUCT if i == last else _POWER) for i, f in enumerate(factors)]

    def accumulate(self, e) -> str:
        body, text = e.function, ""
        for index, low, high in reversed(e.limits):
            members, body = self.members(body, index, low, high)
            sign = self.big_sum if isinstance(e, sp.Sum) else self.big_product
            text += sign(members or f"{index}={self.index(low)}", None if members else self.index(high))
        return text + self.at(body, _PRODUCT)

    def members(self, body, index, low, high):
        """The set that a sum over all clients with a priority mask runs over, and what is summed; None if no set."""
        mask = words.priority[index]
        if self.letters is None or low != 0 or high != words.clients - 1:
            return None, body
        for factor, sign in ((mask, self.belongs), (1 - mask, self.belongs_not)):
            if factor in sp.Mul.make_args(body):
                return sign(str(index)), sp.Mul(*(f for f in sp.Mul.make_args(body) if f != factor))
        return None, body

    def raised(self, base) -> str:
        """A base that takes an exponent."""
        text = self.at(base, _ATOM)
        if isinstance(base, words.norm):
            return text
        stacked = any(mark in text for mark in ("^", "'", "²", "*")) and not text.startswith(("(", r"\left("))
        return self.group(text) if stacked or isinstance(base, words.norm2) else text

    # words -----------------------------------------------------------------------------------------------------------
    def word(self, e) -> str:
        args = e.args
        if isinstance(e, words.norm2):
            return self.power(self.norm(self.text(args[0])), "2")
        if isinstance(e, words.norm):
            return self.norm(self.text(args[0]))
        if isinstance(e, words.dot):
            return self.inner(self.text(args[0]), self.text(args[1]))
        if isinstance(e, words.E):
            return self.expectation(self.text(args[0]), len(args) == 2)
        if isinstance(e, words.E_round):
            return self.given_round(self.text(args[0]), self.index(args[1]))
        if isinstance(e, words.F | words.grad):
            return self.loss(isinstance(e, words.grad), self.index(args[0]), self.text(args[1]))
        if isinstance(e, words.objective | words.objective_grad):
            return self.loss(isinstance(e, words.objective_grad), None, self.text(args[0]))
        if isinstance(e, on_functions.f | on_functions.f_grad):
            nabla = self.nabla if isinstance(e, on_functions.f_grad) else ""
            return f"{nabla}f({self.text(args[0])})"
        if isinstance(e, words.tau):
            return f"{self.tau}({self.index(args[0])})"
        if isinstance(e, sp.Max | sp.Min):
            return self.extreme(type(e).__name__.lower(), [self.text(a) for a in sorted(args, key=str)])
        if isinstance(e, sp.exp | sp.log | sp.Abs):
            return self.named(type(e).__name__.lower(), self.text(args[0]))
        raise TypeError(f"no way to write {e} ({type(e).__name__})")

    def own_word(self, e) -> tuple[str, int]:
        """A paper's word: its form with its arguments, those that no parenthesis closes in at least as products."""
        form = self.form(e)
        bare = bare_arguments(form)
        texts = [self.index(a) if n < e.indices else self.at(a, _PRODUCT) if n in bare else self.text(a)
                 for n, a in enumerate(e.args)]
        return filled(form, texts), binding(form)

    def alone(self, factor) -> str:
        return self.text(factor)

    @staticmethod
    def side_by_side(texts) -> str:
        return " ".join(texts)

    @abstractmethod
    def form(self, e) -> str: ...
    @abstractmethod
    def group(self, text: str) -> str: ...
    @abstractmethod
    def power(self, base: str, exponent: str) -> str: ...
    @abstractmethod
    def fraction(self, above: str, below: str) -> str: ...


def filled(form: str, texts: list[str]) -> str:
    """A word's form with its arguments in place of ``<0>``, ``<1>``, ..."""
    for place, text in enumerate(texts):
        form = form.replace(f"<{place}>", text)
    return form


class LatexWriter(Writer):
    """LaTeX without dollar signs."""

    nabla, tau, times = r"\nabla ", r"\tau", " "

    def group(self, text):
        return rf"\left({text}\right)"

    def minus(self, text, negative):
        return f"-{text}" if negative else text

    def sign(self, negative):
        return " - " if negative else " + "

    def power(self, base, exponent):
        return f"{base}^{{{exponent}}}"

    def fraction(self, above, below):
        return rf"\frac{{{above}}}{{{below}}}"

    def big_sum(self, below, above):
        return rf"\sum_{{{below}}}" + (f"^{{{above}}} " if above else " ")

    def big_product(self, below, above):
        return rf"\prod_{{{below}}}" + (f"^{{{above}}} " if above else " ")

    def belongs(self, index):
        return rf"{index} \in \mathcal{{P}}"

    def belongs_not(self, index):
        return rf"{index} \notin \mathcal{{P}}"

    def norm(self, text):
        return rf"\left\|{text}\right\|"

    def inner(self, a, b):
        return rf"\left\langle {a}, {b}\right\rangle"

    def expectation(self, text, sampling):
        over = r"_{\mathcal{S}}" if sampling else ""
        return rf"\mathbb{{E}}{over}\left[{text}\right]"

    def given_round(self, text, round):
        return rf"\mathbb{{E}}_{{{round}}}\left[{text}\right]"

    def loss(self, gradient, client, point):
        return (self.nabla if gradient else "") + "F" + (f"_{{{client}}}" if client else "") + rf"\left({point}\right)"

    def extreme(self, name, texts):
        return rf"\{name}\left\{{{', '.join(texts)}\right\}}"

    def named(self, name, text):
        return rf"\left|{text}\right|" if name == "abs" else rf"\{name}\left({text}\right)"

    def form(self, e):
        return e.latex_form


_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class UnicodeWriter(Writer):
    """One line of text for terminals."""

    nabla, tau, times = "∇", "τ", " · "

    def typeset(self, latex):
        return plain(latex)

    def index(self, e):
        return self.text(e).replace(" ", "")

    def group(self, text):
        return f"({text})"

    def minus(self, text, negative):
        return f"−{text}" if negative else text

    def sign(self, negative):
        return " − " if negative else " + "

    def power(self, base, exponent):
        return base + exponent.translate(_RAISED) if exponent.isdigit() else f"{base}^({exponent})"

    def alone(self, factor):
        return self.at(factor, _POWER)

    def under(self, factors):
        text = self.product(factors)
        letters = len(factors) == 1 and isinstance(factors[0], sp.Symbol | sp.Indexed)
        return self.group(text) if letters and self.parts(factors[0])[1] == _POWER else text

    def fraction(self, above, below):
        return f"{above}/{below if ' ' not in below or _closed(below) else self.group(below)}"

    def big_sum(self, below, above):
        return f"Σ_{{{below}}}" + (f"^{{{above}}} " if above else " ")

    def big_product(self, below, above):
        return f"Π_{{{below}}}" + (f"^{{{above}}} " if above else " ")

    def belongs(self, index):
        return f"{index}∈P"

    def belongs_not(self, index):
        return f"{index}∉P"

    def norm(self, text):
        return f"‖{text}‖"

    def inner(self, a, b):
        return f"⟨{a}, {b}⟩"

    def expectation(self, text, sampling):
        return f"𝔼{'_S' if sampling else ''}[{text}]"

    def given_round(self, text, round):
        return f"𝔼_{{{round}}}[{text}]"

    def loss(self, gradient, client, point):
        return ("∇" if gradient else "") + "F" + (f"_{client}" if client else "") + f"({point})"

    def extreme(self, name, texts):
        return f"{name}{{{', '.join(texts)}}}"

    def named(self, name, text):
        return f"|{text}|" if name == "abs" else f"{name}({text})"

    def form(self, e):
        return e.text_form


def _closed(text: str) -> bool:
    """Whether the text is one parenthesis from its first to its last letter."""
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return place == len(text) - 1
    return False
