"""What the checks of ``lint`` look at: a claim's bound, and numbers that its conditions and its domain allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from bounds.formulas.closed_form import ClosedForm, measured_conditions
from bounds.language import words
from bounds.language.claim import Claim, Condition
from verify.claims.sizes import once_by_claim
from verify.formulas.bound import Bound, bound_of
from verify.formulas.points import parameter_sets

__all__ = [
    "SEVERITIES",
    "Finding",
    "both",
    "bound_above",
    "is_later_loss",
    "numbers_of",
    "points_text",
    "sets_of",
    "values_at",
    "within_domain",
]

SEVERITIES = ("error", "warning", "note")
_SETS = 200
_TRACKERS = sp.Symbol("trackers", integer=True, positive=True)

#: what is so of the sizes of every run: the first is at most the second
_SIZES = ((_TRACKERS, words.clients), (_TRACKERS, words.participants), (words.participants, words.clients),
          (words.local_steps, words.iterations), (words.rounds, words.iterations))


@dataclass(frozen=True)
class Finding:
    """Something noticed about a claim: which check, how severe (``error``, ``warning``, ``note``), in words, and as data."""

    claim: str
    check: str
    severity: str
    text: str
    data: dict[str, Any] = field(default_factory=dict)


@once_by_claim
def bound_above(claim: Claim) -> Bound | None:
    """The right side of an inequality that bounds something from above, as a function of parameters."""
    if claim.statement is None or claim.statement.relation != "<=" or claim.kind == "assumption":
        return None
    bound = bound_of(claim)
    return bound if bound.form.parameters else None


def within_domain(bound: Bound, *others: Claim, measured: bool = True) -> Bound:
    """The bound with what variables, indices and sizes may be as further conditions, of its claim and of ``others``; with
    ``measured``, also the claims' conditions on those measured quantities of which it is a function."""
    symbols = bound.form.formula.free_symbols.union(
        *(side.free_symbols for c in bound.conditions for side in (c.left, c.right)))
    names, more = {s.name: s for s in symbols}, []
    for claim in (bound.claim, *others):
        more += _domain(claim, names)
        more += [c for c in measured_conditions(claim) if c.left.free_symbols | c.right.free_symbols <= symbols] * measured
    return replace(bound, conditions=tuple(dict.fromkeys((*bound.conditions, *more))))


def _domain(claim: Claim, names) -> Iterator[Condition]:
    for variable in claim.variables:
        if variable.name in names and not variable.indices and variable.domain != "hidden":
            symbol = names[variable.name]
            if variable.domain == "integer":
                yield Condition(variable.low, "<=", symbol)
            if variable.high is not None or variable.below is not None:
                yield Condition(symbol, "<=", variable.high if variable.high is not None else variable.below)
    for index, low, high in claim.statement.over if claim.statement is not None else ():
        known = set(names.values())
        if index in known and low.free_symbols | high.free_symbols <= known:
            yield Condition(low, "<=", index)
            yield Condition(index, "<=", high)
    for small, large in _SIZES:
        if {small.name, large.name} <= set(names):
            yield Condition(names[small.name], "<=", names[large.name])


@once_by_claim
def sets_of(claim: Claim) -> dict[str, np.ndarray]:
    """Sets of the parameters of :func:`bound_above` that meet its conditions and domain, by name (sets,); empty if none."""
    bound = bound_above(claim)
    return {} if bound is None else numbers_of(within_domain(bound))


def numbers_of(bound: Bound) -> dict[str, np.ndarray]:
    """The same of any bound."""
    try:
        sets = parameter_sets(bound, _SETS)
    except ValueError:  # conditions that exclude each other are told by another check
        return {}
    for symbol, e in bound.form.measured.items():
        if symbol.name in sets and is_later_loss(e):
            sets[symbol.name] = np.zeros_like(sets[symbol.name])
            if "F_star" in sets:
                sets["F_star"] = -np.abs(sets["F_star"])
    count = max((len(values) for values in sets.values()), default=0)
    return {name: np.broadcast_to(values, (count,)) for name, values in sets.items()}


def values_at(bound: Bound, points: dict[str, np.ndarray]) -> np.ndarray:
    """The bound at these points, whatever else they name."""
    with np.errstate(all="ignore"):
        values = bound.values(**{s.name: points[s.name] for s in bound.form.parameters})
    return np.broadcast_to(values, max((np.shape(v) for v in points.values()), default=(1,)))


def is_later_loss(e) -> bool:
    """Whether a quantity is a loss after the start: losses are counted from there, so that a run starts above."""
    inner = e.args[0] if isinstance(e, words.E | words.E_round) else e
    return isinstance(inner, words.objective) and not any(0 in a.indices for a in inner.atoms(sp.Indexed))


def both(one: Bound, two: Bound) -> tuple[Bound, Bound, Bound]:
    """Two bounds of which what is the same has one name, and the sum of both where the conditions of both hold.

    Measured quantities are the same where their expressions are.
    """
    named = {e: s for s, e in one.form.measured.items()}
    taken, renamed = {s.name for s in one.form.formula.free_symbols | set(one.form.measured)}, {}
    for symbol, e in two.form.measured.items():
        if e in named:
            renamed[symbol] = named[e]
        elif symbol.name in taken:
            renamed[symbol] = sp.Symbol(f"{symbol.name}_of_the_other", **symbol.assumptions0)
    form = ClosedForm(two.form.formula.xreplace(renamed), {renamed.get(s, s): e for s, e in two.form.measured.items()})
    two = replace(two, form=form)
    total = sp.Add(one.form.formula, two.form.formula, evaluate=False)
    joint = replace(one, form=ClosedForm(total, one.form.measured | two.form.measured),
                    conditions=(*one.conditions, *two.conditions))
    return one, two, within_domain(joint, two.claim)


def points_text(points: dict[str, np.ndarray], place: int) -> tuple[str, dict[str, float]]:
    """One of the points in words, and as data."""
    at = {name: float(values[place]) for name, values in sorted(points.items())}
    return ", ".join(f"{name} = {value:.3g}" for name, value in at.items()), at
