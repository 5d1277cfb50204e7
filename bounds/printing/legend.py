"""Explains the symbols and operators of a claim, and where the value of each symbol comes from."""

from collections.abc import Iterator
from typing import NamedTuple

import sympy as sp

from bounds.language.claim import Claim, Variable
from bounds.language.definitions import DEFINITIONS
from bounds.language.names import ARGUMENT, COUPLED, METHOD, NAMES, RUN, names_from, row_of
from bounds.language.operators import FurtherOperator
from bounds.language.space import without_points
from bounds.printing.options import own_arguments

__all__ = ["Symbol", "domain_text", "operators", "origin", "symbols", "with_domain"]

_ANY = {"positive": "any positive number", "nonnegative": "any number of at least 0", "real": "any number",
        "integer": "any integer", "vector": "any vector", "binary": "any pattern of 0 and 1",
        "simplex": "any shares that sum to one", "hidden": "a constant that the statement hides",
        "hidden-log": "a constant, and powers of logarithms, that the statement hides"}


def domain_text(variable: Variable) -> str:
    """The domain of a variable with its ends, or its value if there is only one."""
    if variable.domain == "integer" and variable.low == variable.high:
        return f"= {variable.low}"
    if variable.domain == "integer":
        return f"integer from {variable.low}" + ("" if variable.high is None else f" to {variable.high}")
    return variable.domain + ("" if variable.below is None else f" below {variable.below}")


def with_domain(name: str, variable: Variable) -> str:
    """A variable's name and domain, ``K: integer from 1`` or ``K = 1``."""
    text = domain_text(variable)
    return f"{name} {text}" if text.startswith("=") else f"{name}: {text}"


def _any(variable: Variable) -> str:
    """Describe the values that a variable may have."""
    text = domain_text(variable)
    if text.startswith("="):
        return text.replace("=", "always")
    ends = text.removeprefix(variable.domain)
    return _ANY[variable.domain] + (ends if variable.high is not None or variable.below is not None else "")


class Symbol(NamedTuple):
    """One symbol: its name in code, its indices, its meaning, and where its value comes from."""

    name: str
    indices: tuple[str, ...]
    meaning: str
    origin: str


def origin(claim: Claim, name: str, method=None) -> str:
    """Describe where the value of a name in a claim comes from; ``method`` as for :func:`bounds.printing.render.show`."""
    if name in claim.definitions:
        return "measured by its formula"
    for condition in claim.hypotheses:
        left = condition.left.base.label if isinstance(condition.left, sp.Indexed) else condition.left
        if condition.relation == "==" and left.is_Symbol and left.name == name:
            return "given by a condition"
    if claim.exists is not None and name == claim.exists.name:
        return "the number that is said to exist"
    variable = next((v for v in claim.variables if v.name == name), None)
    own = name in own_arguments(method)
    if variable is not None:
        return f"hyper-parameter of the method, {_any(variable)}" if own else _any(variable)
    row = row_of(name)
    if row is None and method is not None and name in method.traits.records:
        row = NAMES["x_round"]
    if row is not None and row.source != METHOD and row.origin:
        return "any, at the fixed time" if claim.setting == "point" and row.source in (RUN, COUPLED) else row.origin
    if name in claim.constants:
        return "the tightest value that the conditions admit"
    if row is not None and row.origin:
        return row.origin
    return "hyper-parameter of the method" if own else "given by the instance"


def symbols(claim: Claim, letters, method=None) -> Iterator[Symbol]:
    """The symbols that a claim prints, except indices and defined quantities."""
    names = claim.names | {v.name for v in claim.variables}
    for name in [*(name for name in letters if name in names), *sorted(names - {*letters})]:
        if name in claim.used_definitions() or name in names_from(ARGUMENT):
            continue
        letter = letters.get(name)
        variable = next((v for v in claim.variables if v.name == name), None)
        indices = tuple(letter.indices) if letter else tuple(index for index, _ in variable.indices) if variable else ()
        meaning = letter.meaning if letter else DEFINITIONS[name].meaning if name in DEFINITIONS else ""
        yield Symbol(name, indices, meaning, origin(claim, name, method))


def operators(claim: Claim) -> Iterator[tuple[type[FurtherOperator], tuple[str, ...], str]]:
    """The operators beyond the core in a claim: each with names for its arguments, and its meaning."""
    sides = [side for c in claim.hypotheses for side in without_points(c.left, c.relation, c.right)[:2]]
    plain = {e for c in claim.hypotheses for e in (c.left, c.right)}  # what is printed "for all u" has no infimum
    used = {type(a) for e in [*(e for e in claim.formulas if e not in plain), *sides] for a in e.atoms(FurtherOperator)}
    for operator in sorted(used, key=lambda kind: kind.__name__):
        call, _, meaning = " ".join(operator.__doc__.split()).partition("``: ")
        yield operator, tuple(call.partition("(")[2].rstrip(")").split(", ")), meaning.rstrip(".")
