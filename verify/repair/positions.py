"""Positions in a claim's formulas, and the claim with another part at one of them."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import sympy as sp

from bounds.language.claim import Claim, names_in
from bounds.language.definitions import DEFINITIONS

__all__ = ["Position", "own_definitions", "part_at", "positions", "with_argument", "with_part"]


class Position(NamedTuple):
    """A part of a formula: ``where`` is ``left`` or ``right`` of the statement, or the name of a definition; ``path`` says
    which argument to take, again and again."""

    where: str
    path: tuple[int, ...] = ()

    @property
    def outer(self) -> "Position":
        """The position of what the part stands in."""
        return Position(self.where, self.path[:-1])

    def below(self, number: int) -> "Position":
        return Position(self.where, (*self.path, number))


def positions(claim: Claim) -> Iterator[tuple[Position, sp.Basic]]:
    """Yield the parts of both sides of the statement, and of the paper's definitions behind them, outer ones first."""
    for where in ("right", "left", *own_definitions(claim)):
        yield from _parts(Position(where), _formula(claim, where))


def own_definitions(claim: Claim) -> list[str]:
    """The names of the definitions that the statement uses and that are not the language's own, in the order of use."""
    found, new = {}, [claim.statement.right, claim.statement.left]
    while new:
        for name in sorted(names_in(new.pop(0)) - found.keys()):
            if name in claim.definitions and claim.definitions[name] is not DEFINITIONS.get(name):
                found[name] = claim.definitions[name].formula
                new.append(found[name])
    return [*found]


def _parts(position: Position, formula: sp.Basic) -> Iterator[tuple[Position, sp.Basic]]:
    if isinstance(formula, sp.IndexedBase):  # the array as a whole
        return
    yield position, formula
    for number, argument in enumerate(formula.args):
        if not isinstance(formula, sp.Indexed) or number:  # the name of an array is no part
            yield from _parts(position.below(number), argument)


def _formula(claim: Claim, where: str) -> sp.Basic:
    return getattr(claim.statement, where) if where in ("left", "right") else claim.definitions[where].formula


def part_at(claim: Claim, position: Position) -> sp.Basic:
    """The part at a position."""
    formula = _formula(claim, position.where)
    for number in position.path:
        formula = formula.args[number]
    return formula


def with_part(claim: Claim, position: Position, part: sp.Basic) -> Claim:
    """The claim with another part at a position; a definition changes wherever its name stands."""
    formula = _replaced(_formula(claim, position.where), position.path, part)
    if position.where in ("left", "right"):
        return replace(claim, statement=replace(claim.statement, **{position.where: formula}))
    changed = replace(claim.definitions[position.where], formula=formula)
    return replace(claim, definitions={**claim.definitions, position.where: changed})


def _replaced(formula: sp.Basic, path: tuple[int, ...], part: sp.Basic) -> sp.Basic:
    if not path:
        return part
    return with_argument(formula, path[0], _replaced(formula.args[path[0]], path[1:], part))


def with_argument(formula: sp.Basic, number: int, part: sp.Basic) -> sp.Basic:
    """The formula with another argument."""
    return formula.func(*formula.args[:number], part, *formula.args[number + 1 :])
