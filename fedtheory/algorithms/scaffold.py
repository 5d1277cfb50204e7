"""SCAFFOLD (Karimireddy et al. 2020): control variates steer local steps from the client's to everyone's direction."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.method import method, sampled
from fedtheory.moment import initial_gradient
from fedtheory.parts import Correction
from synthetic.arrays import namespace
from synthetic.checks import one_of

__all__ = ["ControlVariates", "scaffold"]

OPTIONS = ("I", "II", "average-gradient")
STARTS = ("zero", "gradient")


@dataclass(frozen=True)
class ControlVariates(Correction):
    """``g - c_k + c``, with one control variate c_k on every client and c on the server.

    After the round, an active client's c_k becomes: its gradient at the broadcast model on new samples (``option`` I);
    ``c_k - c + (x - x_k) / sum of its steps`` (II); or the mean of its gradients of the round (average-gradient), which
    equals II for plain steps. Then ``c`` moves by the mean over *all* clients of the changes.

    ``start``: both zero, or every c_k a stochastic gradient at the start and c their mean.
    """

    option: str = "II"
    start: str = "zero"
    down, up = 1, 1

    def __post_init__(self):
        one_of("option", self.option, OPTIONS)
        one_of("start", self.start, STARTS)

    @property
    def extra_evaluations(self):
        return int(self.option == "I")

    @property
    def fixed_in_round(self):
        return self.option != "average-gradient"

    def client_state(self, federation, x, draws):
        if self.start == "gradient":
            return {"variate": initial_gradient(federation, x, draws)}
        return {"variate": 0 * federation.all_clients(x)}

    def server_state(self, federation, x, draws):
        p = federation.weights / namespace(x).sum(federation.weights, axis=-1, keepdims=True)
        return {"variate": namespace(x).sum(p[..., None] * self.client_state(federation, x, draws)["variate"], axis=1)}

    def begin(self, local, moment):
        return local.with_own(gradient_sum=0 * local.x) if self.option == "average-gradient" else local

    def shift(self, local, moment):
        return moment.server("variate") - local.own["variate"]

    def correct(self, g, local, moment):
        if self.option == "average-gradient":
            local = local.with_own(gradient_sum=local.own["gradient_sum"] + g)
        return g + self.shift(local, moment), local

    def renewed(self, local, moment):
        """c_k after the round, (runs, participants, dim)."""
        x = moment.x[:, None, :]
        if self.option == "I":
            return moment.extra_gradient(x + 0 * local.x)
        if self.option == "II":
            return (x - local.x) / moment.algorithm.round_length(moment) - self.shift(local, moment)
        return local.own["gradient_sum"] / moment.algorithm.local_steps

    def finish(self, local, moment):
        new = self.renewed(local, moment)
        return {"variate": new}, {"variate_change": new - local.own["variate"]}

    def aggregate(self, average, upload, moment):
        change = moment.over_all(upload.others["variate_change"])
        return average, {"variate": moment.state.server["variate"] + change}

    def check(self, algorithm):
        if self.option == "II" and algorithm.client.solves:
            raise ValueError("option II divides by the local steps' length, and a solved local problem has none; "
                             "allowed with a solver: option I")


@method("scaffold", "control variates on clients and server", "Karimireddy et al. 2020", "fadamgc/scaffold")
def scaffold(
    eta_l=0.1, local_steps=1, eta_g=1.0, option="II", start="zero", participants=None, replacement=False,
) -> Algorithm:
    """SCAFFOLD.

    ::

        x_k <- x_k - eta_l * (g_k(x_k) - c_k + c)                   local_steps times, from x_k = x
        c_k+ = g_k(x)                                               option I
             | c_k - c + (x - x_k) / (local_steps * eta_l)          option II
        x <- x + eta_g * mean over sampled k of (x_k - x)
        c <- c + 1/m * sum over sampled k of (c_k+ - c_k),   c_k <- c_k+

    Example:
        On 1/2 (x - 1)^2 and 2 (x + 1)^2, whose mean is smallest at -3/5, FedAvg's local steps stop elsewhere.

        >>> from fedtheory import fedavg, run
        >>> from synthetic import make_problem
        >>> pair = make_problem("quadratic-1d-pair")
        >>> [round(run(m(0.2, 2), pair, 200).dataset.x.values[0, -1, 0].item(), 6) for m in (scaffold, fedavg)]
        [-0.6, -0.454545]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, replacement), correction=ControlVariates(option, start),
                     server=ServerStep(eta_g), name="SCAFFOLD")
