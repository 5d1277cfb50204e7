"""Documented faults of federated code, each planted in the affected method, for ``fedtheory.testing.mutants``."""

from fedtheory.testing.faults import averaging, communication, proximal, steps, variates
from fedtheory.testing.faults.planting import Fault, spoiled, spoiled_part

__all__ = ["FAULTS", "Fault", "spoiled", "spoiled_part"]

#: every fault, by theme
FAULTS: tuple[Fault, ...] = tuple(
    fault for module in (averaging, proximal, variates, steps, communication) for fault in module.FAULTS)
