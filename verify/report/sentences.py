"""Says in a sentence what a verdict rests on, with the paper's letters, for pages and for letters to authors."""

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any, NamedTuple

import sympy as sp

from bounds.language.claim import Claim
from bounds.language.notation import plain
from bounds.printing.mathml import mathml
from bounds.printing.render import latex, letters_of
from verify.report.reason import run_in_words, sides_in_words
from verify.results.numerals import approximately, is_fraction, typeset
from verify.results.verdict import Verdict

__all__ = ["HTML", "MARKDOWN", "TEX", "Style", "clauses", "in_words", "sentence"]

SIZES = ("clients", "participants", "samples", "layers", "local_steps", "rounds", "iterations", "dim")
_MOST_EQUATIONS = 10
_SHORT = 12  # characters of a number in a sentence
#: characters that LaTeX has no letter for in the middle of a text
_TEX = {"\\": r"\textbackslash{}", **{c: f"\\{c}" for c in "&%$#_{}"}, "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "<": "$<$", ">": "$>$", "|": "$|$", "≤": r"$\le$", "≥": r"$\ge$", "−": "$-$", "·": r"$\cdot$", "∞": r"$\infty$",
        "…": r"\ldots{}", "‖": r"$\|$", "→": r"$\to$", "½": r"$\frac12$", "Σ": r"$\Sigma$", "–": "--", "—": "---",
        "²": "$^2$", "³": "$^3$", "⁻": "$^-$", **{c: f"$^{n}$" for n, c in enumerate("⁰¹")},
        **{c: f"$^{n}$" for n, c in enumerate("⁴⁵⁶⁷⁸⁹", start=4)}}
_MARKED = re.compile(r"([\\`*_{}\[\]<>#|$])")


class Style(NamedTuple):
    """How a text is written: words with what must be escaped, and the LaTeX of a formula within a line."""

    words: Callable[[str], str]
    formula: Callable[[str], str]

    def write(self, expression, letters) -> str:
        """A formula with these letters within a line."""
        return self.formula(latex(expression, letters))


def _tex(text: str) -> str:
    return "".join(_TEX.get(c, c) for c in text)


HTML = Style(escape, mathml)
MARKDOWN = Style(lambda text: _MARKED.sub(r"\\\1", text), lambda formula: f"${formula}$")
TEX = Style(_tex, lambda formula: f"${formula}$")


def sentence(verdict: Verdict, claim: Claim | None, style: Style = HTML) -> str:
    """What the verdict rests on: where the two sides of a counterexample differ, or the evidence; without a full stop."""
    instance = verdict.details.get("instance")
    if claim and claim.statement and verdict.verdict == "refuted" and _has_sides(instance):
        equations = list(_equations(claim, instance, style))
        left, right = _apart(instance["left"], instance["right"])
        place = f"with {', '.join(equations)}, " if equations else ""
        return place + style.words(f"the left side is {left} and the right side is {right}")
    return style.words(clauses(verdict.evidence, claim))


def _has_sides(instance) -> bool:
    return isinstance(instance, Mapping) and all(isinstance(instance.get(side), str) for side in ("left", "right"))


def _equations(claim: Claim, instance: Mapping[str, Any], style: Style) -> Iterator[str]:
    """The sizes and numbers of a counterexample that occur in the statement or behind it, each as an equation."""
    letters, count = letters_of(claim), 0
    values = {name: instance.get("sizes", {}).get(name) for name in SIZES} | dict(instance.get("values", {}))
    for name, value in values.items():
        if isinstance(value, list) and value and all(one == value[0] for one in value):
            value = value[0]  # the same number at every index
        text = str(value)
        if name in claim.names and not isinstance(value, bool) and is_fraction(text) and len(text) <= _SHORT and (
                count < _MOST_EQUATIONS):
            count += 1
            yield style.formula(f"{_letter(name, letters)} = {text}")


def _letter(name: str, letters) -> str:
    indices = letters[name].indices if name in letters else ""
    symbol = sp.Symbol(name) if not indices else sp.IndexedBase(name)[tuple(map(sp.Symbol, indices))]
    return latex(symbol, letters)


def _apart(*numbers: str) -> list[str]:
    """The numbers as they are if they are short, else as decimals with enough digits to differ."""
    for digits in range(3, 16):
        texts = [n if len(n) <= _SHORT else f"about {approximately(n, digits)}" for n in numbers]
        if texts[0] != texts[1]:
            break
    return texts


def clauses(text: str, claim: Claim | None) -> str:
    """The evidence of a verdict with the names of assumptions for their ids, and the paper's letters for names of the code."""
    if claim is None:
        return typeset(text)
    for one in sorted(claim.assumptions, key=lambda a: -len(a.id)):
        text = text.replace(one.id, f"“{one.name}”")
    letters = letters_of(claim)

    def letter(found: re.Match) -> str:
        name = found[0]
        if name in SIZES:
            return name.replace("_", " ")
        return plain(letters[name].latex) if name in letters and not letters[name].indices else name

    return typeset(re.sub(r"\b[A-Za-z]+(?:_[A-Za-z]+)+\b(?![\[(/])", letter, text))


def in_words(verdict: Verdict, claim: Claim | None, style: Style = HTML) -> list[str]:
    """The run of a refuted claim's counterexample and both sides of the statement term by term, a line each; empty where it
    has none that can be run again in float64."""
    instance = verdict.details.get("instance")
    if verdict.verdict != "refuted" or not claim or not claim.statement or not _has_sides(instance):
        return []
    run = [style.words(line) for line in run_in_words(claim, instance)]
    return run + [line.replace("∞", style.words("∞")) for line in sides_in_words(claim, instance, style.write)]
