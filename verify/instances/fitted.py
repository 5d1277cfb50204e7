"""Shapes changed until their sizes meet the claim's conditions."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from bounds.language.claim import BY_NUMBER, DISTINCT, Claim
from verify.claims.fitting_sizes import repaired_sizes
from verify.claims.sizes import integer_variables, possible
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import Shape, with_participants

__all__ = ["fitted"]


def fitted(claim: Claim, shape: Shape, rng: np.random.Generator, kept: Collection[str] = ()) -> Shape | None:
    """The shape with sizes that meet the claim's conditions on them, near its own where it may stay there; None if none are
    found. ``kept``: names of sizes that do not change."""
    if possible(claim, shape.as_sizes()):
        return shape
    free = {"clients": 1 + shape.free, "dim": 1} | {name: v.low for name, v in integer_variables(claim).items()}
    if claim.setting == "algebra":
        free = {name: low for name, low in free.items() if name in dict(shape.sizes) or name == "dim"}
    if claim.setting == "run":
        free |= {"rounds": 1, "local_steps": 1}
        free |= {"participants": 1} if shape.sampling in BY_NUMBER else {}
    free |= {"layers": 1} if shape.layers else {}
    free |= {"samples": 1} if shape.family.coupled else {}

    def derive(sizes: dict[str, int]) -> dict[str, int]:
        priority = sizes["clients"] - shape.free
        more = {"iterations": sizes["rounds"] * sizes["local_steps"], "priority_clients": priority}
        if shape.sampling not in BY_NUMBER:
            more["participants"] = priority
        if shape.sampling in DISTINCT:
            more["participants"] = min(sizes["participants"], priority)
        if shape.layers:
            more["dim"] = max(sizes["dim"], sizes["layers"])
        return sizes | more

    sizes = repaired_sizes(claim, shape.as_sizes(), {n: low for n, low in free.items() if n not in kept}, derive, rng)
    for family in dict.fromkeys((shape.family, shape.family if shape.family.coupled else QUADRATIC)) if sizes else ():
        found = _with_sizes(replace(shape, family=family), sizes)  # factors have dimensions of their own
        if possible(claim, found.as_sizes()):
            return found
    return None


def _with_sizes(shape: Shape, sizes: dict[str, int]) -> Shape:
    """The shape with these sizes."""
    own = tuple((name, sizes[name]) for name, _ in shape.sizes)
    family = replace(shape.family, samples=sizes["samples"]) if shape.family.coupled else shape.family
    layers = shape.layers
    if layers and (len(layers), sum(layers)) != (sizes["layers"], sizes["dim"]):
        layers = (*(1,) * (sizes["layers"] - 1), sizes["dim"] - sizes["layers"] + 1)
    noisy = tuple(k for k in shape.noisy if k < sizes["clients"])
    shape = family.fitting(replace(
        shape, clients=sizes["clients"], dim=sizes["dim"], rounds=sizes["rounds"], local_steps=sizes["local_steps"],
        sizes=own, family=family, layers=layers, noisy=noisy))
    return with_participants(shape, sizes["participants"] if shape.sampling in BY_NUMBER else shape.participants)
