"""The numbers, names and signs of a formula's text, looked at one by one before any parser sees it."""

import keyword
import re
import unicodedata
from collections.abc import Iterator
from typing import NoReturn

import sympy as sp

__all__ = ["ALLOWED", "MOST_CHARACTERS", "NoFormula", "excerpt", "numbers_in", "only_ascii", "refuse"]

MOST_CHARACTERS = 10_000
_MOST_TOKENS = 1_000  # numbers, names and signs; the longest claim of a paper has less than 500
_DEEPEST = 60  # brackets, signs before a number and powers of powers, one inside the other
_LONGEST_NAME = 100
_MOST_DIGITS = 100  # of a number that is written

ALLOWED = "names, numbers such as 2 or 0.5, the signs + - * / ** and brackets"
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|\*\*|[-+*/(),\[\]]")
_NODES = {  # what stands for a sign in errors
    "^": "'^' is not part of a formula; powers are written **",
    ".": f"Attribute is not part of a formula; allowed: {ALLOWED}",
    **dict.fromkeys("\"'", f"text in quotes is not part of a formula; allowed: {ALLOWED}"),
    **dict.fromkeys("<>=!", "a relation is not part of a formula; a condition has one, between two formulas"),
}


class NoFormula(ValueError):
    """A text that is no formula. ``symbol`` is the name at fault, or empty."""

    def __init__(self, message: str, symbol: str = ""):
        super().__init__(message)
        self.symbol = symbol


def excerpt(text: str, column: int = 0, most: int = 300) -> str:
    """The text in quotes; of a long one 60 characters around the column, and its length."""
    if len(text) <= most:
        return repr(text)
    start = max(0, column - 30)
    return f"{'...' if start else ''}{text[start:start + 60]!r}... ({len(text)} characters)"


def only_ascii(text: str) -> None:
    """Raise NoFormula for a text with more than ``MOST_CHARACTERS``, or with a letter, digit or sign that is not ASCII."""
    if len(text) > MOST_CHARACTERS:
        raise NoFormula(f"a formula has at most {MOST_CHARACTERS} characters; got {excerpt(text)}")
    for column, sign in enumerate(text):
        if not (" " <= sign <= "~" or sign in "\t\r\n"):
            name = unicodedata.name(sign, "").lower()
            refuse(text, column, f"{sign!r} (U+{ord(sign):04X}{name and f', {name}'}) is not part of a formula; allowed: "
                    f"{ALLOWED}, in ASCII")


def refuse(text: str, column: int, message: str, symbol: str = "") -> NoReturn:
    raise NoFormula(f"cannot read {excerpt(text, column)}: {message} (column {column + 1})", symbol)


def numbers_in(text: str) -> dict[int, sp.Rational]:
    """The numbers of a text by column. Refuses what is no number, name or sign, and what exceeds the limits."""
    only_ascii(text)
    found, tokens = {}, list(_tokens(text))
    if len(tokens) > _MOST_TOKENS:
        raise NoFormula(f"a formula has at most {_MOST_TOKENS} numbers, names and signs; got {len(tokens)} in "
                        f"{excerpt(text)}")
    _check_depth(text, tokens)
    for column, token in tokens:
        if token[0].isdigit() or token[0] == ".":
            found[column] = _number(text, column, token)
        elif keyword.iskeyword(token):
            refuse(text, column, f"{token!r} is not part of a formula; allowed: {ALLOWED}", token)
        elif len(token) > _LONGEST_NAME:
            refuse(text, column, f"a name has at most {_LONGEST_NAME} characters; got {len(token)}")
    return found


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    column = 0
    while column < len(text):
        if text[column] == " ":
            column += 1
            continue
        token = _TOKEN.match(text, column)
        if token is None:
            sign = text[column]
            refuse(text, column, _NODES.get(sign, f"{sign!r} is not part of a formula; allowed: {ALLOWED}"))
        end = token.end()
        if token["number"] and re.match(r"[\w.]", text[end:end + 1]):
            whole = re.compile(r"[\w.]*").match(text, column)[0]
            refuse(text, column, f"{excerpt(whole, most=60)} is no number; a number is written 2, 0.5 or 1e-3")
        yield column, token[0]
        column = end


def _check_depth(text: str, tokens: list[tuple[int, str]]) -> None:
    """Refuse brackets in brackets, signs before signs and powers of powers beyond ``_DEEPEST`` in all."""
    pending, before = [0], ""  # open signs and powers, in each open bracket
    for column, token in tokens:
        operand = before[:1].isalnum() or before[:1] in ("_", ".", ")", "]")
        if token in ("(", "["):
            pending.append(0)
        elif token in (")", "]"):
            pending = pending[:-1] or [0]
        elif token == "**" or (token in "+-" and not operand):
            pending[-1] += 1
        elif token in ("+", "-", "*", "/", ","):
            pending[-1] = 0
        if len(pending) - 1 + sum(pending) > _DEEPEST:
            refuse(text, column, f"brackets, signs and powers stand inside each other at most {_DEEPEST} deep")
        before = token


def _number(text: str, column: int, token: str) -> sp.Rational:
    """The exact value of a number as it is written."""
    mantissa, _, exponent = token.lower().partition("e")
    whole, _, decimals = mantissa.partition(".")
    digits = len(whole) + len(decimals)
    if digits > _MOST_DIGITS or len(exponent) > 6 or digits + abs(int(exponent or 0)) > _MOST_DIGITS:
        refuse(text, column, f"a number has at most {_MOST_DIGITS} digits, powers of ten included; got "
                f"{excerpt(token, most=60)}")
    if token.isdigit() and token[0] == "0" and token.strip("0"):
        refuse(text, column, f"a whole number begins with another digit than 0; got {token!r}")
    power = int(exponent or 0) - len(decimals)
    return sp.Rational(int(whole + decimals) * 10 ** max(power, 0), 10 ** max(-power, 0))
