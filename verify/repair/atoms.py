"""The quantities of a claim of which conditions and terms are made, and products of their powers that have a given unit."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import sympy as sp

from bounds.formulas.units import units_of, units_where
from bounds.language.claim import BY_NUMBER, Claim
from bounds.language.names import CONSTANT, CURVATURE, LOSS, NAMES, ONE, SIZE, STEP, Unit, symbol
from bounds.language.operators import (
    E,
    F_star,
    Sum,
    client_weight,
    clients,
    grad,
    local_steps,
    norm2,
    objective,
    sigma_sq_client,
    t,
    x_round,
    x_star,
)
from bounds.printing.deciding_fields import bound_indices

__all__ = ["Atom", "Combination", "Product", "is_vector", "lengths", "scalars", "sums", "terms_of_unit", "unitless_products"]

_SIZES = ("rounds", "local_steps", "clients", "participants")
_MOST_VECTORS = 5
_MOST_SCALES = 3
_POWERS = {STEP: (0, 1, 2, 3, -1), CURVATURE: (0, 1, 2, -1)}  # of a factor of a term
_GRADIENTS = ("grad", "f_grad", "objective_grad")
_DOMAINS = ("positive", "nonnegative", "real", "integer")


@dataclass(frozen=True)
class Atom:
    """A quantity with its unit. ``over``: ranges of its indices."""

    formula: sp.Basic
    unit: Unit
    over: tuple = ()


@dataclass(frozen=True)
class Product:
    """A product of powers of quantities."""

    powers: tuple[tuple[Atom, int], ...]

    @property
    def formula(self) -> sp.Basic:
        return sp.Mul(*(atom.formula**power for atom, power in self.powers))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return tuple(atom for atom, _ in self.powers)

    @property
    def size(self) -> int:
        return sum(abs(power) for _, power in self.powers)

    def value_from(self, arrays: Mapping[Atom, np.ndarray]) -> np.ndarray:
        """The values where those of the quantities are given, (instances, indices)."""
        found = np.ones((1, 1))
        for atom, power in self.powers:
            found = found * arrays[atom] ** float(power)
        return found


@dataclass(frozen=True)
class Combination:
    """The first quantity plus or minus the second."""

    first: Atom
    second: Atom
    sign: int
    size: int = 2

    @property
    def formula(self) -> sp.Basic:
        return self.first.formula + self.sign * self.second.formula

    @property
    def atoms(self) -> tuple[Atom, ...]:
        return self.first, self.second

    def value_from(self, arrays: Mapping[Atom, np.ndarray]) -> np.ndarray:
        """The values where those of the quantities are given, (instances, indices)."""
        return arrays[self.first] + self.sign * arrays[self.second]


def scalars(claim: Claim) -> list[Atom]:
    """Collect the scalars that the claim names, its sizes, and the local step where nothing defines it."""
    units, found = units_of(claim), []
    used = claim.names | {*_SIZES} if claim.setting == "run" else claim.names
    if claim.procedure is not None and claim.procedure.sampling not in BY_NUMBER:
        used = used - {"participants"}  # all clients take part
    own = {v.name: v for v in claim.variables}
    for name in sorted(used):
        row = NAMES.get(name)
        if name in own:
            if own[name].domain in _DOMAINS and not own[name].indices and (formula := _symbol(claim, name)) is not None:
                found.append(Atom(formula, units.get(name, ONE)))
        elif row and not row.indices and (name in _SIZES or row.source == CONSTANT or (
                row.source != SIZE and name in claim.constants)):
            found.append(Atom(_symbol(claim, name) or symbol(name), units.get(name, ONE)))
    if claim.setting == "run" and "eta_l" not in claim.constants and "eta_l" not in claim.defining:
        iterations = symbol("iterations")
        found.append(Atom(symbol("eta_l")[t], units["eta_l"], ((t, sp.Integer(0), iterations - 1),)))
    if claim.setting == "point":  # a step at a fixed time
        steps = {part for formula in claim.formulas for part in formula.atoms(sp.Indexed) if _name(part) == "eta_l"}
        found += [Atom(part, units["eta_l"]) for part in sorted(steps, key=str) if part.indices[0].is_number]
    return found


def sums(atoms: Sequence[Atom]) -> list[Atom]:
    """The sums of two constants of the problem's class that have one unit, such as L + mu."""
    constants = [a for a in atoms if a.formula.is_Symbol and a.unit != ONE and NAMES.get(str(a.formula), None)]
    return [Atom(a.formula + b.formula, a.unit) for a, b in combinations(constants, 2) if a.unit == b.unit]


def _symbol(claim: Claim, name: str) -> sp.Basic | None:
    """The symbol as the claim's formulas have it; None where they do not."""
    for formula in claim.formulas:
        for one in formula.free_symbols:
            if one.is_Symbol and one.name == name:
                return one
    return None


def lengths(claim: Claim) -> list[Atom]:
    """Quantities of a bound that are no bare numbers: the squared distances between the vectors on the larger side of the
    statement, the optimum and, of a run, its start; and the gap of the objective there."""
    statement = claim.statement
    larger, smaller = (statement.left, statement.right)[:: 1 if statement.relation == ">=" else -1]
    own, units, found = _own_vectors(claim), units_of(claim), []
    bound = {index for side in (larger, smaller) for node in sp.preorder_traversal(side) for index in bound_indices(node)}
    vectors = {part for part in larger.atoms(sp.Symbol, sp.Indexed) if _is_vector(part, own)} - (
        smaller.atoms(sp.Symbol, sp.Indexed) if claim.setting == "run" else set())
    mean = E if larger.has(E) or smaller.has(E) else (lambda value: value)
    vectors = sorted((v for v in vectors if not v.free_symbols & bound), key=str)[:_MOST_VECTORS]
    if claim.setting == "run":
        vectors += [v for v in (x_round[0], x_star) if v not in vectors]
        found.append(Atom(mean(objective(x_round[0])) - F_star, LOSS))
    for first, second in combinations(vectors, 2):
        unit, other = (units.get(_name(v)) for v in (first, second))
        if unit is not None and unit == other:
            found.append(Atom(mean(norm2(first - second)), (2 * unit[0], 2 * unit[1])))
    for one in vectors:
        if _name(one) in own:
            unit = units.get(_name(one), ONE)
            found.append(Atom(mean(norm2(one)), (2 * unit[0], 2 * unit[1])))
    if claim.setting == "run":
        formulas = [formula if formula.has(sigma_sq_client) else mean(formula) for formula in _sums_over_clients(claim)]
        found += [Atom(formula, unit) for formula, unit in zip(formulas, units_where(claim, units, formulas), strict=True)
                  if unit is not None]
    return found


def _sums_over_clients(claim: Claim) -> Iterator[sp.Basic]:
    """Yield sums over the clients that proofs about runs have: of the local models' squared distances from the mean or from
    the round's start, of squared gradients there, and of the variances."""
    index, step, indices = symbol("k"), symbol("i"), {one for one, *_ in claim.statement.over}
    everywhere = (index, 0, clients - 1)
    weight, local = client_weight[index], symbol("x_local")
    if "sigma_sq" not in claim.names:
        yield Sum(weight**2 * sigma_sq_client[index], everywhere)
    if t in indices:
        name = "x_sampled" if "x_sampled" in claim.names else "x"
        yield Sum(weight * norm2(local[t, index] - symbol(name)[t]), everywhere)
        yield Sum(weight * norm2(grad(index, symbol(name)[t])), everywhere)
    if (r := symbol("r")) in indices:
        during = (step, local_steps * r, local_steps * (r + 1) - 1)
        yield Sum(weight * Sum(norm2(local[step, index] - x_round[r]), during), everywhere)
        yield Sum(weight * norm2(grad(index, x_round[r])), everywhere)


def is_vector(claim: Claim, part: sp.Basic) -> bool:
    """Whether a part of a formula is a vector."""
    if isinstance(part, sp.Add | sp.Mul):
        return any(is_vector(claim, one) for one in part.args)
    if type(part).__name__ in _GRADIENTS:
        return True
    return isinstance(part, sp.Symbol | sp.Indexed) and _is_vector(part, _own_vectors(claim))


def _own_vectors(claim: Claim) -> set[str]:
    return {v.name for v in claim.variables if v.domain == "vector"}


def _is_vector(part: sp.Basic, own: set[str]) -> bool:
    row = NAMES.get(name := _name(part))
    return name in own or (row is not None and row.kind == "vector" and bool(row.indices) == isinstance(part, sp.Indexed))


def _name(part: sp.Basic) -> str:
    return str(part.base.label) if isinstance(part, sp.Indexed) else str(part)


def unitless_products(atoms: Sequence[Atom], most: int) -> Iterator[Product]:
    """Yield the products of at most ``most`` atoms or their inverses that have no unit; of a product and its inverse one."""
    for count in range(1, most + 1):
        for some in combinations(atoms, count):
            for powers in product((1, -1), repeat=count - 1):
                found = tuple(zip(some, (1, *powers), strict=True))
                if all(sum(power * atom.unit[side] for atom, power in found) == 0 for side in (0, 1)):
                    yield Product(found)


def terms_of_unit(number: Sequence[Atom], length: Sequence[Atom], unit: Unit) -> Iterator[Product]:
    """Yield products of the unit as bounds have them: powers of steps and curvatures; at most two sizes or other pure
    numbers, or their inverses; and at most one quantity of another unit, such as a variance or a distance."""
    pure = [atom for atom in number if atom.unit == ONE]
    scales = [atom for atom in number if atom.unit in (STEP, CURVATURE)]
    levels = [atom for atom in number if atom.unit not in (ONE, STEP, CURVATURE)]
    sizes = [()] + [tuple(zip(some, powers, strict=True)) for count in (1, 2) for some in combinations(pure, count)
                    for powers in product((1, -1), repeat=count)]
    sizes += [((atom, 2),) for atom in pure]
    sizes = [some for some in sizes if all(power > 0 or atom.formula.is_Symbol for atom, power in some)]
    for level in (None, *levels, *length):
        own = () if level is None else ((level, 1),)
        for powers in product(*(_POWERS[atom.unit] for atom in scales)):
            scaled = tuple((atom, power) for atom, power in zip(scales, powers, strict=True) if power)
            total = [sum(power * atom.unit[side] for atom, power in (*own, *scaled)) for side in (0, 1)]
            if total == [*unit] and len(scaled) <= _MOST_SCALES:
                yield from (Product((*own, *scaled, *some)) for some in sizes if own or scaled or some)
