"""A claim as a table of a claim file, which the reader of claim files reads back as the same claim."""

import json
import re
from collections.abc import Container, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

from bounds.language import operators
from bounds.language.claim import (
    INDEPENDENT,
    SAMPLING,
    Assumption,
    Claim,
    Condition,
    Definition,
    Procedure,
    Variable,
    names_in,
)
from bounds.language.coordinates import highest
from bounds.language.definitions import SHARED
from bounds.language.names import NAMES
from bounds.language.on_samples import speaks_of_samples
from bounds.language.space import infimum, without_points
from bounds.printing.deciding_fields import INCLUSION, SIZES, bound_indices, deciding_fields, gives_a_number, is_size
from bounds.registry.collection import Collection
from bounds.registry.known_names import known_names
from bounds.registry.papers import FOLDERS, files_of
from bounds.registry.vocabulary import Vocabulary, parts_of

__all__ = ["NotInFiles", "as_toml", "read_back"]

_PROCEDURE = Procedure()
COPY = "copy"  #: the paper of what is printed of a paper's claim
_WORD = re.compile(r"[A-Za-z_]\w*")


class NotInFiles(ValueError):
    """A claim that the language of claim files cannot say; the message says which part."""


def as_toml(claim: Claim) -> str:
    """Write a claim as a ``[[claim]]`` table of a claim file, with every hypothesis, domain, bound and option.

    Above it stand tables of what it uses of its paper: names, quantities, and assumptions on functions. The text is read
    back before it is returned, and is that of the claim. The id of a paper's claim becomes one of ``copy/``, since a file
    cannot use the paper's.

    Raises:
        NotInFiles: the language of files cannot say the claim.
    """
    own = "\n".join(("[[claim]]", *(f"{name} = {value}" for name, value in _fields(claim))))
    text = "\n".join((*_shared(claim, own), own)) + "\n"
    try:
        found = read_back(text)
    except ValueError as error:
        raise NotInFiles(f"{claim.id}: its text cannot be read: {error}") from error
    one, other = deciding_fields(claim), deciding_fields(found)
    if apart := [name for name in one if one[name] != other[name]]:
        raise NotInFiles(f"{claim.id}: read back, it differs in {', '.join(apart)}")
    return text


def read_back(text: str) -> Claim:
    """Read the first claim of the text of a claim file in TOML. Raises ValueError for what is none."""
    return Collection.read(Path("shown.toml"), text).claims[0][1]


# writing -----------------------------------------------------------------------------------------------------------------
def _vocabulary(claim: Claim) -> Vocabulary:
    """The vocabulary that the files of the claim's paper share; empty for a claim of a single file."""
    return files_of(claim.paper).vocabulary if claim.paper in FOLDERS else Vocabulary()


def _shared(claim: Claim, own: str) -> Iterator[str]:
    """The tables above the claim's own table, whose text is ``own``, line by line."""
    assumed, quantities = _assumed_of_functions(claim), _quantities(claim)
    below = "\n".join(_below_names(assumed, quantities))
    if claim.paper in FOLDERS:
        yield from ("[paper]", f"name = {_quoted(COPY)}", "")
    if rows := _names(claim, {*_WORD.findall(below + own)}):
        yield from ("[names]", *(f"{_quoted(head)} = {_line(row)}" for head, row in rows.items()), "")
    yield below


def _below_names(assumed: dict[str, Assumption], quantities: dict[str, Definition]) -> Iterator[str]:
    """The tables of assumptions and of quantities."""
    if quantities:
        rows = ((d, [d.latex, d.meaning, d.unit, *([d.source] if d.source else []), _write(d.formula)])
                for d in quantities.values())
        yield from ("[quantities]", *(f"{_quoted(_head(d))} = {_line(row)}" for d, row in rows), "")
    for key, a in assumed.items():
        yield f"[assumptions.{key}]"
        yield from (f"{name} = {_quoted(text)}" for name, text in (("id", a.id.partition("/")[2]), ("name", a.name)))
        if a.conditions:
            yield f"conditions = {_list([*map(_condition, a.conditions)])}"
        yield from (f"{name} = {_quoted(_condition(c))}" for name, c in (
            ("every_function", a.for_all_functions), ("everywhere", a.everywhere)) if c is not None)
        yield ""


def _quantities(claim: Claim) -> dict[str, Definition]:
    """The quantities of the claim's paper that it uses, each behind those that it uses."""
    used = claim.used_definitions()
    return {name: d for name, d in _vocabulary(claim).quantities.items() if used.get(name) == d and SHARED.get(name) != d}


def _names(claim: Claim, used: Container[str]) -> dict[str, list[str]]:
    """Letter, meaning and domain of the names in the claim that its paper explains, and of those that nothing explains."""
    found = {head: row for head, row in _vocabulary(claim).names.items() if parts_of(head)[0] in used}
    first, last = known_names()
    defined = [*filter(gives_a_number, claim.conditions)]
    defined += [c for a in claim.assumptions for c in a.conditions if _is_constant(claim, c)]
    known = {parts_of(head)[0] for head in found}.union(
        first, last, ("u", "v"), claim.used_definitions(), (v.name for v in claim.variables), (c.left.name for c in defined),
        () if claim.exists is None else (claim.exists.name,))
    supposed = [c for a in claim.assumptions for c in a.at_all_points]
    formulas = (*claim.formulas, *(side for c in supposed for side in (c.left, c.right)))
    known |= {a.base.label.name for e in formulas for a in e.atoms(sp.Indexed)}
    symbols = {s.name: s for e in formulas for s in e.free_symbols
               if s.is_Symbol and not s.is_integer and s.name not in known}
    return found | {name: [name, "a number", _sign(s)] for name, s in symbols.items()}


def _sign(symbol: sp.Symbol) -> str:
    return "positive" if symbol.is_positive else "nonnegative" if symbol.is_nonnegative else "real"


def _assumed_of_functions(claim: Claim) -> dict[str, Assumption]:
    """The assumptions on every loss or everywhere, by the names that the text gives them."""
    found = [a for a in claim.assumptions if a.for_all_functions is not None or a.everywhere is not None]
    return {re.sub(r"[^\w-]", "-", a.id.split("/", 1)[-1]): a for a in found}


def _head(definition: Definition) -> str:
    return f"{definition.name}[{', '.join(map(str, definition.indices))}]" if definition.indices else definition.name


def _line(texts) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _fields(claim: Claim) -> Iterator[tuple[str, str]]:
    """The fields of the table and their values in TOML."""
    if claim.statement is None:
        raise NotInFiles(f"{claim.id}: it states no formula")
    if claim.compares:
        raise NotInFiles(f"{claim.id}: it compares two bounds")
    yield "id", _quoted(claim.id.replace("/", "-", 1) if claim.paper in FOLDERS else claim.id)
    source = claim.source or f"derived: {claim.derivation}"
    for name, value in (("number", claim.number), ("kind", claim.kind), ("reading", claim.reading), ("source", source),
                        ("note", claim.note), ("setting", claim.setting)):
        if value:
            yield name, _quoted(value)
    yield from _procedure(claim)
    if variables := _variables(claim):
        yield "variables", _table(variables)
    if claim.exists is not None:
        yield "exists", _table({claim.exists.name: "{}{}, {}{}".format(
            "(" if claim.exists.open_low else "[", *map(_write, (claim.exists.low, claim.exists.high)),
            ")" if claim.exists.open_high else "]")})
        if claim.exists.witness is not None:
            yield "witness", _table({claim.exists.name: _write(claim.exists.witness)})
    if definitions := _definitions(claim):
        yield "definitions", _table(definitions)
    of_functions = _assumed_of_functions(claim)
    assumed = [c for a in claim.assumptions if a not in of_functions.values() for c in a.conditions]
    if constants := {c.left.name: _largest(c) for c in assumed if _is_constant(claim, c)}:
        yield "constants", _table(constants)
    yield "assume", _list([*(_condition(c) for c in assumed if not _is_constant(claim, c)),
                           *of_functions])
    yield "conditions", _list([*map(_condition, _conditions(claim)), *_ends(claim)])
    point = _point(claim)
    yield "statement", _quoted(_condition(claim.statement) + (f" for all {point}" if point else ""))
    if claim.limits:
        yield "limits", _table({str(symbol): "oo" if end == sp.oo else "0" for symbol, end in claim.limits})
    if claim.constants_may_use is not None:
        yield "constants_may_use", _list(claim.constants_may_use)
    if claim.steps:
        yield "steps", _list(claim.steps)


def _procedure(claim: Claim) -> Iterator[tuple[str, str]]:
    if claim.setting == "algebra":
        return
    procedure = claim.procedure or Procedure(free_clients=True)
    for name in INCLUSION:
        if (value := getattr(procedure, name)) != getattr(_PROCEDURE, name):
            yield name, _quoted(value) if isinstance(value, str) else str(value).lower()
    if procedure.base != "fedavg":
        yield "method", _quoted(procedure.base)
    if procedure.options:
        yield "options", "{" + ", ".join(f"{name} = {_option(claim, value)}" for name, value in procedure.options) + "}"
    if procedure.sampling != SAMPLING[0]:
        yield "sampling", _quoted(procedure.sampling)
    if procedure.replaced is not None and speaks_of_samples(claim):
        yield "data_sets", _quoted(procedure.replaced)
    yield from ((name, str(bool(getattr(procedure, name))).lower()) for name in ("equal_weights", "free_clients"))


def _option(claim: Claim, value) -> str:
    if isinstance(value, tuple | list):
        return "[" + ", ".join(_option(claim, one) for one in value) + "]"
    if isinstance(value, bool | int | float | str):
        return json.dumps(value, ensure_ascii=False)
    raise NotInFiles(f"{claim.id}: an option of a file is a number, a text, true or false; got {value!r}")


def _variables(claim: Claim) -> dict[str, str]:
    """The domains of the claim's variables, whole numbers first since arrays may have their size; and of what its equations
    define without a declaration."""
    own = sorted((v for v in claim.variables if not is_size(claim, v) and v.name != _point(claim)),
                 key=lambda v: v.domain != "integer")
    found = {v.name: _domain(v) for v in own}
    first, last = known_names()
    signs = {name: s for name, s in _vocabulary(claim).symbols.items() if s.is_Symbol and name in NAMES}
    known = found.keys() | SIZES | {*claim.definitions, *_vocabulary(claim).symbols} - {
        name for name, s in signs.items() if s != operators.symbol(name)}
    known |= set() if claim.exists is None else {claim.exists.name}
    for symbol in (c.left for c in claim.conditions if c.relation == "==" and c.left.is_Symbol):
        if symbol.name in known or ((first | last).get(symbol.name) == symbol):
            continue
        found[symbol.name] = _sign(symbol)
    for condition in filter(gives_a_number, claim.conditions):  # which the sign of a symbol may exclude
        if condition.left.name not in SIZES and condition.left.is_nonnegative and not condition.right.is_positive:
            found[condition.left.name] = "real" if condition.right.is_negative else "nonnegative"
    return found


def _point(claim: Claim) -> str:
    """The name of the free vector that the statement of a file has by ``for all v``; empty if it has none."""
    return next((v.name for v in claim.variables if v.name in ("u", "v") and v.domain == "vector" and not v.indices), "")


def _domain(variable: Variable) -> str:
    text = variable.domain + (f"[{', '.join(size for _, size in variable.indices)}]" if variable.indices else "")
    if variable.domain == "integer":
        text += f" from {variable.low}" + ("" if variable.high is None else f" to {variable.high}")
    return text + ("" if variable.below is None else f" below {variable.below}")


def _ends(claim: Claim) -> Iterator[str]:
    """The ends of whole numbers that are sizes, as conditions."""
    for variable in (v for v in claim.variables if is_size(claim, v)):
        if variable.low > 1:
            yield f"{variable.name} >= {variable.low}"
        if variable.high is not None:
            yield f"{variable.name} <= {variable.high}"


def _definitions(claim: Claim) -> dict[str, str]:
    """The definitions that files do not know, each behind those that it uses."""
    shared = SHARED | _quantities(claim)
    left, found = {n: d for n, d in claim.used_definitions().items() if shared.get(n) != d}, {}
    while left:
        ready = [name for name, d in left.items() if not names_in(d.formula) & left.keys()]
        if not ready:
            raise NotInFiles(f"{claim.id}: {', '.join(left)} are defined by each other")
        for name in ready:
            d = left.pop(name)
            found[_head(d)] = _write(d.formula)
    return found


def _conditions(claim: Claim) -> Iterator[Condition]:
    """The claim's conditions without what a file says by its sampling."""
    each_alone = claim.procedure is not None and claim.procedure.sampling in INDEPENDENT and claim.setting == "run"
    for condition in claim.conditions:
        if not (each_alone and condition == Condition(operators.symbol("participation"), "<=", 1)):
            yield condition


def _is_constant(claim: Claim, condition: Condition) -> bool:
    """Whether an equation among the assumptions says what a number of the claim's own is."""
    name = condition.left.name if condition.relation == "==" and condition.left.is_Symbol else ""
    return bool(name) and name not in {
        *NAMES, *claim.definitions, *_vocabulary(claim).symbols, *(v.name for v in claim.variables)}


def _largest(condition: Condition) -> str:
    """``formula for k in 0..clients-1``, of which the number on the left is the largest value."""
    value, over = condition.right, []
    while isinstance(value, highest):
        *triple, value = value.args
        over.append(tuple(triple))
    text = _condition(Condition(value, "<=", condition.left, tuple(over)))
    formula, _, ranges = text.partition(f" <= {condition.left.name}")
    return formula + ranges


def _condition(condition: Condition) -> str:
    """``left <= right for k in 0..clients-1``, with ``for all v`` in place of a least value over all points."""
    left, right, points = without_points(condition.left, condition.relation, condition.right)
    if left.has(infimum) or right.has(infimum):
        raise NotInFiles(f"no text says {left} {condition.sign} {right}")
    point = ", ".join(map(str, points))
    ranges = "".join(f" for {index} in {_write(low)}..{_write(high)}" for index, low, high in condition.over)
    return f"{_write(left)} {condition.sign} {_write(right)}{f' for all {point}' if point else ''}{ranges}"


class _Printer(StrPrinter):
    """Writes formulas in the words of claim files."""

    def _print_highest(self, e):
        index, low, high, value = map(self._print, e.args)
        return f"Max({value}, ({index}, {low}, {high}))"

    def _print_first_least(self, e):
        index, low, high, value, chosen = map(self._print, e.args)
        return f"argmin({value}, {chosen}, ({index}, {low}, {high}))"

    def _print_infimum(self, e):
        raise NotInFiles(f"a least value over all points stands inside of a formula: {e.args[1]}")

    def _print_Exp1(self, e):
        return "exp(1)"

    def _print_Float(self, e):
        return str(Fraction(str(e)))


_PRINTER = _Printer()


def _write(e) -> str:
    return _PRINTER.doprint(_with_known_indices(sp.sympify(e)))


def _with_known_indices(e):
    """The formula with indices of sums that files know in place of others."""
    def renamed(part):
        other = [name for name in "ijktr" if name not in {s.name for s in part.atoms(sp.Symbol)}]
        return part.xreplace({index: sp.Symbol(other.pop(), integer=True) for index in bound_indices(part)
                              if index.name not in "ijktr" and other})

    return e.replace(lambda part: bool(bound_indices(part)), renamed)


def _quoted(text: Any) -> str:
    return json.dumps(str(text), ensure_ascii=False)


def _list(texts) -> str:
    return "[" + "".join(f"\n  {_quoted(text)}," for text in texts) + ("\n]" if texts else "]")


def _table(entries: dict[str, str]) -> str:
    return "{" + ", ".join(f"{_quoted(name)} = {_quoted(value)}" for name, value in entries.items()) + "}"
