"""Formulas as MathML, docstrings in plain words as reStructuredText, and blocks in the language of mermaid as text."""

import re
from html import escape

from pygments.lexers.special import TextLexer

from bounds.printing.mathml import mathml

__all__ = ["plain", "setup"]

_KEPT = re.compile(r"(``.+?``|:[\w:]+:`[^`]+`|`[^`\n]+`)", re.DOTALL)
_SPECIAL = re.compile(r"[\\|]|(?<=\w)_(?!\w)|^\s*\* |\*", re.MULTILINE)


def plain(lines: list[str]) -> list[str]:
    """Lines of a docstring whose bars, stars and underscores mean themselves; code and blocks of code stay as they are."""
    out, text, margin, example = [], [], None, False  # margin: indent of the line that began a block of code

    def flush():
        parts = _KEPT.split("\n".join(text))
        parts[::2] = [_SPECIAL.sub(_escaped, part) for part in parts[::2]]
        out.extend("".join(parts).split("\n") if text else [])
        text.clear()

    for line in lines:
        indent, blank = len(line) - len(line.lstrip()), not line.strip()
        if margin is not None and not blank and indent <= margin:
            margin = None
        example = not blank and (example or line.lstrip().startswith(">>>"))
        if margin is not None or example or blank:
            if text:
                flush()
            out.append(line)
        elif line.rstrip().endswith("::"):
            text.append(line)
            flush()
            margin = indent
        else:
            text.append(line)
    flush()
    return out


def _escaped(found) -> str:
    """The sign with a backslash; the star of a list as it is."""
    return found[0] if found[0].endswith("* ") else "\\" + found[0]


def setup(app) -> dict:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.add_lexer("mermaid", TextLexer)
    app.connect("autodoc-process-docstring", _docstring, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _docstring(app, what, name, obj, options, lines):
    lines[:] = plain(lines)


def _formula(latex: str, display: bool) -> str:
    """A formula that cannot be typeset stands as it is, with a warning."""
    from docutils import nodes
    from sphinx.util import logging

    try:
        return mathml(latex, display)
    except ValueError as error:
        logging.getLogger(__name__).warning("%s", error)
        raise nodes.SkipNode from None


def _inline(translator, node):
    from docutils import nodes

    translator.body.append(f'<span class="math">{_formula(node.astext(), False)}</span>')
    raise nodes.SkipNode


def _block(translator, node):
    from docutils import nodes

    label = f' id="{escape(node["ids"][0])}"' if node["ids"] else ""
    translator.body.append(f'<div class="math"{label}>{_formula(node.astext(), True)}</div>\n')
    raise nodes.SkipNode
