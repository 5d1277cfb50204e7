"""The formulas of a claim as MathML: its statement, hypotheses and definitions."""

from dataclasses import dataclass
from functools import cache
from html import escape
from xml.etree import ElementTree

import sympy as sp

from bounds.language.alternatives import alternatives
from bounds.language.claim import HIDDEN, Claim, Condition
from bounds.language.notation import Notation, notation_text
from bounds.language.witness import witness_id
from bounds.printing.legend import domain_text, symbols
from bounds.printing.mathml import mathml
from bounds.printing.render import letters_of, printable_conditions, printed, there_is
from bounds.printing.writer import LatexWriter

__all__ = ["Mathematics", "display_latex", "fitted_mathml", "mathematics"]

_HIDES = "a constant that the statement hides"
WIDEST_LINE = 70  # characters that fit in a line of the page
_WIDEST_PRINT, _WIDEST_CELL = 64, 50  # characters of a formula, and of one in a table, that fit on paper
_CLOSER = 0.8  # times as wide as such a formula is a longer one in a smaller font: signs within it take more room


@dataclass(frozen=True)
class Mathematics:
    """MathML of a claim in its paper's letters, ready for the page.

    ``hypotheses`` holds (name, number, formulas, note), ``variables`` (formula, domain), ``constants`` that the statement
    hides likewise, ``letters`` (formula, meaning) and ``definitions`` (formula, meaning, unit, source).
    """

    statement: str
    hypotheses: tuple
    variables: tuple
    constants: tuple
    letters: tuple
    definitions: tuple


def mathematics(claim: Claim) -> Mathematics:
    """The statement, hypotheses, free quantities, and the definitions that these use."""
    writer = _writer(tuple(letters_of(claim).items()))

    def name(of, indices) -> str:
        return notation_text(of.name, tuple(map(str, indices)), writer.letters)

    assumptions = [
        (a.name, a.id, [_condition(c, writer) for c in printable_conditions(printed(a), writer.letters)], a.note)
        for a in claim.assumptions
    ]
    conditions = [("", "", [_condition(c, writer)], "") for c in printable_conditions(claim.conditions, writer.letters)]
    variables, constants = (
        [(mathml(name(v, (index for index, _ in v.indices))), _HIDES if hidden else domain_text(v))
         for v in claim.variables if (v.domain in HIDDEN) == hidden] for hidden in (False, True))
    definitions = [
        (fitted_mathml(f"{name(d, d.indices)} = {writer.text(d.formula)}", widest=_WIDEST_CELL), d.meaning, d.unit, d.source)
        for d in claim.used_definitions().values()
    ]
    letters = [(mathml(name(one, one.indices)), one.meaning) for one in symbols(claim, writer.letters) if one.meaning]
    statement = _condition(claim.statement, writer, display=True) if claim.statement else ""
    if claim.exists is not None:
        statement = f'<div class="scope formula">{there_is(claim.exists, lambda e: mathml(writer.text(e)))}</div>{statement}'
        if claim.exists.witness is not None:
            value = _condition(Condition(sp.Symbol(claim.exists.name), "==", claim.exists.witness), writer)
            statement += f'<div class="scope formula">witness: {value}, put in by {escape(witness_id(claim))}</div>'
    return Mathematics(statement, tuple(assumptions + conditions), *map(tuple, (variables, constants, letters, definitions)))


@cache
def _writer(letters: tuple[tuple[str, Notation], ...]) -> LatexWriter:
    """The writer of formulas with these symbols, shared by all claims that have them."""
    return LatexWriter(dict(letters))


@cache
def _condition(condition: Condition, writer: LatexWriter, display: bool = False) -> str:
    ranges = writer.ranges(condition)
    scope = f' <span class="scope">for {mathml(ranges)}</span>' if ranges else ""
    if not display:
        return fitted_mathml(writer.relation(condition)) + scope
    return f'<div class="formula statement">{fitted_mathml(_display(condition, writer), display=True)}{scope}</div>'


@cache
def fitted_mathml(latex: str, display: bool = False, widest: int = _WIDEST_PRINT) -> str:
    """MathML of a formula; one of more than ``widest`` characters says how much smaller it is on paper."""
    formula = mathml(latex, display)
    width = _node_width(ElementTree.fromstring(formula))
    if width <= widest:
        return formula
    return formula.replace("<math", f'<math style="--fit: {_CLOSER * widest / width:.2f}"', 1)


def _display(condition: Condition, writer: LatexWriter) -> str:
    """LaTeX of a relation in lines that fit on a page, without the ranges of its indices."""
    if alternatives(condition):
        return writer.relation(condition)
    left, sign = writer.text(condition.left), writer.relations[condition.sign]
    return _lines(left, sign, writer.text(condition.right), _terms(condition.right, writer.text))


def display_latex(claim: Claim) -> str:
    """LaTeX of a claim's statement for a display, in lines that fit on a page."""
    writer = _writer(tuple(letters_of(claim).items()))
    formula, ranges = _display(claim.statement, writer), writer.ranges(claim.statement)
    formula += rf" \qquad \text{{for }} {ranges}" if ranges else ""
    return rf"\begin{{aligned}} {formula} \end{{aligned}}" if "&" in formula else formula


def _terms(expression, written) -> list[str]:
    """Parts of a long right side, one line each: its terms, or the terms of its only sum in parentheses."""
    if isinstance(expression, sp.Add):
        return [part for term in expression.as_ordered_terms() for part in _broken(term, written)]
    return _broken(expression, written)


def _broken(term, written) -> list[str]:
    sums = [factor for factor in sp.Mul.make_args(term) if isinstance(factor, sp.Add)]
    if len(sums) != 1 or _width(written(term)) <= WIDEST_LINE:
        return [written(term)]
    inner = [written(part) for part in sums[0].as_ordered_terms()]
    return [rf"{written(term / sums[0])} \Bigl( {inner[0]}", *inner[1:-1], rf"{inner[-1]} \Bigr)"]


def _lines(left: str, sign: str, right: str, terms: list[str]) -> str:
    """One line if it is short enough; otherwise the terms of the right side below each other."""
    if _width(left) + _width(right) <= WIDEST_LINE:
        return f"{left} {sign} {right}"
    lines, line = [], ""
    for term in terms:
        if (lines or line) and not term.startswith("-"):
            term = f"+ {term}"
        if line and _width(line) + _width(term) > WIDEST_LINE - 10:
            lines.append(line)
            line = ""
        line += f" {term}"
    joint = r" \\ & {} \quad "
    if _width(left) + _width((lines or [line])[0]) > WIDEST_LINE:
        return rf"& {left} \\ & {{}} \quad {sign} " + joint.join([*lines, line])
    return rf"& {left} {sign} " + joint.join([*lines, line])


def _width(formula: str) -> float:
    """The approximate width of a fitted_mathml formula in characters."""
    return _node_width(ElementTree.fromstring(mathml(formula, display=True))[0][0])


def _node_width(node) -> float:
    parts = [_node_width(child) for child in node if child.tag != "annotation"]
    if node.tag in ("mfrac", "mtable"):
        return max(parts)
    if node.tag in ("msub", "msup", "msubsup"):
        return parts[0] + 0.7 * max(parts[1:])
    if node.tag in ("munder", "mover", "munderover"):
        return max(parts[0], 0.7 * max(parts[1:]))
    return len(node.text or "") + sum(parts)
