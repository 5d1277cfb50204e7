"""Control variates: arrays that turn local steps from the client's gradient towards that of the objective."""

from dataclasses import dataclass
from typing import Any

from fedtheory.fields import word
from fedtheory.parts import Correction
from fedtheory.round_context import initial_gradient, mean_over_clients
from synthetic.numbers.arrays import backend_of

__all__ = ["ControlVariates", "given_start"]

def given_start(name, values, zeros):
    """``values`` as an array like ``zeros`` (runs, ...), given for all runs or for each; ``zeros`` if None."""
    if values is None:
        return zeros
    values, allowed = backend_of(zeros).array(values), (tuple(zeros.shape), tuple(zeros.shape[1:]))
    if tuple(values.shape) not in allowed:
        raise ValueError(f"{name} must be {allowed[1]} or {allowed[0]}; got {tuple(values.shape)}")
    return zeros + values


@dataclass(frozen=True)
class ControlVariates(Correction):
    """``g - c_k + c``, with one control variate c_k on every client and c on the server.

    After the round, an active client's c_k becomes: its gradient at the broadcast model on new samples (``option`` I);
    ``c_k - c + (x - x_k) / sum of its steps`` (II); or the mean of its gradients of the round (average-gradient), which
    equals II for plain steps. Then ``c`` moves by the mean over *all* clients of the changes.

    Args:
        start: ``zero``: both zero. ``gradient``: every c_k a stochastic gradient at the start, and c their mean.
            ``gradient-clients-only``: the same c_k, and c zero. ``free``: ``client_variate`` ([runs,] clients, dim) and
            ``server_variate`` ([runs,] dim), zero where they are not given. ``free-mean``: ``client_variate``, and c their
            mean.
        sign: ``printed-eq3``: ``g + c_k - c``, with the same change of c_k.
    """

    option: str = word("I", "II", "average-gradient", default="II")
    start: str = word("zero", "gradient", "gradient-clients-only", "free", "free-mean")
    sign: str = word("standard", "printed-eq3")
    client_variate: Any = None
    server_variate: Any = None
    down, up = 1, 1

    def __post_init__(self):
        super().__post_init__()
        for name, allowed in (("client_variate", ("free", "free-mean")), ("server_variate", ("free",))):
            if getattr(self, name) is not None and self.start not in allowed:
                raise ValueError(f"{name} is given, so start must be {' or '.join(map(repr, allowed))}; got {self.start!r}")

    @property
    def extra_evaluations(self):
        return int(self.option == "I")

    @property
    def fixed_in_round(self):
        return self.option != "average-gradient"

    def client_state(self, federation, x, draws):
        if self.start.startswith("gradient"):
            return {"variate": initial_gradient(federation, x, draws)}
        return {"variate": given_start("client_variate", self.client_variate, 0 * federation.all_clients(x))}

    def server_state(self, federation, x, draws):
        if self.start not in ("gradient", "free-mean"):
            return {"variate": given_start("server_variate", self.server_variate, 0 * x)}
        return {"variate": mean_over_clients(federation, self.client_state(federation, x, draws)["variate"])}

    def begin(self, local, context):
        return local.with_own(gradient_sum=0 * local.x) if self.option == "average-gradient" else local

    def ahead(self, local, context):
        """c - c_k."""
        return context.server("variate") - local.own["variate"]

    def shift(self, local, context):
        return self.ahead(local, context) if self.sign == "standard" else -self.ahead(local, context)

    def correct(self, g, local, context):
        if self.option == "average-gradient":
            local = local.with_own(gradient_sum=local.own["gradient_sum"] + g)
        return g + self.shift(local, context), local

    def renewed(self, local, context):
        """c_k after the round, (runs, participants, dim)."""
        x = context.x[:, None, :]
        if self.option == "I":
            return context.extra_gradient(x + 0 * local.x)
        if self.option == "II":
            return (x - local.x) / context.algorithm.round_length(context) - self.ahead(local, context)
        return local.own["gradient_sum"] / context.algorithm.steps_taken(context)

    def finish(self, local, context):
        new = self.renewed(local, context)
        return {"variate": new}, {"variate_change": new - local.own["variate"]}

    def aggregate(self, average, upload, context):
        change = context.over_all(upload.others["variate_change"])
        return average, {"variate": context.state.server["variate"] + change}

    def check(self, algorithm):
        if self.option != "I" and algorithm.client.solves:
            raise ValueError(f"option {self.option} is about gradient steps, and a solved local problem has none; allowed "
                             "with a solver: option I")
