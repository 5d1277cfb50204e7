"""Changes of drawn batches that make violations likelier, one file each. They apply by what a claim mentions."""

from verify.search.transformations.coordinates import ALIKE, TURNED
from verify.search.transformations.hills import HILLS
from verify.search.transformations.inclusion import INCLUSION
from verify.search.transformations.knots import KNOTS, POINTS
from verify.search.transformations.layers import LAYERS
from verify.search.transformations.parallel import PARALLEL
from verify.search.transformations.plateaus import PLATEAUS, RESTING
from verify.search.transformations.short_fractions import SHORT_FRACTIONS
from verify.search.transformations.transformation import Transformation
from verify.search.transformations.units import UNITS
from verify.search.transformations.within_conditions import WITHIN_CONDITIONS

__all__ = ["TRANSFORMATIONS", "Transformation"]

#: in the order in which they are made
TRANSFORMATIONS: tuple[Transformation, ...] = (
    LAYERS, TURNED, ALIKE, PLATEAUS, HILLS, KNOTS, POINTS, PARALLEL, RESTING, UNITS, WITHIN_CONDITIONS, SHORT_FRACTIONS,
    INCLUSION)
