"""The kinds of clients: which one a claim is looked at with, and which one a certificate has."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bounds.language.claim import Claim
from verify.claims.needs import needs
from verify.instances.factored import FactoredClients
from verify.instances.family import Family
from verify.instances.parameters import Parameters
from verify.instances.piecewise import PiecewiseClients
from verify.instances.quadratic import QUADRATIC, QuadraticClients
from verify.instances.samples import SampleClients

__all__ = ["draw_family", "read_clients"]

#: each is recognised by a part of an instance that those before it do not have
_FAMILIES = (SampleClients, FactoredClients, PiecewiseClients, QuadraticClients)


def draw_family(claim: Claim, rng: np.random.Generator) -> Family:
    """A kind of clients without samples. Where no quadratics can meet the hypotheses they are piecewise; half of the time
    where only those of one Hessian can; else less often, as strong convexity leaves little to pieces. Those of a method that
    trains factors have factors."""
    if claim.setting == "run" and claim.procedure is not None and claim.procedure.base == "fedpara":
        return FactoredClients(int(rng.integers(1, 3)))
    asked = needs(claim)
    share = 1.0 if asked.lipschitz else 0.5 if asked.alike else 0.25 if asked.convex else 0.3
    return PiecewiseClients(int(rng.integers(1, 4))) if rng.random() < share else QUADRATIC


def read_clients(instance: Mapping[str, Any], sizes: Mapping[str, int], numbers: Callable[[Any], np.ndarray],
                 ) -> tuple[Family, Parameters]:
    """The clients of a certificate's instance and the leaves of their losses; ``numbers`` reads arrays."""
    family = next((family for family in _FAMILIES if family.written_as in instance), None)
    if family is None:
        kinds = " or ".join(family.written_as for family in _FAMILIES)
        raise KeyError(f"an instance has {kinds}; got {', '.join(instance)}")
    return family.read(instance, sizes, numbers)
