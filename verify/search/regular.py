"""Regular instances: arrays of equal entries, vectors of entries 1 and -1, one client unlike all others, simplices."""

from collections.abc import Collection

import numpy as np

from bounds.language.claim import Claim
from verify.instances.parameters import Parameters, number_of

__all__ = ["regular"]

#: shares of the instances, one after the other, the rest stay as they are: of equal entries; of signs; of one client with a
#: center of its own; of one client that is steep; of vectors at the corners of a simplex; of entries 1/(i + 1)^p
_EQUAL, _SIGNS, _STEEP, _ALONE, _SIMPLEX, _FALLING = 0.25, 0.5, 0.6, 0.7, 0.9, 0.97
_ALIKE = 0.8  # end of the share of simplices whose clients have one curvature and whose other vectors are 0, their middle
_LARGEST_SIMPLEX = 3  # times a simplex of unit vectors
_POWERS = (0.5, 1.0, 1.5, 2.0)  # by which entries fall
_FLAT = 1e-6  # curvature of the others, as a share
_VECTORS = ("center", "start_offset", "noise")  # parameters
_NUMBERS = ("positive", "nonnegative", "real", "simplex")  # domains of variables


def regular(claim: Claim, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Instances of which some have equal entries in every array and the same noise in all clients, others vectors of entries
    1 and -1, others one client that is unlike all others, or one entry that is not 0, and others vectors at the corners of a
    regular simplex."""
    if not params:
        return params
    found, domains = dict(params), {v.name: v.domain for v in claim.variables if v.indices or v.domain == "vector"}
    kind, centred = rng.random(number_of(params)), True

    def where(share: tuple[float, float], array: np.ndarray, changed: np.ndarray, which: np.ndarray | bool = True):
        chosen = (kind >= share[0]) & (kind < share[1]) & which
        return np.where(chosen.reshape(-1, *(1,) * (array.ndim - 1)), changed, array)

    for name, array in params.items():
        domain = domains.get(name)
        if domain in _NUMBERS:
            largest = array.max(axis=tuple(range(1, array.ndim)), keepdims=True, initial=0.0)
            array = where((0, _EQUAL), array, largest if domain != "simplex" else np.ones_like(array))
            array = where((_SIGNS, _ALONE), array, _first(array))
            array = where((_SIMPLEX, _FALLING), array, _falling(array, rng.spawn(1)[0]))
        elif name == "noise":
            array = where((0, _EQUAL), array, array[:, :1])
        elif name == "weight":
            array = where((0, _SIMPLEX), array, np.ones_like(array))
        elif name == "curvature":
            array = where((_SIGNS, _STEEP), array, array[:, :1])
            array = where((_STEEP, _ALONE), array, np.where(np.arange(array.shape[1])[:, None] == 0, array, _FLAT * array))
            array = where((_ALONE, _ALIKE), array, array[:, :1, :1] + 0 * array)
        elif name == "center":
            array = where((_SIGNS, _STEEP), array, _first(array))
            array = where((_STEEP, _ALONE), array, 0 * array)
        if name in _VECTORS or domain == "vector":
            array = where((_EQUAL, _SIGNS), array, np.sign(rng.random(array.shape) - 0.5))
        if (name in _VECTORS or domain == "vector") and array.ndim == 3:
            corners, centred = np.eye(*array.shape[1:]), rng.random() < 0.5
            sizes = rng.spawn(1)[0].integers(1, _LARGEST_SIMPLEX + 1, (len(array), 1, 1))
            array = where((_ALONE, _SIMPLEX), array, sizes * (corners - corners.mean(axis=0) * centred)[None])
        elif domain == "vector" and centred:
            array = where((_ALONE, _ALIKE), array, np.zeros_like(array))
        found[name] = array
    if {"center", "curvature", "start_offset"} <= {*params}:  # start where all other clients have their minimum
        half = rng.random(len(kind)) < 0.5
        middle = (found["center"] * found["weight"][..., None]).sum(axis=1) / found["weight"].sum(axis=1)[:, None]
        found["start_offset"] = where((_SIGNS, _STEEP), found["start_offset"], -middle, half)
    if {"center", "curvature"} <= {*params}:
        half = rng.spawn(1)[0].random(len(kind)) < 0.5
        vectors = [v.name for v in claim.variables if v.domain == "vector" and not v.indices]
        found |= {name: where((_STEEP, _ALONE), found[name], array, half)
                  for name, array in _one_against_all(found, vectors).items()}
    return found


def _one_against_all(params: Parameters, vectors: Collection[str]) -> Parameters:
    """The instances that start where the first client's gradient is minus the sum of all others, which are far from their
    minima; with free ``vectors`` beyond it."""
    pull = params["weight"][..., None] * params["curvature"] + np.zeros_like(params["center"])
    others = pull[:, 1:].sum(axis=1, keepdims=True)
    center = np.where(others > 0, pull[:, :1] / np.where(others > 0, others, 1.0), 0.0) + np.zeros_like(pull)
    center[:, :1] = -1.0
    found = {name: np.ones_like(params[name]) for name in vectors if name in params}
    return found | {"center": center} | {name: 0 * params[name] for name in ("start_offset",) if name in params}


def _first(array: np.ndarray) -> np.ndarray:
    """The arrays with 0 in place of all entries but the first of their first axis."""
    found = np.zeros_like(array)
    found[:, :1] = array[:, :1]
    return found


def _falling(array: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Entries 1/(i + 1)^p along the first axis, each instance with a power of its own."""
    count, *sizes = array.shape
    if not sizes:
        return array
    powers = rng.choice(_POWERS, (count, *(1,) * len(sizes)))
    return (1.0 + np.arange(sizes[0]).reshape(1, -1, *(1,) * (len(sizes) - 1))) ** -powers + 0 * array
