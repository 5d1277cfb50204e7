"""A-FedPDSAM (Sun et al. 2024): A-FedPD with sharpness-aware gradients."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.afedpd import OUTPUTS, VirtualDuals
from fedtheory.algorithms.fedpd import UNITS
from fedtheory.algorithms.fedsam import SharpnessAware
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.traits import ISOTROPIC, LENGTH, SLOPE, Costs, Reduction, Variant
from synthetic.base.checks import one_of
from synthetic.numbers.arrays import namespace

__all__ = ["SoftSharpnessAware", "afedpdsam"]


@dataclass(frozen=True)
class SoftSharpnessAware(SharpnessAware):
    """The gradient at ``x_k + rho_sam * g/(|g| + sam_eps)`` with ``g = g_k(x_k)``; ``sam_eps`` is above 0."""

    sam_eps: Any = rate(0.01, strict=True)  #: in units of the gradient: number, (runs,) array or Schedule

    def gradient(self, local, gradient, context):
        now, g = context.algorithm.now, gradient(local.x)
        norm = namespace(g).sqrt(namespace(g).sum(g**2, axis=-1, keepdims=True))
        return gradient(local.x + now(self.rho_sam, context) * g / (norm + now(self.sam_eps, context))), local


def afedpdsam(
    eta_l=0.1, local_steps=1, rho_prox=0.1, rho_sam=0.1, sam_eps=0.0, output="bar",
    participants=None, sampling="without-replacement",
) -> Algorithm:
    """A-FedPDSAM (Sun et al. 2024, Algorithm 2; specification afedpd 3.5): A-FedPD with sharpness-aware gradients.

    ::

        x_k <- x_k - eta_l * (g_k(x_k + e_k) + lam_k + rho_prox * (x_k - x))     local_steps times, from x_k = x
               with e_k = rho_sam * g_k(x_k) / (|g_k(x_k)| + sam_eps)            of the same step and the same samples
        x_bar, lam_k and x as in :func:`afedpd`, like ``output``

    The algorithm's text has no ``sam_eps``: with the default 0 the gradient is divided by its norm (0/0 = 0). The paper's
    experiments have 0.01, read as added to the norm. The paper has one letter for ``rho_prox`` and ``rho_sam``.
    ``rho_sam = 0`` is A-FedPD. Two gradients per step.

    Example:
        On 1/2 (x - 1)^2 the gradient at -1/2 is -3/2: to 3/4, lam = 3/4, sent 3/2. Then (1/2)(1/2 + 1/2 + 3/4) further down.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> method = afedpdsam(0.5, rho_prox=1.0, rho_sam=0.5)
        >>> run(method, Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.75, 0.625]
    """
    plain = not hasattr(sam_eps, "shape") and sam_eps == 0
    oracle = SharpnessAware(rho_sam) if plain else SoftSharpnessAware(rho_sam, sam_eps)
    server = OUTPUTS[one_of("output", output, OUTPUTS)]()
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), oracle=oracle,
                     correction=VirtualDuals(rho_prox), server=server, name="A-FedPDSAM")


register(afedpdsam, "afedpdsam", "A-FedPD with sharpness-aware gradients", "Sun, Shen, Tao 2024", "afedpd/afedpdsam",
         "afedpd/a-fedpdsam", **ISOTROPIC, units=UNITS | {"rho_sam": LENGTH},
         costs=Costs(2, 1, lambda local_steps: 2 * local_steps, kept=0), reductions=(Reduction("afedpd", {"rho_sam": 0.0}),),
         variants=(Variant({"sam_eps": 0.5}, {"units": UNITS | {"rho_sam": LENGTH, "sam_eps": SLOPE}}),))
