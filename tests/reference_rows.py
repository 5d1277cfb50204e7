"""Every method of the registry with its variants, beside the slow reference of the same update rule."""

from __future__ import annotations

from reference_rows_adaptive import ADAPTIVE
from reference_rows_communication import COMMUNICATION
from reference_rows_drift import DRIFT
from reference_rows_duals import DUALS, SHARPNESS

__all__ = ["ROWS"]

ROWS = DRIFT | ADAPTIVE | DUALS | SHARPNESS | COMMUNICATION
