"""All that decides a claim, as plain data: two claims with equal fields are the same claim in other words."""

from collections import Counter
from functools import lru_cache
from typing import Any

import sympy as sp

from bounds.language.claim import HIDDEN, Claim, Condition, Definition, Procedure, Variable
from bounds.language.coordinates import first_least, highest
from bounds.language.names import SIZE, names_from
from bounds.language.on_samples import speaks_of_samples

__all__ = ["INCLUSION", "SIZES", "bound_indices", "deciding_fields", "gives_a_number", "is_size"]

INCLUSION = ("free", "indicator", "strict")  #: fields of a procedure: which free clients count
SIZES = frozenset(names_from(SIZE))


def deciding_fields(claim: Claim) -> dict[str, Any]:
    """All that decides a claim, as plain data: two claims with equal fields are the same claim in other words.

    Formulas are nested tuples without the order of sums and products. The ends of whole numbers that are sizes are
    hypotheses. Names, readings and sources decide nothing.
    """
    sizes = {v for v in claim.variables if is_size(claim, v)}
    ends = [Condition(sp.Symbol(v.name), sign, end) for v in sizes for sign, end in ((">=", v.low), ("<=", v.high))
            if end is not None and (sign, end) != (">=", 1)]
    statement = claim.statement
    given = {c.left.name for c in claim.conditions if c.relation == "==" and c.left.is_Symbol and not c.right.has(c.left)}
    declared = {v.name for v in claim.variables} | {c.left.name for c in claim.conditions if gives_a_number(c)}
    declared |= set() if claim.exists is None else {claim.exists.name}
    procedure = claim.procedure or Procedure(free_clients=claim.setting == "point")
    return {
        "setting": claim.setting, "explicit": claim.explicit, "undefined": bool(claim.undefined) and statement is None,
        "statement": statement and _plain_condition(statement),
        "hypotheses": Counter(map(_plain_condition, (*claim.hypotheses, *ends))),
        "conditions on functions": Counter(_plain_condition(c) for a in claim.assumptions
                                           for c in a.at_all_points),
        "variables": {v.name: (v.domain, tuple(size for _, size in v.indices), v.low if v.domain == "integer" else None,
                               v.high, v.below) for v in {*claim.variables} - sizes if v.domain == "integer"
                      or v.name not in given},
        "signs": {s.name: (s.is_positive, s.is_nonnegative) for e in claim.formulas for s in e.free_symbols
                  if s.is_Symbol and not s.is_integer and s.name not in declared},
        "procedure": None if claim.setting == "algebra" else (
            *(getattr(procedure, name) for name in ("base", "sampling", "equal_weights", "free_clients", *INCLUSION)),
            procedure.data_sets if speaks_of_samples(claim) else None,
            tuple(sorted(procedure.options))),
        "definitions": {name: _plain_definition(d) for name, d in claim.used_definitions().items()},
        "exists": claim.exists and (claim.exists.name, *map(_plain, (claim.exists.low, claim.exists.high)),
                                    claim.exists.open_low, claim.exists.open_high),
        "limits": sorted((str(symbol), str(end)) for symbol, end in claim.limits),
        "constants may use": claim.constants_may_use,
        "hidden": sorted(v.name for v in claim.variables if v.domain in HIDDEN), "steps": claim.steps,
    }


def _bound_within(e) -> list:
    return [part for part in sp.preorder_traversal(e) if bound_indices(part)]


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
    if bound := bound_indices(e):  # their names decide nothing
        depth = len(_bound_within(e))
        e = e.xreplace({index: sp.Symbol(f"bound {depth}.{place}", integer=True) for place, index in enumerate(bound)})
    if e.is_Mul or (e.is_Pow and e.base.is_Add and e.exp.is_Integer):
        return _plain_product(e)
    parts = tuple(map(_plain, e.args))
    if isinstance(e, sp.Add | sp.Max | sp.Min):
        parts = tuple(sorted(parts, key=repr))
    return type(e).__name__, *parts


def gives_a_number(condition: Condition) -> bool:
    return condition.relation == "==" and condition.left.is_Symbol and condition.right.is_number


def is_size(claim: Claim, variable: Variable) -> bool:
    """Whether a whole number is a size of a run, which a file bounds by conditions."""
    return claim.setting != "algebra" and variable.name in SIZES and variable.domain == "integer" and not variable.indices


def bound_indices(e) -> tuple:
    """The indices that a sum, a product or a largest value binds."""
    if isinstance(e, sp.Sum | sp.Product):
        return tuple(index for index, *_ in e.limits)
    return (e.args[0],) if isinstance(e, highest | first_least) else ()
