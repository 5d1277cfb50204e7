"""LocalAdam: Adam on the clients, whose second moments stay there between rounds."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.fedopt import check_v_init, first_moment2, quotient
from fedtheory.fields import checked, rate, word
from fedtheory.method import register, sampled
from fedtheory.parts import ClientOptimiser
from fedtheory.traits import LENGTH, NUMBER, SLOPE, Costs, Variant, never_negative
from synthetic.numbers.arrays import maximum, namespace

__all__ = ["Adam", "local_adam"]


@dataclass(frozen=True)
class Adam(ClientOptimiser):
    """The direction ``m / (sqrt(vhat) + eps)``, without bias correction, 0/0 = 0.

    With the gradient g of a step ``m <- beta1 m + (1 - beta1) g``, ``v <- beta2 v + (1 - beta2) g^2`` and
    ``vhat <- max(vhat, v)``. In a round m starts at 0, and v at its value after the client's last round, ``v_init`` in the
    first.

    Args:
        vhat: the running maximum of v starts a round at v (``reset``), at its value after the client's last round, in the
            first at ``v_init`` (``carry``), or at zero (``zero``); ``none``: vhat is v itself, without a maximum.
        store: the array kept as v for the next round: ``v``, or the maximum ``vhat`` at the end of the round.
        norm: squares, maxima and quotients by coordinate (``elem``); or ``scalar``: v and vhat are one number per client,
            with ``|g|^2`` in place of ``g^2``, by whose root all coordinates of m are divided.
        moment_index: a step uses m and vhat updated with its gradient (``immediate``), or those before (``delayed``), in the
            first step of a round m = 0 and vhat at its start.
    """

    beta1: Any = rate(0.9, high=1)  #: number, (runs,) array or Schedule
    beta2: Any = rate(0.99, high=1)
    eps: Any = rate(1e-8)  #: in units of the gradient
    vhat: str = word("reset", "carry", "zero", "none")
    store: str = word("v", "vhat")
    norm: str = word("elem", "scalar")
    moment_index: str = word("immediate", "delayed")
    v_init: Any = checked(0.0, check_v_init)  #: number or (dim,), or ``eps^2``

    def __post_init__(self):
        super().__post_init__()
        if self.norm == "scalar" and getattr(self.v_init, "ndim", 0):
            raise ValueError("with norm = 'scalar', v_init must be a number; got an array")

    @property
    def keeps_numbers(self):
        return self.norm == "scalar"

    def client_state(self, federation, x, draws):
        start = federation.all_clients(first_moment2(self, federation, x))
        start = start[..., :1] if self.norm == "scalar" else start
        return {"moment2": start, "moment2_max": start} if self.vhat == "carry" else {"moment2": start}

    def begin(self, local, context):
        v = local.own["moment2"]
        top = local.own["moment2_max"] if self.vhat == "carry" else 0 * v if self.vhat == "zero" else v
        return local.with_own(moment1=0 * local.x, moment2_max=top)

    def direction(self, g, local, context):
        before, after = local.own, self.next_moments(local.own, g, context)
        used = after if self.moment_index == "immediate" else before
        eps = context.algorithm.now(self.eps, context)
        root = namespace(g).sqrt(used["moment2_max"]) + eps
        return quotient(used["moment1"], root), local.with_own(**after)

    def next_moments(self, own, g, context):
        """The moments after a gradient ``g`` (runs, participants, dim), by name."""
        now, xp = context.algorithm.now, namespace(g)
        beta1, beta2 = now(self.beta1, context), now(self.beta2, context)
        square = xp.sum(g * g, axis=-1, keepdims=True) if self.norm == "scalar" else g * g
        v = beta2 * own["moment2"] + (1 - beta2) * square
        top = v if self.vhat == "none" else maximum(own["moment2_max"], v)
        return {"moment1": beta1 * own["moment1"] + (1 - beta1) * g, "moment2": v, "moment2_max": top}

    def finish(self, local, context):
        top = local.own["moment2_max"]
        kept = {"moment2": local.own["moment2"] if self.store == "v" else top}
        return kept | {"moment2_max": top} if self.vhat == "carry" else kept


def local_adam(
    eta_l=0.1, local_steps=1, beta1=0.9, beta2=0.99, eps=1e-8, eta_g=1.0, vhat="reset", store="v", norm="elem",
    moment_index="immediate", v_init=0.0, participants=None, sampling="without-replacement",
) -> Algorithm:
    """LocalAdam: FAdamGC without a correction. Chen et al. name it without a rule; this is their specification's reading.

    ::

        x_k <- x;  m_k <- 0;  vhat_k <- v_k                                  vhat: reset | carry | zero | none
        local_steps times:
            g    <- g_k(x_k)
            m_k  <- beta1 * m_k + (1 - beta1) * g
            v_k  <- beta2 * v_k + (1 - beta2) * g * g                        norm: elem | scalar
            vhat_k <- max(vhat_k, v_k)
            x_k  <- x_k - eta_l * m_k / (sqrt(vhat_k) + eps)                 0/0 = 0; moment_index: immediate | delayed
        client k keeps v_k                                                   store: v | vhat
        x <- x + eta_g * (x_bar - x)                     x_bar = mean over sampled k of x_k, weights as in fedavg

    v_k starts at ``v_init``; :class:`Adam` has the formulas of ``vhat``, ``store``, ``norm`` and ``moment_index``. ``eta_l``
    is a length in the space of the parameters. For ``beta1 = 0``, ``eta_l = eta * eps`` and large ``eps`` it tends to FedAvg
    with step eta. One model each way; moments are never sent.

    Example:
        Without memory a step is as long as ``eta_l``, whatever the gradient.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> made = local_adam(0.25, 3, beta1=0.0, beta2=0.0, eps=0.0, vhat="none")
        >>> run(made, Quadratic([[[1.0]]], [[[4.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.75]
    """
    client = Adam(beta1, beta2, eps, vhat, store, norm, moment_index, v_init)
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), client=client, server=ServerStep(eta_g),
                     name="LocalAdam")


#: of a local Adam, whose steps are lengths
UNITS = {"eta_l": LENGTH, "eps": SLOPE, "v_init": (2, -2), "beta1": NUMBER, "beta2": NUMBER}
COORDINATES: dict[str, Any] = {"translation": True, "orthogonal": "signed permutations"}

register(local_adam, "local-adam", "Adam on the clients", "Chen et al.: FAdamGC, 3.4", "fadamgc/local-adam", **COORDINATES,
         units=UNITS, costs=Costs(kept=1), laws=(never_negative("second moments are not negative", "clients", "moment2"),),
         variants=(Variant({"norm": "scalar"}, {"orthogonal": "all", "costs": Costs()}),
             Variant({"vhat": "carry", "store": "vhat"}, {"costs": Costs(kept=2)}),
             Variant({"vhat": "none", "moment_index": "delayed", "v_init": 0.5}, {
                 "exempt": {"descends": "the first step of a round has no direction"}})))
