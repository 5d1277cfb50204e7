"""Limits along which sizes, a number, or all numbers as powers of one factor change while everything else stays."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import sympy as sp

from bounds.formulas.units import units_of
from bounds.language.claim import BY_NUMBER, Claim, names_in
from verify.claims.sizes import once_by_claim
from verify.instances.parameters import PARAMETERS, SLACK, Parameters, ParameterSpec, spec_of
from verify.instances.quadratic import QUADRATIC
from verify.instances.resize import RUN_SIZES, Together, resized
from verify.instances.shape import Shape, with_subset

__all__ = [
    "FREE_WEIGHT",
    "SCALE",
    "TOGETHER",
    "Motion",
    "Powers",
    "at_size",
    "coupled_limits",
    "held_numbers",
    "keeps_the_shape",
    "largest_named",
    "least_factor",
    "scalable",
    "scaled",
    "small_sizes",
    "unit_exponents",
    "without_chance",
]

#: the total weight of the free clients, which grows as the weights of all of them do
FREE_WEIGHT = "free_weight"
SCALE = "scale"
_FAR = 2**30  # how far a number moves at least, up or down, until its growth counts
_BEYOND = 2**10  # how far beyond the numbers in a claim, which else may be where it ends
TOGETHER = ("rounds", "clients", "local_steps")  #: sizes that may be multiplied together; all clients take part
_OTHER = ParameterSpec("real")  # variables, constants and starts
_units_of_names = once_by_claim(units_of)


@dataclass(frozen=True, eq=False)
class Powers:
    """Numbers that are multiplied by powers of a common factor."""

    exponents: Parameters

    def __str__(self):
        return SCALE


#: the name of a size or of a number, sizes that grow together, or numbers as powers of a factor
Motion = str | Together | Powers


def largest_named(claim: Claim) -> int:
    """The largest number in the formulas of a claim: of their numbers, these or their reciprocals, numerators and
    denominators."""
    found = [0]
    for node in (node for e in claim.formulas for node in sp.preorder_traversal(sp.sympify(e))):
        if node.is_Rational:
            found += [abs(node.p), node.q]
        elif node.is_number and node.is_comparable and (size := abs(node.evalf(15))) > 0:
            found.append(int(sp.ceiling(sp.Max(size, 1 / size))))
    return max(found)


def least_factor(claim: Claim) -> int:
    """The least factor, up or down, by which a number must change for its growth to count."""
    return max(_FAR, _BEYOND * largest_named(claim))


def at_size(claim: Claim, shape: Shape, params: Parameters, motion: Motion, size) -> tuple[Shape, Parameters]:
    """The instances with a size set to ``size``, or with numbers multiplied by it or by its powers. Raises
    NotImplementedError for a name that does not move, ValueError for a size that an instance cannot have."""
    if isinstance(motion, Powers):
        return shape, scaled(params, motion.exponents, size)
    if isinstance(motion, Together) or motion in RUN_SIZES or motion in dict(shape.sizes):
        return resized(claim, shape, params, motion, int(size))
    if motion == FREE_WEIGHT and shape.free:
        return shape, {**params, "weight": np.where(shape.is_priority, params["weight"], params["weight"] * size)}
    if motion not in params:
        raise NotImplementedError(f"nothing moves {motion} while everything else is fixed")
    return shape, {**params, motion: params[motion] * size}


def held_numbers(claim: Claim, name: str) -> list[str]:
    """The free numbers that stay on an instance along a limit, though a hypothesis ties them to what moves: constants may
    depend on them. A number that stands alone on a side of it is as large as what moves lets it be."""
    free = {v.name for v in claim.variables if not v.indices and v.domain in ("positive", "nonnegative", "real")}
    tied = [names for c in claim.hypotheses if name in (names := names_in(c.left) | names_in(c.right) | {
        end for _, *ends in c.over for e in ends for end in names_in(e)})]
    return sorted((free & frozenset().union(*tied)) - {name, *claim.constants})


def keeps_the_shape(motion: Motion, params: Parameters) -> bool:
    """Whether numbers move, not sizes."""
    return isinstance(motion, Powers) or motion in params or motion == FREE_WEIGHT


def scalable(claim: Claim, params: Parameters) -> list[str]:
    """Names of the leaves that may be multiplied by a number."""
    equal = claim.procedure is not None and claim.procedure.equal_weights
    return [name for name in sorted(params)
            if spec_of(claim, name).domain not in ("binary", "simplex") and not (name == "weight" and equal)]


def scaled(params: Parameters, exponents: Parameters, factor) -> Parameters:
    """Every number times ``factor`` to the power that ``exponents`` has in its place; of factors from 1 on, what lies
    beyond 1."""
    def change(name, array):
        times = np.power(np.full(1, factor, dtype=array.dtype), exponents[name])
        return 1 + (array - 1) * times if name.startswith(SLACK) else array * times

    return {n: change(n, a) if n in exponents else a for n, a in params.items()}


def unit_exponents(claim: Claim, params: Parameters) -> dict[str, tuple[float, float]]:
    """The exponents with which every number of an instance changes with the units of loss and length: a change of units is
    no change of the instance, so that along it a ratio grows, falls or stays as its sides are written."""
    units = _units_of_names(claim)
    known = {name: PARAMETERS.get(name, _OTHER).unit or units.get(name.rpartition(":")[2]) for name in params}
    return {name: tuple(map(float, unit)) for name, unit in known.items() if unit is not None}


def coupled_limits(formulas: Sequence[sp.Expr], name: str) -> tuple[str, ...]:
    """The fewest sizes, ``name`` among them, that may be multiplied by one number without a change of the formulas; none
    where there are none. Where constants may depend on ``beta1 == f(rounds / (local_steps clients))``, more rounds alone
    change beta1; rounds and clients together do not."""
    factor, others = sp.Dummy(integer=True, positive=True), [size for size in TOGETHER if size != name]
    for names in ({name, *more} for count in range(len(others) + 1) for more in combinations(others, count)):
        larger = [e.xreplace({s: factor * s for s in e.free_symbols if s.name in names}) for e in formulas]
        if all(new == old or sp.simplify(new - old) == 0 for new, old in zip(larger, formulas, strict=True)):
            return (*(size for size in TOGETHER if size in names), *(names - {*TOGETHER}))
    return ()


# shapes ------------------------------------------------------------------------------------------------------------------
def small_sizes(claim: Claim, shape: Shape) -> Shape:
    """The shape with few steps, and with the claim's own integers near their least values."""
    low = {v.name: v.low for v in claim.variables}
    sizes = tuple((n, min(s, low.get(n, 1) + 2)) for n, s in shape.sizes)
    steps = dict(sizes).get("local_steps", min(shape.local_steps, 3))
    return replace(shape, sizes=sizes, local_steps=steps, rounds=min(shape.rounds, 3))


def without_chance(shape: Shape, quadratic: bool = False) -> Shape:
    """The shape without noise, and with as many participants as clients, so that a run may be long; on request with
    quadratic clients, of which there may be many."""
    if quadratic and not shape.family.coupled and shape.family.any_coordinates:
        shape = replace(shape, family=QUADRATIC)
    if shape.sampling == "with-replacement":
        return replace(shape, clients=1 + shape.free, participants=1, noisy=())
    participants = shape.priority_clients if shape.sampling in BY_NUMBER else 1
    return with_subset(replace(shape, participants=participants, noisy=()), participants)
