"""Hypotheses that tie vectors: those that say that lengths, or a loss less its least value, are 0."""

from collections.abc import Iterator
from typing import NamedTuple

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition, names_in
from verify.claims.sizes import once_by_claim

__all__ = ["Tie", "ties_of"]

#: names of vectors -> the parameter of an instance that moves them, at a fixed time and at the start of a run
_OF_POINTS = {name: "local_offset" for name in ("x_local", "x", "x_sampled")}
_OF_RUNS = {"x_round": "start_offset"}
_OF_LOSSES = (operators.F, operators.objective, operators.grad, operators.objective_grad)


class Tie(NamedTuple):
    """A ``vector`` that a hypothesis says to be 0, for all values of the indices in ``over``; ``moved``: the parameters of
    an instance that move it; ``to_losses``: whether it depends on losses, by a minimiser or a gradient."""

    vector: sp.Expr
    over: tuple
    moved: frozenset[str]
    to_losses: bool


@once_by_claim
def ties_of(claim: Claim) -> tuple[Tie, ...]:
    """The vectors that hypotheses say to be 0, and that depend on vectors which an instance leaves free: variables of the
    claim, local models at a fixed time, the start of a run."""
    movers = {v.name: v.name for v in claim.variables if v.domain == "vector"}
    movers |= {"point": _OF_POINTS, "run": _OF_RUNS}.get(claim.setting, {})
    found = []
    for c in claim.hypotheses:
        for vector, over in _zeros(c):
            names = set().union(*(_with_definitions(claim, name) for name in names_in(vector)))
            if moved := frozenset(movers[name] for name in names & movers.keys()):
                formulas = [vector, *(claim.definitions[name].formula for name in names & claim.definitions.keys())]
                found.append(Tie(vector, over, moved, "x_star" in names or any(f.has(*_OF_LOSSES) for f in formulas)))
    return tuple(found)


def _with_definitions(claim: Claim, name: str, seen: tuple[str, ...] = ()) -> set[str]:
    """The name, and those in its definition."""
    if name not in claim.definitions or name in seen:
        return {name}
    inner = names_in(claim.definitions[name].formula)
    return {name}.union(*(_with_definitions(claim, other, (*seen, name)) for other in inner))


def _zeros(c: Condition) -> list[tuple[sp.Expr, tuple]]:
    """The vectors that a condition says to be 0, as one that a sum of lengths is at most 0, with their indices; none where
    it says something else."""
    for sign in {"<=": (1,), ">=": (-1,), "==": (1, -1)}[c.relation]:
        found = [*_vectors(sign * (c.left - c.right), c.over)]
        if found and all(vector is not None for vector, _ in found):
            return found
    return []


def _vectors(number: sp.Expr, over: tuple) -> Iterator[tuple[sp.Expr | None, tuple]]:
    """The vectors whose lengths a number adds up; None for what is no length, or subtracted. A loss less its least value
    adds the length of its gradient."""
    terms = [*sp.Add.make_args(number)]
    for term in [*terms]:
        least = _gradient(term)
        if least is not None and -least[1] in terms:
            terms.remove(term)
            terms.remove(-least[1])
            yield least[0], over
    for term in terms:
        if term.could_extract_minus_sign():
            yield None, over
        elif isinstance(term, sp.Sum):
            yield from _vectors(term.function, (*over, *term.limits[::-1]))
        elif isinstance(term, operators.norm | operators.norm2):
            yield term.args[0], over
        elif term.is_Mul or term.is_Pow:
            factors = [factor for factor in (term.args if term.is_Mul else term.args[:1])
                       if factor.has(operators.norm, operators.norm2, operators.F, operators.objective)]
            if len(factors) == 1 and not (term.is_Pow and term.exp.is_negative):
                yield from _vectors(factors[0], over)
            else:
                yield None, over
        elif not term.is_zero:
            yield None, over


def _gradient(loss: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
    """The gradient of a loss, and the loss's least value; None for anything else."""
    if isinstance(loss, operators.F):
        return operators.grad(*loss.args), operators.F_star_client[loss.args[0]]
    return (operators.objective_grad(*loss.args), operators.F_star) if isinstance(loss, operators.objective) else None
