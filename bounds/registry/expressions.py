"""Reads a formula from text: every number, name, operator and function is one of a list, and no text is ever evaluated.

The text is looked at sign by sign before Python's parser sees it; the tree is then turned into sympy node by node. What is
built is what Python's operators give for the same numbers and symbols. Decimals are exact: 0.1 is a tenth.
"""

import ast
import keyword
import operator
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

import sympy as sp

from bounds.language import words
from bounds.language.coordinates import first_least, highest
from bounds.language.values import Need, needs, restrictions

__all__ = ["ARRAYS", "MOST_CHARACTERS", "MOST_TERMS", "Mean", "NoFormula", "argmax", "argmin", "excerpt", "expression",
           "only_ascii"]

ARRAYS = ("server_", "client_", "local_")  #: how names of a method's own arrays begin
MOST_CHARACTERS = 10_000
MOST_TERMS = 10_000  #: of a sum or a range whose ends are numbers
_MOST_TOKENS = 1_000  # numbers, names and signs; the longest claim of a paper has less than 500
_DEEPEST = 60  # brackets, signs before a number and powers of powers, one inside the other
_LONGEST_NAME = 100
_WIDEST = 50  # terms of a sum under a power, of which sympy asks for the sign
_MOST_DIGITS = 100  # of a number that is written
_MOST_BITS = 10_000  # of a number that is computed
_HIGHEST = 1_000  # exponent that is a number
_CALLED_HERE = {  # by other names elsewhere
    "inner": "dot", "gradient": "grad", "nabla": "objective_grad", "f": "objective", "f_star": "F_star",
    "x_opt": "x_star", "x_t": "x", "M": "clients", "N": "clients", "n_clients": "clients", "S": "participants",
    "K": "local_steps", "R": "rounds", "T": "iterations", "d": "dim", "lr": "eta_l", "eta": "eta_l", "sigma2": "sigma_sq"}
_FEW_TERMS, _LOW = 100, 10  # terms and exponents of a sum without names: sympy may add it up

_ALLOWED = "names, numbers such as 2 or 0.5, the signs + - * / ** and brackets"
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|\*\*|[-+*/(),\[\]]")
_NODES = {  # what stands for a sign in errors
    "^": "BitXor is not part of a formula; powers are written **",
    ".": f"Attribute is not part of a formula; allowed: {_ALLOWED}",
    **dict.fromkeys("\"'", f"text in quotes is not part of a formula; allowed: {_ALLOWED}"),
    **dict.fromkeys("<>=!", "a relation is not part of a formula; a condition has one, between two formulas"),
}


class NoFormula(ValueError):
    """A text that is no formula. ``symbol`` is the name at fault, or empty."""

    def __init__(self, message: str, symbol: str = ""):
        super().__init__(message)
        self.symbol = symbol


def expression(text: str, known: Mapping[str, Any]) -> sp.Expr:
    """The formula that ``text`` writes.

    Args:
        known: what each name stands for: a Symbol, an IndexedBase, or a function. Names that begin like those in ``ARRAYS``
            are arrays.

    Raises:
        NoFormula: anything else in the text, or more of it than the limits above allow. The message has the column,
            counted from 1, and what is allowed.

    Example:
        >>> expression("2*a/0.5", {"a": sp.Symbol("a")})
        4*a
    """
    text = re.sub(r"[\t\r\n]", " ", text).strip()
    numbers = _numbers(text)
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError as error:
        column = min(max((error.offset or len(text) + 1) - 1, 0), len(text))
        rest = text[column:]
        _refuse(text, column, f"{error.msg} at {excerpt(rest) if rest else 'its end'}")
    except (MemoryError, RecursionError):
        _refuse(text, 0, "it is nested too deeply")
    builder = _Builder(text, known, numbers)
    found = builder.value(tree.body)
    builder.check_values(found)
    return found


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
            _refuse(text, column, f"{sign!r} (U+{ord(sign):04X}{name and f', {name}'}) is not part of a formula; allowed: "
                    f"{_ALLOWED}, in ASCII")


def _refuse(text: str, column: int, message: str, symbol: str = "") -> NoReturn:
    raise NoFormula(f"cannot read {excerpt(text, column)}: {message} (column {column + 1})", symbol)


# before the parser --------------------------------------------------------------------------------------------------------
def _numbers(text: str) -> dict[int, sp.Rational]:
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
            _refuse(text, column, f"{token!r} is not part of a formula; allowed: {_ALLOWED}", token)
        elif len(token) > _LONGEST_NAME:
            _refuse(text, column, f"a name has at most {_LONGEST_NAME} characters; got {len(token)}")
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
            _refuse(text, column, _NODES.get(sign, f"{sign!r} is not part of a formula; allowed: {_ALLOWED}"))
        end = token.end()
        if token["number"] and re.match(r"[\w.]", text[end:end + 1]):
            whole = re.compile(r"[\w.]*").match(text, column)[0]
            _refuse(text, column, f"{excerpt(whole, most=60)} is no number; a number is written 2, 0.5 or 1e-3")
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
            _refuse(text, column, f"brackets, signs and powers stand inside each other at most {_DEEPEST} deep")
        before = token


def _number(text: str, column: int, token: str) -> sp.Rational:
    """The exact value of a number as it is written."""
    mantissa, _, exponent = token.lower().partition("e")
    whole, _, decimals = mantissa.partition(".")
    digits = len(whole) + len(decimals)
    if digits > _MOST_DIGITS or len(exponent) > 6 or digits + abs(int(exponent or 0)) > _MOST_DIGITS:
        _refuse(text, column, f"a number has at most {_MOST_DIGITS} digits, powers of ten included; got "
                f"{excerpt(token, most=60)}")
    if token.isdigit() and token[0] == "0" and token.strip("0"):
        _refuse(text, column, f"a whole number begins with another digit than 0; got {token!r}")
    power = int(exponent or 0) - len(decimals)
    return sp.Rational(int(whole + decimals) * 10 ** max(power, 0), 10 ** max(-power, 0))


# from the tree to sympy ---------------------------------------------------------------------------------------------------
_OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow}
_SIGNS: dict[type, Callable] = {ast.UAdd: operator.pos, ast.USub: operator.neg}

#: what stands between commas, in errors
_GROUPS = {ast.Tuple: "a group such as (k, 0, 2)", ast.List: "a list such as [0, 1]", ast.Starred: "a star before a name"}

#: numbers of arguments of functions that do not say it themselves
_ARGUMENTS = {sp.sqrt: {1}, sp.exp: {1}, sp.Abs: {1}, sp.log: {1, 2}, sp.floor: {1}, sp.ceiling: {1}}
_PARTIAL = (operator.pow, sp.sqrt, sp.log)  # not every real number has them
_ANY = (words.Max, words.Min)


def Mean(value, *triples):
    """The sum over ranges of indices, divided by the number of its terms."""
    return words.Sum(value, *triples) / sp.Mul(*(high - low + 1 for _, low, high in triples))


def argmin(value, chosen, triple):
    """What is ``chosen`` at the index where the value is least, the first of several."""
    return first_least(*triple, value, chosen)


def argmax(value, chosen, triple):
    """What is ``chosen`` at the index where the value is largest, the first of several."""
    return first_least(*triple, -value, chosen)


def _largest(value, *triples):
    for triple in triples:
        value = highest(*triple, value)
    return value


#: arguments, then triples (index, low, high)
_OVER = {words.Sum: words.Sum, words.Product: words.Product, words.Max: _largest,
         words.Min: lambda value, *triples: -_largest(-value, *triples), Mean: Mean, argmin: argmin, argmax: argmax}
_CHOICES = (argmin, argmax)  # of a second argument, over one range


class _Builder:
    def __init__(self, text: str, known: Mapping[str, Any], numbers: Mapping[int, sp.Rational]):
        self.text, self.known, self.numbers = text, known, numbers
        self.parts = {ast.Constant: self.constant, ast.Name: self.name, ast.UnaryOp: self.signed, ast.Call: self.call,
                      ast.Subscript: self.entry}
        self.needs: list[tuple[ast.AST, ast.AST, Need]] = []  # as it is written: what needs something of which part

    def refuse(self, node: ast.AST, message: str, symbol: str = "") -> NoReturn:
        _refuse(self.text, node.col_offset, message, symbol)

    def value(self, node: ast.AST):
        chain = []
        while isinstance(node, ast.BinOp):  # a sum of a thousand terms is a thousand deep
            chain.append(node)
            node = node.left
        if type(node) not in self.parts:
            got = _GROUPS.get(type(node), type(node).__name__)
            self.refuse(node, f"{got} is not part of a formula; allowed: {_ALLOWED}")
        found = self.parts[type(node)](node)
        for one in reversed(chain):
            found = self.operation(one, found, self.value(one.right))
        return found

    def constant(self, node: ast.Constant):
        if type(node.value) not in (int, float) or node.col_offset not in self.numbers:
            self.refuse(node, f"{node.value!r} is not part of a formula; allowed: {_ALLOWED}")
        return self.numbers[node.col_offset]

    def name(self, node: ast.Name):
        found = self.looked_up(node)
        if not isinstance(found, sp.Symbol | sp.IndexedBase):
            self.refuse(node, f"{node.id} is no formula of numbers or vectors; its arguments stand in brackets, "
                        f"{node.id}(...)", node.id)
        return found

    def looked_up(self, node: ast.Name):
        name = node.id
        if name in self.known:
            return self.known[name]
        if name.startswith(ARRAYS):
            return sp.IndexedBase(name, real=True)
        called = _CALLED_HERE.get(name)
        near = [called] if called in self.known else get_close_matches(name, self.known, 1)
        column = node.col_offset
        raise NoFormula(f"unknown symbol {name!r} in {excerpt(self.text, column)} (column {column + 1}); declare it "
                        "under variables, or use a name of bounds.language.words"
                        + (f"; nearest: {near[0]}" if near else ""), name)

    def signed(self, node: ast.UnaryOp):
        if type(node.op) not in _SIGNS:
            self.refuse(node, f"{type(node.op).__name__} is not part of a formula; allowed: {_ALLOWED}")
        return self.made(node, _SIGNS[type(node.op)], self.value(node.operand))

    def operation(self, node: ast.BinOp, left, right):
        if type(node.op) not in _OPERATORS:
            self.refuse(node, f"{type(node.op).__name__} is not part of a formula; allowed: {_ALLOWED}")
        if isinstance(node.op, ast.Pow):
            self.check_exponent(node.right, right)
            if right.is_Rational and _bits(left) * abs(right) > _MOST_BITS:
                self.refuse(node, f"{self.written(node)} has more digits than a formula may have, {_MOST_BITS} bits")
        if isinstance(node.op, ast.Div):
            if right == 0:
                self.refuse(node, "a formula divides by zero")
            self.needs.append((node, node.right, Need("power", (right, sp.Integer(-1)))))
        elif isinstance(node.op, ast.Pow):
            self.needs.append((node, node.left, Need("power", (left, right))))
        return self.made(node, _OPERATORS[type(node.op)], left, right)

    def entry(self, node: ast.Subscript):
        if not isinstance(node.value, ast.Name):
            self.refuse(node, f"indices follow the name of an array; got {self.written(node)}")
        array, name = self.looked_up(node.value), node.value.id
        if not isinstance(array, sp.IndexedBase):
            self.refuse(node, f"{name} takes no index; got {self.written(node)}", name)
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if not indices:
            self.refuse(node, f"{name} needs an index; got {self.written(node)}", name)
        values = tuple(map(self.value, indices))
        return self.made(node, array.__getitem__, values if len(values) > 1 else values[0])

    def call(self, node: ast.Call):
        if not isinstance(node.func, ast.Name):
            self.refuse(node, f"a function is called by its name; got {self.written(node)}")
        function, name = self.looked_up(node.func), node.func.id
        if isinstance(function, sp.Symbol | sp.IndexedBase):
            brackets = f"; indices stand in brackets, {name}[...]" if isinstance(function, sp.IndexedBase) else ""
            self.refuse(node, f"{name} is no function; got {self.written(node)}{brackets}", name)
        if node.keywords:
            self.refuse(node, f"arguments of {name} have no names; got {self.written(node)}", name)
        count = len(node.args)
        over = function in _OVER and (function not in _ANY or any(isinstance(one, ast.Tuple) for one in node.args[1:]))
        allowed = {count} if function in (*_OVER, *_ANY) and count else _ARGUMENTS.get(function) or getattr(
            function, "_nargs", {1})
        if count not in allowed:
            self.refuse(node, f"{name} takes {' or '.join(map(str, sorted(allowed)))} argument(s); got {count} in "
                        f"{self.written(node)}", name)
        if over:
            return self.over(node, function, name)
        values = list(map(self.value, node.args))
        if function is sp.exp:
            self.check_exponent(node.args[0], values[0])
        if function is sp.sqrt:
            self.needs.append((node, node.args[0], Need("power", (values[0], sp.Rational(1, 2)))))
        elif function is sp.log:
            self.needs += [(node, part, Need("logarithm", (value,))) for part, value in zip(node.args, values, strict=True)]
        return self.made(node, function, *values)

    def over(self, node: ast.Call, function: Callable, name: str):
        """A sum, a product, a largest value, or what is chosen by one."""
        bodies, ranges = (node.args[:2], node.args[2:]) if function in _CHOICES else (node.args[:1], node.args[1:])
        if function in _CHOICES and (len(ranges) != 1 or any(isinstance(body, ast.Tuple) for body in bodies)):
            self.refuse(node, f"{name} takes a number, what is chosen where that is extreme, and one range, as in "
                        f"{name}(objective(x_round[r]), x_round[r], (r, 0, rounds)); got {self.written(node)}", name)
        if not ranges:
            self.refuse(node, f"{name} needs a range, as in {name}(a, (k, 0, clients - 1)); got {self.written(node)}", name)
        triples = []
        for one in ranges:
            if not (isinstance(one, ast.Tuple) and len(one.elts) == 3 and isinstance(one.elts[0], ast.Name)
                    and isinstance(index := self.looked_up(one.elts[0]), sp.Symbol)):
                self.refuse(one, f"a range of {name} is written (k, 0, clients - 1); got {self.written(one)}", name)
            if index != sp.Symbol(index.name, integer=True):
                self.refuse(one, "the index of a range is a letter without another meaning, as k in (k, 0, clients - 1); "
                            f"got {self.written(one)}", index.name)
            ends = [self.value(end) for end in one.elts[1:]]
            for written, end in zip(one.elts[1:], ends, strict=True):
                if end.is_number and not (end.is_Integer and abs(end) <= MOST_TERMS):
                    self.refuse(written, f"an end of a range is a whole number up to {MOST_TERMS}; got "
                                f"{self.written(written)}")
            triples.append((index, *ends))
        values = list(map(self.value, bodies))
        if function is Mean:
            self.needs += [(node, node, Need("power", (high - low + 1, -sp.S.One))) for _, low, high in triples]
        found = self.made(node, _OVER[function], *values, *triples)
        if _without_names(found) and not _soon_added(values[0], triples):
            self.refuse(node, f"a {name} without names has at most {_FEW_TERMS} terms and exponents up to {_LOW}; got "
                        f"{self.written(node)}", name)
        return found

    def check_values(self, found) -> None:
        """Refuse a text with a part that has no value at some numbers where the formula has one: it would be read as another
        statement, as x/x would be as 1."""
        asked = [(node, part, own) for node, part, need in self.needs if (own := restrictions(need))]
        kept = set().union(*(restrictions(need) for need in needs(found))) if asked else set()
        kept |= {(weaker, e) for kind, e in kept if kind == ">" for weaker in (">=", "!=")}
        for node, part, own in asked:
            for kind in sorted(kind for kind, e in own - kept):
                asks = f"{self.written(node)} to be real" if kind == "real" else f"{self.written(part)} {kind} 0"
                self.refuse(node, f"{self.written(node)} needs {asks}, and cancels, so that the formula does not; declare "
                            "variables positive, or leave out what cancels")

    def check_exponent(self, node: ast.AST, exponent) -> None:
        if _without_names(exponent) and not _magnitude(exponent) <= _HIGHEST:
            self.refuse(node, f"an exponent that is a number is at most {_HIGHEST}, without a power in it; got "
                        f"{self.written(node)}")

    def made(self, node: ast.AST, make: Callable, *values):
        """What ``make`` gives; refused if it is no real number or formula, or has too large numbers."""
        if make in _PARTIAL and len(sp.Add.make_args(values[0])) > _WIDEST:
            self.refuse(node, f"a power, root or logarithm is one of a sum of at most {_WIDEST} terms; got "
                        f"{len(values[0].args)} in {self.written(node)}")
        try:
            found = make(*values)
        except Exception as error:  # sympy raises almost anything for arguments without a meaning
            self.refuse(node, f"{self.written(node)} has no meaning: {' '.join(str(error).split())[:200]}")
        if not isinstance(found, sp.Expr):
            self.refuse(node, f"{self.written(node)} is no formula of numbers or vectors")
        if found in (sp.zoo, sp.nan, sp.oo, -sp.oo):
            self.refuse(node, "a formula divides by zero, or takes the logarithm of zero")
        if make in _PARTIAL and found.is_extended_real is False:
            self.refuse(node, f"{self.written(node)} is no real number")
        for term in sp.Add.make_args(found):
            for factor in sp.Mul.make_args(term):
                if factor.is_Rational and _bits(factor) > _MOST_BITS:
                    self.refuse(node, f"{self.written(node)} has more digits than a formula may have, {_MOST_BITS} bits")
                if factor.is_Pow and factor.exp.is_Rational and abs(factor.exp) > _HIGHEST:
                    self.refuse(node, f"an exponent that is a number is at most {_HIGHEST}; got more in "
                                f"{self.written(node)}")
        return found

    def written(self, node: ast.AST) -> str:
        """The text of a node, a long one in part."""
        text = self.text[node.col_offset:node.end_col_offset]
        return text if len(text) <= 100 else f"{text[:60]}... ({len(text)} characters)"


def _bits(e) -> int:
    """How long a number may get that sympy takes out of a power of the expression, per unit of the exponent."""
    if e.is_Rational:
        return int(e.p).bit_length() + int(e.q).bit_length()
    if e.is_Add:
        return max(map(_bits, e.args))
    return sum(map(_bits, e.args)) if e.is_Mul or e.is_Pow else 0


def _without_names(e) -> bool:
    return not e.free_symbols and not e.has(words.Operator)


def _magnitude(e) -> float:
    """An upper bound of a number made of fractions, their roots and logarithms; infinity for others."""
    if e.is_Rational:
        return float(abs(e)) if _bits(e) < 1000 else float("inf")
    if e.is_Add:
        return sum(map(_magnitude, e.args))
    if e.is_Mul:
        product = 1.0
        for factor in e.args:
            product *= _magnitude(factor)
        return product
    if e.is_Pow and e.base.is_Rational and e.exp.is_Rational and _bits(e.base) * abs(e.exp) < 1000:
        return float(abs(e.base)) ** float(e.exp)
    if isinstance(e, sp.log) and e.args[0].is_Rational:
        return float(_bits(e.args[0]))
    return float("inf")


def _soon_added(value, triples) -> bool:
    """Whether a sum or a product without names has few terms and small exponents."""
    terms = 1
    for _, low, high in triples:
        terms *= int(high - low) + 1 if (high - low).is_Integer else MOST_TERMS
    return terms <= _FEW_TERMS and not value.has(sp.Sum, sp.Product, sp.exp) and all(
        power.exp.is_Rational and abs(power.exp) <= _LOW for power in value.atoms(sp.Pow))

