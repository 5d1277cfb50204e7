"""SCAFFOLD (Karimireddy et al. 2020): control variates correct the drift of local steps."""

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.control_variates import ControlVariates
from fedtheory.method import register, sampled
from fedtheory.traits import (
    GRADIENT_DESCENT,
    ISOTROPIC,
    ONE_CLIENT,
    ONE_EXACT_STEP,
    STEP,
    Costs,
    FixedPoint,
    Law,
    Reduction,
    Tilt,
    Variant,
    kept_mean,
)

__all__ = ["scaffold", "settled"]


def scaffold(
    eta_l=0.1, local_steps=1, eta_g=1.0, option="II", start="zero", sign="standard", client_variate=None,
    server_variate=None, participants=None, sampling="without-replacement",
) -> Algorithm:
    """SCAFFOLD (Karimireddy et al. 2020, Algorithm 1; specification fadamgc 3.5).

    ::

        x_k <- x_k - eta_l * (g_k(x_k) - c_k + c)                   local_steps times, from x_k = x
             | x_k - eta_l * (g_k(x_k) + c_k - c)                   sign printed-eq3
        c_k+ = g_k(x)                                               option I, on samples of its own
             | c_k - c + (x - x_k) / (local_steps * eta_l)          option II
             | mean of the g_k(x_k) of the round                    option average-gradient
        x <- x + eta_g * (x_bar - x)                                x_bar = mean over sampled k of x_k, as in fedavg
        c <- c + 1/m * sum over sampled k of (c_k+ - c_k)           m: number of all clients
        c_k <- c_k+                                                 for the sampled k; the others keep c_k

    c in the third to fifth line is the one of the round, under either sign. With unequal weights the share p_k stands for
    1/m; a client that is drawn twice enters that sum once. ``start``: ``zero``, all zero; ``gradient``, c_k = a stochastic
    gradient of client k at the start, on samples of its own, and c their mean over all k, with the shares p_k;
    ``gradient-clients-only``, the same c_k and c = 0; ``free``, c_k = ``client_variate`` ([runs,] clients, dim) and c =
    ``server_variate`` ([runs,] dim), zero if not given; ``free-mean``, c_k = ``client_variate`` and c their mean as before.
    With all variates zero it is FedAvg. ``c`` stays the mean over all k of c_k if it is so at the start. Two models
    each way.

    Example:
        On 1/2 (x - 1)^2 and 2 (x + 1)^2, whose mean is smallest at -3/5, FedAvg's local steps stop elsewhere.

        >>> from fedtheory import fedavg, run
        >>> from synthetic import make_problem
        >>> pair = make_problem("quadratic-1d-pair")
        >>> [round(run(m(0.2, 2), pair, 200).dataset.x.values[0, -1, 0].item(), 6) for m in (scaffold, fedavg)]
        [-0.6, -0.454545]
    """
    variates = ControlVariates(option, start, sign, client_variate, server_variate)
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=variates,
                     server=ServerStep(eta_g), name="SCAFFOLD")


def settled(federation, x):
    """The variates at a minimiser ``x`` (runs, dim): every client's gradient, and zero."""
    return {"variate": 0 * x}, {"variate": federation.gradient(federation.all_clients(x))}


def gradients(algorithm, federation, before, after):
    """The clients' variates, and their full gradients at the model before the round."""
    return after.clients["variate"], federation.gradient(federation.all_clients(before.x))


MEAN = kept_mean("c", "variate")
ALL_EXACT = {"participants": None, "sigma": 0.0, "free": 0}

register(scaffold, "scaffold", "control variates on clients and server", "Karimireddy et al. 2020", "fadamgc/scaffold",
         **ISOTROPIC, units={"eta_l": STEP}, tilt=Tilt({"variate": 1.0}), fixed_point=FixedPoint(settled),
         laws=(MEAN, Law("after one local step c_k is the gradient at x", gradients, where=ALL_EXACT | {"local_steps": 1})),
         reductions=(Reduction("fedavg", where={"rounds": 1}), Reduction("fedavg", where=ONE_CLIENT),
             Reduction(GRADIENT_DESCENT, {"eta_g": 1.0}, where=ONE_EXACT_STEP)), costs=Costs(2, 2, kept=1),
         variants=(Variant({"option": "I"}, {
                 "costs": Costs(2, 2, lambda local_steps: local_steps + 1, kept=1),
                 "laws": (MEAN, Law("c_k is the gradient at the model of the round", gradients, where=ALL_EXACT))}),
             Variant({"option": "average-gradient", "start": "gradient"}, {"tilt": None, "reductions": ()}),
             Variant({"sign": "printed-eq3"}, {"tilt": None, "fixed_point": None, "reductions": (), "laws": (MEAN,)})))
