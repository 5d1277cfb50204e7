"""Instances in other units of loss and of length: what their runs do stays the same."""

from collections.abc import Callable
from typing import Any

from bounds.formulas.units import BASE, Unit
from bounds.language.claim import Claim
from fedtheory.traits import CURVATURE
from verify.claims.normalisations import units_of_variables
from verify.claims.open_constants import ASSUMED
from verify.instances.parameters import Parameters, spec_of

__all__ = ["in_other_units", "unit_of"]


def in_other_units(claim: Claim, params: Parameters, factor: Callable[[str, Unit], Any]) -> Parameters:
    """The instances with everything that has a unit multiplied by ``factor(name, unit)``: an array that has as many axes as
    the parameter, or the number 1."""
    found = dict(params)
    for name, array in params.items():
        unit = unit_of(claim, name)
        if unit is not None and any(unit):
            found[name] = array * factor(name, unit)
    return found


def unit_of(claim: Claim, name: str) -> Unit | None:
    """The unit of a parameter, powers of loss and length; None where it has none that is known."""
    if name == "step_scale":  # multiples of 1/L
        step = BASE["eta_l"]
        return step[0] + CURVATURE[0], step[1] + CURVATURE[1]
    if name.startswith(ASSUMED):
        return BASE.get(name.removeprefix(ASSUMED))
    return units_of_variables(claim).get(name) or spec_of(claim, name).unit
