"""FedSWA (Liu et al. 2025): local rates that fall within every round, and a server step that may extrapolate."""

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.method import register, sampled
from fedtheory.schedules import CyclicLinear, GeometricLocal
from fedtheory.traits import ISOTROPIC, STEP, Costs, Reduction, Variant
from synthetic.base.checks import one_of

__all__ = ["fedswa", "local_rates"]

def local_rates(schedule: str, eta_l, rho_decay, local_steps: int):
    """The local rates of a round: ``cyclic-linear`` or ``geometric-h1``, starting at ``eta_l`` in every round."""
    one_of("schedule", schedule, ("cyclic-linear", "geometric-h1"))
    return CyclicLinear(eta_l, rho_decay, local_steps) if schedule == "cyclic-linear" else GeometricLocal(eta_l, local_steps)


def fedswa(
    eta_l=0.1, local_steps=1, rho_decay=0.1, eta_g=1.5, schedule="cyclic-linear",
    participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedSWA (Liu et al. 2025; specification fedmoswa 3.2), with the values of the paper's experiments.

    ::

        x_k <- x_k - eta_l * (1 - (1 - rho_decay) * j / local_steps) * g_k(x_k)     j = 0 .. local_steps - 1, from x_k = x
             | x_k - eta_l * ((local_steps - 2) / (local_steps - 1))**j * g_k(x_k)  schedule geometric-h1 (Theorem H.1, which
                                                                                    prints it with eta_l = 1)
        x <- x + eta_g * (x_bar - x)             x_bar = mean over sampled k of x_k, weights as in fedavg

    Under ``geometric-h1`` one local step is refused; two have the rates eta_l and 0 (0^0 = 1). ``rho_decay = 1`` and ``eta_g
    = 1`` is FedAvg.

    Example:
        On 1/2 (x - 1)^2 from 0 with rates 1/2 and 3/8: 0, 1/2, 11/16, and once more half of that.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(fedswa(0.5, 2, rho_decay=0.5), Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 1.03125]
    """
    rates = local_rates(schedule, eta_l, rho_decay, local_steps)
    return Algorithm(rates, local_steps, sampled(participants, sampling), server=ServerStep(eta_g), name="FedSWA")


register(fedswa, "fedswa", "local rates that fall within a round, server extrapolation", "Liu et al. 2025",
         "fedmoswa/fedswa", **ISOTROPIC, units={"eta_l": STEP}, costs=Costs(kept=0),
         reductions=(Reduction("fedavg", {"rho_decay": 1.0}), Reduction("fedavg", where={"local_steps": 1})),
         variants=(Variant({"schedule": "geometric-h1"}, {"reductions": ()}),))
