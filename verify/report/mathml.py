"""LaTeX formulas as MathML, which browsers draw without any script or font from outside."""

from __future__ import annotations

import re
from functools import cache
from html import escape

__all__ = ["mathml"]

TOKEN = re.compile(r"\\[A-Za-z]+\*?|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)

LETTERS = dict(
    alpha="α", beta="β", gamma="γ", delta="δ", epsilon="ϵ", varepsilon="ε", zeta="ζ", eta="η", theta="θ", vartheta="ϑ",
    iota="ι", kappa="κ", lambda_="λ", mu="μ", nu="ν", xi="ξ", pi="π", rho="ρ", varrho="ϱ", sigma="σ", tau="τ",
    upsilon="υ", phi="ϕ", varphi="φ", chi="χ", psi="ψ", omega="ω", ell="ℓ", infty="∞", emptyset="∅", partial="∂",
)

LETTERS["lambda"] = LETTERS.pop("lambda_")

UPRIGHT = dict(
    Gamma="Γ", Delta="Δ", Theta="Θ", Lambda="Λ", Xi="Ξ", Pi="Π", Sigma="Σ", Upsilon="Υ", Phi="Φ", Psi="Ψ", Omega="Ω",
    nabla="∇",
)

OPERATORS = dict(
    cdot="⋅", times="×", le="≤", leq="≤", ge="≥", geq="≥", ne="≠", neq="≠", equiv="≡", approx="≈", sim="∼", to="→",
    rightarrow="→", mapsto="↦", mid="∣", ldots="…", dots="…", cdots="⋯", pm="±", ast="∗", star="⋆", prime="′",
    subseteq="⊆", subset="⊂", setminus="∖", cup="∪", cap="∩", forall="∀", exists="∃", land="∧", lor="∨", neg="¬",
    Rightarrow="⇒", Leftrightarrow="⇔", propto="∝", circ="∘", top="⊤", colon=":", bmod="mod", odot="⊙", in_="∈", notin="∉",
)

OPERATORS["in"] = OPERATORS.pop("in_")

FENCES = {
    r"\|": "‖", r"\lVert": "‖", r"\rVert": "‖", r"\Vert": "‖", r"\lvert": "|", r"\rvert": "|", r"\vert": "|",
    r"\langle": "⟨", r"\rangle": "⟩", r"\{": "{", r"\}": "}", r"\lbrace": "{", r"\rbrace": "}", r"\lfloor": "⌊",
    r"\rfloor": "⌋", r"\lceil": "⌈", r"\rceil": "⌉",
}

OPENING = {"(", "[", "{", "⟨", "⌊", "⌈"} | {r"\lVert", r"\lvert"}
LARGE = {r"\sum": "∑", r"\prod": "∏"}
LIMITED = (r"\max", r"\min", r"\sup", r"\inf", r"\lim", r"\argmin", r"\argmax")
NAMED = (r"\log", r"\exp", r"\ln", r"\Pr", r"\det", r"\sin", r"\cos")
ACCENTS = {
    r"\hat": "^", r"\widehat": "^", r"\bar": "¯", r"\overline": "¯", r"\tilde": "~", r"\widetilde": "~", r"\dot": "˙",
}
SPACES = {
    r"\,": 0.167, r"\:": 0.222, r"\;": 0.278, r"\ ": 0.333, r"\quad": 1.0, r"\qquad": 2.0, r"\!": -0.167, "~": 0.333,
}
FONTS = {
    r"\mathbb": "bb", r"\mathcal": "cal", r"\mathbf": "bf", r"\boldsymbol": "bf", r"\mathrm": "rm", r"\mathit": "it",
}
IGNORED = {r"\displaystyle", r"\textstyle", r"\limits", r"\nolimits"}
SIZED = {r"\big": 1.2, r"\Big": 1.8, r"\bigg": 2.4, r"\Bigg": 3.0}  # with l or r after it: opening or closing
NO_BREAK_SPACE = "\u00a0"  # MathML trims ordinary spaces at the ends of a text
DOUBLE_STRUCK = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}
SCRIPT = {"B": "ℬ", "E": "ℰ", "F": "ℱ", "H": "ℋ", "I": "ℐ", "L": "ℒ", "M": "ℳ", "R": "ℛ"}


@cache
def mathml(latex: str, display: bool = False) -> str:
    """A ``<math>`` element for a LaTeX formula without dollar signs; the LaTeX goes along as its annotation.

    Rows are split at ``\\\\`` outside groups and aligned at ``&``.

    Raises:
        ValueError: a command or character that is not known here, or unbalanced braces.
    """
    parser = _Parser(latex)
    rows = parser.rows(None)
    body = f"<mrow>{rows[0][0]}</mrow>" if rows == [rows[0][:1]] else _table(rows, "aligned")
    kind = ' display="block"' if display else ""
    annotation = f'<annotation encoding="application/x-tex">{escape(latex)}</annotation>'
    return f"<math{kind}><semantics>{body}{annotation}</semantics></math>"


def _table(rows: list[list[str]], kind: str) -> str:
    cells = "".join("<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in row) + "</mtr>" for row in rows)
    return f'<mtable class="{kind}" displaystyle="true">{cells}</mtable>'


class _Parser:
    def __init__(self, latex: str):
        self.latex = latex
        self.tokens = [t for t in TOKEN.findall(latex) if t not in IGNORED]
        self.place = 0

    def peek(self) -> str | None:
        while self.place < len(self.tokens) and self.tokens[self.place].isspace():
            self.place += 1
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self) -> str:
        token = self.peek()
        if token is None:
            raise ValueError(f"the formula ends too early: {self.latex}")
        self.place += 1
        return token

    def rows(self, stop: str | None) -> list[list[str]]:
        """Rows of cells up to ``stop`` (not consumed), split at ``\\\\`` and ``&``."""
        rows = [[self.row({"&", r"\\", stop})]]
        while self.peek() in ("&", r"\\"):
            if self.take() == r"\\":
                rows.append([])
            rows[-1].append(self.row({"&", r"\\", stop}))
        if stop is None and self.peek() is not None:
            raise ValueError(f"unbalanced {self.peek()!r} in the formula {self.latex}")
        return rows

    def row(self, stops: set[str | None]) -> str:
        parts = []
        while self.peek() not in stops and self.peek() not in ("}", r"\right", r"\end", None):
            parts.append(self.scripted())
        return "".join(parts)

    def group(self) -> str:
        """The next argument: a braced group or one atom."""
        if self.peek() != "{":
            return self.atom()
        self.take()
        inside = self.row({"}"})
        self.expect("}")
        return f"<mrow>{inside}</mrow>"

    def expect(self, token: str) -> None:
        found = self.peek()
        if found != token:
            raise ValueError(f"expected {token!r}, found {found!r} in the formula {self.latex}")
        self.take()

    def raw(self) -> str:
        """The text of a braced group, as written."""
        self.expect("{")
        parts, depth = [], 1
        while depth:
            if self.place == len(self.tokens):
                raise ValueError(f"the formula ends too early: {self.latex}")
            token = self.tokens[self.place]
            self.place += 1
            depth += (token == "{") - (token == "}")
            parts.append(token)
        return "".join(parts[:-1])

    def scripted(self) -> str:
        limits = self.peek() in LARGE or self.peek() in LIMITED or self.peek() == r"\operatorname*"
        base, scripts, primes = self.atom(), {}, 0
        while self.peek() in ("_", "^", "'"):
            token = self.take()
            if token == "'":
                primes += 1
            else:
                if token in scripts:
                    raise ValueError(f"double {token!r} in the formula {self.latex}")
                scripts[token] = self.group()
        if primes:
            mark = f"<mo>{'′' * primes}</mo>"
            scripts["^"] = f"<mrow>{mark}{scripts['^']}</mrow>" if "^" in scripts else mark
        below, above = scripts.get("_"), scripts.get("^")
        name = {(True, True): "munderover", (True, False): "munder", (False, True): "mover"} if limits else {
            (True, True): "msubsup", (True, False): "msub", (False, True): "msup"
        }
        if not scripts:
            return base
        tag = name[below is not None, above is not None]
        return f"<{tag}>{base}{below or ''}{above or ''}</{tag}>"

    def atom(self) -> str:
        token = self.take()
        if token == "{":
            self.place -= 1
            return self.group()
        if token[0].isdigit():
            return f"<mn>{token}</mn>"
        if not token.startswith("\\"):
            return self.character(token)
        return self.command(token)

    def character(self, token: str) -> str:
        if token in SPACES:
            return f'<mspace width="{SPACES[token]}em"/>'
        if token.isalpha():
            return f"<mi>{token}</mi>"
        if token in "()[]|":
            form = "" if token == "|" else f' form="{"prefix" if token in OPENING else "postfix"}"'
            return f'<mo{form} stretchy="false">{token}</mo>'
        if token in "+-*/=<>,.:;!" or ord(token) > 127:
            return f"<mo>{escape({'-': '−', '*': '∗'}.get(token, token))}</mo>"
        raise ValueError(f"unknown character {token!r} in the formula {self.latex}")

    def command(self, token: str) -> str:
        name = token[1:]
        if name in LETTERS:
            return f"<mi>{LETTERS[name]}</mi>"
        if name in UPRIGHT:
            return f'<mi mathvariant="normal">{UPRIGHT[name]}</mi>'
        if name in OPERATORS:
            return f"<mo>{escape(OPERATORS[name])}</mo>"
        if token in FENCES:
            side = "" if name in ("|", "Vert", "vert") else f' form="{"prefix" if _opens(token) else "postfix"}"'
            return f'<mo{side} stretchy="false" lspace="0" rspace="0">{FENCES[token]}</mo>'
        if token in LARGE:
            return f"<mo>{LARGE[token]}</mo>"
        if token in LIMITED:
            return f'<mo form="prefix" lspace="0" rspace="0.167em" movablelimits="true">{name}</mo>'
        if token in NAMED:
            return f"<mi>{name}</mi>"
        if token in SPACES:
            return f'<mspace width="{SPACES[token]}em"/>'
        if token in (r"\frac", r"\tfrac", r"\dfrac"):
            return f"<mfrac>{self.group()}{self.group()}</mfrac>"
        if token == r"\sqrt":
            return self.square_root()
        if token in ACCENTS:
            stretchy = str(len(name) > 5).lower()
            return f'<mover accent="true">{self.group()}<mo stretchy="{stretchy}">{ACCENTS[token]}</mo></mover>'
        if token in FONTS:
            return _in_font(FONTS[token], self.raw() if self.peek() == "{" else self.take())
        if token in (r"\operatorname", r"\operatorname*"):
            return f"<mi>{escape(_plain(self.raw()))}</mi>"
        if token in (r"\text", r"\texttt", r"\textrm", r"\mbox"):
            return f"<mtext>{escape(_plain(self.raw()).replace(' ', NO_BREAK_SPACE))}</mtext>"
        if token == r"\left":
            return self.fenced()
        if token.rstrip("lr") in SIZED:
            return self.fence("postfix" if token.endswith("r") else "prefix", SIZED[token.rstrip("lr")])
        if token == r"\begin":
            return self.environment()
        if token in (r"\_", r"\#", r"\%", r"\&", r"\$"):
            return f"<mtext>{escape(name)}</mtext>"
        raise ValueError(f"unknown command {token!r} in the formula {self.latex}")

    def square_root(self) -> str:
        if self.peek() != "[":
            return f"<msqrt>{self.group()}</msqrt>"
        self.take()
        degree = self.row({"]"})
        self.expect("]")
        return f"<mroot>{self.group()}<mrow>{degree}</mrow></mroot>"

    def fence(self, form: str, size: float | None = None) -> str:
        token = self.take()
        sign = FENCES.get(token, "" if token == "." else token)
        fixed = f' minsize="{size}em" maxsize="{size}em"' if size else ""
        return f'<mo form="{form}" fence="true" stretchy="true"{fixed}>{escape(sign)}</mo>' if sign else ""

    def fenced(self) -> str:
        opening = self.fence("prefix")
        inside = self.row(set())
        self.expect(r"\right")
        return f"<mrow>{opening}{inside}{self.fence('postfix')}</mrow>"

    def environment(self) -> str:
        name = self.raw().rstrip("*")
        rows = [row for row in self.rows(r"\end") if any(row)]
        self.expect(r"\end")
        self.raw()
        table = _table(rows, name)
        brace = '<mo form="prefix" fence="true" stretchy="true">{</mo>'
        return f"<mrow>{brace}{table}</mrow>" if name == "cases" else table


def _opens(token: str) -> bool:
    return FENCES[token] in OPENING or token in OPENING


def _plain(text: str) -> str:
    return text.replace("\\_", "_").replace("\\", "").replace("~", " ")


def _in_font(font: str, text: str) -> str:
    if font in ("rm", "it") or not text.isalnum() or not text.isascii():
        variant = ' mathvariant="normal"' if font == "rm" and len(text) == 1 else ""
        return f"<mi{variant}>{escape(_plain(text))}</mi>"
    special = {"bb": DOUBLE_STRUCK, "cal": SCRIPT}.get(font, {})
    capital, small, digit = {
        "bb": (0x1D538, 0x1D552, 0x1D7D8), "cal": (0x1D49C, 0x1D4B6, 0x30), "bf": (0x1D400, 0x1D41A, 0x1D7CE),
    }[font]

    def drawn(c: str) -> str:
        start, first = (digit, "0") if c.isdigit() else (capital, "A") if c.isupper() else (small, "a")
        return special.get(c) or chr(start + ord(c) - ord(first))

    return f"<mi>{''.join(map(drawn, text))}</mi>"
