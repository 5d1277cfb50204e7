"""Letters: how the names of the language and of the definitions are typeset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from unicodedata import normalize

from bounds.definitions import DEFINITIONS

__all__ = ["INDEX_NAMES", "Letter", "code_letters", "letter_text", "plain"]

INDEX_NAMES = ("t", "i", "j", "k")

GREEK = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "eta": "η", "theta": "θ", "kappa": "κ",
    "mu": "μ", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ",
}
SIGNS = {"nabla": "∇", "in": "∈", "notin": "∉", "max": "max"}
ACCENTS = {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303"}


class Letter(NamedTuple):
    """One row of a paper's table: LaTeX with ``<0>``, ``<1>`` or, for all of them, ``<*>`` in place of the indices; the
    meaning; and the usual indices, one letter each."""

    latex: str
    meaning: str
    indices: str = ""


def letter_text(name: str, indices: tuple[str, ...], letters: Mapping[str, Letter] | None) -> str:
    """LaTeX of a name with these indices (already typeset).

    ``letters`` has the paper's letters; what it lacks is taken from the definitions, then built from the name itself.
    Without ``letters`` the code name is printed as it is.
    """
    if letters is None:
        return code_letters(name, indices)
    if name in letters:
        text = letters[name].latex
        for position, index in enumerate(indices):
            text = text.replace(f"<{position}>", index)
        return text.replace("<*>", ",".join(indices)).replace("_{}", "")
    if name in DEFINITIONS and len(DEFINITIONS[name].indices) == len(indices):
        return _defined(name, indices)
    return _spelled(name, indices)


def _defined(name: str, indices: tuple[str, ...]) -> str:
    """The definition's own LaTeX with its index letters replaced."""
    definition = DEFINITIONS[name]
    if not indices:
        return definition.latex
    base, _, subscript = definition.latex.rpartition("_")
    put = dict(zip(map(str, definition.indices), indices, strict=True))
    parts = [put.get(part, part) for part in subscript.strip("{}").split(",")]
    return f"{base}_{{{','.join(parts)}}}"


def _spelled(name: str, indices: tuple[str, ...]) -> str:
    head, _, tail = name.partition("_")
    base = rf"\{head}" if head in GREEK else head if len(head) == 1 else rf"\mathrm{{{head}}}"
    tail = tail.replace("_", r"\_")
    subscripts = ([tail if len(tail) == 1 else rf"\mathrm{{{tail}}}"] if tail else []) + list(indices)
    return f"{base}_{{{','.join(subscripts)}}}" if subscripts else base


def code_letters(name: str, indices: tuple[str, ...]) -> str:
    """LaTeX of a code name, as it is, with its indices in brackets."""
    upright = name if len(name) == 1 else rf"\mathrm{{{name}}}".replace("_", r"\_")
    return upright + (f"[{', '.join(indices)}]" if indices else "")


def plain(latex: str) -> str:
    """A LaTeX letter as text for a terminal: ``\\hat\\theta_{T}`` becomes θ̂_T, ``F_{k}^*`` becomes F_k*."""
    text = re.sub(r"\\(hat|bar|tilde)\s*(?:\{(.)\}|\\([A-Za-z]+)|(.))", _accented, latex)
    text = re.sub(r"\\(?!math)([A-Za-z]+)\s*", lambda m: GREEK.get(m[1]) or SIGNS.get(m[1], m[1]), text)
    text = re.sub(r"\\math(?:rm|cal|bf|bb)\s*(?:\{([^{}]*)\}|(\w))", lambda m: m[1] or m[2], text)
    text = text.replace(r"\_", "_").replace("\\", "")
    text = re.sub(r"([_^])\{([^{}])\}", r"\1\2", text)
    return normalize("NFC", text.replace("^2", "²").replace("^*", "*"))


def _accented(match) -> str:
    letter = match[2] or match[3] or match[4]
    return GREEK.get(letter, letter) + ACCENTS[match[1]]
