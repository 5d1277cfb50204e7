"""Instances in other units of length and of loss, in which a formula whose terms differ in unit is false, or loose."""

import numpy as np
import sympy as sp

from bounds.formulas.units import BASE, Unit
from bounds.language.claim import Claim
from fedtheory import find_algorithm
from fedtheory.traits import CURVATURE
from verify.claims.open_constants import ASSUMED
from verify.claims.sizes import once_by_claim
from verify.instances.leaves import Leaves, leaf_of
from verify.instances.shape import Shape
from verify.search.corners.corner import Corner, on_runs

__all__ = ["UNITS"]

_SHARE = 0.15  # of the instances
_OF_LOSS, _OF_LENGTH = (-2.0, 4.0), (-4.0, 2.0)  # decades by which units change; smaller losses would pass for none


def _rescaled(claim: Claim, shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    """Some instances are in other units: losses, points, steps and whatever else has a unit are multiplied together, so that
    what a run does stays the same."""
    count = len(leaves["weight"])
    chosen = rng.random(count) < _SHARE
    loss, length = (np.where(chosen, 10.0 ** rng.uniform(*decades, count), 1.0) for decades in (_OF_LOSS, _OF_LENGTH))
    of_variables, found = _units(claim), dict(leaves)
    for name, array in leaves.items():
        powers = of_variables.get(name) or leaf_of(claim, name).unit
        if powers is not None:
            factor = loss ** float(powers[0]) * length ** float(powers[1])
            found[name] = array * factor.reshape(-1, *(1,) * (array.ndim - 1))
    return found


UNITS = Corner("units", on_runs, _rescaled)


@once_by_claim
def _units(claim: Claim) -> dict[str, Unit]:
    """Of the claim's variables and of what its hypotheses leave to choose, as far as they have one that is known: powers of
    loss and length. Not those that its formulas derive: draws depend only on what claims about the same runs share."""
    own = find_algorithm(claim.procedure.base).traits.units or {} if claim.procedure else {}
    known = BASE | own
    found = {v.name: known[v.name] for v in claim.variables if v.name in known}
    step, free = known["eta_l"], {v.name for v in claim.variables}
    for c in claim.hypotheses:
        if c.relation == "==" and isinstance(c.left, sp.Indexed) and c.left.base.label.name == "eta_l":
            own = [s for s in c.right.free_symbols if s.name in free and s.name not in known]
            if len(own) == 1 and not (c.right / own[0]).has(own[0]):  # a multiple of it, by pure numbers
                found[own[0].name] = step
    found["step_scale"] = (step[0] + CURVATURE[0], step[1] + CURVATURE[1])  # multiples of 1/L
    return found | {f"{ASSUMED}{name}": unit for name, unit in BASE.items()}
