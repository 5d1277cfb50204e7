"""FedNova (Wang et al. 2020): normalised averaging, for clients that take different numbers of local steps."""

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.fedavg_m import HeavyBall
from fedtheory.algorithms.fedprox import Proximal
from fedtheory.method import register, sampled
from fedtheory.parts import ClientOptimiser, UploadFilter
from fedtheory.round_context import ClientState
from fedtheory.traits import CURVATURE, ISOTROPIC, STEP, Costs, Reduction
from synthetic.numbers.arrays import namespace

__all__ = ["Normalised", "fednova"]


@dataclass(frozen=True)
class Normalised(UploadFilter):
    """Every client sends ``(x_k - x) / length_k``; the server applies the mean of these times the mean length.

    ``length_k`` is how far the client's local steps carry it along a constant gradient of one: the sum of its step sizes
    for plain steps, with a pull or with momentum the step size times |a_k|_1 of Wang et al.
    """

    whole = False

    def length(self, context):
        """``length_k``, (runs, participants, 1)."""
        algorithm, federation = context.algorithm, context.federation
        local = algorithm.client.begin(ClientState(0 * context.rows(federation.all_clients(context.x))[..., :1]), context)
        for j in range(algorithm.local_steps):
            at = context._replace(iteration=context.round * algorithm.local_steps + j)
            pull = algorithm.correction.pull(at)
            slope = 1 + (0 if pull is None else pull) * local.x
            direction, after = algorithm.client.direction(slope, local, at)
            after = after._replace(x=local.x - algorithm.step_size(at) * direction)
            local = algorithm.after_step(local, after, at)
        return -local.x

    def send(self, change, local, context):
        floats = namespace(change).zeros_like(change[:1, :1, 0]) + change.shape[-1] + 1  # the length goes along
        return change / self.length(context), floats, local

    def receive(self, change, context):
        xp = namespace(change)
        total = xp.sum(context.weight, axis=-1)[:, None]
        return context.weighted_sum(self.length(context)) / xp.where(total > 0, total, 1) * change, {}

    def check(self, algorithm):
        if type(algorithm.client) not in (ClientOptimiser, HeavyBall):
            raise ValueError("normalised averaging needs local steps that are linear in the gradients; got "
                             f"{type(algorithm.client).__name__}, allowed: plain steps, HeavyBall")


def fednova(
    eta_l=0.1, local_steps=1, client_steps=None, rho_prox=0.0, beta=1.0, eta_g=1.0,
    participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedNova (Wang et al. 2020). Confidence high; medium for a pull and momentum together.

    ::

        x_k <- x;  u_k <- 0
        client_steps[k] times:
            u_k <- (1 - beta) * u_k + g_k(x_k) + rho_prox * (x_k - x)
            x_k <- x_k - eta_l * u_k
        length_k = client_steps[k] * eta_l                                           beta = 1, rho_prox = 0
                 | (1 - (1 - a)^client_steps[k]) / rho_prox,   a = eta_l * rho_prox      beta = 1
                 | eta_l * sum over j < client_steps[k] of (1 - (1 - beta)^(j + 1)) / beta      rho_prox = 0
        x_bar <- x + (mean over sampled k of length_k) / W * mean over sampled k of ((x_k - x) / length_k)
        x     <- x + eta_g * (x_bar - x)

    Both means have the weights w_k of ``fedavg``, and W is their sum, so that the first factor is a weighted mean of the
    lengths. With schedules, or a pull and momentum together, ``length_k`` is how far the client's steps carry it along a
    constant gradient of one. ``client_steps``: (clients,) or (runs, clients) integers up to ``local_steps``;
    ``RandomSteps(fraction)``: in every round each client has an independent number of steps, uniform among the integers from
    ``fraction * local_steps``, rounded (halves up) and at least 1, to ``local_steps``; or None: all clients take
    ``local_steps``, and it is FedAvg. Any method takes ``client_steps`` by ``having``. A client sends its model and one
    number, and evaluates one gradient per step that it takes.

    Example:
        The first client, on 1/2 (x - 1)^2, takes four small steps while the second, on 2 (x + 1)^2, takes one. FedAvg then
        minimises 4/2 (x - 1)^2 + 2 (x + 1)^2, smallest at 0; FedNova the mean of the two, smallest at -3/5.

        >>> from fedtheory import fedavg, run
        >>> from synthetic import make_problem
        >>> pair = make_problem("quadratic-1d-pair")
        >>> methods = [method(0.01, 4).having(client_steps=[4, 1]) for method in (fedavg, fednova)]
        >>> [round(run(method, pair, 300).dataset.x.values[0, -1, 0].item(), 2) for method in methods]
        [-0.01, -0.6]
    """
    plain = isinstance(beta, (int, float)) and beta == 1
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=Proximal(rho_prox),
                     client=ClientOptimiser() if plain else HeavyBall(beta), upload=Normalised(), server=ServerStep(eta_g),
                     client_steps=client_steps, name="FedNova")


register(fednova, "fednova", "FedAvg with normalised averaging of unequal numbers of local steps", "Wang et al. 2020",
         **ISOTROPIC, units={"eta_l": STEP, "rho_prox": CURVATURE}, costs=Costs(up=None, kept=0),
         reductions=(Reduction("fedavg", {"rho_prox": 0.0}), Reduction("fedprox", {"rho_prox": 0.5})))
