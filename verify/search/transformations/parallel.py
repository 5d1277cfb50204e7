"""Free vectors that are multiples of one, as long as hypotheses admit: no inner products of such lengths are larger."""

import numpy as np
import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim
from verify.claims.sizes import once_by_claim
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.search.transformations.transformation import Transformation

__all__ = ["PARALLEL"]

_SHARE, _ALONG_AN_AXIS = 0.3, 0.7  # of the instances of a batch; of these
_FACTORS = (-2.0, -1.0, -0.5, 0.5, 1.0, 2.0)


@once_by_claim
def _free_vectors(claim: Claim) -> dict[str, float | None]:
    """The names of the claim's vectors, with the largest length that a hypothesis gives by a number, if one does."""
    found = {v.name: None for v in claim.variables if v.domain == "vector" and not v.indices}
    for c in claim.hypotheses:
        smaller, larger = (c.left, c.right) if c.relation == "<=" else (c.right, c.left)
        if isinstance(smaller, operators.norm2 | operators.norm) and str(smaller.args[0]) in found and larger.is_number:
            length = sp.sqrt(larger) if isinstance(smaller, operators.norm2) else larger
            if length.is_positive:
                found[str(smaller.args[0])] = float(length)
    return found


def _made_parallel(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    (rng,), bounds = rng.spawn(1), _free_vectors(claim)  # the other transformations draw what they would without this one
    first = params[next(iter(bounds))]
    count = len(first)
    chosen, along = rng.random((2, count, 1)) < np.array([[[_SHARE]], [[_ALONG_AN_AXIS]]])
    direction = np.where(along, np.eye(shape.dim)[0], first)
    direction = direction / np.maximum(np.linalg.norm(direction, axis=1, keepdims=True), 1e-9)
    found = {}
    for name, most in bounds.items():
        factor = np.where(rng.random((count, 1)) < 0.5, rng.choice(_FACTORS, (count, 1)), rng.normal(size=(count, 1)))
        if most is not None:
            factor = np.sign(factor) * most * np.where(rng.random((count, 1)) < 0.5, 1.0, rng.random((count, 1)))
        found[name] = np.where(chosen, factor * direction, params[name])
    return params | found


PARALLEL = Transformation(
    "parallel", lambda claim, shape: claim.setting == "algebra" and len(_free_vectors(claim)) > 1, _made_parallel)
