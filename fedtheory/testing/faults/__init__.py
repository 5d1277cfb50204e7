"""Documented faults of federated code, each planted in the affected method, for ``fedtheory.testing.mutants``."""

from fedtheory.testing.faults import averaging, corrections, steps
from fedtheory.testing.faults.planting import Fault

__all__ = ["FAULTS", "Fault"]

#: every fault, by theme
FAULTS: tuple[Fault, ...] = averaging.FAULTS + corrections.FAULTS + steps.FAULTS
