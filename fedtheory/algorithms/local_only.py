"""Local training without communication, a baseline."""

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.method import register
from fedtheory.traits import GRADIENT_DESCENT, ISOTROPIC, ONE_CLIENT, STEP, Costs, Reduction
from synthetic.numbers.arrays import namespace

__all__ = ["LocalOnly", "local_only"]


@dataclass(frozen=True)
class LocalOnly(Algorithm):
    """Every client trains alone (FedALIGN, Appendix C.1, Fig. 3).

    ::

        x_k <- x_k - eta_l * g_k(x_k)     local_steps times per round, never averaged

    All clients train in every round, whether the selection draws them or not. The recorded global model ``x`` is the
    selection's weighted average of the local models, over those drawn, which no client ever sees;
    the models themselves are ``state.clients["model"]`` (runs, clients, dim).

    Example:
        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> pair = Quadratic([[[1.0], [1.0]]], [[[1.0], [-1.0]]])
        >>> run(LocalOnly(eta_l=0.5), pair, 2).state.clients["model"].ravel().tolist()
        [0.75, -0.75]
    """

    def __post_init__(self):
        super().__post_init__()
        if not self.upload.whole:
            raise ValueError(f"clients that train alone send nothing; got upload={self.upload!r}")

    def init(self, federation, x, draws=None):
        return super().init(federation, x, draws)._replace(clients={"model": federation.all_clients(x)})

    def client_models(self, state, x, federation):
        return state.clients["model"]

    def server_step(self, upload, context):
        return super().server_step(upload, context)._replace(clients={"model": upload.model})

    def trains(self, context):
        return namespace(context.x).ones_like(context.federation.priority)

    def floats(self, context, upload):
        nothing = namespace(context.x).zeros_like(context.participation.weight)
        return nothing, nothing


def local_only(eta_l=0.1, local_steps=1) -> LocalOnly:
    """Local training without communication (Ravi and Shomorony, Appendix C.1).

    ::

        x_k <- x_k - eta_l * g_k(x_k)     local_steps times per round, on every client, from its x_k of the round before
        x   <- sum over the priority k of p_k x_k

    All x_k begin at the start. x is only recorded: no client receives it. Free clients train too and do not enter x. The x_k
    are ``state.clients["model"]``, see :class:`LocalOnly`.
    """
    return LocalOnly(eta_l=eta_l, local_steps=local_steps)


register(local_only, "local-only", "baseline: every client alone", "Ravi, Shomorony: FedALIGN, C.1", "fedalign/local-only",
         **ISOTROPIC, units={"eta_l": STEP}, costs=Costs(0, 0, kept=1),
         reductions=(Reduction(GRADIENT_DESCENT, where=ONE_CLIENT),))
