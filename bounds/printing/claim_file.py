"""A claim as a table of a claim file, which the reader of claim files reads back as the same claim."""

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

from bounds.language import functions, words
from bounds.language.claim import (
    HIDDEN,
    INDEPENDENT,
    SAMPLING,
    Claim,
    Condition,
    Definition,
    Procedure,
    Variable,
    names_in,
)
from bounds.language.coordinates import first_least, highest
from bounds.language.definitions import SHARED
from bounds.language.names import NAMES, SIZE, names_from
from bounds.language.on_samples import speaks_of_samples
from bounds.language.space import infimum
from bounds.registry.collection import Collection
from bounds.registry.known_names import known_names
from bounds.registry.papers import PAPERS

__all__ = ["NotInFiles", "as_toml", "deciding_fields", "read_back"]

_SIZES = frozenset(names_from(SIZE))
_PROCEDURE = Procedure()
#: fields of a procedure that a file has no word for
_UNSAID = ("free", "indicator", "strict")


class NotInFiles(ValueError):
    """A claim that the language of claim files cannot say; the message says which part."""


def as_toml(claim: Claim) -> str:
    """Write a claim as a ``[[claim]]`` table of a claim file, with every hypothesis, domain, bound and option.

    The text is read back before it is returned, and is that of the claim. The id of a paper's claim becomes one of
    ``copy/``, since a file cannot use the paper's.

    Raises:
        NotInFiles: the language of files cannot say the claim.
    """
    text = "\n".join(("[[claim]]", *(f"{name} = {value}" for name, value in _fields(claim)))) + "\n"
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
def _fields(claim: Claim) -> Iterator[tuple[str, str]]:
    """The fields of the table and their values in TOML."""
    if claim.statement is None:
        raise NotInFiles(f"{claim.id}: it states no formula")
    if claim.compares:
        raise NotInFiles(f"{claim.id}: it compares two bounds")
    yield "id", _quoted(f"copy/{claim.id.replace('/', '-', 1)}" if claim.paper in PAPERS else claim.id)
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
            "(" if claim.exists.open_low else "[", *map(_written, (claim.exists.low, claim.exists.high)),
            ")" if claim.exists.open_high else "]")})
        if claim.exists.witness is not None:
            yield "witness", _table({claim.exists.name: _written(claim.exists.witness)})
    if definitions := _definitions(claim):
        yield "definitions", _table(definitions)
    on_functions = [c for a in claim.assumptions for c in (a.for_all_functions, a.everywhere) if c is not None]
    assumed = [c for a in claim.assumptions for c in a.conditions]
    if constants := {c.left.name: _largest(c) for c in assumed if _is_constant(claim, c)}:
        yield "constants", _table(constants)
    yield "assume", _list([*(_condition(c) for c in assumed if not _is_constant(claim, c)),
                           *(_on_functions(claim, c) for c in on_functions)])
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
    for name in _UNSAID:
        if getattr(procedure, name) != getattr(_PROCEDURE, name):
            raise NotInFiles(f"{claim.id}: no field says {name} = {getattr(procedure, name)}")
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
    own = sorted((v for v in claim.variables if not _is_size(claim, v) and v.name != _point(claim)),
                 key=lambda v: v.domain != "integer")
    found = {v.name: _domain(v) for v in own}
    first, last = known_names()
    known = found.keys() | _SIZES | {*claim.definitions} | (set() if claim.exists is None else {claim.exists.name})
    for symbol in (c.left for c in claim.conditions if c.relation == "==" and c.left.is_Symbol):
        if symbol.name in known or (first | last).get(symbol.name) == symbol:
            continue
        found[symbol.name] = "positive" if symbol.is_positive else "nonnegative" if symbol.is_nonnegative else "real"
    for condition in filter(_gives_a_number, claim.conditions):  # which the sign of a symbol may exclude
        if condition.left.name not in _SIZES and condition.left.is_nonnegative and not condition.right.is_positive:
            found[condition.left.name] = "real" if condition.right.is_negative else "nonnegative"
    return found


def _point(claim: Claim) -> str:
    """The name of the free vector that the statement of a file has by ``for all v``; empty if it has none."""
    return next((v.name for v in claim.variables if v.name in ("u", "v") and v.domain == "vector" and not v.indices), "")


def _is_size(claim: Claim, variable: Variable) -> bool:
    """Whether a whole number is a size of a run, which a file bounds by conditions."""
    return claim.setting != "algebra" and variable.name in _SIZES and variable.domain == "integer" and not variable.indices


def _domain(variable: Variable) -> str:
    text = variable.domain + (f"[{', '.join(size for _, size in variable.indices)}]" if variable.indices else "")
    if variable.domain == "integer":
        text += f" from {variable.low}" + ("" if variable.high is None else f" to {variable.high}")
    return text + ("" if variable.below is None else f" below {variable.below}")


def _ends(claim: Claim) -> Iterator[str]:
    """The ends of whole numbers that are sizes, as conditions."""
    for variable in (v for v in claim.variables if _is_size(claim, v)):
        if variable.low > 1:
            yield f"{variable.name} >= {variable.low}"
        if variable.high is not None:
            yield f"{variable.name} <= {variable.high}"


def _definitions(claim: Claim) -> dict[str, str]:
    """The definitions that files do not know, each behind those that it uses."""
    left, found = {n: d for n, d in claim.used_definitions().items() if SHARED.get(n) is not d}, {}
    while left:
        ready = [name for name, d in left.items() if not names_in(d.formula) & left.keys()]
        if not ready:
            raise NotInFiles(f"{claim.id}: {', '.join(left)} are defined by each other")
        for name in ready:
            d = left.pop(name)
            found[f"{name}[{', '.join(map(str, d.indices))}]" if d.indices else name] = _written(d.formula)
    return found


def _conditions(claim: Claim) -> Iterator[Condition]:
    """The claim's conditions without what a file says by its sampling."""
    each_alone = claim.procedure is not None and claim.procedure.sampling in INDEPENDENT and claim.setting == "run"
    for condition in claim.conditions:
        if not (each_alone and condition == Condition(words.symbol("participation"), "<=", 1)):
            yield condition


def _is_constant(claim: Claim, condition: Condition) -> bool:
    """Whether an equation among the assumptions says what a number of the claim's own is."""
    name = condition.left.name if condition.relation == "==" and condition.left.is_Symbol else ""
    return bool(name) and name not in {*NAMES, *claim.definitions, *(v.name for v in claim.variables)}


def _largest(condition: Condition) -> str:
    """``formula for k in 0..clients-1``, of which the number on the left is the largest value."""
    value, over = condition.right, []
    while isinstance(value, highest):
        *triple, value = value.args
        over.append(tuple(triple))
    text = _condition(Condition(value, "<=", condition.left, tuple(over)))
    formula, _, ranges = text.partition(f" <= {condition.left.name}")
    return formula + ranges


def _on_functions(claim: Claim, condition: Condition) -> str:
    """The one condition on every sample's loss that files have a word for."""
    text = f"{_written(condition.left)} {condition.sign} {_written(condition.right)}"
    if not condition.left.has(functions.f_grad) or text != "norm(f_grad(u)) <= G_lip":
        raise NotInFiles(f"{claim.id}: no field says of all functions that {text}")
    return f"{text} for all u"


def _condition(condition: Condition) -> str:
    """``left <= right for k in 0..clients-1``, with ``for all v`` in place of a least value over all points."""
    left, right, point = condition.left, condition.right, ""
    sides = [left, right] if condition.relation == "<=" else [right, left]
    if any(side.has(infimum) for side in sides):
        small, large = sides
        if isinstance(large, infimum) and not small.has(infimum):
            point, large = str(large.args[0]), large.args[1]
        elif isinstance(-small, infimum) and not large.has(infimum):
            point, small = str((-small).args[0]), -(-small).args[1]
        if not point or condition.relation == "==":
            raise NotInFiles(f"no text says {left} {condition.sign} {right}")
        left, right = (small, large) if condition.relation == "<=" else (large, small)
    ranges = "".join(f" for {index} in {_written(low)}..{_written(high)}" for index, low, high in condition.over)
    return f"{_written(left)} {condition.sign} {_written(right)}{f' for all {point}' if point else ''}{ranges}"


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


def _written(e) -> str:
    return _PRINTER.doprint(_with_known_indices(sp.sympify(e)))


def _with_known_indices(e):
    """The formula with indices of sums that files know in place of others."""
    def renamed(part):
        other = [name for name in "ijktr" if name not in {s.name for s in part.atoms(sp.Symbol)}]
        return part.xreplace({index: sp.Symbol(other.pop(), integer=True) for index in _bound(part)
                              if index.name not in "ijktr" and other})

    return e.replace(lambda part: bool(_bound(part)), renamed)


def _bound(e) -> tuple:
    """The indices that a sum, a product or a largest value binds."""
    if isinstance(e, sp.Sum | sp.Product):
        return tuple(index for index, *_ in e.limits)
    return (e.args[0],) if isinstance(e, highest | first_least) else ()


def _quoted(text: Any) -> str:
    return json.dumps(str(text), ensure_ascii=False)


def _list(texts) -> str:
    return "[" + "".join(f"\n  {_quoted(text)}," for text in texts) + ("\n]" if texts else "]")


def _table(entries: dict[str, str]) -> str:
    return "{" + ", ".join(f"{_quoted(name)} = {_quoted(value)}" for name, value in entries.items()) + "}"


# comparing ---------------------------------------------------------------------------------------------------------------
def deciding_fields(claim: Claim) -> dict[str, Any]:
    """All that decides a claim, as plain data: two claims with equal fields are the same claim in other words.

    Formulas are nested tuples without the order of sums and products. The ends of whole numbers that are sizes are
    hypotheses. Names, readings and sources decide nothing.
    """
    sizes = {v for v in claim.variables if _is_size(claim, v)}
    ends = [Condition(sp.Symbol(v.name), sign, end) for v in sizes for sign, end in ((">=", v.low), ("<=", v.high))
            if end is not None and (sign, end) != (">=", 1)]
    statement = claim.statement
    given = {c.left.name for c in claim.conditions if c.relation == "==" and c.left.is_Symbol and not c.right.has(c.left)}
    declared = {v.name for v in claim.variables} | {c.left.name for c in claim.conditions if _gives_a_number(c)}
    declared |= set() if claim.exists is None else {claim.exists.name}
    procedure = claim.procedure or Procedure(free_clients=claim.setting == "point")
    return {
        "setting": claim.setting, "explicit": claim.explicit, "undefined": bool(claim.undefined) and statement is None,
        "statement": statement and _plain_condition(statement),
        "hypotheses": Counter(map(_plain_condition, (*claim.hypotheses, *ends))),
        "conditions on functions": Counter(_plain_condition(c) for a in claim.assumptions
                                           for c in (a.for_all_functions, a.everywhere) if c is not None),
        "variables": {v.name: (v.domain, tuple(size for _, size in v.indices), v.low if v.domain == "integer" else None,
                               v.high, v.below) for v in {*claim.variables} - sizes if v.domain == "integer"
                      or v.name not in given},
        "signs": {s.name: (s.is_positive, s.is_nonnegative) for e in claim.formulas for s in e.free_symbols
                  if s.is_Symbol and not s.is_integer and s.name not in declared},
        "procedure": None if claim.setting == "algebra" else (
            *(getattr(procedure, name) for name in ("base", "sampling", "equal_weights", "free_clients", *_UNSAID)),
            procedure.data_sets if speaks_of_samples(claim) else None,
            tuple(sorted(procedure.options))),
        "definitions": {name: _plain_definition(d) for name, d in claim.used_definitions().items()},
        "exists": claim.exists and (claim.exists.name, *map(_plain, (claim.exists.low, claim.exists.high)),
                                    claim.exists.open_low, claim.exists.open_high),
        "limits": sorted((str(symbol), str(end)) for symbol, end in claim.limits),
        "constants may use": claim.constants_may_use,
        "hidden": sorted(v.name for v in claim.variables if v.domain in HIDDEN), "steps": claim.steps,
    }


def _gives_a_number(condition: Condition) -> bool:
    return condition.relation == "==" and condition.left.is_Symbol and condition.right.is_number


def _bound_within(e) -> list:
    return [part for part in sp.preorder_traversal(e) if _bound(part)]


def _plain_definition(definition: Definition) -> tuple:
    places = {index: sp.Symbol(f"index {place}", integer=True) for place, index in enumerate(definition.indices)}
    return len(places), _plain(definition.formula.xreplace(places))


def _plain_condition(condition: Condition) -> tuple:
    over = tuple((str(index), _plain(low), _plain(high)) for index, low, high in condition.over)
    return _plain(condition.left), condition.sign, _plain(condition.right), over


def _plain(e) -> tuple | str:
    """A formula as nested tuples of words and names."""
    return _plain_parts(sp.sympify(e))


def _plain_product(e) -> tuple:
    """A product, or a power of a sum: factors and signs that stand inside of sums come first, as in a - 2 b + 2 c."""
    coefficient, factors = e.as_coeff_mul()
    parts = []
    for factor in factors:
        base, exponent = factor.as_base_exp()
        if not (base.is_Add and exponent.is_Integer):
            parts.append(_plain(factor))
            continue
        content, base = base.primitive()
        part, mirrored = _plain(base), _plain(sp.Add(*(-term for term in base.args)))
        if repr(mirrored) < repr(part):
            part, content = mirrored, -content
        coefficient *= content**exponent
        parts.append(part if exponent == 1 else ("Pow", part, str(exponent)))
    return "Mul", str(coefficient), *sorted(parts, key=repr)


@lru_cache(maxsize=2**14)
def _plain_parts(e) -> tuple | str:
    if isinstance(e, sp.Indexed):
        return "[]", str(e.base.label), *map(_plain, e.indices)
    if e.is_Atom:
        return str(e)
    if bound := _bound(e):  # their names decide nothing
        depth = len(_bound_within(e))
        e = e.xreplace({index: sp.Symbol(f"bound {depth}.{place}", integer=True) for place, index in enumerate(bound)})
    if e.is_Mul or (e.is_Pow and e.base.is_Add and e.exp.is_Integer):
        return _plain_product(e)
    parts = tuple(map(_plain, e.args))
    if isinstance(e, sp.Add | sp.Max | sp.Min):
        parts = tuple(sorted(parts, key=repr))
    return type(e).__name__, *parts
