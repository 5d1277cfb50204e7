"""Says in a sentence what a verdict rests on, with the paper's letters, for pages and for letters to authors."""

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from bounds.language.claim import Claim
from bounds.language.notation import ACCENTS, GREEK, plain
from bounds.printing.render import latex, letters_of, unicode
from verify.report.mathematics import fitted_mathml
from verify.report.reason import run_in_words, sides_in_words
from verify.report.tables import value_text
from verify.results.numerals import approximately, is_fraction, middle_of, typeset
from verify.results.verdict import Verdict

__all__ = ["HTML", "MARKDOWN", "TEX", "Style", "capitalised", "clauses", "in_words", "readable", "sentence"]

SIZES = ("clients", "participants", "samples", "layers", "local_steps", "rounds", "iterations", "dim")
_MOST_EQUATIONS = 10
_SHORT, _LONG = 12, 200  # characters of a number in a sentence, and of an array in a line
#: what stands in LaTeX for characters that a text of LaTeX cannot have
_TEX = {"\\": r"\textbackslash{}", **{c: f"\\{c}" for c in "&%$#_{}"}, "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
        "…": r"\ldots{}", "–": "--", "—": "---", "“": "``", "”": "''", "’": "'",
        "−": "$-$", **{c: f"${c}$" for c in "<>|"},
        **{c: f"$^{{{n}}}$" for c, n in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)},
        **{letter: rf"$\{name}$" for name, letter in GREEK.items()},
        **{c: rf"$\{name}$" for c, name in {
            "≤": "le", "≥": "ge", "≠": "ne", "·": "cdot", "∞": "infty", "‖": "|", "→": "to", "½": "frac12", "Σ": "Sigma",
            "∈": "in", "∉": "notin", "∇": "nabla", "𝔼": "mathbb{E}", "′": "prime", "√": "surd", "×": "times",
            "≈": "approx"}.items()}}
_ACCENTS = {sign: name for name, sign in ACCENTS.items()}
_LETTER = re.compile(rf"(.)([{''.join(_ACCENTS)}])|.", re.DOTALL)
_SIGNS = re.compile("[∞−·⁻⁰¹²³⁴⁵⁶⁷⁸⁹]")  # in numbers
_MARKED = re.compile(r"([\\`*_{}\[\]<>#|$])")
_WORD = re.compile(r"(?:a|[a-z]{2,})(?![\w\[^(])")  # at the start of a text
_GREEK = re.compile(rf"(?<![A-Za-z0-9])({'|'.join(GREEK)})(?![A-Za-z0-9])")


class Style(NamedTuple):
    """A format of texts: how words are escaped, and how the LaTeX of a formula is written within a line."""

    words: Callable[[str], str]
    formula: Callable[[str], str]

    def write(self, expression, letters) -> str:
        """A formula with these letters within a line."""
        return self.formula(latex(expression, letters))


def _tex(text: str) -> str:
    def letter_or_accent(found: re.Match) -> str:
        if found[2]:
            return rf"$\{_ACCENTS[found[2]]}{{{_TEX.get(found[1], found[1]).strip('$')}}}$"
        return _TEX.get(found[0], found[0])

    return _LETTER.sub(letter_or_accent, text)


HTML = Style(escape, fitted_mathml)
MARKDOWN = Style(lambda text: _MARKED.sub(r"\\\1", text), lambda formula: f"${formula}$")
TEX = Style(_tex, lambda formula: f"${formula}$")


def sentence(verdict: Verdict, claim: Claim | None, style: Style = HTML, short: bool = False) -> str:
    """Says what the verdict rests on: where both sides of a counterexample differ, or the evidence; without a full stop.

    ``short``: only the first clause of the evidence.
    """
    instance = _counterexample(verdict, claim)
    if instance is not None:
        equations = list(_equations(claim, instance, style))
        left, right = _apart(middle_of(instance["left"]), middle_of(instance["right"]))
        place = f"with {', '.join(equations)}, " if equations else ""
        return place + style.words(f"the left side is {left} and the right side is {right}")
    text = verdict.evidence
    if short:
        text = re.sub(r" \(of \d+ tried[^)]*\)", "", text).partition("; ")[0]
    return style.words(clauses(text, claim))


def _counterexample(verdict: Verdict, claim: Claim | None) -> Mapping[str, Any] | None:
    """The instance that alone refutes a claim; None where there is none, or where the growth over several refutes it."""
    found = verdict.details.get("instance")
    alone = claim is not None and claim.statement is not None and claim.explicit and verdict.verdict == "refuted"
    there = isinstance(found, Mapping) and all(isinstance(found.get(side), str) for side in ("left", "right"))
    return found if alone and there else None


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
            yield style.formula(f"{_symbol_latex(name, letters)} = {text}")


def _symbol_latex(name: str, letters) -> str:
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


def readable(text: str) -> str:
    """Plain text with mathematical signs and Greek letters: ``mu_k <= sigma^2`` becomes ``μ_k ≤ σ²``."""
    return _GREEK.sub(lambda found: GREEK[found[1]], typeset(text))


def clauses(text: str, claim: Claim | None) -> str:
    """A text about a claim with the names of assumptions for their ids, and the paper's letters for names of the code."""
    if claim is None:
        return readable(text)
    for one in sorted(claim.assumptions, key=lambda a: -len(a.id)):
        text = text.replace(one.id, f"“{one.name}”")
    letters = letters_of(claim)

    def replacement(found: re.Match) -> str:
        name = found[0]
        if name in SIZES:
            return name.replace("_", " ")
        return plain(letters[name].latex) if name in letters and not letters[name].indices else name

    def entry(found: re.Match) -> str:
        name, index = found.groups()
        return unicode(sp.IndexedBase(name)[sp.Symbol(index)], letters) if name in letters else found[0]

    text = re.sub(r"\b([A-Za-z]+(?:_[A-Za-z]+)*)\[([a-z])\]", entry, text)
    return readable(re.sub(r"\b[A-Za-z]+(?:_[A-Za-z]+)+\b(?![\[(/])", replacement, text))


def capitalised(text: str) -> str:
    """The text as a sentence begins: with a capital, if its first word is a word and no symbol."""
    return text[:1].upper() + text[1:] if _WORD.match(text) else text


def in_words(verdict: Verdict, claim: Claim | None, style: Style = HTML) -> list[str]:
    """The counterexample of a refuted claim: its run or its numbers, then both sides of the statement term by term, a line
    each; empty where it has none."""
    instance = _counterexample(verdict, claim)
    if instance is None:
        return []
    with np.errstate(all="ignore"):  # of numbers that float64 does not hold
        run = [style.words(line) for line in run_in_words(claim, instance)] or list(_arrays(claim, instance, style))
        sides = [_SIGNS.sub(lambda sign: style.words(sign[0]), line)
                 for line in sides_in_words(claim, instance, style.write)]
    if not any(" side " in line and ": " in line for line in sides):
        sides = [line for line in sides if " side " not in line]  # their values alone, which the sentence has
    if not run and claim.setting != "algebra":
        inside = re.search(r"\((.*)\)$", verdict.evidence)  # the instance, behind its sides
        run = [style.words(clauses(inside[1] if inside else verdict.evidence, claim))]
    return run + sides


def _arrays(claim: Claim, instance: Mapping[str, Any], style: Style) -> Iterator[str]:
    """The vectors and sequences of a counterexample that occur in the statement or behind it."""
    letters = letters_of(claim)
    for name, value in (dict(instance.get("values", {})) | dict(instance.get("instance", {}))).items():
        if name in claim.names and isinstance(value, list) and value and any(one != value[0] for one in value):
            text = value_text(value)
            if len(text) <= _LONG:
                yield f"{style.formula(_symbol_latex(name, letters))} is {style.words(text)}"
