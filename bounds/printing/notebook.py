"""A claim in a notebook: a table with its statement and its hypotheses as formulas. Everything else is escaped text."""

from html import escape

from bounds.language.claim import Claim, Condition
from bounds.language.notation import notation_text, plain
from bounds.printing.legend import with_domain
from bounds.printing.mathml import mathml
from bounds.printing.render import (
    about,
    condition_latex,
    condition_text,
    letters_of,
    printable_conditions,
    printed,
    there_is,
    unicode,
)

__all__ = ["claim_html"]


def claim_html(claim: Claim) -> str:
    """The claim as HTML, in its paper's letters."""
    letters = letters_of(claim)
    rows = [("number", escape(claim.number)), ("kind", escape(f"{claim.kind}, {claim.setting}"))]
    rows += [("reading", escape(claim.reading)), ("source", escape(claim.source or f"derived: {claim.derivation}"))]
    for assumption in claim.assumptions:
        rows.append((f"{assumption.name} ({assumption.id})",
                     _several(printable_conditions(printed(assumption), letters), letters)))
    if conditions := printable_conditions(claim.conditions, letters):
        rows.append(("conditions", _several(conditions, letters)))
    if claim.variables:
        letter = {v.name: notation_text(v.name, tuple(index for index, _ in v.indices), letters) for v in claim.variables}
        rows.append(("for all", escape("; ".join(with_domain(plain(letter[v.name]), v) for v in claim.variables))))
    rows.append(("about", escape(about(claim))))
    if claim.exists is not None:
        rows.append(("choice", escape(there_is(claim.exists, lambda e: unicode(e, letters)))))
    stated = claim.statement
    rows.append(("statement", escape(claim.undefined) if stated is None else formula(stated, letters, display=True)))
    style = ' style="text-align:left;vertical-align:top;font-weight:normal"'
    body = "".join(f"<tr><th{style}>{escape(name)}</th><td{style}>{value}</td></tr>" for name, value in rows)
    return f'<div class="fedtheory"><div><b>{escape(claim.id)}</b></div><table>{body}</table></div>'


def formula(condition: Condition, letters, display: bool = False) -> str:
    """A condition as MathML; as text where its LaTeX cannot be typeset."""
    try:
        return mathml(condition_latex(condition, letters), display)
    except ValueError:
        return f"<code>{escape(condition_text(condition, letters))}</code>"


def _several(conditions, letters) -> str:
    return "<br>".join(formula(condition, letters) for condition in conditions)
