"""Changes of drawn batches that make violations likelier, one file each. They apply by what a claim mentions."""

from verify.search.corners.coordinates import ALIKE, TURNED
from verify.search.corners.corner import Corner
from verify.search.corners.inclusion import INCLUSION
from verify.search.corners.knots import KNOTS, POINTS
from verify.search.corners.layers import LAYERS
from verify.search.corners.plateaus import PLATEAUS
from verify.search.corners.short_fractions import SHORT_FRACTIONS
from verify.search.corners.units import UNITS
from verify.search.corners.within_conditions import WITHIN_CONDITIONS

__all__ = ["CORNERS", "Corner"]

#: in the order in which they are made
CORNERS: tuple[Corner, ...] = (LAYERS, TURNED, ALIKE, PLATEAUS, KNOTS, POINTS, UNITS, WITHIN_CONDITIONS,
                              SHORT_FRACTIONS, INCLUSION)
