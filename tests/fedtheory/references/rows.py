"""Every method of the registry with its variants, beside the slow reference of the same update rule."""

from __future__ import annotations

from tests.fedtheory.references.rows_adaptive import ADAPTIVE
from tests.fedtheory.references.rows_communication import COMMUNICATION
from tests.fedtheory.references.rows_drift import DRIFT
from tests.fedtheory.references.rows_duals import DUALS, SHARPNESS

__all__ = ["ROWS"]

ROWS = DRIFT | ADAPTIVE | DUALS | SHARPNESS | COMMUNICATION
