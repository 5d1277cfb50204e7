"""What ``lint`` sees at the ends of a bound's range: one step, one client, no noise, endless runs; claims of such cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import sympy as sp

from bounds.language import words
from bounds.language.claim import Claim, Condition, Procedure
from verify.formulas.bound import Bound, bound_of
from verify.formulas.rates import LENGTHS, order_in, sign_under, tied_to
from verify.lint.findings import Finding, bound_above, sets_of, values_at
from verify.lint.values import HARDER, ratio_text

__all__ = ["limits", "special_cases"]

#: restrictions by which an array of the clients' constants is zero
_VANISHING = {"no noise": "sigma_sq_client", "alike clients": "sigma_g_client"}
_ENDS = ({"local_steps": 1}, {"clients": 1, "participants": 1}, {"clients": 2, "participants": 2},
         {"iterations": 1, "rounds": 1})


# one claim ---------------------------------------------------------------------------------------------------------------
def limits(claim: Claim) -> Iterator[Finding]:
    """Ends at which the right side has no value; how it behaves along endless runs, and to what it tends."""
    bound, points = bound_above(claim), sets_of(claim)
    if bound is None:
        return
    names = {s.name for s in bound.form.parameters}
    usual = np.isfinite(values_at(bound, points)) if points else np.array([False])
    vanishing = sorted(s.name for s in bound.form.parameters if HARDER.match(s.name) and not s.is_positive)
    for case in (*_ENDS, *({name: 0} for name in vanishing)):
        here = {name: value for name, value in case.items() if name in names}
        ends = points | {name: np.full(usual.shape, float(value)) for name, value in here.items()}
        if here and usual.any() and not np.isfinite(values_at(bound, ends))[usual].any():
            said = ", ".join(f"{n} = {v}" for n, v in here.items())
            yield Finding(claim.id, "limits", "warning", f"the right side is undefined at {said}", {"at": here})
    for symbol in bound.form.parameters:
        if symbol.name in LENGTHS and claim.kind in ("theorem", "table entry"):
            yield from _along(claim, bound, symbol)


def _along(claim: Claim, bound: Bound, length) -> Iterator[Finding]:
    tied = tied_to(bound, length.name)
    if tied:
        text = f"how the right side behaves as {length.name} grows is not known: {', '.join(tied)} may grow with it"
        yield Finding(claim.id, "limits", "note", text, {"tied": list(tied)})
    order = order_in(bound, length)
    if order is None:
        return
    usual = 1 if _is_total(claim.statement.left, length) else 0
    grows = (order.power - usual).is_positive or (order.power == usual and order.logs > 0) if order.base == 1 else (
        sign_under(bound)(order.base - 1) == 1)
    data = {"order": order.text(length)}
    text = f"as {length.name} grows the right side behaves as {order.text(length)}"
    if order.logs == 0 and order.power == 0 and order.base == 1 and order.coefficient != bound.form.formula:
        data["limit"] = str(order.coefficient)
        text = f"as {length.name} grows the right side tends to {order.coefficient}"
    elif order.power.is_negative and order.base == 1:
        data["limit"] = "0"
    yield Finding(claim.id, "limits", "warning" if grows else "note", text, data)


def _is_total(left, length) -> bool:
    """Whether a side adds up over a run and does not divide by its length."""
    return any(length in limit[2].free_symbols for a in left.atoms(sp.Sum) for limit in a.limits) and not any(
        length in part.free_symbols for part in sp.Mul.make_args(left) if not part.has(sp.Sum))


# claims of special cases -------------------------------------------------------------------------------------------------
def special_cases(claims: list[Claim]) -> Iterator[Finding]:
    """Bounds beside those of claims about a special case: the same left side of the same method, with a further restriction.

    Restrictions: one local step, one client, full participation, no noise, alike clients, and (of a claim about one step,
    or one round, at any time) the first one alone. Only bounds in the same measured quantities are compared.
    """
    by_method: dict[tuple, list[tuple[Claim, Claim, frozenset]]] = {}
    for claim in claims:
        if bound_above(claim) is not None and claim.setting == "run" and claim.explicit:
            for single in (claim, *_first(claim)):
                p = _procedure(claim)
                key = (p.base, repr(p.options), p.free_clients, p.indicator, p.strict, p.free, p.replaced)
                by_method.setdefault(key, []).append((claim, single, frozenset(_restrictions(single))))
    for group in by_method.values():
        for general, stated, few in group:
            for special, instance, more in group:
                if few < more and stated is general and special.kind != "proof step" and special.block != general.block and (
                            _reading(special) in ("", _reading(general))):
                    yield from _beside(general, special, instance, more - few, more)


def _procedure(claim: Claim) -> Procedure:
    return claim.procedure or Procedure()


def _reading(claim: Claim) -> str:
    return claim.id.partition("@")[2]


def _first(claim: Claim) -> Iterator[Claim]:
    """What a claim about every step, or every round, says of the first one of a run that ends with it."""
    over = claim.statement.over
    if len(over) == 1 and over[0][1] == 0:
        (index, _, last), end = over[0], {words.iterations: words.local_steps, words.rounds: sp.S.One}
        if {words.iterations, words.rounds} & last.free_symbols and index in claim.statement.left.free_symbols:
            start = {index: sp.S.Zero}
            left, right = (side.xreplace(start).xreplace(end) for side in (claim.statement.left, claim.statement.right))
            single = tuple(Condition(s, "==", value) for s, value in end.items())
            yield replace(claim, statement=Condition(left, "<=", right), conditions=(*claim.conditions, *single))


def _restrictions(claim: Claim) -> Iterator[str]:
    fixed = {v.name for v in claim.variables if v.domain == "integer" and v.high == v.low == 1}
    fixed |= {c.left.name for c in claim.hypotheses if c.relation == "==" and c.left.is_Symbol and c.right == 1}
    for name in ("local_steps", "clients", "rounds"):
        if name in fixed:
            yield f"{name} = 1"
    if _procedure(claim).sampling == "full":
        yield "participants = clients"
    for c in claim.hypotheses:
        if isinstance(c.left, sp.Indexed) and c.relation in ("<=", "==") and c.right == 0:
            yield from (name for name, array in _VANISHING.items() if str(c.left.base.label) == array)


def _beside(general: Claim, special: Claim, instance: Claim, further, more) -> Iterator[Finding]:
    """The general bound where what restricts the special claim holds, beside that one's bound."""
    if "participants = clients" in further and _procedure(general).sampling != "without-replacement":
        return  # as many draws with replacement as there are clients are no full participation
    ends = dict(_ends(general, more))
    left, right = (_plain(c.statement.left, ends, more) for c in (general, instance))
    if left != right:
        return
    given, asked = (_given(c) for c in (general, special))
    if any(_plain(given[s], ends, more) != _plain(asked[s], ends, more) for s in given.keys() & asked.keys()):
        return  # two formulas for one step size
    put = [Condition(s, "==", value) for s, value in ends.items()]
    steps = [Condition(s, "==", value) for s, value in asked.items() if s not in given]
    others = [Condition(s, "==", value) for s, value in given.items() if s not in asked]
    try:
        one = bound_of(_at(general, ends, more, [*put, *steps]))
        two = bound_of(_at(instance, ends, more, [*put, *others]))
    except ValueError:
        return
    if set(one.form.measured.values()) != set(two.form.measured.values()):
        return  # quantities of one run, which no numbers at random are
    text, data = ratio_text(two, one)
    if data:
        said = ", ".join(sorted(further))
        yield Finding(general.id, "limits", "note", f"with {said} its right side {text} that of {special.id}",
                      {"other": special.id, "where": sorted(further)} | data)


def _given(claim: Claim) -> dict:
    """What the claim's conditions say symbols, or entries of a sequence, are."""
    return {c.left: c.right for c in claim.hypotheses if c.relation == "==" and (
        c.left.is_Symbol or (isinstance(c.left, sp.Indexed) and all(i.is_Symbol for i in c.left.indices)))}


def _ends(claim: Claim, restrictions) -> Iterator[tuple]:
    """The values that a claim's symbols take under restrictions."""
    if "local_steps = 1" in restrictions:
        yield words.local_steps, sp.S.One
    if "rounds = 1" in restrictions:
        yield words.rounds, sp.S.One
    if "clients = 1" in restrictions:
        yield words.clients, sp.S.One
        yield words.participants, sp.S.One
    elif "participants = clients" in restrictions:
        yield words.participants, words.clients
    for name, array in _VANISHING.items():
        if name in restrictions:
            for c in claim.hypotheses:
                if isinstance(c.left, sp.Indexed) and str(c.left.base.label) == array and c.relation in ("<=", "=="):
                    root = c.right.base if c.right.is_Pow else c.right
                    if root.is_Symbol:
                        yield root, sp.S.Zero


def _plain(e, ends: dict, restrictions):
    """An expression under restrictions, in the words of rounds; without chance, no expectation."""
    e = e.xreplace({words.iterations: words.rounds * words.local_steps})
    e = e.xreplace(ends).replace(_of_time, lambda a: _round_wise(a, ends))
    e = e.replace(lambda a: isinstance(a, sp.Indexed) and str(a.base.label) in {
        array for name, array in _VANISHING.items() if name in restrictions}, lambda a: sp.S.Zero)
    if {"no noise", "participants = clients"} <= set(restrictions):
        e = e.replace(words.E, lambda a, *_: a)
    return e


def _of_time(e) -> bool:
    return isinstance(e, sp.Indexed) and str(e.base.label) in ("x", "x_sampled") and len(e.indices) == 1


def _round_wise(e, ends: dict):
    """The model between two rounds by its round: x_sampled[local_steps * r] is x_round[r]; x is so where all take part."""
    rounds = sp.cancel(e.indices[0] / ends.get(words.local_steps, words.local_steps))
    whole = not sp.denom(rounds).has(words.local_steps)
    all_take_part = str(e.base.label) == "x_sampled" or ends.get(words.participants) == words.clients
    return words.x_round[rounds] if whole and all_take_part else e


def _at(claim: Claim, ends: dict, restrictions, put: list[Condition]) -> Claim:
    """The claim under restrictions, with what they say of symbols as conditions."""
    right = _plain(claim.statement.right, ends, restrictions)
    return replace(claim, statement=replace(claim.statement, right=right), conditions=(*claim.conditions, *put))
