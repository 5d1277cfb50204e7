"""Typesetting of the names of the language and of definitions."""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple
from unicodedata import normalize

from bounds.language.claim import Definition
from bounds.language.definitions import DEFINITIONS

__all__ = ["ATOM", "INDEX_NAMES", "POWER", "PRODUCT", "SUM", "Notation", "bare_arguments", "binding",
           "notation_of_definition",
           "notation_text", "plain"]

INDEX_NAMES = ("t", "i", "j", "k")

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "eta": "η", "theta": "θ", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "chi": "χ",
    "psi": "ψ", "omega": "ω", "zeta": "ζ", "varepsilon": "ε",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}

SIGNS = {"nabla": "∇", "in": "∈", "notin": "∉", "star": "*", "emptyset": "∅", "prime": "′", "ell": "ℓ"}
ACCENTS = {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303", "overline": "\u0304"}


class Notation(NamedTuple):
    """One row of a paper's table: LaTeX with ``<0>``, ``<1>`` or, for all of them, ``<*>`` in place of the indices; the
    meaning; and the usual indices, one letter each. The letter of an operator has its arguments in place of indices."""

    latex: str
    meaning: str
    indices: str = ""


def notation_text(name: str, indices: tuple[str, ...], letters: Mapping[str, Notation] | None) -> str:
    """LaTeX of a name with these indices (already typeset).

    ``letters`` has the paper's letters. A name that it lacks has the letter of its definition, or one built from the name.
    Without ``letters`` the code name is printed as it is.
    """
    if letters is None:
        upright = name if len(name) == 1 else rf"\mathrm{{{name}}}".replace("_", r"\_")
        return upright + (f"[{', '.join(indices)}]" if indices else "")
    if name in letters:
        text = letters[name].latex
        for position, index in enumerate(indices):
            text = text.replace(f"<{position}>", index)
        return text.replace("<*>", ",".join(indices)).replace("_{}", "")
    if name in DEFINITIONS and len(DEFINITIONS[name].indices) == len(indices):
        return notation_text(name, indices, {name: notation_of_definition(DEFINITIONS[name])})
    return _spelled(name, indices)


@cache
def notation_of_definition(definition: Definition) -> Notation:
    """The letter of a definition: its LaTeX with places for the indices in the last subscript."""
    base, _, subscript = definition.latex.rpartition("_")
    places = {str(index): f"<{place}>" for place, index in enumerate(definition.indices)}
    if not places:
        return Notation(definition.latex, definition.meaning)
    inside, _, behind = subscript.rpartition("}") if subscript.startswith("{") else (subscript, "", "")
    parts = [places.get(part, part) for part in inside.strip("{").split(",")]
    return Notation(f"{base}_{{{','.join(parts)}}}{behind}", definition.meaning, "".join(map(str, definition.indices)))


def _spelled(name: str, indices: tuple[str, ...]) -> str:
    head, _, tail = name.partition("_")
    base = rf"\{head}" if head in GREEK else head if len(head) == 1 else rf"\mathrm{{{head}}}"
    tail = tail.replace("_", r"\_")
    subscripts = ([tail if len(tail) == 1 else rf"\mathrm{{{tail}}}"] if tail else []) + list(indices)
    return f"{base}_{{{','.join(subscripts)}}}" if subscripts else base


def plain(latex: str) -> str:
    """A LaTeX letter as text for a terminal: ``\\hat\\theta_{T}`` becomes θ̂_T, ``F_{k}^*`` becomes F_k*."""
    text = re.sub(r"\\(?:left|right)(?![a-z])", "", latex).replace(r"\mathbb{E}", "𝔼")
    text = re.sub(r"(\\[A-Za-z]+)?\\math(?:rm|cal|bf|bb)\s*(?:\{([^{}]*)\}|(\w))",
                  lambda m: (f"{m[1]} " if m[1] else "") + (m[2] or m[3]), text)
    text = _COMMAND.sub(lambda m: GREEK.get(m[1]) or SIGNS.get(m[1], m[1]), text)
    bare = None
    while bare != text:  # accents from the innermost on
        bare, text = text, _ACCENTED.sub(lambda m: (m[2] or m[3]) + ACCENTS[m[1]], text)
    text = text.replace(r"\_", "_").replace("\\", "").replace(" ∈", "∈").replace(" ∉", "∉")
    text = re.sub(r"([_^])\{([^{}])\}", r"\1\2", text)
    return normalize("NFC", text.replace("^2", "²").replace("^*", "*").replace("^′", "′").replace("-", "−"))


_MARKS = "".join(ACCENTS.values())
_COMMAND = re.compile(rf"\\(?!{'|'.join(ACCENTS)})([A-Za-z]+)\s*")
_ACCENTED = re.compile(rf"\\({'|'.join(ACCENTS)})\s*(?:\{{([^{{}}\\][{_MARKS}]*)\}}|([^{{}}\\][{_MARKS}]*))")

# how tightly a letter binds --------------------------------------------------------------------------------------------
SUM, PRODUCT, POWER, ATOM = 1, 2, 3, 4


@cache
def binding(latex: str) -> int:
    """The precedence of a symbol or an operator's form: ``SUM`` (a + b), ``PRODUCT`` (a/b), ``POWER`` (symbols together)
    or ``ATOM``.

    Example:
        >>> [binding(text) for text in ("f(x)-f^*", "L/2", "KT", "D^{t-1}")] == [SUM, PRODUCT, POWER, ATOM]
        True
    """
    text = re.sub(rf"\\(?:left|right|,|math[a-z]+|{'|'.join(ACCENTS)})(?![a-z])", "", latex)
    text = text.replace(r"\|", "‖").replace(r"\{", "(").replace(r"\}", ")")
    text = re.sub(r"\\[lr]angle|[⟨⟩]", "‖", text)
    text = re.sub(r"\\frac", "/", text)
    text = re.sub(r"\\(?:sum|prod|max|min|sup)(?![a-z])", "Σ", text)
    text = re.sub(r"\\[a-zA-Z]+\s*", "a", text)
    text = re.sub(r"(?<![A-Za-z])(?:max|min|sup)(?![A-Za-z])", "Σ", text)
    text = _without_groups(text).replace("Σ·", "·")  # max(a, b) is a function
    if re.search(r"[-+−]", text):
        return SUM
    if re.search(r"[/⊘ΣΠ]", text):
        return PRODUCT
    return POWER if len(re.findall(r"\w", text)) > 1 else ATOM


def bare_arguments(form: str) -> set[int]:
    """The arguments of an operator's form that no parentheses enclose."""
    form = re.sub(r"\\[lr]?angle|[⟨⟩]|\\\|", "‖", re.sub(r"\\(left|right)(?![a-z])", "", form))
    return {int(number) for number in re.findall(r"<(\d)>", _without_groups(form))}


def _without_groups(text: str) -> str:
    """The text without scripts, and with a dot for each pair of parentheses."""
    bare = None
    while bare != text:
        bare, text = text, re.sub(r"[_^]\s*(?:\{[^{}()\[\]]*\}|<\d>|[^{}()\[\]\s])|[_^]\s*(?=[(\[])", "", text)
        text = re.sub(r"\(([^(){}\[\]]*)\)|\[[^(){}\[\]]*\]|‖[^‖{}()\[\]]*‖|\|[^|{}()\[\]]*\|", "·", text)
        text = re.sub(r"\{([^{}()\[\]]*)\}", "·", text)
    return text
