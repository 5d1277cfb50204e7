"""Reads a formula from text: every number, name, operator and function is one of a list, and no text is ever evaluated.

The text is looked at sign by sign before Python's parser sees it; the tree is then turned into sympy node by node. What is
built is what Python's operators give for the same numbers and symbols. Decimals are exact: 0.1 is a tenth.
"""

import ast
import operator
import re
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

import sympy as sp

from bounds.language import operators
from bounds.language.coordinates import first_least, highest
from bounds.language.values import Need, needs, restrictions
from bounds.registry.abbreviations import EACH, Abbreviation
from bounds.registry.array_sizes import size_of_index
from bounds.registry.magnitudes import FEW_TERMS, LOW, MOST_TERMS, bits, magnitude, soon_added, without_names
from bounds.registry.probabilities import without_probabilities
from bounds.registry.tokens import ALLOWED, MOST_CHARACTERS, NoFormula, excerpt, numbers_in, only_ascii, refuse

__all__ = ["ARRAYS", "MOST_CHARACTERS", "MOST_TERMS", "Mean", "NoFormula", "argmax", "argmin", "excerpt", "expression",
           "only_ascii"]

ARRAYS = ("server_", "client_", "local_")  #: how names of a method's own arrays begin
_WIDEST = 50  # terms of a sum under a power, of which sympy asks for the sign
_MOST_BITS = 10_000  # of a number that is computed
_HIGHEST = 1_000  # exponent that is a number
_CALLED_HERE = {  # by other names elsewhere
    "inner": "dot", "gradient": "grad", "nabla": "objective_grad", "f": "objective", "f_star": "F_star",
    "x_opt": "x_star", "x_t": "x", "M": "clients", "N": "clients", "n_clients": "clients", "S": "participants",
    "K": "local_steps", "R": "rounds", "T": "iterations", "d": "dim", "lr": "eta_l", "eta": "eta_l", "sigma2": "sigma_sq",
    "max": "Max", "min": "Min", "sum": "Sum", "prod": "Product", "ln": "log", "abs": "Abs", "ceil": "ceiling"}
_WRITTEN_HERE = {  # what has no name, and what says the same
    "Var": "E(norm2(v - E(v)))", "kappa": "L/mu", "factorial": "Product(i, (i, 1, n))",
    "O": 'variables = {C = "hidden"}, and C*(...)', "oo": "limits, or a range that ends", "log2": "log(a, 2)"}
_MOST_EXPANDED = 300  # abbreviations written out in one formula


def expression(text: str, known: Mapping[str, Any], read: set[str] | None = None, bound: Collection[str] = (),
               sizes: Mapping[str, tuple[str, ...]] | None = None) -> sp.Expr:
    """The formula that ``text`` writes.

    Args:
        known: what each name stands for: a Symbol, an IndexedBase, a function, or an Abbreviation. Names that begin like
            those in ``ARRAYS`` are arrays.
        read: gets the names that are read, those that cancel too.
        bound: the indices that something around the formula binds.
        sizes: the sizes of the arrays that the claim declares, such as ``{"p": ("n",)}``.

    Raises:
        NoFormula: anything else in the text, or more of it than the limits above allow. The message has the column,
            counted from 1, and what is allowed.

    Example:
        >>> expression("2*a/0.5", {"a": sp.Symbol("a")})
        4*a
    """
    builder = _Builder(text, known)
    builder.read = builder.read if read is None else read
    builder.bound, builder.sizes = frozenset(bound), sizes or {}
    found = builder.whole()
    builder.check_values(found)
    return found


# from the tree to sympy ---------------------------------------------------------------------------------------------------
_OPERATORS: dict[type, Callable] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow}
_SIGNS: dict[type, Callable] = {ast.UAdd: operator.pos, ast.USub: operator.neg}

#: what stands between commas, in errors
_GROUPS = {ast.Tuple: "a group such as (k, 0, 2)", ast.List: "a list such as [0, 1]", ast.Starred: "a star before a name"}

#: numbers of arguments of functions that do not say it themselves
_ARGUMENTS = {sp.sqrt: {1}, sp.exp: {1}, sp.Abs: {1}, sp.log: {1, 2}, sp.floor: {1}, sp.ceiling: {1}}
_PARTIAL = (operator.pow, sp.sqrt, sp.log)  # not every real number has them
_ANY = (operators.Max, operators.Min)


def Mean(value, *triples):
    """The sum over ranges of indices, divided by the number of its terms."""
    return operators.Sum(value, *triples) / sp.Mul(*(high - low + 1 for _, low, high in triples))


def argmin(value, chosen, triple):
    """The value of ``chosen`` at the index where ``value`` is least, the first of several."""
    return first_least(*triple, value, chosen)


def argmax(value, chosen, triple):
    """The value of ``chosen`` at the index where ``value`` is largest, the first of several."""
    return first_least(*triple, -value, chosen)


def _largest(value, *triples):
    for triple in triples:
        value = highest(*triple, value)
    return value


#: arguments, then triples (index, low, high)
_OVER = {operators.Sum: operators.Sum, operators.Product: operators.Product, operators.Max: _largest,
         operators.Min: lambda value, *triples: -_largest(-value, *triples), Mean: Mean, argmin: argmin, argmax: argmax}
_CHOICES = (argmin, argmax)  # of a second argument, over one range


class _Builder:
    """Turns one text into a formula. ``around``: the builder of the text that has this one as an abbreviation."""

    def __init__(self, text: str, known: Mapping[str, Any], around: "_Builder | None" = None, name: str = ""):
        text = text if "P" in known else without_probabilities(text)
        self.text = re.sub(r"[\t\r\n]", " ", text).strip()
        self.known, self.around = known, around
        self.bound: frozenset[str] = around.bound if around else frozenset()
        self.sizes: Mapping[str, tuple[str, ...]] = around.sizes if around else {}
        self.everywhere: Mapping[str, Any] = around.everywhere if around else known  # the names outside of parameters
        self.inside: tuple[str, ...] = (*around.inside, name) if around else ()
        self.expanded: list[str] = around.expanded if around else []
        self.read: set[str] = around.read if around else set()
        self.parts = {ast.Constant: self.constant, ast.Name: self.name, ast.UnaryOp: self.signed, ast.Call: self.call,
                      ast.Subscript: self.entry}
        self.needs: list[tuple[_Builder, ast.AST, ast.AST, Need]] = []  # what is written, and needs something of a part

    def whole(self):
        """Read the whole text as a formula or condition."""
        self.numbers = numbers_in(self.text)
        try:
            tree = ast.parse(self.text, mode="eval")
        except SyntaxError as error:
            column = min(max((error.offset or len(self.text) + 1) - 1, 0), len(self.text))
            rest = self.text[column:]
            refuse(self.text, column, f"{error.msg} at {excerpt(rest) if rest else 'its end'}")
        except (MemoryError, RecursionError):
            refuse(self.text, 0, "it is nested too deeply")
        return self.value(tree.body)

    def write_out(self, node: ast.AST, short: Abbreviation, bracket: str, arguments: list[ast.AST]):
        """Expand an abbreviation."""
        if short.name in self.inside:
            self.refuse(node, f"the abbreviation {short.name} contains itself", short.name)
        if (arguments and bracket != short.bracket) or len(arguments) != len(short.parameters):
            form = f"{short.name}{short.bracket}{', '.join(short.parameters)}{')' if short.bracket == '(' else ']'}"
            self.refuse(node, f"{short.name} is written {form if short.parameters else short.name}; got "
                        f"{self.excerpt(node)}", short.name)
        if not isinstance(short.text, str):
            self.refuse(node, f"{short.name} is a list, and no formula", short.name)
        self.expanded.append(short.name)
        if len(self.expanded) > _MOST_EXPANDED:
            self.refuse(node, f"a formula has at most {_MOST_EXPANDED} abbreviations, those inside others included")
        values = dict(zip(short.parameters, map(self.argument, arguments), strict=True))
        inner = _Builder(short.text, {**self.everywhere, **values}, self, short.name)
        found = inner.whole()
        self.needs += inner.needs
        return found

    def argument(self, node: ast.AST):
        """An argument of an abbreviation: a formula, or another abbreviation that is used with arguments of its own."""
        if isinstance(node, ast.Name) and isinstance(found := self.looked_up(node), Abbreviation) and found.parameters:
            return found
        return self.value(node)

    def refuse(self, node: ast.AST, message: str, symbol: str = "") -> NoReturn:
        refuse(self.text, node.col_offset, message, symbol)

    def value(self, node: ast.AST):
        chain = []
        while isinstance(node, ast.BinOp):  # a sum of a thousand terms is a thousand deep
            chain.append(node)
            node = node.left
        if type(node) not in self.parts:
            got = _GROUPS.get(type(node), type(node).__name__)
            self.refuse(node, f"{got} is not part of a formula; allowed: {ALLOWED}")
        found = self.parts[type(node)](node)
        for one in reversed(chain):
            found = self.operation(one, found, self.value(one.right))
        return found

    def constant(self, node: ast.Constant):
        if type(node.value) not in (int, float) or node.col_offset not in self.numbers:
            self.refuse(node, f"{node.value!r} is not part of a formula; allowed: {ALLOWED}")
        return self.numbers[node.col_offset]

    def name(self, node: ast.Name):
        found = self.looked_up(node)
        if isinstance(found, Abbreviation):
            return self.write_out(node, found, "", [])
        if found == operators.sampling:
            self.refuse(node, f"{node.id} stands in E(a, {node.id}) alone", node.id)
        if not isinstance(found, sp.Expr | sp.IndexedBase):
            self.refuse(node, f"{node.id} is no formula of numbers or vectors; its arguments stand in brackets, "
                        f"{node.id}(...)", node.id)
        return found

    def looked_up(self, node: ast.Name):
        name = node.id
        self.read.add(name)
        if name in self.known:
            return self.known[name]
        if name.startswith(ARRAYS):
            return sp.IndexedBase(name, real=True)
        called = _CALLED_HERE.get(name)
        near = [called] if called in self.known else [] if name in _WRITTEN_HERE else get_close_matches(name, self.known, 1)
        column = node.col_offset
        raise NoFormula(f"unknown symbol {name!r} in {excerpt(self.text, column)} (column {column + 1}); declare it "
                        "under variables, or use a name of docs/claims.md"
                        + (f"; nearest: {near[0]}" if near else "")
                        + (f"; write {_WRITTEN_HERE[name]}" if name in _WRITTEN_HERE else ""), name)

    def signed(self, node: ast.UnaryOp):
        if type(node.op) not in _SIGNS:
            self.refuse(node, f"{type(node.op).__name__} is not part of a formula; allowed: {ALLOWED}")
        return self.checked_value(node, _SIGNS[type(node.op)], self.value(node.operand))

    def operation(self, node: ast.BinOp, left, right):
        if type(node.op) not in _OPERATORS:
            self.refuse(node, f"{type(node.op).__name__} is not part of a formula; allowed: {ALLOWED}")
        if isinstance(node.op, ast.Pow):
            self.check_exponent(node.right, right)
            if right.is_Rational and bits(left) * abs(right) > _MOST_BITS:
                self.refuse(node, f"{self.excerpt(node)} has more digits than a formula may have, {_MOST_BITS} bits")
        if isinstance(node.op, ast.Div):
            if right == 0:
                self.refuse(node, "a formula divides by zero")
            self.needs.append((self, node, node.right, Need("power", (right, sp.Integer(-1)))))
        elif isinstance(node.op, ast.Pow):
            self.needs.append((self, node, node.left, Need("power", (left, right))))
        return self.checked_value(node, _OPERATORS[type(node.op)], left, right)

    def entry(self, node: ast.Subscript):
        if not isinstance(node.value, ast.Name):
            self.refuse(node, f"indices follow the name of an array; got {self.excerpt(node)}")
        array, name = self.looked_up(node.value), node.value.id
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(array, Abbreviation):
            return self.write_out(node, array, "[", indices)
        if not isinstance(array, sp.IndexedBase):
            called = f"; {name} is called with round brackets" if isinstance(array, type) else ""
            self.refuse(node, f"{name} takes no index; got {self.excerpt(node)}{called}", name)
        if not indices:
            self.refuse(node, f"{name} needs an index; got {self.excerpt(node)}", name)
        values = tuple(map(self.value, indices))
        return self.checked_value(node, array.__getitem__, values if len(values) > 1 else values[0])

    def call(self, node: ast.Call):
        if not isinstance(node.func, ast.Name):
            self.refuse(node, f"a function is called by its name; got {self.excerpt(node)}")
        function, name = self.looked_up(node.func), node.func.id
        if isinstance(function, Abbreviation) and not node.keywords:
            return self.write_out(node, function, "(", node.args)
        if isinstance(function, sp.Expr | sp.IndexedBase):
            brackets = f"; indices stand in brackets, {name}[...]" if isinstance(function, sp.IndexedBase) else ""
            self.refuse(node, f"{name} is no function; got {self.excerpt(node)}{brackets}", name)
        if node.keywords:
            self.refuse(node, f"arguments of {name} have no names; got {self.excerpt(node)}", name)
        count = len(node.args)
        over = function in _OVER and (function not in _ANY or any(isinstance(one, ast.Tuple) for one in node.args[1:])
                                      or self.binds_all(node.args))
        allowed = {count} if function in (*_OVER, *_ANY) and count else _ARGUMENTS.get(function) or getattr(
            function, "_nargs", {1})
        if count not in allowed:
            self.refuse(node, f"{name} takes {' or '.join(map(str, sorted(allowed)))} argument(s); got {count} in "
                        f"{self.excerpt(node)}", name)
        if over:
            return self.ranged(node, function, name)
        if function is operators.E and count == 2:
            if not (isinstance(node.args[1], ast.Name) and self.looked_up(node.args[1]) == operators.sampling):
                self.refuse(node, f"E(a, sampling) is over the sampling of clients alone; got {self.excerpt(node)}", name)
            return self.checked_value(node, function, self.value(node.args[0]), operators.sampling)
        values = list(map(self.value, node.args))
        if function is sp.exp:
            self.check_exponent(node.args[0], values[0])
        if function is sp.sqrt:
            self.needs.append((self, node, node.args[0], Need("power", (values[0], sp.Rational(1, 2)))))
        elif function is sp.log:
            self.needs += [(self, node, part, Need("logarithm", (value,)))
                           for part, value in zip(node.args, values, strict=True)]
        return self.checked_value(node, function, *values)

    def binds_all(self, arguments: list[ast.AST]) -> bool:
        """Whether Max or Min has bare indices behind a formula that depends on them: it is over all their values. Refused
        where something around binds these, since it may be meant as the larger of two numbers."""
        rest = arguments[1:]
        if not rest or not all(isinstance(one, ast.Name) for one in rest):
            return False
        free = self.value(arguments[0]).free_symbols
        if not all(self.known.get(one.id) == (index := sp.Symbol(one.id, integer=True)) and index in free for one in rest):
            return False
        for one in rest:
            if one.id in self.bound:
                self.refuse(one, f"{one.id} is bound around {self.excerpt(arguments[0])} and stands bare behind it; write a "
                            f"range, as ({one.id}, 0, clients - 1), or {one.id} first for the larger of two numbers", one.id)
        return True

    def ranged(self, node: ast.Call, function: Callable, name: str):
        """A sum, a product, a largest value, or what is chosen by one."""
        bodies, ranges = (node.args[:2], node.args[2:]) if function in _CHOICES else (node.args[:1], node.args[1:])
        if function in _CHOICES and (len(ranges) != 1 or any(isinstance(body, ast.Tuple) for body in bodies)):
            self.refuse(node, f"{name} takes a number, what is chosen where that is extreme, and one range, as in "
                        f"{name}(objective(x_round[r]), x_round[r], (r, 0, rounds)); got {self.excerpt(node)}", name)
        if not ranges:
            self.refuse(node, f"{name} needs a range, as in {name}(a, (k, 0, clients - 1)); got {self.excerpt(node)}", name)
        around, self.bound = self.bound, self.bound | {
            named.id for one in ranges for named in (one.elts[:1] if isinstance(one, ast.Tuple) else [one])
            if isinstance(named, ast.Name)}
        values = list(map(self.value, bodies))
        self.bound = around
        triples = []
        for one in ranges:
            if isinstance(one, ast.Name) and (last := self.last(one, values)) is not None:
                triples.append((sp.Symbol(one.id, integer=True), sp.Integer(0), last))
                continue
            if not (isinstance(one, ast.Tuple) and len(one.elts) == 3 and isinstance(one.elts[0], ast.Name)
                    and isinstance(index := self.looked_up(one.elts[0]), sp.Symbol)):
                self.refuse(one, f"a range of {name} is written (k, 0, clients - 1); got {self.excerpt(one)}", name)
            if index != sp.Symbol(index.name, integer=True):
                self.refuse(one, "the index of a range is a letter without another meaning, as k in (k, 0, clients - 1); "
                            f"got {self.excerpt(one)}", index.name)
            ends = [self.value(end) for end in one.elts[1:]]
            for written, end in zip(one.elts[1:], ends, strict=True):
                if end.is_number and not (end.is_Integer and abs(end) <= MOST_TERMS):
                    self.refuse(written, f"an end of a range is a whole number up to {MOST_TERMS}; got "
                                f"{self.excerpt(written)}")
            triples.append((index, *ends))
        if function is Mean:
            self.needs += [(self, node, node, Need("power", (high - low + 1, -sp.S.One))) for _, low, high in triples]
        found = self.checked_value(node, _OVER[function], *values, *triples)
        if without_names(found) and not soon_added(values[0], triples):
            self.refuse(node, f"a {name} without names has at most {FEW_TERMS} terms and exponents up to {LOW}; got "
                        f"{self.excerpt(node)}", name)
        return found

    def last(self, node: ast.Name, values: list[sp.Expr]) -> sp.Expr | None:
        """The last value of a bare index: by its letter, or by the arrays of the claim that have it; None without either."""
        size = size_of_index(node.id, values, self.sizes)
        usual = EACH.get(node.id)
        if usual in self.everywhere and size and usual != size[0]:
            self.refuse(node, f"{node.id} runs over {usual}, and an array with that index has the size "
                        f"{' + '.join(map(str, filter(None, size)))}; write the range, as in ({node.id}, 0, {size[0]} - 1)",
                        node.id)
        if usual in self.everywhere:
            return self.everywhere[usual] - 1
        return self.everywhere[size[0]] + size[1] - 1 if size else None

    def check_values(self, found) -> None:
        """Refuse a text with a part that has no value at some numbers where the formula has one: it would be read as another
        statement, as x/x would be as 1."""
        asked = [(by, node, part, own) for by, node, part, need in self.needs if (own := restrictions(need))]
        kept = set().union(*(restrictions(need) for need in needs(found))) if asked else set()
        kept |= {(weaker, e) for kind, e in kept if kind == ">" for weaker in (">=", "!=")}
        for by, node, part, own in asked:
            gone = own - kept
            if gone:  # sympy writes |b - a| for |a - b|, also inside
                signed = {(kind, sp.signsimp(e)) for kind, e in kept}
                gone = {(kind, e) for kind, e in gone if (kind, sp.signsimp(e)) not in signed}
            for kind in sorted(kind for kind, e in gone):
                asks = f"{by.excerpt(node)} to be real" if kind == "real" else f"{by.excerpt(part)} {kind} 0"
                by.refuse(node, f"{by.excerpt(node)} needs {asks}, and cancels, so that the formula does not; declare "
                            "variables positive, or leave out what cancels")

    def check_exponent(self, node: ast.AST, exponent) -> None:
        if without_names(exponent) and not magnitude(exponent) <= _HIGHEST:
            self.refuse(node, f"an exponent that is a number is at most {_HIGHEST}, without a power in it; got "
                        f"{self.excerpt(node)}")

    def checked_value(self, node: ast.AST, make: Callable, *values):
        """Call ``make`` on the values; refuse a result that is no real number or formula, or that has too large numbers."""
        if make in _PARTIAL and len(sp.Add.make_args(values[0])) > _WIDEST:
            self.refuse(node, f"a power, root or logarithm is one of a sum of at most {_WIDEST} terms; got "
                        f"{len(values[0].args)} in {self.excerpt(node)}")
        try:
            found = make(*values)
        except Exception as error:  # sympy raises almost anything for arguments without a meaning
            self.refuse(node, f"{self.excerpt(node)} has no meaning: {' '.join(str(error).split())[:200]}")
        if not isinstance(found, sp.Expr):
            self.refuse(node, f"{self.excerpt(node)} is no formula of numbers or vectors")
        if found in (sp.zoo, sp.nan, sp.oo, -sp.oo):
            self.refuse(node, "a formula divides by zero, or takes the logarithm of zero")
        if make in _PARTIAL and found.is_extended_real is False:
            self.refuse(node, f"{self.excerpt(node)} is no real number")
        for term in sp.Add.make_args(found):
            for factor in sp.Mul.make_args(term):
                if factor.is_Rational and bits(factor) > _MOST_BITS:
                    self.refuse(node, f"{self.excerpt(node)} has more digits than a formula may have, {_MOST_BITS} bits")
                if factor.is_Pow and factor.exp.is_Rational and abs(factor.exp) > _HIGHEST:
                    self.refuse(node, f"an exponent that is a number is at most {_HIGHEST}; got more in "
                                f"{self.excerpt(node)}")
        return found

    def excerpt(self, node: ast.AST) -> str:
        """The text of a node, a long one in part."""
        text = self.text[node.col_offset:node.end_col_offset]
        return text if len(text) <= 100 else f"{text[:60]}... ({len(text)} characters)"
