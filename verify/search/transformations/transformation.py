"""A change of drawn batches that makes violations likelier."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bounds.language.claim import Claim
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape

__all__ = ["Transformation", "on_runs"]


@dataclass(frozen=True)
class Transformation:
    """A change of batches, by what a claim mentions.

    Attributes:
        name: by which it can be switched off.
        applies: whether the change can have an effect on instances of this claim and shape.
        change: returns the changed batch; usually only some of its instances change.
        share: of the batches, the changed ones are drawn at random.
        of_mutations: whether mutations of the archive are changed too.
    """

    name: str
    applies: Callable[[Claim, Shape], bool]
    change: Callable[[Claim, Shape, Parameters, np.random.Generator], Parameters]
    share: float = 1.0
    of_mutations: bool = False

    def __call__(self, claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
        """Return the batch with the change, or the batch itself where the change does not apply or is not drawn."""
        if self.share < 1 and rng.random() >= self.share:
            return params
        return self.change(claim, shape, params, rng) if self.applies(claim, shape) else params


def on_runs(claim: Claim, shape: Shape) -> bool:
    """Whether the claim is about runs of clients without samples."""
    return claim.setting == "run" and not shape.family.coupled
