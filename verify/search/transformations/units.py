"""Instances in other units of length and of loss, in which a formula whose terms differ in unit is false, or loose."""

import numpy as np

from bounds.language.claim import Claim
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.instances.units import in_other_units
from verify.search.transformations.transformation import Transformation, on_runs

__all__ = ["UNITS"]

_SHARE = 0.15  # of the instances
_OF_LOSS, _OF_LENGTH = (-2.0, 4.0), (-4.0, 2.0)  # decades by which units change; smaller losses would pass for none


def _rescaled(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Change the units of some instances: losses, points, steps and whatever else has a unit are multiplied together, so
    that what a run does stays the same."""
    count = len(params["weight"])
    chosen = rng.random(count) < _SHARE
    loss, length = (np.where(chosen, 10.0 ** rng.uniform(*decades, count), 1.0) for decades in (_OF_LOSS, _OF_LENGTH))
    return in_other_units(claim, params, lambda name, unit: (loss ** float(unit[0]) * length ** float(unit[1])).reshape(
        -1, *(1,) * (params[name].ndim - 1)))


UNITS = Transformation("units", on_runs, _rescaled)
