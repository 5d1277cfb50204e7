"""What ``lint`` sees in the values of bounds: how they move with a constant, and how readings of one block differ."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import sympy as sp

from bounds.formulas.closed_form import closed_form, measured_conditions
from bounds.language import words
from bounds.language.claim import Claim, names_in
from verify.claims.method import own_arguments
from verify.formulas.bound import bound_of
from verify.lint.findings import Finding, both, bound_above, numbers_of, points_text, sets_of, values_at

__all__ = ["HARDER", "monotone", "ratio_text", "readings"]

#: a larger value of these makes a problem harder, so that no bound should fall as they grow: noise, heterogeneity, gradient
#: bounds, smoothness, how far the start is, errors of local solutions
HARDER = re.compile(r"(sigma|noise|Gamma|G|H|L|D0|F0|start_distance|optimum_gradient|largest_gradient|eps_inexact)(_|\d|$)")

#: a bound that grows with these says that more of them are worse
_HELPFUL = ("participants", "samples")

#: numbers of clients that no run changes
_OF_CLIENTS = {"client_weight", "priority", "F_star_client", "L_client", "mu_client", "sigma_sq_client", "sigma_g_client"}
_SLOPES = (words.grad, words.objective_grad)


def monotone(claim: Claim) -> Iterator[Finding]:
    """Bounds that fall as a problem becomes harder, or grow with the clients that take part or the samples.

    Constants on which the claim makes a step size depend are left out: another value of them is about other runs. A fall
    that only quantities of the run bring about, or of any points, as in steps of proofs, is but a note: these move with the
    problem too.
    """
    bound, points = bound_above(claim), sets_of(claim)
    if bound is None or not points or claim.setting == "algebra":  # numbers alone are no problem that becomes harder
        return
    limited = set().union(*(side.free_symbols for c in measured_conditions(claim) for side in (c.left, c.right)))
    if limited & set(bound.form.measured):  # points at random need not meet what the claim supposes of them
        return
    tuned, value = _tuned_by(claim), values_at(bound, points)
    moving = {symbol.name: e for symbol, e in bound.form.measured.items() if symbol.name in points and not _of_problem(e)}
    still = {name: 0 * values if name in moving else values for name, values in points.items()}
    for symbol in bound.form.parameters:
        harder = symbol.name not in tuned and _is_harder(symbol, bound.form.measured.get(symbol))
        if not harder and symbol.name not in _HELPFUL:
            continue
        met, step = True, {symbol.name: points[symbol.name] + 1 if symbol.is_integer else points[symbol.name] * 1.01}
        if any(symbol in c.left.free_symbols | c.right.free_symbols for c in bound.conditions):
            met = bound.applies(**points | step)
        wrong = np.flatnonzero(met & _moves(value, values_at(bound, points | step), harder))
        if not len(wrong):
            continue
        where, at = points_text(points, wrong[0])
        text = f"the right side {'falls' if harder else 'grows'} as {symbol.name} grows, for example at {where}"
        alone = met & _moves(values_at(bound, still), values_at(bound, still | step), harder)
        if harder and not alone.any():
            text += f"; but only with {next(iter(moving.values()))}, which need not stay as it is"
        yield Finding(claim.id, "monotonicity", "warning" if harder and alone.any() else "note", text,
                      {"symbol": symbol.name, "at": at, "share": len(wrong) / len(value)})


def _moves(value, later, down: bool):
    """Where a positive value moves down, or up."""
    with np.errstate(all="ignore"):
        moved = (value - later if down else later - value) > 1e-9 * np.abs(value)
    return moved & (value > 0) & np.isfinite(value) & np.isfinite(later)


def _is_harder(symbol, measured) -> bool:
    if measured is None:
        return bool(HARDER.match(symbol.name))
    entries = measured.atoms(sp.Indexed)
    names = {str(a.base.label) for a in entries}
    if names <= _OF_CLIENTS:
        return any(map(HARDER.match, {symbol.name} | names))
    return _at_start(measured) and measured.has(words.norm2, words.norm) and not measured.has(*_SLOPES)  # a distance


def _at_start(measured) -> bool:
    return all(a.indices[0] == 0 for a in measured.atoms(sp.Indexed) if str(a.base.label) not in _OF_CLIENTS)


def _of_problem(measured) -> bool:
    """Whether a quantity is one of the problem and of where runs start."""
    points = measured.free_symbols - measured.atoms(sp.Indexed) - {words.x_star, words.clients, words.F_star}
    return _at_start(measured) and (measured.has(sp.Indexed) or not points)


def _tuned_by(claim: Claim) -> set[str]:
    """Names on which the claim's formulas for hyper-parameters depend."""
    given = {str(c.left.base.label) if isinstance(c.left, sp.Indexed) else c.left.name: names_in(c.right)
             for c in claim.hypotheses if c.relation == "==" and (c.left.is_Symbol or isinstance(c.left, sp.Indexed))}
    tuned, found = {"eta_l", "epsilon", "local_steps", "participants", *own_arguments(claim.procedure)} & set(given), set()
    while tuned:
        name = tuned.pop()
        found.add(name)
        tuned |= given.get(name, frozenset()) - found
    return found


def readings(claims: list[Claim]) -> Iterator[Finding]:
    """Readings of one block, or a statement and its explicit form, that bound the same by different formulas."""
    groups: dict[tuple, list[Claim]] = {}
    for claim in claims:
        if claim.statement is not None and claim.kind in ("theorem", "lemma"):
            key = (claim.paper, claim.block.removesuffix("-explicit"), str(claim.statement.left), claim.statement.relation)
            groups.setdefault(key, []).append(claim)
    for first, *others in groups.values():
        for other in others:
            if str(closed_form(first).formula) == str(closed_form(other).formula):
                continue
            text, data = ratio_text(bound_of(first), bound_of(other))
            if data and data.get("ratio") != [1, 1]:
                yield Finding(other.id, "readings", "note", f"its right side {text} that of {first.id}",
                              {"other": first.id} | data)


def ratio_text(first, other) -> tuple[str, dict]:
    """How two bounds compare where the conditions and domains of both hold, in words and as data; empty without numbers."""
    first, other, joint = both(first, other)
    points = numbers_of(joint)
    if not points:
        return "", {}
    one, two = (values_at(bound, points) for bound in (first, other))
    known = np.isfinite(one) & np.isfinite(two)
    opposed = np.flatnonzero(known & (np.sign(one) * np.sign(two) < 0))
    if len(opposed):
        where, at = points_text(points, opposed[0])
        return f"has another sign at {where} than", {"signs": "differ", "at": at}
    if (known & ((one < 0) | (two < 0))).any():  # a ratio says nothing of which is larger
        apart = (two - one)[known] / np.abs(one[known])
        order = "is as large as" if np.abs(apart).max() <= 1e-9 else "is never above" if apart.max() <= 1e-9 else (
            "is never below" if apart.min() >= -1e-9 else "is in some places above and in others below")
        return order, {"ratio": [1, 1]} if order == "is as large as" else {"order": order.removeprefix("is ")}
    with np.errstate(all="ignore"):
        ratio = (two / one)[known & (one != 0)]
    if not len(ratio):
        return "", {}
    if np.allclose(ratio, 1, rtol=1e-9, atol=0):
        return "is as large as", {"ratio": [1, 1]}
    low, high = float(ratio.min()), float(ratio.max())
    return (f"is {low:.3g} times" if high - low <= 1e-9 * abs(low) else f"is {low:.3g} to {high:.3g} times"), {
        "ratio": [low, high]}
