"""Faults of optimisers: sharpness-aware gradients, momentum, Adam, on clients and on the server."""

from __future__ import annotations

from fedtheory.algorithms.fedsam import along
from fedtheory.testing.faults.planting import Fault, kept_between_rounds, spoiled_part
from synthetic.numbers.arrays import namespace

__all__ = ["FAULTS"]


# sharpness -----------------------------------------------------------------------------------------------------------------
def _ascent(self, gradient, local, moment):
    return along(gradient(local.x), moment.algorithm.now(self.rho_sam, moment))


def not_undone(self, original, local, gradient, moment):
    """The step is taken from the perturbed model."""
    moved = local.x + _ascent(self, gradient, local, moment)
    return gradient(moved), local._replace(x=moved)


def not_normalised(self, original, local, gradient, moment):
    return gradient(local.x + moment.algorithm.now(self.rho_sam, moment) * gradient(local.x)), local


def normalised_by_layer(self, original, local, gradient, moment):
    g, radius = gradient(local.x), moment.algorithm.now(self.rho_sam, moment)
    parts = [along(g[..., layer], radius) for layer in moment.federation.layers()]
    return gradient(local.x + namespace(g).concat(parts, axis=-1)), local


def normalised_over_clients(self, original, local, gradient, moment):
    g, xp = gradient(local.x), namespace(local.x)
    norm = xp.sqrt(xp.sum(g**2, axis=(1, 2), keepdims=True))
    return gradient(local.x + moment.algorithm.now(self.rho_sam, moment) * g / (norm + 1e-12)), local


def other_samples(self, original, local, gradient, moment):
    ascent = along(moment.gradient(local.x, moment.iteration + 1), moment.algorithm.now(self.rho_sam, moment))
    return gradient(local.x + ascent), local


def no_second_gradient(self, original, local, gradient, moment):
    g = gradient(local.x)
    gradient(local.x + _ascent(self, gradient, local, moment))
    return g, local


def squared_radius(self, original, local, gradient, moment):
    radius = moment.algorithm.now(self.rho_sam, moment)
    return gradient(local.x + along(gradient(local.x), radius * radius)), local


# momentum ------------------------------------------------------------------------------------------------------------------
def averaged_momentum(self, original, average, moment):
    beta = moment.server_number(self.beta1)
    u = beta * moment.state.server["server_momentum"] + (1 - beta) * (average - moment.x)
    return moment.x + moment.server_number(self.eta_g) * u, {"server_momentum": u}


def momentum_ignored(self, original, average, moment):
    _, server = original(average, moment)
    return moment.x + moment.server_number(self.eta_g) * (average - moment.x), server


def momentum_not_kept(self, original, average, moment):
    x, server = original(average, moment)
    return x, {name: moment.state.server[name] for name in server}


def length_forgotten(self, original, average, moment):
    return moment.x - average


def weights_swapped(self, original, g, local, moment):
    beta = moment.algorithm.now(self.beta, moment)
    return (1 - beta) * g + beta * moment.server("momentum"), local


# Adam ----------------------------------------------------------------------------------------------------------------------
def _adam(v, square, beta2, xp):
    return beta2 * v + (1 - beta2) * square


def yogi_sign(v, square, beta2, xp):
    pull = (1 - beta2) * square
    return xp.where(v > square, v + pull, v - pull)


def _server_adam(numerator=lambda m, d: m, denominator=lambda v, eps, xp: xp.sqrt(v) + eps, second=lambda m, d: d, sign=1,
                 moved=_adam):
    """FedAdam's server with one of its lines replaced."""
    def step(self, original, average, moment):
        beta1, beta2, eps = (moment.server_number(b) for b in (self.beta1, self.beta2, self.eps))
        xp, d = namespace(average), average - moment.x
        m = beta1 * moment.state.server["server_moment1"] + (1 - beta1) * d
        v = moved(moment.state.server["server_moment2"], second(m, d)**2, beta2, xp)
        direction = numerator(m, d) / denominator(v, eps, xp)
        return moment.x + sign * moment.server_number(self.eta_g) * direction, {"server_moment1": m, "server_moment2": v}

    return spoiled_part("server", step=step)


def on_clients_too(self, original, state):
    """The server's step is taken once more where the model is sent."""
    xp, m, v = namespace(state.x), state.server["server_moment1"], state.server["server_moment2"]
    return state.x + self.eta_g * m / (xp.sqrt(v) + self.eps + 1e-30)


def largest_forgotten(self, original, average, moment):
    x, server = original(average, moment)
    return x, server | {"server_moment2_max": server["server_moment2"]}


def second_moment_forgotten(self, original, local, moment):
    return {}


def root_forgotten(self, original, g, local, moment):
    before, after = local.own, self.moved(local.own, g, moment)
    used = after if self.moment_index == "immediate" else before
    return used["moment1"] / (used["moment2_max"] + moment.algorithm.now(self.eps, moment) + 0.1), local.with_own(**after)


def corrected_gradients_tracked(self, original, local, moment):
    """The mean of the corrected gradients becomes y_k."""
    return original(local, moment) + self.shift(local, moment)


FAULTS = (
    Fault("the perturbation is not undone before the step", "fedsam", "CharlieDinh/pFedMe#9",
          spoiled_part("oracle", gradient=not_undone), ("no step, no move",)),
    Fault("the perturbation is not normalised", "fedsam", "general", spoiled_part("oracle", gradient=not_normalised),
          ("units of the loss",)),
    Fault("the perturbation is normalised layer by layer", "fedsam", "google-research/sam#13",
          spoiled_part("oracle", gradient=normalised_by_layer), ("orthogonal maps",)),
    Fault("the perturbation is normalised over all clients", "fedsam", "general",
          spoiled_part("oracle", gradient=normalised_over_clients), ("own data only", "identical clients")),
    Fault("the two gradients are on different samples", "fedsam", "general", spoiled_part("oracle", gradient=other_samples),
          ("fresh samples",)),
    Fault("the second gradient is computed and not used", "fedsam", "general",
          spoiled_part("oracle", gradient=no_second_gradient), ("hyper-parameters act",)),
    Fault("the radius is squared", "fedsam", "general", spoiled_part("oracle", gradient=squared_radius),
          ("units of the parameter",)),
    Fault("one of two gradients per step is counted", "fedsam", "general", spoiled_part("oracle", evaluations=1),
          ("gradients counted",)),
    Fault("server momentum is an average, not a sum", "fedavgm", "APPFL/APPFL#129",
          spoiled_part("server", step=averaged_momentum), ("one round: fedavg",)),
    Fault("server momentum is computed and not used", "fedavgm", "flwrlabs/flower#893",
          spoiled_part("server", step=momentum_ignored), ("hyper-parameters act",)),
    Fault("server momentum is lost between rounds", "fedavgm", "fedbiomed/fedbiomed#169",
          spoiled_part("server", step=momentum_not_kept), ("hyper-parameters act",)),
    Fault("the broadcast direction is not divided by the round's length", "fedcm", "woodenchild95/FL-Simulator#5",
          spoiled_part("server", mean_direction=length_forgotten), ("units of the loss",)),
    Fault("alpha and 1 - alpha are swapped", "fedcm", "LINs-lab/FedBR#2", spoiled_part("client", direction=weights_swapped),
          ("beta=1.0: fedavg",)),
    Fault("local momentum is not reset between rounds", "fedavg-m", "alibaba/FederatedScope#450",
          spoiled_part("client", **kept_between_rounds("velocity")), ("declared memory",), {"momentum": "heavy-ball"}),
    Fault("the change is taken for the momentum", "fedadam", "flwrlabs/flower#893", _server_adam(numerator=lambda m, d: d),
          ("hyper-parameters act", "v_init=0.0, one round: fedyogi")),
    Fault("the second moment is of the momentum, not of the change", "fedadam", "1xbq1/FedMLLM#4",
          _server_adam(second=lambda m, d: m), ("v_init=0.0, one round: fedyogi",)),
    Fault("the root of the second moment is missing", "fedadam", "general",
          _server_adam(denominator=lambda v, eps, xp: v + eps), ("units of the parameter",)),
    Fault("eps is added under the root", "fedadam", "general", _server_adam(denominator=lambda v, eps, xp: xp.sqrt(v + eps)),
          ("units of the parameter",)),
    Fault("the pseudo-gradient has the wrong sign", "fedadam", "FedML-AI/FedML#138", _server_adam(sign=-1), ("descends",)),
    Fault("the server's step is taken by the clients too", "fedadam", "SymbioticLab/FedScale#245",
          spoiled_part("server", broadcast=on_clients_too), ("beta1=0.0, beta2=1.0, v_init=1.0, eps=0.0: fedavg",)),
    Fault("Yogi's second moment moves the wrong way", "fedyogi", "flwrlabs/flower#885",
          _server_adam(moved=yogi_sign), ("stays finite", "law: the second moment is not negative")),
    Fault("the largest second moment is forgotten", "fedams", "general", spoiled_part("server", step=largest_forgotten),
          ("law: the largest second moment never falls",)),
    Fault("the first moment is not reset between rounds", "local-adam", "alibaba/FederatedScope#450",
          spoiled_part("client", **kept_between_rounds("moment1")), ("declared memory",)),
    Fault("the second moment is lost between rounds", "local-adam", "fedbiomed/fedbiomed#169",
          spoiled_part("client", finish=second_moment_forgotten), ("no dead state",)),
    Fault("the root of the local second moment is missing", "local-adam", "general",
          spoiled_part("client", direction=root_forgotten), ("units of the loss",)),
    Fault("corrected gradients are tracked, not the client's own", "fadamgc", "fadamgc 3.1",
          spoiled_part("correction", renewed=corrected_gradients_tracked), ("linear terms",)),
)
