"""What can be said against a claim without running anything: units, symbols, hypotheses, limits, monotonicity, readings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import sympy as sp

from bounds import language as words
from bounds.claim import Claim, names_in
from bounds.closed_form import closed_form, measured_conditions, side_conditions
from bounds.orders import leading_order
from bounds.units import BASE, Clash, check_units, unit_text
from verify.bound import Bound, bound_of
from verify.parameter_sets import exact_witness
from verify.satisfiable import satisfiable

__all__ = ["CHECKS", "Finding", "lint", "lint_all"]

SEVERITIES = ("error", "warning", "note")
#: a larger value of these makes a problem harder, so that no bound should fall as they grow
_HARDER = ("sigma", "sigma_sq", "sigma_g", "sigma_g_2", "sigma_g_sq", "sigma_g_max", "G", "G_sq", "G_lip", "Gamma", "D0_sq",
           "F0_gap", "noise_bound")
_LENGTHS = ("iterations", "rounds")
#: what runs, data sets and federations give besides, where a claim speaks of it
_GIVEN = ("sampling", "dim", "tracked", "z_x_round", "sigma_g", "sigma_g_1", "sigma_g_2", "sigma_g_max", "sigma_g_client",
          "L_objective", "samples", "H_loss", "differing", "replaced", "used_sample")
_POINTS = 400


@dataclass(frozen=True)
class Finding:
    """Something noticed about a claim: which check, how severe (``error``, ``warning``, ``note``), in words, and as data."""

    claim: str
    check: str
    severity: str
    text: str
    data: dict[str, Any] = field(default_factory=dict)


def lint(claim: Claim) -> list[Finding]:
    """Everything that the checks find on one claim, errors first."""
    found = [finding for check in CHECKS.values() for finding in check(claim)]
    return sorted(found, key=lambda f: SEVERITIES.index(f.severity))


def lint_all(claims: Iterable[Claim]) -> list[Finding]:
    """The findings on each claim, and on readings of one block that disagree.

    A clash of units that several claims of a paper share, as they share a formula, is told once; its data names them all.
    """
    claims = list(claims)
    return _told_once([f for claim in claims for f in lint(claim)]) + list(_readings(claims))


# units -----------------------------------------------------------------------------------------------------------------
def _units(claim: Claim) -> Iterator[Finding]:
    clashes, derived = check_units(claim)
    for clash in clashes:
        yield Finding(claim.id, "units", _severity_of(clash, claim), clash.text(),
                      {"where": clash.where, "terms": [[unit, list(terms)] for unit, terms in clash.groups],
                       "fixed units": clash.fixed_units, "alike if pure": clash.alike_if})
    hidden = {v.name for v in claim.variables if v.domain == "hidden"}
    for name in sorted(hidden & set(derived)):
        if derived[name] != (0, 0):
            unit = unit_text(derived[name])
            yield Finding(claim.id, "units", "note", f"the hidden constant {name} has unit {unit}: it is no pure number",
                          {"constant": name, "unit": unit})


def _severity_of(clash: Clash, claim: Claim) -> str:
    """A number that stands for a quantity may be meant; constants that may depend on the problem may carry any unit."""
    if not claim.explicit and claim.constants_may_use is None:
        return "note"
    return "error" if claim.explicit and not clash.fixed_units else "warning"


def _told_once(findings: list[Finding]) -> list[Finding]:
    """Clashes of one paper that read the same as one finding, of the first claim that has them."""
    kept, others = {}, {}
    for finding in findings:
        what = finding.data["where"].split(" ")[0] if "where" in finding.data else ""
        key = (finding.claim.partition("/")[0], what, str(finding.data["terms"])) if what else id(finding)
        kept.setdefault(key, finding)
        others.setdefault(key, []).append(finding.claim)
    return [replace(f, text=f"{f.text}; also in {len(others[key]) - 1} more claims",
                    data=f.data | {"claims": others[key]}) if len(others[key]) > 1 else f for key, f in kept.items()]


# symbols ---------------------------------------------------------------------------------------------------------------
def _symbols(claim: Claim) -> Iterator[Finding]:
    used = set().union(*(names_in(e) for e in _expressions(claim))) if claim.statement is not None else set()
    supplied = {*BASE, *claim.definitions, *claim.constants, *(v.name for v in claim.variables), *_indices(claim),
                *(size for v in claim.variables for _, size in v.indices), *_own_arguments(claim), *_GIVEN}
    for name in sorted(used - supplied):
        if not name.startswith(("server_", "client_", "local_", "twin_")):
            text = f"{name} is given by nothing: no definition, variable, condition, or name of the language"
            yield Finding(claim.id, "symbols", "warning", text, {"symbol": name})
    elsewhere = {size for v in claim.variables for _, size in v.indices} | {*_own_arguments(claim), "local_steps", "rounds"}
    for variable in claim.variables:
        if variable.name not in used | elsewhere and claim.statement is not None:
            text = f"{variable.name} is declared and not used"
            yield Finding(claim.id, "symbols", "note", text, {"symbol": variable.name})


def _expressions(claim: Claim):
    yield from (side for c in (*claim.hypotheses, claim.statement) for side in (c.left, c.right))
    yield from (bound for c in (*claim.hypotheses, claim.statement) for triple in c.over for bound in triple[1:])
    yield from (definition.formula for definition in claim.used_definitions().values())


def _indices(claim: Claim):
    conditions = (*claim.hypotheses, *([claim.statement] if claim.statement else []))
    bound = {str(triple[0]) for c in conditions for triple in c.over}
    inner = {str(limit[0]) for e in (_expressions(claim) if claim.statement is not None else ())
             for s in e.atoms(sp.Sum, sp.Product) for limit in s.limits}
    return bound | inner | {str(i) for d in claim.definitions.values() for i in d.indices}


def _own_arguments(claim: Claim):
    from verify.procedures import own_arguments

    try:
        return own_arguments(claim.procedure)
    except LookupError:
        return ()


# hypotheses --------------------------------------------------------------------------------------------------------------
def _hypotheses(claim: Claim) -> Iterator[Finding]:
    conditions = side_conditions(claim) if claim.statement is not None else []
    if not conditions:
        return
    answer = satisfiable(conditions)
    if answer.answer == "no":
        yield Finding(claim.id, "hypotheses", "error", "these conditions exclude each other: " + "; ".join(answer.core),
                      {"core": list(answer.core)})
    elif answer.answer == "unknown" and exact_witness(bound_of(claim)) is None:
        text = f"whether the conditions can hold together is not decided: {answer.reason}"
        yield Finding(claim.id, "hypotheses", "note", text, {"reason": answer.reason})


# limits and monotonicity ---------------------------------------------------------------------------------------------------
def _bound(claim: Claim) -> Bound | None:
    """The right side of an inequality that bounds something from above, as a function of parameters."""
    if claim.statement is None or claim.statement.relation != "<=" or claim.kind == "assumption":
        return None
    bound = bound_of(claim)
    return bound if bound.form.parameters else None


def _limits(claim: Claim) -> Iterator[Finding]:
    bound = _bound(claim)
    if bound is None:
        return
    names = {s.name for s in bound.form.parameters}
    special = [{"local_steps": 1}, {"clients": 1, "participants": 1}, {"clients": 2, "participants": 2},
               {"iterations": 1, "rounds": 1}, *({name: 0} for name in _HARDER)]
    points = {name: values for name, values in _points(bound, 40).items() if name in names}
    usual = np.broadcast_to(np.isfinite(bound.values(**points)), (40,))
    for case in special:
        here = {name: value for name, value in case.items() if name in names}
        if here and usual.any() and not np.isfinite(bound.values(**points | here) + np.zeros(40))[usual].any():
            said = ", ".join(f"{n} = {v}" for n, v in here.items())
            yield Finding(claim.id, "limits", "warning", f"the right side is undefined at {said}", {"at": here})
    for symbol in bound.form.parameters:
        if symbol.name in _LENGTHS:
            order = leading_order(bound.form.formula, symbol)
            usual = 1 if _is_total(claim.statement.left, symbol) else 0
            grows = order is not None and (
                (order.power - usual).is_positive or (order.power == usual and order.logs > 0))
            if order is not None and claim.kind in ("theorem", "table entry"):
                text = f"as {symbol.name} grows the right side behaves as {order.text(symbol)}"
                yield Finding(claim.id, "limits", "warning" if grows else "note", text, {"order": order.text(symbol)})


def _is_total(left, length) -> bool:
    """Whether a side adds up over a run and does not divide by its length."""
    return any(length in limit[2].free_symbols for a in left.atoms(sp.Sum) for limit in a.limits) and not any(
        length in part.free_symbols for part in sp.Mul.make_args(left) if not part.has(sp.Sum))


def _monotone(claim: Claim) -> Iterator[Finding]:
    bound = _bound(claim)
    if bound is None or claim.kind not in ("theorem", "lemma", "control", "derived"):
        return
    limited = set().union(*(side.free_symbols for c in measured_conditions(claim) for side in (c.left, c.right)))
    if limited & set(bound.form.measured):  # points at random need not meet what the claim supposes of them
        return
    for symbol in bound.form.parameters:
        if symbol.name not in _HARDER:
            continue
        points = _points(bound, _POINTS)
        more = points | {symbol.name: points[symbol.name] * 1.01}
        with np.errstate(all="ignore"):
            low, high = bound.values(**points), bound.values(**more)
            met = bound.applies(**points) & bound.applies(**more) & np.isfinite(low) & np.isfinite(high)
            falls = np.flatnonzero(met & (high < low - 1e-9 * np.abs(low)))
        if len(falls):
            at = {name: float(v[falls[0]]) for name, v in points.items()}
            where = ", ".join(f"{n} = {v:.3g}" for n, v in at.items())
            text = f"the right side falls as {symbol.name} grows, for example at {where}"
            yield Finding(claim.id, "monotonicity", "warning", text, {"symbol": symbol.name, "at": at})


def _points(bound: Bound, count: int) -> dict[str, np.ndarray]:
    """Parameters at random over a few decades, the same in every run; whole numbers from 1."""
    rng, found = np.random.default_rng(0), {}
    symbols = {s.name: s for s in bound.form.parameters}
    for c in bound.conditions:
        symbols |= {s.name: s for side in (c.left, c.right) for s in side.free_symbols}
    for name, symbol in sorted(symbols.items()):
        values = 10 ** rng.uniform(-2, 2, count)
        found[name] = np.maximum(1, np.round(values)) if symbol.is_integer else values
    for symbol, e in bound.form.measured.items():
        if _is_later_loss(e):
            found[symbol.name] = np.zeros(count)
    return found


def _is_later_loss(e) -> bool:
    """Whether a quantity is a loss after the start: losses are counted from there, so that a run starts above."""
    inner = e.args[0] if isinstance(e, words.E) else e
    return isinstance(inner, words.objective) and not any(0 in a.indices for a in inner.atoms(sp.Indexed))


# readings ------------------------------------------------------------------------------------------------------------------
def _readings(claims: list[Claim]) -> Iterator[Finding]:
    """Readings of one block, or a statement and its explicit form, that bound the same by different formulas."""
    groups: dict[tuple, list[Claim]] = {}
    for claim in claims:
        if claim.statement is not None and claim.kind in ("theorem", "lemma"):
            key = (claim.paper, claim.block.removesuffix("-explicit"), str(claim.statement.left), claim.statement.relation)
            groups.setdefault(key, []).append(claim)
    for group in groups.values():
        first, *others = group
        for other in others:
            texts = [str(closed_form(c).formula) for c in (first, other)]
            if texts[0] == texts[1]:
                continue
            low, high = _ratios(bound_of(first), bound_of(other))
            if low is None or (abs(low - 1) < 1e-9 and abs(high - 1) < 1e-9):
                continue
            text = f"its right side is {low:.3g} to {high:.3g} times that of {first.id}"
            yield Finding(other.id, "readings", "note", text, {"other": first.id, "ratio": [low, high]})


def _ratios(one: Bound, two: Bound):
    points = _points(one, _POINTS) | _points(two, _POINTS)
    with np.errstate(all="ignore"):
        values = [b.values(**{s.name: points[s.name] for s in b.form.parameters}) for b in (one, two)]
        ratio = np.broadcast_to(values[1] / values[0], (_POINTS,))
    ratio = ratio[np.isfinite(ratio)]
    return (float(ratio.min()), float(ratio.max())) if len(ratio) else (None, None)


#: every check by name
CHECKS: dict[str, Callable[[Claim], Iterator[Finding]]] = {
    "units": _units, "symbols": _symbols, "hypotheses": _hypotheses, "limits": _limits, "monotonicity": _monotone,
}
