"""Readings of a claim: one change at a time, or all combinations of independent ones."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product

import sympy as sp

from bounds.language.claim import Choice, Claim, Condition, names_in
from bounds.language.definitions import DEFINITIONS
from bounds.language.samples import E_client
from bounds.language.words import E, E_round, Min, clients, k, mu, participants, r
from bounds.papers.fedmoswa.assumptions import (
    A2,
    A5,
    C5,
    G1,
    G2,
    A2_region,
    A2_region_coupled,
    A5_region,
    A5_region_coupled,
    C5_region,
    C5_region_coupled,
    G1_convex,
    G2_objective,
)
from bounds.papers.fedmoswa.setting import ALL_CLIENTS_UPDATE, each_client, procedure_with
from bounds.papers.fedmoswa.words import sigma_g, sigma_g_client

__all__ = [
    "CONVEX",
    "DRIFT",
    "LAG",
    "REGION",
    "TAKING_PART",
    "UPDATE",
    "Change",
    "any_state",
    "as_proved",
    "combined",
    "fixed_client",
    "given",
    "in_region",
    "one_round",
    "proof_readings",
    "restated",
    "rewritten",
    "some_step",
    "started",
    "starts",
    "varied",
    "with_left",
    "with_options",
    "with_region",
    "with_right",
]

Change = Callable[[Claim], Claim]
Changes = Mapping[str, tuple[str, Change]]


def rewritten(claim: Claim, change: Callable) -> Claim:
    """The claim with ``change`` applied to both sides of its statement."""
    s = claim.statement
    return replace(claim, statement=replace(s, left=change(s.left), right=change(s.right)))


def restated(**parts) -> Change:
    """A change that replaces parts of the statement: left, relation, right, over."""
    return lambda claim: replace(claim, statement=replace(claim.statement, **parts))


def with_left(left) -> Change:
    return restated(left=left)


def with_right(right) -> Change:
    return restated(right=right)


def given(*conditions: Condition) -> Change:
    """A change that adds conditions."""
    return lambda claim: replace(claim, conditions=(*claim.conditions, *conditions))


def with_options(*options, **changes) -> Change:
    """A change of the procedure: options (name, value), and other fields."""
    return lambda claim: replace(claim, procedure=procedure_with(claim, *options, **changes))


def some_step(step, largest) -> Change:
    """A change of every admitted step size to one: that there is a ``step`` in (0, ``largest``]."""
    def change(claim: Claim) -> Claim:
        conditions = tuple(x for x in claim.conditions if x.left != step or x.relation == "==")
        return replace(claim, conditions=conditions, exists=Choice(step.name, 0, largest, open_low=True),
                       variables=tuple(v for v in claim.variables if v.name != step.name))

    return change


def _named(base: Claim, claim: Claim, name: str, words: str) -> Claim:
    short = base.id.partition("/")[2]
    reading = words if base.reading == "as printed" else f"{words}; otherwise as {short}"
    return replace(claim, id=f"{base.id}{'+' if '@' in base.id else '@'}{name}", reading=reading)


def varied(base: Claim, changes: Changes) -> tuple[Claim, ...]:
    """``base``, then its readings by name, each with one change, described in words."""
    return (base, *(_named(base, change(base), name, words) for name, (words, change) in changes.items()))


def combined(claims: tuple[Claim, ...], changes: Changes) -> tuple[Claim, ...]:
    """All ``claims``, then each of them with each of the changes."""
    more = (_named(claim, change(claim), name, words) for claim, (name, (words, change)) in product(claims, changes.items()))
    return (*claims, *more)


# Assumptions 2 and 5 where the run goes ------------------------------------------------------------------------------
_REGION = {A2: A2_region, A5: A5_region, C5: C5_region}
_COUPLED_REGION = {A2: A2_region_coupled, A5: A5_region_coupled, C5: C5_region_coupled}


def in_region(claim: Claim) -> Claim:
    """The claim under Assumptions 2 and 5 at the models of the run, or of both coupled runs if it is about two data sets.

    The sigma_{g,i} are then equal.
    """
    per_client = C5 in claim.assumptions
    coupled = any(name.startswith("twin_") or name == "generalisation_error" for name in claim.names)
    table = _COUPLED_REGION if coupled else _REGION
    claim = replace(claim, assumptions=tuple(table.get(a, a) for a in claim.assumptions))
    return rewritten(claim, lambda e: e.xreplace({sigma_g_client[k]: sigma_g})) if per_client else claim


REGION = {"region": ("Lipschitz constant and heterogeneity at the models of the run, or of both coupled runs", in_region)}


def with_region(*claims: Claim) -> tuple[Claim, ...]:
    """Each claim on all of R^dim and at the models of the run."""
    return combined(claims, REGION)


# coupled runs --------------------------------------------------------------------------------------------------------
def fixed_client(claim: Claim) -> Claim:
    """The claim for any one client whose sample is replaced, with that client's heterogeneity, C.5's, on the right."""

    def one(e):
        coupled = [a for a in e.atoms(E) if any(n.startswith("twin_") for n in names_in(a))]
        return e.xreplace({a: E_client(k, a.args[0]) for a in coupled} | {sigma_g: sigma_g_client[k]})

    over = claim.statement.over
    claim = replace(claim, assumptions=tuple(C5 if a == A5 else a for a in claim.assumptions))
    return restated(over=over if each_client in over else (*over, each_client))(rewritten(claim, one))


# Appendix G ----------------------------------------------------------------------------------------------------------
def _relabelled(names: Mapping[str, tuple[str, int]]) -> Change:
    """A change of quantities ``old[r]`` into ``new[r + shift]``, by name."""

    def relabelled(indexed):
        name, shift = names[str(indexed.base.label)]
        return DEFINITIONS[name].symbol[indexed.indices[0] + shift]

    def change(e):
        return e.xreplace({a: relabelled(a) for a in e.atoms(sp.Indexed) if str(a.base.label) in names})

    return lambda claim: rewritten(claim, change)


def started(start: str) -> Change:
    """A change of how the variates start."""
    return with_options(("start", start))


def any_state(claim: Claim) -> Claim:
    """The claim given all that happened before the round, at every state that a run reaches from any start."""

    def conditional(e):
        while averages := [a for a in e.atoms(sp.Indexed) if _is_average(a)]:
            e = e.xreplace({a: _formula(a) for a in averages})
        return e.xreplace({a: E_round(a.args[0], r) for a in e.atoms(E)})

    return started("free")(rewritten(claim, conditional))


def _is_average(indexed) -> bool:
    definition = DEFINITIONS.get(str(indexed.base.label))
    return definition is not None and definition.formula.has(E)


def _formula(indexed):
    definition = DEFINITIONS[str(indexed.base.label)]
    return definition.formula.xreplace(dict(zip(definition.indices, indexed.indices, strict=True)))


def _smooth_objective(claim: Claim) -> Claim:
    return replace(claim, assumptions=tuple(G2_objective if a == G2 else a for a in claim.assumptions))


def _without_mu(claim: Claim) -> Claim:
    """The claim for merely convex losses: mu = 0, for which a bound s/(15 mu m) on the step is none."""

    def bound(side):
        kept = [part for part in side.args if not part.has(mu)]
        return side if not side.has(mu) else kept[0] if len(kept) == 1 else Min(*kept)

    conditions = tuple(replace(c, right=bound(c.right)) for c in claim.conditions)
    assumptions = tuple(G1_convex if a == G1 else a for a in claim.assumptions)
    return rewritten(replace(claim, assumptions=assumptions, conditions=conditions), lambda e: e.xreplace({mu: sp.S.Zero}))


CONVEX: Changes = {"mu-0": ("mu = 0: the F_i are convex", _without_mu)}

UPDATE: Changes = {
    "all-clients": (
        "the server's variate is the moving average over all stored variates, (68)", with_options(ALL_CLIENTS_UPDATE),
    )
}

DRIFT: Changes = {"E0": ("drift after 0 to K - 1 local steps, as in the proofs", _relabelled({"drift_E1": ("drift_E0", 0)}))}

LAG_TOTAL: Changes = {
    "lag-total": (
        "control lag: the inner expectation is over all chance",
        _relabelled({"variate_lag": ("variate_lag_total", 0), "variate_lag_after": ("variate_lag_total", 1)}),
    )
}

LAG: Changes = {
    "lag-noise": (
        "control lag: the inner expectation is over mini-batch noise",
        _relabelled({"variate_lag": ("variate_lag_noise", 0), "variate_lag_after": ("variate_lag_noise", 1)}),
    )
} | LAG_TOTAL


def _both_sides(now: str, after: tuple[str, int]) -> Change:
    """Another lag where the base has the total one: ``now[r]`` before the round, ``after`` (name, shift of r) after it."""
    total = DEFINITIONS["variate_lag_total"].symbol
    changes = {total[r]: DEFINITIONS[now].symbol[r], total[r + 1]: DEFINITIONS[after[0]].symbol[r + after[1]]}
    return lambda claim: rewritten(claim, lambda e: e.xreplace(changes))


LAG_BOTH: Changes = {
    "lag-round": (
        "control lag: before the round of the variates themselves, after it of their expectations given its start",
        _both_sides("variate_lag", ("variate_lag_after", 0)),
    ),
    "lag-given": ("control lag: of the variates themselves, before and after the round",
                  _both_sides("variate_lag", ("variate_lag", 1))),
    "lag-noise": ("control lag: the inner expectation is over mini-batch noise",
                  _both_sides("variate_lag_noise", ("variate_lag_noise", 1))),
}

SMOOTH: Changes = {"F-smooth": ("only F is smooth, as G.2 prints", _smooth_objective)}

_STARTS: Changes = {
    "start-zero": ("variates start from zero", started("zero")),
    "start-gradient": ("variates start as gradients at the start, the server's as their mean", started("gradient")),
    "start-gradient-clients": (
        "clients' variates start as gradients at the start, the server's from zero", started("gradient-clients-only")),
    "start-mean": ("clients' variates start anywhere, the server's as their mean", started("free-mean")),
    "start-free": ("variates start anywhere", started("free")),
}
TAKING_PART: Changes = {
    "everyone": ("all clients take part in every round, s = m", with_options(sampling="full")),
    "some-clients": ("not all clients take part, s < m", given(Condition(participants, "<=", clients - 1))),
}


def starts(claim: Claim) -> dict[str, tuple[str, Change]]:
    """The other ways in which the variates may start."""
    own = dict(claim.procedure.options).get("start", "zero")
    return {name: change for name, change in _STARTS.items() if name != f"start-{own}"}


def as_proved(claim: Claim) -> Changes:
    """What the proofs of Appendix G take for granted, at once: (68), variates from gradients, the drift that they use."""
    parts = [UPDATE["all-clients"][1], _STARTS["start-gradient"][1]]
    words = "(68), variates that start as gradients"
    if _uses(claim, "drift_E1"):
        parts.append(DRIFT["E0"][1])
        words += " and the drift after 0 to K - 1 local steps"

    def together(made: Claim) -> Claim:
        for part in parts:
            made = part(made)
        return made

    return {"as-proved": (f"as the proofs have it: {words}", together)}


ANY_STATE: Changes = {"any-state": ("given the state before the round, for every state that is reached", any_state)}


def _uses(claim: Claim, name: str) -> bool:
    symbol = DEFINITIONS[name].symbol
    return claim.statement.left.has(symbol) or claim.statement.right.has(symbol)


def _that_apply(claim: Claim, *optional: tuple[bool, Changes]) -> dict[str, tuple[str, Change]]:
    return {name: change for applies, changes in optional if applies for name, change in changes.items()}


def one_round(claim: Claim, **more) -> tuple[Claim, ...]:
    """A lemma of Appendix G in all readings of update, drift, lag, losses, start and sampling, one change at a time.

    The last reading makes all the changes that the proofs make.
    """
    changes = _that_apply(
        claim, (True, UPDATE), (_uses(claim, "drift_E1"), DRIFT), (_uses(claim, "variate_lag"), LAG),
        (_uses(claim, "variate_lag_total"), LAG_BOTH), (G2 in claim.assumptions, SMOOTH), (G1 in claim.assumptions, CONVEX),
        (True, starts(claim)), (True, TAKING_PART), (True, ANY_STATE), (True, as_proved(claim)),
    )
    return varied(claim, more | changes)


def proof_readings(claim: Claim, **more) -> tuple[Claim, ...]:
    """A proof step of Appendix G: other update, drift as in the proofs, other lag, and variates from zero if not so anyway.

    The last reading makes all the changes that the proofs make.
    """
    changes = _that_apply(
        claim, (True, UPDATE), (_uses(claim, "drift_E1"), DRIFT), (_uses(claim, "variate_lag"), LAG_TOTAL),
        (_uses(claim, "variate_lag_total"), {"lag-round": LAG_BOTH["lag-round"]}),
        ("start-zero" in starts(claim), {"start-zero": _STARTS["start-zero"]}), (True, as_proved(claim)),
    )
    return varied(claim, more | changes)
