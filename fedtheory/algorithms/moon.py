"""MOON (Li, He, Song 2021): a contrastive loss between representations of local, global and previous models."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import GradientOracle
from fedtheory.traits import Costs, Reduction
from synthetic.numbers.arrays import namespace

__all__ = ["Contrastive", "contrast", "moon"]


def _unit(v):
    """``v / |v|`` along the last axis, zero for zero, and ``|v|``, one for zero."""
    xp = namespace(v)
    norm = xp.sqrt(xp.sum(v**2, axis=-1, keepdims=True))
    norm = xp.where(norm > 0, norm, 1)
    return v / norm, norm


def contrast(z, z_global, z_previous, temperature):
    """The contrastive loss ``-log(e_global / (e_global + e_previous))``, ``e = exp(cosine(z, .) / temperature)``, per sample
    (...,), and its gradient in ``z`` (..., width). The cosine with a zero vector is 0."""
    xp = namespace(z)
    (own, size), (near, _), (far, _) = _unit(z), _unit(z_global), _unit(z_previous)
    apart = xp.sum(own * (far - near), axis=-1)  # cosine with the previous minus cosine with the global
    odds = xp.exp(apart / temperature)
    share = (odds / (1 + odds) / temperature)[..., None]
    return xp.log(1 + odds), share * (far - near - apart[..., None] * own) / size


@dataclass(frozen=True)
class Contrastive(GradientOracle):
    """``g + mu_con *`` the gradient of the mean contrastive loss, on the samples of g.

    z of a sample are the values of the last hidden layer (of a linear model, its scores). The previous model is the client's
    at the end of its last round.
    """

    mu_con: Any = rate(1.0)  #: in units of the loss: number, (runs,) array or Schedule
    temperature: Any = rate(0.5, strict=True)

    def refuses(self, federation):
        if not federation.factored:
            return None
        return (f"MOON compares representations of samples, and the parameters of {federation.name} are factors of a model; "
                "allowed: other federations")

    def client_state(self, federation, x, draws):
        return {"last_local_model": 0 * federation.all_clients(x) + x[:, None, :]}

    def gradient(self, local, gradient, context):
        federation, now = context.federation, context.algorithm.now
        data = federation.minibatch(context.draws, context.iteration, context.clients)
        models = (local.x, context.x[:, None, :] + 0 * local.x, local.own["last_local_model"])
        seen = (federation.representation(x, context.clients, data) for x in models)
        slopes = data[2][..., None] * contrast(*seen, now(self.temperature, context))[1]
        pull = federation.representation_gradient(local.x, slopes, context.clients, data)
        return gradient(local.x) + now(self.mu_con, context) * pull, local

    def finish(self, local, context):
        return {"last_local_model": local.x}


def moon(
    eta_l=0.1, local_steps=1, eta_g=1.0, mu_con=1.0, temperature=0.5, participants=None, sampling="without-replacement",
) -> Algorithm:
    """MOON (Li, He, Song 2021; specification of FedLUAR, 8: high confidence).

    ::

        loss_k(y) = F_k(y) + mu_con * mean over samples of -log(e_global / (e_global + e_previous))
                    with e_* = exp(cosine(z, z_*) / temperature), z the representation of the sample under y,
                    z_global that under x, z_previous that under the client's model of its last round (the start, if none)
        x_k <- x_k - eta_l * (stochastic gradient of loss_k at x_k)     local_steps times, from x_k = x
        x   <- x + eta_g * (x_bar - x)                                  x_bar = mean over sampled k of x_k, as in fedavg

    The representation is the values of the last hidden layer; of a linear model, its scores. Both terms are on the samples
    of the step, and z_global and z_previous are constants in the derivative; the cosine with a zero vector is 0, with
    derivative 0. Where the model is at ``x`` the global cosine is at its maximum; with one local step all that is left is
    the push away from the last model. ``mu_con = 0`` is FedAvg. Where a federation has no samples the representation is the
    model itself: the scores of a linear model on the feature 1. Factors of a model are refused.

    Example:
        In the first round both models are the start, and the term pulls nowhere; later it does.

        >>> from fedtheory import fedavg, run
        >>> from synthetic import make_problem
        >>> digits = make_problem("digits", clients=2, rows=40)
        >>> first, plain = (run(m(0.1, 2), digits, 2, record=["x"]).dataset.x.values[0] for m in (moon, fedavg))
        >>> bool(abs(first - plain)[1].max() == 0), bool(abs(first - plain)[2].max() > 1e-6)
        (True, True)
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), oracle=Contrastive(mu_con, temperature),
                     server=ServerStep(eta_g), name="MOON")


register(moon, "moon", "FedAvg with a contrastive term on representations of samples", "Li, He, Song 2021", "fedluar/moon",
         costs=Costs(), reductions=(Reduction("fedavg", {"mu_con": 0.0}),))
